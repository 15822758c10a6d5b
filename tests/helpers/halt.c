// SPDX-License-Identifier: MIT
/*
 * halt.c - a thread is stopped wherever it is, and goes on when it is told to
 *
 * Between two stops the thread has to get somewhere, or it would stand where it
 * stood before: so each waits for some rounds.
 */
#include "halt.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "threads.h"
#include "watchdog.h"

#define LONGEST_NS 3000000
#define ROUNDS 3

static struct {
	struct thread thread;
	void (*round)(void *arg);
	void *arg;
	atomic_ulong rounds;
	atomic_bool stands;
	atomic_bool ends;
} halted;

/* The signal may come late, too. */
static void wait_while_it_stands(bool value)
{
	uint64_t end = now_ns() + LONGEST_NS;

	while (atomic_load(&halted.stands) == value && now_ns() < end)
		sched_yield();
}

static void stand_still(int signal)
{
	(void)signal;
	atomic_store(&halted.stands, true);
	wait_while_it_stands(true);
	atomic_store(&halted.stands, false);
}

static void run_rounds(void *unused)
{
	(void)unused;
	while (!atomic_load(&halted.ends)) {
		halted.round(halted.arg);
		atomic_fetch_add(&halted.rounds, 1);
	}
}

static void wait_for_rounds(void)
{
	unsigned long end = atomic_load(&halted.rounds) + ROUNDS;

	while (atomic_load(&halted.rounds) < end)
		sched_yield();
}

void halt_start(void (*round)(void *arg), void *arg)
{
	struct sigaction action = { .sa_handler = stand_still,
				    .sa_flags = SA_RESTART };

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	halted.round = round;
	halted.arg = arg;
	atomic_store(&halted.stands, false);
	atomic_store(&halted.ends, false);
	thread_start(&halted.thread, run_rounds, NULL);
}

void halt(void)
{
	wait_for_rounds();
	CHECK(pthread_kill(halted.thread.id, SIGUSR1) == 0);
	wait_while_it_stands(false);
}

void halt_go_on(void)
{
	atomic_store(&halted.stands, false);
	wait_for_rounds();
	watchdog_progress();
}

void halt_end(void)
{
	atomic_store(&halted.stands, false);
	atomic_store(&halted.ends, true);
	thread_join(&halted.thread);
}
