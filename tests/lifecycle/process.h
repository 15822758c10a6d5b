/* SPDX-License-Identifier: MIT */
/*
 * process.h - what this process holds, and processes it starts
 *
 * A library that is used and done with leaves no thread, no open file and no
 * memory. The kernel counts all three; what malloc() keeps for later is not
 * lost, so compare after a few rounds.
 *
 * It calls nothing of the library, for a program that loads it late.
 */
#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sanitizer.h"

/*
 * What malloc() and the C library keep of blocks and stacks for later. The
 * sanitizers keep more, and notes about each block, thread and library: there
 * memory is not compared, but searched for leaks.
 */
#define PROCESS_SLACK_BYTES ((size_t)4 << 20)
#define SANITIZER_KEEPS_NOTES (TEST_ASAN || TEST_TSAN)

/*
 * Other threads' locks stay taken for ever in a forked child. The C library
 * sees to its own; the sanitizers' allocators do not, and threads of a child
 * are more than ThreadSanitizer can follow. So a child of threads allocates
 * nothing there, and leaves by _exit() or dies.
 */
#define CHILD_MAY_ALLOCATE (!TEST_ASAN && !TEST_TSAN)

size_t process_threads(void);
size_t process_files(void);
size_t process_mappings(void);
size_t process_mapped_bytes(void);
size_t process_resident_bytes(void);

/*
 * Until this many threads are left, for a minute at most: a thread that was
 * joined is still counted for a moment.
 */
void process_wait_for_threads(size_t nr);

/* What was held at some moment, and that no more is held now. */
struct holdings {
	size_t threads, files, resident_bytes;
};

/*
 * To be called first where memory is compared: or malloc() makes an arena more
 * whenever many threads come at once.
 */
void holdings_prepare(void);

struct holdings holdings_now(void);
void holdings_check_same(const struct holdings *before);

/* That fewer than @bytes of memory have come, where a test knows better. */
void holdings_check_growth(const struct holdings *before, size_t bytes);

/*
 * Forks; the child runs @run, then leaves by _exit(0). A failed CHECK() is its
 * death by SIGABRT, and so is a hang by SIGALRM. Returns the status that
 * waitpid() gives.
 */
int child_status(void (*run)(void *arg), void *arg);
void child_must_succeed(void (*run)(void *arg), void *arg);

/* Waits, and expects exit status @code. */
void wait_for_exit(pid_t pid, int code);

/* To be called first in a child: ends it when it hangs. */
void child_begin(void);

/* This program anew, with @mode as its argument. */
pid_t process_start_again(const char *mode);

/* The same in place of the calling process, which may be a vfork() child. */
_Noreturn void process_become(const char *mode);

#endif
