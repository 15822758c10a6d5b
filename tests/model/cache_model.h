/* SPDX-License-Identifier: MIT */
/*
 * cache_model.h - what a cache must hold and count, as plain arrays
 *
 * Each area has one window of slots that is used, across a border of clusters.
 * A page is remembered by its number in the palette.
 */
#ifndef TEST_CACHE_MODEL_H
#define TEST_CACHE_MODEL_H

#include <stdbool.h>
#include <zswap/zswap.h>

#include "engines.h"

#define MODEL_AREAS 3
#define MODEL_MAX_WINDOW 1100u /* slots: some of four clusters */

struct model_slot {
	uint8_t state;  /* enum zswap_state */
	uint8_t engine; /* that it was stored with */
	uint16_t page;  /* in the palette */
	uint32_t bytes; /* of payload */
};

struct model_area {
	unsigned type;
	bool on;
	uint64_t nr_slots;
	uint64_t first; /* of the window */
	struct model_slot slots[MODEL_MAX_WINDOW];
};

struct model {
	uint32_t page_size;
	unsigned window;   /* slots in each area's */
	size_t huge_bytes; /* payloads from this on are kept raw */
	unsigned engine;   /* of stores */
	unsigned batch;    /* pages that are compressed together */
	unsigned request;  /* of these, pages in one request */
	unsigned chain;    /* the most pages of a zspage */
	bool enabled;
	bool keeps_raw; /* the policy */
	uint64_t max_bytes;
	unsigned threshold_percent;
	bool full;                     /* waits for the threshold */
	struct zswap_stats counts;     /* counters, and gauges of pages */
	unsigned objects[MAX_ENGINES]; /* entries that are not same-filled */
	unsigned freed;                /* of these, or more, since set to 0 */
	struct model_area areas[MODEL_AREAS];
};

/* A page on its way in. */
struct model_page {
	struct model_slot slot; /* what it becomes if all goes well */
	int fault;              /* 0, -E2BIG (poor) or -EIO (failed) */
};

/* What a compressor is told to do wrong, and to how many pages. */
struct model_fault {
	bool whole_request; /* the pages' requests fail, with all that is in */
	int fault;          /* 0: none */
	unsigned nr;        /* the first so many that are compressed */
};

/* All areas off, nothing counted. */
void model_reset(struct model *m, unsigned window);

/*
 * Pages of the palette as they are stored now.
 * @min_bytes: results are padded to this; 0 for none
 */
void model_make(const struct model *m, struct model_page *pages, unsigned nr,
		const struct model_fault *fault, uint32_t min_bytes);

/*
 * What a store of these pages returns, and each page's result; 0 when all are
 * stored. Only what the pages themselves are the cause of.
 */
int model_verdict(const struct model *m, const struct model_page *pages,
		  unsigned nr, int *results);

/* Pools with entries, the current one included in any case. */
unsigned model_pools(const struct model *m);

/* Where nr slots hold pages. */
unsigned model_present(const struct model_slot *slots, unsigned nr);

/* The only way in which slots change. */
void model_set(struct model *m, struct model_area *a, unsigned first,
	       const struct model_slot *slots, unsigned nr);
void model_clear(struct model *m, struct model_area *a, unsigned first,
		 unsigned nr);

/* Rounded down, for any n. */
uint64_t model_percent_of(uint64_t n, unsigned percent);

/* The acceptance threshold in bytes. */
uint64_t model_threshold_bytes(const struct model *m);

#endif
