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

struct model_slot {
	enum zswap_state state;
	uint32_t bytes; /* of payload */
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
	size_t huge_bytes;   /* payloads from this on are kept raw */
	bool lz4;            /* or else the run-length test codec */
	bool engine_fails;   /* every compression */
	bool engine_damaged; /* every decompression */
	bool enabled;
	struct zswap_stats counts; /* its counters alone */
	struct model_area areas[MODEL_AREAS];
};

/* What a page becomes when it is stored now. */
struct model_slot model_page(const struct model *m, const void *page,
			     enum page_kind kind, uint64_t seed);

/* Where nr slots from one of the window on hold pages. */
unsigned model_present(const struct model_area *a, unsigned first, unsigned nr);
/* Whether this page would be delivered by a load. */
bool model_readable(const struct model *m, const struct model_slot *slot);

void model_clear(struct model_area *a, unsigned first, unsigned nr);

/* Whether all gauges and counters are what they should be. */
void model_check_stats(const struct model *m, const struct zswap_stats *stats);

#endif
