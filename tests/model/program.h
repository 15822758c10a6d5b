/* SPDX-License-Identifier: MIT */
/*
 * program.h - what a sequence does, as a C program
 *
 * Lines are written at once, to files that outlive the child, so that a crash
 * in a call leaves the call as the last line. A call that a compressor makes
 * goes into a function of its own.
 */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include <zswap/zswap.h>

/* In the parent, before the child that writes. */
void program_start(void);

/* In the child: a line, indented; nothing unless a program was started. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What follows is said in a function with this number, until the end. */
void program_function(unsigned number);
void program_function_end(void);

/* A slot as C; stays until the fourth call from now. */
const char *slot_text(zswap_slot_t slot);

/* A string as C; stays until the next call. */
const char *string_text(const char *string);

/* In the parent, afterwards: prints the program. */
void program_print(void);

#endif
