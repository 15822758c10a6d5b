/* SPDX-License-Identifier: MIT */
/*
 * bench_store_load.h - store and load every page, beside the bare codec
 */
#ifndef BENCH_BENCH_STORE_LOAD_H
#define BENCH_BENCH_STORE_LOAD_H

#include "bench_memory.h"
#include "side_cache.h"

/* One direction, store or load. Speeds in MB (10^6 bytes of pages) a second. */
struct speed {
	struct summary mbps;
	struct summary bare_mbps;
	struct summary vs_bare; /* of the ratios of each repeat */
	struct latency page;
	struct latency bare_page;
};

struct job {
	struct layout layout;
	struct cache_kind kind;
	const struct memory *memory;
	unsigned first_repeats;
	unsigned warm_repeats;
	unsigned latency_passes;
};

struct row {
	const struct job *job;
	const char *variant;
	unsigned repeats;
	struct density density; /* at the size of the corpus */
	struct speed store;
	struct speed load;
};

/**
 * bench_first() - fill a fresh cache, and empty it in random order
 *
 * Ends the program (EXIT_BROKEN) when a page comes back changed.
 */
struct row bench_first(const struct job *job);

/**
 * bench_warm() - load and store again what a full cache holds
 *
 * Like bench_first(), but the cache stays full.
 */
struct row bench_warm(const struct job *job);

#endif /* BENCH_BENCH_STORE_LOAD_H */
