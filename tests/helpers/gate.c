// SPDX-License-Identifier: MIT
/*
 * gate.c - a place where a thread stands still until it is told to go on
 */
#include "gate.h"

#include <time.h>

#define PATIENCE_S 60

void gate_init(struct gate *gate)
{
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->changed, NULL);
	gate->closed = false;
	gate->waiting = 0;
}

void gate_end(struct gate *gate)
{
	pthread_cond_destroy(&gate->changed);
	pthread_mutex_destroy(&gate->lock);
}

static void set_closed(struct gate *gate, bool closed)
{
	pthread_mutex_lock(&gate->lock);
	gate->closed = closed;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

void gate_close(struct gate *gate)
{
	set_closed(gate, true);
}

void gate_open(struct gate *gate)
{
	set_closed(gate, false);
}

void gate_pass(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->waiting++;
	pthread_cond_broadcast(&gate->changed);
	while (gate->closed)
		pthread_cond_wait(&gate->changed, &gate->lock);
	gate->waiting--;
	pthread_mutex_unlock(&gate->lock);
}

bool gate_wait(struct gate *gate, unsigned nr)
{
	struct timespec until;
	int err = 0;
	bool there;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&gate->lock);
	while (gate->waiting < nr && !err)
		err = pthread_cond_timedwait(&gate->changed, &gate->lock,
					     &until);
	there = gate->waiting >= nr;
	pthread_mutex_unlock(&gate->lock);
	return there;
}
