// SPDX-License-Identifier: MIT
/*
 * test_zs_compact.c - compaction moves objects together as zsmalloc does, all
 * at once or in steps
 *
 * A case arranges zspages by the numbers of objects that are left in each: they
 * are full to begin with, and lose their last objects.
 */
#include "unit.h"

#include <stdlib.h>

#include "arena.h"
#include "threads.h"
#include "watchdog.h"

#define PAGE 4096u
#define CHAIN 8u
/* Objects of 1568 bytes, 13 on five pages. */
#define BYTES 1560

struct scene {
	struct zs_arena *arena;
	struct zs_class *class;
	struct zs_compaction done;
	size_t bytes; /* of a payload */
	unsigned n;   /* objects in a zspage */
	unsigned nr;  /* zspages arranged */
	struct owned *objects;
};

static void scene_open(struct scene *s, struct mem *mem,
		       struct zs_params params)
{
	*s = (struct scene){ .n = 0 };
	params.compaction = &s->done;
	s->arena = arena_with(mem, params);
}

/* Zspages of one class, with so many objects left in each. */
static void arrange(struct scene *s, size_t bytes, const unsigned *in_use,
		    unsigned nr)
{
	s->class = class_for(s->arena, bytes);
	s->bytes = bytes;
	s->n = s->class->size.objects;
	s->nr = nr;
	s->objects = calloc((size_t)nr * s->n, sizeof(*s->objects));
	assert_non_null(s->objects);
	for (unsigned i = 0; i < nr * s->n; i++)
		owned_take(s->arena, &s->objects[i], bytes);
	for (unsigned z = 0; z < nr; z++)
		for (unsigned i = s->n; i-- > in_use[z];)
			owned_give(s->arena, &s->objects[z * s->n + i]);
	assert_true(zs_arena_check(s->arena));
}

static struct owned *object(struct scene *s, unsigned z, unsigned i)
{
	return &s->objects[z * s->n + i];
}

static void take_all_off(struct scene *s)
{
	for (unsigned i = 0; i < s->nr * s->n; i++)
		owned_give(s->arena, &s->objects[i]);
	assert_true(zs_arena_check(s->arena));
	assert_int_equal(zs_arena_pages(s->arena), 0);
	free(s->objects);
}

static void scene_close(struct scene *s)
{
	take_all_off(s);
	zs_arena_destroy(s->arena);
}

static void scene_new(struct scene *s, struct unit *u, const unsigned *in_use,
		      unsigned nr)
{
	scene_open(s, &u->mem, exact_params(PAGE, CHAIN));
	arrange(s, BYTES, in_use, nr);
}

/* Everything is in order, and the payloads are what they were. */
static void assert_good(struct scene *s)
{
	assert_true(zs_arena_check(s->arena));
	for (unsigned i = 0; i < s->nr * s->n; i++)
		if (s->objects[i].bytes)
			owned_check(&s->objects[i]);
}

/* ---- all at once --------------------------------------------------------- */

/* With the results that section 12 of zsmalloc's rules has. */
static void assert_compaction_gives(struct scene *s, uint64_t pages)
{
	uint64_t before = zs_arena_pages(s->arena);
	uint64_t counted = s->done.pages;

	assert_int_equal(zs_arena_compact(s->arena), pages);
	assert_int_equal(zs_arena_pages(s->arena), before - pages);
	assert_int_equal(s->done.pages, counted + pages);
	assert_good(s);
}

static void D55_two_half_full_zspages_become_one(void **state)
{
	struct unit *u = *state;
	struct scene s;

	scene_open(&s, &u->mem, exact_params(PAGE, CHAIN));
	for (unsigned c = 0; c < s.arena->table.nr_classes; c++) {
		struct zs_class *class = &s.arena->classes[c];
		const unsigned half[] = { class->size.objects / 2u,
					  class->size.objects / 2u };
		uint64_t moved = s.done.moved;

		if (class->huge)
			continue;
		arrange(&s, payload_bytes(class), half, 2);
		assert_compaction_gives(&s, class->size.pages);
		assert_int_equal(s.done.moved - moved, half[0]);
		assert_compaction_gives(&s, 0);
		take_all_off(&s);
	}
	assert_int_equal(s.done.skipped, 0);
	zs_arena_destroy(s.arena);
}

static void a_zspage_is_never_its_own_destination(void **state)
{
	static const unsigned used[] = { 1, 13, 13 };
	struct scene s;

	scene_new(&s, *state, used, 3);
	assert_compaction_gives(&s, 0);
	assert_int_equal(s.done.moved, 0);
	scene_close(&s);
}

/* It ends as soon as no zspage more could be saved. */
static void of_free_places_only_whole_zspages_are_freeable(void **state)
{
	static const unsigned used[][3] = { { 13, 7, 7 },
					    { 13, 7, 6 },
					    { 12, 7, 6 } };

	for (unsigned i = 0; i < ARRAY_SIZE(used); i++) {
		struct zs_class_figures figures;
		struct scene s;

		scene_new(&s, *state, used[i], 3);
		assert_int_equal(free_places(s.class), s.n - 1 + i);
		zs_class_figures(s.arena, s.class->number, &figures);
		assert_int_equal(figures.freeable_pages, i ? 5 : 0);
		assert_compaction_gives(&s, figures.freeable_pages);
		zs_class_figures(s.arena, s.class->number, &figures);
		assert_int_equal(figures.freeable_pages, 0);
		scene_close(&s);
	}
}

static void compaction_is_no_full_packing(void **state)
{
	static const unsigned used[] = { 9, 9, 9 };
	struct scene s;

	scene_new(&s, *state, used, 3);
	assert_int_equal(free_places(s.class), 12);
	assert_compaction_gives(&s, 0);
	assert_int_equal(s.done.moved, 0);
	scene_close(&s);
}

/* An owner that has the arena compacted whenever it is asked. */
static struct {
	struct zs_arena *arena;
	unsigned asked;
	uint64_t result;
} meddler;

static size_t compact_again(zs_cell *cell)
{
	meddler.asked++;
	meddler.result += zs_arena_compact(meddler.arena);
	return owned_may_move(cell);
}

static void a_second_compaction_at_the_same_time_gives_nothing(void **state)
{
	static const struct zs_owner owner = { compact_again, owned_move };
	static const unsigned used[] = { 6, 6 };
	struct zs_params params = exact_params(PAGE, CHAIN);
	struct unit *u = *state;
	struct scene s;

	params.owner = &owner;
	scene_open(&s, &u->mem, params);
	arrange(&s, BYTES, used, 2);
	meddler.arena = s.arena;
	meddler.asked = 0;
	meddler.result = 0;
	assert_compaction_gives(&s, 5);
	assert_int_equal(meddler.asked, 6);
	assert_int_equal(meddler.result, 0);
	scene_close(&s);
}

static void without_an_owner_nothing_moves(void **state)
{
	static const unsigned used[] = { 6, 6 };
	struct zs_params params = exact_params(PAGE, CHAIN);
	struct unit *u = *state;
	struct scene s;

	params.owner = NULL;
	params.auto_compact = true;
	scene_open(&s, &u->mem, params);
	arrange(&s, BYTES, used, 2);
	assert_compaction_gives(&s, 0);
	scene_close(&s);
}

static void huge_objects_never_move(void **state)
{
	struct zs_params params = exact_params(PAGE, CHAIN);
	struct unit *u = *state;
	struct scene s;
	uint64_t places[100];

	params.auto_compact = true;
	scene_open(&s, &u->mem, params);
	s.objects = calloc(100, sizeof(*s.objects));
	assert_non_null(s.objects);
	s.n = 1;
	s.nr = 100;
	for (unsigned i = 0; i < 100; i++) {
		owned_take(s.arena, &s.objects[i], PAGE);
		places[i] = s.objects[i].cell;
	}
	for (unsigned i = 0; i < 100; i += 3)
		owned_give(s.arena, &s.objects[i]);
	assert_compaction_gives(&s, 0);
	for (unsigned i = 0; i < 100; i++)
		if (i % 3)
			assert_int_equal(s.objects[i].cell, places[i]);
	assert_int_equal(s.done.moved + s.done.skipped, 0);
	scene_close(&s);
}

/* ---- the kernel's order -------------------------------------------------- */

/* Objects of the source in ascending order; places by what was freed last. */
static void objects_go_to_the_places_that_were_freed_last(void **state)
{
	static const unsigned used[] = { 13, 13 };
	static const unsigned freed[] = { 3, 9, 1, 12, 5, 6, 7 };
	static const unsigned left[] = { 0, 2, 4, 8, 10, 11 };
	struct zspage *first;
	struct scene s;

	scene_new(&s, *state, used, 2);
	first = zspage_of(s.arena, &object(&s, 0, 0)->cell);
	for (unsigned i = 0; i < 6;
	     i++) /* 7 left: one more than in the other */
		owned_give(s.arena, object(&s, 0, freed[i]));
	for (unsigned i = 0; i < 7; i++)
		owned_give(s.arena, object(&s, 1, freed[i]));
	assert_compaction_gives(&s, 5);
	for (unsigned i = 0; i < 6; i++) {
		struct owned *o = object(&s, 1, left[i]);

		assert_int_equal(o->moved_as,
				 object(&s, 1, left[0])->moved_as + i);
		assert_ptr_equal(zspage_of(s.arena, &o->cell), first);
		assert_int_equal(index_of(s.arena, &o->cell), freed[5 - i]);
	}
	scene_close(&s);
}

static struct zspage *zspage_nr(struct scene *s, unsigned z)
{
	return zspage_of(s->arena, &object(s, z, 0)->cell);
}

/*
 * Free are 14 places, of which 13 are one zspage. The fullest that is not full
 * takes from the emptiest, which thereby goes.
 */
static void the_emptiest_zspage_fills_the_fullest(void **state)
{
	static const unsigned used[] = { 13, 10, 3, 12, 13 };
	struct zspage *was[5];
	struct scene s;

	scene_new(&s, *state, used, 5);
	for (unsigned z = 0; z < 5; z++)
		was[z] = zspage_nr(&s, z);
	assert_int_equal(free_places(s.class), 14);
	assert_compaction_gives(&s, 5);
	assert_int_equal(s.done.moved, 3);
	/* In the order of the source: one to where one place was, then two. */
	assert_ptr_equal(zspage_of(s.arena, &object(&s, 2, 0)->cell), was[3]);
	assert_ptr_equal(zspage_of(s.arena, &object(&s, 2, 1)->cell), was[1]);
	assert_ptr_equal(zspage_of(s.arena, &object(&s, 2, 2)->cell), was[1]);
	/* The full ones took no part. */
	for (unsigned i = 0; i < 13; i++) {
		assert_ptr_equal(zspage_of(s.arena, &object(&s, 0, i)->cell),
				 was[0]);
		assert_ptr_equal(zspage_of(s.arena, &object(&s, 4, i)->cell),
				 was[4]);
	}
	scene_close(&s);
}

/* Of one group the zspage that came there last, as source and destination. */
static void the_last_to_come_to_a_group_is_the_first_to_be_used(void **state)
{
	static const unsigned used[] = { 12, 12, 2, 2 };
	struct zspage *was[4];
	struct scene s;

	scene_new(&s, *state, used, 4);
	for (unsigned z = 0; z < 4; z++)
		was[z] = zspage_nr(&s, z);
	assert_compaction_gives(&s, 5);
	assert_int_equal(s.done.moved, 2);
	assert_ptr_equal(zspage_of(s.arena, &object(&s, 3, 0)->cell), was[1]);
	assert_ptr_equal(zspage_of(s.arena, &object(&s, 3, 1)->cell), was[0]);
	assert_ptr_equal(zspage_of(s.arena, &object(&s, 2, 0)->cell), was[2]);
	scene_close(&s);
}

static void classes_are_compacted_from_the_largest_down(void **state)
{
	static const unsigned used[] = { 1, 1 };
	static const size_t sizes[] = { 100, 3000, 1000, 2000, 24, 3600 };
	struct unit *u = *state;
	struct scene s[ARRAY_SIZE(sizes)];
	struct zs_arena *arena;
	uint64_t first;

	scene_open(&s[0], &u->mem, exact_params(PAGE, CHAIN));
	arena = s[0].arena;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		s[i].arena = arena;
		arrange(&s[i], sizes[i], used, 2);
	}
	first = owned_moves + 1;
	assert_true(zs_arena_compact(arena) > 0);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t larger = 0;

		for (unsigned j = 0; j < ARRAY_SIZE(sizes); j++)
			larger += sizes[j] > sizes[i];
		/* The one arranged last is the destination. */
		assert_int_equal(object(&s[i], 0, 0)->moved_as, first + larger);
		assert_int_equal(object(&s[i], 1, 0)->moved_as, 0);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (unsigned z = 0; z < 2; z++)
			owned_give(arena, object(&s[i], z, 0));
		free(s[i].objects);
	}
	zs_arena_destroy(arena);
}

/* ---- objects that must stay ---------------------------------------------- */

/* The kernel would end the class at the first zspage that is being read. */
static void D56_objects_in_use_are_passed_over(void **state)
{
	static const unsigned used[] = { 13, 3, 4, 5 };
	uint64_t places[2];
	struct scene s;

	scene_new(&s, *state, used, 4);
	object(&s, 1, 1)->stays = true;
	object(&s, 0, 7)->stays = true; /* in a full one: nobody asks */
	places[0] = object(&s, 1, 1)->cell;
	places[1] = object(&s, 0, 7)->cell;
	assert_compaction_gives(&s, 5);
	assert_int_equal(s.done.skipped, 1);
	assert_int_equal(object(&s, 1, 1)->cell, places[0]);
	assert_int_equal(object(&s, 0, 7)->cell, places[1]);
	/* The two others of the zspage went. */
	assert_ptr_not_equal(zspage_nr(&s, 1),
			     zspage_of(s.arena, &object(&s, 1, 1)->cell));
	/* Asked again it says so again; afterwards the job is finished. */
	assert_compaction_gives(&s, 0);
	assert_int_equal(s.done.skipped, 2);
	object(&s, 1, 1)->stays = false;
	assert_compaction_gives(&s, 5);
	assert_int_equal(s.done.skipped, 2);
	scene_close(&s);
}

static void D56_a_refused_move_changes_nothing(void **state)
{
	static const unsigned used[] = { 6, 4, 4 };
	uint64_t place;
	struct scene s;

	scene_new(&s, *state, used, 3);
	for (unsigned i = 0; i < 4; i++)
		object(&s, 1, i)->refuses = object(&s, 2, i)->refuses = true;
	place = object(&s, 2, 0)->cell;
	assert_compaction_gives(&s, 0);
	assert_int_equal(s.done.moved, 0);
	assert_int_equal(s.done.skipped, 8);
	assert_int_equal(object(&s, 2, 0)->cell, place);
	assert_int_equal(s.class->in_use, 14);
	/* All others still go, to the place that was offered in vain. */
	object(&s, 2, 0)->refuses = object(&s, 2, 2)->refuses = false;
	place = object(&s, 2, 1)->cell;
	assert_compaction_gives(&s, 0);
	assert_int_equal(s.done.moved, 2);
	assert_int_equal(s.done.skipped, 8 + 2 + 4);
	assert_int_equal(index_of(s.arena, &object(&s, 2, 0)->cell), 6);
	assert_int_equal(index_of(s.arena, &object(&s, 2, 2)->cell), 7);
	assert_int_equal(object(&s, 2, 1)->cell, place);
	scene_close(&s);
}

/* Each object is asked about once, whatever the number of destinations. */
static void D56_a_zspage_that_must_stay_is_looked_at_once(void **state)
{
	static const unsigned used[] = { 12, 12, 12, 12, 2, 2, 3 };
	struct scene s;

	scene_new(&s, *state, used, 7);
	for (unsigned i = 0; i < 2; i++)
		object(&s, 4, i)->stays = true;
	object(&s, 5, 0)->stays = true;
	assert_compaction_gives(&s, 5);
	assert_int_equal(s.done.moved, 4);
	assert_int_equal(s.done.skipped, 3);
	scene_close(&s);
}

/* ---- payloads ------------------------------------------------------------ */

/*
 * Three zspages' objects of one size: each second freed, the others moved,
 * looked at, written again, and their neighbours looked at again.
 */
static void move_objects_of(struct scene *s, size_t bytes)
{
	static const unsigned full[] = { UINT16_MAX, UINT16_MAX, UINT16_MAX };
	uint64_t moved = s->done.moved;
	unsigned nr;

	arrange(s, bytes, full, 3);
	nr = 3 * s->n;
	for (unsigned i = 0; i < nr; i += 2)
		owned_give(s->arena, &s->objects[i]);
	zs_arena_compact(s->arena);
	CHECK(free_places(s->class) < s->n);
	CHECK(s->n == 1 || s->done.moved > moved);
	for (unsigned i = 1; i < nr; i += 2)
		owned_check(&s->objects[i]);
	for (unsigned i = 1; i < nr; i += 2) {
		owned_write(&s->objects[i]);
		owned_check(&s->objects[i > 1 ? i - 2 : i]);
	}
	take_all_off(s);
}

static void D50_objects_of_every_size_keep_their_bytes_when_moved(void **state)
{
	struct scene s;
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	scene_open(&s, &mem, exact_params(PAGE, CHAIN));
	for (size_t bytes = 1; bytes <= PAGE; bytes++) {
		move_objects_of(&s, bytes);
		if (bytes % 256 == 0)
			watchdog_progress();
	}
	zs_arena_destroy(s.arena);
	mem_exit(&mem);
}

/* What is forbidden now, one word after the other. */
static bool is_zero(char *at, size_t bytes)
{
	for (size_t i = 0; i + 8 <= bytes; i += 8)
		if (zs_read_word(at + i))
			return false;
	return true;
}

/* The place it left, and one that it did not go to after all. */
static void payloads_that_move_are_wiped_where_they_were(void **state)
{
	static const unsigned used[] = { 6, 2 };
	struct zs_params params = exact_params(PAGE, CHAIN);
	struct unit *u = *state;
	struct scene s;
	char *was[2], *offered;

	params.wipe = true;
	scene_open(&s, &u->mem, params);
	arrange(&s, BYTES, used, 2);
	object(&s, 1, 1)->refuses = true;
	for (unsigned i = 0; i < 2; i++)
		was[i] = zs_payload(&object(&s, 1, i)->cell);
	offered = zspage_nr(&s, 0)->base + 7 * s.class->size.bytes;
	assert_compaction_gives(&s, 0);
	assert_int_equal(s.done.moved, 1);
	assert_true(is_zero(was[0], BYTES));
	assert_true(is_zero(offered + ZS_HEADER_BYTES, BYTES));
	pattern_check(was[1], BYTES, (uintptr_t)object(&s, 1, 1));
	owned_give(s.arena, object(&s, 1, 1));
	/* A zspage that became empty has gone; of another one: */
	was[1] = zs_payload(&object(&s, 0, 3)->cell);
	owned_give(s.arena, object(&s, 0, 3));
	assert_true(is_zero(was[1], BYTES));
	scene_close(&s);
}

/* ---- in steps ------------------------------------------------------------ */

/* Zspages are arranged first, so that nothing moves meanwhile. */
static void scene_of_steps(struct scene *s, struct mem *mem, size_t bytes,
			   const unsigned *in_use, unsigned nr)
{
	scene_open(s, mem, exact_params(PAGE, CHAIN));
	arrange(s, bytes, in_use, nr);
	s->arena->params.auto_compact = true;
}

static void
a_step_is_made_where_half_a_zspage_and_a_128th_are_free(void **state)
{
	enum { NR = 41 };
	unsigned used[NR];
	size_t least;
	struct scene s;
	struct unit *u = *state;

	for (unsigned z = 0; z < NR; z++)
		used[z] = z ? 13 : 6;
	scene_of_steps(&s, &u->mem, BYTES, used, NR);
	least = 13 / 2 + NR * 13 / 128;
	for (unsigned z = 1; free_places(s.class) + 1 < least; z++)
		owned_give(s.arena, object(&s, z, z % 13));
	assert_int_equal(free_places(s.class), least - 1);
	assert_int_equal(s.done.moved, 0);
	owned_give(s.arena, object(&s, NR - 1, 0));
	assert_int_equal(s.done.moved, ZS_STEP_MOVES);
	assert_good(&s);
	scene_close(&s);
}

/* The second goes to the next destination where the first one is full. */
static void
a_step_moves_two_objects_though_its_destination_is_full(void **state)
{
	static const unsigned used[] = { 12, 12, 12, 5, 5 };
	struct unit *u = *state;
	struct scene s;

	scene_of_steps(&s, &u->mem, BYTES, used, 5);
	owned_give(s.arena, object(&s, 4, 0));
	assert_int_equal(s.done.moved, 2);
	assert_int_equal(free_places(s.class), 20);
	assert_good(&s);
	scene_close(&s);
}

/* A zspage that a step empties is given back by the same call. */
static void D55_pages_that_steps_give_back_are_counted(void **state)
{
	static const unsigned used[] = { 5, 2, 6 };
	struct unit *u = *state;
	struct scene s;

	scene_of_steps(&s, &u->mem, BYTES, used, 3);
	assert_int_equal(zs_arena_pages(s.arena), 15);
	owned_give(s.arena, object(&s, 0, 4));
	assert_int_equal(zs_arena_pages(s.arena), 10);
	assert_int_equal(s.done.pages, 5);
	owned_give(s.arena, object(&s, 0, 3));
	owned_give(s.arena, object(&s, 0, 0));
	assert_int_equal(zs_arena_pages(s.arena), 5);
	assert_int_equal(s.done.pages, 10);
	assert_good(&s);
	scene_close(&s);
}

/* The one whose last object it frees, and one that a step empties besides. */
static void a_call_may_give_back_two_zspages(void **state)
{
	static const unsigned used[] = { 12, 7, 1, 1 };
	struct unit *u = *state;
	struct scene s;
	size_t pages;

	scene_of_steps(&s, &u->mem, BYTES, used, 4);
	pages = zs_arena_pages(s.arena);
	owned_give(s.arena, object(&s, 3, 0));
	assert_int_equal(zs_arena_pages(s.arena),
			 pages - 2u * s.class->size.pages);
	assert_int_equal(s.done.pages, s.class->size.pages);
	assert_good(&s);
	scene_close(&s);
}

/*
 * Each of them is in part used, and all are equally full: the source used to be
 * looked for in other groups than the destination's, so that nothing moved.
 */
static void zspages_of_one_group_are_compacted_too(void **state)
{
	static const size_t sizes[] = { 2000, 2700, 3000, 1600 };
	struct unit *u = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned used[20];
		struct scene s;

		for (unsigned z = 0; z < ARRAY_SIZE(used); z++)
			used[z] = UINT16_MAX;
		scene_open(&s, &u->mem, exact_params(PAGE, CHAIN));
		arrange(&s, sizes[i], used, ARRAY_SIZE(used));
		assert_int_equal(s.n, i + 2);
		for (unsigned z = 0; z < ARRAY_SIZE(used); z++)
			owned_give(s.arena, object(&s, z, 0));
		s.arena->params.auto_compact = true;
		/* Now there are more free places than ever with steps. */
		for (unsigned z = 1; zs_is_loose(s.class); z++)
			owned_give(s.arena, object(&s, z, 1));
		assert_true(s.done.moved > 0);
		assert_good(&s);
		scene_close(&s);
	}
}

/*
 * It is the emptiest, alone in its group and the first to be looked at: that
 * used to end each step.
 */
static void D56_a_zspage_that_must_stay_stops_no_step_of_others(void **state)
{
	static const unsigned used[] = { 1, 6, 6, 7, 13 };
	struct unit *u = *state;
	struct scene s;
	uint64_t place;

	scene_of_steps(&s, &u->mem, BYTES, used, 5);
	object(&s, 0, 0)->stays = true;
	place = object(&s, 0, 0)->cell;
	/* The last object of the next one is moved alone, and ends a step. */
	for (unsigned i = 0; i < 4; i++)
		owned_give(s.arena, object(&s, 4, i));
	assert_int_equal(s.done.moved, 7);
	assert_true(s.done.skipped >= 4);
	assert_int_equal(s.done.pages, 5);
	assert_int_equal(object(&s, 0, 0)->cell, place);
	assert_good(&s);
	scene_close(&s);
}

/* Of several in one group each step looks at another. */
static void D56_zspages_that_must_stay_take_turns(void **state)
{
	static const unsigned used[] = { 12, 2, 2, 2, 2 };
	struct unit *u = *state;
	struct scene s;

	scene_of_steps(&s, &u->mem, BYTES, used, 5);
	for (unsigned z = 1; z < 5; z++)
		for (unsigned i = 0; i < 2; i++)
			object(&s, z, i)->stays = z != 2;
	for (unsigned i = 0; i < 3; i++)
		owned_give(s.arena, object(&s, 0, i));
	assert_int_equal(s.done.moved, 2);
	assert_int_equal(s.done.pages, 5);
	scene_close(&s);
}

/* ---- the bound of steps -------------------------------------------------- */

/* Frees objects, at most two moves for each, until there are none. */
static void free_all(struct scene *s, struct rng *rng)
{
	unsigned nr = s->nr * s->n;

	while (s->class->in_use) {
		unsigned i = rng_below(rng, nr);
		uint64_t moved = s->done.moved;

		while (!s->objects[i].bytes)
			i = i + 1 < nr ? i + 1 : 0;
		owned_give(s->arena, &s->objects[i]);
		CHECK(s->done.moved - moved <= ZS_STEP_MOVES);
		CHECK(is_bounded(s->class));
	}
}

static void steps_bound_the_free_places_of_all_classes(void **state)
{
	struct unit *u = *state;
	struct scene s;
	struct rng rng;

	rng_init(&rng, 1);
	for (unsigned chain = 1; chain <= ZS_MAX_CHAIN; chain += 5) {
		scene_open(&s, &u->mem, exact_params(PAGE, chain));
		for (unsigned c = 0; c < s.arena->table.nr_classes; c += 3) {
			unsigned used[8];

			if (s.arena->classes[c].huge)
				continue;
			for (unsigned z = 0; z < 8; z++)
				used[z] = UINT16_MAX;
			s.arena->params.auto_compact = true;
			arrange(&s, payload_bytes(&s.arena->classes[c]), used,
				8);
			free_all(&s, &rng);
			assert_int_equal(s.class->allocated, 0);
			free(s.objects);
		}
		zs_arena_destroy(s.arena);
		watchdog_progress();
	}
}

/* ---- threads ------------------------------------------------------------- */

#define NR_THREADS 4
#define NR_OBJECTS 100 /* of each thread */

/* An object's state: 0 while it is incomplete, or this and two for each pin. */
#define COMPLETE 1u
#define MOVING 0x8000u
#define PIN 2u

struct shared {
	zs_cell cell;
	size_t bytes; /* 0: there is none */
	_Atomic unsigned state;
	bool pinned;
};

static size_t shared_may_move(zs_cell *cell)
{
	struct shared *o = container_of(cell, struct shared, cell);
	bool may = atomic_load_explicit(&o->state, memory_order_acquire) ==
		   COMPLETE;

	return may ? o->bytes : 0;
}

static bool shared_move(zs_cell *cell, uint64_t place)
{
	struct shared *o = container_of(cell, struct shared, cell);
	unsigned state = COMPLETE;

	if (!atomic_compare_exchange_strong(&o->state, &state,
					    COMPLETE | MOVING))
		return false;
	atomic_store_explicit(cell, place, memory_order_relaxed);
	atomic_fetch_and(&o->state, ~MOVING);
	return true;
}

struct crowd {
	struct zs_arena *arena;
	struct zs_compaction done;
	unsigned rounds;
};

/* Few classes, so that threads meet in them. */
static void take_shared(struct crowd *crowd, struct shared *o, struct rng *rng)
{
	static const size_t sizes[] = { 20, 700, BYTES, 2700, 3000, PAGE };
	size_t bytes = sizes[rng_below(rng, ARRAY_SIZE(sizes))];

	CHECK(zs_alloc_object(crowd->arena, bytes, &o->cell) == 0);
	o->bytes = bytes;
	pattern_write(zs_payload(&o->cell), bytes, (uintptr_t)o);
	atomic_store_explicit(&o->state, COMPLETE, memory_order_release);
}

static void pin_shared(struct shared *o)
{
	atomic_fetch_add(&o->state, PIN);
	while (atomic_load_explicit(&o->state, memory_order_acquire) & MOVING)
		;
	pattern_check(zs_payload(&o->cell), o->bytes, (uintptr_t)o);
	o->pinned = true;
}

static void unpin_shared(struct shared *o)
{
	pattern_check(zs_payload(&o->cell), o->bytes, (uintptr_t)o);
	o->pinned = false;
	atomic_fetch_sub(&o->state, PIN);
}

static void give_shared(struct crowd *crowd, struct shared *o)
{
	if (!o->pinned)
		pin_shared(o);
	o->pinned = false;
	atomic_store(&o->state, 0);
	zs_free_object(crowd->arena, &o->cell, o->bytes);
	o->bytes = 0;
}

/* D54: of one moment, whoever changes them meanwhile. */
static void check_figures(struct zs_arena *arena, struct rng *rng)
{
	struct zs_class_figures f;
	size_t pages;

	zs_class_figures(arena, rng_below(rng, arena->table.nr_classes), &f);
	pages = f.allocated / f.size.objects * f.size.pages;
	CHECK(f.in_use <= f.allocated && f.freeable_pages <= pages);
	CHECK(pages <= (size_t)NR_THREADS * NR_OBJECTS * CHAIN);
}

static void use_and_compact(unsigned index, void *arg)
{
	struct crowd *crowd = arg;
	struct shared *objects = calloc(NR_OBJECTS, sizeof(*objects));
	struct rng rng;

	CHECK(objects);
	rng_init(&rng, index);
	for (unsigned i = 0; i < crowd->rounds; i++) {
		struct shared *o = &objects[rng_below(&rng, NR_OBJECTS)];

		if (!o->bytes)
			take_shared(crowd, o, &rng);
		else if (rng_below(&rng, 2))
			give_shared(crowd, o);
		else if (o->pinned)
			unpin_shared(o);
		else
			pin_shared(o);
		if (rng_below(&rng, 64) == 0)
			zs_arena_compact(crowd->arena);
		if (rng_below(&rng, 64) == 0)
			check_figures(crowd->arena, &rng);
	}
	for (unsigned i = 0; i < NR_OBJECTS; i++)
		if (objects[i].bytes)
			give_shared(crowd, &objects[i]);
	free(objects);
	watchdog_progress();
}

static void crowd_uses(bool adaptive, bool auto_compact)
{
	static const struct zs_owner owner = { shared_may_move, shared_move };
	struct crowd crowd = { .rounds = test_rounds(20000) };
	struct zs_params params = exact_params(PAGE, CHAIN);
	struct mem mem;

	assert_int_equal(mem_init(&mem, NULL), 0);
	params.owner = &owner;
	params.compaction = &crowd.done;
	params.adaptive = adaptive;
	params.auto_compact = auto_compact;
	params.wipe = auto_compact;
	crowd.arena = arena_with(&mem, params);
	run_threads(NR_THREADS, use_and_compact, &crowd);
	assert_true(crowd.done.moved > 0);
	assert_true(crowd.done.skipped > 0);
	assert_true(zs_arena_check(crowd.arena));
	assert_int_equal(span_held(&crowd.arena->span).bytes, 0);
	zs_arena_destroy(crowd.arena);
	mem_exit(&mem);
	assert_int_equal(atomic_load(&mem.metadata_bytes), 0);
}

static void D51_threads_may_use_objects_while_others_compact(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		crowd_uses(i & 1, i & 2);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(D55_two_half_full_zspages_become_one),
		unit_case(a_zspage_is_never_its_own_destination),
		unit_case(of_free_places_only_whole_zspages_are_freeable),
		unit_case(compaction_is_no_full_packing),
		unit_case(a_second_compaction_at_the_same_time_gives_nothing),
		unit_case(without_an_owner_nothing_moves),
		unit_case(huge_objects_never_move),
		unit_case(objects_go_to_the_places_that_were_freed_last),
		unit_case(the_emptiest_zspage_fills_the_fullest),
		unit_case(the_last_to_come_to_a_group_is_the_first_to_be_used),
		unit_case(classes_are_compacted_from_the_largest_down),
		unit_case(D56_objects_in_use_are_passed_over),
		unit_case(D56_a_refused_move_changes_nothing),
		unit_case(D56_a_zspage_that_must_stay_is_looked_at_once),
		cmocka_unit_test(
			D50_objects_of_every_size_keep_their_bytes_when_moved),
		unit_case(payloads_that_move_are_wiped_where_they_were),
		unit_case(
			a_step_is_made_where_half_a_zspage_and_a_128th_are_free),
		unit_case(
			a_step_moves_two_objects_though_its_destination_is_full),
		unit_case(D55_pages_that_steps_give_back_are_counted),
		unit_case(a_call_may_give_back_two_zspages),
		unit_case(zspages_of_one_group_are_compacted_too),
		unit_case(D56_a_zspage_that_must_stay_stops_no_step_of_others),
		unit_case(D56_zspages_that_must_stay_take_turns),
		unit_case(steps_bound_the_free_places_of_all_classes),
		cmocka_unit_test(
			D51_threads_may_use_objects_while_others_compact),
	};

	watchdog_start("test_zs_compact", 120);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
