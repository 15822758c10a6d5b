/* SPDX-License-Identifier: MIT */
/*
 * side.h - the two sides of a comparison: the cache, and the bare codec
 *
 * Both are driven by the same code with the same pages in the same order, and
 * both deliver into the same buffer. A call does a whole block, so that what
 * lies between the clock readings is each side's own tight loop.
 */
#ifndef BENCH_SIDE_H
#define BENCH_SIDE_H

#include "pages.h"

#include <stdint.h>

/* A corpus cut into pages and folios; the last folio may be shorter. */
struct layout {
	const struct corpus *corpus;
	uint32_t page_bytes;
	uint32_t nr_pages;
	uint32_t folio_pages;
	uint32_t nr_folios;
};

/* layout_of() - the corpus holds whole pages of that size, at least one */
static inline struct layout layout_of(const struct corpus *corpus,
				      uint32_t page_bytes, uint32_t folio_pages)
{
	uint32_t nr_pages = (uint32_t)(corpus_bytes(corpus) / page_bytes);
	struct layout l = {
		.corpus = corpus,
		.page_bytes = page_bytes,
		.nr_pages = nr_pages,
		.folio_pages = folio_pages,
		.nr_folios = (nr_pages + folio_pages - 1) / folio_pages,
	};

	return l;
}

static inline unsigned char *layout_page(const struct layout *l, uint32_t page)
{
	return l->corpus->pages + (size_t)page * l->page_bytes;
}

static inline size_t layout_bytes(const struct layout *l)
{
	return (size_t)l->nr_pages * l->page_bytes;
}

static inline uint32_t folio_first(const struct layout *l, uint32_t folio)
{
	return folio * l->folio_pages;
}

static inline uint32_t folio_len(const struct layout *l, uint32_t folio)
{
	uint32_t left = l->nr_pages - folio_first(l, folio);

	return left < l->folio_pages ? left : l->folio_pages;
}

/*
 * Functions return 0, or a negative errno for the first page that failed. Those
 * named after a moment of the "first" variant may be NULL.
 */
struct side {
	const char *name;

	/* Stores these folios of the corpus. */
	int (*store)(struct side *s, const uint32_t *folios, size_t count);

	/* Loads these pages, one after another to @dst. A cache's are gone. */
	int (*load)(struct side *s, const uint32_t *pages, size_t count,
		    unsigned char *dst);

	/* Likewise, but they stay. */
	int (*peek)(struct side *s, const uint32_t *pages, size_t count,
		    unsigned char *dst);

	void (*before_fill)(struct side *s);
	void (*after_fill)(struct side *s);
	void (*after_loads)(struct side *s);
};

#endif /* BENCH_SIDE_H */
