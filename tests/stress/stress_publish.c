// SPDX-License-Identifier: MIT
/*
 * stress_publish.c - D07: readers meet entries that come and go
 *
 * Every page a reader gets is whole, of its slot, and of a version that its
 * writer has begun to store. Each slot has one writer, so versions only grow:
 * a peek that sees less than an earlier one has found a stale page.
 */
#include "stress.h"

#include <stdatomic.h>

#define NR_SLOTS 64
#define FIRST (BORDER - NR_SLOTS / 2)
#define NR_WRITERS 2
#define NR_READERS 3

struct board {
	struct zswap *z;
	uint64_t deadline;
};

static void write_pages(struct board *board, unsigned writer, struct rng *rng)
{
	uint64_t version = 0, offset;

	while (!deadline_is_over(board->deadline)) {
		offset = FIRST +
			 rng_below(rng, NR_SLOTS / NR_WRITERS) * NR_WRITERS +
			 writer;
		if (rng_below(rng, 4))
			CHECK(stress_store(board->z, at(offset), ++version) ==
			      0);
		else
			zswap_invalidate(board->z, at(offset),
					 1 + rng_below(rng, 4));
	}
}

static void read_pages(struct board *board, struct rng *rng)
{
	uint64_t seen[NR_SLOTS] = { 0 }, version;
	uint32_t i;
	int err;

	while (!deadline_is_over(board->deadline)) {
		i = rng_below(rng, NR_SLOTS);
		err = stress_load(board->z, at(FIRST + i),
				  rng_below(rng, 8) != 0, &version);
		CHECK(err == 0 || err == -ENOENT);
		if (err)
			continue;
		CHECK(version >= seen[i]);
		seen[i] = version;
	}
}

static void run(unsigned index, void *arg)
{
	struct rng rng;

	rng_init(&rng, index);
	if (index < NR_WRITERS)
		write_pages(arg, index, &rng);
	else
		read_pages(arg, &rng);
}

int main(void)
{
	struct board board = { .z = stress_begin("publish") };

	board.deadline = deadline_after_ms(1500);
	run_threads(NR_WRITERS + NR_READERS, run, &board);
	stress_end(board.z);
	return 0;
}
