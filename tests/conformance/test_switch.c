// SPDX-License-Identifier: MIT
/*
 * test_switch.c - zswap_set_compressor(): pools come, retire, return and end
 *
 * Specs of the test compressor that differ behind a comma make pools of their
 * own, whose instances it counts. What a compressor's functions may do during
 * a switch is in test_switch_hooks.c.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

static void spec_of(struct fixture *f, char *spec, size_t len, unsigned i)
{
	snprintf(spec, len, "%s,%u", f->codec.spec, i);
}

/* Switches to the test compressor's @i-th pool. */
static int try_switch(struct fixture *f, unsigned i)
{
	char spec[32];

	spec_of(f, spec, sizeof(spec), i);
	return zswap_set_compressor(f->z, spec);
}

static void switch_to(struct fixture *f, unsigned i)
{
	assert_int_equal(try_switch(f, i), 0);
}

static void switch_to_spec(struct fixture *f, const char *spec)
{
	assert_int_equal(zswap_set_compressor(f->z, spec), 0);
}

static void assert_in_use(struct zswap *z, const char *spec)
{
	char buf[ZSWAP_MAX_SPEC + 1];

	assert_int_equal(zswap_get_compressor(z, buf, sizeof(buf)),
			 strlen(spec));
	assert_string_equal(buf, spec);
}

static uint64_t pools_of(struct fixture *f)
{
	return stats_of(f->z).pools;
}

static unsigned long made(struct fixture *f)
{
	return atomic_load(&f->codec.instances_made);
}

static unsigned long ended(struct fixture *f)
{
	return atomic_load(&f->codec.instances_ended);
}

/* ---- what a switch does ------------------------------------------------ */

static void the_spec_in_use_changes_nothing(void **state)
{
	static const char *const specs[][3] = {
		{ "lz4", " lz4", "lz4\n" },
		{ "zstd", "zstd:level=3", " zstd:level=+03 " },
		{ "deflate", "deflate:level=6", "deflate:level=06" },
	};
	struct fixture *f = *state;
	struct zswap_stats before, after;
	int i, j;

	for (i = 0; i < 3; i++) {
		switch_to_spec(f, specs[i][0]);
		store_page(f, at((uint64_t)i), PAGE_TEXT, 1);
		before = stats_of(f->z);
		for (j = 0; j < 3; j++)
			switch_to_spec(f, specs[i][j]);
		after = stats_of(f->z);
		assert_same_stats(&before, &after);
	}
}

static void the_spec_in_use_calls_no_create(void **state)
{
	struct fixture *f = *state;
	unsigned long contexts;

	switch_to(f, 1);
	assert_int_equal(made(f), 1);
	contexts = atomic_load(&f->codec.contexts_made);
	switch_to(f, 1);
	store_page(f, at(0), PAGE_TEXT, 1);
	switch_to(f, 1);
	assert_int_equal(made(f), 1);
	assert_int_equal(ended(f), 0);
	assert_int_equal(atomic_load(&f->codec.contexts_made), contexts);
	assert_int_equal(pools_of(f), 1);
}

static void new_pages_are_compressed_with_the_new_one(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	store_page(f, at(0), PAGE_TEXT, 1);
	assert_int_equal(atomic_load(&f->codec.compress.segments), 0);
	switch_to(f, 0);
	before = stats_of(f->z).compressed_bytes;
	store_page(f, at(1), PAGE_TEXT, 2);
	assert_int_equal(atomic_load(&f->codec.compress.segments), 1);
	assert_int_equal(stats_of(f->z).compressed_bytes - before,
			 atomic_load(&f->codec.last_length));
	switch_to_spec(f, "lz4");
	store_page(f, at(2), PAGE_TEXT, 3);
	assert_int_equal(atomic_load(&f->codec.compress.segments), 1);
	assert_holds(f, at(0), PAGE_TEXT, 1);
	assert_holds(f, at(1), PAGE_TEXT, 2);
	assert_holds(f, at(2), PAGE_TEXT, 3);
}

static void a_switch_moves_no_gauge_of_pages_and_no_counter(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;

	store_pages(f, at(500), 30, 0);
	before = stats_of(f->z);
	switch_to_spec(f, "zstd");
	after = stats_of(f->z);
	assert_int_equal(after.pools, 2);
	after.pools = before.pools;
	after.metadata_bytes = before.metadata_bytes;
	assert_same_stats(&before, &after);
}

/* Folio @i of 12 pages, of all kinds, is stored with compressor @i. */
static void store_with_each(struct fixture *f, uint64_t first)
{
	const char *const *spec;

	for (spec = builtin_specs(); *spec; spec++, first += 12) {
		switch_to_spec(f, *spec);
		store_pages(f, at(first), 12, first);
	}
	switch_to(f, 0);
	store_pages(f, at(first), 12, first);
}

static uint32_t nr_with_each(void)
{
	const char *const *spec;
	uint32_t nr = 12;

	for (spec = builtin_specs(); *spec; spec++)
		nr += 12;
	return nr;
}

static void entries_load_through_the_pool_they_were_stored_in(void **state)
{
	struct fixture *f = *state;
	uint32_t nr = nr_with_each(), i;

	store_with_each(f, 450);
	assert_int_equal(pools_of(f), nr / 12);
	assert_holds_pages(f, at(450), nr, 450);
	for (i = 0; i < nr; i++) {
		assert_int_equal(zswap_load(f->z, at(450 + i), f->out), 0);
		assert_true(page_is(f->out, f->page_size, kind_of(450 + i),
				    450 + i));
	}
	wait_for_pools(f->z, 1);
}

static void a_folio_load_may_reach_into_many_pools(void **state)
{
	static const unsigned flags[] = { ZSWAP_LOAD_KEEP,
					  ZSWAP_LOAD_KEEP | ZSWAP_LOAD_PARTIAL,
					  0 };
	struct fixture *f = *state;
	uint32_t nr = nr_with_each(), i, mode;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(450), nr, data);

	assert_non_null(data);
	store_with_each(f, 450);
	for (mode = 0; mode < 3; mode++) {
		memset(data, 0xee, nr * f->page_size);
		assert_int_equal(zswap_load_folio(f->z, &folio, flags[mode]),
				 mode == 1 ? (int)nr : 0);
		for (i = 0; i < nr; i++)
			assert_true(page_is(data + i * f->page_size,
					    f->page_size, kind_of(450 + i),
					    450 + i));
	}
	assert_absent(f, at(450), nr);
	wait_for_pools(f->z, 1);
	free(data);
}

static void neighbouring_slots_may_belong_to_different_pools(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	for (i = 0; i < 60; i++) {
		switch_to(f, (unsigned)i % 3);
		store_page(f, at(500 + i), kind_of(i / 3), i);
	}
	assert_int_equal(pools_of(f), 3);
	assert_int_equal(made(f), 3); /* each was taken back into use */
	for (i = 0; i < 60; i++)
		assert_holds(f, at(500 + i), kind_of(i / 3), i);
}

static void a_disabled_cache_or_one_without_areas_switches_too(void **state)
{
	struct zswap_params params = params_of(NULL);
	struct fixture *f = *state;
	struct zswap *z;

	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_set_compressor(z, "zstd"), 0);
	assert_in_use(z, "zstd:level=3");
	zswap_destroy(z);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	switch_to_spec(f, "zstd");
	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	assert_int_equal(zswap_store(f->z, at(0), f->page), -EPERM);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	store_page(f, at(0), PAGE_TEXT, 1);
	assert_holds(f, at(0), PAGE_TEXT, 1);
}

/* ---- retired pools ----------------------------------------------------- */

static void an_empty_pool_ends_with_the_switch(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	for (i = 1; i <= 20; i++) {
		switch_to(f, i);
		assert_int_equal(pools_of(f), 1);
		assert_int_equal(made(f), i);
		assert_int_equal(ended(f), i - 1);
	}
}

static void a_retired_pool_is_taken_back_into_use(void **state)
{
	struct fixture *f = *state;

	switch_to(f, 1);
	store_page(f, at(1), PAGE_TEXT, 1);
	switch_to(f, 2);
	store_page(f, at(2), PAGE_TEXT, 2);
	assert_int_equal(pools_of(f), 2);
	switch_to(f, 1);
	assert_int_equal(made(f), 2);
	assert_int_equal(ended(f), 0);
	assert_int_equal(pools_of(f), 2);
	store_page(f, at(3), PAGE_TEXT, 3);
	zswap_invalidate(f->z, at(2), 1);
	assert_int_equal(ended(f), 1);
	assert_int_equal(pools_of(f), 1);
	/* And it is retired again like any other. */
	switch_to(f, 3);
	assert_int_equal(pools_of(f), 2);
	zswap_invalidate(f->z, at(1), 1);
	assert_int_equal(pools_of(f), 2);
	assert_holds(f, at(3), PAGE_TEXT, 3);
	zswap_invalidate(f->z, at(3), 1);
	assert_int_equal(pools_of(f), 1);
	assert_int_equal(ended(f), 2);
}

static void a_pool_taken_back_outlives_its_last_entry(void **state)
{
	struct fixture *f = *state;

	switch_to(f, 1);
	store_page(f, at(1), PAGE_TEXT, 1);
	switch_to(f, 2);
	switch_to(f, 1);
	zswap_invalidate(f->z, at(1), 1);
	assert_int_equal(pools_of(f), 1);
	assert_int_equal(ended(f), 1); /* the second, which was empty */
	store_page(f, at(1), PAGE_TEXT, 1);
	assert_holds(f, at(1), PAGE_TEXT, 1);
	assert_int_equal(made(f), 2);
}

static void pools_with_entries_are_counted_with_the_current_one(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	assert_int_equal(pools_of(f), 1);
	for (i = 0; i < 10; i++) {
		switch_to(f, i);
		assert_int_equal(pools_of(f), i + 1);
		store_page(f, at(i), PAGE_TEXT, i);
		assert_int_equal(pools_of(f), i + 1);
	}
	switch_to_spec(f, "lz4");
	assert_int_equal(pools_of(f), 11);
	for (i = 0; i < 10; i++) {
		zswap_invalidate(f->z, at(i), 1);
		assert_int_equal(pools_of(f), 10 - i);
	}
}

static void an_ended_pool_gives_all_its_memory_back(void **state)
{
	struct fixture *f = *state;
	size_t bytes, mapped;
	int round;

	/* What is made once, and kept, is made by the first round. */
	for (round = 0; round < 6; round++) {
		switch_to_spec(f, "zstd:level=9");
		store_pages(f, at(0), 30, 0);
		switch_to_spec(f, "lz4");
		zswap_invalidate(f->z, at(0), 30);
		assert_empty(f->z);
		if (round == 0) {
			bytes = f->hooks.alloc_bytes;
			mapped = f->hooks.map_bytes;
		}
		assert_int_equal(f->hooks.alloc_bytes, bytes);
		assert_int_equal(f->hooks.map_bytes, mapped);
	}
}

/* ---- a pool ends with its last entry, however that goes ---------------- */

static void drop_by_load(struct fixture *f)
{
	assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
	assert_true(page_is(f->out, f->page_size, PAGE_TEXT, 1));
}

static void drop_by_peek_and_invalidate(struct fixture *f)
{
	assert_holds(f, at(500), PAGE_TEXT, 1);
	zswap_invalidate(f->z, at(500), 1);
}

static void drop_by_a_long_invalidate(struct fixture *f)
{
	zswap_invalidate(f->z, at(0), UINT64_MAX);
}

static void drop_by_overwriting(struct fixture *f)
{
	store_page(f, at(500), PAGE_TEXT, 2);
	assert_holds(f, at(500), PAGE_TEXT, 2);
}

static void drop_by_overwriting_with_one_word(struct fixture *f)
{
	store_page(f, at(500), PAGE_WORD, 2);
	assert_holds(f, at(500), PAGE_WORD, 2);
}

static void drop_by_overwriting_with_a_folio(struct fixture *f)
{
	store_pages(f, at(490), 30, 2);
	assert_holds_pages(f, at(490), 30, 2);
}

static void drop_by_a_failed_store(struct fixture *f)
{
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	page_make(f->page, f->page_size, PAGE_TEXT, 2);
	assert_int_equal(zswap_store(f->z, at(500), f->page), -EPERM);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
}

static void drop_by_swapoff(struct fixture *f)
{
	assert_int_equal(zswap_swapoff(f->z, 0), 0);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
}

static void drop_by_a_folio_load(struct fixture *f)
{
	struct zswap_folio folio = folio_of_data(at(500), 1, f->out);

	assert_int_equal(zswap_load_folio(f->z, &folio, 0), 0);
	assert_true(page_is(f->out, f->page_size, PAGE_TEXT, 1));
}

static void drop_by_a_partial_load(struct fixture *f)
{
	char *data = malloc(30 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(490), 30, data);

	assert_non_null(data);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL), 1);
	assert_true(
		page_is(data + 10 * f->page_size, f->page_size, PAGE_TEXT, 1));
	free(data);
}

static void a_pool_ends_with_its_last_entry(void **state)
{
	static void (*const drops[])(struct fixture * f) = {
		drop_by_load,
		drop_by_peek_and_invalidate,
		drop_by_a_long_invalidate,
		drop_by_overwriting,
		drop_by_overwriting_with_one_word,
		drop_by_overwriting_with_a_folio,
		drop_by_a_failed_store,
		drop_by_swapoff,
		drop_by_a_folio_load,
		drop_by_a_partial_load,
	};
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		switch_to(f, i);
		store_page(f, at(500), PAGE_TEXT, 1);
		switch_to_spec(f, "lz4");
		assert_int_equal(pools_of(f), 2);
		assert_int_equal(ended(f), i);
		drops[i](f);
		wait_for_instances(f, 0);
		wait_for_pools(f->z, 1);
		assert_int_equal(made(f), i + 1);
		zswap_invalidate(f->z, at(0), AREA_SLOTS);
	}
}

/* All but a load end the pool before they return. */
static void the_call_that_drops_the_last_entry_ends_the_pool(void **state)
{
	static void (*const drops[])(struct fixture * f) = {
		drop_by_a_long_invalidate,
		drop_by_overwriting,
		drop_by_overwriting_with_one_word,
		drop_by_overwriting_with_a_folio,
		drop_by_a_failed_store,
		drop_by_swapoff,
	};
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
		switch_to(f, i);
		store_page(f, at(500), PAGE_TEXT, 1);
		switch_to_spec(f, "lz4");
		drops[i](f);
		assert_int_equal(ended(f), i + 1);
		assert_int_equal(pools_of(f), 1);
		zswap_invalidate(f->z, at(0), AREA_SLOTS);
	}
}

static void an_entry_that_does_not_decompress_keeps_its_pool(void **state)
{
	struct fixture *f = *state;

	switch_to(f, 1);
	store_page(f, at(0), PAGE_TEXT, 1);
	switch_to_spec(f, "lz4");
	codec_fail(&f->codec.decompress, CODEC_ERROR, 2);
	assert_int_equal(zswap_load(f->z, at(0), f->out), -EIO);
	assert_int_equal(pools_of(f), 2);
	assert_int_equal(zswap_peek(f->z, at(0), f->out), -EIO);
	assert_int_equal(pools_of(f), 2);
	assert_holds(f, at(0), PAGE_TEXT, 1);
	assert_int_equal(zswap_load(f->z, at(0), f->out), 0);
	wait_for_instances(f, 0);
	wait_for_pools(f->z, 1);
}

static void raw_pages_keep_their_pool_and_filled_ones_load(void **state)
{
	struct fixture *f = *state;

	switch_to(f, 1);
	store_page(f, at(0), PAGE_RANDOM, 1);
	store_page(f, at(1), PAGE_WORD, 2);
	switch_to_spec(f, "lz4");
	assert_int_equal(pools_of(f), 2);
	assert_holds(f, at(0), PAGE_RANDOM, 1);
	zswap_invalidate(f->z, at(0), 1);
	assert_holds(f, at(1), PAGE_WORD, 2);
	assert_int_equal(zswap_load(f->z, at(1), f->out), 0);
	wait_for_instances(f, 0);
	wait_for_pools(f->z, 1);
}

static void a_destroyed_cache_ends_all_its_pools(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	begin_other(f, &f->params);
	for (i = 0; i < 10; i++) {
		switch_to(f, i);
		store_pages(f, at(100 * i), 12, i);
	}
	/* Of two pools a load takes the last page just before. */
	for (i = 0; i < 24; i++)
		assert_int_equal(
			zswap_load(f->z, at(100 * (i % 2) + i / 2), f->out), 0);
	destroy_other(f);
	assert_int_equal(made(f), 10);
	assert_int_equal(ended(f), 10);
	assert_int_equal(atomic_load(&f->codec.contexts), 0);
	assert_int_equal(f->hooks.threads, 0);
}

/* ---- 255 pools --------------------------------------------------------- */

static void fill_all_pools(struct fixture *f)
{
	unsigned i;

	for (i = 0; i < MAX_POOLS; i++) {
		switch_to(f, i);
		store_page(f, at(i), PAGE_TEXT, i);
	}
	assert_int_equal(pools_of(f), MAX_POOLS);
}

static void assert_no_pool_is_free(struct fixture *f)
{
	long instances = atomic_load(&f->codec.instances);
	long contexts = atomic_load(&f->codec.contexts);
	struct zswap_stats before = stats_of(f->z), after;
	char spec[32];

	spec_of(f, spec, sizeof(spec), MAX_POOLS - 1);
	assert_int_equal(try_switch(f, 1000), -EBUSY);
	assert_int_equal(zswap_set_compressor(f->z, "zstd"), -EBUSY);
	/* What is wrong by itself is still said so. */
	assert_int_equal(zswap_set_compressor(f->z, "nope"), -ENOENT);
	assert_int_equal(zswap_set_compressor(f->z, "zstd:level=99"), -ERANGE);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_in_use(f->z, spec);
	assert_int_equal(atomic_load(&f->codec.instances), instances);
	assert_int_equal(atomic_load(&f->codec.contexts), contexts);
}

static void a_256th_pool_is_ebusy_until_another_is_empty(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	fill_all_pools(f);
	assert_no_pool_is_free(f);
	for (i = 0; i < MAX_POOLS; i++)
		assert_holds(f, at(i), PAGE_TEXT, i);
	/* A retired one can be taken back, and room is made by any. */
	switch_to(f, 7);
	switch_to(f, MAX_POOLS - 1);
	zswap_invalidate(f->z, at(100), 1);
	switch_to(f, 1000);
	assert_int_equal(pools_of(f), MAX_POOLS);
	store_page(f, at(1000), PAGE_TEXT, 1000);
	assert_int_equal(try_switch(f, 1001), -EBUSY);
	assert_holds(f, at(1000), PAGE_TEXT, 1000);
	assert_holds(f, at(99), PAGE_TEXT, 99);
}

static void an_empty_current_pool_counts_among_the_255(void **state)
{
	struct fixture *f = *state;

	fill_all_pools(f);
	zswap_invalidate(f->z, at(MAX_POOLS - 1), 1);
	assert_int_equal(pools_of(f), MAX_POOLS);
	assert_int_equal(try_switch(f, 1000), -EBUSY);
	/* It makes room by being retired. */
	switch_to(f, 3);
	assert_int_equal(pools_of(f), MAX_POOLS - 1);
	switch_to(f, 1000);
	store_page(f, at(1000), PAGE_TEXT, 1);
	assert_holds(f, at(1000), PAGE_TEXT, 1);
}

static void a_pool_that_a_load_emptied_makes_room_as_well(void **state)
{
	struct fixture *f = *state;

	fill_all_pools(f);
	assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
	wait_for_pools(f->z, MAX_POOLS - 1);
	switch_to(f, 1000);
	store_page(f, at(1000), PAGE_TEXT, 1);
	assert_holds(f, at(1000), PAGE_TEXT, 1);
}

static void thousands_of_pools_may_follow_each_other(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < 2000; i++) {
		switch_to(f, i);
		store_page(f, at(i % 100), PAGE_TEXT, i);
		assert_int_equal(pools_of(f), i < 99 ? i + 1 : 100);
	}
	for (i = 1900; i < 2000; i++)
		assert_holds(f, at(i % 100), PAGE_TEXT, i);
	assert_int_equal(ended(f), 1900);
}

/* ---- switches that fail ------------------------------------------------ */

/* What is made once, and kept for later pools, is made here. */
static void warm_up(struct fixture *f)
{
	switch_to(f, 0);
	switch_to_spec(f, "lz4");
	store_pages(f, at(0), 12, 0);
	store_page(f, at(600), PAGE_TEXT, 6);
	zswap_invalidate(f->z, at(600), 1);
}

/* The switch to a new pool fails, and nothing has changed. */
static void assert_switch_fails(struct fixture *f, const char *spec, int err)
{
	unsigned long segments = atomic_load(&f->codec.compress.segments);
	long instances = atomic_load(&f->codec.instances);
	struct zswap_stats before = stats_of(f->z), after;
	size_t bytes = f->hooks.alloc_bytes;

	assert_int_equal(zswap_set_compressor(f->z, spec), err);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_int_equal(f->hooks.alloc_bytes, bytes);
	assert_int_equal(atomic_load(&f->codec.instances), instances);
	assert_in_use(f->z, "lz4");
	store_page(f, at(600), PAGE_TEXT, 6);
	assert_int_equal(atomic_load(&f->codec.compress.segments), segments);
	assert_holds(f, at(600), PAGE_TEXT, 6);
	zswap_invalidate(f->z, at(600), 1);
}

static void D46_an_unknown_compressor_changes_nothing(void **state)
{
	struct fixture *f = *state;

	warm_up(f);
	assert_switch_fails(f, "nope", -ENOENT);
	assert_switch_fails(f, "zstd:level=99", -ERANGE);
	assert_switch_fails(f, "zstd:speed=1", -EINVAL);
	assert_switch_fails(f, "test:no_such_codec", -EINVAL);
	assert_switch_fails(f, "", -EINVAL);
	assert_switch_fails(f, NULL, -EINVAL);
	assert_holds_pages(f, at(0), 12, 0);
}

static void D46_a_failing_compressor_changes_nothing(void **state)
{
	static const int errors[] = { -EACCES, -ENOMEM, -EINVAL, -EILSEQ };
	struct fixture *f = *state;
	int i;

	warm_up(f);
	for (i = 0; i < 4; i++) {
		atomic_store(&f->codec.create_error, errors[i]);
		assert_switch_fails(f, f->codec.spec, errors[i]);
		atomic_store(&f->codec.compress_ctx_error, errors[i]);
		assert_switch_fails(f, f->codec.spec, errors[i]);
		atomic_store(&f->codec.decompress_ctx_error, errors[i]);
		assert_switch_fails(f, f->codec.spec, errors[i]);
	}
	f->codec.extra_bound = 10u << 20;
	assert_switch_fails(f, f->codec.spec, -EINVAL);
	f->codec.extra_bound = 0;
	switch_to(f, 0);
	assert_holds_pages(f, at(0), 12, 0);
}

/*
 * Switches with the k-th call of a kind failing, for k = 1, 2, ... up to a
 * switch without failures; there and back each time, so that all is made anew.
 */
static void switch_until_success(struct fixture *f, const char *spec,
				 unsigned kinds, bool all)
{
	uint64_t k, failed = 1;
	int err;

	for (k = 1; failed && k < 1000; k++) {
		if (all)
			faulty_fail_from(&f->hooks, kinds, k);
		else
			faulty_fail_nth(&f->hooks, kinds, k);
		err = zswap_set_compressor(f->z, spec);
		failed = faulty_fail_none(&f->hooks);
		assert_true(err == 0 || (err == -ENOMEM && failed));
		if (err) {
			assert_in_use(f->z, "lz4");
			assert_int_equal(pools_of(f), 1);
		}
		store_page(f, at(600), PAGE_TEXT, k);
		assert_holds(f, at(600), PAGE_TEXT, k);
		assert_holds_pages(f, at(0), 12, 0);
		zswap_invalidate(f->z, at(600), 1);
		switch_to_spec(f, "lz4");
		assert_int_equal(pools_of(f), 1);
	}
	assert_true(k > 2 && k < 1000);
}

static void D48_a_switch_survives_any_failing_allocation(void **state)
{
	static const char *const specs[] = { "zstd", "lz4hc", "deflate" };
	struct fixture *f = *state;
	int i;

	store_pages(f, at(0), 12, 0);
	for (i = 0; i < 3; i++) {
		switch_until_success(f, specs[i], FAULTY_ANY, false);
		switch_until_success(f, specs[i], FAULTY_ANY, true);
	}
	switch_until_success(f, f->codec.spec, FAULTY_ANY, false);
	switch_until_success(f, f->codec.spec, FAULTY_ANY | FAULTY_THREAD,
			     false);
	assert_true(made(f) == ended(f));
}

/* ---- the cache's own thread -------------------------------------------- */

static void no_thread_is_started_without_a_switch(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(0), 30, 0);
	assert_holds_pages(f, at(0), 30, 0);
	switch_to_spec(f, "lz4");
	assert_int_equal(zswap_load(f->z, at(0), f->out), 0);
	assert_int_equal(f->hooks.thread_creates, 0);
}

/* A retired pool whose last page a load takes. */
static void empty_by_a_load(struct fixture *f, unsigned i)
{
	switch_to(f, i);
	store_page(f, at(0), PAGE_TEXT, i);
	switch_to_spec(f, "lz4");
	assert_int_equal(zswap_load(f->z, at(0), f->out), 0);
	assert_true(page_is(f->out, f->page_size, PAGE_TEXT, i));
}

static void at_most_one_thread_is_started_for_a_cache(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < 50; i++) {
		empty_by_a_load(f, i);
		wait_for_pools(f->z, 1);
	}
	assert_true(f->hooks.most_threads <= 1);
}

/* Likewise, while there is no thread to end it. */
static void leave_an_empty_pool(struct fixture *f, unsigned i)
{
	empty_by_a_load(f, i);
	assert_int_equal(zswap_peek(f->z, at(0), f->out), -ENOENT);
	assert_int_equal(ended(f), i);
}

static void next_is_invalidate(struct fixture *f)
{
	zswap_invalidate(f->z, at(77), 1);
}

static void next_is_store(struct fixture *f)
{
	store_page(f, at(1), PAGE_WORD, 1);
}

static void next_is_a_refused_store(struct fixture *f)
{
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	page_make(f->page, f->page_size, PAGE_TEXT, 2);
	assert_int_equal(zswap_store(f->z, at(1), f->page), -EPERM);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
}

static void next_is_swapoff(struct fixture *f)
{
	assert_int_equal(zswap_swapon(f->z, 9, 1), 0);
	assert_int_equal(zswap_swapoff(f->z, 9), 0);
}

static void next_is_set_compressor(struct fixture *f)
{
	switch_to_spec(f, "zstd");
	switch_to_spec(f, "lz4");
}

static void next_is_a_switch_to_the_spec_in_use(struct fixture *f)
{
	switch_to_spec(f, "lz4");
}

static void D48_without_a_thread_the_next_call_ends_the_pool(void **state)
{
	static const struct {
		const char *name;
		void (*call)(struct fixture *f);
	} next[] = {
		{ "invalidate", next_is_invalidate },
		{ "store", next_is_store },
		{ "a refused store", next_is_a_refused_store },
		{ "swapoff", next_is_swapoff },
		{ "set_compressor", next_is_set_compressor },
		{ "the spec in use", next_is_a_switch_to_the_spec_in_use },
	};
	struct fixture *f = *state;
	unsigned i, late = 0;

	faulty_fail_from(&f->hooks, FAULTY_THREAD, 1);
	for (i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		leave_an_empty_pool(f, i);
		next[i].call(f);
		if (ended(f) != i + 1) {
			print_error("%s does not end it\n", next[i].name);
			late++;
		}
		zswap_invalidate(f->z, at(0), AREA_SLOTS);
		assert_int_equal(ended(f), i + 1);
		assert_int_equal(pools_of(f), 1);
	}
	assert_int_equal(late, 0);
	assert_int_equal(f->hooks.threads, 0);
}

static void D48_without_a_thread_destroy_ends_the_pool(void **state)
{
	struct fixture *f = *state;

	begin_other(f, &f->params);
	faulty_fail_from(&f->hooks, FAULTY_THREAD, 1);
	leave_an_empty_pool(f, 0);
	destroy_other(f);
	assert_int_equal(ended(f), 1);
}

/* A lack of threads passes: the next switch asks for one again. */
static void D48_a_thread_that_failed_is_started_by_a_later_switch(void **state)
{
	struct fixture *f = *state;

	faulty_fail_nth(&f->hooks, FAULTY_THREAD, 1);
	leave_an_empty_pool(f, 0);
	assert_int_equal(f->hooks.threads, 0);
	empty_by_a_load(f, 1);
	assert_int_equal(f->hooks.threads, 1);
	wait_for_pools(f->z, 1);
	wait_for_instances(f, 0);
}

static void without_thread_hooks_a_thread_is_started_all_the_same(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks = f->hooks.hooks;
	struct zswap_params params = f->params;

	hooks.thread_create = NULL;
	hooks.thread_join = NULL;
	params.hooks = &hooks;
	begin_other(f, &params);
	empty_by_a_load(f, 0);
	wait_for_instances(f, 0);
	wait_for_pools(f->z, 1);
	end_other(f);
	assert_int_equal(f->hooks.thread_creates, 0);
}

static void half_a_pair_of_thread_hooks_is_einval(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks = f->hooks.hooks;
	struct zswap_params params = params_of(NULL);

	params.hooks = &hooks;
	hooks.thread_create = NULL;
	assert_int_equal(create_error(&params), -EINVAL);
	hooks = f->hooks.hooks;
	hooks.thread_join = NULL;
	assert_int_equal(create_error(&params), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(the_spec_in_use_changes_nothing),
		CASE(the_spec_in_use_calls_no_create),
		CASE(new_pages_are_compressed_with_the_new_one),
		CASE(a_switch_moves_no_gauge_of_pages_and_no_counter),
		CASE(entries_load_through_the_pool_they_were_stored_in),
		CASE(a_folio_load_may_reach_into_many_pools),
		CASE(neighbouring_slots_may_belong_to_different_pools),
		CASE(a_disabled_cache_or_one_without_areas_switches_too),
		CASE(an_empty_pool_ends_with_the_switch),
		CASE(a_retired_pool_is_taken_back_into_use),
		CASE(a_pool_taken_back_outlives_its_last_entry),
		CASE(pools_with_entries_are_counted_with_the_current_one),
		CASE(an_ended_pool_gives_all_its_memory_back),
		CASE(a_pool_ends_with_its_last_entry),
		CASE(the_call_that_drops_the_last_entry_ends_the_pool),
		CASE(an_entry_that_does_not_decompress_keeps_its_pool),
		CASE(raw_pages_keep_their_pool_and_filled_ones_load),
		CASE(a_destroyed_cache_ends_all_its_pools),
		CASE(a_256th_pool_is_ebusy_until_another_is_empty),
		CASE(an_empty_current_pool_counts_among_the_255),
		CASE(a_pool_that_a_load_emptied_makes_room_as_well),
		CASE(thousands_of_pools_may_follow_each_other),
		CASE(D46_an_unknown_compressor_changes_nothing),
		CASE(D46_a_failing_compressor_changes_nothing),
		CASE(D48_a_switch_survives_any_failing_allocation),
		CASE(no_thread_is_started_without_a_switch),
		CASE(at_most_one_thread_is_started_for_a_cache),
		CASE(D48_without_a_thread_the_next_call_ends_the_pool),
		CASE(D48_without_a_thread_destroy_ends_the_pool),
		CASE(D48_a_thread_that_failed_is_started_by_a_later_switch),
		CASE(without_thread_hooks_a_thread_is_started_all_the_same),
		CASE(half_a_pair_of_thread_hooks_is_einval),
	};

	return run_cases("switch", cases, sizeof(cases) / sizeof(cases[0]));
}
