/* SPDX-License-Identifier: MIT */
/*
 * scene.h - a cache with something of everything in it, and a pool of objects
 *
 * Area 0 has SCENE_PAGES pages around a border of 512 slots, of every kind,
 * that were stored with SCENE_POOLS compressors: so all pools but one are
 * retired, and the thread that ends them is there. Area 1 has a page too, that
 * belongs to no pool. The pool of the allocator alone has SCENE_OBJECTS objects.
 * The memory comes from accounting hooks, or where those
 * are taken out of the parameters from the default ones.
 */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include <zswap/zsmalloc.h>

#include "codec.h"
#include "stress.h"

#define SCENE_POOLS 3
#define SCENE_PAGES (2 * SCENE_POOLS * PAGE_KINDS)
#define SCENE_FIRST (BORDER - SCENE_PAGES / 2)
#define SCENE_OBJECTS 8

struct scene {
	struct zswap *z;
	struct zs_pool *pool;
	zs_handle objects[SCENE_OBJECTS];
	struct faulty hooks;
	struct codec codec; /* of the current pool */
	struct zswap_params params;
};

/* Makes and fills a cache: all at once, or with parameters changed between. */
void scene_begin(struct scene *s);
void scene_init(struct scene *s);
void scene_fill(struct scene *s);

/* Invalidates the pages of the retired pools but the last @keep. */
void scene_empty_retired(struct scene *s, unsigned keep);

/* That all pages and objects but those that calls.h changes are exact. */
void scene_check(struct scene *s);

/* Destroys the allocator's pool, if there is one. */
void scene_end_pool(struct scene *s);

/* After the cache's end, ends the rest: that everything has come back. */
void scene_end(struct scene *s);

#endif
