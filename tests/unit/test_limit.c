// SPDX-License-Identifier: MIT
/*
 * test_limit.c - when the cache is full, by the examples of the specification
 *
 * What is held is written straight into the sum, as if spans had done so.
 */
#include "unit.h"

#include "limit.h"

#define PAGE 4096u

static void hold_pages(struct unit *u, uint64_t used, uint64_t reserve)
{
	atomic_store(&u->mem.held, used << 32 | reserve);
}

/* The answer with this many pages held; the reserve is a part of them. */
static enum limit_answer answer_at(struct unit *u, struct limit *limit,
				   uint64_t pages)
{
	hold_pages(u, pages - pages / 40, pages / 40);
	assert_true(limit_held_bytes(limit) == pages * PAGE);
	return limit_check(limit);
}

static void D24_totals_go_through_the_hysteresis(void **state)
{
	static const unsigned totals[] = { 199, 200, 199, 181,
					   180, 199, 200, 180 };
	static const enum limit_answer answers[] = {
		LIMIT_ACCEPTS,    LIMIT_REACHED, LIMIT_STILL_FULL,
		LIMIT_STILL_FULL, LIMIT_ACCEPTS, LIMIT_ACCEPTS,
		LIMIT_REACHED,    LIMIT_ACCEPTS,
	};
	struct unit *u = *state;
	struct limit limit = { 0 };

	limit_init(&limit, &u->mem, PAGE);
	limit_set_percent(&limit, 20, 1000 * PAGE);
	for (unsigned i = 0; i < ARRAY_SIZE(totals); i++)
		assert_int_equal(answer_at(u, &limit, totals[i]), answers[i]);
}

/* Pages of RAM, percent, and the limit and threshold (90 %) they give. */
static void D74_a_percentage_is_rounded_down_to_pages(void **state)
{
	static const uint64_t rows[][4] = {
		{ 1000, 20, 200, 180 },
		{ 1003, 20, 200, 180 },
		{ 33, 20, 6, 5 },
		{ 262144, 20, 52428, 47185 },
		{ 1000, 0, 0, 0 },
		{ 1000, 100, 1000, 900 },
		{ UINT64_C(1) << 50, 100, UINT64_C(1) << 50,
		  (UINT64_C(1) << 50) * 9 / 10 },
	};
	struct unit *u = *state;
	struct limit limit = { 0 };

	limit_init(&limit, &u->mem, PAGE);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct limit_values values;

		limit_set_percent(&limit, (unsigned)rows[i][1],
				  rows[i][0] * PAGE);
		values = limit_values(&limit);
		assert_true(values.max_bytes == rows[i][2] * PAGE);
		assert_true(values.threshold_bytes / PAGE == rows[i][3]);
	}
}

static void
D24_a_threshold_of_100_percent_takes_the_hysteresis_away(void **state)
{
	struct unit *u = *state;
	struct limit limit = { 0 };

	limit_init(&limit, &u->mem, PAGE);
	limit_set_bytes(&limit, 100 * PAGE);
	limit_set_threshold(&limit, 100);
	assert_int_equal(answer_at(u, &limit, 100), LIMIT_REACHED);
	assert_int_equal(answer_at(u, &limit, 99), LIMIT_ACCEPTS);
}

static void a_threshold_of_0_percent_waits_for_an_empty_pool(void **state)
{
	struct unit *u = *state;
	struct limit limit = { 0 };

	limit_init(&limit, &u->mem, PAGE);
	limit_set_threshold(&limit, 0);
	limit_set_bytes(&limit, 100 * PAGE);
	assert_int_equal(answer_at(u, &limit, 100), LIMIT_REACHED);
	assert_int_equal(answer_at(u, &limit, 1), LIMIT_STILL_FULL);
	assert_int_equal(answer_at(u, &limit, 0), LIMIT_ACCEPTS);
}

static void D20_limits_of_nothing_and_of_a_part_of_a_page(void **state)
{
	struct unit *u = *state;
	struct limit limit = { 0 };

	limit_init(&limit, &u->mem, PAGE);
	limit_set_bytes(&limit, 0);
	assert_true(limit_is_zero(&limit));
	assert_int_equal(answer_at(u, &limit, 0), LIMIT_REACHED);
	for (uint64_t bytes = 1; bytes <= PAGE; bytes += PAGE - 2) {
		limit_set_bytes(&limit, bytes);
		assert_false(limit_is_zero(&limit));
		assert_int_equal(answer_at(u, &limit, 0), LIMIT_ACCEPTS);
		assert_int_equal(answer_at(u, &limit, 1), LIMIT_REACHED);
		assert_int_equal(answer_at(u, &limit, 0), LIMIT_ACCEPTS);
	}
}

static void D68_a_new_limit_counts_at_once(void **state)
{
	struct unit *u = *state;
	struct limit limit = { 0 };

	limit_init(&limit, &u->mem, PAGE);
	limit_set_bytes(&limit, 1000 * PAGE);
	assert_int_equal(answer_at(u, &limit, 800), LIMIT_ACCEPTS);
	limit_set_bytes(&limit, 500 * PAGE);
	assert_int_equal(answer_at(u, &limit, 800), LIMIT_REACHED);
	assert_int_equal(answer_at(u, &limit, 451), LIMIT_STILL_FULL);
	assert_int_equal(answer_at(u, &limit, 450), LIMIT_ACCEPTS);
	assert_int_equal(answer_at(u, &limit, 800), LIMIT_REACHED);
	limit_set_bytes(&limit, 2000 * PAGE);
	assert_int_equal(answer_at(u, &limit, 800), LIMIT_ACCEPTS);
}

static void without_a_limit_nothing_is_full(void **state)
{
	struct unit *u = *state;
	struct limit limit = { 0 };
	struct limit_values values;

	limit_init(&limit, &u->mem, PAGE);
	values = limit_values(&limit);
	assert_true(values.max_bytes == ZSWAP_UNLIMITED);
	assert_true(values.threshold_bytes == ZSWAP_UNLIMITED);
	assert_int_equal(answer_at(u, &limit, UINT32_MAX - 1), LIMIT_ACCEPTS);
	limit_was_reached(&limit);
	assert_int_equal(answer_at(u, &limit, 5), LIMIT_ACCEPTS);
}

static void percentages_of_large_numbers_do_not_overflow(void **state)
{
	(void)state;
	assert_true(percent_of(UINT64_MAX, 100) == UINT64_MAX);
	assert_true(percent_of(UINT64_MAX, 50) == UINT64_MAX / 2);
	assert_true(percent_of(199, 50) == 99);
	assert_true(percent_of(0, 100) == 0);
	assert_true(percent_of(12345, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(D24_totals_go_through_the_hysteresis),
		unit_case(D74_a_percentage_is_rounded_down_to_pages),
		unit_case(
			D24_a_threshold_of_100_percent_takes_the_hysteresis_away),
		unit_case(a_threshold_of_0_percent_waits_for_an_empty_pool),
		unit_case(D20_limits_of_nothing_and_of_a_part_of_a_page),
		unit_case(D68_a_new_limit_counts_at_once),
		unit_case(without_a_limit_nothing_is_full),
		cmocka_unit_test(percentages_of_large_numbers_do_not_overflow),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
