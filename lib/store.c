// SPDX-License-Identifier: MIT
/*
 * store.c - a folio in
 *
 *	fill? - entries (bulk) - compress (a batch) - place (a batch) - ... all
 *	pages ... - hold the clusters - publish
 *
 * All that can fail comes first, on entries that nobody knows; publishing swaps
 * the words of all slots under their clusters' locks. After a failure the slots
 * are made absent: what they held is older than what the caller has.
 *
 * Origin: zswap_store() of Linux mm/zswap.c, with the batches of the list
 * series "Batched zswap_store() with compression batching".
 */
#include "entry.h"

#include "fill.h"

/* What became of the pages; added to the statistics once per folio. */
struct store {
	struct zswap *z;
	const struct zswap_folio *folio;
	struct entry **entries;
	unsigned nr_filled, nr_raw, nr_engine_fail;
	int bad_page; /* the page that made the store fail, or -1: no single one */
};

/* A page that has to be compressed. */
struct job {
	unsigned i; /* in the folio */
	const void *page;
};

/*
 * Puts one compressed page in its object, or the page itself where compression
 * failed or saves no room: a payload in the huge class has a page of its own
 * whatever its length, and a raw page loads by a copy.
 */
static int place(struct store *s, struct pool *pool, const struct job *job,
		 int result, const void *buffer)
{
	struct entry *e = s->entries[job->i];
	bool raw = result < 0 || (size_t)result >= zs_huge_class_size(pool->zs);
	int err;

	if (result < 0 && result != -ENOSPC)
		s->nr_engine_fail++;
	s->nr_raw += raw;
	err = entry_set_payload(pool, e, raw ? job->page : buffer,
				raw ? s->z->page_size : (uint32_t)result, raw);
	if (err)
		s->bad_page = (int)job->i;
	return err;
}

static int compress_and_place(struct store *s, struct pool *pool,
			      const struct job *jobs, unsigned nr)
{
	const void *pages[ZSWAP_COMP_MAX_BATCH];
	struct comp_context *ctx = comp_claim(pool->comp);
	int err = 0;

	if (!ctx)
		return -EDEADLK;
	for (unsigned i = 0; i < nr; i++)
		pages[i] = jobs[i].page;
	comp_compress(pool->comp, ctx, pages, nr);
	for (unsigned i = 0; !err && i < nr; i++)
		err = place(s, pool, &jobs[i], comp_result(ctx, i),
			    comp_buffer(ctx, i));
	comp_release(ctx);
	return err;
}

/* Completes all entries; batches are of pages that are not same-filled. */
static int build(struct store *s, struct pool *pool)
{
	struct job jobs[ZSWAP_COMP_MAX_BATCH];
	unsigned nr = 0;
	uint64_t word;
	int err = 0;

	for (unsigned i = 0; !err && i < s->folio->nr_pages; i++) {
		const void *page = folio_page(s->z, s->folio, i);

		if (fill_detect(page, s->z->page_size, &word)) {
			entry_set_filled(s->entries[i], word);
			s->nr_filled++;
			continue;
		}
		jobs[nr++] = (struct job){ i, page };
		if (nr == pool->comp->batch) {
			err = compress_and_place(s, pool, jobs, nr);
			nr = 0;
		}
	}
	if (!err && nr)
		err = compress_and_place(s, pool, jobs, nr);
	return err;
}

/* The one moment at which the folio appears. Frees what it replaces. */
static void publish(struct store *s, struct range *range)
{
	unsigned nr_old = 0;

	range_lock(range);
	for (unsigned i = 0; i < range->nr; i++) {
		struct entry *old =
			entry_publish(range_cluster(range, i),
				      range_slot(range, i), s->entries[i]);

		if (old)
			s->entries[nr_old++] = old;
	}
	range_unhold(range);
	range_unlock(range);
	while (nr_old)
		entry_put_unlinked(s->z, s->entries[--nr_old]);
}

/* Everything up to publishing; on an error no entry is left. */
static int prepare(struct store *s, struct area *area, struct range *range)
{
	struct zswap *z = s->z;
	unsigned n = s->folio->nr_pages;
	int err;

	if (!atomic_load_explicit(&z->enabled, memory_order_relaxed)) {
		stats_add(&z->stats, STAT_REJECT_DISABLED, 1);
		return -EPERM;
	}
	if (entry_alloc_bulk(z, n, s->entries)) {
		stats_add(&z->stats, STAT_REJECT_KMEMCACHE_FAIL, 1);
		return -ENOMEM;
	}
	err = build(s, z->pool);
	if (!err)
		err = range_hold(&z->table, area,
				 zswap_slot_offset(s->folio->slot), n, range);
	stats_add(&z->stats, STAT_COMPRESS_ENGINE_FAIL, s->nr_engine_fail);
	if (!err)
		return 0;
	if (err == -ENOMEM)
		stats_add(&z->stats, STAT_REJECT_ALLOC_FAIL, 1);
	entry_discard(z, s->entries, n);
	return err;
}

static void set_results(struct store *s, int err)
{
	int *results = s->folio->results;

	for (unsigned i = 0; results && i < s->folio->nr_pages; i++)
		results[i] = s->bad_page < 0 || s->bad_page == (int)i ?
				     err :
				     -ECANCELED;
}

int store_folio(struct zswap *z, struct area *area,
		const struct zswap_folio *folio)
{
	struct entry *entries[ZSWAP_MAX_FOLIO];
	struct store s = {
		.z = z, .folio = folio, .entries = entries, .bad_page = -1
	};
	uint64_t first = zswap_slot_offset(folio->slot);
	struct range range;
	int err = prepare(&s, area, &range);

	set_results(&s, err);
	if (err) {
		invalidate_range(z, area, first, first + folio->nr_pages);
		return err;
	}
	publish(&s, &range);
	stats_add(&z->stats, STAT_ZSWPOUT, folio->nr_pages);
	stats_add(&z->stats, STAT_SAME_FILLED_STORED, s.nr_filled);
	stats_add(&z->stats, STAT_INCOMPRESSIBLE_STORED, s.nr_raw);
	return 0;
}

void invalidate_range(struct zswap *z, struct area *area, uint64_t first,
		      uint64_t end)
{
	struct cluster *cluster;

	while ((cluster = area_next_cluster(area, &first, end))) {
		uint64_t next = (first | (CLUSTER_SLOTS - 1)) + 1;

		next = next < end ? next : end;
		entry_drop_slots(z, cluster, slot_in_cluster(first),
				 slot_in_cluster(next - 1) + 1);
		first = next;
	}
}
