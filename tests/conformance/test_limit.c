// SPDX-License-Identifier: MIT
/*
 * test_limit.c - the limit of the memory for pages, and its threshold
 *
 * A random page is kept raw and holds one page of memory, so a case counts in
 * pages; what is held in all it reads from the statistics. Fewer than 32 pages
 * leave no reserve behind, so that forgetting one gives its page back.
 */
#include "fixture.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

/* The pages of a batch: the limit is looked at before each. */
static uint32_t batch_of(const struct fixture *f)
{
	return f->variant->batch > 8 ? f->variant->batch : 8;
}

/* Zspages have up to 8 pages. */
#define ZSPAGE_PAGES 8

static uint64_t held(struct fixture *f)
{
	return stats_of(f->z).pool_total_size;
}

static uint64_t bytes_of(struct fixture *f, uint64_t pages)
{
	return pages * f->page_size;
}

static void set_limit(struct fixture *f, uint64_t pages)
{
	assert_int_equal(zswap_set_max_pool_bytes(f->z, bytes_of(f, pages)), 0);
}

static void set_threshold(struct fixture *f, unsigned percent)
{
	assert_int_equal(zswap_set_accept_threshold_percent(f->z, percent), 0);
}

static int store_random(struct fixture *f, uint64_t offset)
{
	page_make(f->page, f->page_size, PAGE_RANDOM, offset);
	return zswap_store(f->z, at(offset), f->page);
}

/* Random pages in slots 0 .. nr - 1. */
struct tank {
	struct fixture *f;
	uint64_t nr;
};

static int pour(struct tank *t)
{
	int err = store_random(t->f, t->nr);

	t->nr += err == 0;
	return err;
}

/* Forgets pages until no more than this is held. */
static void drain_to(struct tank *t, uint64_t bytes)
{
	while (held(t->f) > bytes) {
		assert_true(t->nr > 0);
		zswap_invalidate(t->f->z, at(--t->nr), 1);
	}
}

static void fill_to(struct tank *t, uint64_t pages)
{
	drain_to(t, bytes_of(t->f, pages));
	while (held(t->f) < bytes_of(t->f, pages))
		assert_int_equal(pour(t), 0);
	assert_int_equal(held(t->f), bytes_of(t->f, pages));
}

/* Stores until the limit says no. */
static void fill_up(struct tank *t)
{
	int err;

	do
		err = pour(t);
	while (!err);
	assert_int_equal(err, -ENOSPC);
}

static void assert_all_load(struct tank *t)
{
	uint64_t i;

	for (i = 0; i < t->nr; i++)
		assert_holds(t->f, at(i), PAGE_RANDOM, i);
}

/* ---- the check --------------------------------------------------------- */

struct check {
	uint64_t total; /* pages, before the store */
	int err;
	uint64_t hits; /* pool_limit_hit afterwards */
};

static void run_checks(struct fixture *f, const struct check *checks, int nr)
{
	uint64_t hits = stats_of(f->z).pool_limit_hit;
	uint64_t refused = stats_of(f->z).reject_limit;
	struct tank t = { f, 0 };
	struct zswap_stats stats;
	int i;

	for (i = 0; i < nr; i++) {
		fill_to(&t, checks[i].total);
		assert_int_equal(pour(&t), checks[i].err);
		refused += checks[i].err != 0;
		stats = stats_of(f->z);
		assert_int_equal(stats.pool_limit_hit, hits + checks[i].hits);
		assert_int_equal(stats.reject_limit, refused);
	}
	assert_all_load(&t);
	zswap_invalidate(f->z, at(0), t.nr);
}

/* The kernel's example of 200 pages, in pages of 30: 12.5 of the spec. */
static void D24_a_full_cache_accepts_again_at_the_threshold(void **state)
{
	static const struct check checks[] = {
		{ 29, 0, 0 },       { 30, -ENOSPC, 1 }, { 29, -ENOSPC, 1 },
		{ 28, -ENOSPC, 1 }, { 27, 0, 1 },       { 29, 0, 1 },
		{ 30, -ENOSPC, 2 }, { 27, 0, 2 },
	};
	struct fixture *f = *state;

	set_limit(f, 30);
	run_checks(f, checks, 8);
}

static void D24_a_threshold_of_100_percent_holds_nothing_off(void **state)
{
	static const struct check checks[] = {
		{ 19, 0, 0 },       { 20, -ENOSPC, 1 }, { 19, 0, 1 },
		{ 20, -ENOSPC, 2 }, { 20, -ENOSPC, 3 }, { 19, 0, 3 },
	};
	struct fixture *f = *state;

	set_limit(f, 20);
	set_threshold(f, 100);
	run_checks(f, checks, 6);
}

static void a_threshold_of_0_waits_until_the_cache_is_empty(void **state)
{
	static const struct check checks[] = {
		{ 9, 0, 0 },       { 10, -ENOSPC, 1 }, { 9, -ENOSPC, 1 },
		{ 1, -ENOSPC, 1 }, { 0, 0, 1 },        { 9, 0, 1 },
	};
	struct fixture *f = *state;

	set_limit(f, 10);
	set_threshold(f, 0);
	run_checks(f, checks, 6);
}

static void thresholds_are_rounded_down(void **state)
{
	/* 33 percent of 10 pages are 3 and a bit: 3 accept, 4 do not. */
	static const struct check checks[] = {
		{ 9, 0, 0 },       { 10, -ENOSPC, 1 }, { 5, -ENOSPC, 1 },
		{ 4, -ENOSPC, 1 }, { 3, 0, 1 },        { 9, 0, 1 },
	};
	struct fixture *f = *state;

	set_limit(f, 10);
	set_threshold(f, 33);
	run_checks(f, checks, 6);
	assert_int_equal(stats_of(f->z).accept_threshold_bytes,
			 bytes_of(f, 10) * 33 / 100);
}

static void D24_held_between_threshold_and_limit_all_is_refused(void **state)
{
	struct fixture *f = *state;
	uint64_t pages = f->page_size == 4096 ? 1000 : 100, hits, i;
	struct tank t = { f, 0 };

	set_limit(f, pages);
	fill_up(&t);
	assert_int_equal(t.nr, pages);
	hits = stats_of(f->z).pool_limit_hit;
	drain_to(&t, bytes_of(f, pages) / 100 * 95);
	assert_true(held(f) > bytes_of(f, pages) / 100 * 90);
	for (i = 0; i < 20; i++)
		assert_int_equal(store_random(f, 5000 + i), -ENOSPC);
	/* The limit is not hit; the cache is still full. */
	assert_int_equal(stats_of(f->z).pool_limit_hit, hits);
	assert_int_equal(stats_of(f->z).reject_limit, 21);
	drain_to(&t, bytes_of(f, pages) / 100 * 90);
	for (i = 0; i < pages / 20; i++)
		assert_int_equal(store_random(f, 5000 + i), 0);
	assert_int_equal(stats_of(f->z).pool_limit_hit, hits);
	assert_all_load(&t);
}

static void a_limit_that_no_store_has_met_makes_no_cache_full(void **state)
{
	struct fixture *f = *state;
	struct tank t = { f, 0 };

	set_limit(f, 20);
	set_threshold(f, 50);
	fill_to(&t, 20); /* reached by the last store, after it looked */
	drain_to(&t, bytes_of(f, 19));
	assert_int_equal(pour(&t), 0);
	assert_int_equal(pour(&t), -ENOSPC); /* this one has met it */
	drain_to(&t, bytes_of(f, 19));
	assert_int_equal(pour(&t), -ENOSPC);
	assert_all_load(&t);
}

/* ---- what counts ------------------------------------------------------- */

static void D38_random_pages_fill_the_limit_at_one_attempt_each(void **state)
{
	struct fixture *f = *state;
	struct tank t = { f, 0 };
	uint64_t i;

	set_limit(f, 100);
	fill_up(&t);
	assert_int_equal(t.nr, 100);
	assert_int_equal(held(f), bytes_of(f, 100));
	if (!has_codec(f))
		return;
	assert_int_equal(atomic_load(&f->codec.compress.segments), 100);
	for (i = 0; i < 50; i++)
		assert_int_equal(store_random(f, 200 + i), -ENOSPC);
	assert_int_equal(atomic_load(&f->codec.compress.segments), 100);
}

static void D74_the_limit_is_of_memory_really_held(void **state)
{
	struct fixture *f = *state;
	uint64_t pages = f->page_size == 4096 ? 1000 : 150, nr = 0, total;
	int err;

	set_limit(f, pages);
	do {
		page_make(f->page, f->page_size, PAGE_HALF, nr);
		err = zswap_store(f->z, at(nr), f->page);
		nr += err == 0;
	} while (!err);
	assert_int_equal(err, -ENOSPC);
	total = held(f);
	assert_in_range(total, bytes_of(f, pages),
			bytes_of(f, pages + ZSPAGE_PAGES));
	assert_int_equal(stats_of(f->z).stored_pages, nr);
	assert_in_range(nr, pages * 16 / 10, pages * 22 / 10);
	assert_int_equal(stats_of(f->z).original_bytes, bytes_of(f, nr));
}

static void same_filled_pages_pass_any_limit_but_0(void **state)
{
	struct fixture *f = *state;
	struct tank t = { f, 0 };
	uint64_t i;

	set_limit(f, 5);
	fill_up(&t);
	for (i = 0; i < 100; i++)
		store_page(f, at(1000 + i), i % 2 ? PAGE_WORD : PAGE_ZERO, i);
	assert_int_equal(stats_of(f->z).reject_limit, 1);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, 1), 0);
	for (i = 0; i < 100; i++)
		store_page(f, at(1000 + i), i % 2 ? PAGE_WORD : PAGE_ZERO, i);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, 0), 0);
	for (i = 0; i < 100; i++) {
		page_make(f->page, f->page_size, PAGE_ZERO, 0);
		assert_int_equal(zswap_store(f->z, at(1000 + i), f->page),
				 -ENOSPC);
	}
	assert_absent(f, at(1000), 100);
	assert_all_load(&t);
	set_limit(f, 5);
	store_page(f, at(1000), PAGE_ZERO, 0);
}

/* Fills a folio with pages of one kind. */
static void make_kind(struct fixture *f, char *data, uint32_t nr,
		      enum page_kind kind)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		page_make(data + i * f->page_size, f->page_size, kind, i);
}

static void a_folio_of_one_word_each_passes_a_full_cache(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(40 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), 40, data);
	struct tank t = { f, 0 };
	int results[40];

	assert_non_null(data);
	set_limit(f, 5);
	fill_up(&t);
	make_kind(f, data, 40, PAGE_WORD);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	/* One page that is not, anywhere in it, and the limit says no. */
	page_make(data + 39 * f->page_size, f->page_size, PAGE_TEXT, 1);
	folio.results = results;
	assert_int_equal(zswap_store_folio(f->z, &folio), -ENOSPC);
	assert_refused(results, 40, -ENOSPC);
	assert_absent(f, at(500), 40);
	assert_all_load(&t);
	free(data);
}

/* Pages of as many lengths as there are pages: each begins a zspage. */
static void make_mixed(struct fixture *f, char *data, uint32_t nr,
		       uint64_t seed)
{
	size_t part;
	uint32_t i;

	for (i = 0; i < nr; i++, data += f->page_size) {
		part = f->page_size * (1 + (seed + i) * 37 % 97) / 100;
		page_make(data, f->page_size, PAGE_TEXT, seed + i);
		rng_fill(&f->rng, data, part);
	}
}

static void D74_zspages_that_are_begun_count_against_the_limit(void **state)
{
	struct fixture *f = *state;
	uint32_t nr = batch_of(f), limit = 5 * nr;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(0), nr, data);
	int err = 0, round, reached;

	assert_non_null(data);
	set_limit(f, limit);
	set_threshold(f, 0);
	for (round = 0; !err && round < 100; round++) {
		make_mixed(f, data, nr, (uint64_t)round * nr);
		folio.slot = at((uint64_t)round * nr);
		err = zswap_store_folio(f->z, &folio);
		assert_true(held(f) <= bytes_of(f, limit + nr));
	}
	assert_int_equal(err, -ENOSPC);
	assert_true(round > 1);
	/* Whether met before a batch or within, it was met, and counts. */
	assert_int_equal(stats_of(f->z).pool_limit_hit, 1);
	reached = held(f) >= bytes_of(f, limit);
	assert_true(held(f) > 0);
	assert_int_equal(store_random(f, 9000), -ENOSPC);
	assert_int_equal(stats_of(f->z).pool_limit_hit, 1 + reached);
	assert_int_equal(stats_of(f->z).reject_limit, 2);
	free(data);
}

/* ---- folios ------------------------------------------------------------ */

static void
D38_a_folio_is_given_up_at_the_batch_that_finds_it_full(void **state)
{
	struct fixture *f = *state;
	uint32_t nr = 3 * batch_of(f), limit = batch_of(f) + 2, i;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), nr, data);
	struct zswap_stats stats;
	int results[ZSWAP_MAX_FOLIO];

	assert_non_null(data);
	make_kind(f, data, nr, PAGE_RANDOM);
	folio.results = results;
	for (i = 0; i < nr; i++)
		store_page(f, at(500 + i), PAGE_WORD, i);
	set_limit(f, limit);
	assert_int_equal(zswap_store_folio(f->z, &folio), -ENOSPC);
	assert_refused(results, nr, -ENOSPC);
	assert_absent(f, at(500), nr);
	if (has_codec(f))
		assert_int_equal(atomic_load(&f->codec.compress.segments),
				 2 * batch_of(f));
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_limit, 1);
	assert_int_equal(stats.pool_limit_hit, 1);
	assert_int_equal(stats.stored_pages, 0);
	assert_int_equal(stats.pool_total_size, 0);
	/* Nothing is held, so the next one finds the cache empty. */
	folio.nr_pages = limit;
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	assert_int_equal(held(f), bytes_of(f, limit));
	free(data);
}

static void a_folio_may_pass_the_limit_by_one_batch(void **state)
{
	struct fixture *f = *state;
	uint32_t nr = batch_of(f), i;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), nr, data);

	assert_non_null(data);
	make_kind(f, data, nr, PAGE_RANDOM);
	set_limit(f, 5);
	for (i = 0; i < 4; i++)
		assert_int_equal(store_random(f, i), 0);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	assert_int_equal(held(f), bytes_of(f, 4 + nr));
	assert_int_equal(zswap_store_folio(f->z, &folio), -ENOSPC);
	assert_absent(f, at(500), nr);
	assert_int_equal(held(f), bytes_of(f, 4));
	free(data);
}

static void D01_a_store_over_the_limit_leaves_no_older_page(void **state)
{
	struct fixture *f = *state;
	struct tank t = { f, 0 };
	char *data = malloc(20 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(10), 20, data);
	int results[20];

	assert_non_null(data);
	set_limit(f, 25);
	fill_up(&t);
	store_page(f, at(100), PAGE_WORD, 1);
	assert_int_equal(store_random(f, 3), -ENOSPC);
	assert_absent(f, at(3), 1);
	assert_int_equal(store_random(f, 100), -ENOSPC);
	assert_absent(f, at(100), 1);
	make_pages(f, data, 20, 0);
	folio.results = results;
	assert_int_equal(zswap_store_folio(f->z, &folio), -ENOSPC);
	assert_refused(results, 20, -ENOSPC);
	assert_absent(f, at(10), 20);
	assert_int_equal(stats_of(f->z).stored_pages, 9);
	assert_int_equal(held(f), bytes_of(f, 9));
	assert_int_equal(stats_of(f->z).reject_limit, 4);
	assert_int_equal(store_random(f, 3), 0);
	free(data);
}

/* ---- small and large limits -------------------------------------------- */

static void D20_limit_0_stores_nothing_and_keeps_what_is_there(void **state)
{
	struct fixture *f = *state;
	uint64_t hits, i;

	store_pages(f, at(0), 12, 0);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, 0), 0);
	assert_int_equal(stats_of(f->z).max_pool_bytes, 0);
	assert_int_equal(stats_of(f->z).accept_threshold_bytes, 0);
	hits = stats_of(f->z).pool_limit_hit;
	for (i = 0; i < 12; i++) {
		page_make(f->page, f->page_size, kind_of(i), i);
		assert_int_equal(zswap_store(f->z, at(100 + i), f->page),
				 -ENOSPC);
		assert_int_equal(stats_of(f->z).pool_limit_hit, ++hits);
	}
	assert_absent(f, at(100), 12);
	assert_holds_pages(f, at(0), 12, 0);
	assert_int_equal(zswap_load(f->z, at(0), f->out), 0);
	zswap_invalidate(f->z, at(0), 12);
	assert_empty(f->z);
	/* Empty, it is full all the same. */
	assert_int_equal(store_random(f, 0), -ENOSPC);
	set_limit(f, 1);
	assert_int_equal(store_random(f, 0), 0);
}

static void assert_tiny_limit(struct fixture *f, uint64_t limit)
{
	uint64_t i;

	assert_int_equal(zswap_set_max_pool_bytes(f->z, limit), 0);
	assert_int_equal(stats_of(f->z).max_pool_bytes, limit);
	for (i = 0; i < 3; i++) {
		assert_int_equal(store_random(f, 1), 0);
		assert_int_equal(store_random(f, 2), -ENOSPC);
		page_make(f->page, f->page_size, PAGE_TEXT, 3);
		assert_int_equal(zswap_store(f->z, at(3), f->page), -ENOSPC);
		store_page(f, at(4), PAGE_ZERO, 4);
		assert_holds(f, at(1), PAGE_RANDOM, 1);
		zswap_invalidate(f->z, at(1), 1);
	}
}

/* Full with one page, empty without: no division, no loop. */
static void D20_limits_up_to_a_page_are_worth_one_page(void **state)
{
	struct fixture *f = *state;

	assert_tiny_limit(f, 1);
	assert_tiny_limit(f, 99);
	assert_tiny_limit(f, f->page_size - 1);
	assert_tiny_limit(f, f->page_size);
}

static void D20_no_call_is_slow_at_a_tiny_limit(void **state)
{
	static const uint64_t limits[] = { 0, 1, 4095, 4096, UINT64_MAX };
	struct fixture *f = *state;
	uint64_t i, begin, longest = 0, took;

	for (i = 0; i < 200; i++) {
		begin = now_ns();
		zswap_set_max_pool_bytes(f->z, limits[i % 5]);
		page_make(f->page, f->page_size, kind_of(i), i);
		zswap_store(f->z, at(i), f->page);
		zswap_peek(f->z, at(i / 2), f->out);
		zswap_invalidate(f->z, at(0), i / 2);
		took = now_ns() - begin;
		if (took > longest)
			longest = took;
	}
	assert_true(longest < UINT64_C(5000000000));
}

static void without_a_limit_all_is_accepted(void **state)
{
	struct fixture *f = *state;
	struct tank t = { f, 0 };
	uint64_t i;

	set_limit(f, 5);
	fill_up(&t);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, ZSWAP_UNLIMITED), 0);
	assert_int_equal(stats_of(f->z).max_pool_bytes, ZSWAP_UNLIMITED);
	for (i = 0; i < 100; i++)
		assert_int_equal(pour(&t), 0);
	/* One byte less is a limit, and must not overflow anything either. */
	assert_int_equal(zswap_set_max_pool_bytes(f->z, ZSWAP_UNLIMITED - 1),
			 0);
	assert_int_equal(stats_of(f->z).max_pool_bytes, ZSWAP_UNLIMITED - 1);
	assert_int_equal(pour(&t), 0);
	assert_int_equal(stats_of(f->z).reject_limit, 1);
	assert_all_load(&t);
}

/* ---- the limit changes ------------------------------------------------- */

static void D68_a_limit_below_use_loses_nothing_and_refuses(void **state)
{
	struct fixture *f = *state;
	uint64_t share = f->page_size == 4096 ? 100 : 10;
	struct tank t = { f, 0 };

	set_limit(f, 10 * share);
	while (t.nr < 8 * share)
		assert_int_equal(pour(&t), 0);
	set_limit(f, 5 * share);
	assert_int_equal(store_random(f, 9000), -ENOSPC);
	assert_all_load(&t);
	drain_to(&t, bytes_of(f, 5 * share) - 1);
	assert_int_equal(store_random(f, 9000), -ENOSPC);
	drain_to(&t, bytes_of(f, 5 * share) / 100 * 90);
	assert_int_equal(store_random(f, 9000), 0);
	zswap_invalidate(f->z, at(9000), 1);
	fill_up(&t);
	set_limit(f, 20 * share);
	assert_int_equal(store_random(f, 9000), 0);
	assert_int_equal(pour(&t), 0);
	assert_all_load(&t);
}

static void a_limit_raised_a_little_leaves_a_full_cache_full(void **state)
{
	struct fixture *f = *state;
	struct tank t = { f, 0 };

	set_limit(f, 20);
	fill_up(&t);
	set_limit(f, 21); /* 90 percent are 18 */
	assert_int_equal(pour(&t), -ENOSPC);
	assert_int_equal(stats_of(f->z).pool_limit_hit, 1);
	assert_int_equal(stats_of(f->z).reject_limit, 2);
	set_threshold(f, 96); /* and now 20 */
	assert_int_equal(pour(&t), 0);
	assert_int_equal(pour(&t), -ENOSPC);
	assert_all_load(&t);
}

static void the_last_setter_counts(void **state)
{
	struct fixture *f = *state;
	uint64_t percent;

	assert_int_equal(zswap_set_max_pool_percent(f->z, 50), 0);
	percent = stats_of(f->z).max_pool_bytes;
	assert_true(percent > 0);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, 12345), 0);
	assert_int_equal(stats_of(f->z).max_pool_bytes, 12345);
	assert_int_equal(zswap_set_max_pool_percent(f->z, 50), 0);
	assert_int_equal(stats_of(f->z).max_pool_bytes, percent);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, ZSWAP_UNLIMITED), 0);
	assert_int_equal(zswap_set_max_pool_percent(f->z, 0), 0);
	assert_int_equal(stats_of(f->z).max_pool_bytes, 0);
	assert_int_equal(store_random(f, 0), -ENOSPC);
	assert_int_equal(zswap_set_max_pool_percent(f->z, 1), 0);
	assert_int_equal(store_random(f, 0), 0);
}

/* Rounded down, without a product that may be too large. */
static uint64_t share_of(uint64_t limit, unsigned percent)
{
	return limit / 100 * percent + limit % 100 * percent / 100;
}

static void the_threshold_follows_the_limit(void **state)
{
	static const unsigned percents[] = { 0, 1, 33, 50, 89, 99, 100 };
	static const uint64_t limits[] = { 0,
					   1,
					   99,
					   100,
					   101,
					   4096,
					   12345,
					   200 * 4096,
					   UINT64_C(1) << 40,
					   UINT64_C(1) << 60 };
	struct fixture *f = *state;
	int i, j;

	assert_int_equal(zswap_set_max_pool_bytes(f->z, 1000), 0);
	assert_int_equal(stats_of(f->z).accept_threshold_bytes, 900);
	for (i = 0; i < 7; i++) {
		set_threshold(f, percents[i]);
		for (j = 0; j < 10; j++) {
			assert_int_equal(
				zswap_set_max_pool_bytes(f->z, limits[j]), 0);
			assert_int_equal(stats_of(f->z).accept_threshold_bytes,
					 share_of(limits[j], percents[i]));
		}
	}
}

/* ---- percent of what --------------------------------------------------- */

static uint64_t limit_of_percent(struct fixture *f, unsigned percent)
{
	assert_int_equal(zswap_set_max_pool_percent(f->z, percent), 0);
	return stats_of(f->z).max_pool_bytes;
}

static void D74_percents_are_of_memory_that_there_is(void **state)
{
	struct fixture *f = *state;
	uint64_t all = limit_of_percent(f, 100), half = limit_of_percent(f, 50);
	uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) *
		       (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned percent;

	assert_in_range(all, UINT64_C(1) << 24, ram);
	assert_in_range(half, all / 2 - f->page_size, all / 2 + f->page_size);
	for (percent = 0; percent <= 100; percent++) {
		uint64_t limit = limit_of_percent(f, percent);

		assert_int_equal(limit % f->page_size, 0);
		assert_true(limit <= all / 100 * percent + f->page_size);
		assert_true(limit + f->page_size >= all / 100 * percent);
	}
}

/* 12.6 of the spec: both divisions round down, the first to whole pages. */
static void limit_and_threshold_of_4096_are_exact_to_the_page(void **state)
{
	struct fixture *f = *state;
	uint64_t ram_pages, max_pages;
	unsigned percent;

	if (f->page_size != 4096)
		return;
	ram_pages = limit_of_percent(f, 100) / 4096;
	for (percent = 1; percent <= 100; percent++) {
		max_pages = ram_pages * percent / 100;
		assert_int_equal(limit_of_percent(f, percent),
				 max_pages * 4096);
		assert_int_equal(stats_of(f->z).accept_threshold_bytes / 4096,
				 max_pages * 90 / 100);
	}
}

/* A number in a file, or UINT64_MAX. */
static uint64_t number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long long number = 0;
	int nr = 0;

	if (!file)
		return UINT64_MAX;
	nr = fscanf(file, "%llu", &number);
	fclose(file);
	return nr == 1 ? number : UINT64_MAX;
}

static void D74_percents_obey_a_containers_limit(void **state)
{
	static const char *const paths[] = {
		"/sys/fs/cgroup/memory.max",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes",
	};
	struct fixture *f = *state;
	uint64_t all = limit_of_percent(f, 100);
	int i;

	for (i = 0; i < 2; i++)
		assert_true(all <= number_in(paths[i]));
}

static void a_new_cache_is_limited_to_20_percent_and_90_of_it(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats = stats_of(f->z);

	assert_int_equal(stats.accept_threshold_bytes,
			 share_of(stats.max_pool_bytes, 90));
	assert_int_equal(stats.max_pool_bytes, limit_of_percent(f, 20));
}

/* ---- parameters -------------------------------------------------------- */

static void assert_limits(const struct zswap_params *params, uint64_t limit,
			  uint64_t threshold)
{
	struct zswap_stats stats;
	struct zswap *z;

	assert_int_equal(zswap_create(&z, params), 0);
	stats = stats_of(z);
	assert_int_equal(stats.max_pool_bytes, limit);
	assert_int_equal(stats.accept_threshold_bytes, threshold);
	zswap_destroy(z);
}

static void limits_are_taken_as_parameters(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	uint64_t limit = limit_of_percent(f, 7);

	params.max_pool_bytes = 1000;
	assert_limits(&params, 1000, 900);
	params.accept_threshold_percent = 1;
	assert_limits(&params, 1000, 10);
	params.accept_threshold_percent = 100;
	assert_limits(&params, 1000, 1000);
	/* Bytes count, where they are given; even beside a percentage. */
	params.max_pool_percent = 7;
	assert_limits(&params, 1000, 1000);
	params.max_pool_bytes = 0;
	assert_limits(&params, limit, limit);
	params.max_pool_percent = 100;
	limit = limit_of_percent(f, 100);
	assert_limits(&params, limit, limit);
}

static void an_unlimited_cache_is_made_by_a_parameter(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;

	params.max_pool_bytes = ZSWAP_UNLIMITED;
	begin_other(f, &params);
	assert_int_equal(stats_of(f->z).max_pool_bytes, ZSWAP_UNLIMITED);
	store_pages(f, at(0), 60, 0);
	assert_holds_pages(f, at(0), 60, 0);
	end_other(f);
}

static void a_limit_given_as_parameter_is_kept(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	struct tank t = { f, 0 };

	params.max_pool_bytes = bytes_of(f, 10);
	params.accept_threshold_percent = 50;
	begin_other(f, &params);
	fill_up(&t);
	assert_int_equal(t.nr, 10);
	drain_to(&t, bytes_of(f, 6));
	assert_int_equal(pour(&t), -ENOSPC);
	drain_to(&t, bytes_of(f, 5));
	assert_int_equal(pour(&t), 0);
	end_other(f);
}

static void percentages_above_100_are_einval(void **state)
{
	static const uint32_t wrong[] = { 101, 200, UINT32_MAX };
	struct fixture *f = *state;
	struct zswap_stats before, after;
	struct zswap_params params;
	int i;

	assert_int_equal(zswap_set_max_pool_bytes(f->z, 1000), 0);
	before = stats_of(f->z);
	for (i = 0; i < 3; i++) {
		params = params_of(NULL);
		params.max_pool_percent = wrong[i];
		assert_int_equal(create_error(&params), -EINVAL);
		params.max_pool_bytes = 4096; /* which hides no mistake */
		assert_int_equal(create_error(&params), -EINVAL);
		params = params_of(NULL);
		params.accept_threshold_percent = wrong[i];
		assert_int_equal(create_error(&params), -EINVAL);
		assert_int_equal(zswap_set_max_pool_percent(f->z, wrong[i]),
				 -EINVAL);
		assert_int_equal(
			zswap_set_accept_threshold_percent(f->z, wrong[i]),
			-EINVAL);
	}
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
}

static void setters_of_no_cache_are_einval(void **state)
{
	(void)state;
	assert_int_equal(zswap_set_max_pool_bytes(NULL, 1), -EINVAL);
	assert_int_equal(zswap_set_max_pool_percent(NULL, 1), -EINVAL);
	assert_int_equal(zswap_set_accept_threshold_percent(NULL, 1), -EINVAL);
}

/* ---- memory that can't go back in parts -------------------------------- */

/*
 * What is free stays held, and is used again before any other: to refuse pages
 * because of it would leave the cache full for ever. (A 32nd of what is used
 * counts as reserve anywhere.)
 */
static void assert_refills(struct fixture *f)
{
	struct tank t = { f, 0 };
	int round;

	set_limit(f, 100);
	for (round = 0; round < 3; round++) {
		fill_up(&t);
		assert_in_range(t.nr, round ? 97 : 100, 100);
		assert_all_load(&t);
		t.nr = 91; /* above the threshold */
		zswap_invalidate(f->z, at(91), 9);
		assert_int_equal(store_random(f, 9000), -ENOSPC);
		t.nr = 50;
		zswap_invalidate(f->z, at(50), 41);
		assert_int_equal(store_random(f, 9000), 0);
		zswap_invalidate(f->z, at(9000), 1);
	}
}

static void what_waits_without_a_purge_does_not_count(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks = f->hooks.hooks;
	struct zswap_params params = f->params;

	hooks.purge = NULL;
	params.hooks = &hooks;
	begin_other(f, &params);
	assert_refills(f);
	end_other(f);
}

static void what_a_failed_purge_leaves_does_not_count(void **state)
{
	struct fixture *f = *state;

	f->hooks.purge_fails = true;
	begin_other(f, &f->params);
	assert_refills(f);
	end_other(f);
	f->hooks.purge_fails = false;
}

/* ---- memory fails below the limit -------------------------------------- */

static void D71_a_failed_allocation_makes_no_cache_full(void **state)
{
	struct fixture *f = *state;
	struct tank t = { f, 0 };
	struct zswap_stats stats;
	uint64_t failed = 0, i;

	/* Between threshold and limit, which was never hit. */
	set_limit(f, 30);
	fill_to(&t, 29);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	for (i = 1; i <= 50; i++) { /* each in need of a new table */
		page_make(f->page, f->page_size, PAGE_WORD, i);
		failed += zswap_store(f->z, at(1000 * i), f->page) == -ENOMEM;
	}
	faulty_fail_none(&f->hooks);
	stats = stats_of(f->z);
	assert_true(failed > 0);
	assert_int_equal(stats.reject_alloc_fail + stats.reject_kmemcache_fail,
			 failed);
	assert_int_equal(stats.reject_limit, 0);
	assert_int_equal(stats.pool_limit_hit, 0);
	assert_int_equal(stats.pool_total_size, bytes_of(f, 29));
	assert_int_equal(pour(&t), 0);
	assert_int_equal(pour(&t), -ENOSPC);
	assert_all_load(&t);
}

/* ---- many threads ------------------------------------------------------ */

#define NR_THREADS 16
#define NR_FOLIOS 20

struct flood {
	struct fixture *f;
	char *data; /* random pages, as many as a folio has */
	uint32_t nr;
	uint64_t most; /* that may be held */
	atomic_ulong stored, refused;
};

static void pour_folios(unsigned index, void *arg)
{
	struct flood *flood = arg;
	struct zswap *z = flood->f->z;
	struct zswap_stats stats = { .size = sizeof(stats) };
	struct zswap_folio folio;
	uint64_t i;
	int err;

	for (i = 0; i < NR_FOLIOS; i++) {
		folio = folio_of_data(at((index * NR_FOLIOS + i) * flood->nr),
				      flood->nr, flood->data);
		err = zswap_store_folio(z, &folio);
		CHECK(err == 0 || err == -ENOSPC);
		atomic_fetch_add(err ? &flood->refused : &flood->stored, 1);
		CHECK(zswap_get_stats(z, &stats) == 0);
		CHECK(stats.pool_total_size <= flood->most);
	}
}

static void run_flood(struct fixture *f, struct flood *flood, uint64_t limit)
{
	struct zswap_stats stats;

	set_limit(f, limit);
	flood->most = bytes_of(f, limit + NR_THREADS * (uint64_t)batch_of(f));
	run_threads(NR_THREADS, pour_folios, flood);
	stats = stats_of(f->z);
	assert_true(atomic_load(&flood->stored) > 0);
	assert_true(atomic_load(&flood->refused) > 0);
	assert_int_equal(stats.stored_folios, atomic_load(&flood->stored));
	assert_int_equal(stats.reject_limit, atomic_load(&flood->refused));
	assert_int_equal(stats.stored_pages,
			 atomic_load(&flood->stored) * flood->nr);
}

/* @limit: in batches */
static void flood_with(struct fixture *f, bool mixed, uint64_t limit)
{
	struct flood flood = { .f = f, .nr = 2 * batch_of(f) };

	if (bytes_of(f, NR_THREADS * (uint64_t)flood.nr) > 64u << 20)
		return; /* a batch of 64 pages of 64 KiB: too much memory */
	flood.data = malloc(flood.nr * f->page_size);
	assert_non_null(flood.data);
	if (mixed)
		make_mixed(f, flood.data, flood.nr, 0);
	else
		make_kind(f, flood.data, flood.nr, PAGE_RANDOM);
	run_flood(f, &flood, limit * batch_of(f));
	free(flood.data);
}

static void D64_threads_pass_the_limit_by_a_batch_each_at_most(void **state)
{
	flood_with(*state, false, 3);
}

static void D64_zspages_that_threads_begin_do_not_pass_it_further(void **state)
{
	flood_with(*state, true, 20);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(D24_a_full_cache_accepts_again_at_the_threshold),
		CASE(D24_a_threshold_of_100_percent_holds_nothing_off),
		CASE(a_threshold_of_0_waits_until_the_cache_is_empty),
		CASE(thresholds_are_rounded_down),
		CASE(D24_held_between_threshold_and_limit_all_is_refused),
		CASE(a_limit_that_no_store_has_met_makes_no_cache_full),
		CASE(D38_random_pages_fill_the_limit_at_one_attempt_each),
		CASE(D74_the_limit_is_of_memory_really_held),
		CASE(D74_zspages_that_are_begun_count_against_the_limit),
		CASE(same_filled_pages_pass_any_limit_but_0),
		CASE(a_folio_of_one_word_each_passes_a_full_cache),
		CASE(D38_a_folio_is_given_up_at_the_batch_that_finds_it_full),
		CASE(a_folio_may_pass_the_limit_by_one_batch),
		CASE(D01_a_store_over_the_limit_leaves_no_older_page),
		CASE(D20_limit_0_stores_nothing_and_keeps_what_is_there),
		CASE(D20_limits_up_to_a_page_are_worth_one_page),
		CASE(D20_no_call_is_slow_at_a_tiny_limit),
		CASE(without_a_limit_all_is_accepted),
		CASE(D68_a_limit_below_use_loses_nothing_and_refuses),
		CASE(a_limit_raised_a_little_leaves_a_full_cache_full),
		CASE(the_last_setter_counts),
		CASE(the_threshold_follows_the_limit),
		CASE(D74_percents_are_of_memory_that_there_is),
		CASE(limit_and_threshold_of_4096_are_exact_to_the_page),
		CASE(D74_percents_obey_a_containers_limit),
		CASE(a_new_cache_is_limited_to_20_percent_and_90_of_it),
		CASE(limits_are_taken_as_parameters),
		CASE(an_unlimited_cache_is_made_by_a_parameter),
		CASE(a_limit_given_as_parameter_is_kept),
		CASE(percentages_above_100_are_einval),
		BARE_CASE(setters_of_no_cache_are_einval),
		CASE(what_waits_without_a_purge_does_not_count),
		CASE(what_a_failed_purge_leaves_does_not_count),
		CASE(D71_a_failed_allocation_makes_no_cache_full),
		CASE(D64_threads_pass_the_limit_by_a_batch_each_at_most),
		CASE(D64_zspages_that_threads_begin_do_not_pass_it_further),
	};

	return run_variants("limit", cases, sizeof(cases) / sizeof(cases[0]));
}
