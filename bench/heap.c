// SPDX-License-Identifier: MIT
/*
 * heap.c - who gives memory for objects; see heap.h
 */
#include "heap.h"

#include "bench.h"
#include "hooks.h"
#include "rival.h"

#include <math.h>
#include <string.h>

/* ---- the library's allocator ------------------------------------------- */

struct zs_heap {
	struct heap heap;
	struct zs_pool *pool;
};

static uintptr_t zs_put(struct heap *h, const void *src, size_t len)
{
	struct zs_heap *z = (struct zs_heap *)h;
	zs_handle handle;

	if (zs_malloc(z->pool, len, &handle) ||
	    zs_obj_write(z->pool, handle, src, len))
		return 0;
	return handle;
}

static void zs_get(struct heap *h, uintptr_t object, void *dst, size_t len)
{
	struct zs_heap *z = (struct zs_heap *)h;

	memcpy(dst, zs_obj_read_begin(z->pool, object), len);
	zs_obj_read_end(z->pool, object);
}

static void zs_drop(struct heap *h, uintptr_t object)
{
	struct zs_heap *z = (struct zs_heap *)h;

	zs_free(z->pool, object);
}

static double zs_held(struct heap *h)
{
	struct zs_heap *z = (struct zs_heap *)h;
	struct zs_pool_stats stats = { .size = sizeof(stats) };
	int err = zs_pool_stats(z->pool, &stats);

	if (err)
		broken("zs_pool_stats: %s", strerror(-err));
	return (double)stats.held_bytes;
}

struct heap *heap_zs(const struct zs_pool_params *params)
{
	struct zs_heap *z = bench_alloc(1, sizeof(*z));
	struct zs_pool_params hooked = *params;
	int err;

	hooked.size = sizeof(hooked);
	hooked.hooks = hooks_of_caches();
	err = zs_create_pool(&z->pool, &hooked);
	if (err)
		broken("zs_create_pool: %s", strerror(-err));
	z->heap = (struct heap){ zs_put, zs_get, zs_drop, zs_held };
	return &z->heap;
}

/* ---- rivals ------------------------------------------------------------ */

struct rival_heap {
	struct heap heap;
	struct rival rival;
};

static uintptr_t rival_put(struct heap *h, const void *src, size_t len)
{
	struct rival_heap *r = (struct rival_heap *)h;
	void *block = r->rival.malloc(len);

	if (block)
		memcpy(block, src, len);
	return (uintptr_t)block;
}

static void rival_get(struct heap *h, uintptr_t object, void *dst, size_t len)
{
	(void)h;
	memcpy(dst, (void *)object, len);
}

static void rival_drop(struct heap *h, uintptr_t object)
{
	struct rival_heap *r = (struct rival_heap *)h;

	r->rival.free((void *)object);
}

static double rival_held(struct heap *h)
{
	struct rival_heap *r = (struct rival_heap *)h;

	return r->rival.held ? (double)r->rival.held(&r->rival) : NAN;
}

struct heap *heap_rival(unsigned which, const char **why)
{
	struct rival_heap *r = bench_alloc(1, sizeof(*r));

	*why = rival_load(&r->rival, which);
	if (*why)
		return NULL;
	r->heap = (struct heap){ rival_put, rival_get, rival_drop, rival_held };
	return &r->heap;
}
