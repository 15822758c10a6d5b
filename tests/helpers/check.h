/* SPDX-License-Identifier: MIT */
/*
 * check.h - assertions that may fail in any thread
 *
 * cmocka's assertions leave by longjmp() and so belong to the thread that runs
 * the case. CHECK() ends the whole program instead, after a line that says
 * where, why and with which seed. A test may do that; the library may not.
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdint.h>

#define CHECK(condition)                                              \
	do {                                                          \
		if (!(condition))                                     \
			check_failed(__FILE__, __LINE__, #condition); \
	} while (0)

_Noreturn void check_failed(const char *file, int line, const char *what);

/*
 * What the program is doing, for the messages of failures and of the watchdog;
 * NULL for nothing in particular. The text must stay.
 */
void check_context(const char *doing);

/* Says that, and the seed. */
void check_print_context(void);

/* Nanoseconds of the monotonic clock. */
uint64_t now_ns(void);

#endif
