// SPDX-License-Identifier: MIT
/*
 * bench_memory.c - what a page costs in memory, by count and by growth
 *
 * A cache of N pages grows to 4 N. What the library says its metadata takes is
 * set beside what the process really grew by, less the growth of the bytes
 * held for pages. The difference of two sizes leaves out whatever does not grow
 * with the pages; on a small corpus that would hide the rest.
 *
 *	RSS(4N) - RSS(N) = 3N x (pages held + metadata + what nobody counts)
 *
 * The corpus is stored again and again under consecutive slots until there are
 * that many pages.
 */
#include "bench_memory.h"

#include "hooks.h"

#include <math.h>
#include <string.h>

#define MEMORY_BYTES (25000u * 4096) /* at first */
#define QUICK_MEMORY_BYTES (5000u * 4096)
#define MEMORY_FOLIO 16u

/* Stores until there are @end pages; folios do not cross the corpus's end. */
static void fill(struct zswap *z, const struct layout *l, size_t at, size_t end)
{
	while (at < end) {
		size_t from = at % l->nr_pages;
		size_t count = l->nr_pages - from;
		struct zswap_folio folio = {
			.size = sizeof(folio),
			.slot = zswap_slot(0, at),
			.data = layout_page(l, (uint32_t)from),
		};
		int err;

		count = count < l->folio_pages ? count : l->folio_pages;
		count = count < end - at ? count : end - at;
		folio.nr_pages = (uint32_t)count;
		err = zswap_store_folio(z, &folio);
		if (err)
			broken("%s: memory: zswap_store_folio: %s",
			       l->corpus->name, strerror(-err));
		at += count;
	}
}

struct level {
	double rss, held, metadata;
};

static struct level level_now(struct zswap *z)
{
	struct zswap_stats stats = cache_stats(z);
	struct level l = {
		.rss = (double)bench_rss_bytes(),
		.held = (double)stats.pool_total_size,
		.metadata = (double)stats.metadata_bytes,
	};

	return l;
}

struct memory bench_memory(const struct corpus *corpus,
			   const struct cache_kind *kind, bool quick)
{
	struct layout l = layout_of(corpus, kind->page_bytes, MEMORY_FOLIO);
	size_t nr_pages =
		(quick ? QUICK_MEMORY_BYTES : MEMORY_BYTES) / kind->page_bytes;
	size_t total = 4 * nr_pages;
	double grown = (double)(total - nr_pages);
	struct memory m = { .nr_pages = total,
			    .metadata_rss = NAN,
			    .rss_bytes = NAN };
	struct zswap *z = cache_make(kind, total);
	struct level low, high;

	progress("%s, %s, memory", corpus->name, kind->codec->spec);
	/* What is kept free would take new metadata without growth. */
	hooks_trim();
	fill(z, &l, 0, nr_pages);
	low = level_now(z);
	fill(z, &l, nr_pages, total);
	high = level_now(z);
	zswap_destroy(z);

	m.metadata_bytes = high.metadata / (double)total;
	m.held_ratio =
		(double)total * kind->page_bytes / (high.held + high.metadata);
	if (low.rss > 0 && high.rss > 0) {
		m.rss_bytes = (high.rss - low.rss) / grown;
		m.metadata_rss = m.rss_bytes - (high.held - low.held) / grown;
	}
	return m;
}
