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

/* ---- the public counters ------------------------------------------------- */

static void a_folio_counts_under_the_next_power_of_two(void **state)
{
	(void)state;
	assert_int_equal(stats_size(1), 0);
	assert_int_equal(stats_size(2), 1);
	assert_int_equal(stats_size(3), 2);
	assert_int_equal(stats_size(4), 2);
	assert_int_equal(stats_size(5), 3);
	assert_int_equal(stats_size(256), 8);
	assert_int_equal(stats_size(257), 9);
	assert_int_equal(stats_size(512), 9);
}

/* Each counter gets a number of its own, so that none can stand for another. */
static void each_field_shows_its_own_counter(void **state)
{
	struct unit *u = *state;
	struct stats *stats = stats_new(u);
	struct zswap_stats out = { .size = sizeof(out) };

	for (int i = 0; i < NR_STATS; i++)
		stats_add(stats, (enum stat)i, UINT64_C(1) << i);
	stats_read_counters(stats, &out);
	assert_true(out.zswpin == UINT64_C(1) << STAT_ZSWPIN);
	assert_true(out.loads ==
		    out.zswpin + out.load_misses + out.load_errors);
	assert_true(out.load_errors == UINT64_C(1) << STAT_LOAD_ERRORS);
	assert_true(out.reject_limit == UINT64_C(1) << STAT_REJECT_LIMIT);
	assert_true(out.reject_compress_poor ==
		    UINT64_C(1) << STAT_REJECT_COMPRESS_POOR);
	assert_true(out.reject_compress_fail ==
		    UINT64_C(1) << STAT_REJECT_COMPRESS_FAIL);
	assert_true(out.reject_no_context == UINT64_C(1)
						     << STAT_REJECT_NO_CONTEXT);
	assert_true(out.pool_limit_hit == UINT64_C(1) << STAT_POOL_LIMIT_HIT);
	assert_true(out.stored_folios_1 == UINT64_C(1) << STAT_STORED_FOLIOS);
	assert_true(out.stored_folios_512 ==
		    UINT64_C(1) << (STAT_STORED_FOLIOS + 9));
	assert_true(out.refused_folios_1 == UINT64_C(1) << STAT_REFUSED_FOLIOS);
	assert_true(out.refused_folios_512 ==
		    UINT64_C(1) << (STAT_REFUSED_FOLIOS + 9));
	assert_true(out.stored_folios == UINT64_C(1023) << STAT_STORED_FOLIOS);
	assert_true(out.stores == out.stored_folios + out.refused_folios);
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
	at += (size_t)snprintf(buf + at, len - at, "compressor zstd:level=3\n");
	return at;
}

static long format(const struct zswap_stats *stats, char *buf, size_t len)
{
	return stats_format_text(stats, "zstd:level=3", buf, len);
}

static void the_text_has_a_line_for_each_field(void **state)
{
	struct zswap_stats stats = numbered();
	char expected[4096], text[4096];
	size_t len = expected_text(&stats, expected, sizeof(expected));

	(void)state;
	assert_int_equal(format(&stats, text, sizeof(text)), len);
	assert_string_equal(text, expected);
	stats.stored_pages = UINT64_MAX;
	stats.metadata_bytes = UINT64_MAX;
	len = expected_text(&stats, expected, sizeof(expected));
	assert_int_equal(format(&stats, text, sizeof(text)), len);
	assert_string_equal(text, expected);
}

static void the_text_is_cut_to_every_length(void **state)
{
	struct zswap_stats stats = numbered();
	char expected[4096], text[4096];
	size_t full = expected_text(&stats, expected, sizeof(expected));

	(void)state;
	assert_int_equal(format(&stats, NULL, 0), full);
	for (size_t len = 1; len <= full + 2; len++) {
		size_t kept = len - 1 < full ? len - 1 : full;

		memset(text, '#', sizeof(text));
		assert_int_equal(format(&stats, text, len), full);
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
		cmocka_unit_test(a_folio_counts_under_the_next_power_of_two),
		unit_case(each_field_shows_its_own_counter),
		cmocka_unit_test(the_text_has_a_line_for_each_field),
		cmocka_unit_test(the_text_is_cut_to_every_length),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
