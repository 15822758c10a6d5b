/* SPDX-License-Identifier: MIT */
/*
 * pools.h - all pools of a cache: their numbers, the switch, and their end
 *
 * The switch of compressors makes a new pool, or takes a retired one of the
 * same canonical spec back into use, and retires the one that was current. A
 * compressor's functions are called with no lock held, so two switches can run
 * at once; of two that make the same pool the second throws its own away.
 *
 * A dead pool (see pool.h) is put on a list, and ended by whoever comes to
 * pools_reap(): every call that may drop entries, at its end, when it holds
 * nothing any more. But a load must not wait for a compressor's destroy(). It
 * only wakes the *reaper*, a thread that is started by the first switch which
 * leaves a pool with entries behind, and which sleeps until then. Where it
 * can't be started, dead pools wait for the next call that reaps.
 *
 * Locking: pools->lock guards the list, the specs, and which pool is CURRENT
 * and which RETIRED. The step to DEAD is guarded by the state's generation, and
 * a pool that is being built or ended belongs to who does that. A leaf.
 */
#ifndef ZSWAP_POOLS_H
#define ZSWAP_POOLS_H

#include "pool.h"

#include <semaphore.h>

#define POOLS_MAX 255

struct pools {
	struct mem *mem;
	struct zs_params zs;  /* how arenas are made */
	struct comp_list own; /* copies */
	struct zswap_compressor *own_ops;
	struct pool *_Atomic current;
	struct pool *_Atomic all[POOLS_MAX + 1]; /* by number; stay once made */

	struct lock lock;
	bool closed; /* guarded by lock: no pool comes any more */
	struct pool *dead;
	_Atomic unsigned nr_dead;
	_Atomic unsigned nr; /* pools that are not FREE or BUILDING */

	_Atomic int reaper; /* enum reaper_state */
	void *reaper_thread;
	sem_t reaper_wakes;
	_Atomic bool reaper_stops;
};

/**
 * pools_init() - with one pool, the current one
 * @own: checked, and copied
 *
 * Return: 0, or -EINVAL (a vtable lacks something), what spec_resolve() or
 *         pool_open() said, -ENOMEM. Call pools_exit() in any case.
 */
int pools_init(struct pools *pools, struct mem *mem, const struct zs_params *zs,
	       const struct comp_list *own, const char *spec);

/* Ends the reaper, then all pools with whatever is in them. */
void pools_exit(struct pools *pools);

/* As zswap_set_compressor(). */
int pools_switch(struct pools *pools, const char *spec);

/* Copies the current canonical spec, cut to fit; returns its whole length. */
size_t pools_spec(struct pools *pools, char *buf, size_t len);

/* The pool with this number, which has a reference. */
static inline struct pool *pools_at(struct pools *pools, unsigned number)
{
	return atomic_load_explicit(&pools->all[number], memory_order_relaxed);
}

/* The current pool, with nr references, for a store. */
struct pool *pools_hold(struct pools *pools, unsigned nr);

/* The pool with this number, with a reference, or NULL if there is none. */
struct pool *pools_hold_at(struct pools *pools, unsigned number);

/* Drops references. */
void pools_bury(struct pools *pools, struct pool *pool);
static inline void pools_put(struct pools *pools, struct pool *pool,
			     unsigned nr)
{
	if (unlikely(pool_put(pool, nr)))
		pools_bury(pools, pool);
}

/* Ends the pools that are dead: at the end of calls that are no loads. */
void pools_reap_now(struct pools *pools);
static inline void pools_reap(struct pools *pools)
{
	if (unlikely(atomic_load_explicit(&pools->nr_dead,
					  memory_order_relaxed)))
		pools_reap_now(pools);
}

/* Has them ended: at the end of a load. */
void pools_reap_later_now(struct pools *pools);
static inline void pools_reap_later(struct pools *pools)
{
	if (unlikely(atomic_load_explicit(&pools->nr_dead,
					  memory_order_relaxed)))
		pools_reap_later_now(pools);
}

#endif /* ZSWAP_POOLS_H */
