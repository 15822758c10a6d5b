/* SPDX-License-Identifier: MIT */
/*
 * halt.h - a thread is stopped wherever it is, and goes on when it is told to
 *
 * Where two steps of a call must be proof against what comes between them, the
 * gap is a few instructions, and threads that race meet it once in an hour.
 * Here a thread makes the call over and over; a signal stops it anywhere,
 * within the gap as likely as elsewhere, and meanwhile the test does what may
 * come between.
 *
 *	test                       thread
 *	halt_start(round, arg)     round(arg), round(arg), ...
 *	halt()                     stands still somewhere in a round
 *	  ... what comes between   .
 *	halt_go_on()               ends that round, and some more
 *	halt_end()                 ends
 *
 * The thread may have a lock that the test needs then: after some milliseconds
 * it goes on by itself. One thread at a time.
 */
#ifndef TEST_HALT_H
#define TEST_HALT_H

/* Stops that are enough to meet a gap of some instructions. */
#define HALTS 200

void halt_start(void (*round)(void *arg), void *arg);
void halt(void);
void halt_go_on(void);
void halt_end(void);

#endif
