/* SPDX-License-Identifier: MIT */
/*
 * zs.h - the allocator: objects of 1 byte to a page, by size class
 *
 * An *object* is what one request gets. Objects of one size class share
 * *zspages*, runs of 1 to 16 pages that are contiguous in virtual memory, so
 * that an object is always in one piece:
 *
 *	zspage  | object 0 | object 1 | ... | object n-1 | waste |
 *	object  | header: cell, bit 0 set | payload ... | slack |
 *	free    | next free object << 1   | ...                 |
 *
 * The *cell* is a word its owner keeps for as long as the object lives: it
 * holds the object's location, and the object's header holds the cell's
 * address. So an object could be moved, with its cell told, and its owner
 * needs no handle beside the cell. (The kernel has a cell of its own for each
 * handle.)
 *
 * A zspage has a *fullness group*, 0 (empty) to 11 (full), one for each tenth.
 * A class keeps a list for each group. A request is served from the fullest
 * zspage that is not full, the one that came to its group last, and there by
 * the object freed last. An empty zspage goes back at once.
 *
 * The huge class has one object in a zspage of one page, without a header, so
 * that a whole page fits; its cell's address is in the descriptor.
 *
 * Locking: class->lock guards the class's lists and its zspages' fields; it is
 * a leaf, dropped before memory is asked of the span or a slab. Payloads are
 * guarded by nothing: who owns the cell sees to it that nobody reads an object
 * while it is freed.
 *
 * Origin: Linux mm/zsmalloc.c, to the order in which objects are handed out.
 */
#ifndef ZSWAP_ZS_H
#define ZSWAP_ZS_H

#include "span.h"
#include "zs_class.h"

#define ZS_NR_GROUPS 12
#define ZS_FULL 11

/* Where an object begins: its header, or in the huge class its payload. */
typedef _Atomic uint64_t zs_cell;

struct zs_class {
	alignas(CACHE_LINE) struct lock lock;
	struct zs_class_size size;
	bool huge;
	uint16_t nonempty; /* bit g: groups[g] has a zspage */
	struct list groups[ZS_NR_GROUPS];
	/* in_use <= allocated == zspages x objects in one */
	size_t allocated;
	size_t in_use;
};

struct zs_arena {
	struct mem *mem;
	struct zs_class_table table;
	struct zs_class *classes;
	struct span_pool span;
	struct slab_cache zspages;
};

/**
 * zs_arena_create() - make an empty arena
 * @page_bytes: 4096, 16384 or 65536
 * @chain:      the most pages of a zspage, 1 .. 16
 *
 * Return: 0, or -ENOMEM, with *out NULL.
 */
int zs_arena_create(struct mem *mem, uint32_t page_bytes, uint32_t chain,
		    struct zs_arena **out);
/* Gives back everything, whatever objects are left. NULL is fine. */
void zs_arena_destroy(struct zs_arena *arena);

/**
 * zs_alloc_object() - allocate an object and put its location in a cell
 * @bytes: of payload, 1 .. a page
 * @cell:  written; must stay where it is until zs_free_object()
 *
 * Return: 0, or with @cell unchanged -EINVAL (0 bytes), -ENOSPC (more than a
 *         page), -EDQUOT (a zspage more would be above the limit), -ENOMEM.
 */
int zs_alloc_object(struct zs_arena *arena, size_t bytes, zs_cell *cell);

/* Frees a cell's object. @bytes: as in zs_alloc_object(). */
void zs_free_object(struct zs_arena *arena, zs_cell *cell, size_t bytes);

/* The payload of a cell's object: bytes long, as in zs_alloc_object(). */
static inline void *zs_payload(const struct zs_arena *arena,
			       const zs_cell *cell, size_t bytes)
{
	uintptr_t at =
		(uintptr_t)atomic_load_explicit(cell, memory_order_relaxed);

	if (bytes < arena->table.huge_bytes)
		at += ZS_HEADER_BYTES;
	return (void *)at;
}

/*
 * Fetches what zs_free_object() of this cell will need into the cache: called before
 * the payload is read, it hides about 100 ns of waiting behind that.
 */
static inline void zs_will_free(const struct zs_arena *arena,
				const zs_cell *cell, size_t bytes)
{
	uintptr_t at =
		(uintptr_t)atomic_load_explicit(cell, memory_order_relaxed);

	__builtin_prefetch(
		&arena->classes[zs_class_of_request(&arena->table, bytes)], 1);
	__builtin_prefetch(span_owner(&arena->span, (void *)at), 1);
}

/* Payloads from this many bytes on occupy a whole page. */
static inline size_t zs_arena_huge_bytes(const struct zs_arena *arena)
{
	return arena->table.huge_bytes;
}

/* Pages of all zspages: the kernel's measure, without the reserve. */
static inline size_t zs_arena_pages(struct zs_arena *arena)
{
	return span_held(&arena->span).used_granules;
}

/* Whether all invariants hold; for tests, with no call running. */
bool zs_arena_check(struct zs_arena *arena);

#endif /* ZSWAP_ZS_H */
