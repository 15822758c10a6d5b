/* SPDX-License-Identifier: MIT */
/*
 * cache_model.h - what a cache must hold and count, as plain arrays
 *
 * Each area has one window of slots that is used. A page is remembered by what
 * page_make() needs to make it again. How long it becomes is known too: the
 * model compresses it itself.
 */
#ifndef TEST_CACHE_MODEL_H
#define TEST_CACHE_MODEL_H

#include <stdbool.h>

#include <zswap/zswap.h>

#include "pagegen.h"

#define MODEL_AREAS 3
#define MODEL_WINDOW 1100u /* slots: some of four clusters */

/* The compressors that a run switches between. */
enum model_engine {
	ENGINE_TEST, /* the run-length test codec */
	ENGINE_LZ4,
	ENGINE_ZSTD, /* level 1 */
	NR_ENGINES
};

struct model_slot {
	enum zswap_state state;
	enum model_engine engine; /* that it was stored with */
	uint32_t bytes;           /* of payload */
	enum page_kind kind;
	uint64_t seed;
};

struct model_area {
	unsigned type;
	bool on;
	uint64_t nr_slots;
	uint64_t first; /* of the window */
	struct model_slot slots[MODEL_WINDOW];
};

struct model {
	size_t page_size;
	size_t huge_bytes;        /* payloads from this on are kept raw */
	enum model_engine engine; /* of stores */
	bool engine_fails;        /* every compression by the test codec */
	bool engine_damaged;      /* every decompression by it */
	bool enabled;
	bool keeps_raw;            /* the policy */
	bool limit_zero;           /* or else there is none */
	unsigned batch;            /* pages that are compressed together */
	struct zswap_stats counts; /* its counters alone */
	struct model_area areas[MODEL_AREAS];
};

/* What a page becomes when it is stored now. */
struct model_slot model_page(const struct model *m, const void *page,
			     enum page_kind kind, uint64_t seed);

/*
 * What a store of these pages returns, and each page's result; 0 when all are
 * stored. Only what the pages themselves are the cause of.
 */
int model_verdict(const struct model *m, const struct model_slot *made,
		  unsigned nr, int *results);

/* Pools with entries, the current one included in any case. */
unsigned model_pools(const struct model *m);

/* Where nr slots from one of the window on hold pages. */
unsigned model_present(const struct model_area *a, unsigned first, unsigned nr);
/* Whether this page would be delivered by a load. */
bool model_readable(const struct model *m, const struct model_slot *slot);

void model_clear(struct model_area *a, unsigned first, unsigned nr);

/* Whether all gauges and counters are what they should be. */
void model_check_stats(const struct model *m, const struct zswap_stats *stats);

#endif
