/* SPDX-License-Identifier: MIT */
/*
 * threads.h - threads of a test, and how long it may run
 */
#ifndef TEST_THREADS_H
#define TEST_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct thread {
	pthread_t id;
	void (*run)(void *arg);
	void *arg;
};

/* The struct stays in use until thread_join() has returned. */
void thread_start(struct thread *thread, void (*run)(void *arg), void *arg);
void thread_join(struct thread *thread);

/* Runs @run with @index 0 .. nr - 1, all at once, and waits for all. */
void run_threads(unsigned nr, void (*run)(unsigned index, void *arg),
		 void *arg);

/*
 * A place where threads wait for each other without sleeping, so that they
 * really go on together: a barrier's threads wake up one by one.
 */
struct meeting {
	unsigned nr; /* threads that meet */
	atomic_uint arrived, round;
};

void meeting_init(struct meeting *meeting, unsigned nr);
void meet(struct meeting *meeting);

/* ZSWAP_TEST_SCALE, or 1: by how much a test takes longer than usual. */
double test_scale(void);

/*
 * How often a test does what it usually does @nr times: with the scale, and an
 * eighth of it with ZSWAP_TEST_FEW_VARIANTS, where all is ten times as slow.
 */
unsigned test_rounds(unsigned nr);

/* When a test that usually takes @ms must end, in terms of now_ns(). */
uint64_t deadline_after_ms(unsigned ms);

/* Also tells the watchdog that the caller is alive. */
bool deadline_is_over(uint64_t deadline);

#endif
