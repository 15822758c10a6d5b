// SPDX-License-Identifier: MIT
#include "pools.h"

#include <string.h>

enum reaper_state { REAPER_NONE, REAPER_STARTING, REAPER_RUNNING };

/* ---- references ---------------------------------------------------------- */

struct pool *pools_hold(struct pools *pools, unsigned nr)
{
	for (;;) {
		struct pool *pool = atomic_load(&pools->current);

		pool_get(pool, nr);
		if (likely(atomic_load(&pools->current) == pool))
			return pool;
		pools_put(pools, pool, nr);
	}
}

struct pool *pools_hold_at(struct pools *pools, unsigned number)
{
	struct pool *pool = atomic_load(&pools->all[number]);
	bool alive;

	if (!pool)
		return NULL;
	pool_get(pool, 1);
	lock_take(&pools->lock);
	alive = pool_is_alive(pool);
	lock_give(&pools->lock);
	if (alive)
		return pool;
	pools_put(pools, pool, 1);
	return NULL;
}

void pools_bury(struct pools *pools, struct pool *pool)
{
	lock_take(&pools->lock);
	pool->next_dead = pools->dead;
	pools->dead = pool;
	atomic_fetch_add_explicit(&pools->nr_dead, 1, memory_order_relaxed);
	lock_give(&pools->lock);
}

/* ---- the end of pools ---------------------------------------------------- */

static struct pool *take_dead(struct pools *pools)
{
	struct pool *pool;

	lock_take(&pools->lock);
	pool = pools->dead;
	if (pool) {
		pools->dead = pool->next_dead;
		atomic_fetch_sub_explicit(&pools->nr_dead, 1,
					  memory_order_relaxed);
	}
	lock_give(&pools->lock);
	return pool;
}

void pools_reap_now(struct pools *pools)
{
	int saved_errno = errno;
	struct pool *pool;

	while ((pool = take_dead(pools))) {
		pool_close(pool);
		lock_take(&pools->lock);
		pool_move(pool, POOL_DEAD, POOL_FREE);
		atomic_fetch_sub(&pools->nr, 1);
		lock_give(&pools->lock);
	}
	errno = saved_errno; /* the compressor's functions may change it */
}

void pools_reap_later_now(struct pools *pools)
{
	if (atomic_load(&pools->reaper) == REAPER_RUNNING)
		sem_post(&pools->reaper_wakes);
}

static void reaper_main(void *arg)
{
	struct pools *pools = arg;

	while (!atomic_load(&pools->reaper_stops)) {
		pools_reap_now(pools);
		while (sem_wait(&pools->reaper_wakes))
			; /* interrupted, by a debugger say */
	}
}

/* Once: by the first thread that needs it. */
static void start_reaper(struct pools *pools)
{
	int none = REAPER_NONE;
	int err;

	if (!atomic_compare_exchange_strong(&pools->reaper, &none,
					    REAPER_STARTING))
		return;
	err = mem_thread_create(pools->mem, &pools->reaper_thread, reaper_main,
				pools);
	atomic_store(&pools->reaper, err ? REAPER_NONE : REAPER_RUNNING);
}

static void stop_reaper(struct pools *pools)
{
	if (atomic_load(&pools->reaper) != REAPER_RUNNING)
		return;
	atomic_store(&pools->reaper_stops, true);
	sem_post(&pools->reaper_wakes);
	mem_thread_join(pools->mem, pools->reaper_thread);
	atomic_store(&pools->reaper, REAPER_NONE);
}

/* ---- the switch ---------------------------------------------------------- */

/* A pool of this spec that is in use or can be taken back into use. */
static struct pool *find_spec(struct pools *pools, const char *canonical)
{
	lock_assert_held(&pools->lock);
	for (unsigned i = 1; i <= POOLS_MAX; i++) {
		struct pool *pool = pools_at(pools, i);

		if (!pool || strcmp(pool->spec, canonical))
			continue;
		if (pool_state(pool) == POOL_CURRENT ||
		    pool_move(pool, POOL_RETIRED, POOL_CURRENT))
			return pool;
	}
	return NULL;
}

/*
 * Makes a pool whose state is CURRENT already the one that stores use. Returns
 * the one that was, retired, or NULL. The order is that of pool.h.
 */
static struct pool *make_current(struct pools *pools, struct pool *pool)
{
	struct pool *old = atomic_load(&pools->current);

	lock_assert_held(&pools->lock);
	if (old == pool)
		return NULL;
	atomic_store(&pools->current, pool);
	if (old)
		pool_move(old, POOL_CURRENT, POOL_RETIRED);
	return old;
}

/* Once it has no references a retired pool is dead. */
static void after_retiring(struct pools *pools, struct pool *old)
{
	if (!old)
		return;
	if (pool_dies(old))
		pools_bury(pools, old);
	else
		start_reaper(pools);
	pools_reap(pools);
}

/* Looks for a pool of this spec, and switches to it; false if there is none. */
static bool use_existing(struct pools *pools, const char *canonical)
{
	struct pool *old = NULL, *pool;

	lock_take(&pools->lock);
	pool = pools->closed ? NULL : find_spec(pools, canonical);
	if (pool)
		old = make_current(pools, pool);
	lock_give(&pools->lock);
	after_retiring(pools, old);
	return pool;
}

static struct pool *take_free(struct pools *pools, bool *descriptor_missing)
{
	*descriptor_missing = false;
	lock_assert_held(&pools->lock);
	for (unsigned i = 1; i <= POOLS_MAX; i++) {
		struct pool *pool = pools_at(pools, i);

		if (!pool) {
			*descriptor_missing = true;
			return NULL;
		}
		if (pool_move(pool, POOL_FREE, POOL_BUILDING))
			return pool;
	}
	return NULL;
}

/* Adds a descriptor under the lowest number that has none. */
static int add_descriptor(struct pools *pools)
{
	struct pool *pool = pool_new(pools->mem, 0);
	unsigned i = 1;

	if (!pool)
		return -ENOMEM;
	lock_take(&pools->lock);
	while (i <= POOLS_MAX && pools_at(pools, i))
		i++;
	if (i <= POOLS_MAX) {
		pool->number = i;
		atomic_store_explicit(&pools->all[i], pool,
				      memory_order_release);
		pool = NULL;
	}
	lock_give(&pools->lock);
	pool_delete(pool); /* others have taken all numbers meanwhile */
	return 0;
}

/* Takes a number for a new pool: 0, -EBUSY, -ENOMEM, -EINVAL (closed). */
static int reserve(struct pools *pools, struct pool **out)
{
	bool missing;
	int err = 0;

	do {
		bool closed;

		lock_take(&pools->lock);
		closed = pools->closed;
		*out = closed ? NULL : take_free(pools, &missing);
		lock_give(&pools->lock);
		if (closed)
			return -EINVAL;
		if (!*out && !missing)
			return -EBUSY;
		if (!*out)
			err = add_descriptor(pools);
	} while (!err && !*out);
	return err;
}

/*
 * A pool that is ready becomes the current one, unless another switch has made
 * one like it meanwhile; then that is used and this one thrown away.
 */
static void use_new(struct pools *pools, struct pool *pool,
		    const char *canonical)
{
	struct pool *old, *other;

	lock_take(&pools->lock);
	other = find_spec(pools, canonical);
	if (!other) {
		strcpy(pool->spec, canonical);
		pool_move(pool, POOL_BUILDING, POOL_CURRENT);
		atomic_fetch_add(&pools->nr, 1);
	}
	old = make_current(pools, other ? other : pool);
	lock_give(&pools->lock);
	if (other) {
		pool_close(pool);
		pool_move(pool, POOL_BUILDING, POOL_FREE);
	}
	after_retiring(pools, old);
}

int pools_switch(struct pools *pools, const char *text)
{
	struct spec spec;
	struct pool *pool;
	int err = spec_resolve(&pools->own, text, &spec, NULL);

	if (err)
		return err;
	pools_reap(pools);
	if (use_existing(pools, spec.canonical))
		return 0;
	err = reserve(pools, &pool);
	if (err)
		return err;
	err = pool_open(pool, &spec, &pools->zs);
	if (err) {
		pool_move(pool, POOL_BUILDING, POOL_FREE);
		return err;
	}
	use_new(pools, pool, spec.canonical);
	return 0;
}

size_t pools_spec(struct pools *pools, char *buf, size_t len)
{
	const char *spec;
	size_t whole;

	lock_take(&pools->lock);
	spec = atomic_load(&pools->current)->spec;
	whole = strlen(spec);
	if (len) {
		memcpy(buf, spec, min_size(whole, len - 1));
		buf[min_size(whole, len - 1)] = '\0';
	}
	lock_give(&pools->lock);
	return whole;
}

/* ---- making and ending --------------------------------------------------- */

static size_t own_bytes(const struct pools *pools)
{
	return pools->own.nr * (sizeof(*pools->own_ops) + sizeof(void *));
}

/* The vtables, and behind them the pointers to them that make the list. */
static int copy_own(struct pools *pools, const struct comp_list *own)
{
	const struct zswap_compressor **list;

	for (size_t i = 0; i < own->nr; i++)
		if (!spec_ops_are_complete(own->all[i]))
			return -EINVAL;
	if (!own->nr)
		return 0;
	pools->own.nr = own->nr;
	pools->own_ops = mem_alloc(pools->mem, own_bytes(pools), CACHE_LINE);
	if (!pools->own_ops)
		return -ENOMEM;
	list = (void *)(pools->own_ops + own->nr);
	for (size_t i = 0; i < own->nr; i++) {
		pools->own_ops[i] = *own->all[i];
		list[i] = &pools->own_ops[i];
	}
	pools->own.all = list;
	return 0;
}

int pools_init(struct pools *pools, struct mem *mem, const struct zs_params *zs,
	       const struct comp_list *own, const char *spec)
{
	int err;

	pools->mem = mem;
	pools->zs = *zs;
	sem_init(&pools->reaper_wakes, 0, 0);
	err = copy_own(pools, own);
	return err ? err : pools_switch(pools, spec);
}

void pools_exit(struct pools *pools)
{
	if (!pools->mem)
		return;
	lock_take(&pools->lock);
	pools->closed = true;
	lock_give(&pools->lock);
	stop_reaper(pools);
	pools_reap(pools);
	/* The compressors' functions may still ask for the current spec. */
	for (unsigned i = 1; i <= POOLS_MAX && pools_at(pools, i); i++)
		pool_close(pools_at(pools, i));
	for (unsigned i = 1; i <= POOLS_MAX && pools_at(pools, i); i++)
		pool_delete(pools_at(pools, i));
	mem_free(pools->mem, pools->own_ops, own_bytes(pools), CACHE_LINE);
	sem_destroy(&pools->reaper_wakes);
}
