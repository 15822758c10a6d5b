// SPDX-License-Identifier: MIT
/*
 * test_kernel.c - the same calls take the same pages as with the kernel's
 *
 * S1 .. S12 in the names are the twelve things that our specification of the
 * kernel's allocator wants tested. The first argument is a file of the folder
 * with the kernel's tables and measurements.
 */
#include "home.h"

#include <stdlib.h>

#include "csv.h"
#include "threads.h"
#include "watchdog.h"

#define PAGE 4096

static const char *data_file;

/* ---- classes ------------------------------------------------------------- */

static unsigned nr_classes(struct zs_pool *pool)
{
	struct zs_class_stats class;
	unsigned nr = 0;

	while (next_class(pool, nr, &class))
		nr++;
	return nr;
}

static void assert_same_as_file(struct home *h, uint32_t chain,
				const char *name)
{
	struct zs_class_stats class;
	unsigned long row[4]; /* size, objects, pages, waste */
	unsigned nth = 0;
	struct csv csv;

	home_with(h, 0, chain);
	csv_open(&csv, data_file, name);
	for (; csv_row(&csv, row, 4); nth++) {
		assert_true(next_class(h->pool, nth, &class));
		assert_int_equal(class.object_bytes, row[0]);
		assert_int_equal(class.objects_per_zspage, row[1]);
		assert_int_equal(class.pages_per_zspage, row[2]);
		assert_int_equal(row[2] * PAGE - row[1] * row[0], row[3]);
	}
	assert_int_equal(nr_classes(h->pool), nth);
}

static void S1_classes_are_the_kernels(void **state)
{
	assert_same_as_file(*state, 4, "zsmalloc-classes-chain4.csv");
	assert_same_as_file(*state, 8, "zsmalloc-classes-chain8.csv");
	/* Chains of 8 are the default. */
	assert_same_as_file(*state, 0, "zsmalloc-classes-chain8.csv");
}

static void S2_huge_payloads_begin_where_the_kernels_do(void **state)
{
	/* chain, classes, the first payload with a page to itself */
	static const uint32_t known[][3] = { { 4, 69, 3257 },
					     { 8, 119, 3625 },
					     { 16, 192, 3833 } };
	struct home *h = *state;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		home_with(h, 0, known[i][0]);
		assert_int_equal(nr_classes(h->pool), known[i][1]);
		assert_int_equal(zs_huge_class_size(h->pool), known[i][2]);
	}
}

static bool has_a_page(struct zs_pool *pool, size_t bytes)
{
	struct zs_class_stats class = class_of(pool, bytes);

	return class.pages_per_zspage == 1 && class.objects_per_zspage == 1;
}

static void S2_the_huge_class_size_is_exact(void **state)
{
	static const uint32_t chains[] = { 1, 2, 3, 8, 16 };
	struct home *h = *state;
	size_t p, c, huge;

	for (p = 0; p < 3; p++)
		for (c = 0; c < sizeof(chains) / sizeof(chains[0]); c++) {
			home_with(h, all_page_sizes[p], chains[c]);
			huge = zs_huge_class_size(h->pool);
			assert_true(has_a_page(h->pool, huge));
			assert_false(has_a_page(h->pool, huge - 1));
		}
}

/* Sizes before merging: 255, the last of which has no number of its own. */
static void S2_class_numbers_count_the_sizes_before_merging(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;
	unsigned nth = 0;
	size_t bytes;

	assert_true(next_class(h->pool, 0, &class));
	for (bytes = 1; bytes <= PAGE; bytes++) {
		size_t raw = bytes <= 32 ? 0 : (bytes - 32 + 15) / 16;

		if (bytes > class.object_bytes)
			assert_true(next_class(h->pool, ++nth, &class));
		assert_true(bytes <= class.object_bytes);
		assert_true(class.index >= raw);
		assert_int_equal(zs_lookup_class_index(h->pool, bytes),
				 class.index);
	}
	assert_int_equal(class.index, 254);
	assert_int_equal(zs_lookup_class_index(h->pool, PAGE + 100), 254);
	assert_int_equal(zs_lookup_class_index(h->pool, 0), 0);
}

static void S3_payloads_have_1_byte_to_a_page(void **state)
{
	struct home *h = *state;
	zs_handle handle;
	size_t i;

	for (i = 0; i < 3; i++) {
		home_with(h, all_page_sizes[i], 8);
		handle = 77;
		assert_int_equal(zs_malloc(h->pool, 0, &handle), -EINVAL);
		assert_int_equal(handle, 0);
		handle = 77;
		assert_int_equal(
			zs_malloc(h->pool, all_page_sizes[i] + 1, &handle),
			-ENOSPC);
		assert_int_equal(handle, 0);
		assert_int_equal(zs_malloc(h->pool, SIZE_MAX, &handle),
				 -ENOSPC);
		assert_int_equal(zs_get_total_pages(h->pool), 0);
		assert_int_equal(zs_malloc(h->pool, 1, &handle), 0);
		assert_int_equal(zs_malloc(h->pool, all_page_sizes[i], &handle),
				 0);
	}
}

/* ---- where objects go ---------------------------------------------------- */

/* A class with many objects in a zspage, and one with few. */
#define MANY_BYTES 24     /* 128 on 1 page */
#define MIDDLE_BYTES 1560 /* 13 on 5 pages */

static void S4_a_fresh_zspage_is_used_in_order(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;
	struct object objects[257];
	unsigned nth, i;

	for (nth = 0; next_class(h->pool, nth, &class); nth++) {
		const char *first;

		make_objects(h->pool, objects, class.objects_per_zspage,
			     largest_payload(&class));
		first = address_of(h->pool, objects[0].handle);
		for (i = 0; i < class.objects_per_zspage; i++)
			assert_ptr_equal(address_of(h->pool, objects[i].handle),
					 first + (size_t)i *
							 class.object_bytes);
		assert_int_equal(zs_get_total_pages(h->pool),
				 class.pages_per_zspage);
		end_objects(h->pool, objects, class.objects_per_zspage);
	}
}

static void S4_the_place_freed_last_is_used_first(void **state)
{
	static const unsigned freed[] = { 3, 9, 1 };
	struct home *h = *state;
	struct object objects[13];
	const char *was[13];
	unsigned i;

	make_objects(h->pool, objects, 13, MIDDLE_BYTES);
	for (i = 0; i < 13; i++)
		was[i] = address_of(h->pool, objects[i].handle);
	for (i = 0; i < 3; i++)
		object_end(h->pool, &objects[freed[i]]);
	for (i = 3; i--;) {
		struct object *o = &objects[freed[i]];

		make_objects(h->pool, o, 1, MIDDLE_BYTES);
		assert_ptr_equal(address_of(h->pool, o->handle), was[freed[i]]);
	}
}

static unsigned group_of(unsigned used, unsigned objects)
{
	if (used == 0 || used == objects)
		return used ? 11 : 0;
	return 100 * used / objects / 10 + 1;
}

static void assert_alone_in_group(struct home *h, size_t bytes, unsigned group)
{
	struct zs_class_stats class = class_of(h->pool, bytes);
	unsigned g;

	for (g = 0; g < ZS_FULLNESS_GROUPS; g++)
		assert_int_equal(class.zspages[g], group && g == group);
}

static void S5_a_zspage_is_counted_in_its_tenth(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;
	struct object objects[256];
	unsigned nth, used, n;

	for (nth = 0; next_class(h->pool, nth, &class); nth++) {
		size_t bytes = largest_payload(&class);

		n = class.objects_per_zspage;
		for (used = 1; used <= n; used++) {
			make_objects(h->pool, &objects[used - 1], 1, bytes);
			assert_alone_in_group(h, bytes, group_of(used, n));
		}
		for (used = n; used--;) {
			object_end(h->pool, &objects[used]);
			assert_alone_in_group(h, bytes, group_of(used, n));
		}
		watchdog_progress();
	}
}

/* Two zspages, with the objects 0 .. n-1 and n .. 2n-1. */
struct two {
	const char *start[2];
	size_t zspage_bytes;
};

static struct two make_two(struct home *h, struct object *objects, size_t bytes)
{
	struct zs_class_stats class = class_of(h->pool, bytes);
	unsigned n = class.objects_per_zspage;
	struct two two = { .zspage_bytes = class.pages_per_zspage * PAGE };

	make_objects(h->pool, objects, 2 * n, bytes);
	two.start[0] = address_of(h->pool, objects[0].handle);
	two.start[1] = address_of(h->pool, objects[n].handle);
	return two;
}

/* That objects come to lie in these zspages, one after the other. */
static void assert_go_to(struct home *h, const struct two *two, size_t bytes,
			 const int *zspages, unsigned nr)
{
	struct object o;
	unsigned i;

	for (i = 0; i < nr; i++) {
		const char *start = two->start[zspages[i]], *at;

		make_objects(h->pool, &o, 1, bytes);
		at = address_of(h->pool, o.handle);
		assert_true(at >= start && at < start + two->zspage_bytes);
	}
}

static void S6_the_fullest_zspage_that_is_not_full_is_used(void **state)
{
	static const int zspages[] = { 1, 1, 0, 0 };
	struct home *h = *state;
	struct object objects[26];
	struct two two = make_two(h, objects, MIDDLE_BYTES);

	end_objects(h->pool, &objects[13], 2);
	end_objects(h->pool, objects, 6); /* the last to change */
	assert_go_to(h, &two, MIDDLE_BYTES, zspages, 4);
	assert_int_equal(zs_get_total_pages(h->pool), 10);
}

static void S6_of_several_the_last_to_come_to_its_tenth_is_used(void **state)
{
	static const int zspages[] = { 1, 0, 0 };
	struct home *h = *state;
	struct object objects[256];
	struct two two = make_two(h, objects, MANY_BYTES);

	object_end(h->pool, &objects[0]);
	object_end(h->pool, &objects[128]);
	/* Its tenth does not change, so neither does its turn. */
	object_end(h->pool, &objects[1]);
	assert_go_to(h, &two, MANY_BYTES, zspages, 3);
}

static void S7_the_last_free_gives_back_the_chain(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;
	struct object objects[257];
	unsigned nth, n;

	for (nth = 0; next_class(h->pool, nth, &class); nth++) {
		size_t bytes = largest_payload(&class);

		n = class.objects_per_zspage;
		make_objects(h->pool, objects, n + 1, bytes);
		assert_int_equal(zs_get_total_pages(h->pool),
				 2 * class.pages_per_zspage);
		object_end(h->pool, &objects[n]);
		assert_int_equal(zs_get_total_pages(h->pool),
				 class.pages_per_zspage);
		end_objects(h->pool, objects, n - 1);
		assert_int_equal(zs_get_total_pages(h->pool),
				 class.pages_per_zspage);
		object_end(h->pool, &objects[n - 1]);
		assert_int_equal(zs_get_total_pages(h->pool), 0);
	}
}

static void S12_a_huge_payload_is_a_page(void **state)
{
	static const size_t sizes[] = { 3625, 4000, 4088, 4089, 4095, 4096 };
	struct home *h = *state;
	struct object objects[6];
	unsigned i;

	for (i = 0; i < 6; i++) {
		make_objects(h->pool, &objects[i], 1, sizes[i]);
		assert_int_equal(
			(uintptr_t)address_of(h->pool, objects[i].handle) %
				PAGE,
			0);
		assert_int_equal(zs_get_total_pages(h->pool), i + 1);
	}
	end_objects(h->pool, objects, 6);
}

/* ---- the kernel's measurements ------------------------------------------- */

#define NR_MEASURED 2048

static uint64_t bytes_used_for(struct home *h, size_t payload)
{
	zs_handle handle;
	unsigned i;

	home_again(h);
	for (i = 0; i < NR_MEASURED; i++)
		assert_int_equal(zs_malloc(h->pool, payload, &handle), 0);
	return zs_get_total_pages(h->pool) * PAGE;
}

/*
 * A row's pages have about one compressed size; only its mean is known, so it
 * is rounded down or up.
 */
static void memory_used_is_what_the_kernel_uses(void **state)
{
	unsigned long row[4]; /* random bytes, pages, their bytes, used bytes */
	struct home *h = *state;
	unsigned rows = 0;
	struct csv csv;

	csv_open(&csv, data_file, "zsmalloc-kernel-usage.csv");
	for (; csv_row(&csv, row, 4); rows++) {
		size_t mean = row[2] / row[1];

		assert_int_equal(row[1], NR_MEASURED);
		if (bytes_used_for(h, mean) != row[3])
			assert_int_equal(bytes_used_for(h, mean + 1), row[3]);
		watchdog_progress();
	}
	assert_int_equal(rows, 256);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		HOME_CASE(S1_classes_are_the_kernels),
		HOME_CASE(S2_huge_payloads_begin_where_the_kernels_do),
		HOME_CASE(S2_the_huge_class_size_is_exact),
		HOME_CASE(S2_class_numbers_count_the_sizes_before_merging),
		HOME_CASE(S3_payloads_have_1_byte_to_a_page),
		HOME_CASE(S4_a_fresh_zspage_is_used_in_order),
		HOME_CASE(S4_the_place_freed_last_is_used_first),
		HOME_CASE(S5_a_zspage_is_counted_in_its_tenth),
		HOME_CASE(S6_the_fullest_zspage_that_is_not_full_is_used),
		HOME_CASE(S6_of_several_the_last_to_come_to_its_tenth_is_used),
		HOME_CASE(S7_the_last_free_gives_back_the_chain),
		HOME_CASE(S12_a_huge_payload_is_a_page),
		HOME_CASE(memory_used_is_what_the_kernel_uses),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE-IN-DATA-DIRECTORY\n", argv[0]);
		return 2;
	}
	data_file = argv[1];
	return home_run("zsmalloc, kernel", cases,
			sizeof(cases) / sizeof(cases[0]));
}
