// SPDX-License-Identifier: MIT
/*
 * test_hooks.c - memory comes through the hooks, and may run out at any call
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* More allocations than any one call makes. */
#define MAX_K 2000

/* As many pages as make a case long enough and no longer. */
static uint32_t many_pages(const struct fixture *f)
{
	return f->page_size == 4096 ? 300 : 80;
}

/* Fails the k-th call, or all from it on, by turns. */
static void plan(struct fixture *f, unsigned kinds, uint64_t k, bool all)
{
	if (all)
		faulty_fail_from(&f->hooks, kinds, k);
	else
		faulty_fail_nth(&f->hooks, kinds, k);
}

/* ---- every allocation fails once --------------------------------------- */

static void D48_create_survives_any_failing_allocation(void **state)
{
	struct fixture *f = *state;
	size_t bytes = f->hooks.alloc_bytes, mapped = f->hooks.map_bytes;
	struct zswap *z;
	uint64_t k, failed;
	int err, all;

	for (all = 0; all < 2; all++) {
		for (k = 1, failed = 1; k < MAX_K && failed; k++) {
			z = (struct zswap *)f;
			plan(f, FAULTY_ANY, k, all);
			err = zswap_create(&z, &f->params);
			failed = faulty_fail_none(&f->hooks);
			if (err) {
				assert_true(failed > 0);
				assert_int_equal(err, -ENOMEM);
				assert_null(z);
			} else {
				zswap_destroy(z);
			}
			assert_int_equal(f->hooks.alloc_bytes, bytes);
			assert_int_equal(f->hooks.map_bytes, mapped);
		}
		assert_true(k > 2 && k < MAX_K);
	}
}

static void D48_swapon_survives_any_failing_allocation(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;
	uint64_t k;
	int err;

	for (k = 1; k < MAX_K; k++) {
		before = stats_of(f->z);
		faulty_fail_nth(&f->hooks, FAULTY_ANY, k);
		err = zswap_swapon(f->z, 7, ZSWAP_MAX_SLOTS);
		if (!faulty_fail_none(&f->hooks))
			break;
		if (err) {
			assert_int_equal(err, -ENOMEM);
			assert_int_equal(zswap_query(f->z, zswap_slot(7, 0)),
					 -ENXIO);
			after = stats_of(f->z);
			assert_same_stats(&before, &after);
		} else {
			assert_int_equal(zswap_swapoff(f->z, 7), 0);
		}
	}
	assert_true(k > 1 && k < MAX_K);
	assert_int_equal(err, 0);
	store_page(f, zswap_slot(7, 5), PAGE_TEXT, 1);
	assert_int_equal(zswap_swapoff(f->z, 7), 0);
}

/* A folio that was to be stored and was not. */
static void assert_store_failed(struct fixture *f, zswap_slot_t slot,
				uint32_t nr, int err, const int *results)
{
	uint32_t i, causes = 0;

	assert_int_equal(err, -ENOMEM);
	assert_absent(f, slot, nr);
	for (i = 0; i < nr; i++) {
		assert_true(results[i] == -ENOMEM || results[i] == -ECANCELED);
		causes += results[i] == -ENOMEM;
	}
	assert_true(causes > 0);
}

/*
 * Stores the same folio with the k-th allocation failing, for k = 1, 2, ... up
 * to success; each time in a new cache, where no context, entry, table or
 * memory for pages was made before. With @older there are pages under half of
 * the slots, of the kind that leaves memory for pages to be made.
 */
static void store_until_success(struct fixture *f, uint32_t nr, unsigned kinds,
				bool all, bool older)
{
	struct zswap *fixtures = f->z;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(509), nr, data);
	int results[ZSWAP_MAX_FOLIO];
	struct zswap_stats stats;
	uint64_t k, failed = 1, i;
	int err = -1;

	assert_non_null(data);
	make_pages(f, data, nr, 0);
	folio.results = results;
	for (k = 1; k < MAX_K && failed; k++) {
		assert_int_equal(zswap_create(&f->z, &f->params), 0);
		assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
		for (i = 0; older && i < (nr + 1) / 2; i++)
			store_page(f, at(509 + 2 * i), PAGE_WORD, i);
		zswap_invalidate(f->z, at(509 + nr), 1); /* one too many */
		plan(f, kinds, k, all);
		err = zswap_store_folio(f->z, &folio);
		failed = faulty_fail_none(&f->hooks);
		if (err) {
			assert_true(failed > 0);
			assert_store_failed(f, folio.slot, nr, err, results);
			stats = stats_of(f->z);
			assert_int_equal(stats.reject_alloc_fail +
						 stats.reject_kmemcache_fail,
					 1);
			assert_int_equal(stats.zswpout,
					 older ? (nr + 1) / 2 : 0);
			assert_empty(f->z);
			/* No lasting mark: the next store is as good as any.*/
			assert_int_equal(zswap_store_folio(f->z, &folio), 0);
		}
		assert_holds_pages(f, folio.slot, nr, 0);
		zswap_destroy(f->z);
	}
	f->z = fixtures;
	assert_true(k > 2 && k < MAX_K);
	assert_int_equal(err, 0);
	free(data);
}

static void D01_D48_stores_survive_any_failing_allocation(void **state)
{
	static const uint32_t sizes[] = { 1, 3, 8, 33 };
	struct fixture *f = *state;
	int i;

	for (i = 0; i < 4; i++) {
		store_until_success(f, sizes[i], FAULTY_ANY, false, false);
		store_until_success(f, sizes[i], FAULTY_ANY, false, true);
		store_until_success(f, sizes[i], FAULTY_ANY, true, true);
		store_until_success(f, sizes[i], FAULTY_MAP, false, true);
		store_until_success(f, sizes[i], FAULTY_ALLOC, true, true);
	}
}

static void D71_a_time_without_memory_leaves_no_lasting_mark(void **state)
{
	struct fixture *f = *state;
	uint64_t i, refused = 0;
	int err;

	store_pages(f, at(0), 100, 0);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	for (i = 0; i < 8 * many_pages(f); i++) {
		page_make(f->page, f->page_size, PAGE_RANDOM, i);
		err = zswap_store(f->z, at(1000 + i), f->page);
		assert_true(err == 0 || err == -ENOMEM);
		refused += err != 0;
		if (i % 100 == 0)
			assert_holds(f, at(i / 100), kind_of(i / 100), i / 100);
	}
	assert_true(refused > 0);
	faulty_fail_none(&f->hooks);
	for (i = 0; i < 100; i++)
		store_page(f, at(1000 + i), PAGE_RANDOM, i);
	assert_holds_pages(f, at(0), 100, 0);
	assert_int_equal(stats_of(f->z).reject_alloc_fail +
				 stats_of(f->z).reject_kmemcache_fail,
			 refused);
}

/* ---- who may take memory ----------------------------------------------- */

static void after_set_up_only_stores_need_memory(void **state)
{
	struct fixture *f = *state;
	struct zswap_folio folio;
	zswap_slot_t slot = at(0);
	char *data = malloc(100 * f->page_size), text[4096];
	uint64_t takes;

	assert_non_null(data);
	store_pages(f, at(0), 300, 0);
	takes = faulty_takes(&f->hooks);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	assert_holds_pages(f, at(0), 300, 0);
	folio = folio_of_data(at(0), 100, data);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_KEEP), 0);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), 0);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL), 0);
	assert_int_equal(zswap_load(f->z, at(100), f->out), 0);
	assert_int_equal(zswap_query(f->z, at(101)),
			 expected_state(kind_of(101)));
	assert_true(zswap_next_present(f->z, &slot));
	assert_true(zswap_is_present(f->z, at(0), 1000));
	stats_of(f->z);
	assert_true(zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text,
				       sizeof(text)) > 0);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_int_equal(zswap_store(f->z, at(101), f->page), -EPERM);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	zswap_invalidate(f->z, at(101), 1);
	zswap_invalidate(f->z, at(0), AREA_SLOTS);
	assert_int_equal(zswap_swapoff(f->z, 0), 0);
	assert_int_equal(faulty_takes(&f->hooks), takes);
	faulty_fail_none(&f->hooks);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
	free(data);
}

static void peeks_and_statistics_make_no_hook_call_at_all(void **state)
{
	struct fixture *f = *state;
	char text[4096];
	uint64_t calls;

	store_pages(f, at(0), 100, 0);
	calls = faulty_calls(&f->hooks);
	assert_holds_pages(f, at(0), 100, 0);
	stats_of(f->z);
	zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text, sizeof(text));
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	assert_int_equal(zswap_peek(f->z, at(200), f->out), -ENOENT);
	assert_int_equal(faulty_calls(&f->hooks), calls);
}

/* ---- accounts ---------------------------------------------------------- */

static void metadata_and_bytes_held_are_what_the_hooks_gave(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	int round;

	/* Descriptors may lie in mappings, pages never in what alloc gave. */
	for (round = 0; round < 4; round++) {
		stats = stats_of(f->z);
		assert_true(stats.metadata_bytes >= f->hooks.alloc_bytes);
		assert_true(stats.metadata_bytes + stats.pool_total_size <=
			    f->hooks.alloc_bytes + f->hooks.map_bytes);
		store_pages(f, at((uint64_t)round * 10000), many_pages(f), 0);
	}
}

static void bytes_held_are_within_what_map_gave(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint32_t i;

	for (i = 0; i < 20; i++) {
		store_pages(f, at(i * 40), 40, i);
		if (i % 3 == 2)
			zswap_invalidate(f->z, at((i - 1) * 40), 40);
		stats = stats_of(f->z);
		assert_true(stats.compressed_bytes <= stats.pool_total_size);
		assert_true(stats.reserve_bytes <= stats.pool_total_size);
		assert_true(stats.pool_total_size <= f->hooks.map_bytes);
	}
}

static void pages_use_every_byte_that_map_gives_as_rubbish_again(void **state)
{
	struct fixture *f = *state;
	uint32_t nr = many_pages(f);
	int round;

	/* What was purged comes back as rubbish; nobody may rely on zeros. */
	for (round = 0; round < 10; round++) {
		store_pages(f, at(0), nr, (uint64_t)round);
		assert_holds_pages(f, at(0), nr, (uint64_t)round);
		zswap_invalidate(f->z, at(0), nr);
		assert_empty(f->z);
	}
}

/* A cache with other hooks does its usual work, and all memory comes back. */
static void work_with_hooks(struct fixture *f, const struct zswap_hooks *hooks)
{
	struct zswap *fixtures = f->z;
	struct zswap_params params = f->params;
	uint32_t nr = many_pages(f);
	uint64_t i;
	int round;

	params.hooks = hooks;
	assert_int_equal(zswap_create(&f->z, &params), 0);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
	for (round = 0; round < 3; round++) {
		store_pages(f, at(0), nr, (uint64_t)round);
		for (i = 0; i < nr; i += 2)
			zswap_invalidate(f->z, at(i), 1);
		store_pages(f, at(1000), nr / 3, 5);
		assert_holds_pages(f, at(1000), nr / 3, 5);
		for (i = 1; i < nr; i += 2)
			assert_holds(f, at(i), kind_of(i + (uint64_t)round),
				     i + (uint64_t)round);
		zswap_invalidate(f->z, at(0), AREA_SLOTS);
		assert_empty(f->z);
	}
	zswap_destroy(f->z);
	f->z = fixtures;
}

static void a_cache_works_without_purge(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks = f->hooks.hooks;
	size_t mapped = f->hooks.map_bytes;

	hooks.purge = NULL;
	work_with_hooks(f, &hooks);
	assert_int_equal(f->hooks.map_bytes, mapped);
}

static void a_cache_works_when_purge_gives_nothing_back(void **state)
{
	struct fixture *f = *state;
	size_t mapped = f->hooks.map_bytes;

	f->hooks.purge_fails = true;
	work_with_hooks(f, &f->hooks.hooks);
	f->hooks.purge_fails = false;
	assert_int_equal(f->hooks.map_bytes, mapped);
}

static void without_purge_memory_goes_back_by_whole_mappings(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks = f->hooks.hooks;
	struct zswap_params params = f->params;
	struct zswap *fixtures = f->z;
	size_t mapped;

	hooks.purge = NULL;
	params.hooks = &hooks;
	assert_int_equal(zswap_create(&f->z, &params), 0);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
	mapped = f->hooks.map_bytes;
	store_pages(f, at(0), 200, 0);
	zswap_invalidate(f->z, at(0), 200);
	/* Held is what is mapped, when nothing can be given back in parts. */
	assert_int_equal(stats_of(f->z).pool_total_size, 0);
	assert_int_equal(f->hooks.map_bytes, mapped);
	zswap_destroy(f->z);
	f->z = fixtures;
}

static void a_cache_works_with_one_pair_of_hooks(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks = f->hooks.hooks;

	hooks.map = NULL;
	hooks.unmap = NULL;
	hooks.purge = NULL;
	work_with_hooks(f, &hooks);
	hooks = f->hooks.hooks;
	hooks.alloc = NULL;
	hooks.free = NULL;
	work_with_hooks(f, &hooks);
	work_with_hooks(f, NULL);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(D48_create_survives_any_failing_allocation),
		CASE(D48_swapon_survives_any_failing_allocation),
		CASE(D01_D48_stores_survive_any_failing_allocation),
		CASE(D71_a_time_without_memory_leaves_no_lasting_mark),
		CASE(after_set_up_only_stores_need_memory),
		CASE(peeks_and_statistics_make_no_hook_call_at_all),
		CASE(metadata_and_bytes_held_are_what_the_hooks_gave),
		CASE(bytes_held_are_within_what_map_gave),
		CASE(pages_use_every_byte_that_map_gives_as_rubbish_again),
		CASE(a_cache_works_without_purge),
		CASE(a_cache_works_when_purge_gives_nothing_back),
		CASE(without_purge_memory_goes_back_by_whole_mappings),
		CASE(a_cache_works_with_one_pair_of_hooks),
	};

	return run_variants("hooks", cases, sizeof(cases) / sizeof(cases[0]));
}
