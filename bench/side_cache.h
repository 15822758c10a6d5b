/* SPDX-License-Identifier: MIT */
/* side_cache.h - a zswap cache holding a corpus */
#ifndef BENCH_SIDE_CACHE_H
#define BENCH_SIDE_CACHE_H

#include "codec.h"
#include "side.h"

#include <zswap/zswap.h>

struct side_cache {
	struct side side;
	struct layout layout;
	const struct codec *codec;
	struct zswap *z;         /* NULL while closed */
	struct zswap_stats full; /* of the last moment it was full */
};

/* cache_make() - a new cache with one area; ends the program when it fails */
struct zswap *cache_make(const struct codec *codec, uint64_t nr_slots);

/* cache_stats() - the statistics; ends the program when they fail */
struct zswap_stats cache_stats(struct zswap *z);

/* cache_init() - without a cache yet; before_fill() makes one */
void cache_init(struct side_cache *c, const struct layout *layout,
		const struct codec *codec);

/* cache_ballast() - store @copies more of the corpus, in another area */
void cache_ballast(struct side_cache *c, size_t copies);

void cache_free(struct side_cache *c);

#endif /* BENCH_SIDE_CACHE_H */
