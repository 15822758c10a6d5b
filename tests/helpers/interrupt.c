// SPDX-License-Identifier: MIT
/*
 * interrupt.c - makes a thread stand still at any instruction
 *
 * A timer for each thread, since only the kernel can say which thread a
 * process's signal goes to.
 *
 * In a virtual machine to set a timer takes longer than most calls of a cache,
 * and when it comes the machine stands still for as long again: what counts is
 * the last instruction before that. So the timer is set for some time later, it
 * is measured once for each thread where it stops it, and that is waited for.
 */
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Longer than it takes to set a timer, or it would come before that is done. */
#define SET_NS 12000

#define NR_MEASURES 15

static _Thread_local struct interrupt *mine;

static void handle(int signal)
{
	int saved_errno = errno;

	(void)signal;
	if (mine) {
		mine->came = true;
		mine->pause(mine->arg);
	}
	errno = saved_errno;
}

/* Returns when it was set. */
static uint64_t set_timer(struct interrupt *interrupt, uint32_t ns)
{
	struct itimerspec when = { .it_value = { .tv_nsec = ns } };

	interrupt->came = false;
	CHECK(timer_settime(interrupt->timer, 0, &when, NULL) == 0);
	return now_ns();
}

/* ---- where it stops the thread ----------------------------------------- */

static int64_t measure_once(struct interrupt *interrupt)
{
	uint64_t due = set_timer(interrupt, 2 * SET_NS) + 2 * SET_NS;
	uint64_t last = due, now;

	for (;;) {
		now = now_ns();
		if (interrupt->came)
			return (int64_t)(last - due);
		last = now;
	}
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median, so that other programs on the machine do not matter. */
static int64_t measure(struct interrupt *interrupt)
{
	int64_t measures[NR_MEASURES];
	int i;

	for (i = 0; i < NR_MEASURES; i++)
		measures[i] = measure_once(interrupt);
	qsort(measures, NR_MEASURES, sizeof(measures[0]), compare);
	return measures[NR_MEASURES / 2];
}

static void do_nothing(void *unused)
{
	(void)unused;
}

/* ---- for tests --------------------------------------------------------- */

void interrupt_init(struct interrupt *interrupt, void (*pause)(void *arg),
		    void *arg)
{
	struct sigaction action = { .sa_handler = handle,
				    .sa_flags = SA_RESTART };
	struct sigevent event;

	interrupt->pause = do_nothing;
	interrupt->arg = arg;
	mine = interrupt;
	CHECK(sigaction(SIGRTMIN, &action, NULL) == 0);
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGRTMIN;
	event.sigev_notify_thread_id = gettid();
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &interrupt->timer) == 0);
	interrupt->late_ns = measure(interrupt);
	interrupt->pause = pause;
}

void interrupt_end(struct interrupt *interrupt)
{
	CHECK(timer_delete(interrupt->timer) == 0);
	mine = NULL;
}

void interrupt_after_ns(struct interrupt *interrupt, uint32_t ns)
{
	uint64_t set = set_timer(interrupt, SET_NS + ns);
	int64_t until = (int64_t)set + SET_NS + interrupt->late_ns;

	while ((int64_t)now_ns() < until)
		;
}
