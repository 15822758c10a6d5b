/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - where the caches of a run take their memory from
 *
 * From the library's own hooks or, with --hooks jemalloc, from two arenas of
 * jemalloc, which all caches of the run share.
 */
#ifndef BENCH_HOOKS_H
#define BENCH_HOOKS_H

#include <zswap/zswap.h>

/*
 * hooks_choose() - "default" or "jemalloc"; ends the program for other names,
 * and where jemalloc can't be had
 */
void hooks_choose(const char *name);

/* hooks_of_caches() - for zswap_create() */
const struct zswap_hooks *hooks_of_caches(void);

/* hooks_name() - as it was chosen */
const char *hooks_name(void);

/* hooks_say() - one line about them */
void hooks_say(void);

/* hooks_trim() - memory that no cache has goes to the system */
void hooks_trim(void);

/* hooks_finish() - after the last cache; it is broken if something is left */
void hooks_finish(void);

#endif /* BENCH_HOOKS_H */
