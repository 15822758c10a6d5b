/* SPDX-License-Identifier: MIT */
/*
 * bench_store_load.h - store and load every page, beside the bare codec
 */
#ifndef BENCH_BENCH_STORE_LOAD_H
#define BENCH_BENCH_STORE_LOAD_H

#include "bench.h"
#include "codec.h"
#include "pages.h"

/* One direction, store or load. Speeds in MB (10^6 bytes of pages) a second. */
struct speed {
	struct summary mbps;
	struct summary bare_mbps;
	struct summary vs_bare; /* of the ratios of each repeat */
	struct latency page;
	struct latency bare_page;
};

/* What a page costs in memory; see bench_memory.c. */
struct memory {
	size_t nr_pages;
	double metadata_bytes; /* per page, by the library's count */
	double metadata_rss;   /* per page, by growth of the process; or NAN */
	double rss_bytes;      /* per page, all growth of the process; or NAN */
	double held_ratio;     /* original / (zspages + metadata) */
};

struct job {
	const struct corpus *corpus;
	const struct codec *codec;
	const struct memory *memory;
	unsigned folio_pages;
	unsigned first_repeats;
	unsigned warm_repeats;
	unsigned latency_passes;
};

struct row {
	const struct job *job;
	const char *variant;
	unsigned repeats;
	uint64_t same_filled;
	uint64_t raw;
	double ratio;
	double held_ratio;
	double metadata_bytes; /* per page, at the size of the corpus */
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

/* bench_memory() - @nr_pages pages at first, then 4 x as many */
struct memory bench_memory(const struct corpus *corpus,
			   const struct codec *codec, size_t nr_pages);

#endif /* BENCH_BENCH_STORE_LOAD_H */
