// SPDX-License-Identifier: MIT
/*
 * test_zs_class.c - size classes are the kernel's
 *
 * The first argument is a file of the folder with the kernel's tables.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "zs_class.h"

static const uint32_t page_sizes[] = { 4096, 16384, 65536 };
static const char *data_file;

static struct zs_class_table table_with(uint32_t page_bytes, uint32_t chain,
					bool adaptive)
{
	struct zs_class_table table;

	memset(&table, 0xa5, sizeof(table));
	zs_class_table_init(&table, page_bytes, chain, adaptive);
	return table;
}

static struct zs_class_table table_for(uint32_t page_bytes, uint32_t chain)
{
	return table_with(page_bytes, chain, false);
}

/* The class of a request. */
static struct zs_class_size size_for(const struct zs_class_table *table,
				     size_t bytes)
{
	return table->classes[zs_class_of_request(table, bytes)];
}

static bool is_huge(struct zs_class_size size)
{
	return size.pages == 1 && size.objects == 1;
}

/* ---- the kernel's tables ------------------------------------------------- */

static void assert_same_as_file(const char *name, uint32_t chain)
{
	struct zs_class_table table = table_for(4096, chain);
	unsigned long row[4]; /* size, objects, pages, waste */
	unsigned n = 0;
	struct csv csv;

	csv_open(&csv, data_file, name);
	for (; csv_row(&csv, row, 4); n++) {
		assert_true(n < table.nr_classes);
		assert_int_equal(table.classes[n].bytes, row[0]);
		assert_int_equal(table.classes[n].objects, row[1]);
		assert_int_equal(table.classes[n].pages, row[2]);
		assert_int_equal(row[2] * 4096 - row[1] * row[0], row[3]);
	}
	assert_int_equal(n, table.nr_classes);
}

static void classes_are_the_kernels_for_chains_of_8(void **state)
{
	(void)state;
	assert_same_as_file("zsmalloc-classes-chain8.csv", 8);
}

static void classes_are_the_kernels_for_chains_of_4(void **state)
{
	(void)state;
	assert_same_as_file("zsmalloc-classes-chain4.csv", 4);
}

static void there_are_255_sizes_before_merging(void **state)
{
	(void)state;
	for (uint32_t chain = 1; chain <= ZS_MAX_CHAIN; chain++)
		assert_int_equal(table_for(4096, chain).nr_raw, 255);
	assert_int_equal(table_for(16384, 8).nr_raw, 257);
	assert_int_equal(table_for(65536, 8).nr_raw, 257);
}

static void every_chain_length_gives_the_kernels_number_of_classes(void **state)
{
	/* chain, classes, the largest class whose objects share pages */
	static const uint32_t known[][3] = {
		{ 4, 69, 3264 },   { 5, 86, 3408 },   { 6, 94, 3504 },
		{ 7, 110, 3584 },  { 8, 119, 3632 },  { 9, 136, 3680 },
		{ 10, 141, 3712 }, { 12, 159, 3776 }, { 16, 192, 3840 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct zs_class_table table = table_for(4096, known[i][0]);

		assert_int_equal(table.nr_classes, known[i][1]);
		assert_int_equal(table.classes[table.nr_classes - 2].bytes,
				 known[i][2]);
		assert_int_equal(table.huge_bytes, known[i][2] - 7);
	}
}

static void requests_at_known_borders_go_to_known_classes(void **state)
{
	struct zs_class_table t8 = table_for(4096, 8);
	struct zs_class_table t4 = table_for(4096, 4);

	(void)state;
	assert_int_equal(t8.huge_bytes, 3625);
	assert_int_equal(t4.huge_bytes, 3257);
	assert_int_equal(size_for(&t8, 1).bytes, 32);
	assert_int_equal(size_for(&t8, 24).bytes, 32);
	assert_int_equal(size_for(&t8, 25).bytes, 48);
	assert_int_equal(size_for(&t8, 2040).bytes, 2048);
	assert_int_equal(size_for(&t8, 2041).bytes, 2176);
	assert_int_equal(size_for(&t8, 3624).bytes, 3632);
	assert_int_equal(size_for(&t8, 3625).bytes, 4096);
	assert_int_equal(size_for(&t8, 4088).bytes, 4096);
	assert_int_equal(size_for(&t8, 4096).bytes, 4096);
	assert_int_equal(size_for(&t4, 2041).bytes, 2336);
	assert_int_equal(size_for(&t4, 3256).bytes, 3264);
	assert_int_equal(size_for(&t4, 3257).bytes, 4096);
}

/* ---- all tables ---------------------------------------------------------- */

static void assert_classes_add_up(const struct zs_class_table *t,
				  uint32_t chain)
{
	for (uint32_t i = 0; i < t->nr_classes; i++) {
		struct zs_class_size size = t->classes[i];
		uint32_t zspage = size.pages * t->page_bytes;

		assert_in_range(size.pages, 1, chain);
		assert_true(size.objects > 0);
		assert_int_equal(size.bytes % 8, 0);
		assert_int_equal(zspage / size.bytes, size.objects);
		assert_true(!i || t->classes[i - 1].bytes < size.bytes);
		if ((size.bytes & (size.bytes - 1)) == 0)
			assert_int_equal(size.pages, 1);
	}
	assert_true(is_huge(t->classes[t->nr_classes - 1]));
	assert_int_equal(t->classes[t->nr_classes - 1].bytes, t->page_bytes);
}

static void classes_of_all_tables_add_up(void **state)
{
	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(page_sizes); p++)
		for (uint32_t chain = 1; chain <= ZS_MAX_CHAIN; chain++) {
			struct zs_class_table t =
				table_for(page_sizes[p], chain);

			assert_classes_add_up(&t, chain);
		}
}

/*
 * What a request needs: the smallest class that holds it and its header, or
 * the whole page of the huge class.
 */
static bool is_served_well(const struct zs_class_table *t, size_t bytes)
{
	unsigned class = zs_class_of_request(t, bytes);
	struct zs_class_size size = t->classes[class];
	bool fits = is_huge(size) ? size.bytes >= bytes :
				    size.bytes >= bytes + ZS_HEADER_BYTES;
	bool is_smallest =
		!class || t->classes[class - 1].bytes < bytes + ZS_HEADER_BYTES;

	return fits && is_smallest;
}

static void D58_every_request_is_served_by_the_smallest_class(void **state)
{
	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(page_sizes); p++)
		for (uint32_t chain = 1; chain <= ZS_MAX_CHAIN; chain++) {
			struct zs_class_table t =
				table_for(page_sizes[p], chain);

			for (size_t n = 1; n <= page_sizes[p]; n++)
				if (!is_served_well(&t, n))
					fail_msg("page %u chain %u request %zu",
						 page_sizes[p], chain, n);
		}
}

/*
 * Who reads an object tells by the threshold whether it has a header. For
 * chains of one page the threshold used to be a page, though the huge class
 * began at half of one.
 */
static void the_threshold_is_where_the_huge_class_begins(void **state)
{
	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(page_sizes); p++)
		for (uint32_t chain = 1; chain <= ZS_MAX_CHAIN; chain++) {
			struct zs_class_table t =
				table_for(page_sizes[p], chain);

			for (size_t n = 1; n <= page_sizes[p]; n++)
				if (is_huge(size_for(&t, n)) !=
				    (n >= t.huge_bytes))
					fail_msg("page %u chain %u request %zu",
						 page_sizes[p], chain, n);
		}
}

/* ---- tables of several chains -------------------------------------------- */

/* The chains that there are: 1, 2, 4 ... below the longest, and that. */
static uint32_t chain_nr(const struct zs_class_table *t, uint32_t c,
			 uint32_t longest)
{
	return c + 1 == t->nr_chains ? longest : 1u << c;
}

static uint32_t nr_chains(uint32_t longest)
{
	uint32_t nr = 1;

	for (uint32_t chain = 1; chain < longest; chain *= 2)
		nr++;
	return nr;
}

/* By size, of one size by pages, and each once. */
static void assert_classes_are_sorted(const struct zs_class_table *t)
{
	for (uint32_t i = 1; i < t->nr_classes; i++) {
		struct zs_class_size a = t->classes[i - 1], b = t->classes[i];

		assert_true(a.bytes < b.bytes ||
			    (a.bytes == b.bytes && a.pages < b.pages));
	}
}

static bool same_class(struct zs_class_size a, struct zs_class_size b)
{
	return a.bytes == b.bytes && a.pages == b.pages &&
	       a.objects == b.objects;
}

/* Each chain's classes, and no others, are those of its own table. */
static void assert_chains_are_whole(const struct zs_class_table *t,
				    uint32_t longest)
{
	bool used[ZS_MAX_CLASSES] = { false };

	for (uint32_t c = 0; c < t->nr_chains; c++) {
		struct zs_class_table alone =
			table_for(t->page_bytes, chain_nr(t, c, longest));

		assert_int_equal(alone.nr_raw, t->nr_raw);
		for (uint32_t raw = 0; raw < t->nr_raw; raw++) {
			unsigned class = t->class_of[c][raw];
			unsigned expected = zs_exact_class(&alone, raw);

			assert_true(same_class(t->classes[class],
					       alone.classes[expected]));
			used[class] = true;
		}
	}
	for (uint32_t i = 0; i < t->nr_classes; i++)
		assert_true(used[i]);
}

static void
assert_exact_choice_is_the_longest_chains(const struct zs_class_table *t,
					  uint32_t longest)
{
	struct zs_class_table alone = table_for(t->page_bytes, longest);

	assert_int_equal(t->huge_bytes, alone.huge_bytes);
	for (size_t n = 1; n <= t->page_bytes; n++)
		if (!same_class(size_for(t, n), size_for(&alone, n)))
			fail_msg("page %u chain %u request %zu", t->page_bytes,
				 longest, n);
}

static void D58_tables_of_several_chains_have_the_classes_of_each(void **state)
{
	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(page_sizes); p++)
		for (uint32_t chain = 1; chain <= ZS_MAX_CHAIN; chain++) {
			struct zs_class_table t =
				table_with(page_sizes[p], chain, true);

			assert_int_equal(t.nr_chains, nr_chains(chain));
			assert_in_range(t.nr_chains, 1, ZS_MAX_CHAINS);
			assert_true(t.nr_classes < ZS_MAX_CLASSES);
			assert_classes_are_sorted(&t);
			assert_chains_are_whole(&t, chain);
			assert_exact_choice_is_the_longest_chains(&t, chain);
		}
}

/* Any class from the first on may have an object of the size, none before. */
static void from_the_first_class_on_objects_are_large_enough(void **state)
{
	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(page_sizes); p++)
		for (uint32_t chain = 1; chain <= ZS_MAX_CHAIN; chain++) {
			struct zs_class_table t =
				table_with(page_sizes[p], chain, true);

			for (uint32_t raw = 0; raw < t.nr_raw; raw++) {
				uint32_t size =
					ZS_MIN_SIZE + (raw << t.step_shift);
				unsigned first = zs_first_class(&t, raw);

				if (size > t.page_bytes)
					size = t.page_bytes;
				assert_true(t.classes[first].bytes >= size);
				assert_true(!first ||
					    t.classes[first - 1].bytes < size);
			}
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(classes_are_the_kernels_for_chains_of_8),
		cmocka_unit_test(classes_are_the_kernels_for_chains_of_4),
		cmocka_unit_test(there_are_255_sizes_before_merging),
		cmocka_unit_test(
			every_chain_length_gives_the_kernels_number_of_classes),
		cmocka_unit_test(requests_at_known_borders_go_to_known_classes),
		cmocka_unit_test(classes_of_all_tables_add_up),
		cmocka_unit_test(
			D58_every_request_is_served_by_the_smallest_class),
		cmocka_unit_test(the_threshold_is_where_the_huge_class_begins),
		cmocka_unit_test(
			D58_tables_of_several_chains_have_the_classes_of_each),
		cmocka_unit_test(
			from_the_first_class_on_objects_are_large_enough),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE-IN-DATA-DIRECTORY\n", argv[0]);
		return 2;
	}
	data_file = argv[1];
	return cmocka_run_group_tests(cases, NULL, NULL);
}
