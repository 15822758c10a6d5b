/* SPDX-License-Identifier: MIT */
/*
 * zs_priv.h - a zspage's descriptor and its objects, for the allocator's files
 * and its tests
 */
#ifndef ZSWAP_ZS_PRIV_H
#define ZSWAP_ZS_PRIV_H

#include "poison.h"
#include "zs.h"

#include <string.h>

/* Bit 0 of an object's first word: allocated. */
#define ZS_ALLOCATED UINT64_C(1)
#define ZS_NO_OBJECT UINT32_MAX

/*
 * Free objects are listed by their offset in the zspage. Those from `fresh` on
 * were never handed out and hold no link yet; they follow the listed ones, in
 * ascending order, which is the order of the kernel's list.
 *
 * Of a zspage's memory only the headers and the payloads of objects in use are
 * allowed (see poison.h), as long as they were asked for: what lies behind a
 * payload in its object is forbidden. The class's lock is held when this
 * changes, but for a zspage that is not in the class's lists yet.
 *
 * Invariants: in_use + listed + (end - fresh) / size == objects;
 * group == zs_fullness(in_use, objects).
 */
struct zspage {
	struct list node; /* on class->groups[group], or set aside */
	char *base;
	zs_cell *huge_cell;
	struct zs_class *class;
	uint32_t first_free; /* offset, or ZS_NO_OBJECT */
	uint32_t fresh;      /* offset */
	uint16_t in_use;
	uint16_t next_moved; /* object at which compaction goes on */
	uint8_t group;
};

/* The fullness group of a zspage with `used` of `objects` in use. */
static inline unsigned zs_fullness(unsigned used, unsigned objects)
{
	if (!used)
		return 0;
	if (used == objects)
		return ZS_FULL;
	return 100 * used / objects / 10 + 1;
}

/* ---- lists; the class's lock is held ------------------------------------- */

void zs_list_zspage(struct zs_class *class, struct zspage *zspage);
void zs_unlist_zspage(struct zs_class *class, struct zspage *zspage);
/* Sets the group of a zspage that is on no list. */
void zs_set_group(struct zspage *zspage);
/* Puts it in another list where its group has changed. */
void zs_regroup(struct zs_class *class, struct zspage *zspage);

static inline struct zspage *zs_first_zspage(struct zs_class *class,
					     unsigned group)
{
	return list_entry(class->groups[group].next, struct zspage, node);
}

/* The fullest zspage that is not full, or NULL. */
static inline struct zspage *zs_fullest(struct zs_class *class)
{
	unsigned groups = class->nonempty & ~(1u << ZS_FULL);

	if (!groups)
		return NULL;
	return zs_first_zspage(class, 31 - (unsigned)__builtin_clz(groups));
}

/* The emptiest zspage that is neither empty nor full, or NULL. */
static inline struct zspage *zs_emptiest(struct zs_class *class)
{
	unsigned groups = class->nonempty & ~(1u << ZS_FULL) & ~1u;

	if (!groups)
		return NULL;
	return zs_first_zspage(class, (unsigned)__builtin_ctz(groups));
}

/* Zspages that compaction could give back. */
static inline size_t zs_freeable(const struct zs_class *class)
{
	return (class->allocated - class->in_use) / class->size.objects;
}

/* Takes an empty zspage off its class, for zs_free_zspage(). */
void zs_retire_zspage(struct zs_class *class, struct zspage *zspage);
/* Keeps arena->lenders true; before the lock is given. */
void zs_note_lender(struct zs_arena *arena, struct zs_class *class);

/* Called without the class's lock. */
void zs_free_zspage(struct zs_arena *arena, struct zspage *zspage);

/* ---- objects; the class's lock is held ----------------------------------- */

/* An object's first word, be it in use or free. */
static inline uint64_t zs_read_word(char *at)
{
	uint64_t word;

	poison_read(&word, at, sizeof(word));
	return word;
}

/* Takes the next free object, whose contents are forbidden. */
char *zs_take_object(struct zspage *zspage);
/* Puts it back. bytes: of its payload, for wiping. */
void zs_put_object(struct zs_arena *arena, struct zspage *zspage, char *object,
		   size_t bytes);
/* Allows the header and the payload, not what lies behind; sets the header. */
void zs_open_object(struct zspage *zspage, char *object, zs_cell *cell,
		    size_t bytes);

/* The cell of an object in use, or NULL. */
zs_cell *zs_cell_of(const struct zspage *zspage, char *object);

static inline char *zs_object_at(const struct zspage *zspage, unsigned i)
{
	return zspage->base + (size_t)i * zspage->class->size.bytes;
}

static inline size_t zs_header_bytes(const struct zs_class *class)
{
	return class->huge ? 0 : ZS_HEADER_BYTES;
}

static inline uint64_t zs_place_of(const struct zs_class *class,
				   const char *object)
{
	return (uint64_t) class->number << ZS_PLACE_BITS |
	       ((uintptr_t)object + zs_header_bytes(class));
}

/* ---- compaction in small steps ------------------------------------------- */

/*
 * What freeing an object costs more where the arena compacts by itself. A free
 * place comes with each object freed, and a zspage of n places is emptied by
 * less than n moves, so one move would do; two halve what is free meanwhile.
 */
#define ZS_STEP_MOVES 2

/*
 * Whether a class has more free places than it should: half of those of a
 * zspage, and one of 128 besides. With the places of a whole zspage the cache
 * holds 1 to 2 % more at 32 MiB, and moves a twentieth less: the zspage to be
 * given back should be nearly empty when its places are not needed any more.
 * Without the second term large classes would move an object for each that is
 * freed, from zspages that are nearly full; a larger one would hold more.
 *
 * While no object has to stay, a class of n objects in a zspage has at most
 * n / 2 - 2 more free places, after any call, than this, or than n. Once it has
 * as many:
 *
 * 1. There are two zspages in part used, since one has less than n free places,
 *    so each step moves two objects or empties a zspage.
 * 2. The objects left in the source get fewer by two with each step, as steps
 *    take from the same one until it is empty; or another has come to a group
 *    below by the free, and that has fewer still.
 * 3. So a zspage of n places is given back after n / 2 frees at most, and then
 *    the class has fewer again.
 */
static inline bool zs_is_loose(const struct zs_class *class)
{
	return class->allocated - class->in_use >=
	       class->size.objects / 2 + class->allocated / 128;
}

/*
 * Moves a few objects. Returns a zspage that became empty and is the caller's,
 * for zs_free_zspage(), or NULL. The class's lock is held.
 */
struct zspage *zs_compact_step(struct zs_arena *arena, struct zs_class *class);

#endif /* ZSWAP_ZS_PRIV_H */
