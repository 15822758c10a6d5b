// SPDX-License-Identifier: MIT
/*
 * stress_replace.c - D05: sixteen threads store at one slot
 *
 * At rest the slot holds one of them, whole, and the gauges know one page.
 */
#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>

#define NR_WRITERS 16

struct contest {
	struct zswap *z;
	pthread_barrier_t barrier;
	uint64_t deadline;
	atomic_bool over;
};

static void look_at_winner(struct contest *contest, uint64_t round)
{
	struct zswap_stats stats = stress_stats(contest->z);
	uint64_t version;

	CHECK(stats.stored_pages == 1);
	CHECK(stats.same_filled_pages + stats.stored_incompressible_pages <= 1);
	CHECK(stress_load(contest->z, at(BORDER), round % 2, &version) == 0);
	CHECK(version / NR_WRITERS == round);
	if (deadline_is_over(contest->deadline))
		atomic_store(&contest->over, true);
}

static void run(unsigned index, void *arg)
{
	struct contest *contest = arg;
	uint64_t round = 0;

	for (; !atomic_load(&contest->over); round++) {
		CHECK(stress_store(contest->z, at(BORDER),
				   round * NR_WRITERS + index) == 0);
		pthread_barrier_wait(&contest->barrier);
		if (index == 0)
			look_at_winner(contest, round);
		pthread_barrier_wait(&contest->barrier);
	}
}

int main(void)
{
	struct contest contest = { .z = stress_begin("replace") };

	contest.deadline = deadline_after_ms(1000);
	pthread_barrier_init(&contest.barrier, NULL, NR_WRITERS);
	run_threads(NR_WRITERS, run, &contest);
	pthread_barrier_destroy(&contest.barrier);
	stress_end(contest.z);
	return 0;
}
