/* SPDX-License-Identifier: MIT */
/*
 * calls.h - every public function, with good arguments and with bad ones
 *
 * Some promises hold for all calls: what a forked child is told, that none is a
 * point of cancellation, that a cache can be destroyed after any. A test of
 * such a promise goes through this table, so that a function which is added
 * later needs one line here. A test compares it with the exported names.
 *
 * The results are those on a cache as scene.h makes it, whose pages CALLS_FIRST
 * to CALLS_FIRST + CALLS_PAGES - 1 are those that calls are made on; area 1 is
 * the one that goes. Of its pool of objects none but the caller's are changed.
 */
#ifndef TEST_CALLS_H
#define TEST_CALLS_H

#include <stdbool.h>

#include <zswap/zsmalloc.h>

#include "stress.h"

#define CALLS_FIRST BORDER
#define CALLS_PAGES 3u

/* What a call does in a process that is not the cache's owner, and here. */
enum call_rule {
	CALL_ERRNO,     /* -EOWNERDEAD there */
	CALL_SILENT,    /* no such result: false, 0 or nothing there */
	CALL_ANYWHERE,  /* the same there as here; allocates nothing */
	CALL_MAKES,     /* the same, but takes memory for one of its own */
	CALL_ENDS,      /* destroys the cache; nothing there */
	CALL_ENDS_POOL, /* destroys the allocator's pool; nothing there */
};

static inline bool call_ends_something(enum call_rule rule)
{
	return rule == CALL_ENDS || rule == CALL_ENDS_POOL;
}

/* A result above zero, of which no more is known. */
#define CALL_POSITIVE INT32_MAX
/* Likewise, or zero. */
#define CALL_COUNT (INT32_MAX - 1)

/* All that a call is given. */
struct caller {
	struct zswap *z, *made;
	char in[CALLS_PAGES * PAGE_BYTES];
	char out[CALLS_PAGES * PAGE_BYTES];
	int results[CALLS_PAGES];
	struct zswap_folio from, to;
	zswap_slot_t slot, next;
	struct zswap_stats stats;
	char text[ZSWAP_MAX_SPEC + 1];
	const char *where;
	struct zs_pool *pool, *made_pool;
	zs_handle object, read, made_object; /* nobody else's; @read is read */
	struct zs_pool_stats pool_stats;
	struct zs_class_stats class_stats;
};

struct call {
	const char *function;
	const char *how;
	enum call_rule rule;
	long result;
	long (*run)(struct caller *c);
};

extern const struct call calls[];
extern const size_t nr_calls;

struct scene;

/* Gives it objects of its own where the scene is this process's. */
void caller_init(struct caller *c, const struct scene *s);

/* Makes the call and expects a result. */
void call_expect(const struct call *call, const struct scene *s, long expected);
/* Expects the result on a fresh scene, which then lacks what was destroyed. */
void call_here(const struct call *call, struct scene *s);

/*
 * All calls in a forked child on its parent's cache: nothing is done, nothing
 * is touched, and no hook or compressor of the cache's called.
 */
void call_all_elsewhere(struct scene *s, bool may_allocate);

#endif
