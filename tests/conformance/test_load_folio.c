// SPDX-License-Identifier: MIT
/*
 * test_load_folio.c - zswap_load_folio() in its four modes
 */
#include "fixture.h"

#include <stdlib.h>

/* Room for a folio between inaccessible pages, with a result per page. */
#define MAX_PAGES ZSWAP_MAX_FOLIO

struct target {
	struct guard guard;
	char *data;
	struct zswap_folio folio;
	int results[MAX_PAGES + 1];
	uint32_t nr;
	size_t page_size;
};

static void target_init(struct target *t, struct fixture *f, zswap_slot_t slot,
			uint32_t nr)
{
	uint32_t i;

	t->data = guard_at_end(&t->guard, nr * f->page_size);
	t->folio = folio_of_data(slot, nr, t->data);
	t->folio.results = t->results;
	t->nr = nr;
	t->page_size = f->page_size;
	for (i = 0; i <= MAX_PAGES; i++)
		t->results[i] = 777;
}

static void target_end(struct target *t)
{
	uint32_t i;

	for (i = t->nr; i <= MAX_PAGES; i++)
		assert_int_equal(t->results[i], 777);
	guard_free(&t->guard);
}

/* Page @i of the target is page @seed of make_pages(). */
static void assert_delivered(struct target *t, uint32_t i, uint64_t seed)
{
	assert_int_equal(t->results[i], 0);
	assert_true(page_is(t->data + i * t->page_size, t->page_size,
			    kind_of(seed), seed));
}

static void all_pages_are_taken_together(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 33 };
	struct fixture *f = *state;
	struct target t;
	uint32_t i;
	int s;

	for (s = 0; s < 6; s++) {
		store_pages(f, at(505), sizes[s], 3);
		target_init(&t, f, at(505), sizes[s]);
		assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), 0);
		for (i = 0; i < sizes[s]; i++)
			assert_delivered(&t, i, 3 + i);
		assert_absent(f, at(505), sizes[s]);
		assert_empty(f->z);
		target_end(&t);
	}
}

static void D14_512_pages_are_taken_together(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i;

	store_pages(f, at(300), 512, 3);
	target_init(&t, f, at(300), 512);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_KEEP), 0);
	assert_int_equal(stats_of(f->z).stored_pages, 512);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), 0);
	for (i = 0; i < 512; i++)
		assert_delivered(&t, i, 3 + i);
	assert_empty(f->z);
	target_end(&t);
}

static void with_keep_the_entries_stay(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i;
	int round;

	store_pages(f, at(505), 20, 3);
	for (round = 0; round < 3; round++) {
		target_init(&t, f, at(505), 20);
		assert_int_equal(
			zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_KEEP), 0);
		for (i = 0; i < 20; i++)
			assert_delivered(&t, i, 3 + i);
		target_end(&t);
	}
	assert_holds_pages(f, at(505), 20, 3);
}

static void a_folio_may_be_loaded_otherwise_than_it_was_stored(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i;

	for (i = 0; i < 10; i++)
		store_page(f, at(505 + i), kind_of(i), i);
	store_pages(f, at(515), 10, 10);
	target_init(&t, f, at(508), 14);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), 0);
	for (i = 0; i < 14; i++)
		assert_delivered(&t, i, 3 + i);
	target_end(&t);
	assert_holds_pages(f, at(505), 3, 0);
	assert_holds_pages(f, at(522), 3, 17);
}

static void pages_may_go_to_one_buffer_each(void **state)
{
	struct fixture *f = *state;
	void *pages[20];
	struct target t;
	uint32_t i;

	store_pages(f, at(505), 20, 3);
	target_init(&t, f, at(505), 20);
	for (i = 0; i < 20; i++)
		pages[i] = t.data + (19 - i) * f->page_size;
	t.folio.data = NULL;
	t.folio.pages = pages;
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), 0);
	for (i = 0; i < 20; i++)
		assert_true(
			page_is(pages[i], f->page_size, kind_of(3 + i), 3 + i));
	target_end(&t);
}

static void folio_buffers_need_no_alignment(void **state)
{
	struct fixture *f = *state;
	struct guard guard;
	char *data = guard_at_start(&guard, 9 * f->page_size + 13);
	struct zswap_folio folio = folio_of_data(at(505), 9, data + 13);
	uint32_t i;

	memset(data, 0x5c, 13);
	make_pages(f, data + 13, 9, 4);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	memset(data + 13, 0, 9 * f->page_size);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), 0);
	for (i = 0; i < 9; i++)
		assert_true(page_is(data + 13 + i * f->page_size, f->page_size,
				    kind_of(4 + i), 4 + i));
	for (i = 0; i < 13; i++)
		assert_int_equal(data[i], 0x5c);
	guard_free(&guard);
}

static void results_may_be_null(void **state)
{
	struct fixture *f = *state;
	struct target t;

	store_pages(f, at(505), 20, 3);
	zswap_invalidate(f->z, at(510), 1);
	target_init(&t, f, at(505), 20);
	t.folio.results = NULL;
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), -EBUSY);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_PARTIAL),
			 19);
	target_end(&t);
}

/* ---- some absent ------------------------------------------------------- */

static void without_any_page_it_is_enoent(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i;

	store_page(f, at(504), PAGE_TEXT, 1);
	store_page(f, at(525), PAGE_TEXT, 1);
	target_init(&t, f, at(505), 20);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), -ENOENT);
	for (i = 0; i < 20; i++)
		assert_int_equal(t.results[i], -ENOENT);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_KEEP),
			 -ENOENT);
	target_end(&t);
	assert_int_equal(stats_of(f->z).stored_pages, 2);
}

static void with_some_absent_it_is_ebusy_and_nothing_is_taken(void **state)
{
	static const uint32_t holes[] = { 0, 6, 7, 8, 19 };
	struct fixture *f = *state;
	struct target t;
	uint32_t i;
	int h;

	for (h = 0; h < 5; h++) {
		store_pages(f, at(505), 20, 3);
		zswap_invalidate(f->z, at(505 + holes[h]), 1);
		target_init(&t, f, at(505), 20);
		assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), -EBUSY);
		for (i = 0; i < 20; i++)
			assert_int_equal(t.results[i],
					 i == holes[h] ? -ENOENT : 0);
		assert_int_equal(
			zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_KEEP),
			-EBUSY);
		target_end(&t);
		assert_int_equal(stats_of(f->z).stored_pages, 19);
		for (i = 0; i < 20; i++)
			if (i != holes[h])
				assert_holds(f, at(505 + i), kind_of(3 + i),
					     3 + i);
	}
}

static void with_partial_what_is_there_is_delivered(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i;

	store_pages(f, at(505), 20, 3);
	zswap_invalidate(f->z, at(505), 1);
	zswap_invalidate(f->z, at(510), 3);
	zswap_invalidate(f->z, at(524), 1);
	target_init(&t, f, at(505), 20);
	assert_int_equal(zswap_load_folio(f->z, &t.folio,
					  ZSWAP_LOAD_PARTIAL | ZSWAP_LOAD_KEEP),
			 15);
	assert_int_equal(stats_of(f->z).stored_pages, 15);
	memset(t.data, 0, 20 * f->page_size);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_PARTIAL),
			 15);
	for (i = 0; i < 20; i++)
		if (i == 0 || i == 19 || (i >= 5 && i <= 7))
			assert_int_equal(t.results[i], -ENOENT);
		else
			assert_delivered(&t, i, 3 + i);
	target_end(&t);
	assert_absent(f, at(505), 20);
}

static void with_partial_nothing_there_is_0(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i;

	target_init(&t, f, at(505), 20);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_PARTIAL),
			 0);
	for (i = 0; i < 20; i++)
		assert_int_equal(t.results[i], -ENOENT);
	target_end(&t);
}

static void with_partial_all_there_is_their_number(void **state)
{
	struct fixture *f = *state;
	struct target t;

	store_pages(f, at(505), 20, 3);
	target_init(&t, f, at(505), 20);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_PARTIAL),
			 20);
	target_end(&t);
	assert_empty(f->z);
}

/* ---- some that do not decompress --------------------------------------- */

/* 20 text pages from slot 505 on, of which every second fails to load. */
static void store_text(struct fixture *f)
{
	uint64_t i;

	for (i = 0; i < 20; i++)
		store_page(f, at(505 + i), PAGE_TEXT, i);
}

static void
one_that_does_not_decompress_is_eio_and_nothing_is_taken(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i, failed = 0;

	if (!has_codec(f))
		return;
	store_text(f);
	target_init(&t, f, at(505), 20);
	codec_fail(&f->codec.decompress, CODEC_ERROR, 1);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), -EIO);
	for (i = 0; i < 20; i++) {
		assert_true(t.results[i] == 0 || t.results[i] == -EIO);
		failed += t.results[i] == -EIO;
	}
	assert_int_equal(failed, 1);
	assert_int_equal(stats_of(f->z).stored_pages, 20);
	assert_int_equal(stats_of(f->z).decompress_fail, 1);
	codec_fail(&f->codec.decompress, CODEC_UNIT_LESS_1, 1);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_KEEP),
			 -EIO);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), 0);
	for (i = 0; i < 20; i++)
		assert_true(page_is(t.data + i * f->page_size, f->page_size,
				    PAGE_TEXT, i));
	target_end(&t);
}

static void with_partial_what_does_not_decompress_is_left_out(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i, failed = 0;

	if (!has_codec(f))
		return;
	store_text(f);
	store_page(f, at(515), PAGE_WORD, 10);
	zswap_invalidate(f->z, at(516), 1);
	target_init(&t, f, at(505), 20);
	codec_fail(&f->codec.decompress, CODEC_ERROR, 3);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_PARTIAL),
			 16);
	for (i = 0; i < 20; i++) {
		if (i == 11) {
			assert_int_equal(t.results[i], -ENOENT);
		} else if (t.results[i]) {
			assert_int_equal(t.results[i], -EIO);
			assert_holds(f, at(505 + i), PAGE_TEXT, i);
			failed++;
		} else {
			assert_absent(f, at(505 + i), 1);
			assert_true(
				page_is(t.data + i * f->page_size, f->page_size,
					i == 10 ? PAGE_WORD : PAGE_TEXT, i));
		}
	}
	assert_int_equal(failed, 3);
	target_end(&t);
}

static void with_partial_when_nothing_decompresses_it_is_0(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint32_t i;

	if (!has_codec(f))
		return;
	store_text(f);
	target_init(&t, f, at(505), 20);
	codec_fail(&f->codec.decompress, CODEC_REQUEST_ERROR, CODEC_FOR_EVER);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_PARTIAL),
			 0);
	for (i = 0; i < 20; i++)
		assert_int_equal(t.results[i], -EIO);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), -EIO);
	assert_int_equal(stats_of(f->z).stored_pages, 20);
	codec_behave(&f->codec.decompress);
	target_end(&t);
}

static void some_absent_and_some_broken_is_ebusy(void **state)
{
	struct fixture *f = *state;
	struct target t;

	if (!has_codec(f))
		return;
	store_text(f);
	zswap_invalidate(f->z, at(510), 1);
	target_init(&t, f, at(505), 20);
	codec_fail(&f->codec.decompress, CODEC_ERROR, CODEC_FOR_EVER);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), -EBUSY);
	assert_int_equal(t.results[5], -ENOENT);
	assert_int_equal(stats_of(f->z).stored_pages, 19);
	codec_behave(&f->codec.decompress);
	target_end(&t);
}

/* ---- memory ------------------------------------------------------------ */

static void D33_folio_loads_take_no_memory(void **state)
{
	struct fixture *f = *state;
	struct target t;
	uint64_t takes;

	store_pages(f, at(300), 400, 0);
	target_init(&t, f, at(300), 400);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	takes = faulty_takes(&f->hooks);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, ZSWAP_LOAD_KEEP), 0);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), 0);
	assert_int_equal(zswap_load_folio(f->z, &t.folio, 0), -ENOENT);
	assert_int_equal(faulty_takes(&f->hooks), takes);
	target_end(&t);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(all_pages_are_taken_together),
		CASE(D14_512_pages_are_taken_together),
		CASE(with_keep_the_entries_stay),
		CASE(a_folio_may_be_loaded_otherwise_than_it_was_stored),
		CASE(pages_may_go_to_one_buffer_each),
		CASE(folio_buffers_need_no_alignment),
		CASE(results_may_be_null),
		CASE(without_any_page_it_is_enoent),
		CASE(with_some_absent_it_is_ebusy_and_nothing_is_taken),
		CASE(with_partial_what_is_there_is_delivered),
		CASE(with_partial_nothing_there_is_0),
		CASE(with_partial_all_there_is_their_number),
		CASE(one_that_does_not_decompress_is_eio_and_nothing_is_taken),
		CASE(with_partial_what_does_not_decompress_is_left_out),
		CASE(with_partial_when_nothing_decompresses_it_is_0),
		CASE(some_absent_and_some_broken_is_ebusy),
		CASE(D33_folio_loads_take_no_memory),
	};

	return run_all_variants("load_folio", cases,
				sizeof(cases) / sizeof(cases[0]));
}
