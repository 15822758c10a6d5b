/* SPDX-License-Identifier: MIT */
/* bench_memory.h - what a page costs in memory, by count and by growth */
#ifndef BENCH_BENCH_MEMORY_H
#define BENCH_BENCH_MEMORY_H

#include "side_cache.h"

struct memory {
	size_t nr_pages;
	double metadata_bytes; /* per page, by the library's count */
	double metadata_rss;   /* per page, by growth of the process; or NAN */
	double rss_bytes;      /* per page, all growth of the process; or NAN */
	double held_ratio;     /* original / (zspages + metadata) */
};

/*
 * bench_memory() - a cache of 100 MB of pages at first, then 4 x as many; with
 * @quick a fifth of that
 */
struct memory bench_memory(const struct corpus *corpus,
			   const struct cache_kind *kind, bool quick);

#endif /* BENCH_BENCH_MEMORY_H */
