// SPDX-License-Identifier: MIT
/*
 * zs_compact.c - moves objects together, and gives back what becomes empty
 *
 *	emptiest zspage  | a |   | b |   |      fullest that is not full
 *	                   |       +-----------> | x | x | b | x | a |
 *	                   +------------------------------------->
 *
 * A class is compact when it has fewer free places than a zspage has: then no
 * zspage could be saved. All at once (zs_arena_compact()) it is done as the
 * kernel does it: a destination is filled by one source after the other, both
 * off their lists meanwhile; the lock is dropped each time that one is full. In
 * steps (zs_compact_step()) each begins with a look at the lists.
 *
 * An object is moved under its class's lock: copied to its new place, then its
 * cell is changed, if its owner agrees; so nobody frees it meanwhile, and who
 * reads it keeps it where it is. Only its header and payload are copied, where
 * the kernel copies its slack too.
 *
 * Objects that must stay are passed over and counted; a zspage with such ones
 * is set aside until the class is done, so that each is looked at once. (The
 * kernel ends a class at the first zspage that is being read.)
 */
#include "zs_priv.h"

static void add_to(_Atomic uint64_t *counter, uint64_t n)
{
	if (n)
		atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* ---- one object ---------------------------------------------------------- */

/* False when the object must stay; then all is as it was. */
static bool move_object(struct zs_arena *arena, struct zspage *src, char *from,
			zs_cell *cell, struct zspage *dst)
{
	const struct zs_owner *owner = arena->params.owner;
	size_t header = zs_header_bytes(src->class);
	size_t bytes = owner->may_move(cell);
	char *to;

	if (!bytes)
		return false;
	to = zs_take_object(dst);
	zs_open_object(dst, to, cell, bytes);
	memcpy(to + header, from + header, bytes);
	if (!owner->move(cell, zs_place_of(dst->class, to))) {
		zs_put_object(arena, dst, to, bytes);
		return false;
	}
	zs_put_object(arena, src, from, bytes);
	return true;
}

struct moves {
	uint64_t moved;
	uint64_t skipped;
};

/*
 * Moves up to `most` objects, in ascending order from where it ended last in
 * this zspage, until src is empty, dst full, or all were looked at.
 */
static void move_objects(struct zs_arena *arena, struct zspage *src,
			 struct zspage *dst, unsigned most, struct moves *moves)
{
	unsigned objects = src->class->size.objects;
	unsigned made = src->fresh / src->class->size.bytes;
	unsigned i = src->next_moved;

	lock_assert_held(&src->class->lock);
	for (unsigned n = 0;
	     n < objects && most && src->in_use && dst->in_use < objects; n++) {
		char *object = zs_object_at(src, i);
		zs_cell *cell = i < made ? zs_cell_of(src, object) : NULL;

		if (cell && move_object(arena, src, object, cell, dst)) {
			moves->moved++;
			most--;
		} else if (cell) {
			moves->skipped++;
		}
		i = i + 1 < objects ? i + 1 : 0;
	}
	src->next_moved = (uint16_t)i;
}

static void count(struct zs_arena *arena, const struct moves *moves)
{
	add_to(&arena->params.compaction->moved, moves->moved);
	add_to(&arena->params.compaction->skipped, moves->skipped);
}

static bool may_compact(const struct zs_arena *arena,
			const struct zs_class *class)
{
	return arena->params.owner && class->size.objects > 1;
}

/* ---- a step -------------------------------------------------------------- */

/*
 * Moves objects to dst out of the emptiest zspage of which any can be moved,
 * and returns that, or NULL. One is looked at in each group: the one that came
 * there first, so that others which come to its group do not take its place
 * before it is empty (see zs_is_loose()). Where nothing can be moved it goes to
 * the other end of its list, so that the next step looks at another.
 */
static struct zspage *move_from_emptiest(struct zs_arena *arena,
					 struct zs_class *class,
					 struct zspage *dst,
					 struct moves *moves)
{
	unsigned before = (unsigned)moves->moved;

	for (unsigned g = 1; g < ZS_FULL; g++) {
		struct list *group = &class->groups[g];
		struct zspage *src =
			list_entry(group->prev, struct zspage, node);

		if (list_empty(group) || src == dst)
			continue;
		move_objects(arena, src, dst, ZS_STEP_MOVES - before, moves);
		if (moves->moved > before)
			return src;
		list_del(&src->node);
		list_add(&src->node, group);
	}
	return NULL;
}

/* Where a destination is full after the first move, the next is taken. */
struct zspage *zs_compact_step(struct zs_arena *arena, struct zs_class *class)
{
	struct zspage *src, *dst, *emptied = NULL;
	struct moves moves = { 0, 0 };

	lock_assert_held(&class->lock);
	if (!may_compact(arena, class))
		return NULL;
	while (!emptied && moves.moved < ZS_STEP_MOVES &&
	       (dst = zs_fullest(class)) &&
	       (src = move_from_emptiest(arena, class, dst, &moves))) {
		zs_regroup(class, dst);
		if (src->in_use) {
			zs_regroup(class, src);
			continue;
		}
		zs_retire_zspage(class, src);
		add_to(&arena->params.compaction->pages, class->size.pages);
		emptied = src;
	}
	count(arena, &moves);
	return emptied;
}

/* ---- a class ------------------------------------------------------------- */

/* Off its list for a while. */
static struct zspage *isolate(struct zs_class *class, struct zspage *zspage)
{
	if (zspage)
		zs_unlist_zspage(class, zspage);
	return zspage;
}

static void put_back(struct zs_class *class, struct zspage *zspage)
{
	if (!zspage)
		return;
	zs_set_group(zspage);
	zs_list_zspage(class, zspage);
}

struct round {
	struct list set_aside; /* zspages with objects that must stay */
	struct list emptied;
	struct moves moves;
};

/*
 * Fills one destination with as many sources as it takes. False when the class
 * is done: it is compact, or has no source or no destination any more.
 */
static bool fill_one(struct zs_arena *arena, struct zs_class *class,
		     struct round *round)
{
	unsigned objects = class->size.objects;
	struct zspage *src, *dst = isolate(class, zs_fullest(class));

	while (dst && dst->in_use < objects && zs_freeable(class) &&
	       (src = isolate(class, zs_emptiest(class)))) {
		uint64_t skipped = round->moves.skipped;

		src->next_moved = 0;
		move_objects(arena, src, dst, UINT32_MAX, &round->moves);
		if (!src->in_use) {
			class->allocated -= objects;
			list_add(&src->node, &round->emptied);
			continue;
		}
		if (skipped != round->moves.skipped) {
			zs_set_group(src);
			list_add(&src->node, &round->set_aside);
		} else {
			put_back(class, src);
		}
	}
	put_back(class, dst);
	return dst && dst->group == ZS_FULL;
}

/* Returns pages given back. Called without the class's lock. */
static uint64_t free_emptied(struct zs_arena *arena, struct list *emptied)
{
	struct list *pos, *tmp;
	uint64_t pages = 0;

	list_for_each_safe(pos, tmp, emptied) {
		struct zspage *zspage = list_entry(pos, struct zspage, node);

		pages += zspage->class->size.pages;
		zs_free_zspage(arena, zspage);
	}
	list_init(emptied);
	return pages;
}

/* Other threads may have taken some of them off, by freeing their objects. */
static void put_back_all(struct zs_class *class, struct list *set_aside)
{
	while (!list_empty(set_aside)) {
		struct zspage *zspage =
			list_entry(set_aside->next, struct zspage, node);

		list_del(&zspage->node);
		put_back(class, zspage);
	}
}

/*
 * No more rounds than there are zspages, for others may go on freeing objects
 * as fast as they are moved.
 */
static uint64_t compact_class(struct zs_arena *arena, struct zs_class *class)
{
	struct round round = { .moves = { 0, 0 } };
	uint64_t pages = 0;
	size_t rounds;
	bool more;

	if (!may_compact(arena, class))
		return 0;
	list_init(&round.set_aside);
	list_init(&round.emptied);
	lock_take(&class->lock);
	rounds = class->allocated / class->size.objects;
	do {
		more = fill_one(arena, class, &round) && --rounds;
		if (!more)
			put_back_all(class, &round.set_aside);
		zs_note_lender(arena, class);
		lock_give(&class->lock);
		pages += free_emptied(arena, &round.emptied);
		if (more)
			lock_take(&class->lock);
	} while (more);
	count(arena, &round.moves);
	return pages;
}

uint64_t zs_arena_compact(struct zs_arena *arena)
{
	uint64_t pages = 0;

	if (atomic_exchange_explicit(&arena->compacting, true,
				     memory_order_acquire))
		return 0;
	for (unsigned i = arena->table.nr_classes; i--;)
		pages += compact_class(arena, &arena->classes[i]);
	add_to(&arena->params.compaction->pages, pages);
	atomic_store_explicit(&arena->compacting, false, memory_order_release);
	return pages;
}
