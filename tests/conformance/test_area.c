// SPDX-License-Identifier: MIT
/*
 * test_area.c - zswap_swapon() and zswap_swapoff()
 */
#include "fixture.h"

#include <limits.h>

/* ---- areas ------------------------------------------------------------- */

static void swapon_refuses_types_and_sizes_out_of_range(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(zswap_swapon(NULL, 1, 1), -EINVAL);
	assert_int_equal(zswap_swapon(f->z, 1, 0), -EINVAL);
	assert_int_equal(zswap_swapon(f->z, 1, ZSWAP_MAX_SLOTS + 1), -EINVAL);
	assert_int_equal(zswap_swapon(f->z, 1, UINT64_MAX), -EINVAL);
	assert_int_equal(zswap_swapon(f->z, ZSWAP_MAX_TYPES, 1), -EINVAL);
	assert_int_equal(zswap_swapon(f->z, UINT_MAX, 1), -EINVAL);
	assert_int_equal(zswap_query(f->z, zswap_slot(1, 0)), -ENXIO);
}

static void swapon_takes_one_slot_and_2_to_the_48(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(zswap_swapon(f->z, 1, 1), 0);
	assert_int_equal(zswap_query(f->z, zswap_slot(1, 0)), ZSWAP_ABSENT);
	assert_int_equal(zswap_query(f->z, zswap_slot(1, 1)), -ENXIO);
	assert_int_equal(zswap_swapon(f->z, 2, ZSWAP_MAX_SLOTS), 0);
	assert_int_equal(zswap_query(f->z, zswap_slot(2, ZSWAP_MAX_SLOTS - 1)),
			 ZSWAP_ABSENT);
}

static void area_65535_may_have_one_slot_less(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t last = zswap_slot(65535, ZSWAP_MAX_SLOTS - 2);

	assert_int_equal(zswap_swapon(f->z, 65535, ZSWAP_MAX_SLOTS), -EINVAL);
	assert_int_equal(zswap_swapon(f->z, 65535, ZSWAP_MAX_SLOTS - 1), 0);
	store_page(f, last, PAGE_TEXT, 1);
	assert_holds(f, last, PAGE_TEXT, 1);
	last.val = ZSWAP_SLOT_NONE;
	assert_int_equal(zswap_query(f->z, last), -ENXIO);
	assert_int_equal(zswap_store(f->z, last, f->page), -ENXIO);
	assert_int_equal(zswap_swapoff(f->z, 65535), 0);
}

static void swapon_of_an_area_that_exists_leaves_it_alone(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;

	store_page(f, at(7), PAGE_TEXT, 1);
	before = stats_of(f->z);
	assert_int_equal(zswap_swapon(f->z, 0, 5), -EEXIST);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), -EEXIST);
	assert_int_equal(zswap_swapon(f->z, 0, 2 * AREA_SLOTS), -EEXIST);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_holds(f, at(7), PAGE_TEXT, 1);
	assert_int_equal(zswap_query(f->z, at(AREA_SLOTS)), -ENXIO);
}

static void all_slots_of_a_new_area_are_absent(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t slot = at(0);

	assert_absent(f, at(0), 100);
	assert_absent(f, at(AREA_SLOTS - 100), 100);
	assert_false(zswap_is_present(f->z, at(0), AREA_SLOTS));
	assert_false(zswap_next_present(f->z, &slot));
}

static void swapoff_of_no_area_is_enxio(void **state)
{
	struct fixture *f = *state;

	store_page(f, at(7), PAGE_TEXT, 1);
	assert_int_equal(zswap_swapoff(NULL, 0), -EINVAL);
	assert_int_equal(zswap_swapoff(f->z, 1), -ENXIO);
	assert_int_equal(zswap_swapoff(f->z, 65535), -ENXIO);
	assert_int_equal(zswap_swapoff(f->z, ZSWAP_MAX_TYPES), -ENXIO);
	assert_int_equal(zswap_swapoff(f->z, UINT_MAX), -ENXIO);
	assert_holds(f, at(7), PAGE_TEXT, 1);
}

static void swapoff_drops_every_page_of_its_area_only(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(zswap_swapon(f->z, 1, AREA_SLOTS), 0);
	store_pages(f, at(500), 40, 1);
	store_pages(f, zswap_slot(1, 500), 40, 2);
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
	assert_int_equal(stats_of(f->z).stored_pages, 40);
	assert_holds_pages(f, at(500), 40, 1);
	assert_int_equal(zswap_swapoff(f->z, 1), -ENXIO);
}

static void after_swapoff_there_is_no_such_area(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t slot = zswap_slot(1, 0);

	assert_int_equal(zswap_swapon(f->z, 1, 10), 0);
	store_page(f, slot, PAGE_TEXT, 1);
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
	assert_int_equal(zswap_store(f->z, slot, f->page), -ENXIO);
	assert_int_equal(zswap_load(f->z, slot, f->out), -ENXIO);
	assert_int_equal(zswap_peek(f->z, slot, f->out), -ENXIO);
	assert_int_equal(zswap_query(f->z, slot), -ENXIO);
	assert_false(zswap_is_present(f->z, slot, 1));
	assert_false(zswap_next_present(f->z, &slot));
	zswap_invalidate(f->z, slot, 1);
}

static void D09_an_area_made_anew_is_empty_and_nothing_grows(void **state)
{
	struct fixture *f = *state;
	const uint32_t nr = 256;
	struct zswap_stats first = { 0 }, now;
	int round;

	for (round = 0; round < 100; round++) {
		assert_int_equal(zswap_swapon(f->z, 3, 1000), 0);
		if (round % 20 == 0)
			assert_absent(f, zswap_slot(3, 0), 1000);
		else
			assert_false(
				zswap_is_present(f->z, zswap_slot(3, 0), 1000));
		if (round % 2)
			store_pages(f, zswap_slot(3, 300), 16, 1);
		else
			store_pages(f, zswap_slot(3, 400), nr, 1);
		assert_int_equal(zswap_swapoff(f->z, 3), 0);
		assert_empty(f->z);
		now = stats_of(f->z);
		if (round == 0)
			first = now;
		assert_int_equal(now.metadata_bytes, first.metadata_bytes);
	}
}

static void areas_do_not_know_each_other(void **state)
{
	static const unsigned types[] = { 1, 2, 255, 256, 32768, 65535 };
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < 6; i++) {
		assert_int_equal(zswap_swapon(f->z, types[i], 1000 + i), 0);
		store_page(f, zswap_slot(types[i], 77), PAGE_TEXT, i);
	}
	for (i = 0; i < 6; i++) {
		assert_holds(f, zswap_slot(types[i], 77), PAGE_TEXT, i);
		assert_int_equal(
			zswap_query(f->z, zswap_slot(types[i], 1000 + i)),
			-ENXIO);
		assert_int_equal(zswap_swapoff(f->z, types[i]), 0);
		assert_int_equal(stats_of(f->z).stored_pages, 5 - i);
	}
}

/* What an area costs that has no pages yet. */
static uint64_t cost_of_area(struct fixture *f, unsigned type)
{
	uint64_t before = stats_of(f->z).metadata_bytes;

	assert_int_equal(zswap_swapon(f->z, type, ZSWAP_MAX_SLOTS - 1), 0);
	return stats_of(f->z).metadata_bytes - before;
}

static void the_first_of_256_types_costs_2_kib_more(void **state)
{
	struct fixture *f = *state;
	uint64_t cost = cost_of_area(f, 1);

	assert_true(cost > 0);
	assert_int_equal(cost_of_area(f, 255), cost);
	assert_int_equal(cost_of_area(f, 300), cost + 2048);
	assert_int_equal(cost_of_area(f, 256), cost);
	assert_int_equal(cost_of_area(f, 65535), cost + 2048);
	/* What is kept of an area is all that the next of its type needs. */
	assert_int_equal(zswap_swapoff(f->z, 300), 0);
	assert_int_equal(cost_of_area(f, 300), 0);
}

/* What an area of 2^48 slots costs with pages at both ends. */
static uint64_t cost_of_huge_area(struct fixture *f)
{
	uint64_t before = stats_of(f->z).metadata_bytes, cost;

	assert_int_equal(zswap_swapon(f->z, 1, ZSWAP_MAX_SLOTS), 0);
	store_page(f, zswap_slot(1, 0), PAGE_TEXT, 2);
	store_page(f, zswap_slot(1, ZSWAP_MAX_SLOTS - 1), PAGE_TEXT, 3);
	assert_holds(f, zswap_slot(1, 0), PAGE_TEXT, 2);
	assert_holds(f, zswap_slot(1, ZSWAP_MAX_SLOTS - 1), PAGE_TEXT, 3);
	cost = stats_of(f->z).metadata_bytes - before;
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
	return cost;
}

static void a_huge_area_with_pages_at_both_ends_costs_under_64_kib(void **state)
{
	struct fixture *f = *state;
	uint64_t before, after;

	/* Contexts and a first slab of entries are not the area's. */
	store_page(f, at(0), PAGE_TEXT, 1);
	store_page(f, at(1), PAGE_ZERO, 1);
	store_page(f, at(2), PAGE_TEXT, 1);
	before = stats_of(f->z).metadata_bytes;
	assert_in_range(cost_of_huge_area(f), 1, 65535);
	/* Its description may stay for the next area of the type. */
	after = stats_of(f->z).metadata_bytes;
	assert_in_range(after - before, 0, 16384);
	cost_of_huge_area(f);
	assert_int_equal(stats_of(f->z).metadata_bytes, after);
}

static void a_cluster_costs_4_kib_while_it_holds_pages(void **state)
{
	struct fixture *f = *state;
	uint64_t empty, full;

	store_page(f, at(0), PAGE_ZERO, 1);
	store_page(f, at(CLUSTER_SLOTS), PAGE_ZERO, 1);
	zswap_invalidate(f->z, at(CLUSTER_SLOTS), 1);
	empty = stats_of(f->z).metadata_bytes;
	store_page(f, at(CLUSTER_SLOTS), PAGE_ZERO, 1);
	full = stats_of(f->z).metadata_bytes;
	assert_in_range(full - empty, 0, 6000);
	zswap_invalidate(f->z, at(CLUSTER_SLOTS), 1);
	assert_int_equal(stats_of(f->z).metadata_bytes, empty);
}

static void memory_is_flat_when_everything_is_invalidated_again(void **state)
{
	struct fixture *f = *state;
	uint64_t metadata = 0;
	int round;

	for (round = 0; round < 5; round++) {
		store_pages(f, at(400), 300, 1);
		store_pages(f, at(100000), 300, 1);
		zswap_invalidate(f->z, at(0), AREA_SLOTS);
		assert_empty(f->z);
		if (round == 0)
			metadata = stats_of(f->z).metadata_bytes;
		assert_int_equal(stats_of(f->z).metadata_bytes, metadata);
	}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(swapon_refuses_types_and_sizes_out_of_range),
		CASE(swapon_takes_one_slot_and_2_to_the_48),
		CASE(area_65535_may_have_one_slot_less),
		CASE(swapon_of_an_area_that_exists_leaves_it_alone),
		CASE(all_slots_of_a_new_area_are_absent),
		CASE(swapoff_of_no_area_is_enxio),
		CASE(swapoff_drops_every_page_of_its_area_only),
		CASE(after_swapoff_there_is_no_such_area),
		CASE(D09_an_area_made_anew_is_empty_and_nothing_grows),
		CASE(areas_do_not_know_each_other),
		CASE(the_first_of_256_types_costs_2_kib_more),
		CASE(a_huge_area_with_pages_at_both_ends_costs_under_64_kib),
		CASE(a_cluster_costs_4_kib_while_it_holds_pages),
		CASE(memory_is_flat_when_everything_is_invalidated_again),
	};

	return run_cases("area", cases, sizeof(cases) / sizeof(cases[0]));
}
