// SPDX-License-Identifier: MIT
/*
 * holder_cache.c - the library as a holder of pages
 */
#include "holder.h"

#include "bench.h"
#include "side_cache.h"

#include <string.h>

struct cache {
	struct holder holder;
	struct zswap *z;
};

static int store(struct holder *h, uint32_t slot, const void *page)
{
	struct cache *c = (struct cache *)h;

	return zswap_store(c->z, zswap_slot(0, slot), page);
}

static int peek(struct holder *h, uint32_t slot, void *page)
{
	struct cache *c = (struct cache *)h;

	return zswap_peek(c->z, zswap_slot(0, slot), page);
}

static void invalidate(struct holder *h, uint32_t slot)
{
	struct cache *c = (struct cache *)h;

	zswap_invalidate(c->z, zswap_slot(0, slot), 1);
}

static void compact(struct holder *h)
{
	struct cache *c = (struct cache *)h;
	long bytes = zswap_compact(c->z);

	if (bytes < 0)
		broken("zswap_compact: %s", strerror((int)-bytes));
}

static struct usage usage(struct holder *h)
{
	struct cache *c = (struct cache *)h;
	struct zswap_stats stats = cache_stats(c->z);
	struct usage u = {
		.live = (double)stats.compressed_bytes,
		.held = (double)stats.pool_total_size,
		.moves = (double)stats.objects_moved,
	};

	return u;
}

struct holder *holder_cache(const struct codec *codec, uint32_t nr_slots)
{
	struct cache_kind kind = { .codec = codec, .page_bytes = PAGE_BYTES };
	struct cache *c = bench_alloc(1, sizeof(*c));

	c->holder = (struct holder){
		.store = store,
		.peek = peek,
		.invalidate = invalidate,
		.compact = compact,
		.usage = usage,
	};
	c->z = cache_make(&kind, nr_slots);
	return &c->holder;
}
