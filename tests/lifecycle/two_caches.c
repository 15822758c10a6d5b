// SPDX-License-Identifier: MIT
/*
 * two_caches.c - D86: two caches of one process know nothing of each other
 *
 * They differ in page size, compressor, limit, policy and hooks. Eight threads
 * use both at once, each with slots of its own in each, and change the settings
 * of one. Then that one is destroyed while they go on with the other, which has
 * every page, whose counters tell of the calls on it alone, and whose settings
 * are as they were.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "stress.h"

#define NR_THREADS 8
#define NR_SLOTS 32 /* of a thread */
#define NR_ROUNDS 8

/* A cache that lives on, or one that is changed and destroyed meanwhile. */
struct side {
	struct zswap *z;
	struct faulty hooks;
	size_t page_bytes;
	atomic_ulong stores, loads;
};

struct pair {
	struct side lasting, passing;
	pthread_barrier_t passing_is_done;
	unsigned steps;
};

static void side_begin(struct side *side, const char *compressor,
		       size_t page_bytes, uint64_t max_bytes)
{
	struct zswap_params params = { .size = sizeof(params),
				       .page_size = page_bytes,
				       .compressor = compressor,
				       .max_pool_bytes = max_bytes,
				       .hooks = &side->hooks.hooks };

	faulty_init(&side->hooks);
	atomic_store(&side->stores, 0);
	atomic_store(&side->loads, 0);
	side->page_bytes = page_bytes;
	CHECK(zswap_create(&side->z, &params) == 0);
	CHECK(zswap_swapon(side->z, 0, AREA_SLOTS) == 0);
}

/* ---- pages ------------------------------------------------------------- */

/* A thread's place in a side, and what its slots hold. */
struct place {
	struct side *side;
	unsigned thread;
	uint64_t version[NR_SLOTS];
	char *page;
};

static zswap_slot_t slot_of(const struct place *p, unsigned i)
{
	return at(BORDER - NR_THREADS * NR_SLOTS / 2 + i * NR_THREADS +
		  p->thread);
}

static void place_begin(struct place *p, struct side *side, unsigned thread)
{
	memset(p, 0, sizeof(*p));
	p->side = side;
	p->thread = thread;
	p->page = malloc(side->page_bytes);
	CHECK(p->page);
}

/* A refused page is absent; only the passing side refuses any. */
static void store(struct place *p, unsigned i, uint64_t version, bool must)
{
	zswap_slot_t slot = slot_of(p, i);
	int err;

	page_stamp(p->page, p->side->page_bytes, zswap_slot_offset(slot),
		   version);
	err = zswap_store(p->side->z, slot, p->page);
	CHECK(err == 0 || (!must && (err == -ENOSPC || err == -EPERM)));
	p->version[i] = err ? 0 : version;
	atomic_fetch_add(&p->side->stores, 1);
}

static void look(struct place *p, unsigned i)
{
	zswap_slot_t slot = slot_of(p, i);
	uint64_t version;
	int err = zswap_peek(p->side->z, slot, p->page);

	CHECK(err == (p->version[i] ? 0 : -ENOENT));
	atomic_fetch_add(&p->side->loads, 1);
	if (err)
		return;
	CHECK(page_verify(p->page, p->side->page_bytes, zswap_slot_offset(slot),
			  &version));
	CHECK(version == p->version[i]);
}

static void change_settings(struct place *p, struct rng *rng)
{
	static const char *const specs[] = { "deflate:level=1", "lz4",
					     "zstd:level=1" };
	struct zswap *z = p->side->z;

	CHECK(zswap_set_compressor(z, specs[rng_below(rng, 3)]) == 0);
	CHECK(zswap_set_enabled(z, rng_below(rng, 4) != 0) == 0);
	CHECK(zswap_set_accept_threshold_percent(z, rng_below(rng, 101)) == 0);
	if (rng_below(rng, 2))
		CHECK(zswap_set_max_pool_bytes(
			      z, rng_below(rng, 64) * p->side->page_bytes) ==
		      0);
	else
		CHECK(zswap_set_max_pool_percent(z, rng_below(rng, 3)) == 0);
}

static void step(struct place *p, struct rng *rng, uint64_t version, bool must)
{
	store(p, rng_below(rng, NR_SLOTS), version, must);
	look(p, rng_below(rng, NR_SLOTS));
}

static void run(unsigned index, void *arg)
{
	struct pair *pair = arg;
	struct place lasting, passing;
	struct rng rng;
	unsigned i;

	rng_init(&rng, index);
	place_begin(&lasting, &pair->lasting, index);
	place_begin(&passing, &pair->passing, index);
	for (i = 1; i <= pair->steps; i++) {
		step(&lasting, &rng, i, true);
		step(&passing, &rng, i, false);
		if (rng_below(&rng, 16) == 0)
			change_settings(&passing, &rng);
	}
	/* The calls on it are over: one destroys it, the others go on. */
	if (pthread_barrier_wait(&pair->passing_is_done) ==
	    PTHREAD_BARRIER_SERIAL_THREAD)
		zswap_destroy(pair->passing.z);
	for (; i <= 2 * pair->steps; i++)
		step(&lasting, &rng, i, true);
	for (i = 0; i < NR_SLOTS; i++)
		look(&lasting, i);
	free(lasting.page);
	free(passing.page);
	watchdog_progress();
}

/* ---- what the lasting one says ----------------------------------------- */

static void check_lasting(struct side *side)
{
	struct zswap_stats stats = stress_stats(side->z);
	char spec[ZSWAP_MAX_SPEC + 1];

	CHECK(zswap_page_size(side->z) == side->page_bytes);
	CHECK(zswap_get_compressor(side->z, spec, sizeof(spec)) > 0);
	CHECK(strcmp(spec, "lz4") == 0);
	CHECK(stats.max_pool_bytes == ZSWAP_UNLIMITED);
	CHECK(stats.pools == 1);
	CHECK(stats.stores == atomic_load(&side->stores));
	CHECK(stats.stored_folios == stats.stores);
	CHECK(stats.loads == atomic_load(&side->loads));
	stress_check_sums(side->z);
	zswap_destroy(side->z);
	CHECK(faulty_end(&side->hooks));
}

int main(void)
{
	static struct pair pair;
	unsigned i;

	watchdog_start("two_caches", 60);
	pair.steps = test_rounds(100);
	CHECK(pthread_barrier_init(&pair.passing_is_done, NULL, NR_THREADS) ==
	      0);
	for (i = 0; i < NR_ROUNDS; i++) {
		side_begin(&pair.lasting, "lz4", i % 2 ? 16384 : 4096,
			   ZSWAP_UNLIMITED);
		side_begin(&pair.passing, "zstd:level=1", 65536, 1 << 20);
		run_threads(NR_THREADS, run, &pair);
		CHECK(faulty_end(&pair.passing.hooks));
		check_lasting(&pair.lasting);
	}
	pthread_barrier_destroy(&pair.passing_is_done);
	watchdog_stop();
	return 0;
}
