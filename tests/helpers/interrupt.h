/* SPDX-License-Identifier: MIT */
/*
 * interrupt.h - makes a thread stand still at any instruction
 *
 * Two threads that make a call each seldom meet inside of the calls, least of
 * all on a machine that has other things to do. Here a timer's signal stops a
 * thread wherever it is, in the middle of a call and with whatever locks it
 * has; the handler lets others go on before it returns.
 *
 *	interrupt_init(&i, wait_for_others, arg);	in that thread
 *	interrupt_after_ns(&i, 5000);
 *	... in about 5 us wait_for_others(arg) is called, from a handler ...
 *	interrupt_end(&i);
 *
 * It is an ordinary signal, so it also tests that calls of the system that it
 * cuts short are made again.
 */
#ifndef TEST_INTERRUPT_H
#define TEST_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct interrupt {
	timer_t timer;
	void (*pause)(void *arg); /* may do what a signal handler may do */
	void *arg;
	int64_t late_ns; /* how much later than set it stops the thread */
	volatile bool came;
};

/* For the calling thread, which has one at most. */
void interrupt_init(struct interrupt *interrupt, void (*pause)(void *arg),
		    void *arg);
void interrupt_end(struct interrupt *interrupt);

/*
 * Once, about so long after the return. Of several such calls before the signal
 * comes the last one counts.
 */
void interrupt_after_ns(struct interrupt *interrupt, uint32_t ns);

#endif
