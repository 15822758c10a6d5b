/* SPDX-License-Identifier: MIT */
/*
 * driver.h - random sequences of calls, and the shortest one that still fails
 *
 * A *sequence* is an array of steps. A step names a call of a table and carries
 * the *choices* that the call's code makes while it runs, so that a step means
 * the same whatever was cut away before it:
 *
 *	step    | call 3 | 0 17 1 0 5 ... |        choose(n) takes the next one
 *
 * Choice 0 is always the simplest. So a failing sequence is made shorter by
 * leaving steps out, and simpler by lowering choices, without the driver
 * knowing what any of them means.
 *
 * The driver runs each sequence in a child process, whose end, good or bad, is
 * the verdict: a check that fails, a crash, a report of a sanitizer or a hang.
 * What a child needs to tell lies in memory that it shares with its parent.
 *
 *	model.c     the table of calls             knows everything
 *	world.h     a cache, its model, its hooks  calls.h: each call
 *	driver.h    sequences                      knows nothing of caches
 *
 * Origin: the choice sequences of the Hypothesis library, and delta debugging
 * by Zeller and Hildebrandt.
 */
#ifndef TEST_DRIVER_H
#define TEST_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

#define STEP_CHOICES 40
#define NR_THREADS 7
#define MAX_STEPS 4096

struct step {
	uint16_t call;   /* in the table */
	uint8_t failure; /* enum failure: of the hooks, during this step */
	uint8_t nr_used; /* choices made, once it has run */
	uint32_t failure_at;
	uint32_t thread; /* as which it is done, 0 .. NR_THREADS - 1 */
	uint32_t choices[STEP_CHOICES];
};

/* What memory and threads do during a step; the simplest first. */
enum failure {
	FAIL_NOTHING,
	FAIL_NTH,    /* the failure_at-th request of memory fails */
	FAIL_FROM,   /* that one and all after it */
	FAIL_THREAD, /* threads can't be made */
	NR_FAILURES
};

/* Shared with the children. */
struct sequence {
	volatile unsigned begun;   /* steps, the one that is running included */
	volatile uint64_t in_vain; /* failures planned that did not come */
	unsigned nr;
	struct step steps[MAX_STEPS];
};

/* ---- what the user of the driver provides -------------------------------- */

struct world;

struct call {
	const char *name;
	unsigned weight; /* how often, among the others */
	void (*run)(struct world *w);
	bool takes_memory; /* it may ask for memory, and so fail */
	bool nests;        /* a compressor may make it inside a store or load */
};

extern const struct call calls[];
extern const unsigned nr_calls;

/* Before the first child: makes what all share. */
void world_prepare(void);

/*
 * Does a sequence from a fresh start to an end at which nothing may be left,
 * and says what it does (program.h).
 */
void world_run(struct sequence *sequence);

/* ---- the driver ---------------------------------------------------------- */

int driver_main(int argc, char **argv);

#endif
