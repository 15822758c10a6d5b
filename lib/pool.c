// SPDX-License-Identifier: MIT
#include "pool.h"

int pool_create(struct mem *mem, const struct comp_list *own, const char *spec,
		uint32_t page_bytes, unsigned number, struct pool **out)
{
	struct pool *pool;
	int err;

	*out = NULL;
	pool = mem_zalloc(mem, sizeof(*pool), CACHE_LINE);
	if (!pool)
		return -ENOMEM;
	pool->mem = mem;
	pool->number = number;
	err = comp_create(mem, own, spec, page_bytes, &pool->comp);
	if (err)
		goto fail;
	err = zs_create_pool(mem, page_bytes, POOL_CHAIN, &pool->zs);
	if (err)
		goto fail;
	*out = pool;
	return 0;
fail:
	pool_destroy(pool); /* accepts a half-built pool */
	return err;
}

void pool_destroy(struct pool *pool)
{
	if (!pool)
		return;
	comp_destroy(pool->comp);
	zs_destroy_pool(pool->zs);
	mem_free(pool->mem, pool, sizeof(*pool), CACHE_LINE);
}
