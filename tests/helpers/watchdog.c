// SPDX-License-Identifier: MIT
/*
 * watchdog.c - turns a hang into a failure
 *
 * A thread rather than alarm(), whose signal would interrupt the calls under
 * test. It looks four times in the time allowed.
 */
#include "watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"

#define LOOKS 4

static struct {
	pthread_mutex_t lock;
	pthread_cond_t stopping;
	bool stop; /* under lock */
	pthread_t thread;
	const char *what;
	unsigned seconds;
	atomic_ulong progress;
} dog = { .lock = PTHREAD_MUTEX_INITIALIZER,
	  .stopping = PTHREAD_COND_INITIALIZER };

static void add_ms(struct timespec *ts, unsigned long ms)
{
	unsigned long ns = (unsigned long)ts->tv_nsec + ms % 1000 * 1000000;

	ts->tv_sec += (time_t)(ms / 1000 + ns / 1000000000);
	ts->tv_nsec = (long)(ns % 1000000000);
}

/* Sleeps for one look; true when the dog was stopped. */
static bool sleep_unless_stopped(void)
{
	struct timespec until;
	int err = 0;
	bool stopped;

	clock_gettime(CLOCK_REALTIME, &until);
	add_ms(&until, 1000ul * dog.seconds / LOOKS);
	pthread_mutex_lock(&dog.lock);
	while (!dog.stop && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&dog.stopping, &dog.lock, &until);
	stopped = dog.stop;
	pthread_mutex_unlock(&dog.lock);
	return stopped;
}

static void *watch(void *unused)
{
	unsigned long seen = atomic_load(&dog.progress), now;
	int idle = 0;

	(void)unused;
	while (!sleep_unless_stopped()) {
		now = atomic_load(&dog.progress);
		idle = now == seen ? idle + 1 : 0;
		seen = now;
		if (idle < LOOKS)
			continue;
		fprintf(stderr, "%s: no progress for %u s\n", dog.what,
			dog.seconds);
		check_print_context();
		abort();
	}
	return NULL;
}

void watchdog_start(const char *what, unsigned seconds)
{
	dog.stop = false;
	dog.what = what;
	dog.seconds = seconds;
	CHECK(pthread_create(&dog.thread, NULL, watch, NULL) == 0);
}

void watchdog_progress(void)
{
	atomic_fetch_add_explicit(&dog.progress, 1, memory_order_relaxed);
}

void watchdog_stop(void)
{
	pthread_mutex_lock(&dog.lock);
	dog.stop = true;
	pthread_cond_broadcast(&dog.stopping);
	pthread_mutex_unlock(&dog.lock);
	pthread_join(dog.thread, NULL);
}
