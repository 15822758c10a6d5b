// SPDX-License-Identifier: MIT
/*
 * side_cache.c - the library, used as its documentation tells
 *
 * Area 0 holds the corpus, page p in slot p. Area 1 holds the ballast.
 */
#include "side_cache.h"

#include "bench.h"
#include "hooks.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { AREA_CORPUS = 0, AREA_BALLAST = 1 };

/* Pages that a cache with ballast holds, in blocks of a pass. */
#define WARM_BLOCKS 64u

struct zswap *cache_make(const struct cache_kind *kind, uint64_t nr_slots)
{
	struct zswap_params params = {
		.size = sizeof(params),
		.page_size = kind->page_bytes,
		.compressor = kind->own ? kind->own->name : kind->codec->spec,
		.compressors = &kind->own,
		.nr_compressors = kind->own ? 1 : 0,
		.hooks = hooks_of_caches(),
		.max_pool_bytes = ZSWAP_UNLIMITED,
		.checksum = kind->checksum,
	};
	struct zswap *z;
	int err = zswap_create(&z, &params);

	if (err == -EOPNOTSUPP)
		bad_input("libzswap was built without checksums");
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
		.data = layout_page(l, folio_first(l, folio)),
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

typedef int load_page_fn(struct zswap *z, zswap_slot_t slot, void *page);

/* Inlined, so that the library's function is called directly. */
static inline int each_page(struct side *s, load_page_fn *load,
			    const uint32_t *pages, size_t count,
			    unsigned char *dst)
{
	struct side_cache *c = (struct side_cache *)s;
	size_t page_bytes = c->layout.page_bytes;

	for (size_t i = 0; i < count; i++, dst += page_bytes) {
		int err = load(c->z, zswap_slot(AREA_CORPUS, pages[i]), dst);

		if (err)
			return err;
	}
	return 0;
}

static int cache_load(struct side *s, const uint32_t *pages, size_t count,
		      unsigned char *dst)
{
	return each_page(s, zswap_load, pages, count, dst);
}

static int cache_peek(struct side *s, const uint32_t *pages, size_t count,
		      unsigned char *dst)
{
	return each_page(s, zswap_peek, pages, count, dst);
}

static void cache_before_fill(struct side *s)
{
	struct side_cache *c = (struct side_cache *)s;

	zswap_destroy(c->z);
	c->z = cache_make(&c->kind, c->layout.nr_pages);
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
		const struct cache_kind *kind)
{
	*c = (struct side_cache){
		.side = { .name = "cache",
			  .store = cache_store,
			  .load = cache_load,
			  .peek = cache_peek,
			  .before_fill = cache_before_fill,
			  .after_fill = cache_after_fill,
			  .after_loads = cache_after_loads },
		.layout = *layout,
		.kind = *kind,
	};
}

/* ---- warming up -------------------------------------------------------- */

/* Copies of the corpus that make the cache hold WARM_BLOCKS blocks. */
static size_t ballast_copies(const struct passes *p)
{
	size_t nr_pages = p->layout.nr_pages;
	size_t block = p->block_pages < nr_pages ? p->block_pages : nr_pages;
	size_t wanted = WARM_BLOCKS * block;

	return (wanted + nr_pages - 1) / nr_pages - 1;
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

static void add_ballast(struct side_cache *c, size_t copies)
{
	size_t nr_pages = c->layout.nr_pages;
	int err;

	if (!copies)
		return;
	err = zswap_swapon(c->z, AREA_BALLAST, copies * nr_pages);
	if (err)
		broken("zswap_swapon: %s", strerror(-err));
	for (size_t i = 0; i < copies; i++)
		store_copy(c, i * nr_pages);
}

void cache_warm_up(struct side_cache *c, struct passes *p)
{
	struct meter m = { 0 };

	pass_fill(p, &c->side, 0, &m);
	add_ballast(c, ballast_copies(p));
	pass_warm(p, &c->side, 0, &m);
}

void cache_free(struct side_cache *c)
{
	zswap_destroy(c->z);
	c->z = NULL;
}

/* ---- what it holds ----------------------------------------------------- */

/* A corpus of same-filled pages has no payload, and no ratio. */
static double ratio(double original, uint64_t bytes)
{
	return bytes ? original / (double)bytes : NAN;
}

struct density density_of(const struct zswap_stats *stats, size_t page_bytes)
{
	double pages = (double)stats->stored_pages;
	double original = pages * (double)page_bytes;
	struct density d = {
		.same_filled = stats->same_filled_pages,
		.raw = stats->stored_incompressible_pages,
		.ratio = ratio(original, stats->compressed_bytes),
		.held_ratio = ratio(original, stats->pool_total_size +
						      stats->metadata_bytes),
		.metadata_bytes = (double)stats->metadata_bytes / pages,
	};

	return d;
}
