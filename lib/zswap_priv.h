/* SPDX-License-Identifier: MIT */
/*
 * zswap_priv.h - the cache itself, and the library's lock order
 *
 * Locks are taken from left to right, and those in braces never together:
 *
 *	context, grow -> table -> cluster (ascending)
 *		{ class, slab, span, pools, limit }
 *
 * A context's lock is that of comp.h, held over a codec's call, and `grow` that
 * of the thread that makes a context; a codec that calls the cache takes any of
 * the others after them. Inside a codec nobody waits for either, so there is no
 * circle. table->lock guards the coming and going of areas and is held over
 * nothing but allocation. The locks in braces are leaves: a class's lock is
 * dropped before memory is asked of the span or a slab.
 *
 * Nothing here is global: all state hangs on struct zswap.
 */
#ifndef ZSWAP_PRIV_H
#define ZSWAP_PRIV_H

#include "limit.h"
#include "pools.h"
#include "stats.h"
#include "swap_table.h"

#include <zswap/zswap.h>

struct zswap {
	struct mem mem; /* first; see mem_create() */
	uint32_t page_size;
	_Atomic bool enabled;
	bool checksum;
	enum zswap_raw_policy raw_policy;
	struct zs_compaction compaction;
	struct limit limit;
	struct pools pools;
	struct swap_table table;
	struct slab_cache entries;
	struct stats stats;
};

/* store.c: a folio whose arguments were checked, in an area entered. */
int store_folio(struct zswap *z, struct area *area,
		const struct zswap_folio *folio);
/* Makes slots absent; any range of the area. */
void invalidate_range(struct zswap *z, struct area *area, uint64_t first,
		      uint64_t end);

/* load.c: one page, and a folio whose arguments were checked. */
int load_page(struct zswap *z, struct area *area, uint64_t offset, void *page,
	      bool keep);
int load_folio(struct zswap *z, struct area *area,
	       const struct zswap_folio *folio, unsigned flags);

/* Page i of a folio. */
static inline void *folio_page(const struct zswap *z,
			       const struct zswap_folio *folio, unsigned i)
{
	if (folio->pages)
		return folio->pages[i];
	return (char *)folio->data + (size_t)i * z->page_size;
}

#endif /* ZSWAP_PRIV_H */
