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

/* A page whose own error makes the store fail. */
struct culprit {
	unsigned i; /* in the folio */
	int err;
};

/* What became of the pages; added to the statistics once per folio. */
struct store {
	struct zswap *z;
	const struct zswap_folio *folio;
	struct entry **entries;
	unsigned nr_placed, nr_filled, nr_raw, nr_engine_fail;
	struct culprit culprits[ZSWAP_COMP_MAX_BATCH]; /* of one batch */
	unsigned nr_culprits;
};

/* A page that has to be compressed. */
struct job {
	unsigned i; /* in the folio */
	const void *page;
};

/* ---- one batch ----------------------------------------------------------- */

/* Whether there is room for a batch more; 0 or -ENOSPC. */
static int check_limit(struct store *s)
{
	enum limit_answer answer = limit_check(&s->z->limit);

	if (likely(answer == LIMIT_ACCEPTS))
		return 0;
	stats_add(&s->z->stats, STAT_POOL_LIMIT_HIT, answer == LIMIT_REACHED);
	return -ENOSPC;
}

/* The limit is 0, or the allocator has met it in the middle of a batch. */
static int no_room(struct store *s)
{
	limit_was_reached(&s->z->limit);
	stats_add(&s->z->stats, STAT_POOL_LIMIT_HIT, 1);
	return -ENOSPC;
}

static void blame(struct store *s, unsigned i, int err)
{
	s->culprits[s->nr_culprits++] = (struct culprit){ i, err };
}

/* What is wrong with a compressor's result: 0, -E2BIG (poor), -EIO (failed). */
static int fault_of(const struct pool *pool, int result)
{
	if (result < 0 && result != -ENOSPC)
		return -EIO;
	/* In the huge class a payload has a page of its own, however short. */
	if (result < 0 || (size_t)result >= zs_arena_huge_bytes(pool->zs))
		return -E2BIG;
	return 0;
}

/*
 * Looks at all results before anything is placed: one page that is refused
 * refuses the folio, and each such page of the batch is told. Kept raw are
 * pages with a fault if the policy allows; as nothing can be written back yet,
 * ZSWAP_RAW_KERNEL does not.
 */
static int judge(struct store *s, struct pool *pool, struct comp_context *ctx,
		 const struct job *jobs, unsigned nr)
{
	bool keep = s->z->raw_policy == ZSWAP_RAW_KEEP;

	for (unsigned i = 0; i < nr; i++) {
		int fault = fault_of(pool, comp_result(ctx, i));

		s->nr_engine_fail += fault == -EIO;
		if (fault && !keep)
			blame(s, jobs[i].i, fault);
	}
	return s->nr_culprits ? s->culprits[0].err : 0;
}

/* Puts a compressed page in its object, or the page itself. */
static int place(struct store *s, struct pool *pool, const struct job *job,
		 int result, const void *buffer)
{
	bool raw = fault_of(pool, result);
	int err = entry_set_payload(
		s->z, pool, s->entries[job->i], raw ? job->page : buffer,
		raw ? s->z->page_size : (uint32_t)result, raw);

	if (!err) {
		s->nr_placed++;
		s->nr_raw += raw;
		return 0;
	}
	if (err == -EDQUOT)
		return no_room(s);
	blame(s, job->i, err);
	return err;
}

static int compress_and_place(struct store *s, struct pool *pool,
			      const struct job *jobs, unsigned nr)
{
	const void *pages[ZSWAP_COMP_MAX_BATCH];
	struct comp_context *ctx;
	int err = check_limit(s);

	if (err)
		return err;
	ctx = comp_claim(pool->comp);
	if (!ctx)
		return -EDEADLK;
	for (unsigned i = 0; i < nr; i++)
		pages[i] = jobs[i].page;
	comp_compress(pool->comp, ctx, pages, nr);
	err = judge(s, pool, ctx, jobs, nr);
	for (unsigned i = 0; !err && i < nr; i++)
		err = place(s, pool, &jobs[i], comp_result(ctx, i),
			    comp_buffer(ctx, i));
	comp_release(ctx);
	return err;
}

/* ---- all pages ----------------------------------------------------------- */

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

/* Holds a pool while the entries are built, which then hold it themselves. */
static int build_in_pool(struct store *s)
{
	struct pools *pools = &s->z->pools;
	unsigned nr = s->folio->nr_pages;
	struct pool *pool = pools_hold(pools, nr);
	int err = build(s, pool);

	if (s->nr_placed < nr)
		pools_put(pools, pool, nr - s->nr_placed);
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

/* What refused a folio, by its error; *reason is the counter of that. */
static int refused(enum stat why, int err, enum stat *reason)
{
	*reason = why;
	return err;
}

static int refused_by(int err, enum stat *reason)
{
	switch (err) {
	case -ENOSPC:
		return refused(STAT_REJECT_LIMIT, err, reason);
	case -E2BIG:
		return refused(STAT_REJECT_COMPRESS_POOR, err, reason);
	case -EIO:
		return refused(STAT_REJECT_COMPRESS_FAIL, err, reason);
	case -EDEADLK:
		return refused(STAT_REJECT_NO_CONTEXT, err, reason);
	default:
		return refused(STAT_REJECT_ALLOC_FAIL, err, reason);
	}
}

/* Everything up to publishing; on an error no entry is left. */
static int prepare(struct store *s, struct area *area, struct range *range,
		   enum stat *reason)
{
	struct zswap *z = s->z;
	unsigned n = s->folio->nr_pages;
	int err;

	if (!atomic_load_explicit(&z->enabled, memory_order_relaxed))
		return refused(STAT_REJECT_DISABLED, -EPERM, reason);
	if (unlikely(limit_is_zero(&z->limit)))
		return refused(STAT_REJECT_LIMIT, no_room(s), reason);
	if (entry_alloc_bulk(z, n, s->entries))
		return refused(STAT_REJECT_KMEMCACHE_FAIL, -ENOMEM, reason);
	err = build_in_pool(s);
	if (!err)
		err = range_hold(&z->table, area,
				 zswap_slot_offset(s->folio->slot), n, range);
	stats_add(&z->stats, STAT_COMPRESS_ENGINE_FAIL, s->nr_engine_fail);
	if (!err)
		return 0;
	entry_discard(z, s->entries, n);
	return refused_by(err, reason);
}

/* Results of a folio that was stored, or of one that was refused. */
static void set_results(const struct store *s, int err)
{
	int *results = s->folio->results;

	if (!results)
		return;
	for (unsigned i = 0; i < s->folio->nr_pages; i++)
		results[i] = s->nr_culprits ? -ECANCELED : err;
	for (unsigned c = 0; c < s->nr_culprits; c++)
		results[s->culprits[c].i] = s->culprits[c].err;
}

static void count_stored(const struct store *s)
{
	struct stats *stats = &s->z->stats;
	unsigned n = s->folio->nr_pages;

	stats_add(stats, (enum stat)(STAT_STORED_FOLIOS + stats_size(n)), 1);
	stats_add(stats, STAT_ZSWPOUT, n);
	stats_add(stats, STAT_SAME_FILLED_STORED, s->nr_filled);
	stats_add(stats, STAT_INCOMPRESSIBLE_STORED, s->nr_raw);
}

static void count_refused(const struct store *s, enum stat reason)
{
	struct stats *stats = &s->z->stats;
	unsigned size = stats_size(s->folio->nr_pages);

	stats_add(stats, (enum stat)(STAT_REFUSED_FOLIOS + size), 1);
	stats_add(stats, reason, 1);
}

int store_folio(struct zswap *z, struct area *area,
		const struct zswap_folio *folio)
{
	struct entry *entries[ZSWAP_MAX_FOLIO];
	struct store s;
	uint64_t first = zswap_slot_offset(folio->slot);
	struct range range;
	enum stat reason;
	int err;

	s.z = z;
	s.folio = folio;
	s.entries = entries;
	s.nr_placed = s.nr_filled = s.nr_raw = s.nr_engine_fail = 0;
	s.nr_culprits = 0;
	err = prepare(&s, area, &range, &reason);
	set_results(&s, err);
	if (err) {
		invalidate_range(z, area, first, first + folio->nr_pages);
		count_refused(&s, reason);
		return err;
	}
	publish(&s, &range);
	count_stored(&s);
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
