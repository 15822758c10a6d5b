// SPDX-License-Identifier: MIT
/*
 * test_zs.c - the allocator hands out objects as zsmalloc does
 *
 * The first argument is a file of the folder with the kernel's measurements.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "csv.h"
#include "threads.h"
#include "watchdog.h"

#define PAGE 4096u
#define CHAIN 8u

static const uint32_t page_sizes[] = { 4096, 16384, 65536 };
static const char *data_file;

static struct zs_arena *arena_new(struct mem *mem, uint32_t page,
				  uint32_t chain)
{
	return arena_with(mem, exact_params(page, chain));
}

static void take(struct zs_arena *arena, size_t bytes, zs_cell *cell)
{
	CHECK(zs_alloc_object(arena, bytes, cell) == 0);
}

static void take_many(struct zs_arena *arena, size_t bytes, zs_cell *cells,
		      unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		take(arena, bytes, &cells[i]);
}

static void give_many(struct zs_arena *arena, size_t bytes, zs_cell *cells,
		      unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		zs_free_object(arena, &cells[i], bytes);
}

/* ---- payloads ------------------------------------------------------------ */

/* A payload lies in its object, behind the header where there is one. */
static char *payload_of(struct zs_arena *arena, zs_cell *cell, size_t bytes)
{
	struct zs_class *class = class_for(arena, bytes);
	char *at = zs_payload(cell);
	char *object = at - zs_header_bytes(class);

	CHECK(at == object + (class->huge ? 0 : ZS_HEADER_BYTES));
	CHECK(at + bytes <= object + class->size.bytes);
	CHECK((uintptr_t)at % 8 == 0);
	return at;
}

static void write_payload(struct zs_arena *arena, zs_cell *cell, size_t bytes,
			  uint64_t tag)
{
	pattern_write(payload_of(arena, cell, bytes), bytes, tag);
}

static void check_payload(struct zs_arena *arena, zs_cell *cell, size_t bytes,
			  uint64_t tag)
{
	pattern_check(payload_of(arena, cell, bytes), bytes, tag);
}

/* ---- requests ------------------------------------------------------------ */

static void requests_of_nothing_or_over_a_page_are_refused(void **state)
{
	struct unit *u = *state;

	for (size_t i = 0; i < ARRAY_SIZE(page_sizes); i++) {
		struct zs_arena *arena =
			arena_new(&u->mem, page_sizes[i], CHAIN);
		zs_cell cell = 77;

		assert_int_equal(zs_alloc_object(arena, 0, &cell), -EINVAL);
		assert_int_equal(
			zs_alloc_object(arena, page_sizes[i] + 1, &cell),
			-ENOSPC);
		assert_int_equal(zs_alloc_object(arena, SIZE_MAX, &cell),
				 -ENOSPC);
		assert_int_equal(cell, 77);
		assert_int_equal(span_held(&arena->span).bytes, 0);
		assert_int_equal(zs_alloc_object(arena, 1, &cell), 0);
		zs_free_object(arena, &cell, 1);
		assert_int_equal(zs_alloc_object(arena, page_sizes[i], &cell),
				 0);
		zs_free_object(arena, &cell, page_sizes[i]);
		assert_true(zs_arena_check(arena));
		zs_arena_destroy(arena);
	}
}

static void D48_pools_survive_any_failing_hook(void **state)
{
	struct unit *u = *state;
	const struct zs_params params = exact_params(PAGE, CHAIN);
	size_t bytes = u->hooks.alloc_bytes;
	uint64_t k, failed = 1;

	for (k = 1; failed; k++) {
		struct zs_arena *arena = (void *)u;
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = zs_arena_create(&u->mem, &params, &arena);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_true(failed ? !arena : !!arena);
		zs_arena_destroy(arena);
		assert_int_equal(u->hooks.alloc_bytes, bytes);
	}
	assert_true(k > 2);
}

static void D48_requests_survive_any_failing_hook(void **state)
{
	struct unit *u = *state;
	uint64_t k, failed = 1;

	for (k = 1; failed; k++) {
		struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);
		zs_cell cell = 77;
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = zs_alloc_object(arena, 100, &cell);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (failed)
			assert_int_equal(cell, 77);
		assert_int_equal(zs_arena_pages(arena), failed ? 0 : 7);
		assert_int_equal(slab_nr_objects(&arena->zspages), !failed);
		assert_true(zs_arena_check(arena));
		if (failed) /* and once more */
			assert_int_equal(zs_alloc_object(arena, 100, &cell), 0);
		write_payload(arena, &cell, 100, k);
		check_payload(arena, &cell, 100, k);
		zs_free_object(arena, &cell, 100);
		zs_arena_destroy(arena);
	}
	assert_true(k > 2);
}

/* ---- order --------------------------------------------------------------- */

/* Objects of one size, in full zspages. */
struct crowd {
	struct zs_arena *arena;
	unsigned nr;
	zs_cell cells[4096];
};

#define CROWD_BYTES 2000

static void give_first(void *arg)
{
	struct crowd *crowd = arg;

	zs_free_object(crowd->arena, &crowd->cells[0], CROWD_BYTES);
}

static void take_one(struct crowd *crowd)
{
	assert_true(crowd->nr < ARRAY_SIZE(crowd->cells));
	take(crowd->arena, CROWD_BYTES, &crowd->cells[crowd->nr++]);
}

/* The first zspages need no hook: there is room in a slab and in a chunk. */
static void an_object_freed_meanwhile_does_for_a_zspage(void **state)
{
	struct unit *u = *state;
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	struct zs_class *class;

	assert_non_null(crowd);
	crowd->arena = arena_new(&u->mem, PAGE, CHAIN);
	class = class_for(crowd->arena, CROWD_BYTES);
	take_one(crowd);
	do {
		while (class->in_use < class->allocated)
			take_one(crowd);
		unit_memory_is_out(u, give_first, crowd);
		take_one(crowd);
	} while (!unit_memory_is_back(u));
	assert_int_equal(class->in_use, class->allocated);
	assert_true(zs_arena_check(crowd->arena));
	zs_arena_destroy(crowd->arena);
	free(crowd);
}

static void a_fresh_zspage_hands_out_its_objects_in_order(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);

	for (unsigned c = 0; c < arena->table.nr_classes; c++) {
		struct zs_class_size size = arena->classes[c].size;
		size_t bytes = payload_bytes(&arena->classes[c]);
		zs_cell cells[257];

		take_many(arena, bytes, cells, size.objects + 1u);
		for (unsigned i = 0; i < size.objects; i++)
			assert_int_equal(cells[i], cells[0] + i * size.bytes);
		assert_ptr_equal(zspage_of(arena, &cells[0])->base,
				 (char *)zs_payload(&cells[0]) -
					 zs_header_bytes(&arena->classes[c]));
		assert_ptr_not_equal(zspage_of(arena, &cells[size.objects]),
				     zspage_of(arena, &cells[0]));
		assert_true(zs_arena_check(arena));
		give_many(arena, bytes, cells, size.objects + 1u);
	}
	zs_arena_destroy(arena);
}

static void the_object_freed_last_is_reused_first(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);
	zs_cell cells[13];
	uint64_t was[13];

	take_many(arena, 1560, cells, 13);
	for (int i = 0; i < 13; i++)
		was[i] = cells[i];
	zs_free_object(arena, &cells[3], 1560);
	zs_free_object(arena, &cells[9], 1560);
	zs_free_object(arena, &cells[1], 1560);
	assert_true(zs_arena_check(arena));
	take(arena, 1560, &cells[1]);
	take(arena, 1560, &cells[3]);
	take(arena, 1560, &cells[9]);
	assert_int_equal(cells[1], was[1]);
	assert_int_equal(cells[3], was[9]);
	assert_int_equal(cells[9], was[3]);
	/* Freed objects come before fresh ones. */
	zs_arena_destroy(arena);
	arena = arena_new(&u->mem, PAGE, CHAIN);
	take_many(arena, 1560, cells, 5);
	was[2] = cells[2];
	zs_free_object(arena, &cells[2], 1560);
	take(arena, 1560, &cells[2]);
	assert_int_equal(cells[2], was[2]);
	take(arena, 1560, &cells[5]);
	assert_int_equal(cells[5], cells[4] + 1568);
	zs_arena_destroy(arena);
}

/* ---- fullness ------------------------------------------------------------ */

static void fullness_has_the_kernels_values(void **state)
{
	static const unsigned known[][3] = {
		{ 1, 127, 1 }, { 12, 127, 1 }, { 13, 127, 2 }, { 126, 127, 10 },
		{ 1, 2, 6 },   { 1, 9, 2 },    { 8, 9, 9 },    { 1, 10, 2 },
		{ 9, 10, 10 }, { 2, 15, 2 },   { 0, 15, 0 },   { 15, 15, 11 },
		{ 0, 1, 0 },   { 1, 1, 11 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		assert_int_equal(zs_fullness(known[i][0], known[i][1]),
				 known[i][2]);
}

static void a_zspage_heads_the_list_of_the_group_it_comes_to(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);

	for (unsigned c = 0; c < arena->table.nr_classes; c++) {
		struct zs_class *class = &arena->classes[c];
		size_t bytes = payload_bytes(class);
		unsigned n = class->size.objects;
		zs_cell cells[256];

		for (unsigned used = 1; used <= n; used++) {
			take(arena, bytes, &cells[used - 1]);
			assert_ptr_equal(head_of(class, zs_fullness(used, n)),
					 zspage_of(arena, &cells[0]));
			if (n < 40)
				assert_true(zs_arena_check(arena));
		}
		for (unsigned used = n; used-- > 1;) {
			zs_free_object(arena, &cells[used], bytes);
			assert_ptr_equal(head_of(class, zs_fullness(used, n)),
					 zspage_of(arena, &cells[0]));
		}
		zs_free_object(arena, &cells[0], bytes);
		for (unsigned g = 0; g < ZS_NR_GROUPS; g++)
			assert_null(head_of(class, g));
		assert_int_equal(class->allocated, 0);
	}
	assert_true(zs_arena_check(arena));
	zs_arena_destroy(arena);
}

static void the_fullest_zspage_serves_the_next_request(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);
	struct zspage *half, *fuller;
	zs_cell cells[26], more[3];

	take_many(arena, 1560, cells, 26);
	half = zspage_of(arena, &cells[0]);
	fuller = zspage_of(arena, &cells[13]);
	assert_ptr_not_equal(half, fuller);
	zs_free_object(arena, &cells[13], 1560);
	zs_free_object(arena, &cells[14], 1560);
	for (int i = 0; i < 6; i++) /* the last to change */
		zs_free_object(arena, &cells[i], 1560);
	take(arena, 1560, &more[0]);
	assert_ptr_equal(zspage_of(arena, &more[0]), fuller);
	take(arena, 1560, &more[1]);
	assert_ptr_equal(zspage_of(arena, &more[1]), fuller);
	take(arena, 1560, &more[2]);
	assert_ptr_equal(zspage_of(arena, &more[2]), half);
	assert_int_equal(zs_arena_pages(arena), 10);
	assert_true(zs_arena_check(arena));
	zs_arena_destroy(arena);
}

static void of_equally_full_zspages_the_last_to_come_serves(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);
	struct zspage *a, *b;
	zs_cell cells[256], more[2];

	take_many(arena, 24, cells, 256);
	a = zspage_of(arena, &cells[0]);
	b = zspage_of(arena, &cells[128]);
	zs_free_object(arena, &cells[0], 24);
	zs_free_object(arena, &cells[128], 24);
	/* Its group does not change, so neither does its place. */
	zs_free_object(arena, &cells[1], 24);
	assert_ptr_equal(head_of(class_for(arena, 24), 10), b);
	take(arena, 24, &more[0]); /* b is full now */
	assert_ptr_equal(zspage_of(arena, &more[0]), b);
	assert_ptr_equal(head_of(class_for(arena, 24), ZS_FULL), b);
	take(arena, 24, &more[1]);
	assert_ptr_equal(zspage_of(arena, &more[1]), a);
	assert_true(zs_arena_check(arena));
	zs_arena_destroy(arena);
}

/* ---- pages --------------------------------------------------------------- */

static void the_last_free_gives_back_the_chain(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);

	for (unsigned c = 0; c < arena->table.nr_classes; c++) {
		struct zs_class_size size = arena->classes[c].size;
		size_t bytes = payload_bytes(&arena->classes[c]);
		zs_cell cells[257];

		take_many(arena, bytes, cells, size.objects);
		assert_int_equal(zs_arena_pages(arena), size.pages);
		take(arena, bytes, &cells[size.objects]);
		assert_int_equal(zs_arena_pages(arena), 2 * size.pages);
		zs_free_object(arena, &cells[size.objects], bytes);
		assert_int_equal(zs_arena_pages(arena), size.pages);
		give_many(arena, bytes, cells, size.objects);
		assert_int_equal(zs_arena_pages(arena), 0);
		assert_int_equal(span_held(&arena->span).bytes, 0);
	}
	zs_arena_destroy(arena);
}

static void a_huge_payload_has_a_page_and_no_header(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);
	static const size_t sizes[] = { 3625, 4000, 4088, 4089, 4095, 4096 };
	zs_cell cells[ARRAY_SIZE(sizes)];

	assert_int_equal(zs_arena_huge_bytes(arena), 3625);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		take(arena, sizes[i], &cells[i]);
		assert_int_equal((uintptr_t)zs_payload(&cells[i]) % PAGE, 0);
		assert_int_equal(zs_arena_pages(arena), i + 1);
		write_payload(arena, &cells[i], sizes[i], i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_payload(arena, &cells[i], sizes[i], i);
		zs_free_object(arena, &cells[i], sizes[i]);
	}
	assert_int_equal(zs_arena_pages(arena), 0);
	zs_arena_destroy(arena);
}

static void a_pool_ends_with_whatever_is_left_in_it(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);
	zs_cell cells[500];

	zs_arena_destroy(NULL);
	for (unsigned i = 0; i < 500; i++)
		take(arena, 1 + i * 8, &cells[i]);
	zs_arena_destroy(arena);
}

/*
 * Whether freed payloads are zeroes in all words that are not used for lists. A
 * page of its own waits for reuse, and begins with links.
 */
static bool freed_is_zero(struct unit *u, size_t bytes, bool wipe)
{
	struct zs_params params = exact_params(PAGE, CHAIN);
	struct owned objects[200] = { { .bytes = 0 } };
	struct zs_arena *arena;
	bool zero = true;
	char *was;

	params.wipe = wipe;
	arena = arena_with(&u->mem, params);
	for (int i = 0; i < 200; i++)
		owned_take(arena, &objects[i], bytes);
	was = zs_payload(&objects[100].cell);
	owned_give(arena, &objects[100]);
	for (size_t i = bytes < PAGE ? 0 : 64; i + 8 <= bytes; i += 8)
		zero &= !zs_read_word(was + i);
	for (int i = 0; i < 200; i++)
		owned_give(arena, &objects[i]);
	zs_arena_destroy(arena);
	return zero;
}

static void freed_payloads_are_wiped_where_asked_for(void **state)
{
	static const size_t sizes[] = { 24, 100, 1560, 3624, PAGE };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_true(freed_is_zero(*state, sizes[i], true));
		assert_false(freed_is_zero(*state, sizes[i], false));
	}
}

/* ---- payloads of every size ---------------------------------------------- */

/* Three zspages' objects of one size: written, thinned out, written again. */
static void exercise_size(struct zs_arena *arena, size_t bytes, zs_cell *cells)
{
	unsigned n = 3u * class_for(arena, bytes)->size.objects;
	uint64_t tag = (uint64_t)bytes << 32;

	for (unsigned i = 0; i < n; i++) {
		take(arena, bytes, &cells[i]);
		write_payload(arena, &cells[i], bytes, tag + i);
	}
	for (unsigned i = 0; i < n; i++)
		check_payload(arena, &cells[i], bytes, tag + i);
	for (unsigned i = 0; i < n; i += 2)
		zs_free_object(arena, &cells[i], bytes);
	for (unsigned i = 1; i < n; i += 2) {
		check_payload(arena, &cells[i], bytes, tag + i);
		write_payload(arena, &cells[i], bytes, ~(tag + i));
		if (i > 2)
			check_payload(arena, &cells[i - 2], bytes,
				      ~(tag + i - 2));
	}
	if (bytes % 64 == 1)
		CHECK(zs_arena_check(arena));
	for (unsigned i = 1; i < n; i += 2) {
		check_payload(arena, &cells[i], bytes, ~(tag + i));
		zs_free_object(arena, &cells[i], bytes);
	}
}

static void D50_objects_of_every_size_keep_their_bytes(void **state)
{
	zs_cell cells[3 * 256];
	struct zs_arena *arena;
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	arena = arena_new(&mem, PAGE, CHAIN);
	for (size_t bytes = 1; bytes <= PAGE; bytes++) {
		exercise_size(arena, bytes, cells);
		assert_int_equal(zs_arena_pages(arena), 0);
		if (bytes % 256 == 0)
			watchdog_progress();
	}
	zs_arena_destroy(arena);
	mem_exit(&mem);
}

static void class_borders_with(struct unit *u, uint32_t page, uint32_t chain)
{
	struct zs_arena *arena = arena_new(&u->mem, page, chain);
	size_t sizes[3 * ZS_MAX_CLASSES];
	zs_cell cells[3 * ZS_MAX_CLASSES];
	unsigned n = 0;

	for (unsigned c = 0; c < arena->table.nr_classes; c++)
		for (size_t d = 7; d <= 9; d++)
			sizes[n++] = arena->classes[c].size.bytes - d;
	sizes[n - 3] = page - 1;
	sizes[n - 2] = page;
	for (unsigned i = 0; i < n; i++) {
		take(arena, sizes[i], &cells[i]);
		write_payload(arena, &cells[i], sizes[i], i);
	}
	assert_true(zs_arena_check(arena));
	for (unsigned i = 0; i < n; i++)
		check_payload(arena, &cells[i], sizes[i], i);
	for (unsigned i = 0; i < n; i++)
		zs_free_object(arena, &cells[i], sizes[i]);
	assert_true(zs_arena_check(arena));
	assert_int_equal(span_held(&arena->span).bytes, 0);
	zs_arena_destroy(arena);
}

static void D58_objects_at_class_borders_keep_their_bytes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(page_sizes); i++) {
		class_borders_with(*state, page_sizes[i], CHAIN);
		class_borders_with(*state, page_sizes[i], ZS_MAX_CHAIN);
	}
}

/*
 * A payload of 4089 bytes used to begin behind a header that the huge class
 * does not have, and so to end in the next page.
 */
static void D58_chains_of_one_page_keep_their_bytes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(page_sizes); i++)
		class_borders_with(*state, page_sizes[i], 1);
}

/* ---- the kernel's memory use --------------------------------------------- */

#define NR_MEASURED 2048

static size_t pages_for(struct mem *mem, size_t bytes)
{
	static zs_cell cells[NR_MEASURED];
	struct zs_arena *arena = arena_new(mem, PAGE, CHAIN);
	size_t pages;

	take_many(arena, bytes, cells, NR_MEASURED);
	pages = zs_arena_pages(arena);
	zs_arena_destroy(arena);
	return pages;
}

/*
 * A row's pages have about one compressed size; only its mean is known, so it
 * is rounded down or up.
 */
static void memory_used_is_what_the_kernel_uses(void **state)
{
	unsigned long row[4]; /* random bytes, pages, their bytes, used bytes */
	unsigned rows = 0;
	struct mem mem;
	struct csv csv;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	csv_open(&csv, data_file, "zsmalloc-kernel-usage.csv");
	for (; csv_row(&csv, row, 4); rows++) {
		unsigned long nr = row[1], data = row[2], used = row[3];
		size_t down, up;

		assert_int_equal(nr, NR_MEASURED);
		down = pages_for(&mem, data / nr) * PAGE;
		up = pages_for(&mem, (data + nr - 1) / nr) * PAGE;
		if (used != down && used != up)
			fail_msg("%lu bytes: kernel %lu, ours %zu or %zu",
				 data / nr, used, down, up);
		watchdog_progress();
	}
	assert_int_equal(rows, 256);
	mem_exit(&mem);
}

/* ---- threads ------------------------------------------------------------- */

#define NR_THREADS 4
#define NR_PLACES 256

struct object {
	zs_cell cell;
	size_t bytes;
	uint64_t tag;
};

struct market {
	struct zs_arena *arena;
	_Atomic(struct object *) places[NR_PLACES];
	unsigned rounds;
};

static void end_object(struct zs_arena *arena, struct object *object)
{
	if (!object)
		return;
	check_payload(arena, &object->cell, object->bytes, object->tag);
	zs_free_object(arena, &object->cell, object->bytes);
	free(object);
}

/* Few classes, so that threads meet in them. */
static struct object *new_object(struct zs_arena *arena, struct rng *rng)
{
	static const size_t sizes[] = { 20, 700, 1560, 2700, 3000, 4096 };
	struct object *object = malloc(sizeof(*object));

	CHECK(object);
	object->bytes = sizes[rng_below(rng, ARRAY_SIZE(sizes))];
	object->tag = rng_next(rng);
	take(arena, object->bytes, &object->cell);
	write_payload(arena, &object->cell, object->bytes, object->tag);
	return object;
}

static void trade(unsigned index, void *arg)
{
	struct market *m = arg;
	struct rng rng;

	rng_init(&rng, index);
	for (unsigned i = 0; i < m->rounds; i++) {
		struct object *object =
			rng_below(&rng, 8) ? new_object(m->arena, &rng) : NULL;

		end_object(
			m->arena,
			atomic_exchange(&m->places[rng_below(&rng, NR_PLACES)],
					object));
		/* D54: never below 0, never above what there can be. */
		CHECK(zs_arena_pages(m->arena) <=
		      (NR_PLACES + NR_THREADS) * CHAIN);
	}
	watchdog_progress();
}

static void D54_threads_may_allocate_and_free_at_once(void **state)
{
	struct market *m = calloc(1, sizeof(*m));
	struct mem mem;

	(void)state;
	assert_non_null(m);
	assert_int_equal(mem_init(&mem, NULL), 0);
	m->arena = arena_new(&mem, PAGE, CHAIN);
	m->rounds = 10000;
	run_threads(NR_THREADS, trade, m);
	assert_true(zs_arena_check(m->arena));
	for (int i = 0; i < NR_PLACES; i++)
		end_object(m->arena, m->places[i]);
	assert_true(zs_arena_check(m->arena));
	assert_int_equal(span_held(&m->arena->span).bytes, 0);
	zs_arena_destroy(m->arena);
	mem_exit(&mem);
	free(m);
}

/* ---- misuse -------------------------------------------------------------- */

struct misuse {
	struct zs_arena *arena;
	zs_cell cell;
	size_t bytes;
};

static void free_it(void *arg)
{
	struct misuse *m = arg;

	zs_free_object(m->arena, &m->cell, m->bytes);
}

static void D53_a_debug_build_detects_wrong_frees(void **state)
{
#ifdef ZSWAP_DEBUG_CHECKS
	struct unit *u = *state;
	struct misuse m = { arena_new(&u->mem, PAGE, CHAIN), 0, 100 };
	zs_cell other;

	take(m.arena, 100, &other);
	take(m.arena, 100, &m.cell);
	assert_false(unit_dies(free_it, &m));
	m.bytes = 1000; /* of another class */
	assert_true(unit_dies(free_it, &m));
	m.bytes = 100;
	zs_free_object(m.arena, &m.cell, 100);
	assert_true(unit_dies(free_it, &m)); /* again */
	m.cell = other + 16;                 /* made up */
	assert_true(unit_dies(free_it, &m));
	assert_true(zs_arena_check(m.arena));
	zs_arena_destroy(m.arena);
#else
	(void)state, (void)free_it;
	skip();
#endif
}

static void D64_a_zspage_beyond_the_limit_is_refused_as_such(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = arena_new(&u->mem, PAGE, CHAIN);
	zs_cell cells[3] = { 0 };

	atomic_store(&u->mem.held_max_bytes, 2 * PAGE);
	take_many(arena, PAGE, cells, 2);
	assert_int_equal(zs_alloc_object(arena, PAGE, &cells[2]), -EDQUOT);
	assert_int_equal(zs_alloc_object(arena, 100, &cells[2]), -EDQUOT);
	assert_int_equal(cells[2], 0);
	assert_true(zs_arena_check(arena));
	atomic_store(&u->mem.held_max_bytes, 3 * PAGE);
	take(arena, PAGE, &cells[2]);
	give_many(arena, PAGE, cells, 3);
	zs_arena_destroy(arena);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest cases[] = {
		unit_case(requests_of_nothing_or_over_a_page_are_refused),
		unit_case(D64_a_zspage_beyond_the_limit_is_refused_as_such),
		unit_case(D48_pools_survive_any_failing_hook),
		unit_case(D48_requests_survive_any_failing_hook),
		unit_case(an_object_freed_meanwhile_does_for_a_zspage),
		unit_case(a_fresh_zspage_hands_out_its_objects_in_order),
		unit_case(the_object_freed_last_is_reused_first),
		cmocka_unit_test(fullness_has_the_kernels_values),
		unit_case(a_zspage_heads_the_list_of_the_group_it_comes_to),
		unit_case(the_fullest_zspage_serves_the_next_request),
		unit_case(of_equally_full_zspages_the_last_to_come_serves),
		unit_case(the_last_free_gives_back_the_chain),
		unit_case(a_huge_payload_has_a_page_and_no_header),
		unit_case(a_pool_ends_with_whatever_is_left_in_it),
		unit_case(freed_payloads_are_wiped_where_asked_for),
		cmocka_unit_test(D50_objects_of_every_size_keep_their_bytes),
		unit_case(D58_objects_at_class_borders_keep_their_bytes),
		cmocka_unit_test(memory_used_is_what_the_kernel_uses),
		cmocka_unit_test(D54_threads_may_allocate_and_free_at_once),
		unit_case(D53_a_debug_build_detects_wrong_frees),
		unit_case(D58_chains_of_one_page_keep_their_bytes),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE-IN-DATA-DIRECTORY\n", argv[0]);
		return 2;
	}
	data_file = argv[1];
	watchdog_start("test_zs", 120);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
