/* SPDX-License-Identifier: MIT */
/* child.h - work in a process of its own, whose memory is its own */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stddef.h>

/* child_room() - zeroed memory in which children leave results; never NULL */
void *child_room(size_t bytes);

/*
 * child_run() - call @work(@arg) in a forked child, and wait for its end
 *
 * The child has a copy of everything but of child_room(), and no thread. When
 * it ends with an error, so does the program; it has said why.
 */
void child_run(void (*work)(void *arg), void *arg);

#endif /* BENCH_CHILD_H */
