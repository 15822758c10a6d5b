/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - turns a hang into a failure
 *
 * When nobody has called watchdog_progress() for @seconds, the program says so
 * and ends by abort(), which leaves a core to look at. One per process.
 */
#ifndef TEST_WATCHDOG_H
#define TEST_WATCHDOG_H

/* @what names the program or the case in the message; it must stay. */
void watchdog_start(const char *what, unsigned seconds);
void watchdog_progress(void);
void watchdog_stop(void);

#endif
