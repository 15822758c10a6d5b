/* SPDX-License-Identifier: MIT */
/*
 * stats.h - event counters, spread over shards
 *
 * A counter that all threads add to would be a cache line that all processors
 * fight for. So each thread adds to the shard of its number, and reading sums
 * the shards: exact at rest, and never ahead of the events in any case. Gauges
 * are not kept here; they are read from where the things themselves are.
 */
#ifndef ZSWAP_STATS_H
#define ZSWAP_STATS_H

#include "mem.h"

/* Those of each load and store first: in a shard's first cache line. */
enum stat {
	STAT_ZSWPIN,
	STAT_LOAD_MISSES,
	STAT_ZSWPOUT,
	STAT_SAME_FILLED_STORED,
	STAT_INCOMPRESSIBLE_STORED,
	STAT_LOAD_ERRORS,
	STAT_DECOMPRESS_FAIL,
	STAT_COMPRESS_ENGINE_FAIL,
	STAT_POOL_LIMIT_HIT,
	STAT_REJECT_DISABLED,
	STAT_REJECT_LIMIT,
	STAT_REJECT_COMPRESS_POOR,
	STAT_REJECT_COMPRESS_FAIL,
	STAT_REJECT_ALLOC_FAIL,
	STAT_REJECT_KMEMCACHE_FAIL,
	STAT_REJECT_NO_CONTEXT,
	STAT_STORED_FOLIOS, /* STATS_SIZES of them, by stats_size() */
	STATS_SIZES = 10,
	STAT_REFUSED_FOLIOS = STAT_STORED_FOLIOS + STATS_SIZES,
	NR_STATS = STAT_REFUSED_FOLIOS + STATS_SIZES
};

/* Which of the sizes a folio is counted under: 1, 2, 3-4, 5-8 ... 257-512. */
static inline unsigned stats_size(unsigned nr_pages)
{
	return nr_pages > 1 ? 32 - (unsigned)__builtin_clz(nr_pages - 1) : 0;
}

struct stats_shard {
	alignas(CACHE_LINE) _Atomic uint64_t counts[NR_STATS];
};

struct stats {
	unsigned mask;
	struct stats_shard shards[MAX_SHARDS];
};

static inline void stats_init(struct stats *stats, const struct mem *mem)
{
	stats->mask = mem->nr_shards - 1;
}

static inline void stats_add(struct stats *stats, enum stat stat, uint64_t n)
{
	struct stats_shard *shard =
		&stats->shards[thread_number() & stats->mask];

	if (n)
		atomic_fetch_add_explicit(&shard->counts[stat], n,
					  memory_order_relaxed);
}

uint64_t stats_sum(const struct stats *stats, enum stat stat);

/* Fills the fields that are counters. */
void stats_read_counters(const struct stats *stats, struct zswap_stats *out);

/* Writes lines "name value"; returns as zswap_format_stats(). */
long stats_format_text(const struct zswap_stats *snapshot,
		       const char *compressor, char *buf, size_t len);

#endif /* ZSWAP_STATS_H */
