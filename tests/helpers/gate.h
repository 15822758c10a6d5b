/* SPDX-License-Identifier: MIT */
/*
 * gate.h - a place where a thread stands still until it is told to go on
 *
 *	test                          thread
 *	gate_close(&g)
 *	                              gate_pass(&g)   stands still
 *	gate_wait(&g, 1)              .
 *	  ... it stands there ...     .
 *	gate_open(&g)                 goes on
 */
#ifndef TEST_GATE_H
#define TEST_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool closed;
	unsigned waiting; /* threads that stand there */
};

/* A new gate is open. */
void gate_init(struct gate *gate);
void gate_end(struct gate *gate);

void gate_close(struct gate *gate);
void gate_open(struct gate *gate);
void gate_pass(struct gate *gate);

/* Waits until @nr threads stand there; false when it takes over a minute. */
bool gate_wait(struct gate *gate, unsigned nr);

#endif
