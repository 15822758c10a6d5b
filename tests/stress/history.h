/* SPDX-License-Identifier: MIT */
/*
 * history.h - whether what threads saw can have happened
 *
 * The world is a few *places*, each with a number in it: what a slot holds,
 * whether its area is there, a setting. A *call* acts on places at *moments*,
 * each of them somewhere between the call's begin and its end, in no order of
 * their own. At one moment it may look at several places and change several,
 * with nobody in between: that is how a folio is one. A call that makes slots
 * absent one by one has a moment for each.
 *
 * A history is linearizable if all moments of all calls can be put in one order
 * in which each sees what it has seen, none of a call comes before one of a
 * call that had ended before it began, and the last numbers are the final ones.
 *
 *	struct call *call = history_call(&h, thread, "load");
 *	struct moment *m = call_moment(call);
 *
 *	moment_sees(m, slot, TEST_IS, version);
 *	moment_sets(m, slot, 0);
 */
#ifndef TEST_HISTORY_H
#define TEST_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_THREADS 4
#define HISTORY_CALLS 4 /* of each thread */
#define HISTORY_PLACES 8
#define HISTORY_MOMENTS 4 /* of each call */

enum test {
	TEST_NOTHING,
	TEST_IS,
	TEST_IS_NOT,
	TEST_KIND, /* a number but 0 of which kind_of() says this */
};

/* How many of a moment's tests must hold, if not an exact number. */
#define HOLDS_ALL (-1)
#define HOLDS_SOME (-2)

struct touch {
	enum test test;
	uint32_t seen;
	bool sets;
	uint32_t next;
};

struct moment {
	struct touch touches[HISTORY_PLACES];
	int holds;
};

struct call {
	const char *name;
	uint64_t begin, end; /* on a clock that all threads share */
	unsigned nr_moments;
	struct moment moments[HISTORY_MOMENTS];
};

struct history {
	unsigned (*kind_of)(uint32_t number);
	uint32_t first[HISTORY_PLACES]; /* before all calls */
	uint32_t last[HISTORY_PLACES];  /* after them */
	unsigned nr[HISTORY_THREADS];
	struct call calls[HISTORY_THREADS][HISTORY_CALLS];
};

/* Forgets all calls. */
void history_clear(struct history *history);

/* The next call of a thread; threads may do this at the same time. */
struct call *history_call(struct history *history, unsigned thread,
			  const char *name);

/* A moment whose tests must all hold, and which has none yet. */
struct moment *call_moment(struct call *call);
void moment_sees(struct moment *moment, unsigned place, enum test test,
		 uint32_t seen);
void moment_sets(struct moment *moment, unsigned place, uint32_t next);

bool history_is_linearizable(const struct history *history);
void history_print(const struct history *history);

#endif
