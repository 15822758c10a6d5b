// SPDX-License-Identifier: MIT
/*
 * scene.c - a cache with something of everything in it
 */
#include "scene.h"

#include <string.h>

#include "calls.h"

#define PAGES_PER_POOL (SCENE_PAGES / SCENE_POOLS)

static enum page_kind kind_of(uint64_t i)
{
	return (enum page_kind)(i % PAGE_KINDS);
}

void scene_init(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	faulty_init(&s->hooks);
	codec_init(&s->codec, 4);
	s->params.size = sizeof(s->params);
	s->params.hooks = &s->hooks.hooks;
	s->params.compressors = &s->codec.vtable_list;
	s->params.nr_compressors = 1;
}

static void store_range(struct scene *s, uint64_t first)
{
	char page[PAGE_BYTES];
	uint64_t i;

	for (i = first; i < first + PAGES_PER_POOL; i++) {
		page_make(page, sizeof(page), kind_of(i), i);
		CHECK(zswap_store(s->z, at(SCENE_FIRST + i), page) == 0);
	}
}

/* Of various sizes, one of a whole page. */
static size_t object_bytes(unsigned i)
{
	return PAGE_BYTES >> i;
}

static void make_pool(struct scene *s)
{
	const struct zs_pool_params params = { .size = sizeof(params),
					       .hooks = s->params.hooks };
	char bytes[PAGE_BYTES];
	unsigned i;

	CHECK(zs_create_pool(&s->pool, &params) == 0);
	for (i = 0; i < SCENE_OBJECTS; i++) {
		page_make(bytes, sizeof(bytes), PAGE_TEXT, i);
		CHECK(zs_malloc(s->pool, object_bytes(i), &s->objects[i]) == 0);
		CHECK(zs_obj_write(s->pool, s->objects[i], bytes,
				   object_bytes(i)) == 0);
	}
}

static void check_pool(struct scene *s)
{
	char bytes[PAGE_BYTES];
	unsigned i;

	for (i = 0; i < SCENE_OBJECTS; i++) {
		page_make(bytes, sizeof(bytes), PAGE_TEXT, i);
		CHECK(memcmp(zs_obj_read_begin(s->pool, s->objects[i]), bytes,
			     object_bytes(i)) == 0);
		zs_obj_read_end(s->pool, s->objects[i]);
	}
}

void scene_end_pool(struct scene *s)
{
	zs_destroy_pool(s->pool);
	s->pool = NULL;
}

void scene_fill(struct scene *s)
{
	const char *const specs[SCENE_POOLS] = { "lz4", "zstd:level=1",
						 s->codec.spec };
	char page[PAGE_BYTES];
	unsigned i;

	CHECK(zswap_create(&s->z, &s->params) == 0);
	CHECK(zswap_swapon(s->z, 0, AREA_SLOTS) == 0);
	CHECK(zswap_swapon(s->z, 1, 100) == 0);
	for (i = 0; i < SCENE_POOLS; i++) {
		CHECK(zswap_set_compressor(s->z, specs[i]) == 0);
		store_range(s, i * PAGES_PER_POOL);
	}
	memset(page, 0x11, sizeof(page));
	CHECK(zswap_store(s->z, zswap_slot(1, 0), page) == 0);
	make_pool(s);
}

void scene_begin(struct scene *s)
{
	scene_init(s);
	scene_fill(s);
}

void scene_empty_retired(struct scene *s, unsigned keep)
{
	zswap_invalidate(s->z, at(SCENE_FIRST),
			 (SCENE_POOLS - 1) * PAGES_PER_POOL - keep);
}

void scene_check(struct scene *s)
{
	char page[PAGE_BYTES];
	uint64_t i;

	for (i = 0; i < SCENE_PAGES; i++) {
		uint64_t offset = SCENE_FIRST + i;

		if (offset - CALLS_FIRST < CALLS_PAGES)
			continue;
		CHECK(zswap_peek(s->z, at(offset), page) == 0);
		CHECK(page_is(page, sizeof(page), kind_of(i), i));
	}
	if (s->pool)
		check_pool(s);
}

void scene_end(struct scene *s)
{
	scene_end_pool(s);
	CHECK(codec_end(&s->codec));
	CHECK(faulty_end(&s->hooks));
}
