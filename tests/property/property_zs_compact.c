// SPDX-License-Identifier: MIT
/*
 * property_zs_compact.c - compaction puts every object where zsmalloc would
 *
 * The model is zsmalloc's rules for which zspage and which place are next, and
 * those of compaction, with nothing but arrays: of a zspage the objects by
 * their places, and the free places in the order in which they were freed; of a
 * group the zspages in the order in which they came. It says of every object
 * where it is, and of each move which object goes when; the arena, with the
 * exact choice, must say the same.
 *
 * In one thing we differ from the kernel: objects that must stay are skipped,
 * and their zspages set aside until the class is done.
 */
#include "property.h"

#include <string.h>

#include "arena.h"
#include "faulty.h"

#define MAX_OBJECTS 600
#define MAX_PLACES 1024 /* in a zspage */
#define NR_SIZES 3

struct object {
	struct owned owned;
	struct model_zspage *zspage; /* where it is, by the model */
	unsigned place;
	uint64_t move; /* which of all moves was its last, by the model */
};

/* A zspage. */
struct model_zspage {
	char *base; /* seen of its first object */
	unsigned class, group, used;
	struct object *objects[MAX_PLACES];
	unsigned nr_free;
	uint16_t free[MAX_PLACES]; /* the last one is next */
};

/* Zspages in the order in which they came. */
struct row {
	unsigned nr;
	struct model_zspage *zspages[MAX_OBJECTS];
};

struct model_class {
	unsigned allocated, in_use;
	struct row groups[ZS_NR_GROUPS];
};

struct model {
	struct faulty hooks;
	struct mem mem;
	struct zs_arena *arena;
	struct zs_compaction compaction;
	size_t sizes[NR_SIZES];
	unsigned nr; /* objects */
	uint64_t moves, skipped;
	struct object objects[MAX_OBJECTS];
	struct model_class classes[ZS_MAX_CLASSES];
	struct model_zspage zspages[MAX_OBJECTS]; /* used == 0: none */
};

static unsigned places(struct model *m, unsigned class)
{
	return m->arena->table.classes[class].objects;
}

/* ---- which zspage -------------------------------------------------------- */

static unsigned group_of(struct model *m, const struct model_zspage *z)
{
	unsigned n = places(m, z->class);

	if (z->used == 0)
		return 0;
	return z->used == n ? ZS_FULL : z->used * 100 / n / 10 + 1;
}

static void insert(struct model *m, struct model_zspage *z)
{
	struct row *row;

	z->group = group_of(m, z);
	row = &m->classes[z->class].groups[z->group];
	row->zspages[row->nr++] = z;
}

static void take_off(struct model *m, struct model_zspage *z)
{
	struct row *row = &m->classes[z->class].groups[z->group];
	unsigned i = 0;

	while (row->zspages[i] != z)
		i++;
	row->nr--;
	for (; i < row->nr; i++)
		row->zspages[i] = row->zspages[i + 1];
}

/* The last to come to the first group of these that has any. */
static struct model_zspage *first_from(struct model *m, unsigned class,
				       int group, int step, int end)
{
	for (; group != end; group += step) {
		struct row *row = &m->classes[class].groups[group];

		if (row->nr)
			return row->zspages[row->nr - 1];
	}
	return NULL;
}

static struct model_zspage *fullest(struct model *m, unsigned class)
{
	return first_from(m, class, 10, -1, -1);
}

static struct model_zspage *emptiest(struct model *m, unsigned class)
{
	return first_from(m, class, 1, 1, 11);
}

static struct model_zspage *new_zspage(struct model *m, unsigned class)
{
	struct model_zspage *z = m->zspages;

	while (z->used)
		z++;
	z->base = NULL;
	z->class = class;
	z->nr_free = places(m, class);
	CHECK(z->nr_free <= MAX_PLACES);
	for (unsigned i = 0; i < z->nr_free; i++)
		z->free[i] = (uint16_t)(z->nr_free - 1 - i);
	m->classes[class].allocated += z->nr_free;
	return z;
}

/* ---- which place --------------------------------------------------------- */

static void put_in(struct model_zspage *z, struct object *o)
{
	o->zspage = z;
	o->place = z->free[--z->nr_free];
	z->objects[o->place] = o;
	z->used++;
}

static void put_out(struct object *o)
{
	struct model_zspage *z = o->zspage;

	z->objects[o->place] = NULL;
	z->free[z->nr_free++] = (uint16_t)o->place;
	z->used--;
}

static void model_take(struct model *m, struct object *o, unsigned class)
{
	struct model_zspage *z = fullest(m, class);
	bool is_new = !z;

	if (is_new)
		z = new_zspage(m, class);
	put_in(z, o);
	m->classes[class].in_use++;
	if (!is_new && group_of(m, z) != z->group)
		take_off(m, z);
	else if (!is_new)
		return;
	insert(m, z);
}

static void model_give(struct model *m, struct object *o)
{
	struct model_zspage *z = o->zspage;

	put_out(o);
	m->classes[z->class].in_use--;
	if (group_of(m, z) == z->group)
		return;
	take_off(m, z);
	if (z->used)
		insert(m, z);
	else
		m->classes[z->class].allocated -= places(m, z->class);
}

/* ---- compaction ---------------------------------------------------------- */

/* Whether all could be moved that was looked at. */
static bool move_all(struct model *m, struct model_zspage *src,
		     struct model_zspage *dst)
{
	bool all = true;

	for (unsigned i = 0; i < places(m, src->class); i++) {
		struct object *o = src->objects[i];

		if (!o || !dst->nr_free)
			continue;
		if (o->owned.stays || o->owned.refuses) {
			m->skipped++;
			all = false;
			continue;
		}
		put_out(o);
		put_in(dst, o);
		o->move = ++m->moves;
	}
	return all;
}

static bool is_freeable(struct model *m, unsigned class)
{
	struct model_class *c = &m->classes[class];

	return c->allocated - c->in_use >= places(m, class);
}

/* Returns the number of zspages given back. */
static unsigned model_compact(struct model *m, unsigned class)
{
	struct model_zspage *src, *dst = NULL, *aside[MAX_OBJECTS];
	unsigned nr_aside = 0, given_back = 0;

	while (is_freeable(m, class)) {
		if (!dst && (dst = fullest(m, class)))
			take_off(m, dst);
		src = dst ? emptiest(m, class) : NULL;
		if (!src)
			break;
		take_off(m, src);
		if (!move_all(m, src, dst)) {
			aside[nr_aside++] = src;
		} else if (src->used) {
			insert(m, src);
		} else {
			given_back++;
			m->classes[class].allocated -= places(m, class);
		}
		if (!dst->nr_free) {
			insert(m, dst);
			dst = NULL;
		}
	}
	if (dst)
		insert(m, dst);
	while (nr_aside)
		insert(m, aside[--nr_aside]);
	return given_back;
}

/* ---- checks -------------------------------------------------------------- */

static void check_object(struct model *m, struct object *o)
{
	struct zspage *real = zspage_of(m->arena, &o->owned.cell);

	if (!o->zspage->base)
		o->zspage->base = real->base;
	CHECK(o->zspage->base == real->base);
	CHECK(index_of(m->arena, &o->owned.cell) == o->place);
	owned_check(&o->owned);
}

/* The groups' lists, head first. */
static void check_row(struct zs_class *class, unsigned group,
		      const struct row *row)
{
	unsigned left = row->nr;
	struct list *pos;

	list_for_each(pos, &class->groups[group]) {
		struct zspage *real = list_entry(pos, struct zspage, node);

		CHECK(left && row->zspages[--left]->base == real->base);
	}
	CHECK(!left);
}

static void check(struct model *m)
{
	CHECK(zs_arena_check(m->arena));
	for (unsigned i = 0; i < MAX_OBJECTS; i++)
		if (m->objects[i].owned.bytes)
			check_object(m, &m->objects[i]);
	for (unsigned i = 0; i < NR_SIZES; i++) {
		struct zs_class *class = class_for(m->arena, m->sizes[i]);
		struct model_class *expected = &m->classes[class->number];

		CHECK(class->allocated == expected->allocated);
		CHECK(class->in_use == expected->in_use);
		for (unsigned g = 0; g < ZS_NR_GROUPS; g++)
			check_row(class, g, &expected->groups[g]);
	}
}

/* ---- steps --------------------------------------------------------------- */

static void take(struct model *m, struct object *o, struct rng *rng)
{
	size_t bytes = m->sizes[rng_below(rng, NR_SIZES)];

	owned_take(m->arena, &o->owned, bytes);
	model_take(m, o, zs_class_of_request(&m->arena->table, bytes));
	check_object(m, o);
	m->nr++;
}

static void give(struct model *m, struct object *o)
{
	owned_give(m->arena, &o->owned);
	model_give(m, o);
	o->owned.stays = o->owned.refuses = false;
	m->nr--;
}

/* Largest class first. */
static void compact(struct model *m)
{
	uint64_t pages = 0, base = atomic_load(&owned_moves) - m->moves;

	for (unsigned c = m->arena->table.nr_classes; c--;)
		pages += (uint64_t)model_compact(m, c) *
			 m->arena->table.classes[c].pages;
	CHECK(zs_arena_compact(m->arena) == pages);
	CHECK(m->compaction.moved == m->moves);
	CHECK(m->compaction.skipped == m->skipped);
	for (unsigned i = 0; i < MAX_OBJECTS; i++) {
		struct object *o = &m->objects[i];

		if (o->owned.bytes && o->move)
			CHECK(o->owned.moved_as == base + o->move);
	}
	check(m);
}

static void step(struct model *m, unsigned want, struct rng *rng)
{
	struct object *o = &m->objects[rng_below(rng, MAX_OBJECTS)];

	if (!o->owned.bytes && m->nr < want) {
		o->move = 0;
		take(m, o, rng);
	} else if (o->owned.bytes && (m->nr > want || rng_below(rng, 8) == 0)) {
		give(m, o);
	} else if (o->owned.bytes && rng_below(rng, 8) == 0) {
		o->owned.stays = rng_below(rng, 2);
		o->owned.refuses = rng_below(rng, 2);
	}
	if (rng_below(rng, 200) == 0)
		compact(m);
}

static void start(struct model *m, struct rng *rng)
{
	static const uint32_t pages[] = { 4096, 16384, 65536 };
	uint32_t page = pages[rng_below(rng, 3)];
	struct zs_params params =
		exact_params(page, 1 + rng_below(rng, ZS_MAX_CHAIN));

	memset(m, 0, sizeof(*m));
	faulty_init(&m->hooks);
	CHECK(mem_init(&m->mem, &m->hooks.hooks) == 0);
	params.compaction = &m->compaction;
	params.wipe = rng_below(rng, 2);
	m->arena = arena_with(&m->mem, params);
	for (unsigned i = 0; i < NR_SIZES; i++) /* seldom a huge one */
		m->sizes[i] = page / (1 + rng_below(rng, 31)) - 31 -
			      rng_below(rng, page / 64);
}

void property_run(struct rng *rng, unsigned steps)
{
	static struct model m;
	unsigned want = 0;

	start(&m, rng);
	for (unsigned i = 0; i < steps; i++) {
		if (i % 1000 == 0) /* grow, shrink */
			want = i % 2000 ? rng_below(rng, MAX_OBJECTS / 2) :
					  MAX_OBJECTS;
		step(&m, want, rng);
	}
	for (unsigned i = 0; i < MAX_OBJECTS; i++)
		if (m.objects[i].owned.bytes)
			give(&m, &m.objects[i]);
	check(&m);
	zs_arena_destroy(m.arena);
	mem_exit(&m.mem);
	CHECK(faulty_end(&m.hooks));
}
