// SPDX-License-Identifier: MIT
/*
 * test_objects.c - an object keeps its bytes, and gives away no others
 */
#include "home.h"

#include <stdlib.h>

#include "threads.h"
#include "watchdog.h"

#define PAGE 4096

static const uint32_t chains[] = { 1, 4, 8, 16 };

/* ---- every size ---------------------------------------------------------- */

/* Three zspages' objects: written, thinned out, moved, written again. */
static void exercise_size(struct home *h, struct object *objects, size_t bytes)
{
	unsigned n = 3 * class_of(h->pool, bytes).objects_per_zspage, i;

	make_objects(h->pool, objects, n, bytes);
	check_objects(h->pool, objects, n);
	for (i = 0; i < n; i += 2)
		object_end(h->pool, &objects[i]);
	zs_compact(h->pool);
	check_objects(h->pool, objects, n);
	for (i = 1; i < n; i += 2)
		object_fill(h->pool, &objects[i], ~objects[i].tag);
	end_objects(h->pool, objects, n);
	assert_int_equal(zs_get_total_pages(h->pool), 0);
}

/* S8: among them are those that end on, before and behind a page's border. */
static void D50_S8_objects_of_every_size_keep_their_bytes(void **state)
{
	struct home *h = *state;
	struct object objects[3 * 256];
	size_t bytes;

	for (bytes = 1; bytes <= PAGE; bytes++) {
		exercise_size(h, objects, bytes);
		watchdog_progress();
	}
}

/* One object at each border, and one byte before and behind it. */
static void exercise_borders(struct home *h, size_t page)
{
	struct object *objects = no_objects(3 * 512);
	struct zs_class_stats class;
	unsigned nth, nr = 0;
	zs_handle handle;

	for (nth = 0; next_class(h->pool, nth, &class); nth++) {
		size_t bytes = largest_payload(&class), d;

		for (d = 0; d < 3 && bytes + d - 1 <= page; d++)
			make_objects(h->pool, &objects[nr++], 1, bytes + d - 1);
	}
	assert_true(nr > 2 * nth);
	check_objects(h->pool, objects, nr);
	assert_sums_agree(h);
	end_objects(h->pool, objects, nr);
	assert_int_equal(zs_malloc(h->pool, 0, &handle), -EINVAL);
	assert_int_equal(zs_malloc(h->pool, page + 1, &handle), -ENOSPC);
	assert_int_equal(zs_get_total_pages(h->pool), 0);
	free(objects);
}

static void D58_objects_at_class_borders_keep_their_bytes(void **state)
{
	struct home *h = *state;
	size_t p, c;

	for (p = 0; p < 3; p++)
		for (c = 0; c < sizeof(chains) / sizeof(chains[0]); c++) {
			home_with(h, all_page_sizes[p], chains[c]);
			exercise_borders(h, all_page_sizes[p]);
			watchdog_progress();
		}
}

static void D58_an_adaptive_pool_keeps_bytes_too(void **state)
{
	struct home *h = *state;
	size_t p;

	h->params.class_choice = ZSWAP_CLASSES_ADAPTIVE;
	for (p = 0; p < 3; p++) {
		home_with(h, all_page_sizes[p], 8);
		exercise_borders(h, all_page_sizes[p]);
	}
}

/* ---- reading and writing ------------------------------------------------- */

static void D63_no_more_than_the_bytes_given_is_read(void **state)
{
	static const size_t sizes[] = { 1, 7, 8, 100, 3624, 4096 };
	struct home *h = *state;
	struct guard start, end;
	struct object o;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *at_start = guard_at_start(&start, sizes[i]);
		char *at_end = guard_at_end(&end, sizes[i]);

		memset(at_start, 1, sizes[i]);
		memset(at_end, 2, sizes[i]);
		make_objects(h->pool, &o, 1, sizes[i]);
		assert_int_equal(
			zs_obj_write(h->pool, o.handle, at_start, sizes[i]), 0);
		assert_memory_equal(address_of(h->pool, o.handle), at_start,
				    sizes[i]);
		assert_int_equal(
			zs_obj_write(h->pool, o.handle, at_end, sizes[i]), 0);
		assert_memory_equal(address_of(h->pool, o.handle), at_end,
				    sizes[i]);
		guard_free(&start);
		guard_free(&end);
	}
}

static void a_short_write_leaves_what_lies_behind(void **state)
{
	struct home *h = *state;
	char bytes[100], other[100];
	zs_handle handle;
	size_t n;

	memset(bytes, 1, sizeof(bytes));
	memset(other, 2, sizeof(other));
	assert_int_equal(zs_malloc(h->pool, 100, &handle), 0);
	for (n = 0; n <= 100; n++) {
		assert_int_equal(zs_obj_write(h->pool, handle, bytes, 100), 0);
		assert_int_equal(zs_obj_write(h->pool, handle, other, n), 0);
		assert_memory_equal(address_of(h->pool, handle), other, n);
		assert_memory_equal(address_of(h->pool, handle) + n, bytes,
				    100 - n);
	}
}

static void a_write_beyond_the_payload_changes_nothing(void **state)
{
	struct home *h = *state;
	struct object o;

	make_objects(h->pool, &o, 1, 100); /* in an object of 112 bytes */
	assert_int_equal(zs_obj_write(h->pool, o.handle, all_page_sizes, 101),
			 -EINVAL);
	assert_int_equal(
		zs_obj_write(h->pool, o.handle, all_page_sizes, SIZE_MAX),
		-EINVAL);
	assert_int_equal(zs_obj_write(h->pool, o.handle, NULL, 1), -EINVAL);
	assert_int_equal(zs_obj_write(h->pool, 0, all_page_sizes, 1), -EINVAL);
	assert_int_equal(zs_obj_write(NULL, o.handle, all_page_sizes, 1),
			 -EINVAL);
	object_check(h->pool, &o);
}

static void reads_may_nest_and_writes_be_seen(void **state)
{
	struct home *h = *state;
	const char *first;
	struct object o;
	unsigned i;

	make_objects(h->pool, &o, 1, 100);
	first = zs_obj_read_begin(h->pool, o.handle);
	for (i = 0; i < 1000; i++)
		assert_ptr_equal(zs_obj_read_begin(h->pool, o.handle), first);
	object_fill(h->pool, &o, 77);
	assert_true(object_has(first, 100, 77));
	for (i = 0; i < 1001; i++)
		zs_obj_read_end(h->pool, o.handle);
	object_end(h->pool, &o);
}

static void no_pool_and_no_handle_do_nothing(void **state)
{
	struct home *h = *state;
	struct object o;
	zs_handle handle = 77;

	assert_null(zs_obj_read_begin(h->pool, 0));
	zs_obj_read_end(h->pool, 0);
	zs_free(h->pool, 0);
	assert_int_equal(zs_obj_bytes(h->pool, 0), 0);
	make_objects(h->pool, &o, 1, 100);
	assert_null(zs_obj_read_begin(NULL, o.handle));
	zs_obj_read_end(NULL, o.handle);
	zs_free(NULL, o.handle);
	assert_int_equal(zs_obj_bytes(NULL, o.handle), 0);
	assert_int_equal(zs_malloc(NULL, 100, &handle), -EINVAL);
	assert_int_equal(handle, 0);
	assert_int_equal(zs_malloc(h->pool, 100, NULL), -EINVAL);
	object_check(h->pool, &o);
	assert_int_equal(pool_stats(h->pool).objects, 1);
}

static int by_value(const void *a, const void *b)
{
	const zs_handle *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void handles_are_distinct_and_never_0(void **state)
{
	struct home *h = *state;
	zs_handle handles[5000];
	size_t i, nr = sizeof(handles) / sizeof(handles[0]);

	for (i = 0; i < nr; i++)
		assert_int_equal(zs_malloc(h->pool, 1 + i % PAGE, &handles[i]),
				 0);
	qsort(handles, nr, sizeof(handles[0]), by_value);
	assert_true(handles[0] != 0);
	for (i = 1; i < nr; i++)
		assert_true(handles[i] != handles[i - 1]);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		HOME_CASE(D50_S8_objects_of_every_size_keep_their_bytes),
		HOME_CASE(D58_objects_at_class_borders_keep_their_bytes),
		HOME_CASE(D58_an_adaptive_pool_keeps_bytes_too),
		HOME_CASE(D63_no_more_than_the_bytes_given_is_read),
		HOME_CASE(a_short_write_leaves_what_lies_behind),
		HOME_CASE(a_write_beyond_the_payload_changes_nothing),
		HOME_CASE(reads_may_nest_and_writes_be_seen),
		HOME_CASE(no_pool_and_no_handle_do_nothing),
		HOME_CASE(handles_are_distinct_and_never_0),
	};

	return home_run("zsmalloc, objects", cases,
			sizeof(cases) / sizeof(cases[0]));
}
