/* SPDX-License-Identifier: MIT */
/*
 * arena.h - objects with an owner, for tests of the allocator from inside
 *
 * The owner lets every object be moved, unless a test says otherwise.
 */
#ifndef HELPERS_ARENA_H
#define HELPERS_ARENA_H

#include "check.h"
#include "random.h"
#include "zs_priv.h"

struct owned {
	zs_cell cell;
	size_t bytes; /* of the payload; 0: there is no object */
	bool stays;   /* may_move() says no */
	bool refuses; /* move() says no */
	/* Which of all moves of the program was its last, from 1 on. */
	uint64_t moved_as;
};

static _Atomic uint64_t owned_moves;

static inline size_t owned_may_move(zs_cell *cell)
{
	const struct owned *o = container_of(cell, struct owned, cell);

	return o->stays ? 0 : o->bytes;
}

static inline bool owned_move(zs_cell *cell, uint64_t place)
{
	struct owned *o = container_of(cell, struct owned, cell);

	if (o->refuses)
		return false;
	o->moved_as = atomic_fetch_add(&owned_moves, 1) + 1;
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

/* An arena, for which there is memory. */
static inline struct zs_arena *arena_with(struct mem *mem,
					  struct zs_params params)
{
	struct zs_arena *arena;

	CHECK(zs_arena_create(mem, &params, &arena) == 0);
	return arena;
}

/* ---- where things are ---------------------------------------------------- */

/* The class that the exact choice has for a request. */
static inline struct zs_class *class_for(struct zs_arena *arena, size_t bytes)
{
	return &arena->classes[zs_class_of_request(&arena->table, bytes)];
}

/* The class of a cell's object. */
static inline struct zs_class *class_of(struct zs_arena *arena,
					const zs_cell *cell)
{
	return &arena->classes[zs_place_class(zs_place(cell))];
}

static inline struct zspage *zspage_of(struct zs_arena *arena,
				       const zs_cell *cell)
{
	return span_owner(&arena->span, zs_payload(cell));
}

static inline char *object_of(struct zs_arena *arena, const zs_cell *cell)
{
	return (char *)zs_payload(cell) -
	       zs_header_bytes(class_of(arena, cell));
}

/* The object's number in its zspage. */
static inline unsigned index_of(struct zs_arena *arena, const zs_cell *cell)
{
	return (unsigned)(object_of(arena, cell) -
			  zspage_of(arena, cell)->base) /
	       class_of(arena, cell)->size.bytes;
}

/* The first zspage in a group's list, or NULL. */
static inline struct zspage *head_of(struct zs_class *class, unsigned group)
{
	if (list_empty(&class->groups[group]))
		return NULL;
	return zs_first_zspage(class, group);
}

/* The most bytes that an object of a class can have. */
static inline size_t payload_bytes(const struct zs_class *class)
{
	return class->size.bytes - zs_header_bytes(class);
}

static inline size_t free_places(const struct zs_class *class)
{
	return class->allocated - class->in_use;
}

/*
 * Whether a class has no more free places than steps may leave, with nothing
 * that has to stay; see zs_is_loose().
 */
static inline bool is_bounded(const struct zs_class *class)
{
	size_t n = class->size.objects;

	return n == 1 ||
	       free_places(class) + 2 <=
		       max_size(n, n / 2 + class->allocated / 128) + n / 2;
}

/* ---- payloads ------------------------------------------------------------ */

static inline void pattern_write(char *at, size_t bytes, uint64_t tag)
{
	uint64_t word = random_mix(tag);
	size_t i;

	for (i = 0; i + 8 <= bytes; i += 8)
		memcpy(at + i, &word, 8);
	memcpy(at + i, &word, bytes - i);
}

static inline void pattern_check(const char *at, size_t bytes, uint64_t tag)
{
	uint64_t word = random_mix(tag);
	size_t i;

	for (i = 0; i + 8 <= bytes; i += 8)
		CHECK(!memcmp(at + i, &word, 8));
	CHECK(!memcmp(at + i, &word, bytes - i));
}

/* The owner's address is the tag, and stays where it is. */
static inline void owned_write(struct owned *o)
{
	pattern_write(zs_payload(&o->cell), o->bytes, (uintptr_t)o);
}

static inline void owned_check(struct owned *o)
{
	pattern_check(zs_payload(&o->cell), o->bytes, (uintptr_t)o);
}

static inline void owned_take(struct zs_arena *arena, struct owned *o,
			      size_t bytes)
{
	CHECK(!o->bytes && zs_alloc_object(arena, bytes, &o->cell) == 0);
	o->bytes = bytes;
	owned_write(o);
}

/* Also of one that is free. */
static inline void owned_give(struct zs_arena *arena, struct owned *o)
{
	if (!o->bytes)
		return;
	owned_check(o);
	zs_free_object(arena, &o->cell, o->bytes);
	o->bytes = 0;
}

#endif /* HELPERS_ARENA_H */
