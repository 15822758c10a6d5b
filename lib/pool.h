/* SPDX-License-Identifier: MIT */
/*
 * pool.h - a pool: one compressor, one allocator, and when they may go
 *
 * Every entry belongs to the pool it was stored in, whose number it carries,
 * and is loaded through that pool's compressor. One pool is *current*: stores
 * use it. Others are *retired*: they go with their last entry.
 *
 *	FREE -> BUILDING -> CURRENT <-> RETIRED -> DEAD -> FREE
 *
 * References. Each entry with an object has one, and each store that is
 * running has one for each page it may place. They are counted on the shard of
 * the thread that takes or drops them, so that no counter is shared; a shard's
 * count can be below 0, for an entry is often dropped on another one, and only
 * the sum means something.
 *
 * Descriptors stay where they are until the cache goes, so that whoever drops a
 * reference may look at the pool's state afterwards, though the pool may have
 * been ended by another thread meanwhile and its number be in use again.
 *
 * When the sum of a retired pool's references is 0, the pool is dead. This is
 * safe because: 1. A store adds its references first, then looks whether the
 * pool is still current, and if not takes them back on the same shard; the
 * switch first changes the current pool, then the old one's state, and the sum
 * is taken after that; all in one total order (seq_cst). So references that
 * count were added before the sum began. 2. From then on they only go, and
 * those that a late store adds for a moment make the sum too large, never too
 * small. So a sum of 0 says that there was none when it was complete. 3. Who
 * drops a reference and finds the pool retired, and who retires it, takes the
 * sum afterwards; so the last of them finds 0. 4. The state's word has a
 * generation: the step to DEAD fails if the pool was taken back into use since
 * the state was read. 5. Who wants a reference to a pool that may be retired
 * adds it first, then counts the generation on: a step to DEAD whose sum may
 * have missed the reference fails, and later sums have it.
 */
#ifndef ZSWAP_POOL_H
#define ZSWAP_POOL_H

#include "comp.h"
#include "zs.h"

enum pool_state {
	POOL_FREE,     /* a number without a pool */
	POOL_BUILDING, /* being made */
	POOL_CURRENT,
	POOL_RETIRED,
	POOL_DEAD, /* waits to be ended */
};

struct pool_refs {
	alignas(CACHE_LINE) _Atomic int64_t nr;
};

struct pool {
	struct mem *mem;
	struct comp *comp;
	struct zs_arena *zs;
	unsigned number; /* 1 .. 255 */
	_Atomic uint64_t
		state; /* a generation, and in the low byte the state */
	struct pool *next_dead;
	char spec[ZSWAP_MAX_SPEC + 1]; /* canonical; guarded by pools->lock */
	struct pool_refs refs[];       /* mem->nr_shards */
};

/* A descriptor without a pool, FREE; NULL when there is no memory. */
struct pool *pool_new(struct mem *mem, unsigned number);
/* Frees it, and ends the pool if there is one. NULL is fine. */
void pool_delete(struct pool *pool);

/* Gives it a pool: 0, or what comp_create() or zs_arena_create() said. */
int pool_open(struct pool *pool, const struct spec *spec,
	      const struct zs_params *zs);
/* Ends the pool, whatever is left in it; runs the compressor's functions. */
void pool_close(struct pool *pool);

static inline enum pool_state pool_state(const struct pool *pool)
{
	return (enum pool_state)(atomic_load(&pool->state) & 0xff);
}

/* From one state to another; false if the pool is in none of `from`. */
bool pool_move(struct pool *pool, enum pool_state from, enum pool_state to);

static inline struct pool_refs *pool_own_refs(struct pool *pool)
{
	return &pool->refs[thread_number() & (pool->mem->nr_shards - 1)];
}

static inline void pool_get(struct pool *pool, int64_t nr)
{
	atomic_fetch_add(&pool_own_refs(pool)->nr, nr);
}

/*
 * Whether a pool of which the caller has just got a reference may be used: it
 * is current or retired, and stays until that is put. The lock under which it
 * changes between these two is held.
 */
bool pool_is_alive(struct pool *pool);

/* True when the pool is dead now, by this call: the caller has to see to it. */
bool pool_put(struct pool *pool, int64_t nr);

/* Whether a retired pool has become dead by this call. */
bool pool_dies(struct pool *pool);

#endif /* ZSWAP_POOL_H */
