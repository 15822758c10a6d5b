// SPDX-License-Identifier: MIT
/*
 * test_store.c - zswap_store() and zswap_store_folio()
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- exactness --------------------------------------------------------- */

static void a_stored_page_loads_exactly(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	for (i = 0; i < 20 * PAGE_KINDS; i++) {
		store_page(f, at(i), kind_of(i), i);
		assert_holds(f, at(i), kind_of(i), i);
	}
	for (i = 0; i < 20 * PAGE_KINDS; i++) {
		assert_holds(f, at(i), kind_of(i), i);
		assert_int_equal(zswap_load(f->z, at(i), f->out), 0);
		page_make(f->page, f->page_size, kind_of(i), i);
		assert_memory_equal(f->out, f->page, f->page_size);
	}
}

static void random_mixtures_load_exactly(void **state)
{
	struct fixture *f = *state;
	uint32_t step = f->page_size == 65536 ? 4 : 1, i, random_bytes;

	/* From no to all bytes random: every length a coder may give. */
	for (i = 0; i <= 256; i += step) {
		random_bytes = (uint32_t)(f->page_size * i / 256);
		page_make(f->page, f->page_size, PAGE_TEXT, i);
		rng_fill(&f->rng, f->page, random_bytes);
		assert_int_equal(zswap_store(f->z, at(i), f->page), 0);
		assert_int_equal(zswap_load(f->z, at(i), f->out), 0);
		assert_memory_equal(f->page, f->out, f->page_size);
	}
}

static void D13_every_repeated_word_is_restored_and_counted(void **state)
{
	struct fixture *f = *state;
	uint32_t i;

	for (i = 0; i < 256 + 1000; i++) {
		if (i < 256)
			memset(f->page, (int)i, f->page_size);
		else
			page_make(f->page, f->page_size, PAGE_WORD, i);
		assert_int_equal(zswap_store(f->z, at(9), f->page), 0);
		assert_int_equal(stats_of(f->z).same_filled_pages, 1);
		assert_int_equal(zswap_query(f->z, at(9)), ZSWAP_FILLED);
		memset(f->out, 0x11, f->page_size);
		assert_int_equal(zswap_load(f->z, at(9), f->out), 0);
		assert_memory_equal(f->page, f->out, f->page_size);
		assert_int_equal(stats_of(f->z).same_filled_pages, 0);
	}
}

static void D13_one_other_bit_anywhere_is_no_repeated_word(void **state)
{
	struct fixture *f = *state;
	size_t step = f->page_size == 4096 ? 1 : f->page_size / 128 - 1, i;
	char *bytes = f->page;

	page_make(f->page, f->page_size, PAGE_WORD, 1);
	for (i = 0; i < f->page_size; i += step) {
		bytes[i] ^= (char)(1 << i % 8);
		assert_int_equal(zswap_store(f->z, at(9), f->page), 0);
		assert_int_not_equal(zswap_query(f->z, at(9)), ZSWAP_FILLED);
		assert_int_equal(zswap_load(f->z, at(9), f->out), 0);
		assert_memory_equal(f->page, f->out, f->page_size);
		bytes[i] ^= (char)(1 << i % 8);
	}
	bytes[f->page_size - 1] ^= 1;
	assert_int_equal(zswap_store(f->z, at(9), f->page), 0);
	assert_int_not_equal(zswap_query(f->z, at(9)), ZSWAP_FILLED);
	assert_int_equal(stats_of(f->z).same_filled_stored, 0);
}

static void D13_words_that_repeat_in_pairs_are_not_one_word(void **state)
{
	struct fixture *f = *state;
	uint64_t word[2] = { 1, 2 };
	size_t i;

	for (i = 0; i < f->page_size; i += 16)
		memcpy((char *)f->page + i, word, 16);
	assert_int_equal(zswap_store(f->z, at(9), f->page), 0);
	assert_int_equal(zswap_query(f->z, at(9)), ZSWAP_STORED);
	assert_int_equal(zswap_load(f->z, at(9), f->out), 0);
	assert_memory_equal(f->page, f->out, f->page_size);
}

static void a_repeated_word_takes_no_room_for_its_bytes(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	size_t mapped = f->hooks.map_bytes;
	uint64_t i;

	for (i = 0; i < 100; i++)
		store_page(f, at(i), PAGE_WORD, i);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_pages, 100);
	assert_int_equal(stats.same_filled_pages, 100);
	assert_int_equal(stats.compressed_bytes, 0);
	assert_int_equal(stats.pool_total_size, 0);
	assert_int_equal(f->hooks.map_bytes, mapped);
}

static void a_page_that_does_not_compress_is_kept_as_it_is(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;

	store_page(f, at(3), PAGE_RANDOM, 1);
	assert_int_equal(zswap_query(f->z, at(3)), ZSWAP_RAW);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_incompressible_pages, 1);
	assert_int_equal(stats.compressed_bytes, f->page_size);
	assert_holds(f, at(3), PAGE_RANDOM, 1);
	if (has_codec(f))
		assert_int_equal(atomic_load(&f->codec.decompress.requests), 0);
}

/* ---- the caller's pages ------------------------------------------------ */

static void the_page_is_copied(void **state)
{
	struct fixture *f = *state;
	int kind;

	for (kind = 0; kind < PAGE_KINDS; kind++) {
		store_page(f, at(3), (enum page_kind)kind, 1);
		memset(f->page, 0, f->page_size);
		assert_holds(f, at(3), (enum page_kind)kind, 1);
	}
}

/* Stores each kind of page out of memory that allows reading only. */
static void pages_may_be_in_read_only_memory(void **state)
{
	struct fixture *f = *state;
	int kind;

	for (kind = 0; kind < PAGE_KINDS; kind++) {
		page_make(f->page, f->page_size, (enum page_kind)kind, 1);
		guard_allow_reading(&f->guards[0]);
		assert_int_equal(zswap_store(f->z, at(3), f->page), 0);
		/* After the call not even reading is needed. */
		guard_allow_nothing(&f->guards[0]);
		assert_int_equal(zswap_peek(f->z, at(3), f->out), 0);
		guard_allow_writing(&f->guards[0]);
		assert_true(
			page_is(f->out, f->page_size, (enum page_kind)kind, 1));
	}
}

static void folio_pages_may_be_in_read_only_memory(void **state)
{
	struct fixture *f = *state;
	struct guard guard;
	char *data = guard_at_end(&guard, 21 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), 21, data);

	make_pages(f, data, 21, 0);
	guard_allow_reading(&guard);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	guard_allow_nothing(&guard);
	assert_holds_pages(f, at(500), 21, 0);
	guard_free(&guard);
}

static void page_buffers_need_no_alignment(void **state)
{
	static const size_t shifts[] = { 1, 2, 3, 4, 7, 8, 13 };
	struct fixture *f = *state;
	struct guard in, out;
	char *from, *to;
	size_t i;
	int kind;

	for (i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		from = guard_at_end(&in, f->page_size + shifts[i]);
		to = guard_at_start(&out, f->page_size + shifts[i]);
		memset(from, 0x5c, shifts[i]);
		for (kind = 0; kind < PAGE_KINDS; kind++) {
			page_make(from, f->page_size, (enum page_kind)kind, i);
			assert_int_equal(zswap_store(f->z, at(3), from), 0);
			assert_int_equal(
				zswap_load(f->z, at(3), to + shifts[i]), 0);
			assert_memory_equal(from, to + shifts[i], f->page_size);
		}
		guard_free(&in);
		guard_free(&out);
	}
}

static void nothing_outside_the_page_is_read_or_written(void **state)
{
	struct fixture *f = *state;
	struct guard in, out;
	char *from = guard_at_start(&in, f->page_size);
	char *to = guard_at_start(&out, f->page_size);
	int kind;

	/* Inaccessible memory before; the fixture's pages have it behind. */
	for (kind = 0; kind < PAGE_KINDS; kind++) {
		page_make(from, f->page_size, (enum page_kind)kind, 1);
		assert_int_equal(zswap_store(f->z, at(3), from), 0);
		assert_int_equal(zswap_peek(f->z, at(3), to), 0);
		assert_memory_equal(from, to, f->page_size);
		assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
		assert_memory_equal(from, f->out, f->page_size);
	}
	guard_free(&in);
	guard_free(&out);
}

/* ---- folios ------------------------------------------------------------ */

static void folios_of_every_size_cross_a_cluster_border(void **state)
{
	struct fixture *f = *state;
	uint32_t nr;

	for (nr = 1; nr <= 35; nr++) {
		store_pages(f, at(2 * CLUSTER_SLOTS - 17), nr, nr);
		assert_holds_pages(f, at(2 * CLUSTER_SLOTS - 17), nr, nr);
		assert_int_equal(stats_of(f->z).stored_pages, nr);
	}
}

static void D14_a_folio_of_512_pages_round_trips(void **state)
{
	static const uint64_t firsts[] = { 0, 1, 511, 512 };
	struct fixture *f = *state;
	const uint32_t nr = ZSWAP_MAX_FOLIO;
	int rounds = f->page_size == 4096 ? 4 : 2, i;

	for (i = 0; i < rounds; i++) {
		store_pages(f, at(firsts[i]), nr, 7);
		assert_int_equal(stats_of(f->z).stored_pages, nr);
		assert_holds_pages(f, at(firsts[i]), nr, 7);
		zswap_invalidate(f->z, at(firsts[i]), nr);
	}
}

static void data_and_pages_are_two_ways_to_say_the_same(void **state)
{
	struct fixture *f = *state;
	const uint32_t nr = 23;
	char *data = malloc(nr * f->page_size);
	void *pages[23];
	struct zswap_folio folio;
	uint32_t i;

	assert_non_null(data);
	make_pages(f, data, nr, 5);
	/* Backwards in memory, so that the pointers matter. */
	for (i = 0; i < nr; i++)
		pages[i] = data + (nr - 1 - i) * f->page_size;
	folio = folio_of_pages(at(505), nr, pages);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	for (i = 0; i < nr; i++)
		assert_holds(f, at(505 + i), kind_of(5 + nr - 1 - i),
			     5 + nr - 1 - i);
	folio = folio_of_data(at(505), nr, data);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	assert_holds_pages(f, at(505), nr, 5);
	free(data);
}

static void a_page_may_occur_many_times_in_a_folio(void **state)
{
	struct fixture *f = *state;
	void *pages[40];
	struct zswap_folio folio;
	uint32_t i;

	page_make(f->page, f->page_size, PAGE_TEXT, 9);
	for (i = 0; i < 40; i++)
		pages[i] = f->page;
	folio = folio_of_pages(at(500), 40, pages);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	for (i = 0; i < 40; i++)
		assert_holds(f, at(500 + i), PAGE_TEXT, 9);
}

/* Seeds of the mixture of D02, by position. */
static void make_mixture(struct fixture *f, char *data, uint32_t rotation)
{
	static const char pattern[] = "eight-b.";
	uint32_t i;
	size_t at_byte;

	for (i = 0; i < 8; i++) {
		char *page = data + ((i + rotation) % 8) * f->page_size;

		if (i == 1)
			memset(page, 0xa5, f->page_size);
		else if (i == 2)
			for (at_byte = 0; at_byte < f->page_size; at_byte += 8)
				memcpy(page + at_byte, pattern, 8);
		else
			page_make(page, f->page_size,
				  i == 0           ? PAGE_ZERO :
				  i == 3 || i == 5 ? PAGE_TEXT :
				  i == 6           ? PAGE_ALMOST :
						     PAGE_RANDOM,
				  i);
	}
}

static void D02_pages_of_a_folio_are_judged_one_by_one(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(8 * f->page_size), *out = malloc(8 * f->page_size);
	struct zswap_folio folio;
	uint32_t rotation, first, nr;

	assert_true(data && out);
	for (rotation = 0; rotation < 8; rotation++) {
		make_mixture(f, data, rotation);
		folio = folio_of_data(at(508), 8, data);
		assert_int_equal(zswap_store_folio(f->z, &folio), 0);
		assert_int_equal(stats_of(f->z).same_filled_pages, 3);
		assert_int_equal(stats_of(f->z).stored_incompressible_pages, 2);
		for (nr = 1; nr <= 8; nr *= 2)
			for (first = 0; first + nr <= 8; first++) {
				folio = folio_of_data(at(508 + first), nr, out);
				assert_int_equal(
					zswap_load_folio(f->z, &folio,
							 ZSWAP_LOAD_KEEP),
					0);
				assert_memory_equal(out,
						    data + first * f->page_size,
						    nr * f->page_size);
			}
	}
	free(data);
	free(out);
}

static void results_of_a_good_store_are_all_0(void **state)
{
	struct fixture *f = *state;
	const uint32_t nr = 30;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), nr, data);
	int results[31];
	uint32_t i;

	assert_non_null(data);
	make_pages(f, data, nr, 5);
	for (i = 0; i <= nr; i++)
		results[i] = 777;
	folio.results = results;
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	for (i = 0; i < nr; i++)
		assert_int_equal(results[i], 0);
	assert_int_equal(results[nr], 777);
	free(data);
}

/* ---- replacing --------------------------------------------------------- */

static void a_store_replaces_the_older_page(void **state)
{
	struct fixture *f = *state;
	uint64_t old, new;

	for (old = 0; old < PAGE_KINDS; old++)
		for (new = 0; new < PAGE_KINDS; new ++) {
			store_page(f, at(4), kind_of(old), 1);
			store_page(f, at(4), kind_of(new), 2);
			assert_holds(f, at(4), kind_of(new), 2);
			assert_int_equal(stats_of(f->z).stored_pages, 1);
			assert_int_equal(zswap_query(f->z, at(4)),
					 expected_state(kind_of(new)));
		}
}

static void D06_a_thousand_versions_are_one_entry(void **state)
{
	static const enum page_kind kinds[] = { PAGE_TEXT, PAGE_RANDOM,
						PAGE_ZERO, PAGE_WORD };
	struct fixture *f = *state;
	struct zswap_stats stats;
	enum page_kind kind;
	uint64_t rounds = f->page_size == 65536 ? 200 : 1000, i;

	for (i = 0; i < rounds; i++) {
		kind = kinds[i % 4];
		store_page(f, at(4), kind, i);
		stats = stats_of(f->z);
		assert_int_equal(stats.stored_pages, 1);
		assert_int_equal(stats.same_filled_pages, i % 4 >= 2);
		assert_int_equal(stats.stored_incompressible_pages,
				 kind == PAGE_RANDOM);
		if (i % 10 == 0)
			assert_holds(f, at(4), kind, i);
	}
	assert_holds(f, at(4), kinds[3], rounds - 1);
	assert_int_equal(zswap_load(f->z, at(4), f->out), 0);
	assert_empty(f->z);
}

static void a_folio_replaces_only_the_pages_it_covers(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(500), 40, 1);
	store_pages(f, at(510), 10, 1000);
	assert_holds_pages(f, at(500), 10, 1);
	assert_holds_pages(f, at(510), 10, 1000);
	assert_holds_pages(f, at(520), 20, 21);
	assert_int_equal(stats_of(f->z).stored_pages, 40);
}

static void each_page_that_is_no_repeated_word_is_compressed_once(void **state)
{
	struct fixture *f = *state;
	const uint32_t nr = 10 * PAGE_KINDS;

	if (!has_codec(f))
		return;
	/* Two kinds of six are one word. */
	store_pages(f, at(500), nr, 0);
	assert_int_equal(atomic_load(&f->codec.compress.segments), nr / 6 * 4);
	store_page(f, at(1), PAGE_RANDOM, 1);
	assert_int_equal(atomic_load(&f->codec.compress.segments),
			 nr / 6 * 4 + 1);
}

/* ---- stores that fail -------------------------------------------------- */

/* A store of one page and one of a folio fail with -EPERM. */
static void assert_stores_are_refused(struct fixture *f)
{
	const uint32_t nr = 20;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(505), nr, data);
	int results[20], causes = 0;
	uint32_t i;

	assert_non_null(data);
	make_pages(f, data, nr, 50);
	for (i = 0; i < nr; i++)
		results[i] = 777;
	folio.results = results;
	assert_int_equal(zswap_store(f->z, at(1), data), -EPERM);
	assert_int_equal(zswap_store_folio(f->z, &folio), -EPERM);
	for (i = 0; i < nr; i++) {
		assert_true(results[i] == -EPERM || results[i] == -ECANCELED);
		causes += results[i] == -EPERM;
	}
	assert_true(causes > 0);
	free(data);
}

static void D01_failed_store_leaves_no_older_page(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;

	store_page(f, at(1), PAGE_TEXT, 1);
	store_pages(f, at(500), 30, 1);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_stores_are_refused(f);
	assert_absent(f, at(1), 1);
	assert_absent(f, at(505), 20);
	/* Its neighbours are not its business. */
	assert_holds_pages(f, at(500), 5, 1);
	assert_holds_pages(f, at(525), 5, 26);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_pages, 10);
	assert_int_equal(stats.reject_disabled, 2);
}

static void a_refused_store_of_new_slots_leaves_them_absent(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_stores_are_refused(f);
	assert_absent(f, at(500), 30);
	assert_absent(f, at(1), 1);
	assert_empty(f->z);
}

static void D15_disabling_stops_new_stores_only(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;

	store_pages(f, at(0), 10, 0);
	before = stats_of(f->z);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_holds_pages(f, at(0), 10, 0);
	assert_int_equal(zswap_load(f->z, at(9), f->out), 0);
	zswap_invalidate(f->z, at(8), 1);
	assert_absent(f, at(8), 2);
	page_make(f->page, f->page_size, PAGE_TEXT, 77);
	assert_int_equal(zswap_store(f->z, at(20), f->page), -EPERM);
	assert_int_equal(zswap_store(f->z, at(7), f->page), -EPERM);
	assert_absent(f, at(7), 1);
	assert_holds_pages(f, at(0), 7, 0);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	store_page(f, at(7), PAGE_TEXT, 78);
	assert_holds(f, at(7), PAGE_TEXT, 78);
	after = stats_of(f->z);
	assert_int_equal(after.zswpout, before.zswpout + 1);
}

static void disabling_twice_is_like_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	store_page(f, at(0), PAGE_TEXT, 1);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	store_page(f, at(0), PAGE_TEXT, 2);
}

static void a_disabled_cache_can_have_areas_added_and_dropped(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_int_equal(zswap_swapon(f->z, 4, 5), 0);
	assert_int_equal(zswap_query(f->z, zswap_slot(4, 0)), ZSWAP_ABSENT);
	assert_int_equal(zswap_swapoff(f->z, 4), 0);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(a_stored_page_loads_exactly),
		CASE(random_mixtures_load_exactly),
		CASE(D13_every_repeated_word_is_restored_and_counted),
		CASE(D13_one_other_bit_anywhere_is_no_repeated_word),
		CASE(D13_words_that_repeat_in_pairs_are_not_one_word),
		CASE(a_repeated_word_takes_no_room_for_its_bytes),
		CASE(a_page_that_does_not_compress_is_kept_as_it_is),
		CASE(the_page_is_copied),
		CASE(pages_may_be_in_read_only_memory),
		CASE(folio_pages_may_be_in_read_only_memory),
		CASE(page_buffers_need_no_alignment),
		CASE(nothing_outside_the_page_is_read_or_written),
		CASE(folios_of_every_size_cross_a_cluster_border),
		CASE(D14_a_folio_of_512_pages_round_trips),
		CASE(data_and_pages_are_two_ways_to_say_the_same),
		CASE(a_page_may_occur_many_times_in_a_folio),
		CASE(D02_pages_of_a_folio_are_judged_one_by_one),
		CASE(results_of_a_good_store_are_all_0),
		CASE(a_store_replaces_the_older_page),
		CASE(D06_a_thousand_versions_are_one_entry),
		CASE(a_folio_replaces_only_the_pages_it_covers),
		CASE(each_page_that_is_no_repeated_word_is_compressed_once),
		CASE(D01_failed_store_leaves_no_older_page),
		CASE(a_refused_store_of_new_slots_leaves_them_absent),
		CASE(D15_disabling_stops_new_stores_only),
		CASE(disabling_twice_is_like_once),
		CASE(a_disabled_cache_can_have_areas_added_and_dropped),
	};

	return run_all_variants("store", cases,
				sizeof(cases) / sizeof(cases[0]));
}
