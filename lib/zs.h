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
 * holds the object's *place*, its class and its payload's address, and the
 * object's header holds the cell's address. So an object can be moved, with its
 * cell told, and its owner needs no handle beside the cell. (The kernel has a
 * cell of its own for each handle.) What all zspages of one owner are allocated
 * from is an *arena*.
 *
 * A zspage has a *fullness group*, 0 (empty) to 11 (full), one for each tenth.
 * A class keeps a list for each group. A request is served from the fullest
 * zspage that is not full, the one that came to its group last, and there by
 * the object freed last. An empty zspage goes back at once.
 *
 * The huge class has one object in a zspage of one page, without a header, so
 * that a whole page fits; its cell's address is in the descriptor.
 *
 * The class of a request is exact, as the kernel's, or adaptive (zs_choice.h).
 *
 * *Compaction* (zs_compact.c) moves objects of a class from its emptiest
 * zspages to its fullest. An arena compacts when told to; or by itself, then
 * whoever frees an object moves a few of its class, as long as that has more
 * free places than it should.
 *
 * Locking: class->lock guards the class's lists and its zspages' fields; it is
 * a leaf, dropped before memory is asked of the span or a slab. A place changes
 * under its class's lock only, and stays in that class. Payloads are guarded by
 * nothing: who owns the cell sees to it that nobody reads an object while it is
 * freed, and says of each object whether it may be moved.
 *
 * Origin: Linux mm/zsmalloc.c, to the order in which objects are handed out.
 */
#ifndef ZSWAP_ZS_H
#define ZSWAP_ZS_H

#include "span.h"
#include "zs_choice.h"

#define ZS_NORMAL_CHAIN 8 /* the kernel's usual one */
#define ZS_NR_GROUPS 12
#define ZS_FULL 11

/* | class 16 | address of the payload 48 | */
typedef _Atomic uint64_t zs_cell;

#define ZS_PLACE_BITS SPAN_ADDRESS_BITS

/* What compaction asks of whoever owns the cells, under the class's lock. */
struct zs_owner {
	/*
	 * The payload's bytes, or 0 if the object must stay where it is: it is
	 * being read, or written. Its bytes are copied after this, and move()
	 * is called in any case.
	 */
	size_t (*may_move)(zs_cell *cell);
	/*
	 * Puts the place of the copy in the cell, unless the object came into
	 * use meanwhile; then false. Where payloads may be written later than
	 * at first, may_move() must have seen to it that none is: the copy
	 * would be an old one.
	 */
	bool (*move)(zs_cell *cell, uint64_t place);
};

/* What compaction did; of several arenas together, if their owner likes. */
struct zs_compaction {
	_Atomic uint64_t moved;   /* objects */
	_Atomic uint64_t skipped; /* objects that had to stay */
	_Atomic uint64_t pages;   /* given back */
};

/* What callers choose, as the public headers have it. */
static inline bool zs_choices_are_known(size_t page_size, uint32_t chain_size,
					uint32_t class_choice,
					uint32_t compaction,
					uint32_t memory_flags)
{
	return (page_size == 0 || page_size == 4096 || page_size == 16384 ||
		page_size == 65536) &&
	       chain_size <= ZS_MAX_CHAIN &&
	       class_choice <= ZSWAP_CLASSES_ADAPTIVE &&
	       compaction <= ZSWAP_COMPACT_MANUAL &&
	       !(memory_flags &
		 ~(ZSWAP_MEM_HUGE_PAGES | ZSWAP_MEM_NO_DUMP | ZSWAP_MEM_WIPE));
}

struct zs_params {
	uint32_t page_bytes; /* 4096, 16384 or 65536 */
	uint32_t chain;      /* the most pages of a zspage, 1 .. 16 */
	bool adaptive;
	bool auto_compact;
	bool wipe; /* payloads that are freed or moved away */
	const struct zs_owner *owner;     /* NULL: no object may be moved */
	struct zs_compaction *compaction; /* counters, kept longer than the
					     arena */
};

struct zs_class {
	alignas(CACHE_LINE) struct lock lock;
	struct zs_class_size size;
	uint16_t number;   /* in the table */
	uint16_t nonempty; /* bit g: groups[g] has a zspage */
	bool huge;
	bool lends; /* as in arena->lenders */
	/*
	 * The fewest objects of each group and all above it, and a number that
	 * none has; so that a zspage's new group is found without a division.
	 */
	uint16_t first_used[ZS_NR_GROUPS + 1];
	struct list groups[ZS_NR_GROUPS];
	/* in_use <= allocated == zspages x objects in one */
	size_t allocated;
	size_t in_use;
};

struct zs_arena {
	struct mem *mem;
	struct zs_params params;
	struct zs_class_table table;
	struct zs_class *classes;
	struct zs_choice *choice; /* NULL: exact */
	/* Bit c: class c has a free place. Kept for the adaptive choice only. */
	_Atomic uint64_t lenders[(ZS_MAX_CLASSES + 63) / 64];
	_Atomic bool compacting;
	struct span_pool span;
	struct slab_cache zspages;
};

/* An empty arena: 0, or -ENOMEM, with *out NULL. */
int zs_arena_create(struct mem *mem, const struct zs_params *params,
		    struct zs_arena **out);
/* Gives back, and wipes, whatever objects are left. NULL is fine. */
void zs_arena_destroy(struct zs_arena *arena);

/**
 * zs_alloc_object() - allocate an object and put its place in a cell
 * @bytes: of payload, 1 .. a page
 * @cell:  written; must stay where it is until zs_free_object(). may_move() may
 *         be asked of it before this returns, and must say 0 of it as long as
 *         somebody writes the payload
 *
 * Return: 0, or with @cell unchanged -EINVAL (0 bytes), -ENOSPC (more than a
 *         page), -EDQUOT (a zspage more would be above the limit), -ENOMEM.
 */
int zs_alloc_object(struct zs_arena *arena, size_t bytes, zs_cell *cell);

/* Frees a cell's object. @bytes: as in zs_alloc_object(). */
void zs_free_object(struct zs_arena *arena, zs_cell *cell, size_t bytes);

/* No more compaction by itself: all objects are going to be freed. */
static inline void zs_arena_settle(struct zs_arena *arena)
{
	arena->params.auto_compact = false;
}

/**
 * zs_arena_compact() - compact all classes
 *
 * Return: pages given back; 0 at once while another thread is compacting.
 */
uint64_t zs_arena_compact(struct zs_arena *arena);

static inline uint64_t zs_place(const zs_cell *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

static inline unsigned zs_place_class(uint64_t place)
{
	return (unsigned)(place >> ZS_PLACE_BITS);
}

static inline void *zs_place_payload(uint64_t place)
{
	return (void *)(uintptr_t)(place &
				   ((UINT64_C(1) << ZS_PLACE_BITS) - 1));
}

/* The payload of a cell's object, which is not being moved. */
static inline void *zs_payload(const zs_cell *cell)
{
	return zs_place_payload(zs_place(cell));
}

/*
 * Fetches what zs_free_object() of this cell will need into the cache: called
 * before the payload is read, it hides about 100 ns of waiting behind that. The
 * object must not be moved meanwhile: where it was there may be no memory now.
 */
static inline void zs_will_free(const struct zs_arena *arena,
				const zs_cell *cell)
{
	uint64_t place = zs_place(cell);

	__builtin_prefetch(&arena->classes[zs_place_class(place)], 1);
	__builtin_prefetch(span_owner(&arena->span, zs_place_payload(place)),
			   1);
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

/* The figures of one class, at one moment. */
struct zs_class_figures {
	struct zs_class_size size;
	size_t allocated, in_use; /* objects */
	size_t freeable_pages;    /* that compaction would give back */
	size_t zspages[ZS_NR_GROUPS];
};

void zs_class_figures(struct zs_arena *arena, unsigned class,
		      struct zs_class_figures *out);

/* Sums over the classes, each class at one moment. */
struct zs_arena_figures {
	size_t in_use;         /* objects */
	size_t freeable_pages; /* that compaction would give back */
};

void zs_arena_figures(struct zs_arena *arena, struct zs_arena_figures *out);

/* Whether all invariants hold; for tests, with no call running. */
bool zs_arena_check(struct zs_arena *arena);

#endif /* ZSWAP_ZS_H */
