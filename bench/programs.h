/* SPDX-License-Identifier: MIT */
/* programs.h - programs that have something to do on most machines */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include <stddef.h>

struct program {
	const char *name;

	/* The first of these on PATH is run; NULL ends the list. */
	const char *commands[6];

	/* Left out when this other command exists: it does the same better. */
	const char *unless;

	/*
	 * For /bin/sh -c, in an empty folder. $0 is the command, $WORK the text
	 * below, $SECONDS_TO_WORK how long it should work, $FILES a shell
	 * command that lists readable files.
	 */
	const char *shell;
	const char *work;

	/*
	 * When its memory is read: once it has this much, or, where 0, once it
	 * prints a line, which says what it has done and goes on to hold it.
	 */
	size_t enough_mib;
	const char *doing; /* unless it has printed a line */
};

/* program_at() - the i-th; NULL past the end. The most telling come first. */
const struct program *program_at(size_t i);

/* Lists files for $FILES: text mostly, in a fixed order. */
extern const char program_files[];

#endif /* BENCH_PROGRAMS_H */
