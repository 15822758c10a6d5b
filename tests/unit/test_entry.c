// SPDX-License-Identifier: MIT
/*
 * test_entry.c - what becomes of an entry, from making to the last put
 *
 * A bed is a cache with one area, entered, so that transitions can be made one
 * by one.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "codec.h"
#include "entry.h"
#include "pagegen.h"
#include "random.h"
#include "threads.h"
#include "watchdog.h"

#define PAGE 4096u
#define NR_SLOTS (UINT64_C(1) << 20)

struct bed {
	struct unit *u;
	struct zswap *z;
	struct area *area;
};

static struct bed bed_new(struct unit *u)
{
	struct zswap_params params = { .size = sizeof(params),
				       .hooks = &u->hooks.hooks };
	struct bed bed = { .u = u };

	assert_int_equal(zswap_create(&bed.z, &params), 0);
	assert_int_equal(zswap_swapon(bed.z, 0, NR_SLOTS), 0);
	bed.area = area_enter(&bed.z->table, 0);
	assert_non_null(bed.area);
	return bed;
}

/* The only pool there is. */
static struct pool *pool_of(struct zswap *z)
{
	return atomic_load(&z->pools.current);
}

/* As a store does it: with a reference for the entry. */
static int set_payload(struct zswap *z, struct entry *e, const void *payload,
		       uint32_t len, bool raw)
{
	struct pool *pool = pools_hold(&z->pools, 1);
	int err = entry_set_payload(z, pool, e, payload, len, raw);

	if (err)
		pools_put(&z->pools, pool, 1);
	return err;
}

static size_t nr_entries(struct bed *bed)
{
	return slab_nr_objects(&bed->z->entries);
}

static size_t nr_objects(struct bed *bed)
{
	struct zs_arena *zs = pool_of(bed->z)->zs;
	size_t n = 0;

	for (unsigned i = 0; i < zs->table.nr_classes; i++)
		n += zs->classes[i].in_use;
	return n;
}

static void assert_nothing_left(struct bed *bed)
{
	assert_int_equal(nr_entries(bed), 0);
	assert_int_equal(nr_objects(bed), 0);
	assert_true(zs_arena_check(pool_of(bed->z)->zs));
	assert_true(slab_cache_check(&bed->z->entries));
}

static void bed_end(struct bed *bed)
{
	area_leave(&bed->z->table, bed->area);
	zswap_destroy(bed->z);
}

static struct entry *blank(struct bed *bed)
{
	struct entry *e;

	assert_int_equal(entry_alloc_bulk(bed->z, 1, &e), 0);
	return e;
}

static struct entry *filled(struct bed *bed, uint64_t word)
{
	struct entry *e = blank(bed);

	entry_set_filled(e, word);
	return e;
}

static struct entry *raw(struct bed *bed, const void *page)
{
	struct entry *e = blank(bed);

	assert_int_equal(set_payload(bed->z, e, page, PAGE, true), 0);
	return e;
}

/* A page as a store would compress it; *len tells how short it became. */
static struct entry *stored(struct bed *bed, const void *page, uint32_t *len)
{
	struct comp *comp = pool_of(bed->z)->comp;
	struct comp_context *ctx = comp_claim(comp);
	struct entry *e = blank(bed);

	comp_compress(comp, ctx, &page, 1);
	assert_true(comp_result(ctx, 0) > 0);
	*len = (uint32_t)comp_result(ctx, 0);
	assert_int_equal(
		set_payload(bed->z, e, comp_buffer(ctx, 0), *len, false), 0);
	comp_release(ctx);
	return e;
}

static struct range hold(struct bed *bed, uint64_t first, unsigned nr)
{
	struct range range;

	assert_int_equal(
		range_hold(&bed->z->table, bed->area, first, nr, &range), 0);
	return range;
}

static void release(struct range *range)
{
	range_lock(range);
	range_unhold(range);
	range_unlock(range);
}

static void assert_gauges(struct cluster *cluster, unsigned nr_stored,
			  unsigned nr_filled, unsigned nr_raw, size_t bytes)
{
	assert_true(cluster_check(cluster));
	assert_int_equal(cluster->gauges.stored, nr_stored);
	assert_int_equal(cluster->gauges.filled, nr_filled);
	assert_int_equal(cluster->gauges.raw, nr_raw);
	assert_int_equal(cluster->gauges.bytes, bytes);
}

/* ---- making -------------------------------------------------------------- */

static void entries_that_were_never_published_are_discarded(void **state)
{
	struct bed bed = bed_new(*state);
	char page[PAGE];
	struct entry *e[4];
	uint32_t len;

	page_make(page, PAGE, PAGE_TEXT, 1);
	e[0] = blank(&bed);
	e[1] = filled(&bed, 5);
	e[2] = raw(&bed, page);
	e[3] = stored(&bed, page, &len);
	assert_int_equal(nr_entries(&bed), 4);
	assert_int_equal(nr_objects(&bed), 2);
	entry_discard(bed.z, e, 4);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

static void an_entry_knows_its_kind_and_gives_its_page(void **state)
{
	struct bed bed = bed_new(*state);
	char page[PAGE], out[PAGE];
	struct entry *e[3];
	uint32_t len;

	page_make(page, PAGE, PAGE_TEXT, 2);
	e[0] = filled(&bed, UINT64_C(0x0102030405060708));
	e[1] = raw(&bed, page);
	e[2] = stored(&bed, page, &len);
	assert_int_equal(entry_state(e[0]), ZSWAP_FILLED);
	assert_int_equal(entry_state(e[1]), ZSWAP_RAW);
	assert_int_equal(entry_state(e[2]), ZSWAP_STORED);
	assert_int_equal(entry_info(e[0]) & ENTRY_LENGTH_MASK, 0);
	assert_int_equal(entry_info(e[1]) & ENTRY_LENGTH_MASK, PAGE);
	assert_int_equal(entry_info(e[2]) & ENTRY_LENGTH_MASK, len);
	for (int i = 1; i < 3; i++) {
		memset(out, 0, PAGE);
		assert_int_equal(entry_read(bed.z, e[i], out), 0);
		assert_memory_equal(out, page, PAGE);
	}
	assert_int_equal(entry_read(bed.z, e[0], out), 0);
	for (size_t i = 0; i < PAGE; i++)
		assert_int_equal(out[i], 8 - i % 8);
	entry_discard(bed.z, e, 3);
	bed_end(&bed);
}

static void an_entry_without_memory_stays_blank(void **state)
{
	struct bed bed = bed_new(*state);
	struct entry *e = blank(&bed);
	char page[PAGE];

	memset(page, 1, PAGE);
	faulty_fail_from(&bed.u->hooks, FAULTY_ANY, 1);
	assert_int_equal(set_payload(bed.z, e, page, PAGE, true), -ENOMEM);
	faulty_fail_none(&bed.u->hooks);
	assert_int_equal(entry_info(e), 0);
	entry_discard(bed.z, &e, 1);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

static void D41_damaged_bytes_are_an_error(void **state)
{
	struct bed bed = bed_new(*state);
	char page[PAGE];
	struct entry *e;
	uint32_t len;

	page_make(page, PAGE, PAGE_TEXT, 3);
	e = stored(&bed, page, &len);
	memset(zs_payload(&e->cell), 0xff, len);
	assert_int_equal(entry_read(bed.z, e, page), -EIO);
	entry_discard(bed.z, &e, 1);
	bed_end(&bed);
}

/* ---- transitions --------------------------------------------------------- */

/* An entry in one of its three forms. */
static struct entry *in_form(struct bed *bed, int form, const void *page,
			     uint32_t *len)
{
	return form == 0 ? filled(bed, 1) :
	       form == 1 ? raw(bed, page) :
			   stored(bed, page, len);
}

static void D06_publishing_replaces_whatever_is_there(void **state)
{
	/* Each form after each. */
	static const int forms[] = { 0, 0, 1, 1, 2, 2, 0, 2, 1, 0 };
	struct bed bed = bed_new(*state);
	struct range range = hold(&bed, 5, 1);
	struct cluster *cluster = range.clusters[0];
	struct entry *e, *old = NULL;
	char page[PAGE];
	uint32_t len = 0;

	page_make(page, PAGE, PAGE_TEXT, 4);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		e = in_form(&bed, forms[i], page, &len);
		lock_take(&cluster->lock);
		assert_ptr_equal(entry_publish(cluster, 5, e), old);
		assert_ptr_equal(entry_at(cluster, 5), e);
		lock_give(&cluster->lock);
		assert_gauges(cluster, 1, forms[i] == 0, forms[i] == 1,
			      forms[i] == 0 ? 0 :
			      forms[i] == 1 ? PAGE :
					      len);
		if (old)
			entry_put_unlinked(bed.z, old);
		assert_int_equal(nr_entries(&bed), 1);
		old = e;
	}
	range_lock(&range);
	assert_ptr_equal(entry_unlink(cluster, 5), old);
	range_unhold(&range);
	range_unlock(&range);
	entry_put_unlinked(bed.z, old);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

static void unlinking_makes_a_slot_absent_once(void **state)
{
	struct bed bed = bed_new(*state);
	struct range range = hold(&bed, 7, 1);
	struct cluster *cluster = range.clusters[0];
	struct entry *e = filled(&bed, 7);

	range_lock(&range);
	assert_null(entry_unlink(cluster, 7));
	assert_null(entry_publish(cluster, 7, e));
	assert_null(entry_unlink(cluster, 8));
	assert_ptr_equal(entry_unlink(cluster, 7), e);
	assert_null(entry_unlink(cluster, 7));
	assert_null(entry_at(cluster, 7));
	range_unhold(&range);
	range_unlock(&range); /* and the table goes */
	assert_null(atomic_load(&cluster->words));
	assert_gauges(cluster, 0, 0, 0, 0);
	entry_put_unlinked(bed.z, e);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

static void D16_the_last_put_frees_an_unlinked_entry(void **state)
{
	struct bed bed = bed_new(*state);
	struct range range = hold(&bed, 7, 1);
	struct cluster *cluster = range.clusters[0];
	char page[PAGE], out[PAGE];
	struct entry *e;

	page_make(page, PAGE, PAGE_RANDOM, 7);
	e = raw(&bed, page);
	range_lock(&range);
	entry_publish(cluster, 7, e);
	assert_true(entry_pin(e));
	assert_true(entry_pin(e));
	assert_ptr_equal(entry_unlink(cluster, 7), e);
	assert_gauges(cluster, 0, 0, 0, 0); /* in no gauge any more */
	range_unhold(&range);
	range_unlock(&range);
	entry_put_unlinked(bed.z, e); /* the slot's reference */
	assert_int_equal(nr_entries(&bed), 1);
	assert_int_equal(entry_read(bed.z, e, out), 0);
	assert_memory_equal(out, page, PAGE);
	entry_unpin(bed.z, e);
	assert_int_equal(nr_entries(&bed), 1);
	assert_int_equal(nr_objects(&bed), 1);
	entry_unpin(bed.z, e);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

static void taking_drops_the_slots_reference_and_the_pin(void **state)
{
	struct bed bed = bed_new(*state);
	struct range range = hold(&bed, 7, 1);
	struct entry *e = filled(&bed, 7);

	range_lock(&range);
	entry_publish(range.clusters[0], 7, e);
	assert_true(entry_pin(e)); /* the taker's */
	assert_true(entry_pin(e)); /* somebody's */
	entry_unlink(range.clusters[0], 7);
	range_unhold(&range);
	range_unlock(&range);
	entry_put_taken(bed.z, e);
	assert_int_equal(nr_entries(&bed), 1);
	entry_unpin(bed.z, e);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

static void pins_are_refused_before_they_overflow(void **state)
{
	struct bed bed = bed_new(*state);
	struct range range = hold(&bed, 7, 1);
	struct entry *e = filled(&bed, 1);
	unsigned nr = 0;

	range_lock(&range);
	entry_publish(range.clusters[0], 7, e);
	while (entry_pin(e))
		nr++;
	assert_int_equal(nr, ENTRY_MAX_PINS);
	assert_false(entry_pin(e));
	assert_int_equal(entry_info(e) & ENTRY_FILLED, ENTRY_FILLED);
	entry_unpin(bed.z, e);
	assert_true(entry_pin(e)); /* one went, so one may come */
	entry_unlink(range.clusters[0], 7);
	range_unhold(&range);
	range_unlock(&range);
	while (nr--)
		entry_unpin(bed.z, e);
	assert_int_equal(nr_entries(&bed), 1);
	entry_put_unlinked(bed.z, e);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

/* Else compaction could move an object while it is being filled. */
static void an_entry_has_its_builders_pin_until_it_is_published(void **state)
{
	struct bed bed = bed_new(*state);
	struct range range = hold(&bed, 7, 1);
	struct entry *e = filled(&bed, 1);

	assert_int_equal(e->refs, ENTRY_SLOT + 1);
	range_lock(&range);
	entry_publish(range.clusters[0], 7, e);
	assert_int_equal(e->refs, ENTRY_SLOT);
	entry_unlink(range.clusters[0], 7);
	range_unhold(&range);
	range_unlock(&range);
	entry_put_unlinked(bed.z, e);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

static void D14_a_full_clusters_gauges_do_not_overflow(void **state)
{
	struct unit *u = *state;
	struct zswap_params params = { .size = sizeof(params),
				       .page_size = 65536,
				       .hooks = &u->hooks.hooks };
	struct bed bed = { .u = u };
	char *page = malloc(65536);
	struct range range;

	assert_non_null(page);
	page_make(page, 65536, PAGE_RANDOM, 1);
	assert_int_equal(zswap_create(&bed.z, &params), 0);
	assert_int_equal(zswap_swapon(bed.z, 0, NR_SLOTS), 0);
	bed.area = area_enter(&bed.z->table, 0);
	for (uint64_t i = 0; i < CLUSTER_SLOTS; i++)
		assert_int_equal(zswap_store(bed.z, zswap_slot(0, i), page), 0);
	range_find(&bed.z->table, bed.area, 0, 1, &range);
	assert_gauges(range.clusters[0], 512, 0, 512, 512 * 65536);
	zswap_invalidate(bed.z, zswap_slot(0, 0), 512);
	assert_gauges(range.clusters[0], 0, 0, 0, 0);
	free(page);
	bed_end(&bed);
}

/* ---- moving -------------------------------------------------------------- */

/* Publishes an entry in slot 7. */
static void publish(struct bed *bed, struct entry *e)
{
	struct range range = hold(bed, 7, 1);

	range_lock(&range);
	entry_publish(range.clusters[0], 7, e);
	range_unhold(&range);
	range_unlock(&range);
}

static void an_object_moves_only_while_nobody_has_it(void **state)
{
	struct bed bed = bed_new(*state);
	char page[PAGE] = { 1 };
	struct entry *e = raw(&bed, page), *other = raw(&bed, page);
	uint64_t here = zs_place(&e->cell), there = zs_place(&other->cell);

	assert_int_equal(entry_owner.may_move(&e->cell), 0); /* being built */
	publish(&bed, e);
	assert_int_equal(entry_owner.may_move(&e->cell), PAGE);
	assert_true(entry_pin(e));
	assert_int_equal(entry_owner.may_move(&e->cell), 0);
	/* It was pinned after it had been asked. */
	assert_false(entry_owner.move(&e->cell, there));
	assert_true(zs_place(&e->cell) == here);
	assert_int_equal(e->refs, ENTRY_SLOT + 1);
	entry_unpin(bed.z, e);
	assert_true(entry_owner.move(&e->cell, there));
	assert_true(zs_place(&e->cell) == there);
	assert_int_equal(e->refs, ENTRY_SLOT);
	assert_true(entry_owner.move(&e->cell, here));
	zswap_invalidate(bed.z, zswap_slot(0, 7), 1);
	entry_discard(bed.z, &other, 1);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

struct reading {
	struct zswap *z;
	struct entry *e;
	int result;
	char page[PAGE];
};

static void read_entry(void *arg)
{
	struct reading *reading = arg;

	reading->result = entry_read(reading->z, reading->e, reading->page);
}

/* What it would read at the older place is free a moment later. */
static void D53_a_reader_waits_until_the_place_has_changed(void **state)
{
	struct bed bed = bed_new(*state);
	char before[PAGE] = { 1 }, after[PAGE] = { 2 };
	struct entry *e = raw(&bed, before), *other = raw(&bed, after);
	struct reading reading = { .z = bed.z, .e = e };
	uint64_t here = zs_place(&e->cell);
	struct thread thread;

	publish(&bed, e);
	atomic_fetch_or(&e->refs, ENTRY_MOVING);
	assert_true(entry_pin(e));
	thread_start(&thread, read_entry, &reading);
	usleep(20000); /* every chance to read too early */
	atomic_store(&e->cell, zs_place(&other->cell));
	atomic_fetch_and(&e->refs, ~ENTRY_MOVING);
	thread_join(&thread);
	assert_int_equal(reading.result, 0);
	assert_memory_equal(reading.page, after, PAGE);
	atomic_store(&e->cell, here);
	entry_unpin(bed.z, e);
	zswap_invalidate(bed.z, zswap_slot(0, 7), 1);
	entry_discard(bed.z, &other, 1);
	assert_nothing_left(&bed);
	bed_end(&bed);
}

/* ---- dropping slots ------------------------------------------------------ */

static void dropping_slots_drops_these_and_no_others(void **state)
{
	struct bed bed = bed_new(*state);
	struct range range = hold(&bed, 512, 512);
	struct cluster *cluster = range.clusters[0];

	range_lock(&range);
	for (unsigned i = 0; i < 512; i += 2)
		entry_publish(cluster, i, filled(&bed, i));
	range_unhold(&range);
	range_unlock(&range);
	assert_gauges(cluster, 256, 256, 0, 0);
	entry_drop_slots(bed.z, cluster, 100, 100);
	assert_gauges(cluster, 256, 256, 0, 0);
	entry_drop_slots(bed.z, cluster, 101, 301);
	assert_gauges(cluster, 156, 156, 0, 0);
	lock_take(&cluster->lock);
	for (unsigned i = 0; i < 512; i++)
		assert_int_equal(!!entry_at(cluster, i),
				 i % 2 == 0 && (i < 101 || i >= 301));
	lock_give(&cluster->lock);
	assert_int_equal(nr_entries(&bed), 156);
	entry_drop_slots(bed.z, cluster, 0, 512);
	assert_null(atomic_load(&cluster->words));
	entry_drop_slots(bed.z, cluster, 0, 512); /* nothing there */
	assert_nothing_left(&bed);
	bed_end(&bed);
}

/* ---- ranges -------------------------------------------------------------- */

static void a_range_lies_in_one_cluster_or_in_two(void **state)
{
	static const struct {
		uint64_t first;
		unsigned nr, in_first;
	} known[] = {
		{ 0, 1, 1 },      { 0, 512, 512 },    { 511, 1, 1 },
		{ 511, 2, 1 },    { 1, 512, 511 },    { 512, 512, 512 },
		{ 1023, 512, 1 }, { 131071, 512, 1 }, { 700, 3, 3 },
	};
	struct bed bed = bed_new(*state);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		uint64_t first = known[i].first;
		unsigned nr = known[i].nr;
		struct range range = hold(&bed, first, nr);

		assert_int_equal(range.nr_in_first, known[i].in_first);
		assert_non_null(range.clusters[0]);
		assert_int_equal(!!range.clusters[1], known[i].in_first < nr);
		for (unsigned k = 0; k < nr; k++) {
			assert_ptr_equal(range_cluster(&range, k),
					 area_cluster(bed.area, first + k));
			assert_int_equal(range_slot(&range, k),
					 (first + k) % 512);
		}
		release(&range);
	}
	bed_end(&bed);
}

static void a_range_never_stored_to_has_no_clusters(void **state)
{
	struct bed bed = bed_new(*state);
	size_t before = atomic_load(&bed.z->mem.metadata_bytes);
	struct range range;

	range_find(&bed.z->table, bed.area, 131000, 200, &range);
	assert_null(range.clusters[0]);
	assert_null(range.clusters[1]);
	range_lock(&range);
	range_unlock(&range);
	assert_int_equal(atomic_load(&bed.z->mem.metadata_bytes), before);
	/* Its second half alone: the two leaves are apart. */
	range = hold(&bed, 131072, 1);
	range_find(&bed.z->table, bed.area, 131000, 200, &range);
	assert_null(range.clusters[0]);
	assert_non_null(range.clusters[1]);
	release(&range);
	bed_end(&bed);
}

static bool range_sees(struct range *range, unsigned nr)
{
	unsigned seen = 0;

	range_lock(range);
	for (unsigned i = 0; i < range->nr; i++) {
		struct cluster *cluster = range_cluster(range, i);

		seen += cluster && entry_at(cluster, range_slot(range, i));
	}
	range_unlock(range);
	return seen == nr;
}

/*
 * A range that was found before a store made the clusters used to see the half
 * of the folio whose cluster was there already.
 */
static void clusters_made_meanwhile_are_seen_when_locking(void **state)
{
	static char pages[4 * PAGE];
	const struct zswap_folio folio = { .size = sizeof(folio),
					   .slot = zswap_slot(0, 131070),
					   .nr_pages = 4,
					   .data = pages };
	struct bed bed = bed_new(*state);
	struct range before, between;

	range_find(&bed.z->table, bed.area, 131070, 4, &before);
	assert_true(range_sees(&before, 0));
	assert_int_equal(zswap_store(bed.z, zswap_slot(0, 131060), pages), 0);
	range_find(&bed.z->table, bed.area, 131070, 4, &between);
	assert_non_null(between.clusters[0]);
	assert_null(between.clusters[1]);
	assert_true(range_sees(&between, 0));
	assert_int_equal(zswap_store_folio(bed.z, &folio), 0);
	assert_true(range_sees(&before, 4));
	assert_true(range_sees(&between, 4));
	bed_end(&bed);
}

static void D48_a_range_is_held_whole_or_not_at_all(void **state)
{
	struct unit *u = *state;
	uint64_t k, failed = 1;

	for (k = 1; failed; k++) {
		struct bed bed = bed_new(u);
		struct range range;
		struct cluster *cluster;
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = range_hold(&bed.z->table, bed.area, 131000, 200, &range);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (!err)
			release(&range);
		for (uint64_t at = 130560; at <= 131072; at += 512) {
			cluster = area_cluster(bed.area, at);
			assert_true(!cluster || !cluster->holds);
			assert_true(!cluster || !cluster->words);
		}
		bed_end(&bed);
	}
	assert_true(k > 4);
}

/* ---- stores and loads ---------------------------------------------------- */

static void assert_contexts_are_free(struct bed *bed)
{
	struct comp_contexts *set = &pool_of(bed->z)->comp->compress;

	for (unsigned i = 0; i < set->nr; i++) {
		assert_true(lock_try(&set->all[i]->lock));
		lock_give(&set->all[i]->lock);
	}
}

/* Eight pages of kinds that need an object each, in eight size classes. */
static void make_folio(char *pages, uint64_t seed)
{
	for (unsigned i = 0; i < 8; i++) {
		page_make(pages + i * PAGE, PAGE, PAGE_TEXT, seed + i);
		page_make(pages + i * PAGE, i * 512, PAGE_RANDOM, seed);
	}
}

static void D49_a_batch_that_fails_anywhere_leaves_nothing_taken(void **state)
{
	struct unit *u = *state;
	static char pages[8 * PAGE], out[PAGE];
	uint64_t k, failed = 1;

	for (k = 1; failed; k++) {
		struct bed bed = bed_new(u);
		struct zswap_folio folio = { .size = sizeof(folio),
					     .slot = zswap_slot(0, 508),
					     .nr_pages = 8,
					     .data = pages };
		int err;

		make_folio(pages, k);
		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = zswap_store_folio(bed.z, &folio);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_contexts_are_free(&bed);
		if (failed)
			assert_nothing_left(&bed);
		/* The same thread goes on. */
		assert_int_equal(zswap_store_folio(bed.z, &folio), 0);
		for (unsigned i = 0; i < 8; i++) {
			assert_int_equal(
				zswap_load(bed.z, zswap_slot(0, 508 + i), out),
				0);
			assert_memory_equal(out, pages + i * PAGE, PAGE);
		}
		assert_nothing_left(&bed);
		bed_end(&bed);
	}
	assert_true(k > 5);
}

/* The huge class holds one payload of any length, so that a copy is cheaper. */
static void D37_a_payload_that_needs_a_whole_page_is_kept_raw(void **state)
{
	struct unit *u = *state;
	struct zswap_params params = { .size = sizeof(params),
				       .hooks = &u->hooks.hooks };
	static const uint32_t lengths[] = { 3624, 3625, 4095, 4096, 4097 };
	char page[PAGE], out[PAGE];
	struct codec codec;
	struct zswap *z;

	codec_init(&codec, 1);
	params.compressor = codec.spec;
	params.compressors = &codec.vtable_list;
	params.nr_compressors = 1;
	page_make(page, PAGE, PAGE_TEXT, 37);
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, NR_SLOTS), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		codec.pad_to = lengths[i];
		codec.decompress.requests = 0;
		assert_int_equal(zswap_store(z, zswap_slot(0, i), page), 0);
		assert_int_equal(codec.last_length, lengths[i]);
		assert_int_equal(zswap_query(z, zswap_slot(0, i)),
				 i ? ZSWAP_RAW : ZSWAP_STORED);
		assert_int_equal(zswap_load(z, zswap_slot(0, i), out), 0);
		assert_memory_equal(out, page, PAGE);
		assert_int_equal(codec.decompress.requests, !i);
	}
	zswap_destroy(z);
	assert_true(codec_end(&codec));
}

#define NR_THREADS 4
#define NR_ROUNDS 3000

/* Two store, two look; a page is always one of those that were stored. */
static void store_and_peek(unsigned index, void *arg)
{
	struct bed *bed = arg;
	zswap_slot_t slot = zswap_slot(0, 9);
	char page[PAGE];
	uint64_t version;

	for (unsigned i = 0; i < NR_ROUNDS; i++) {
		int err;

		if (index < 2) {
			page_stamp(page, PAGE, 9, 2 * i + index);
			CHECK(zswap_store(bed->z, slot, page) == 0);
			continue;
		}
		err = index == 2 && i % 16 == 0 ?
			      zswap_load(bed->z, slot, page) :
			      zswap_peek(bed->z, slot, page);
		CHECK(!err || err == -ENOENT);
		CHECK(err || page_verify(page, PAGE, 9, &version));
		CHECK(zswap_query(bed->z, slot) >= 0);
	}
	watchdog_progress();
}

static void D05_pins_and_replacements_may_race(void **state)
{
	struct bed bed = { 0 };

	(void)state;
	assert_int_equal(zswap_create(&bed.z, NULL), 0);
	assert_int_equal(zswap_swapon(bed.z, 0, NR_SLOTS), 0);
	run_threads(NR_THREADS, store_and_peek, &bed);
	assert_true(nr_entries(&bed) <= 1);
	zswap_invalidate(bed.z, zswap_slot(0, 9), 1);
	assert_nothing_left(&bed);
	zswap_destroy(bed.z);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(entries_that_were_never_published_are_discarded),
		unit_case(an_entry_knows_its_kind_and_gives_its_page),
		unit_case(an_entry_without_memory_stays_blank),
		unit_case(D41_damaged_bytes_are_an_error),
		unit_case(D06_publishing_replaces_whatever_is_there),
		unit_case(unlinking_makes_a_slot_absent_once),
		unit_case(D16_the_last_put_frees_an_unlinked_entry),
		unit_case(taking_drops_the_slots_reference_and_the_pin),
		unit_case(pins_are_refused_before_they_overflow),
		unit_case(an_entry_has_its_builders_pin_until_it_is_published),
		unit_case(an_object_moves_only_while_nobody_has_it),
		unit_case(D53_a_reader_waits_until_the_place_has_changed),
		unit_case(D14_a_full_clusters_gauges_do_not_overflow),
		unit_case(dropping_slots_drops_these_and_no_others),
		unit_case(a_range_lies_in_one_cluster_or_in_two),
		unit_case(a_range_never_stored_to_has_no_clusters),
		unit_case(clusters_made_meanwhile_are_seen_when_locking),
		unit_case(D48_a_range_is_held_whole_or_not_at_all),
		unit_case(D49_a_batch_that_fails_anywhere_leaves_nothing_taken),
		unit_case(D37_a_payload_that_needs_a_whole_page_is_kept_raw),
		cmocka_unit_test(D05_pins_and_replacements_may_race),
	};

	watchdog_start("test_entry", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
