/* SPDX-License-Identifier: MIT */
/* side_cache.h - a zswap cache holding a corpus */
#ifndef BENCH_SIDE_CACHE_H
#define BENCH_SIDE_CACHE_H

#include "codec.h"
#include "passes.h"
#include "side.h"

#include <zswap/compressor.h>
#include <zswap/zswap.h>

/* How a cache is made. */
struct cache_kind {
	const struct codec *codec;
	const struct zswap_compressor *own; /* in the codec's place, or NULL */
	uint32_t page_bytes;
	bool checksum;
};

struct side_cache {
	struct side side;
	struct layout layout;
	struct cache_kind kind;
	struct zswap *z;         /* NULL while closed */
	struct zswap_stats full; /* of the last moment it was full */
};

/*
 * cache_make() - a new cache with one area and no limit; ends the program when
 * it fails
 */
struct zswap *cache_make(const struct cache_kind *kind, uint64_t nr_slots);

/* cache_stats() - the statistics; ends the program when they fail */
struct zswap_stats cache_stats(struct zswap *z);

/* cache_init() - without a cache yet; before_fill() makes one */
void cache_init(struct side_cache *c, const struct layout *layout,
		const struct cache_kind *kind);

/*
 * cache_warm_up() - fill it, and make it ready for pass_warm()
 *
 * A warm pass takes a block out before it puts it back. Where that is a large
 * part of what the cache holds, memory is emptied and filled again all the
 * time, which steady use does not do. So the cache gets ballast, more copies of
 * the corpus in another area, which nobody loads.
 */
void cache_warm_up(struct side_cache *c, struct passes *p);

void cache_free(struct side_cache *c);

/* Of what a cache holds: its pages by kind, and what they take. */
struct density {
	uint64_t same_filled;
	uint64_t raw;
	double ratio;          /* original / payload; NAN without payload */
	double held_ratio;     /* original / (zspages + metadata) */
	double metadata_bytes; /* per page */
};

struct density density_of(const struct zswap_stats *stats, size_t page_bytes);

#endif /* BENCH_SIDE_CACHE_H */
