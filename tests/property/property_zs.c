// SPDX-License-Identifier: MIT
/*
 * property_zs.c - the allocator keeps every object, whatever comes and goes
 *
 * The model is an array of objects with their sizes and tags. The numbers that
 * the arena must show follow from it: objects in use by class, and the fewest
 * pages that could hold them. An arena may be of either choice of classes, and
 * compact by itself or not; objects are pinned at random.
 */
#include "property.h"

#include <errno.h>
#include <string.h>

#include "arena.h"
#include "faulty.h"

#define MAX_OBJECTS 600

struct object {
	struct owned owned;
	uint64_t tag;
};

struct model {
	struct faulty hooks;
	struct mem mem;
	struct zs_arena *arena;
	struct zs_compaction compaction;
	uint32_t page;
	unsigned nr; /* objects */
	unsigned nr_pinned;
	bool pins; /* whether any object is ever pinned */
	struct object objects[MAX_OBJECTS];
};

/* Mostly like compressed pages, sometimes at a border of classes. */
static size_t some_size(struct model *m, struct rng *rng)
{
	uint32_t class = rng_below(rng, m->arena->table.nr_classes);
	size_t border =
		m->arena->classes[class].size.bytes + 2 - rng_below(rng, 12);

	switch (rng_below(rng, 4)) {
	case 0:
		return 1 + rng_below(rng, m->page);
	case 1:
		return border < 1 ? 1 : border > m->page ? m->page : border;
	case 2: /* few classes, so that zspages fill up */
		return m->page / 4 + 1 + rng_below(rng, m->page / 64);
	default:
		return 1 + rng_below(rng, 64);
	}
}

static char *payload(struct object *o)
{
	return zs_payload(&o->owned.cell);
}

static void write_object(struct object *o, uint64_t tag)
{
	struct rng bytes;

	o->tag = tag;
	rng_init(&bytes, tag);
	rng_fill(&bytes, payload(o), o->owned.bytes);
}

static void check_object(struct object *o)
{
	static char expected[65536];
	struct rng bytes;

	rng_init(&bytes, o->tag);
	rng_fill(&bytes, expected, o->owned.bytes);
	CHECK(!memcmp(payload(o), expected, o->owned.bytes));
}

static void take(struct model *m, struct object *o, struct rng *rng)
{
	bool plan = rng_below(rng, 8) == 0;
	uint64_t failed = 0;
	int err;

	if (plan)
		faulty_fail_from(&m->hooks, FAULTY_ANY, 1);
	o->owned.bytes = some_size(m, rng);
	o->owned.cell = 1;
	err = zs_alloc_object(m->arena, o->owned.bytes, &o->owned.cell);
	if (plan)
		failed = faulty_fail_none(&m->hooks);
	if (err) {
		CHECK(err == -ENOMEM && failed && o->owned.cell == 1);
		o->owned.bytes = 0;
		return;
	}
	m->nr++;
	write_object(o, rng_next(rng));
}

static void set_pin(struct model *m, struct object *o, bool pinned)
{
	m->nr_pinned += (unsigned)pinned - o->owned.stays;
	o->owned.stays = pinned;
}

static void give(struct model *m, struct object *o)
{
	check_object(o);
	set_pin(m, o, false);
	zs_free_object(m->arena, &o->owned.cell, o->owned.bytes);
	o->owned.bytes = 0;
	m->nr--;
}

/* What the arena says of itself against what the model knows. */
static void check_pool(struct model *m)
{
	struct zs_arena *arena = m->arena;
	size_t in_use[ZS_MAX_CLASSES] = { 0 }, pages = 0, fewest = 0;
	size_t zspages = 0;

	CHECK(zs_arena_check(arena));
	for (unsigned i = 0; i < MAX_OBJECTS; i++)
		if (m->objects[i].owned.bytes)
			in_use[zs_place_class(m->objects[i].owned.cell)]++;
	for (unsigned c = 0; c < arena->table.nr_classes; c++) {
		struct zs_class *class = &arena->classes[c];
		unsigned n = class->size.objects;

		CHECK(class->in_use == in_use[c]);
		CHECK(m->pins || !arena->params.auto_compact ||
		      is_bounded(class));
		fewest += (in_use[c] + n - 1) / n * class->size.pages;
		pages += class->allocated / n * class->size.pages;
		zspages += class->allocated / n;
	}
	CHECK(slab_nr_objects(&arena->zspages) == zspages);
	CHECK(zs_arena_pages(arena) == pages);
	CHECK(pages >= fewest && (m->nr || !pages));
	CHECK(span_held(&arena->span).bytes ==
	      pages * m->page + span_held(&arena->span).reserve_bytes);
}

/* Every byte of metadata is in the hooks: blocks, chunks' headers, one page. */
static void check_memory(struct model *m)
{
	struct span_pool *span = &m->arena->span;
	size_t headers = (m->hooks.map_blocks - 1) * span->header_granules *
			 span->granule_bytes;

	CHECK(!m->hooks.misuse);
	CHECK(atomic_load(&m->mem.metadata_bytes) ==
	      m->hooks.alloc_bytes + m->mem.os_page + headers);
	CHECK(span_held(span).bytes + headers + m->mem.os_page <=
	      m->hooks.map_bytes);
}

/* All places of the objects that must stay, in one number. */
static uint64_t pinned_places(struct model *m)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < MAX_OBJECTS; i++)
		if (m->objects[i].owned.stays)
			sum += random_mix(m->objects[i].owned.cell);
	return sum;
}

/* Of every class ceil(objects / objects in a zspage) zspages are left. */
static void check_compact(struct model *m)
{
	struct zs_arena *arena = m->arena;

	for (unsigned c = 0; c < arena->table.nr_classes; c++) {
		struct zs_class *class = &arena->classes[c];

		CHECK(class->allocated - class->in_use < class->size.objects);
	}
}

static void compact(struct model *m)
{
	uint64_t before = zs_arena_pages(m->arena);
	uint64_t counted = m->compaction.pages;
	uint64_t places = pinned_places(m);
	uint64_t pages = zs_arena_compact(m->arena);

	CHECK(pages == before - zs_arena_pages(m->arena));
	CHECK(pages == m->compaction.pages - counted);
	CHECK(places == pinned_places(m));
	if (!m->nr_pinned) {
		uint64_t moved = m->compaction.moved;

		check_compact(m);
		CHECK(!zs_arena_compact(m->arena));
		CHECK(moved == m->compaction.moved);
	}
}

static void step(struct model *m, unsigned want, struct rng *rng)
{
	struct object *o = &m->objects[rng_below(rng, MAX_OBJECTS)];

	if (!o->owned.bytes && m->nr < want)
		take(m, o, rng);
	else if (o->owned.bytes && (m->nr > want || rng_below(rng, 2)))
		give(m, o);
	else if (o->owned.bytes && m->pins && rng_below(rng, 2))
		set_pin(m, o, !o->owned.stays);
	else if (o->owned.bytes)
		write_object(o, rng_next(rng));
	if (rng_below(rng, 100) == 0)
		compact(m);
	if (rng_below(rng, 64) == 0)
		m->hooks.purge_fails =
			!m->hooks.purge_fails && rng_below(rng, 4) == 0;
}

static void start(struct model *m, struct rng *rng)
{
	static const uint32_t pages[] = { 4096, 4096, 16384, 65536 };
	struct zs_params params;

	memset(m, 0, sizeof(*m));
	faulty_init(&m->hooks);
	if (rng_below(rng, 4) == 0)
		m->hooks.hooks.purge = NULL;
	CHECK(mem_init(&m->mem, &m->hooks.hooks) == 0);
	m->page = pages[rng_below(rng, 4)];
	params = exact_params(m->page, 1 + rng_below(rng, ZS_MAX_CHAIN));
	params.adaptive = rng_below(rng, 2);
	params.auto_compact = rng_below(rng, 2);
	params.wipe = rng_below(rng, 2);
	m->pins = rng_below(rng, 2);
	params.compaction = &m->compaction;
	CHECK(zs_arena_create(&m->mem, &params, &m->arena) == 0);
}

static void end(struct model *m)
{
	for (unsigned i = 0; i < MAX_OBJECTS; i++)
		if (m->objects[i].owned.bytes)
			give(m, &m->objects[i]);
	check_pool(m);
	CHECK(span_held(&m->arena->span).bytes == 0);
	zs_arena_destroy(m->arena);
	mem_exit(&m->mem);
	CHECK(faulty_end(&m->hooks));
}

void property_run(struct rng *rng, unsigned steps)
{
	static struct model m;
	unsigned want = 0;

	start(&m, rng);
	for (unsigned i = 0; i < steps; i++) {
		if (i % 500 == 0) /* grow, shrink, empty */
			want = rng_below(rng, 4) * (MAX_OBJECTS / 3);
		step(&m, want, rng);
		check_pool(&m);
		check_memory(&m);
	}
	end(&m);
}
