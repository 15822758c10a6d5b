// SPDX-License-Identifier: MIT
/*
 * create_destroy.c - D83, D52: caches made and destroyed, thousands of times
 *
 * At every stage of a cache's life: bare, with pages, with retired pools, while
 * its thread is about to end some. A second thread makes the calls, and hands
 * the cache over the moment its last call has returned. Afterwards the process
 * has the threads, the open files and the memory that it had.
 */
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "process.h"
#include "scene.h"

#define NR_ROUNDS 2000
#define WARM_UP 100
#define NR_SCATTERED 200

/* What a cache has been through when it is destroyed. */
enum stage {
	BARE,      /* created */
	WITH_AREA, /* with an area, or with many far apart */
	FULL,      /* with pages of every kind, retired pools, a thread */
	SOME_DEAD, /* some retired pools have ended, or are just ending */
	LAST_LOAD, /* a load has just left pools to the thread */
	COMPACTED, /* its objects have just been moved together */
	STAGES
};

struct life {
	struct scene scene;
	struct rng rng;
	enum stage stage;
	bool default_hooks;
	sem_t given, returned;
	atomic_bool over;
};

static void add_areas(struct life *life)
{
	unsigned i, nr = 1 + rng_below(&life->rng, 5);

	for (i = 0; i < nr; i++)
		CHECK(zswap_swapon(life->scene.z, i * 13000, AREA_SLOTS << i) ==
		      0);
}

/* Loads what the retired pools hold, from somewhere on to the end. */
static void load_retired(struct life *life)
{
	char page[PAGE_BYTES];
	uint64_t offset;

	scene_empty_retired(&life->scene, 1 + rng_below(&life->rng, 8));
	for (offset = SCENE_FIRST; offset < SCENE_FIRST + SCENE_PAGES;
	     offset++) {
		int err = zswap_load(life->scene.z, at(offset), page);

		CHECK(err == 0 || err == -ENOENT);
	}
}

/* D52: the thread that compacts hands the cache over when it has returned. */
static void scatter_and_compact(struct life *life)
{
	const uint64_t first = SCENE_FIRST + SCENE_PAGES;
	uint64_t i;

	for (i = 0; i < NR_SCATTERED; i++)
		CHECK(stress_store(life->scene.z, at(first + i), 4 * i) == 0);
	for (i = 0; i < NR_SCATTERED; i++)
		if (rng_below(&life->rng, 8))
			zswap_invalidate(life->scene.z, at(first + i), 1);
	CHECK(zswap_compact(life->scene.z) >= 0);
}

static void live(struct life *life)
{
	life->scene.params.hooks =
		life->default_hooks ? NULL : &life->scene.hooks.hooks;
	if (life->stage <= WITH_AREA)
		CHECK(zswap_create(&life->scene.z, &life->scene.params) == 0);
	else
		scene_fill(&life->scene);
	if (life->stage == WITH_AREA)
		add_areas(life);
	if (life->stage == SOME_DEAD)
		scene_empty_retired(&life->scene, rng_below(&life->rng, 3));
	if (life->stage == LAST_LOAD)
		load_retired(life);
	if (life->stage == COMPACTED)
		scatter_and_compact(life);
}

/* The thread that makes the calls: from semaphore to semaphore. */
static void live_when_told(void *arg)
{
	struct life *life = arg;

	for (;;) {
		while (sem_wait(&life->given))
			;
		if (atomic_load(&life->over))
			return;
		live(life);
		sem_post(&life->returned);
	}
}

static void one_life(struct life *life, unsigned round)
{
	life->stage = (enum stage)(round % STAGES);
	life->default_hooks = rng_below(&life->rng, 2);
	sem_post(&life->given);
	while (sem_wait(&life->returned))
		;
	/* Now and then the cache's thread gets a little further. */
	if (rng_below(&life->rng, 4) == 0)
		usleep(rng_below(&life->rng, 300));
	zswap_destroy(life->scene.z);
	scene_end_pool(&life->scene);
	CHECK(!life->scene.hooks.alloc_blocks);
	CHECK(!life->scene.hooks.map_blocks);
	CHECK(!life->scene.hooks.threads);
	CHECK(!atomic_load(&life->scene.codec.instances));
	watchdog_progress();
}

int main(void)
{
	static struct life life;
	struct holdings before;
	unsigned nr = test_rounds(NR_ROUNDS), i;
	struct thread thread;

	holdings_prepare();
	watchdog_start("create_destroy", 60);
	scene_init(&life.scene);
	rng_init(&life.rng, 1);
	CHECK(sem_init(&life.given, 0, 0) == 0);
	CHECK(sem_init(&life.returned, 0, 0) == 0);
	thread_start(&thread, live_when_told, &life);
	for (i = 0; i < WARM_UP; i++)
		one_life(&life, i);
	before = holdings_now();
	for (i = 0; i < nr; i++)
		one_life(&life, i);
	holdings_check_same(&before);
	/* Half of them have the default hooks: a page of each would be seen. */
	holdings_check_growth(&before, nr / 4 * (size_t)sysconf(_SC_PAGESIZE));
	atomic_store(&life.over, true);
	sem_post(&life.given);
	thread_join(&thread);
	scene_end(&life.scene);
	watchdog_stop();
	return 0;
}
