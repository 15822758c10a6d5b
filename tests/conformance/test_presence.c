// SPDX-License-Identifier: MIT
/*
 * test_presence.c - zswap_invalidate(), zswap_is_present(), zswap_query() and
 * zswap_next_present()
 */
#include "fixture.h"

#include <stdlib.h>

#include "check.h"

/* Generous: hours would be needed to look at each of 2^48 slots. */
#define NEXT_TO_NOTHING_NS UINT64_C(1000000000)

/* ---- invalidate -------------------------------------------------------- */

static void invalidate_forgets_the_pages_named_and_no_other(void **state)
{
	static const struct {
		uint64_t first, nr;
	} ranges[] = { { 505, 1 }, { 511, 1 }, { 512, 1 },
		       { 510, 3 }, { 500, 5 }, { 500, 40 } };
	struct fixture *f = *state;
	uint64_t i;
	int r;

	for (r = 0; r < 6; r++) {
		store_pages(f, at(500), 40, 1);
		zswap_invalidate(f->z, at(ranges[r].first), ranges[r].nr);
		for (i = 0; i < 40; i++)
			if (500 + i >= ranges[r].first &&
			    500 + i < ranges[r].first + ranges[r].nr)
				assert_absent(f, at(500 + i), 1);
			else
				assert_holds(f, at(500 + i), kind_of(1 + i),
					     1 + i);
	}
}

static void invalidate_of_no_slots_forgets_nothing(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(0), 5, 1);
	zswap_invalidate(f->z, at(0), 0);
	zswap_invalidate(f->z, at(4), 0);
	assert_holds_pages(f, at(0), 5, 1);
}

static void invalidate_is_idempotent(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats once, thrice;

	store_pages(f, at(0), 5, 1);
	zswap_invalidate(f->z, at(1), 2);
	once = stats_of(f->z);
	zswap_invalidate(f->z, at(1), 2);
	zswap_invalidate(f->z, at(1), 2);
	thrice = stats_of(f->z);
	assert_same_stats(&once, &thrice);
	assert_int_equal(once.stored_pages, 3);
}

static void D14_invalidate_passes_over_slots_outside_the_area(void **state)
{
	static const uint64_t lengths[] = { 101,
					    AREA_SLOTS,
					    ZSWAP_MAX_SLOTS,
					    ZSWAP_MAX_SLOTS + 1,
					    UINT64_C(1) << 49,
					    INT64_MAX,
					    UINT64_MAX - 1,
					    UINT64_MAX };
	struct fixture *f = *state;
	int i;

	assert_int_equal(zswap_swapon(f->z, 1, AREA_SLOTS), 0);
	store_pages(f, zswap_slot(1, 0), 5, 1);
	for (i = 0; i < 8; i++) {
		store_pages(f, at(AREA_SLOTS - 200), 200, 1);
		zswap_invalidate(f->z, at(AREA_SLOTS - 100), lengths[i]);
		assert_absent(f, at(AREA_SLOTS - 100), 100);
		assert_holds_pages(f, at(AREA_SLOTS - 200), 100, 1);
		assert_int_equal(stats_of(f->z).stored_pages, 105);
		/* It began outside: nothing in it lies in the area. */
		zswap_invalidate(f->z, at(AREA_SLOTS), lengths[i]);
		zswap_invalidate(f->z, at(ZSWAP_MAX_SLOTS - 1), lengths[i]);
		zswap_invalidate(f->z, zswap_slot(9, 0), lengths[i]);
		zswap_invalidate(f->z, zswap_slot(65535, 5), lengths[i]);
		zswap_invalidate(f->z, zswap_slot(65536, 0), lengths[i]);
		assert_int_equal(stats_of(f->z).stored_pages, 105);
	}
	assert_holds_pages(f, zswap_slot(1, 0), 5, 1);
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
}

static void D33_invalidate_takes_no_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t takes, i;

	store_pages(f, at(300), 400, 0);
	takes = faulty_takes(&f->hooks);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	for (i = 0; i < 200; i += 2)
		zswap_invalidate(f->z, at(300 + i), 1);
	zswap_invalidate(f->z, at(0), AREA_SLOTS);
	assert_int_equal(faulty_takes(&f->hooks), takes);
	assert_empty(f->z);
}

static void invalidate_gives_memory_of_pages_back_at_once(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(0), 300, 0);
	assert_true(stats_of(f->z).pool_total_size > 0);
	zswap_invalidate(f->z, at(0), 300);
	assert_int_equal(stats_of(f->z).pool_total_size, 0);
	assert_int_equal(stats_of(f->z).reserve_bytes, 0);
}

static void long_ranges_of_absent_slots_cost_next_to_nothing(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t first = zswap_slot(1, 0), next = zswap_slot(1, 1);
	zswap_slot_t last = zswap_slot(1, ZSWAP_MAX_SLOTS - 1);
	uint64_t start;

	assert_int_equal(zswap_swapon(f->z, 1, ZSWAP_MAX_SLOTS), 0);
	start = now_ns();
	zswap_invalidate(f->z, first, ZSWAP_MAX_SLOTS);
	assert_false(zswap_is_present(f->z, first, ZSWAP_MAX_SLOTS));
	store_page(f, first, PAGE_TEXT, 1);
	store_page(f, last, PAGE_TEXT, 2);
	assert_true(zswap_is_present(f->z, next, ZSWAP_MAX_SLOTS));
	assert_true(zswap_next_present(f->z, &next));
	assert_true(next.val == last.val);
	zswap_invalidate(f->z, zswap_slot(1, 1), ZSWAP_MAX_SLOTS - 2);
	assert_int_equal(stats_of(f->z).stored_pages, 2);
	zswap_invalidate(f->z, first, ZSWAP_MAX_SLOTS);
	assert_int_equal(stats_of(f->z).stored_pages, 0);
	assert_true(now_ns() - start < NEXT_TO_NOTHING_NS);
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
}

/* ---- is_present -------------------------------------------------------- */

static void is_present_tells_whether_any_slot_holds_a_page(void **state)
{
	struct fixture *f = *state;
	uint64_t kind;

	for (kind = 0; kind < PAGE_KINDS; kind++) {
		store_page(f, at(700), kind_of(kind), 1);
		assert_true(zswap_is_present(f->z, at(700), 1));
		assert_true(zswap_is_present(f->z, at(0), 701));
		assert_true(zswap_is_present(f->z, at(700), AREA_SLOTS));
		assert_true(zswap_is_present(f->z, at(600), 1000));
		assert_false(zswap_is_present(f->z, at(0), 700));
		assert_false(zswap_is_present(f->z, at(701), AREA_SLOTS));
		assert_false(zswap_is_present(f->z, at(700), 0));
		zswap_invalidate(f->z, at(700), 1);
		assert_false(zswap_is_present(f->z, at(700), 1));
	}
}

static void D14_is_present_is_false_for_slots_that_do_not_exist(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(zswap_swapon(f->z, 1, 10), 0);
	store_page(f, zswap_slot(1, 0), PAGE_TEXT, 1);
	store_page(f, at(AREA_SLOTS - 1), PAGE_TEXT, 1);
	assert_true(zswap_is_present(f->z, at(AREA_SLOTS - 1), UINT64_MAX));
	assert_false(zswap_is_present(f->z, at(AREA_SLOTS), UINT64_MAX));
	assert_false(zswap_is_present(f->z, at(ZSWAP_MAX_SLOTS - 1), 2));
	assert_false(
		zswap_is_present(f->z, at(ZSWAP_MAX_SLOTS - 1), UINT64_MAX));
	assert_false(zswap_is_present(f->z, zswap_slot(2, 0), UINT64_MAX));
	assert_false(zswap_is_present(f->z, zswap_slot(1, 10), UINT64_MAX));
	assert_false(zswap_is_present(f->z, zswap_slot(65536, 0), UINT64_MAX));
	zswap_invalidate(f->z, at(AREA_SLOTS - 1), 1);
	/* The page of the next area is not one of this. */
	assert_false(zswap_is_present(f->z, at(0), UINT64_MAX));
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
}

/* ---- query ------------------------------------------------------------- */

static void query_says_what_a_slot_holds(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	store_pages(f, at(500), 30, 0);
	for (i = 0; i < 30; i++)
		assert_int_equal(zswap_query(f->z, at(500 + i)),
				 expected_state(kind_of(i)));
	assert_int_equal(zswap_query(f->z, at(499)), ZSWAP_ABSENT);
	assert_int_equal(zswap_query(f->z, at(530)), ZSWAP_ABSENT);
	assert_int_equal(zswap_query(f->z, at(AREA_SLOTS)), -ENXIO);
}

static void queries_make_no_hook_call_and_count_nothing(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;
	zswap_slot_t slot = at(0);
	uint64_t calls, i;

	store_pages(f, at(500), 30, 0);
	before = stats_of(f->z);
	calls = faulty_calls(&f->hooks);
	for (i = 490; i < 540; i++) {
		zswap_query(f->z, at(i));
		zswap_is_present(f->z, at(i), 10);
		zswap_next_present(f->z, &slot);
	}
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_int_equal(faulty_calls(&f->hooks), calls);
}

/* ---- next_present ------------------------------------------------------ */

static void a_walk_meets_every_page_in_order(void **state)
{
	static const uint64_t offsets[] = { 0,      1,      511,
					    512,    513,    5000,
					    131071, 131072, AREA_SLOTS - 1 };
	struct fixture *f = *state;
	zswap_slot_t slot = at(0);
	int met = 0, i;

	assert_int_equal(zswap_swapon(f->z, 1, AREA_SLOTS), 0);
	store_page(f, zswap_slot(1, 0), PAGE_TEXT, 1);
	for (i = 8; i >= 0; i--)
		store_page(f, at(offsets[i]), kind_of((uint64_t)i), 1);
	for (; zswap_next_present(f->z, &slot) && zswap_slot_type(slot) == 0;
	     slot.val++)
		assert_int_equal(zswap_slot_offset(slot), offsets[met++]);
	assert_int_equal(met, 9);
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
}

static void next_present_begins_with_its_own_slot(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t slot = at(77);

	store_page(f, at(77), PAGE_TEXT, 1);
	store_page(f, at(78), PAGE_TEXT, 1);
	assert_true(zswap_next_present(f->z, &slot));
	assert_int_equal(slot.val, 77);
	slot = at(0);
	assert_true(zswap_next_present(f->z, &slot));
	assert_int_equal(slot.val, 77);
}

static void without_a_next_page_the_slot_is_left_alone(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t slot = at(78);

	store_page(f, at(77), PAGE_TEXT, 1);
	assert_false(zswap_next_present(f->z, &slot));
	assert_int_equal(slot.val, 78);
	slot = at(AREA_SLOTS);
	assert_false(zswap_next_present(f->z, &slot));
	assert_int_equal(slot.val, AREA_SLOTS);
	slot = zswap_slot(7, 0);
	assert_false(zswap_next_present(f->z, &slot));
	assert_true(slot.val == zswap_slot(7, 0).val);
	slot.val = ZSWAP_SLOT_NONE;
	assert_false(zswap_next_present(f->z, &slot));
	assert_true(slot.val == ZSWAP_SLOT_NONE);
}

static void a_walk_does_not_leave_its_area(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t slot = at(5);

	/* "find the next slot of an area": the one @slot lies in. */
	assert_int_equal(zswap_swapon(f->z, 1, 10), 0);
	store_page(f, zswap_slot(1, 0), PAGE_TEXT, 1);
	assert_false(zswap_next_present(f->z, &slot));
	assert_int_equal(slot.val, 5);
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
}

static void a_walk_ends_after_the_last_slot_of_a_full_sized_area(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t slot = zswap_slot(3, 0);
	int met = 0;

	/* Its last slot's successor in numbers belongs to area 4. */
	assert_int_equal(zswap_swapon(f->z, 3, ZSWAP_MAX_SLOTS), 0);
	assert_int_equal(zswap_swapon(f->z, 4, 10), 0);
	store_page(f, zswap_slot(3, ZSWAP_MAX_SLOTS - 1), PAGE_TEXT, 1);
	store_page(f, zswap_slot(4, 0), PAGE_TEXT, 1);
	for (; zswap_next_present(f->z, &slot) && zswap_slot_type(slot) == 3;
	     slot.val++)
		met++;
	assert_int_equal(met, 1);
	assert_int_equal(zswap_swapoff(f->z, 3), 0);
	assert_int_equal(zswap_swapoff(f->z, 4), 0);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(invalidate_forgets_the_pages_named_and_no_other),
		CASE(invalidate_of_no_slots_forgets_nothing),
		CASE(invalidate_is_idempotent),
		CASE(D14_invalidate_passes_over_slots_outside_the_area),
		CASE(D33_invalidate_takes_no_memory),
		CASE(invalidate_gives_memory_of_pages_back_at_once),
		CASE(long_ranges_of_absent_slots_cost_next_to_nothing),
		CASE(is_present_tells_whether_any_slot_holds_a_page),
		CASE(D14_is_present_is_false_for_slots_that_do_not_exist),
		CASE(query_says_what_a_slot_holds),
		CASE(queries_make_no_hook_call_and_count_nothing),
		CASE(a_walk_meets_every_page_in_order),
		CASE(next_present_begins_with_its_own_slot),
		CASE(without_a_next_page_the_slot_is_left_alone),
		CASE(a_walk_does_not_leave_its_area),
		CASE(a_walk_ends_after_the_last_slot_of_a_full_sized_area),
	};

	return run_all_variants("presence", cases,
				sizeof(cases) / sizeof(cases[0]));
}
