// SPDX-License-Identifier: MIT
/*
 * side_cache.c - the library, used as its documentation tells
 *
 * Area 0 holds the corpus, page p in slot p. Area 1 holds ballast, see
 * bench_store_load.c.
 */
#include "side_cache.h"

#include "bench.h"

#include <errno.h>
#include <string.h>

enum { AREA_CORPUS = 0, AREA_BALLAST = 1 };

struct zswap *cache_make(const struct codec *codec, uint64_t nr_slots)
{
	struct zswap_params params = {
		.size = sizeof(params),
		.page_size = PAGE_BYTES,
		.compressor = codec->name,
	};
	struct zswap *z;
	int err = zswap_create(&z, &params);

	if (err == -ENOENT)
		bad_input("libzswap was built without %s", codec->name);
	if (err)
		broken("zswap_create: %s", strerror(-err));
	err = zswap_swapon(z, AREA_CORPUS, nr_slots);
	if (err)
		broken("zswap_swapon: %s", strerror(-err));
	return z;
}

struct zswap_stats cache_stats(struct zswap *z)
{
	struct zswap_stats stats = { .size = sizeof(stats) };
	int err = zswap_get_stats(z, &stats);

	if (err)
		broken("zswap_get_stats: %s", strerror(-err));
	return stats;
}

static int store_folio(struct side_cache *c, uint32_t folio, zswap_slot_t slot)
{
	const struct layout *l = &c->layout;
	struct zswap_folio request = {
		.size = sizeof(request),
		.slot = slot,
		.nr_pages = folio_len(l, folio),
		.data = l->corpus->pages +
			(size_t)folio_first(l, folio) * PAGE_BYTES,
	};

	return zswap_store_folio(c->z, &request);
}

static int cache_store(struct side *s, const uint32_t *folios, size_t count)
{
	struct side_cache *c = (struct side_cache *)s;

	for (size_t i = 0; i < count; i++) {
		uint32_t first = folio_first(&c->layout, folios[i]);
		int err = store_folio(c, folios[i],
				      zswap_slot(AREA_CORPUS, first));

		if (err)
			return err;
	}
	return 0;
}

static int cache_load(struct side *s, const uint32_t *pages, size_t count,
		      unsigned char *dst)
{
	struct side_cache *c = (struct side_cache *)s;

	for (size_t i = 0; i < count; i++, dst += PAGE_BYTES) {
		int err = zswap_load(c->z, zswap_slot(AREA_CORPUS, pages[i]),
				     dst);

		if (err)
			return err;
	}
	return 0;
}

static void cache_before_fill(struct side *s)
{
	struct side_cache *c = (struct side_cache *)s;

	zswap_destroy(c->z);
	c->z = cache_make(c->codec, c->layout.corpus->nr_pages);
}

static void cache_after_fill(struct side *s)
{
	struct side_cache *c = (struct side_cache *)s;

	c->full = cache_stats(c->z);
}

/* Loads take: a cache of which each page was loaded has none left. */
static void cache_after_loads(struct side *s)
{
	struct side_cache *c = (struct side_cache *)s;
	struct zswap_stats stats = cache_stats(c->z);

	if (stats.stored_pages)
		broken("%llu pages are still stored after each was loaded",
		       (unsigned long long)stats.stored_pages);
}

void cache_init(struct side_cache *c, const struct layout *layout,
		const struct codec *codec)
{
	*c = (struct side_cache){
		.side = { .name = "cache", .store = cache_store,
			  .load = cache_load,
			  .before_fill = cache_before_fill,
			  .after_fill = cache_after_fill,
			  .after_loads = cache_after_loads },
		.layout = *layout,
		.codec = codec,
	};
}

static void store_copy(struct side_cache *c, uint64_t offset)
{
	for (uint32_t f = 0; f < c->layout.nr_folios; f++) {
		uint64_t at = offset + folio_first(&c->layout, f);
		int err = store_folio(c, f, zswap_slot(AREA_BALLAST, at));

		if (err)
			broken("zswap_store_folio: %s", strerror(-err));
	}
}

void cache_ballast(struct side_cache *c, size_t copies)
{
	size_t nr_pages = c->layout.corpus->nr_pages;
	int err;

	if (!copies)
		return;
	err = zswap_swapon(c->z, AREA_BALLAST, copies * nr_pages);
	if (err)
		broken("zswap_swapon: %s", strerror(-err));
	for (size_t i = 0; i < copies; i++)
		store_copy(c, i * nr_pages);
}

void cache_free(struct side_cache *c)
{
	zswap_destroy(c->z);
	c->z = NULL;
}
