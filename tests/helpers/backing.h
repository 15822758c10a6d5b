/* SPDX-License-Identifier: MIT */
/*
 * backing.h - where the memory behind the hooks of tests comes from
 *
 * From malloc and mmap or, with ZSWAP_TEST_HOOKS=jemalloc in the environment,
 * from arenas of jemalloc. Where these are asked for and can't be had the
 * program ends with a failure: it never takes the others instead.
 */
#ifndef TEST_BACKING_H
#define TEST_BACKING_H

#include <stdbool.h>

#include <zswap/zswap.h>

#include "jemalloc_hooks.h"

struct backing {
	struct zswap_hooks hooks; /* but for threads; they never give NULL */
	bool is_jemalloc;
	struct jemalloc_hooks jemalloc;
};

/* The struct stays where it is until backing_end(). */
void backing_init(struct backing *b);

/* Whether all came back, as far as it can be seen: arenas know, malloc not. */
bool backing_end(struct backing *b);

/*
 * The hooks of caches for which a test has none: NULL, for the library's own,
 * or those of arenas that all such caches share. The first call is made by one
 * thread. usual_hooks_end() tells whether all came back; with the next call of
 * usual_hooks() it begins anew.
 */
const struct zswap_hooks *usual_hooks(void);
bool usual_hooks_end(void);

#endif
