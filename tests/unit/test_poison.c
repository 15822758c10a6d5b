// SPDX-License-Identifier: MIT
/*
 * test_poison.c - ASan or valgrind knows what of the library's memory is in use
 *
 * Built where the library tells one of them. What is handed out must be allowed
 * to the byte and, for valgrind, undefined, whoever had it before; the rest
 * must be forbidden. The last cases plant errors in a child, which must be
 * reported.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "codec.h"
#include "pagegen.h"
#include "poison.h"

#if !defined(POISON_ASAN) && !defined(HAVE_VALGRIND)
#error "nobody to tell"
#endif

#define CHAIN 8

static const uint32_t page_sizes[] = { 4096, 16384, 65536 };

/* Every 7th byte and the last: none of the words is left out. */
static bool all_forbidden(const char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 7)
		if (!poison_is_forbidden(at + i))
			return false;
	return !bytes || poison_is_forbidden(at + bytes - 1);
}

#ifdef POISON_ASAN
static bool all_allowed(const char *at, size_t bytes)
{
	return !__asan_region_is_poisoned((void *)at, bytes);
}

/* ASan does not know. */
static bool all_undefined(const char *at, size_t bytes)
{
	(void)at, (void)bytes;
	return true;
}
#else
static bool all_have(const char *at, size_t bytes, bool undefined)
{
	unsigned char vbits[4096];

	while (bytes) {
		size_t n = min_size(bytes, sizeof(vbits));

		if (VALGRIND_GET_VBITS(at, vbits, n) != 1)
			return false;
		for (size_t i = 0; undefined && i < n; i++)
			if (vbits[i] != 0xff)
				return false;
		at += n;
		bytes -= n;
	}
	return true;
}

static bool all_allowed(const char *at, size_t bytes)
{
	return all_have(at, bytes, false);
}

static bool all_undefined(const char *at, size_t bytes)
{
	return all_have(at, bytes, true);
}
#endif

/* Allowed up to a border, forbidden behind it. */
static void assert_border(const char *from, const char *border, const char *end)
{
	assert_true(all_allowed(from, (size_t)(border - from)));
	assert_true(all_forbidden(border, (size_t)(end - border)));
}

/* ---- slabs --------------------------------------------------------------- */

static void free_entries_are_forbidden_of(struct unit *u, size_t bytes)
{
	struct slab_cache cache;
	char *objects[3], *slab, *end;

	slab_cache_init(&cache, &u->mem, bytes);
	assert_int_equal(slab_alloc_bulk(&cache, 3, (void **)objects), 0);
	slab = (char *)((uintptr_t)objects[0] & ~(uintptr_t)(SLAB_BYTES - 1));
	end = slab + SLAB_BYTES;
	/* Of the rest none was handed out, and some is left over. */
	assert_border(slab, objects[2] + bytes, end);
	memset(objects[0], 1, 3 * bytes);
	slab_free(&cache, objects[1]);
	slab_free(&cache, objects[0]);
	assert_true(all_forbidden(objects[0], 2 * bytes));
	assert_true(all_allowed(objects[2], bytes));
	assert_true(slab_cache_check(&cache));
	assert_true(all_forbidden(objects[0], 2 * bytes));
	assert_ptr_equal(slab_alloc(&cache), objects[0]);
	assert_true(all_allowed(objects[0], bytes));
	assert_true(all_undefined(objects[0], bytes));
	assert_true(all_forbidden(objects[1], bytes));
	slab_cache_exit(&cache);
}

static void free_entries_are_forbidden(void **state)
{
	for (size_t bytes = 16; bytes <= 1024; bytes += 16)
		free_entries_are_forbidden_of(*state, bytes);
}

/* ---- objects ------------------------------------------------------------- */

static struct zs_arena *arena_new(struct mem *mem, uint32_t page)
{
	return arena_with(mem, exact_params(page, CHAIN));
}

/* The first two objects of a class, with payloads of so many bytes. */
static void assert_payload_is_exact(struct zs_arena *arena, size_t bytes)
{
	struct zs_class *class =
		&arena->classes[zs_class_of_request(&arena->table, bytes)];
	size_t size = class->size.bytes;
	size_t all = class->size.pages * arena->span.granule_bytes;
	char *first, *payload;
	zs_cell cells[2];

	assert_int_equal(zs_alloc_object(arena, bytes, &cells[0]), 0);
	first = object_of(arena, &cells[0]);
	payload = zs_payload(&cells[0]);
	/* Slack, objects that were never used, and waste. */
	assert_border(first, payload + bytes, first + all);
	assert_true(all_undefined(payload, bytes));
	memset(payload, 1, bytes);
	if (class->size.objects == 1) {
		zs_free_object(arena, &cells[0], bytes);
		return;
	}
	assert_int_equal(zs_alloc_object(arena, bytes, &cells[1]), 0);
	assert_ptr_equal(object_of(arena, &cells[1]), first + size);
	zs_free_object(arena, &cells[0], bytes);
	assert_true(all_forbidden(first, size));
	assert_true(zs_arena_check(arena));
	assert_true(all_forbidden(first, size));
	/* In use again, for a shorter payload where the class has one. */
	if (bytes > 1 && zs_class_of_request(&arena->table, bytes - 1) ==
				 (unsigned)(class - arena->classes))
		bytes--;
	assert_int_equal(zs_alloc_object(arena, bytes, &cells[0]), 0);
	assert_ptr_equal(object_of(arena, &cells[0]), first);
	assert_border(first, payload + bytes, first + size);
	assert_true(all_undefined(payload, bytes));
	zs_free_object(arena, &cells[0], bytes);
	zs_free_object(arena, &cells[1], bytes);
}

static void D63_an_object_is_allowed_as_far_as_its_payload(void **state)
{
	struct unit *u = *state;

	for (size_t i = 0; i < ARRAY_SIZE(page_sizes); i++) {
		uint32_t page = page_sizes[i];
		struct zs_arena *arena = arena_new(&u->mem, page);

		for (size_t bytes = 1; bytes <= 32; bytes++)
			assert_payload_is_exact(arena, bytes);
		for (size_t bytes = 33; bytes < page; bytes += page / 16 + 1)
			assert_payload_is_exact(arena, bytes);
		assert_payload_is_exact(arena, zs_arena_huge_bytes(arena) - 1);
		assert_payload_is_exact(arena, zs_arena_huge_bytes(arena));
		assert_payload_is_exact(arena, page - 1);
		assert_payload_is_exact(arena, page);
		zs_arena_destroy(arena);
	}
}

/* Sizes of which some are left over at the end of the zspage. */
static void what_is_left_over_of_a_full_zspage_is_forbidden(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena;
	unsigned with_waste = 0;

	arena = arena_new(&u->mem, 4096);
	for (unsigned c = 0; c < arena->table.nr_classes; c++) {
		struct zs_class *class = &arena->classes[c];
		size_t bytes = payload_bytes(class);
		unsigned n = class->size.objects;
		char *first, *end;
		zs_cell cells[256];

		for (unsigned i = 0; i < n; i++)
			assert_int_equal(
				zs_alloc_object(arena, bytes, &cells[i]), 0);
		first = object_of(arena, &cells[0]);
		end = first + class->size.pages * 4096;
		assert_border(first, first + n * class->size.bytes, end);
		with_waste += first + n * class->size.bytes < end;
		for (unsigned i = 0; i < n; i++)
			zs_free_object(arena, &cells[i], bytes);
	}
	assert_true(with_waste > 10);
	zs_arena_destroy(arena);
}

/* ---- moved objects ------------------------------------------------------- */

/* Of two zspages that each have two objects, the sources' last one stays. */
struct moved {
	struct zs_arena *arena;
	struct owned objects[2][256];
	char *was; /* where the object was that moves */
	struct owned *moved, *stays;
};

/*
 * Zspages of at least three objects, of payloads of so many bytes: all taken,
 * then all but two of each given back, and one of these moved.
 */
static void move_one(struct moved *m, struct mem *mem, uint32_t page,
		     size_t bytes)
{
	unsigned n;

	memset(m, 0, sizeof(*m));
	m->arena = arena_new(mem, page);
	n = class_for(m->arena, bytes)->size.objects;
	assert_in_range(n, 4, ARRAY_SIZE(m->objects[0]));
	for (unsigned i = 0; i < 2 * n; i++)
		owned_take(m->arena, &m->objects[i / n][i % n], bytes);
	for (unsigned z = 0; z < 2; z++)
		for (unsigned i = n; i-- > 2;)
			owned_give(m->arena, &m->objects[z][i]);
	/* The last to change its group is the destination. */
	m->moved = &m->objects[0][0];
	m->stays = &m->objects[0][1];
	m->stays->refuses = true;
	m->was = object_of(m->arena, &m->moved->cell);
	assert_int_equal(zs_arena_compact(m->arena), 0);
	assert_ptr_not_equal(object_of(m->arena, &m->moved->cell), m->was);
}

static void moved_end(struct moved *m)
{
	for (unsigned z = 0; z < 2; z++)
		for (unsigned i = 0; i < 2; i++)
			owned_give(m->arena, &m->objects[z][i]);
	zs_arena_destroy(m->arena);
}

/* The next place was offered to the object that stayed, and taken back. */
static void assert_move_is_exact(struct unit *u, uint32_t page, size_t bytes)
{
	struct moved m;
	char *object, *payload;
	size_t size;

	move_one(&m, &u->mem, page, bytes);
	size = class_of(m.arena, &m.moved->cell)->size.bytes;
	object = object_of(m.arena, &m.moved->cell);
	payload = zs_payload(&m.moved->cell);
	assert_border(object, payload + bytes, object + 2 * size);
	assert_true(all_forbidden(m.was, size));
	object = object_of(m.arena, &m.stays->cell);
	payload = zs_payload(&m.stays->cell);
	assert_border(object, payload + bytes, object + size);
	assert_true(zs_arena_check(m.arena));
	moved_end(&m);
}

static void D63_a_moved_object_is_allowed_where_it_is_now(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(page_sizes); i++) {
		uint32_t page = page_sizes[i];

		for (size_t bytes = page / 30; bytes < page / 5;
		     bytes += page / 64 + 1)
			assert_move_is_exact(*state, page, bytes);
	}
}

/* ---- runs ---------------------------------------------------------------- */

/* Of a waiting run: two list nodes. */
#define LINKS (2 * sizeof(struct list))

struct scene {
	struct span_pool span;
	char *runs[100]; /* of 2 granules, neighbours */
};

static size_t run_bytes(const struct scene *s)
{
	return 2 * s->span.granule_bytes;
}

static struct scene *scene_new(struct unit *u)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	span_init(&s->span, &u->mem, u->os_page);
	for (size_t i = 0; i < ARRAY_SIZE(s->runs); i++)
		assert_int_equal(
			span_alloc(&s->span, 2, s, (void **)&s->runs[i]), 0);
	return s;
}

static void scene_end(struct scene *s)
{
	span_exit(&s->span);
	free(s);
}

static void of_a_chunk_the_header_and_used_runs_are_allowed(void **state)
{
	struct scene *s = scene_new(*state);
	char *chunk = (char *)((uintptr_t)s->runs[0] &
			       ~(uintptr_t)(s->span.chunk_bytes - 1));
	char *last = s->runs[ARRAY_SIZE(s->runs) - 1];

	assert_border(chunk, last + run_bytes(s), chunk + s->span.chunk_bytes);
	assert_true(all_undefined(last, run_bytes(s)));
	scene_end(s);
}

static void a_waiting_run_is_forbidden_but_for_its_links(void **state)
{
	struct scene *s = scene_new(*state);
	char *run = s->runs[50];
	void *again;

	span_free(&s->span, run, 2);
	assert_true(span_held(&s->span).reserve_bytes); /* it waits */
	assert_border(run, run + LINKS, run + run_bytes(s));
	assert_true(span_check(&s->span));
	assert_border(run, run + LINKS, run + run_bytes(s));
	assert_int_equal(span_alloc(&s->span, 2, s, &again), 0);
	assert_ptr_equal(again, run);
	assert_true(all_allowed(run, run_bytes(s)));
	assert_true(all_undefined(run, run_bytes(s)));
	scene_end(s);
}

/* All runs but the first go; how many do not wait. */
static unsigned give_back(struct scene *s)
{
	unsigned nr_free = 0;

	for (size_t i = 1; i < ARRAY_SIZE(s->runs); i++)
		span_free(&s->span, s->runs[i], 2);
	for (size_t i = 1; i < ARRAY_SIZE(s->runs); i++) {
		if (!poison_is_forbidden(s->runs[i]))
			continue;
		assert_true(all_forbidden(s->runs[i], run_bytes(s)));
		nr_free++;
	}
	assert_true(all_allowed(s->runs[0], run_bytes(s)));
	return nr_free;
}

static void a_run_that_was_given_back_is_forbidden(void **state)
{
	struct unit *u = *state;
	struct scene *s = scene_new(u);

	/* Of 2 granules that are used none may wait. */
	assert_int_equal(give_back(s), ARRAY_SIZE(s->runs) - 1);
	assert_true(u->hooks.purged_bytes > 0);
	scene_end(s);
}

static void a_free_run_that_keeps_its_memory_is_forbidden(void **state)
{
	struct unit *u = *state;
	struct scene *s = scene_new(u);
	void *again;

	u->hooks.purge_fails = true;
	assert_int_equal(give_back(s), ARRAY_SIZE(s->runs) - 1);
	assert_true(span_held(&s->span).reserve_bytes);
	scene_end(s);
	/* Runs that are not whole system pages are not purged at all. */
	u->hooks.purge_fails = false;
	u->mem.os_page = 16 * u->os_page;
	s = scene_new(u);
	assert_int_equal(give_back(s), ARRAY_SIZE(s->runs) - 1);
	assert_true(span_held(&s->span).reserve_bytes);
	scene_end(s);
	u->mem.hooks.purge = NULL;
	s = scene_new(u);
	assert_int_equal(give_back(s), ARRAY_SIZE(s->runs) - 1);
	assert_int_equal(span_alloc(&s->span, 2, s, &again), 0);
	assert_true(all_allowed(again, run_bytes(s)));
	assert_true(all_undefined(again, run_bytes(s)));
	scene_end(s);
}

/* ---- hooks --------------------------------------------------------------- */

static struct {
	struct zswap_hooks real;
	unsigned frees, unmaps, purges, forbidden;
} hooks;

static void look_at(const void *addr, size_t bytes)
{
	hooks.forbidden += !all_allowed(addr, bytes);
}

static void looking_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	hooks.frees++;
	look_at(ptr, bytes);
	hooks.real.free(ctx, ptr, bytes, align);
}

static void looking_unmap(void *ctx, void *addr, size_t bytes)
{
	hooks.unmaps++;
	look_at(addr, bytes);
	hooks.real.unmap(ctx, addr, bytes);
}

static int looking_purge(void *ctx, void *addr, size_t bytes)
{
	hooks.purges++;
	look_at(addr, bytes);
	return hooks.real.purge(ctx, addr, bytes);
}

/* While slabs and chunks go one by one, and at the end. */
static void hooks_get_memory_that_is_allowed(void **state)
{
	enum { NR = 4000 };
	struct unit *u = *state;
	zs_cell *cells = calloc(NR, sizeof(*cells));
	struct zs_arena *arena;

	assert_non_null(cells);
	memset(&hooks, 0, sizeof(hooks));
	hooks.real = u->mem.hooks;
	u->mem.hooks.free = looking_free;
	u->mem.hooks.unmap = looking_unmap;
	u->mem.hooks.purge = looking_purge;
	arena = arena_new(&u->mem, 4096);
	for (int i = 0; i < NR; i++)
		assert_int_equal(zs_alloc_object(arena, 4096, &cells[i]), 0);
	for (int i = NR; i-- > NR / 8;)
		zs_free_object(arena, &cells[i], 4096);
	assert_true(hooks.frees > 0);
	assert_true(hooks.unmaps > 0);
	assert_true(hooks.purges > 0);
	hooks.frees = hooks.unmaps = 0;
	zs_arena_destroy(arena);
	assert_true(hooks.frees > 0);
	assert_true(hooks.unmaps > 0);
	assert_int_equal(hooks.forbidden, 0);
	u->mem.hooks = hooks.real;
	free(cells);
}

/* ---- codecs -------------------------------------------------------------- */

static int32_t look_at_source(void *arg, const struct zswap_comp_segment *seg,
			      int32_t result)
{
	const char *src = seg->src;

	*(bool *)arg = all_allowed(src, seg->src_len) &&
		       poison_is_forbidden(src + seg->src_len);
	return result;
}

static void D63_a_codec_may_read_its_source_and_no_more(void **state)
{
	struct unit *u = *state;
	struct zswap_params params = { .size = sizeof(params),
				       .nr_compressors = 1,
				       .hooks = &u->hooks.hooks };
	zswap_slot_t slot = zswap_slot(0, 1);
	struct codec codec;
	char page[4096];
	bool exact = false;
	struct zswap *z;

	codec_init(&codec, 1);
	params.compressor = codec.spec;
	params.compressors = &codec.vtable_list;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 100), 0);
	page_make(page, sizeof(page), PAGE_TEXT, 1);
	assert_int_equal(zswap_store(z, slot, page), 0);
	codec.decompress.judge = look_at_source;
	codec.decompress.judge_arg = &exact;
	assert_int_equal(zswap_load(z, slot, page), 0);
	assert_true(exact);
	zswap_destroy(z);
	assert_true(codec_end(&codec));
}

/* ---- planted errors ------------------------------------------------------ */

static bool *reported; /* shared with the child */

#ifdef POISON_ASAN
static void *wrong_access;

static void on_report(const char *text)
{
	(void)text;
	*reported = __asan_get_report_address() == wrong_access;
}

/* The process ends after a report. */
static void watch_reports(void *at)
{
	wrong_access = at;
	__asan_set_error_report_callback(on_report);
}

static void count_reports(void)
{
}
#else
static unsigned errors_before;

static void watch_reports(void *at)
{
	(void)at;
	errors_before = VALGRIND_COUNT_ERRORS;
}

static void count_reports(void)
{
	*reported = VALGRIND_COUNT_ERRORS > errors_before;
}
#endif

/* Whether a call's access at an address is reported; it is made in a child. */
static bool is_reported(void (*call)(void *arg), void *arg, void *at)
{
	int status;
	bool was;
	pid_t pid;

	reported = mmap(NULL, sizeof(*reported), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(reported != MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		watch_reports(at);
		call(arg);
		count_reports();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	was = *reported;
	munmap(reported, sizeof(*reported));
	return was;
}

static void read_at(void *arg)
{
	(void)*(const volatile char *)arg;
}

static void write_at(void *arg)
{
	volatile char *at = arg;

	*at = 1;
}

static void assert_access_is_reported(void *at)
{
	assert_true(is_reported(read_at, at, at));
	assert_true(is_reported(write_at, at, at));
}

static void using_a_freed_entry_is_reported(void **state)
{
	struct unit *u = *state;
	struct slab_cache cache;
	char *object;

	slab_cache_init(&cache, &u->mem, 16);
	object = slab_alloc(&cache);
	memset(object, 1, 16);
	assert_false(is_reported(read_at, object, object));
	slab_free(&cache, object);
	assert_access_is_reported(object);
	slab_cache_exit(&cache);
}

struct twice {
	struct slab_cache cache;
	void *object;
};

static void free_object(void *arg)
{
	struct twice *twice = arg;

	slab_free(&twice->cache, twice->object);
}

static void freeing_an_entry_twice_is_reported(void **state)
{
	struct unit *u = *state;
	struct twice twice;

	slab_cache_init(&twice.cache, &u->mem, 16);
	assert_non_null(slab_alloc(&twice.cache)); /* not the slab's last one */
	twice.object = slab_alloc(&twice.cache);
	assert_false(is_reported(free_object, &twice, twice.object));
	free_object(&twice);
	assert_true(is_reported(free_object, &twice, twice.object));
	slab_cache_exit(&twice.cache);
}

static void using_an_object_wrongly_is_reported(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena;
	zs_cell cells[2];
	char *payload;

	arena = arena_new(&u->mem, 4096);
	assert_int_equal(zs_alloc_object(arena, 101, &cells[0]), 0);
	assert_int_equal(zs_alloc_object(arena, 101, &cells[1]), 0);
	payload = zs_payload(&cells[0]);
	memset(payload, 1, 101);
	assert_false(is_reported(read_at, payload + 100, payload + 100));
	assert_access_is_reported(payload + 101);
	zs_free_object(arena, &cells[0], 101);
	assert_access_is_reported(payload);
	zs_free_object(arena, &cells[1], 101);
	assert_access_is_reported(payload); /* its zspage is gone as well */
	zs_arena_destroy(arena);
}

static void using_an_object_where_it_was_is_reported(void **state)
{
	struct unit *u = *state;
	struct moved m;
	char *payload;

	move_one(&m, &u->mem, 4096, 300);
	payload = zs_payload(&m.moved->cell);
	assert_false(is_reported(read_at, payload, payload));
	assert_access_is_reported(m.was + ZS_HEADER_BYTES);
	moved_end(&m);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(free_entries_are_forbidden),
		unit_case(D63_an_object_is_allowed_as_far_as_its_payload),
		unit_case(what_is_left_over_of_a_full_zspage_is_forbidden),
		unit_case(D63_a_moved_object_is_allowed_where_it_is_now),
		unit_case(of_a_chunk_the_header_and_used_runs_are_allowed),
		unit_case(a_waiting_run_is_forbidden_but_for_its_links),
		unit_case(a_run_that_was_given_back_is_forbidden),
		unit_case(a_free_run_that_keeps_its_memory_is_forbidden),
		unit_case(hooks_get_memory_that_is_allowed),
		unit_case(D63_a_codec_may_read_its_source_and_no_more),
		unit_case(using_a_freed_entry_is_reported),
		unit_case(freeing_an_entry_twice_is_reported),
		unit_case(using_an_object_wrongly_is_reported),
		unit_case(using_an_object_where_it_was_is_reported),
	};

#ifndef POISON_ASAN
	if (!RUNNING_ON_VALGRIND) {
		print_error("this build is for valgrind: --setup valgrind\n");
		return 1;
	}
#endif
	return cmocka_run_group_tests(cases, NULL, NULL);
}
