/* SPDX-License-Identifier: MIT */
/*
 * arena.h - objects with an owner, for tests of the allocator from inside
 *
 * The owner lets every object be moved, unless a test says otherwise.
 */
#ifndef HELPERS_ARENA_H
#define HELPERS_ARENA_H

#include "zs_priv.h"

struct owned {
	zs_cell cell;
	size_t bytes; /* of the payload; 0: there is no object */
	bool stays;   /* may_move() says no */
	bool refuses; /* move() says no */
};

static inline size_t owned_may_move(zs_cell *cell)
{
	const struct owned *o = container_of(cell, struct owned, cell);

	return o->stays ? 0 : o->bytes;
}

static inline bool owned_move(zs_cell *cell, uint64_t place)
{
	if (container_of(cell, struct owned, cell)->refuses)
		return false;
	atomic_store(cell, place);
	return true;
}

static const struct zs_owner owned_owner = { owned_may_move, owned_move };

/* Exact classes, no compaction by itself; counters of nobody in particular. */
static inline struct zs_params exact_params(uint32_t page_bytes, uint32_t chain)
{
	static struct zs_compaction counters;

	return (struct zs_params){ .page_bytes = page_bytes,
				   .chain = chain,
				   .owner = &owned_owner,
				   .compaction = &counters };
}

#endif /* HELPERS_ARENA_H */
