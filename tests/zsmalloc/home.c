// SPDX-License-Identifier: MIT
/*
 * home.c - a pool for each case, and what the cases ask of it
 */
#include "home.h"

#include <stdlib.h>

#include "watchdog.h"

int home_setup(void **state)
{
	struct home *h = calloc(1, sizeof(*h));

	if (!h)
		return -1;
	faulty_init(&h->hooks);
	h->params.size = sizeof(h->params);
	h->params.hooks = &h->hooks.hooks;
	*state = h;
	return zs_create_pool(&h->pool, &h->params);
}

int home_teardown(void **state)
{
	struct home *h = *state;
	bool good;

	zs_destroy_pool(h->pool);
	good = faulty_end(&h->hooks);
	free(h);
	return good ? 0 : -1;
}

int home_run(const char *program, const struct CMUnitTest *cases, size_t nr)
{
	int failed;

	watchdog_start(program, 120);
	failed = _cmocka_run_group_tests(program, cases, nr, NULL, NULL);
	watchdog_stop();
	if (failed)
		random_print_seed();
	return failed != 0;
}

void home_again(struct home *h)
{
	zs_destroy_pool(h->pool);
	assert_int_equal(zs_create_pool(&h->pool, &h->params), 0);
}

void home_with(struct home *h, size_t page_size, uint32_t chain_size)
{
	h->params.page_size = page_size;
	h->params.chain_size = chain_size;
	home_again(h);
}

/* ---- figures ------------------------------------------------------------- */

struct zs_pool_stats pool_stats(struct zs_pool *pool)
{
	struct zs_pool_stats stats = { .size = sizeof(stats) };

	CHECK(zs_pool_stats(pool, &stats) == 0);
	return stats;
}

bool next_class(struct zs_pool *pool, unsigned nth, struct zs_class_stats *out)
{
	int err;

	out->size = sizeof(*out);
	err = zs_class_stats(pool, nth, out);
	CHECK(err == 0 || err == -ENOENT);
	return !err;
}

struct zs_class_stats class_of(struct zs_pool *pool, size_t bytes)
{
	unsigned index = zs_lookup_class_index(pool, bytes + 8), i;
	struct zs_class_stats class;

	for (i = 0; next_class(pool, i, &class); i++)
		if (class.index == index)
			return class;
	fail_msg("no class of number %u", index);
	return class;
}

size_t largest_payload(const struct zs_class_stats *class)
{
	bool huge = class->objects_per_zspage * class->pages_per_zspage == 1;

	return class->object_bytes - (huge ? 0 : 8);
}

uint64_t pages_needed_in(const struct zs_class_stats *class)
{
	return (class->objects_used + class->objects_per_zspage - 1) /
	       class->objects_per_zspage * class->pages_per_zspage;
}

uint64_t pages_needed(struct zs_pool *pool)
{
	struct zs_class_stats class;
	uint64_t pages = 0;
	unsigned i;

	for (i = 0; next_class(pool, i, &class); i++)
		pages += pages_needed_in(&class);
	return pages;
}

static void assert_class_agrees(const struct zs_class_stats *class)
{
	uint64_t zspages = 0, g;

	for (g = 0; g < ZS_FULLNESS_GROUPS; g++)
		zspages += class->zspages[g];
	assert_int_equal(class->zspages[0], 0);
	assert_int_equal(class->objects_allocated,
			 zspages * class->objects_per_zspage);
	assert_int_equal(class->pages_used, zspages * class->pages_per_zspage);
	assert_true(class->objects_used <= class->objects_allocated);
	assert_int_equal(class->freeable_pages,
			 (class->objects_allocated - class->objects_used) /
				 class->objects_per_zspage *
				 class->pages_per_zspage);
}

void assert_sums_agree(struct home *h)
{
	size_t page = h->params.page_size ? h->params.page_size : 4096;
	struct zs_pool_stats stats = pool_stats(h->pool);
	uint64_t objects = 0, pages = 0, freeable = 0;
	struct zs_class_stats class;
	unsigned i;

	for (i = 0; next_class(h->pool, i, &class); i++) {
		assert_class_agrees(&class);
		objects += class.objects_used;
		pages += class.pages_used;
		freeable += class.freeable_pages;
	}
	assert_int_equal(stats.objects, objects);
	assert_int_equal(stats.pages_used, pages);
	assert_int_equal(stats.compactable_pages, freeable);
	assert_int_equal(zs_get_total_pages(h->pool), pages);
	assert_int_equal(stats.held_bytes, stats.reserve_bytes + pages * page);
	assert_true(stats.held_bytes <= h->hooks.map_bytes);
	/* The rest is in mappings: how they are used, and one for forks. */
	assert_in_range(stats.metadata_bytes, h->hooks.alloc_bytes,
			h->hooks.alloc_bytes + h->hooks.map_bytes -
				stats.held_bytes);
}

const char *address_of(struct zs_pool *pool, zs_handle handle)
{
	const char *at = zs_obj_read_begin(pool, handle);

	zs_obj_read_end(pool, handle);
	return at;
}

/* ---- many objects -------------------------------------------------------- */

void make_objects(struct zs_pool *pool, struct object *objects, size_t nr,
		  size_t bytes)
{
	static uint64_t last_tag;
	size_t i;

	for (i = 0; i < nr; i++)
		object_make(pool, &objects[i], bytes, random_mix(++last_tag));
}

void check_objects(struct zs_pool *pool, const struct object *objects,
		   size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (objects[i].handle)
			object_check(pool, &objects[i]);
}

void end_objects(struct zs_pool *pool, struct object *objects, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		object_end(pool, &objects[i]);
}

struct object *no_objects(size_t nr)
{
	struct object *objects = calloc(nr, sizeof(*objects));

	assert_non_null(objects);
	return objects;
}
