// SPDX-License-Identifier: MIT
#include "pool.h"

#include <string.h>

#define GENERATION 0x100u

static size_t pool_bytes(const struct mem *mem)
{
	return sizeof(struct pool) + mem->nr_shards * sizeof(struct pool_refs);
}

struct pool *pool_new(struct mem *mem, unsigned number)
{
	struct pool *pool = mem_zalloc(mem, pool_bytes(mem), CACHE_LINE);

	if (!pool)
		return NULL;
	pool->mem = mem;
	pool->number = number;
	return pool;
}

void pool_delete(struct pool *pool)
{
	if (!pool)
		return;
	pool_close(pool);
	mem_free(pool->mem, pool, pool_bytes(pool->mem), CACHE_LINE);
}

int pool_open(struct pool *pool, const struct spec *spec,
	      const struct zs_params *zs)
{
	int err = comp_create(pool->mem, spec, zs->page_bytes, &pool->comp);

	if (err)
		return err;
	err = zs_arena_create(pool->mem, zs, &pool->zs);
	if (err) {
		pool_close(pool); /* accepts a half-built pool */
		return err;
	}
	pool->zs->span.slack_bytes =
		(uint64_t)pool->comp->batch * zs->page_bytes;
	return 0;
}

void pool_close(struct pool *pool)
{
	comp_destroy(pool->comp);
	pool->comp = NULL;
	zs_arena_destroy(pool->zs);
	pool->zs = NULL;
}

/* ---- state --------------------------------------------------------------- */

static bool move_word(struct pool *pool, uint64_t word, enum pool_state to)
{
	uint64_t next = (word & ~(uint64_t)0xff) + GENERATION + to;

	return atomic_compare_exchange_strong(&pool->state, &word, next);
}

bool pool_move(struct pool *pool, enum pool_state from, enum pool_state to)
{
	uint64_t word = atomic_load(&pool->state);

	return (word & 0xff) == from && move_word(pool, word, to);
}

static int64_t sum_of_refs(const struct pool *pool)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < pool->mem->nr_shards; i++)
		sum += atomic_load(&pool->refs[i].nr);
	return sum;
}

bool pool_dies(struct pool *pool)
{
	uint64_t word = atomic_load(&pool->state);

	return (word & 0xff) == POOL_RETIRED && !sum_of_refs(pool) &&
	       move_word(pool, word, POOL_DEAD);
}

bool pool_is_alive(struct pool *pool)
{
	uint64_t word = atomic_load(&pool->state);

	return (word & 0xff) == POOL_CURRENT ||
	       ((word & 0xff) == POOL_RETIRED &&
		move_word(pool, word, POOL_RETIRED));
}

bool pool_put(struct pool *pool, int64_t nr)
{
	atomic_fetch_sub(&pool_own_refs(pool)->nr, nr);
	return unlikely(pool_state(pool) != POOL_CURRENT) && pool_dies(pool);
}
