/* SPDX-License-Identifier: MIT */
/*
 * faulty.h - hooks that keep accounts, and fail when told to
 *
 * Every block is remembered with its size and alignment, so that a give-back
 * that does not match is found. Memory is handed out as the header allows it:
 * alloc() gives rubbish with a red zone behind it, and what was purged reads as
 * rubbish too. It comes from where backing.h says. What a caller does wrong is
 * kept in @misuse, the first one only.
 *
 *	struct faulty f;
 *
 *	faulty_init(&f);
 *	params.hooks = &f.hooks;
 *	faulty_fail_nth(&f, FAULTY_ANY, 3);	the third call fails
 *	...
 *	assert_true(faulty_end(&f));		nothing is left
 */
#ifndef TEST_FAULTY_H
#define TEST_FAULTY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zswap/zswap.h>

#include "backing.h"

/* Which calls are meant. */
#define FAULTY_ALLOC 1u
#define FAULTY_MAP 2u
#define FAULTY_ANY (FAULTY_ALLOC | FAULTY_MAP)
#define FAULTY_THREAD 4u /* not among any: a cache works without its thread */

#define FAULTY_BUCKETS 1024

struct faulty_block;

struct faulty {
	struct zswap_hooks hooks; /* hand this to zswap_create() */
	struct backing backing;   /* what they take the memory from */

	pthread_mutex_t lock; /* of all below */
	struct faulty_block *buckets[FAULTY_BUCKETS];
	const char *misuse;

	/* Held now. */
	size_t alloc_blocks, alloc_bytes;
	size_t map_blocks, map_bytes;
	size_t threads, most_threads;

	/* Calls so far; the failed ones are counted too. */
	uint64_t allocs, frees, maps, unmaps, purges, thread_creates;
	uint64_t purged_bytes;

	/* The plan: which calls count, how many pass, how many fail then. */
	unsigned fail_kinds;
	uint64_t pass, fail;
	uint64_t failed; /* since the plan was made */
	bool purge_fails;
};

void faulty_init(struct faulty *f);

/* The @k-th call of these kinds from now on fails, and no other; k from 1. */
void faulty_fail_nth(struct faulty *f, unsigned kinds, uint64_t k);

/* The @k-th call of these kinds from now on fails, and all after it. */
void faulty_fail_from(struct faulty *f, unsigned kinds, uint64_t k);

/* No more failures. Returns how many there were since the plan was made. */
uint64_t faulty_fail_none(struct faulty *f);

/* What is held at one moment, while other threads may be at work. */
struct faulty_held {
	size_t alloc_blocks, alloc_bytes;
	size_t map_blocks, map_bytes;
	size_t threads;
	const char *misuse;
};

struct faulty_held faulty_held(struct faulty *f);

/* alloc and map calls so far. */
uint64_t faulty_takes(struct faulty *f);

/* Calls of any hook so far. */
uint64_t faulty_calls(struct faulty *f);

/* The first @bytes equal to @what in any mapping, or NULL. */
void *faulty_find(struct faulty *f, const void *what, size_t bytes);

/* Calls @visit for each mapping, with the lock held. */
void faulty_each_map(struct faulty *f,
		     void (*visit)(void *arg, void *addr, size_t bytes),
		     void *arg);

/* Whether nothing is held and nothing was misused; says what, if not. */
bool faulty_end(struct faulty *f);

#endif
