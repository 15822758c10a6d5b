// SPDX-License-Identifier: MIT
/*
 * test_compact.c - compaction gives back what it can, and changes nothing else
 *
 * S9 .. S11 as in test_kernel.c.
 */
#include "home.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gate.h"
#include "halt.h"
#include "sanitizer.h"
#include "threads.h"
#include "watchdog.h"

#define PAGE 4096

/* Compacts, with the result and the counters checked. */
static uint64_t compact(struct zs_pool *pool)
{
	struct zs_pool_stats before = pool_stats(pool), after;
	long pages = zs_compact(pool);

	after = pool_stats(pool);
	assert_true(pages >= 0);
	assert_int_equal(before.pages_used - after.pages_used, pages);
	assert_int_equal(after.pages_compacted - before.pages_compacted, pages);
	assert_int_equal(after.objects, before.objects);
	assert_true(after.objects_moved >= before.objects_moved);
	return (uint64_t)pages;
}

/* ---- small patterns ------------------------------------------------------ */

static void S10_two_half_full_zspages_become_one(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;
	struct object objects[512];
	unsigned nth, n, i;

	for (nth = 0; next_class(h->pool, nth, &class); nth++) {
		n = class.objects_per_zspage;
		if (n == 1)
			continue;
		make_objects(h->pool, objects, 2 * n, largest_payload(&class));
		for (i = 0; i < 2 * n; i++)
			if (i % n < (n + 1) / 2)
				object_end(h->pool, &objects[i]);
		assert_int_equal(pool_stats(h->pool).compactable_pages,
				 class.pages_per_zspage);
		assert_int_equal(compact(h->pool), class.pages_per_zspage);
		assert_int_equal(compact(h->pool), 0);
		end_objects(h->pool, objects, 2 * n);
	}
}

static void S10_a_single_zspage_is_left_alone(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;
	struct object object;
	unsigned nth;

	for (nth = 0; next_class(h->pool, nth, &class); nth++)
		make_objects(h->pool, &object, 1, largest_payload(&class));
	assert_int_equal(compact(h->pool), 0);
	assert_int_equal(pool_stats(h->pool).objects_moved, 0);
	assert_sums_agree(h);
}

/* With this many places free, in three zspages of a class. */
static void assert_freeable(struct home *h, const struct zs_class_stats *class,
			    unsigned nr_free)
{
	unsigned n = class->objects_per_zspage, i;
	uint64_t pages = nr_free / n * class->pages_per_zspage;
	size_t bytes = largest_payload(class);
	struct object objects[3 * 256];

	make_objects(h->pool, objects, 3 * n, bytes);
	for (i = 0; i < nr_free; i++)
		object_end(h->pool, &objects[i % 3 * n + i / 3]);
	assert_int_equal(class_of(h->pool, bytes).freeable_pages, pages);
	assert_int_equal(compact(h->pool), pages);
	assert_int_equal(class_of(h->pool, bytes).freeable_pages, 0);
	end_objects(h->pool, objects, 3 * n);
}

static void S11_as_many_zspages_are_freeable_as_places_make(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;
	unsigned nth, n;

	for (nth = 0; next_class(h->pool, nth, &class); nth++) {
		n = class.objects_per_zspage;
		if (n < 3)
			continue;
		assert_freeable(h, &class, n - 1);
		assert_freeable(h, &class, n);
		assert_freeable(h, &class, n + 1);
		watchdog_progress();
	}
}

/* ---- any pattern --------------------------------------------------------- */

#define NR_MIXED 3000

static size_t mixed_bytes(struct rng *rng, size_t page)
{
	/* Half of them of few classes, so that these have many zspages. */
	if (rng_below(rng, 2))
		return 1 + rng_below(rng, (uint32_t)page);
	return page / 2 - rng_below(rng, (uint32_t)page / 8);
}

static void make_mixed(struct home *h, struct rng *rng, struct object *objects,
		       size_t nr)
{
	size_t page = h->params.page_size ? h->params.page_size : PAGE, i;

	for (i = 0; i < nr; i++)
		if (!objects[i].handle)
			make_objects(h->pool, &objects[i], 1,
				     mixed_bytes(rng, page));
}

static void end_percent(struct home *h, struct rng *rng, struct object *objects,
			size_t nr, uint32_t percent)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (rng_below(rng, 100) < percent)
			object_end(h->pool, &objects[i]);
}

static void assert_compact(struct home *h)
{
	struct zs_class_stats class;
	unsigned nth;

	for (nth = 0; next_class(h->pool, nth, &class); nth++)
		assert_int_equal(class.pages_used, pages_needed_in(&class));
}

/* S9: object_check() knows an object by its handle. */
static void thin_out_and_compact(struct home *h, struct rng *rng)
{
	size_t nr = h->params.page_size > PAGE ? NR_MIXED / 4 : NR_MIXED;
	struct object *objects = no_objects(nr);
	unsigned round;

	for (round = 0; round < 4; round++) {
		make_mixed(h, rng, objects, nr);
		end_percent(h, rng, objects, nr, 10 + rng_below(rng, 90));
		compact(h->pool);
		assert_compact(h);
		assert_sums_agree(h);
		check_objects(h->pool, objects, nr);
		assert_int_equal(compact(h->pool), 0);
		watchdog_progress();
	}
	assert_true(pool_stats(h->pool).objects_moved > 0);
	assert_int_equal(pool_stats(h->pool).objects_skipped, 0);
	end_objects(h->pool, objects, nr);
	assert_int_equal(zs_get_total_pages(h->pool), 0);
	free(objects);
}

static void D55_S9_after_any_pattern_no_zspage_is_left_over(void **state)
{
	static const uint32_t chains[] = { 1, 3, 8, 16 };
	struct home *h = *state;
	struct rng rng;
	unsigned p, c;

	rng_init(&rng, 1);
	for (h->params.class_choice = ZSWAP_CLASSES_EXACT;
	     h->params.class_choice <= ZSWAP_CLASSES_ADAPTIVE;
	     h->params.class_choice++)
		for (p = 0; p < 3; p++)
			for (c = 0; c < 4; c++) {
				home_with(h, all_page_sizes[p], chains[c]);
				thin_out_and_compact(h, &rng);
			}
}

static void huge_objects_stay_where_they_are(void **state)
{
	struct home *h = *state;
	struct object objects[50];
	const char *was[50];
	unsigned i;

	make_objects(h->pool, objects, 50, PAGE);
	for (i = 0; i < 50; i += 3)
		object_end(h->pool, &objects[i]);
	for (i = 0; i < 50; i++)
		was[i] = i % 3 ? address_of(h->pool, objects[i].handle) : NULL;
	assert_int_equal(compact(h->pool), 0);
	for (i = 0; i < 50; i++)
		if (i % 3)
			assert_ptr_equal(address_of(h->pool, objects[i].handle),
					 was[i]);
}

/* ---- in use -------------------------------------------------------------- */

#define HELD_BYTES 1560
#define NR_HELD 400

struct loop {
	struct zs_pool *pool;
	atomic_uint calls;
	atomic_bool over;
};

static void compact_in_a_loop(void *arg)
{
	struct loop *loop = arg;

	while (!atomic_load(&loop->over)) {
		CHECK(zs_compact(loop->pool) >= 0);
		atomic_fetch_add(&loop->calls, 1);
	}
}

static void loop_begin(struct loop *loop, struct thread *thread,
		       struct zs_pool *pool)
{
	loop->pool = pool;
	atomic_store(&loop->calls, 0);
	atomic_store(&loop->over, false);
	thread_start(thread, compact_in_a_loop, loop);
}

static void loop_end(struct loop *loop, struct thread *thread)
{
	atomic_store(&loop->over, true);
	thread_join(thread);
}

/* One object is left in its zspage, which so is the emptiest; and is read. */
static struct object *hold_one(struct home *h, struct object *objects)
{
	unsigned n = class_of(h->pool, HELD_BYTES).objects_per_zspage, i;

	make_objects(h->pool, objects, NR_HELD, HELD_BYTES);
	CHECK(zs_obj_read_begin(h->pool, objects[5].handle));
	for (i = 0; i < NR_HELD; i++)
		if (i < n ? i != 5 : i % 3 == 0)
			object_end(h->pool, &objects[i]);
	return &objects[5];
}

static void D56_an_object_being_read_is_passed_over(void **state)
{
	struct home *h = *state;
	struct object objects[NR_HELD], *held = hold_one(h, objects);
	const char *was = address_of(h->pool, held->handle);
	struct zs_pool_stats before, stats;
	struct thread thread;
	struct loop loop;

	before = pool_stats(h->pool);
	loop_begin(&loop, &thread, h->pool);
	while (atomic_load(&loop.calls) < 200)
		assert_true(object_has(was, HELD_BYTES, held->tag));
	loop_end(&loop, &thread);
	stats = pool_stats(h->pool);
	/* Looked at once in each call, and all others have moved. */
	assert_int_equal(stats.objects_skipped - before.objects_skipped,
			 atomic_load(&loop.calls));
	assert_int_equal(
		stats.pages_used,
		pages_needed(h->pool) +
			class_of(h->pool, HELD_BYTES).pages_per_zspage);
	assert_ptr_equal(address_of(h->pool, held->handle), was);
	check_objects(h->pool, objects, NR_HELD);
	zs_obj_read_end(h->pool, held->handle);
	compact(h->pool);
	assert_compact(h);
	assert_ptr_not_equal(address_of(h->pool, held->handle), was);
	check_objects(h->pool, objects, NR_HELD);
}

static void D53_objects_may_be_freed_and_written_while_moved(void **state)
{
	struct home *h = *state;
	struct object *objects = no_objects(NR_MIXED);
	struct thread thread;
	struct loop loop;
	struct rng rng;
	unsigned round;
	size_t i;

	rng_init(&rng, 2);
	loop_begin(&loop, &thread, h->pool);
	for (round = 0; round < test_rounds(40); round++) {
		make_mixed(h, &rng, objects, NR_MIXED);
		end_percent(h, &rng, objects, NR_MIXED, 40);
		for (i = 0; i < NR_MIXED; i++)
			if (objects[i].handle)
				object_fill(h->pool, &objects[i], i * round);
		watchdog_progress();
	}
	check_objects(h->pool, objects, NR_MIXED);
	loop_end(&loop, &thread);
	assert_true(pool_stats(h->pool).objects_moved > 0);
	end_objects(h->pool, objects, NR_MIXED);
	assert_int_equal(pool_stats(h->pool).objects, 0);
	assert_sums_agree(h);
	free(objects);
}

/* Three to a zspage, and long to copy. */
#define LONG_BYTES 20000
#define NR_FILLERS 4

struct moved {
	struct zs_pool *pool;
	struct object watched;
};

/*
 * Two zspages, one with the watched object and two fillers, one with two
 * fillers. When the first two have gone it is alone, and moves to the others.
 */
static void move_watched(void *arg)
{
	struct moved *m = arg;
	zs_handle fillers[NR_FILLERS];
	unsigned i;

	for (i = 0; i < NR_FILLERS; i++)
		CHECK(zs_malloc(m->pool, LONG_BYTES, &fillers[i]) == 0);
	for (i = 0; i < NR_FILLERS; i++) {
		if (i == 2)
			CHECK(zs_compact(m->pool) >= 0);
		zs_free(m->pool, fillers[i]);
	}
}

/* What is written while the bytes are being copied is in the copy as well. */
static void D53_no_write_is_lost_in_a_move(void **state)
{
	struct home *h = *state;
	zs_handle others;
	struct moved m;
	unsigned i;

	home_with(h, 65536, 1);
	for (i = 0; i < 100; i++) /* so that some memory may wait for reuse */
		assert_int_equal(zs_malloc(h->pool, 65536, &others), 0);
	m.pool = h->pool;
	make_objects(h->pool, &m.watched, 1, LONG_BYTES);
	assert_int_equal(class_of(h->pool, LONG_BYTES).objects_per_zspage, 3);
	halt_start(move_watched, &m);
	for (i = 0; i < HALTS; i++) {
		halt();
		object_fill(h->pool, &m.watched, i * LONG_BYTES);
		halt_go_on();
		object_check(h->pool, &m.watched);
		watchdog_progress();
	}
	halt_end();
	object_check(h->pool, &m.watched);
	assert_true(pool_stats(h->pool).objects_moved > HALTS);
}

/* ---- two at once --------------------------------------------------------- */

/* Hooks of the home's; where memory is given back first, there is a gate. */
struct gated {
	struct zswap_hooks hooks;
	atomic_bool armed;
	struct faulty *faulty;
	struct gate gate;
	struct zs_pool *pool;
	long pages;
};

static void *gated_map(void *ctx, size_t bytes, size_t align)
{
	struct gated *g = ctx;

	return g->faulty->hooks.map(g->faulty, bytes, align);
}

static void gated_unmap(void *ctx, void *addr, size_t bytes)
{
	struct gated *g = ctx;

	g->faulty->hooks.unmap(g->faulty, addr, bytes);
}

static int gated_purge(void *ctx, void *addr, size_t bytes)
{
	struct gated *g = ctx;

	if (atomic_exchange(&g->armed, false))
		gate_pass(&g->gate);
	return g->faulty->hooks.purge(g->faulty, addr, bytes);
}

static void compact_at_gate(void *arg)
{
	struct gated *g = arg;

	g->pages = zs_compact(g->pool);
}

static void S10_a_call_that_finds_another_compacting_returns_0(void **state)
{
	struct home *h = *state;
	struct gated g = { .hooks = { .size = sizeof(g.hooks),
				      .ctx = &g,
				      .map = gated_map,
				      .unmap = gated_unmap,
				      .purge = gated_purge },
			   .faulty = &h->hooks };
	struct object objects[26], smaller[26];
	struct thread thread;
	uint64_t pages;
	unsigned i;

	gate_init(&g.gate);
	h->params.hooks = &g.hooks;
	home_again(h);
	g.pool = h->pool;
	make_objects(h->pool, objects, 26, HELD_BYTES);
	make_objects(h->pool, smaller, 26, HELD_BYTES / 2);
	for (i = 0; i < 26; i += 2) {
		object_end(h->pool, &objects[i]);
		object_end(h->pool, &smaller[i]);
	}
	pages = pool_stats(h->pool).compactable_pages;
	atomic_store(&g.armed, true);
	gate_close(&g.gate);
	thread_start(&thread, compact_at_gate, &g);
	assert_true(gate_wait(&g.gate, 1));
	assert_in_range(pool_stats(h->pool).compactable_pages, 1, pages - 1);
	assert_int_equal(zs_compact(h->pool), 0);
	/* Everybody else goes on. */
	make_objects(h->pool, objects, 1, HELD_BYTES);
	check_objects(h->pool, objects, 1);
	gate_open(&g.gate);
	thread_join(&thread);
	assert_int_equal(g.pages, pages);
	assert_int_equal(pool_stats(h->pool).pages_compacted, pages);
	zs_destroy_pool(h->pool);
	h->pool = NULL;
	gate_end(&g.gate);
}

/* ---- by itself ----------------------------------------------------------- */

/* Free places of a class, once zs_free() has had its turns. */
static void assert_nearly_compact(struct home *h)
{
	struct zs_class_stats class;
	uint64_t nr_free;
	unsigned nth;

	for (nth = 0; next_class(h->pool, nth, &class); nth++) {
		nr_free = class.objects_allocated - class.objects_used;
		assert_true(nr_free <= 3 * class.objects_per_zspage +
					       class.objects_allocated / 128);
	}
}

static void an_auto_pool_compacts_in_zs_free(void **state)
{
	struct home *h = *state;
	struct object *objects = no_objects(20 * NR_MIXED);
	uint64_t pages[2], i;
	struct rng rng;

	for (i = 0; i < 2; i++) {
		rng_init(&rng, 3);
		h->params.compaction =
			i ? ZSWAP_COMPACT_AUTO : ZSWAP_COMPACT_MANUAL;
		home_again(h);
		make_mixed(h, &rng, objects, 20 * NR_MIXED);
		end_percent(h, &rng, objects, 20 * NR_MIXED, 70);
		pages[i] = zs_get_total_pages(h->pool);
		assert_sums_agree(h);
		if (i)
			assert_nearly_compact(h);
		else
			assert_int_equal(pool_stats(h->pool).objects_moved, 0);
		watchdog_progress();
		end_objects(h->pool, objects, 20 * NR_MIXED);
	}
	assert_true(pages[1] < pages[0]);
	assert_true(pool_stats(h->pool).objects_moved > 0);
	assert_true(pool_stats(h->pool).pages_compacted > 0);
	free(objects);
}

static void an_auto_pool_passes_over_objects_being_read(void **state)
{
	struct home *h = *state;
	struct object objects[NR_HELD], *held;
	const char *was;

	h->params.compaction = ZSWAP_COMPACT_AUTO;
	home_again(h);
	held = hold_one(h, objects);
	was = address_of(h->pool, held->handle);
	end_objects(h->pool, &objects[100], NR_HELD - 100);
	assert_ptr_equal(address_of(h->pool, held->handle), was);
	assert_true(pool_stats(h->pool).objects_moved > 0);
	assert_true(pool_stats(h->pool).objects_skipped > 0);
	zs_obj_read_end(h->pool, held->handle);
	check_objects(h->pool, objects, NR_HELD);
}

/* ---- memory goes back ---------------------------------------------------- */

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long all, resident;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &all, &resident), 2);
	fclose(file);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

#define MIB ((uint64_t)1 << 20)

/* Where no sanitizer, no valgrind and no jemalloc keeps memory of its own. */
static bool resident_is_ours(void)
{
	return !TEST_ASAN && !TEST_TSAN && !getenv("ZSWAP_TEST_FEW_VARIANTS") &&
	       !getenv("ZSWAP_TEST_HOOKS");
}

static void assert_resident(uint64_t now, uint64_t expected, uint64_t slack)
{
	if (resident_is_ours())
		assert_in_range(now, expected < slack ? 0 : expected - slack,
				expected + slack);
}

static void D60_memory_goes_back_to_the_system(void **state)
{
	struct home *h = *state;
	size_t nr = test_rounds(200000);
	struct object *objects = no_objects(nr);
	struct zs_pool_stats stats;
	uint64_t before, ideal;
	struct rng rng;

	h->params.hooks = NULL; /* the hooks' memory is another's */
	home_again(h);
	rng_init(&rng, 4);
	memset(objects, 1, nr * sizeof(*objects)); /* is there, and stays */
	memset(objects, 0, nr * sizeof(*objects));
	before = resident_bytes();
	make_mixed(h, &rng, objects, nr);
	end_percent(h, &rng, objects, nr, 90);
	compact(h->pool);
	stats = pool_stats(h->pool);
	ideal = pages_needed(h->pool) * PAGE;
	assert_in_range(stats.held_bytes, ideal, ideal + ideal / 5);
	/* What malloc() needs besides for metadata is not ours. */
	assert_resident(resident_bytes(),
			before + stats.held_bytes + stats.metadata_bytes,
			stats.held_bytes / 20 + stats.metadata_bytes / 2 +
				2 * MIB);
	end_objects(h->pool, objects, nr);
	assert_int_equal(pool_stats(h->pool).held_bytes, 0);
	assert_resident(resident_bytes(), before, 4 * MIB);
	free(objects);
}

/* "One page in 32 ..., but no more than 256 KiB, or one in 128". */
static void D60_what_waits_for_reuse_is_bounded(void **state)
{
	struct home *h = *state;
	struct object *objects = no_objects(10 * NR_MIXED);
	uint64_t bound;
	struct rng rng;
	size_t i;

	rng_init(&rng, 5);
	make_mixed(h, &rng, objects, 10 * NR_MIXED);
	for (i = 0; i < 10 * NR_MIXED; i++) {
		struct zs_pool_stats stats;

		object_end(h->pool, &objects[i]);
		stats = pool_stats(h->pool);
		bound = stats.pages_used * PAGE / 32;
		if (bound > 256 * 1024)
			bound = 256 * 1024;
		if (bound < stats.pages_used * PAGE / 128)
			bound = stats.pages_used * PAGE / 128;
		assert_in_range(stats.reserve_bytes, 0, bound);
		if (i % 1000 == 0)
			watchdog_progress();
	}
	assert_int_equal(pool_stats(h->pool).held_bytes, 0);
	free(objects);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		HOME_CASE(S10_two_half_full_zspages_become_one),
		HOME_CASE(S10_a_single_zspage_is_left_alone),
		HOME_CASE(S11_as_many_zspages_are_freeable_as_places_make),
		HOME_CASE(D55_S9_after_any_pattern_no_zspage_is_left_over),
		HOME_CASE(huge_objects_stay_where_they_are),
		HOME_CASE(D56_an_object_being_read_is_passed_over),
		HOME_CASE(D53_objects_may_be_freed_and_written_while_moved),
		HOME_CASE(D53_no_write_is_lost_in_a_move),
		HOME_CASE(S10_a_call_that_finds_another_compacting_returns_0),
		HOME_CASE(an_auto_pool_compacts_in_zs_free),
		HOME_CASE(an_auto_pool_passes_over_objects_being_read),
		HOME_CASE(D60_memory_goes_back_to_the_system),
		HOME_CASE(D60_what_waits_for_reuse_is_bounded),
	};

	return home_run("zsmalloc, compact", cases,
			sizeof(cases) / sizeof(cases[0]));
}
