/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_hooks.h - hooks that are served from arenas of jemalloc
 *
 * What an application that uses jemalloc would write, for the tests and the
 * bench: two arenas that nothing else takes memory from, so that they say to
 * the byte what a cache holds, and go with it.
 *
 *	struct jemalloc_hooks j;
 *	const char *why = jemalloc_hooks_init(&j);
 *
 *	if (why)
 *		there is none, because of that
 *	params.hooks = &j.hooks;
 *	...
 *	good = jemalloc_hooks_end(&j);		whether all came back
 *
 * jemalloc is not linked, for that would make it the malloc of every program,
 * and many builds of it can't be loaded later. It must be in the process from
 * its start:
 *
 *	LD_PRELOAD=libjemalloc.so.2 program
 */
#ifndef TEST_JEMALLOC_HOOKS_H
#define TEST_JEMALLOC_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include <zswap/zswap.h>

struct jemalloc_hooks {
	struct zswap_hooks hooks; /* hand this to zswap_create() */

	unsigned blocks; /* the arena of what alloc gives */
	unsigned pages;  /* the arena of what map gives */

	/* jemalloc's own. */
	void *(*mallocx)(size_t bytes, int flags);
	void (*sdallocx)(void *ptr, size_t bytes, int flags);
	void (*dallocx)(void *ptr, int flags);
	int (*mallctl)(const char *name, void *old, size_t *old_len,
		       void *new_value, size_t new_len);
};

/* What a cache holds now, each block rounded up to jemalloc's size classes. */
struct jemalloc_held {
	size_t block_bytes;
	size_t page_bytes;
};

/*
 * jemalloc_hooks_init() - two fresh arenas
 *
 * Return: NULL, or a text without an end that says why there are none.
 */
const char *jemalloc_hooks_init(struct jemalloc_hooks *j);

/* jemalloc_hooks_held() - exact when no call of a cache is running */
struct jemalloc_held jemalloc_hooks_held(const struct jemalloc_hooks *j);

/* jemalloc_hooks_trim() - what the arenas keep free goes to the system */
void jemalloc_hooks_trim(const struct jemalloc_hooks *j);

/*
 * jemalloc_hooks_end() - end the arenas, with whatever is still in them
 *
 * Return: whether nothing was.
 */
bool jemalloc_hooks_end(struct jemalloc_hooks *j);

/* jemalloc_hooks_version() - as in "5.3.0-0-g0"; of a struct that is set up */
const char *jemalloc_hooks_version(const struct jemalloc_hooks *j);

#endif
