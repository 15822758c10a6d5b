// SPDX-License-Identifier: MIT
/*
 * test_stats.c - counters add up over threads; the text is exact and cut to fit
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"
#include "threads.h"

static struct stats *stats_new(struct unit *u)
{
	struct stats *stats = mem_zalloc(&u->mem, sizeof(*stats), CACHE_LINE);

	assert_non_null(stats);
	stats_init(stats, &u->mem);
	return stats;
}

static void stats_end(struct unit *u, struct stats *stats)
{
	mem_free(&u->mem, stats, sizeof(*stats), CACHE_LINE);
}

static void each_counter_counts_for_itself(void **state)
{
	struct unit *u = *state;
	struct stats *stats = stats_new(u);

	for (int i = 0; i < NR_STATS; i++)
		for (int n = 0; n <= i; n++)
			stats_add(stats, (enum stat)i, 3);
	stats_add(stats, STAT_ZSWPIN, 0);
	for (int i = 0; i < NR_STATS; i++)
		assert_int_equal(stats_sum(stats, (enum stat)i), 3 * (i + 1));
	stats_end(u, stats);
}

static void counters_are_wider_than_32_bits(void **state)
{
	struct unit *u = *state;
	struct stats *stats = stats_new(u);

	stats_add(stats, STAT_ZSWPOUT, UINT32_MAX);
	stats_add(stats, STAT_ZSWPOUT, UINT32_MAX);
	assert_int_equal(stats_sum(stats, STAT_ZSWPOUT),
			 UINT64_C(2) * UINT32_MAX);
	stats_end(u, stats);
}

static void add_many(unsigned index, void *arg)
{
	for (int i = 0; i < 10000; i++) {
		stats_add(arg, STAT_ZSWPOUT, 1);
		stats_add(arg, STAT_LOAD_MISSES, index);
	}
}

static void D75_sums_are_exact_once_threads_have_ended(void **state)
{
	struct unit *u = *state;
	struct stats *stats = stats_new(u);

	/* More threads than there can be shards. */
	run_threads(MAX_SHARDS + 4, add_many, stats);
	assert_int_equal(stats_sum(stats, STAT_ZSWPOUT),
			 (MAX_SHARDS + 4) * 10000);
	assert_int_equal(stats_sum(stats, STAT_LOAD_MISSES),
			 (MAX_SHARDS + 4) * (MAX_SHARDS + 3) / 2 * 10000);
	stats_end(u, stats);
}

/* ---- text ---------------------------------------------------------------- */

/* Every field another number, one of each length. */
static struct zswap_stats numbered(void)
{
	struct zswap_stats stats = { .size = sizeof(stats) };
	uint64_t n = 0;

#define SET_FIELD(name, text) \
	stats.name = n;       \
	n = n < UINT64_MAX / 10 ? n * 10 + 7 : UINT64_MAX;
	ZSWAP_STATS(SET_FIELD)
#undef SET_FIELD
	return stats;
}

static size_t expected_text(const struct zswap_stats *stats, char *buf,
			    size_t len)
{
	size_t at = 0;

#define PRINT_FIELD(name, text)                                        \
	at += (size_t)snprintf(buf + at, len - at, "%s %llu\n", #name, \
			       (unsigned long long)stats->name);
	ZSWAP_STATS(PRINT_FIELD)
#undef PRINT_FIELD
	return at;
}

static void the_text_has_a_line_for_each_field(void **state)
{
	struct zswap_stats stats = numbered();
	char expected[4096], text[4096];
	size_t len = expected_text(&stats, expected, sizeof(expected));

	(void)state;
	assert_int_equal(stats_format_text(&stats, text, sizeof(text)), len);
	assert_string_equal(text, expected);
	stats.stored_pages = UINT64_MAX;
	stats.metadata_bytes = UINT64_MAX;
	len = expected_text(&stats, expected, sizeof(expected));
	assert_int_equal(stats_format_text(&stats, text, sizeof(text)), len);
	assert_string_equal(text, expected);
}

static void the_text_is_cut_to_every_length(void **state)
{
	struct zswap_stats stats = numbered();
	char expected[4096], text[4096];
	size_t full = expected_text(&stats, expected, sizeof(expected));

	(void)state;
	assert_int_equal(stats_format_text(&stats, NULL, 0), full);
	for (size_t len = 1; len <= full + 2; len++) {
		size_t kept = len - 1 < full ? len - 1 : full;

		memset(text, '#', sizeof(text));
		assert_int_equal(stats_format_text(&stats, text, len), full);
		assert_memory_equal(text, expected, kept);
		assert_int_equal(text[kept], '\0');
		assert_int_equal(text[kept + 1], '#');
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(each_counter_counts_for_itself),
		unit_case(counters_are_wider_than_32_bits),
		unit_case(D75_sums_are_exact_once_threads_have_ended),
		cmocka_unit_test(the_text_has_a_line_for_each_field),
		cmocka_unit_test(the_text_is_cut_to_every_length),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
