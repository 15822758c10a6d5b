// SPDX-License-Identifier: MIT
/*
 * test_stats.c - zswap_get_stats(), zswap_format_stats(), what is counted when
 */
#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the struct -------------------------------------------------------- */

static void
statistics_of_a_new_cache_are_zero_but_for_the_fixed_ones(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats = stats_of(f->z), zero;

	assert_true(stats.metadata_bytes > 0);
	memset(&zero, 0, sizeof(zero));
	zero.size = sizeof(zero);
	zero.metadata_bytes = stats.metadata_bytes;
	zero.max_pool_bytes = stats.max_pool_bytes;
	zero.accept_threshold_bytes = stats.accept_threshold_bytes;
	zero.pools = 1;
	assert_same_stats(&stats, &zero);
}

static void null_or_too_small_statistics_are_einval(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats, untouched;
	size_t size;

	assert_int_equal(zswap_get_stats(f->z, NULL), -EINVAL);
	memset(&stats, 0x5a, sizeof(stats));
	stats.size = sizeof(stats);
	untouched = stats;
	assert_int_equal(zswap_get_stats(NULL, &stats), -EINVAL);
	assert_memory_equal(&stats, &untouched, sizeof(stats));
	for (size = 0; size < 16; size++) {
		stats.size = untouched.size = size;
		assert_int_equal(zswap_get_stats(f->z, &stats), -EINVAL);
		assert_memory_equal(&stats, &untouched, sizeof(stats));
	}
}

static void fields_that_lie_within_the_size_are_filled(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats all, some;
	size_t size, filled;

	store_pages(f, at(0), 30, 0);
	all = stats_of(f->z);
	for (size = 16; size <= sizeof(all); size++) {
		memset(&some, 0x5a, sizeof(some));
		some.size = size;
		assert_int_equal(zswap_get_stats(f->z, &some), 0);
		assert_int_equal(some.size, size);
		filled = size / 8 * 8;
		assert_memory_equal((char *)&some + 8, (char *)&all + 8,
				    filled - 8);
		for (; filled < sizeof(some); filled++)
			assert_int_equal(((unsigned char *)&some)[filled],
					 0x5a);
	}
}

static void a_larger_struct_than_known_is_fine(void **state)
{
	struct fixture *f = *state;
	struct {
		struct zswap_stats stats;
		uint64_t later[4];
	} larger;
	struct zswap_stats all;
	int i;

	store_pages(f, at(0), 30, 0);
	all = stats_of(f->z);
	memset(&larger, 0x5a, sizeof(larger));
	larger.stats.size = sizeof(larger);
	assert_int_equal(zswap_get_stats(f->z, &larger.stats), 0);
	assert_int_equal(larger.stats.size, sizeof(larger));
	assert_memory_equal((char *)&larger.stats + 8, (char *)&all + 8,
			    sizeof(all) - 8);
	for (i = 0; i < 4; i++)
		assert_true(larger.later[i] == UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void all_fields_are_named_in_the_list_and_in_its_order(void **state)
{
	size_t offset = sizeof(size_t);

	(void)state;
#define NEXT_FIELD(name, text)                                        \
	assert_int_equal(offsetof(struct zswap_stats, name), offset); \
	assert_true(strncmp(text, "gauge, ", 7) == 0 ||               \
		    strncmp(text, "counter, ", 9) == 0);              \
	offset += sizeof(uint64_t);
	ZSWAP_STATS(NEXT_FIELD)
#undef NEXT_FIELD
	assert_int_equal(sizeof(struct zswap_stats), offset);
}

/* ---- the text ---------------------------------------------------------- */

static void the_text_says_what_the_struct_says(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	char text[8192], expected[8192];
	int len = 0;
	long result;

	store_pages(f, at(0), 30, 0);
	assert_holds_pages(f, at(0), 30, 0);
	assert_int_equal(zswap_load(f->z, at(100), f->out), -ENOENT);
	stats = stats_of(f->z);
#define EXPECT_LINE(name, text)                                         \
	len += snprintf(expected + len, sizeof(expected) - (size_t)len, \
			#name " %" PRIu64 "\n", stats.name);
	ZSWAP_STATS(EXPECT_LINE)
#undef EXPECT_LINE
	strcpy(expected + len, "compressor ");
	zswap_get_compressor(f->z, expected + strlen(expected), 100);
	strcat(expected, "\n");
	len = (int)strlen(expected);
	result = zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text, sizeof(text));
	assert_string_equal(text, expected);
	assert_int_equal(result, len);
}

static void the_text_is_cut_to_fit(void **state)
{
	struct fixture *f = *state;
	char whole[8192], *cut;
	struct guard guard;
	size_t len;
	long bytes;

	store_pages(f, at(0), 30, 0);
	bytes = zswap_format_stats(f->z, ZSWAP_STATS_TEXT, whole,
				   sizeof(whole));
	assert_true(bytes > 0 && bytes < (long)sizeof(whole));
	assert_int_equal(strlen(whole), bytes);
	assert_int_equal(zswap_format_stats(f->z, ZSWAP_STATS_TEXT, NULL, 0),
			 bytes);
	for (len = 1; len <= (size_t)bytes + 2; len++) {
		cut = guard_at_end(&guard, len);
		memset(cut, 'x', len);
		assert_int_equal(
			zswap_format_stats(f->z, ZSWAP_STATS_TEXT, cut, len),
			bytes);
		assert_non_null(memchr(cut, '\0', len));
		assert_int_equal(strlen(cut),
				 len > (size_t)bytes ? (size_t)bytes : len - 1);
		assert_memory_equal(cut, whole, strlen(cut));
		guard_free(&guard);
	}
	/* With no room at all not even the NUL is written. */
	whole[0] = 'x';
	assert_int_equal(zswap_format_stats(f->z, ZSWAP_STATS_TEXT, whole, 0),
			 bytes);
	assert_int_equal(whole[0], 'x');
}

static void a_wrong_form_or_buffer_is_einval(void **state)
{
	struct fixture *f = *state;
	char text[100] = "x";

	assert_int_equal(
		zswap_format_stats(NULL, ZSWAP_STATS_TEXT, text, sizeof(text)),
		-EINVAL);
	assert_int_equal(zswap_format_stats(f->z, ZSWAP_STATS_TEXT, NULL, 5),
			 -EINVAL);
	assert_int_equal(zswap_format_stats(f->z, (enum zswap_stats_format)1,
					    text, sizeof(text)),
			 -EINVAL);
	assert_int_equal(zswap_format_stats(f->z, (enum zswap_stats_format)999,
					    text, sizeof(text)),
			 -EINVAL);
	assert_string_equal(text, "x");
}

/* ---- what is counted --------------------------------------------------- */

static void D72_gauges_are_what_their_line_says(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint64_t i, before;

	for (i = 0; i < 10; i++) {
		store_page(f, at(i), PAGE_ZERO, i);
		store_page(f, at(100 + i), PAGE_RANDOM, i);
	}
	stats = stats_of(f->z);
	assert_int_equal(stats.compressed_bytes, 10 * f->page_size);
	for (i = 0; i < 10; i++) {
		before = stats_of(f->z).compressed_bytes;
		store_page(f, at(200 + i), PAGE_TEXT, i);
		if (has_codec(f))
			assert_int_equal(stats_of(f->z).compressed_bytes -
						 before,
					 atomic_load(&f->codec.last_length));
	}
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_pages, 30);
	assert_int_equal(stats.same_filled_pages, 10);
	assert_int_equal(stats.stored_incompressible_pages, 10);
	assert_int_equal(stats.zswpout, 30);
	assert_int_equal(stats.same_filled_stored, 10);
	assert_int_equal(stats.incompressible_stored, 10);
	assert_true(stats.compressed_bytes > 10 * f->page_size);
	assert_true(stats.compressed_bytes < 20 * f->page_size);
	assert_true(stats.pool_total_size >= stats.compressed_bytes);
}

static void D76_gauges_fall_and_counters_stay(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint64_t i;

	for (i = 0; i < 10; i++)
		store_page(f, at(i), PAGE_RANDOM, i);
	zswap_invalidate(f->z, at(0), 5);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_incompressible_pages, 5);
	assert_int_equal(stats.incompressible_stored, 10);
	store_page(f, at(5), PAGE_TEXT, 5);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_incompressible_pages, 4);
	assert_int_equal(stats.incompressible_stored, 10);
	assert_int_equal(stats.stored_pages, 5);
	assert_int_equal(stats.zswpout, 11);
}

static void D65_gauges_move_with_the_call(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint64_t i;

	for (i = 0; i < 30; i++) {
		store_page(f, at(i), kind_of(i), i);
		stats = stats_of(f->z);
		assert_int_equal(stats.stored_pages, i + 1);
		assert_true(stats.pool_total_size >= stats.compressed_bytes);
	}
	for (i = 30; i-- > 0;) {
		if (i % 2)
			zswap_invalidate(f->z, at(i), 1);
		else
			assert_int_equal(zswap_load(f->z, at(i), f->out), 0);
		assert_int_equal(stats_of(f->z).stored_pages, i);
	}
	assert_empty(f->z);
}

static void D75_pages_asked_for_are_delivered_or_missed_or_failed(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(20 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(505), 20, data);
	struct zswap_stats stats;

	assert_non_null(data);
	store_pages(f, at(505), 20, 0);
	assert_holds(f, at(505), kind_of(0), 0);
	assert_int_equal(zswap_load(f->z, at(506), f->out), 0);
	assert_int_equal(zswap_load(f->z, at(506), f->out), -ENOENT);
	assert_int_equal(zswap_peek(f->z, at(506), f->out), -ENOENT);
	stats = stats_of(f->z);
	assert_int_equal(stats.zswpin, 2);
	assert_int_equal(stats.load_misses, 2);
	assert_int_equal(zswap_load_folio(f->z, &folio,
					  ZSWAP_LOAD_PARTIAL | ZSWAP_LOAD_KEEP),
			 19);
	stats = stats_of(f->z);
	assert_int_equal(stats.zswpin, 2 + 19);
	assert_int_equal(stats.load_misses, 2 + 1);
	/* A call that delivers nothing has delivered nothing. */
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -EBUSY);
	stats = stats_of(f->z);
	assert_int_equal(stats.zswpin, 2 + 19);
	assert_int_equal(stats.load_misses, 2 + 1 + 1);
	zswap_invalidate(f->z, at(0), AREA_SLOTS);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -ENOENT);
	assert_int_equal(stats_of(f->z).load_misses, 2 + 1 + 1 + 20);
	assert_int_equal(stats_of(f->z).decompress_fail, 0);
	free(data);
}

static void questions_are_not_counted(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before = stats_of(f->z), after;
	zswap_slot_t slot = at(0);

	zswap_query(f->z, at(3));
	zswap_is_present(f->z, at(0), 100);
	zswap_next_present(f->z, &slot);
	zswap_invalidate(f->z, at(0), 100);
	stats_of(f->z);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
}

static void refused_folios_are_counted_once_each(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(20 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(505), 20, data);
	struct zswap_stats stats;

	assert_non_null(data);
	make_pages(f, data, 20, 0);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_int_equal(zswap_store_folio(f->z, &folio), -EPERM);
	assert_int_equal(zswap_store(f->z, at(0), data), -EPERM);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_disabled, 2);
	assert_int_equal(stats.zswpout, 0);
	assert_int_equal(stats.reject_alloc_fail, 0);
	assert_int_equal(stats.reject_kmemcache_fail, 0);
	free(data);
}

static void no_counter_falls_when_an_area_goes(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;

	assert_int_equal(zswap_swapon(f->z, 2, 1000), 0);
	store_pages(f, zswap_slot(2, 0), 30, 0);
	assert_holds_pages(f, zswap_slot(2, 0), 30, 0);
	before = stats_of(f->z);
	assert_int_equal(zswap_swapoff(f->z, 2), 0);
	after = stats_of(f->z);
	assert_int_equal(after.zswpout, before.zswpout);
	assert_int_equal(after.zswpin, before.zswpin);
	assert_int_equal(after.same_filled_stored, before.same_filled_stored);
	assert_empty(f->z);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(statistics_of_a_new_cache_are_zero_but_for_the_fixed_ones),
		CASE(null_or_too_small_statistics_are_einval),
		CASE(fields_that_lie_within_the_size_are_filled),
		CASE(a_larger_struct_than_known_is_fine),
		BARE_CASE(all_fields_are_named_in_the_list_and_in_its_order),
		CASE(the_text_says_what_the_struct_says),
		CASE(the_text_is_cut_to_fit),
		CASE(a_wrong_form_or_buffer_is_einval),
		CASE(D72_gauges_are_what_their_line_says),
		CASE(D76_gauges_fall_and_counters_stay),
		CASE(D65_gauges_move_with_the_call),
		CASE(D75_pages_asked_for_are_delivered_or_missed_or_failed),
		CASE(questions_are_not_counted),
		CASE(refused_folios_are_counted_once_each),
		CASE(no_counter_falls_when_an_area_goes),
	};

	return run_all_variants("stats", cases,
				sizeof(cases) / sizeof(cases[0]));
}
