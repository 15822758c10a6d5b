/* SPDX-License-Identifier: MIT */
/*
 * rival.h - other allocators, each loaded as a library of its own
 *
 * None of them replaces the bench's malloc, and none meets another: whatever
 * asks one of them for memory does so through its struct. That holds also where
 * LD_PRELOAD has made one the malloc of the whole program.
 */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H

#include <stdbool.h>
#include <stddef.h>

enum { GLIBC, JEMALLOC, MIMALLOC, NR_RIVALS };

struct mallinfo2;

struct rival {
	const char *name;
	void *(*malloc)(size_t bytes);
	void (*free)(void *ptr);

	/*
	 * Bytes it has from the system, without those that others had in use
	 * when it was loaded here; NULL where it does not tell.
	 */
	size_t (*held)(const struct rival *r);

	/* Gives back to the system what it can. */
	void (*trim)(const struct rival *r);

	size_t others; /* bytes, as above */

	/* Its own calls, for these two. */
	struct mallinfo2 (*mallinfo2)(void);
	int (*malloc_trim)(size_t pad);
	int (*mallctl)(const char *name, void *old, size_t *old_len,
		       void *new_value, size_t new_len);
	void (*mi_collect)(bool force);
};

/* rival_name() - of one that may not be there */
const char *rival_name(unsigned which);

/*
 * rivals_prepare() - to be called first of all, with the program's arguments
 *
 * Starts the program anew, once, where it would else have too little room for
 * the thread-local memory of libraries that are loaded later.
 */
void rivals_prepare(char **argv);

/*
 * rival_load() - find an allocator of this machine's
 *
 * Return: NULL, or a text that says why it is not there.
 */
const char *rival_load(struct rival *r, unsigned which);

#endif /* BENCH_RIVAL_H */
