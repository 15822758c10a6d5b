// SPDX-License-Identifier: MIT
/*
 * stress_take.c - D04: two loads and an invalidation race for one page
 *
 * Of the loads at most one may get it, and afterwards it is gone, once. A
 * poller looks for gauges that went below zero meanwhile.
 */
#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>

#define NR_RACERS 3
#define NR_SLOTS 4

struct race {
	struct zswap *z;
	pthread_barrier_t barrier;
	uint64_t deadline;
	atomic_bool over;
	atomic_uint winners;
};

/* Prepares a round; the others wait at the barrier meanwhile. */
static void begin_round(struct race *race, uint64_t round)
{
	CHECK(atomic_load(&race->winners) <= 1);
	CHECK(zswap_query(race->z, at(BORDER)) == ZSWAP_ABSENT);
	atomic_store(&race->winners, 0);
	CHECK(stress_store(race->z, at(BORDER), round) == 0);
	if (deadline_is_over(race->deadline))
		atomic_store(&race->over, true);
}

static void race_for_the_page(struct race *race, unsigned index, uint64_t round)
{
	uint64_t version;
	int err;

	if (index == 0) {
		zswap_invalidate(race->z, at(BORDER), 1);
		return;
	}
	err = stress_load(race->z, at(BORDER), false, &version);
	CHECK(err == 0 || err == -ENOENT);
	if (err)
		return;
	CHECK(version == round);
	atomic_fetch_add(&race->winners, 1);
}

static void poll_gauges(struct race *race)
{
	while (!atomic_load(&race->over))
		CHECK(stress_stats(race->z).stored_pages <= NR_SLOTS);
}

static void run(unsigned index, void *arg)
{
	struct race *race = arg;
	uint64_t round;

	if (index == NR_RACERS) {
		poll_gauges(race);
		return;
	}
	for (round = 0;; round++) {
		if (index == 0)
			begin_round(race, round);
		pthread_barrier_wait(&race->barrier);
		if (atomic_load(&race->over))
			break;
		race_for_the_page(race, index, round);
		pthread_barrier_wait(&race->barrier);
	}
}

int main(void)
{
	struct race race = { .z = stress_begin("take") };

	race.deadline = deadline_after_ms(1000);
	pthread_barrier_init(&race.barrier, NULL, NR_RACERS);
	run_threads(NR_RACERS + 1, run, &race);
	pthread_barrier_destroy(&race.barrier);
	stress_end(race.z);
	return 0;
}
