// SPDX-License-Identifier: MIT
/*
 * test_load.c - zswap_load() and zswap_peek()
 */
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>

static void D03_peek_keeps_and_load_takes(void **state)
{
	struct fixture *f = *state;
	int kind;

	for (kind = 0; kind < PAGE_KINDS; kind++) {
		store_page(f, at(3), (enum page_kind)kind, 1);
		assert_holds(f, at(3), (enum page_kind)kind, 1);
		assert_holds(f, at(3), (enum page_kind)kind, 1);
		assert_int_equal(stats_of(f->z).stored_pages, 1);
		assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
		assert_true(
			page_is(f->out, f->page_size, (enum page_kind)kind, 1));
		assert_int_equal(stats_of(f->z).stored_pages, 0);
		assert_int_equal(zswap_load(f->z, at(3), f->out), -ENOENT);
		assert_absent(f, at(3), 1);
	}
}

static void a_load_of_an_absent_slot_is_enoent_and_leaves_it_so(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;

	store_page(f, at(3), PAGE_TEXT, 1);
	before = stats_of(f->z);
	assert_int_equal(zswap_load(f->z, at(2), f->out), -ENOENT);
	assert_int_equal(zswap_load(f->z, at(4), f->out), -ENOENT);
	assert_int_equal(zswap_peek(f->z, at(AREA_SLOTS - 1), f->out), -ENOENT);
	after = stats_of(f->z);
	assert_int_equal(after.load_misses - before.load_misses, 3);
	assert_same_gauges(&before, &after);
	assert_absent(f, at(2), 1);
	assert_absent(f, at(4), 1);
	assert_holds(f, at(3), PAGE_TEXT, 1);
}

static void a_load_takes_one_page_and_leaves_its_neighbours(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	store_pages(f, at(500), 30, 0);
	for (i = 1; i < 30; i += 2)
		assert_int_equal(zswap_load(f->z, at(500 + i), f->out), 0);
	for (i = 0; i < 30; i++)
		if (i % 2)
			assert_absent(f, at(500 + i), 1);
		else
			assert_holds(f, at(500 + i), kind_of(i), i);
}

/* The promise is zswap_swapon()'s: tables go when their pages do. */
static void a_load_of_a_last_page_gives_its_table_back(void **state)
{
	static const enum page_kind kinds[] = { PAGE_TEXT, PAGE_WORD,
						PAGE_RANDOM };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t before;

		/* What the first page of a kind costs stays. */
		store_page(f, at(5), kinds[i], 1);
		zswap_invalidate(f->z, at(5), 1);
		before = stats_of(f->z).metadata_bytes;
		store_page(f, at(5), kinds[i], 1);
		assert_true(stats_of(f->z).metadata_bytes > before);
		assert_int_equal(zswap_load(f->z, at(5), f->out), 0);
		assert_int_equal(stats_of(f->z).metadata_bytes, before);
	}
}

static void a_repeated_word_and_a_raw_page_need_no_decompressor(void **state)
{
	struct fixture *f = *state;

	store_page(f, at(1), PAGE_RANDOM, 1);
	store_page(f, at(2), PAGE_WORD, 1);
	store_page(f, at(3), PAGE_ZERO, 1);
	codec_fail(&f->codec.decompress, CODEC_ERROR, CODEC_FOR_EVER);
	assert_holds(f, at(1), PAGE_RANDOM, 1);
	assert_holds(f, at(2), PAGE_WORD, 1);
	assert_holds(f, at(3), PAGE_ZERO, 1);
	assert_int_equal(atomic_load(&f->codec.decompress.requests), 0);
}

/* ---- entries that do not decompress ------------------------------------ */

static void D03_a_load_that_fails_once_takes_nothing(void **state)
{
	struct fixture *f = *state;

	if (!has_codec(f))
		return;
	store_page(f, at(3), PAGE_TEXT, 1);
	codec_fail(&f->codec.decompress, CODEC_ERROR, 1);
	assert_int_equal(zswap_load(f->z, at(3), f->out), -EIO);
	assert_int_equal(zswap_query(f->z, at(3)), ZSWAP_STORED);
	assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
	assert_true(page_is(f->out, f->page_size, PAGE_TEXT, 1));
	assert_absent(f, at(3), 1);
	assert_int_equal(stats_of(f->z).decompress_fail, 1);
}

static void an_entry_that_does_not_decompress_stays(void **state)
{
	struct fixture *f = *state;
	int i;

	if (!has_codec(f))
		return;
	store_page(f, at(3), PAGE_TEXT, 1);
	store_page(f, at(4), PAGE_TEXT, 2);
	codec_fail(&f->codec.decompress, CODEC_ERROR, CODEC_FOR_EVER);
	for (i = 1; i <= 3; i++) {
		assert_int_equal(zswap_load(f->z, at(3), f->out), -EIO);
		assert_int_equal(zswap_peek(f->z, at(3), f->out), -EIO);
		assert_true(zswap_is_present(f->z, at(3), 1));
		assert_int_equal(stats_of(f->z).decompress_fail, 2 * i);
		assert_int_equal(stats_of(f->z).stored_pages, 2);
	}
	/* Until it is invalidated, or replaced. */
	zswap_invalidate(f->z, at(3), 1);
	assert_int_equal(zswap_load(f->z, at(3), f->out), -ENOENT);
	store_page(f, at(4), PAGE_WORD, 3);
	assert_holds(f, at(4), PAGE_WORD, 3);
	codec_behave(&f->codec.decompress);
	store_page(f, at(3), PAGE_TEXT, 4);
	assert_holds(f, at(3), PAGE_TEXT, 4);
}

static void D40_a_wrong_decompressed_length_is_eio(void **state)
{
	struct fixture *f = *state;
	uint64_t failed = 0;
	struct guard guard;
	char *out = guard_at_start(&guard, f->page_size);
	int fault;

	if (!has_codec(f)) {
		guard_free(&guard);
		return;
	}
	store_page(f, at(3), PAGE_TEXT, 1);
	for (fault = CODEC_GOOD + 1; fault < CODEC_FAULTS; fault++) {
		/* Both sides of the page are guarded, one after the other. */
		codec_fail(&f->codec.decompress, (enum codec_fault)fault, 1);
		assert_int_equal(zswap_load(f->z, at(3), f->out), -EIO);
		codec_fail(&f->codec.decompress, (enum codec_fault)fault, 1);
		assert_int_equal(zswap_peek(f->z, at(3), out), -EIO);
		failed += 2;
		assert_int_equal(stats_of(f->z).decompress_fail, failed);
		assert_holds(f, at(3), PAGE_TEXT, 1);
	}
	codec_fail(&f->codec.decompress, CODEC_HUGE, CODEC_FOR_EVER);
	assert_int_equal(zswap_peek(f->z, at(3), out), -EIO);
	zswap_invalidate(f->z, at(3), 1);
	assert_absent(f, at(3), 1);
	assert_empty(f->z);
	guard_free(&guard);
}

/* ---- memory ------------------------------------------------------------ */

static void D33_loads_and_peeks_take_no_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t takes, i;

	store_pages(f, at(300), 400, 0);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	takes = faulty_takes(&f->hooks);
	for (i = 0; i < 400; i++) {
		assert_holds(f, at(300 + i), kind_of(i), i);
		assert_int_equal(zswap_load(f->z, at(300 + i), f->out), 0);
		assert_int_equal(zswap_load(f->z, at(300 + i), f->out),
				 -ENOENT);
	}
	assert_int_equal(faulty_takes(&f->hooks), takes);
}

struct first_call {
	struct fixture *f;
	int peek, load;
};

static void *peek_and_load(void *arg)
{
	struct first_call *call = arg;
	struct fixture *f = call->f;

	call->peek = zswap_peek(f->z, at(3), f->out);
	call->load = zswap_load(f->z, at(3), f->out);
	return NULL;
}

static void a_threads_first_call_takes_no_memory_either(void **state)
{
	struct fixture *f = *state;
	struct first_call call = { f, -1, -1 };
	uint64_t takes;
	pthread_t thread;

	store_page(f, at(3), PAGE_TEXT, 1);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	takes = faulty_takes(&f->hooks);
	assert_int_equal(pthread_create(&thread, NULL, peek_and_load, &call),
			 0);
	pthread_join(thread, NULL);
	assert_int_equal(call.peek, 0);
	assert_int_equal(call.load, 0);
	assert_true(page_is(f->out, f->page_size, PAGE_TEXT, 1));
	assert_int_equal(faulty_takes(&f->hooks), takes);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(D03_peek_keeps_and_load_takes),
		CASE(a_load_of_an_absent_slot_is_enoent_and_leaves_it_so),
		CASE(a_load_takes_one_page_and_leaves_its_neighbours),
		CASE(a_load_of_a_last_page_gives_its_table_back),
		CASE(a_repeated_word_and_a_raw_page_need_no_decompressor),
		CASE(D03_a_load_that_fails_once_takes_nothing),
		CASE(an_entry_that_does_not_decompress_stays),
		CASE(D40_a_wrong_decompressed_length_is_eio),
		CASE(D33_loads_and_peeks_take_no_memory),
		CASE(a_threads_first_call_takes_no_memory_either),
	};

	return run_all_variants("load", cases,
				sizeof(cases) / sizeof(cases[0]));
}
