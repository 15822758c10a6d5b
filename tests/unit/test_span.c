// SPDX-License-Identifier: MIT
/*
 * test_span.c - runs are apart, have owners, and their memory goes back
 *
 * A run's tag stands in the first and last word of each of its granules, and is
 * a made-up owner too, so that runs that overlap, or lose their memory, differ
 * from what they should be.
 */
#include "unit.h"

#include <errno.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "span.h"
#include "threads.h"
#include "watchdog.h"

#define MAX_RUNS 1024

struct run {
	char *at;
	unsigned nr;
	uintptr_t tag;
};

struct runs {
	struct span_pool *span;
	unsigned nr;
	size_t granules;
	struct run all[MAX_RUNS];
};

static void write_tag(struct span_pool *span, struct run *run)
{
	for (unsigned i = 0; i < run->nr; i++) {
		char *granule = run->at + i * span->granule_bytes;

		memcpy(granule, &run->tag, sizeof(run->tag));
		memcpy(granule + span->granule_bytes - sizeof(run->tag),
		       &run->tag, sizeof(run->tag));
	}
}

static void check_tag(struct span_pool *span, const struct run *run)
{
	for (unsigned i = 0; i < run->nr; i++) {
		const char *granule = run->at + i * span->granule_bytes;
		const char *end = granule + span->granule_bytes;

		CHECK(!memcmp(granule, &run->tag, sizeof(run->tag)));
		CHECK(!memcmp(end - sizeof(run->tag), &run->tag,
			      sizeof(run->tag)));
		CHECK((uintptr_t)span_owner(span, granule) == run->tag);
		CHECK((uintptr_t)span_owner(span, end - 1) == run->tag);
	}
}

static void *alloc(struct span_pool *span, unsigned nr, void *owner)
{
	void *run = span; /* anything but NULL */
	int err = span_alloc(span, nr, owner, &run);

	CHECK(!err == !!run);
	return run;
}

/* False when there was no memory. */
static bool take_run(struct runs *runs, unsigned nr, uintptr_t tag)
{
	struct run *run = &runs->all[runs->nr];

	CHECK(runs->nr < MAX_RUNS);
	run->at = alloc(runs->span, nr, (void *)tag);
	if (!run->at)
		return false;
	CHECK((uintptr_t)run->at % runs->span->granule_bytes == 0);
	run->nr = nr;
	run->tag = tag;
	write_tag(runs->span, run);
	runs->nr++;
	runs->granules += nr;
	return true;
}

static void give_run(struct runs *runs, unsigned i)
{
	struct run run = runs->all[i];

	check_tag(runs->span, &run);
	runs->all[i] = runs->all[--runs->nr];
	runs->granules -= run.nr;
	span_free(runs->span, run.at, run.nr);
}

static struct runs *runs_new(struct unit *u, size_t granule_bytes)
{
	struct runs *runs = calloc(1, sizeof(*runs));

	assert_non_null(runs);
	runs->span = malloc(sizeof(*runs->span));
	assert_non_null(runs->span);
	span_init(runs->span, &u->mem, granule_bytes);
	return runs;
}

static void runs_end(struct runs *runs)
{
	span_exit(runs->span);
	free(runs->span);
	free(runs);
}

static void assert_good(struct runs *runs)
{
	size_t used = runs->granules * runs->span->granule_bytes;

	assert_true(span_check(runs->span));
	assert_int_equal(span_held(runs->span).bytes,
			 used + span_held(runs->span).reserve_bytes);
}

/* Chunks that are mapped; the owner page is a mapping as well. */
static size_t nr_chunks(struct unit *u)
{
	return u->hooks.map_blocks - 1;
}

static size_t header_bytes(struct runs *runs)
{
	return runs->span->header_granules * runs->span->granule_bytes;
}

/* ---- runs ---------------------------------------------------------------- */

static void runs_never_overlap_with_granules_of(struct unit *u, size_t bytes)
{
	struct runs *runs = runs_new(u, bytes);
	struct rng rng;

	rng_init(&rng, bytes);
	for (uintptr_t tag = 1; tag <= 300; tag++) {
		assert_true(take_run(runs, 1 + rng_below(&rng, 16), tag));
		assert_good(runs);
	}
	for (unsigned i = 0; i < runs->nr; i++)
		check_tag(runs->span, &runs->all[i]);
	while (runs->nr) {
		give_run(runs, rng_below(&rng, runs->nr));
		assert_good(runs);
	}
	assert_int_equal(span_held(runs->span).bytes, 0);
	runs_end(runs);
}

static void runs_are_aligned_and_never_overlap(void **state)
{
	runs_never_overlap_with_granules_of(*state, 4096);
	runs_never_overlap_with_granules_of(*state, 16384);
	runs_never_overlap_with_granules_of(*state, 65536);
}

static void a_chunk_is_used_up_before_the_next_is_mapped(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);
	unsigned room = SPAN_CHUNK_GRANULES - runs->span->header_granules;

	for (unsigned i = 0; i < room; i++)
		assert_non_null(alloc(runs->span, 1, u));
	assert_int_equal(nr_chunks(u), 1);
	assert_true(span_check(runs->span));
	assert_non_null(alloc(runs->span, 1, u));
	assert_int_equal(nr_chunks(u), 2);
	assert_true(span_check(runs->span));
	runs_end(runs);
}

static void a_gap_is_found_by_a_run_that_fits(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);
	unsigned room = SPAN_CHUNK_GRANULES - runs->span->header_granules;
	char *first = alloc(runs->span, 1, u);

	for (unsigned i = 1; i < room; i++)
		assert_ptr_equal(alloc(runs->span, 1, u), first + i * 4096);
	/* Gaps of 5 and 3; more is freed until neither waits in the reserve. */
	for (unsigned i = 100; i < 105; i++)
		span_free(runs->span, first + i * 4096, 1);
	for (unsigned i = 200; i < 203; i++)
		span_free(runs->span, first + i * 4096, 1);
	for (unsigned i = 300; i < 400; i += 2)
		span_free(runs->span, first + i * 4096, 1);
	assert_true(span_check(runs->span));
	assert_ptr_equal(alloc(runs->span, 5, u), first + 100 * 4096);
	assert_ptr_equal(alloc(runs->span, 3, u), first + 200 * 4096);
	assert_int_equal(nr_chunks(u), 1);
	assert_non_null(alloc(runs->span, 2, u));
	assert_int_equal(nr_chunks(u), 2);
	assert_true(span_check(runs->span));
	runs_end(runs);
}

static void no_memory_gives_no_run_and_changes_nothing(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);
	size_t metadata = metadata_bytes(u);

	faulty_fail_from(&u->hooks, FAULTY_ANY, 1);
	assert_false(take_run(runs, 3, 1));
	assert_good(runs);
	assert_int_equal(metadata_bytes(u), metadata);
	faulty_fail_none(&u->hooks);
	assert_true(take_run(runs, 3, 1));
	faulty_fail_from(&u->hooks, FAULTY_ANY, 1);
	for (unsigned i = 0; i < 60; i++) /* within the chunk that is there */
		assert_true(take_run(runs, 16, 1));
	while (take_run(runs, 16, 1))
		;
	assert_good(runs);
	faulty_fail_none(&u->hooks);
	runs_end(runs);
}

/* A place has no room for more bits; see zs.h. */
static struct {
	void *addr;
	unsigned unmaps;
} high = { NULL, 0 };

static void *map_high(void *ctx, size_t bytes, size_t align)
{
	(void)ctx, (void)bytes;
	high.addr =
		(void *)(uintptr_t)(UINT64_C(1) << SPAN_ADDRESS_BITS | align);
	return high.addr;
}

static void unmap_high(void *ctx, void *addr, size_t bytes)
{
	(void)ctx, (void)bytes;
	high.unmaps += addr == high.addr;
}

static void addresses_above_48_bits_are_not_used(void **state)
{
	struct unit *u = *state;
	struct zswap_hooks real = u->mem.hooks;
	struct runs *runs;
	size_t metadata = metadata_bytes(u);

	if (!((uint64_t)UINTPTR_MAX >> SPAN_ADDRESS_BITS))
		skip(); /* there are none */
	u->mem.hooks.map = map_high;
	u->mem.hooks.unmap = unmap_high;
	high.unmaps = 0;
	runs = runs_new(u, 4096);
	assert_false(take_run(runs, 1, 1));
	assert_int_equal(high.unmaps, 1);
	assert_int_equal(metadata_bytes(u), metadata);
	assert_good(runs);
	runs_end(runs);
	u->mem.hooks = real;
}

/* ---- the reserve --------------------------------------------------------- */

static void the_reserve_stays_within_its_share(void **state)
{
	struct runs *runs = runs_new(*state, 4096);
	bool was_there = false;

	for (uintptr_t tag = 1; tag <= 1000; tag++)
		assert_true(take_run(runs, 1 + tag % 3, tag));
	while (runs->nr) {
		give_run(runs, runs->nr / 2);
		assert_good(runs);
		assert_true(span_held(runs->span).reserve_bytes <=
			    runs->granules * 4096 / MEM_RESERVE_SHARE);
		was_there |= span_held(runs->span).reserve_bytes != 0;
	}
	assert_true(was_there);
	assert_int_equal(span_held(runs->span).bytes, 0);
	runs_end(runs);
}

/* The most granules that may wait, by span.h. */
static size_t most_waiting(const struct span_pool *span)
{
	size_t used = span->nr_used;
	size_t steady = 256 * 1024 / span->granule_bytes;
	size_t large = used / 128 > steady ? used / 128 : steady;

	return used / 32 < large ? used / 32 : large;
}

/*
 * Of a large pool less than a 32nd waits: 256 KiB, or a 128th where that is
 * more. Runs are of a quarter of those, so that some wait at each size.
 */
static void large_pools_of(struct unit *u, size_t granule_bytes)
{
	struct runs *runs = runs_new(u, granule_bytes);
	size_t length = 65536 / granule_bytes, most = 0, steady = 0;

	while (runs->nr < 800)
		runs->all[runs->nr++].at =
			alloc(runs->span, (unsigned)length, u);
	while (runs->nr) {
		size_t waiting;

		span_free(runs->span, runs->all[--runs->nr].at,
			  (unsigned)length);
		assert_true(span_check(runs->span));
		waiting = span_held(runs->span).reserve_bytes;
		assert_true(waiting <=
			    most_waiting(runs->span) * granule_bytes);
		most = max_size(most, waiting);
		if (runs->nr < 128 * 4)
			steady = max_size(steady, waiting);
	}
	assert_true(most > 256 * 1024);
	assert_int_equal(steady, 256 * 1024);
	runs_end(runs);
}

static void D60_the_reserve_of_large_pools_is_a_smaller_share(void **state)
{
	large_pools_of(*state, 4096);
	large_pools_of(*state, 16384);
	large_pools_of(*state, 65536);
}

static void a_waiting_run_serves_the_next_request_of_its_length(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);
	uint64_t calls;
	char *was;

	for (uintptr_t tag = 1; tag <= 100; tag++)
		assert_true(take_run(runs, 2, tag));
	was = runs->all[50].at;
	calls = faulty_calls(&u->hooks);
	give_run(runs, 50);
	assert_int_equal(span_held(runs->span).reserve_bytes, 2 * 4096);
	assert_true(take_run(runs, 1, 201));
	assert_true(take_run(runs, 3, 202));
	assert_ptr_not_equal(runs->all[runs->nr - 2].at, was);
	assert_true(take_run(runs, 2, 203));
	assert_ptr_equal(runs->all[runs->nr - 1].at, was);
	assert_int_equal(span_held(runs->span).reserve_bytes, 0);
	assert_int_equal(faulty_calls(&u->hooks), calls);
	assert_good(runs);
	runs_end(runs);
}

static void the_run_freed_last_is_handed_out_first(void **state)
{
	struct runs *runs = runs_new(*state, 4096);
	char *a, *b;

	for (uintptr_t tag = 1; tag <= 100; tag++)
		assert_true(take_run(runs, 2, tag));
	a = runs->all[10].at;
	give_run(runs, 10);
	b = runs->all[20].at;
	give_run(runs, 20);
	assert_int_equal(span_held(runs->span).reserve_bytes, 4 * 4096);
	assert_ptr_equal(alloc(runs->span, 2, runs), b);
	assert_ptr_equal(alloc(runs->span, 2, runs), a);
	runs_end(runs);
}

/* ---- chunks -------------------------------------------------------------- */

static void D60_an_empty_pool_holds_nothing(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);

	for (unsigned nr = 1; nr <= SPAN_MAX_RUN; nr++) {
		assert_true(take_run(runs, nr, nr));
		assert_int_equal(span_held(runs->span).bytes, nr * 4096);
		give_run(runs, 0);
		assert_good(runs);
		assert_int_equal(span_held(runs->span).bytes, 0);
		assert_int_equal(span_held(runs->span).reserve_bytes, 0);
	}
	runs_end(runs);
}

static void give_first_run(void *runs)
{
	give_run(runs, 0);
}

static void assert_run_given_meanwhile_is_taken(struct unit *u)
{
	struct runs *runs = runs_new(u, 4096);

	faulty_fail_from(&u->hooks, FAULTY_MAP, 2);
	while (take_run(runs, 4, runs->nr + 1))
		;
	faulty_fail_none(&u->hooks);
	unit_memory_is_out(u, give_first_run, runs);
	assert_true(take_run(runs, 4, MAX_RUNS));
	assert_false(take_run(runs, 4, MAX_RUNS));
	assert_true(unit_memory_is_back(u));
	assert_good(runs);
	runs_end(runs);
}

static void a_run_given_back_meanwhile_does_for_a_chunk(void **state)
{
	struct unit *u = *state;

	assert_run_given_meanwhile_is_taken(u);
	u->mem.hooks.purge = NULL;
	assert_run_given_meanwhile_is_taken(u);
}

static void D60_unused_chunks_are_unmapped_but_for_a_spare(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);
	size_t metadata = metadata_bytes(u);
	uint64_t maps;

	for (uintptr_t tag = 1; tag <= 200; tag++)
		assert_true(take_run(runs, 16, tag));
	assert_int_equal(nr_chunks(u), 4);
	assert_int_equal(metadata_bytes(u), metadata + 4 * header_bytes(runs));
	while (runs->nr)
		give_run(runs, runs->nr - 1);
	assert_good(runs);
	assert_int_equal(nr_chunks(u), 1);
	assert_int_equal(metadata_bytes(u), metadata + header_bytes(runs));
	/* The spare comes back into use without a hook. */
	maps = u->hooks.maps;
	assert_true(take_run(runs, 16, 1));
	assert_int_equal(u->hooks.maps, maps);
	assert_good(runs);
	runs_end(runs);
	assert_int_equal(metadata_bytes(u), metadata);
}

/* The oldest run's chunk goes as a whole, which is not enough here. */
static void D60_the_reserve_is_bounded_when_a_chunk_goes_first(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);
	unsigned room = SPAN_CHUNK_GRANULES - runs->span->header_granules;
	char *a = alloc(runs->span, 1, u), *b[60];

	for (unsigned i = 1; i < room; i++)
		assert_non_null(alloc(runs->span, 1, u));
	for (unsigned i = 0; i < 60; i++)
		b[i] = alloc(runs->span, 16, u);
	assert_int_equal(nr_chunks(u), 2);
	for (unsigned i = 1; i < room; i++)
		span_free(runs->span, a + i * 4096, 1);
	/* These two drive those out; the second may wait still. */
	span_free(runs->span, b[0], 16);
	span_free(runs->span, b[1], 16);
	b[1] = alloc(runs->span, 16, u);
	assert_int_equal(span_held(runs->span).reserve_bytes, 0);
	span_free(runs->span, a, 1);
	span_free(runs->span, b[1], 16);
	assert_int_equal(span_held(runs->span).reserve_bytes, 17 * 4096);
	span_free(runs->span, b[2], 16);
	assert_true(span_check(runs->span));
	assert_true(span_held(runs->span).reserve_bytes <= 57 * 16 * 4096 / 32);
	runs_end(runs);
}

static void leaving_gives_everything_back_whatever_is_used(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 16384);

	for (uintptr_t tag = 1; tag <= 100; tag++)
		assert_true(take_run(runs, 16, tag));
	give_run(runs, 3);
	runs_end(runs);
	assert_int_equal(nr_chunks(u), 0);
}

/* ---- memory that does not go back in parts ------------------------------- */

static void without_purge_memory_goes_back_by_whole_chunks(void **state)
{
	struct unit *u = *state;
	struct runs *runs;
	size_t held;

	u->mem.hooks.purge = NULL;
	runs = runs_new(u, 4096);
	for (uintptr_t tag = 1; tag <= 100; tag++)
		assert_true(take_run(runs, 16, tag));
	held = span_held(runs->span).bytes;
	assert_int_equal(nr_chunks(u), 2);
	/* The first chunk holds the first 63 runs. */
	for (unsigned i = 0; i < 62; i++) {
		span_free(runs->span, runs->all[i].at, 16);
		assert_true(span_check(runs->span));
		assert_int_equal(span_held(runs->span).bytes, held);
		assert_int_equal(span_held(runs->span).reserve_bytes,
				 (i + 1) * 16 * 4096);
	}
	span_free(runs->span, runs->all[62].at, 16);
	assert_int_equal(nr_chunks(u), 1);
	assert_int_equal(span_held(runs->span).bytes, 37 * 16 * 4096);
	assert_int_equal(span_held(runs->span).reserve_bytes, 0);
	for (unsigned i = 63; i < 100; i++)
		span_free(runs->span, runs->all[i].at, 16);
	assert_int_equal(nr_chunks(u), 0); /* no spare: it would be held */
	assert_int_equal(span_held(runs->span).bytes, 0);
	assert_int_equal(u->hooks.purges, 0);
	runs_end(runs);
}

static void memory_that_stayed_is_used_again_first(void **state)
{
	struct unit *u = *state;
	struct runs *runs;

	u->mem.hooks.purge = NULL;
	runs = runs_new(u, 4096);
	assert_true(take_run(runs, 4, 1));
	assert_true(take_run(runs, 4, 2));
	give_run(runs, 0);
	assert_int_equal(span_held(runs->span).reserve_bytes, 4 * 4096);
	assert_true(take_run(runs, 3, 3));
	assert_int_equal(span_held(runs->span).reserve_bytes, 4096);
	assert_good(runs);
	runs_end(runs);
}

static void a_purge_that_fails_leaves_the_memory_held(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_new(u, 4096);
	size_t held;

	for (uintptr_t tag = 1; tag <= 100; tag++)
		assert_true(take_run(runs, 8, tag));
	held = span_held(runs->span).bytes;
	u->hooks.purge_fails = true;
	while (runs->nr > 1) {
		give_run(runs, 0);
		assert_good(runs);
		assert_int_equal(span_held(runs->span).bytes, held);
	}
	assert_true(u->hooks.purges > 0);
	give_run(runs, 0);
	assert_good(runs);
	assert_int_equal(span_held(runs->span).bytes, 0);
	assert_int_equal(nr_chunks(u), 0);
	/* What failed once may work later. */
	for (uintptr_t tag = 1; tag <= 100; tag++)
		assert_true(take_run(runs, 8, tag));
	u->hooks.purge_fails = false;
	while (runs->nr > 10)
		give_run(runs, 0);
	assert_good(runs);
	assert_true(span_held(runs->span).bytes <= 83 * 4096);
	runs_end(runs);
}

/* Stands before the purge hook, and looks at what it is asked. */
struct big_pages {
	struct unit *u;
	size_t os_page;
	unsigned calls, wrong;
};

static struct big_pages big_pages;

static int purge_big_pages(void *ctx, void *addr, size_t bytes)
{
	big_pages.calls++;
	if (!bytes || (uintptr_t)addr % big_pages.os_page ||
	    bytes % big_pages.os_page) {
		big_pages.wrong++;
		return 1; /* as a system with such pages would */
	}
	return big_pages.u->hooks.hooks.purge(ctx, addr, bytes);
}

static struct runs *runs_with_big_pages(struct unit *u, size_t os_page)
{
	big_pages = (struct big_pages){ u, os_page, 0, 0 };
	u->mem.os_page = os_page;
	u->mem.hooks.purge = purge_big_pages;
	return runs_new(u, 4096);
}

static void only_whole_system_pages_go_back(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_with_big_pages(u, 65536);
	size_t held;

	for (uintptr_t tag = 1; tag <= 100; tag++)
		assert_true(take_run(runs, 8, tag));
	held = span_held(runs->span).bytes;
	/* Each second run: a part of every system page stays used. */
	for (unsigned i = 100; i; i -= 2) {
		give_run(runs, i - 2);
		assert_good(runs);
		assert_int_equal(span_held(runs->span).bytes, held);
	}
	assert_int_equal(big_pages.calls, 0);
	while (runs->nr > 1) {
		give_run(runs, 0);
		assert_good(runs);
	}
	assert_int_equal(big_pages.wrong, 0);
	runs_end(runs);
}

static void D60_joined_runs_give_back_a_system_page(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_with_big_pages(u, 8192);
	size_t held;

	for (uintptr_t tag = 1; tag <= 960; tag++)
		assert_true(take_run(runs, 1, tag));
	held = span_held(runs->span).bytes;
	/* Neighbours leave one after the other; trims join them. */
	while (runs->nr > 480) {
		give_run(runs, runs->nr - 1);
		assert_good(runs);
	}
	assert_true(big_pages.calls > 0);
	assert_int_equal(big_pages.wrong, 0);
	assert_true(span_held(runs->span).bytes < held * 3 / 4);
	runs_end(runs);
}

/*
 * A chunk's header need not end where a system page does; purging all that
 * comes after it used to ask for a part of a page.
 */
static void an_unused_chunk_is_purged_by_whole_system_pages(void **state)
{
	struct unit *u = *state;
	struct runs *runs = runs_with_big_pages(u, 65536);

	assert_true(take_run(runs, 16, 1));
	give_run(runs, 0);
	assert_good(runs);
	assert_int_equal(span_held(runs->span).bytes, 0);
	assert_int_equal(big_pages.wrong, 0);
	runs_end(runs);
}

/* ---- threads ------------------------------------------------------------- */

#define NR_THREADS 4

struct crowd {
	struct span_pool span;
	unsigned rounds;
};

static void take_and_give_runs(unsigned index, void *arg)
{
	struct crowd *crowd = arg;
	struct runs *runs = calloc(1, sizeof(*runs));
	struct rng rng;

	CHECK(runs);
	runs->span = &crowd->span;
	rng_init(&rng, index);
	for (unsigned i = 0; i < crowd->rounds; i++) {
		if (runs->nr < 20 || (runs->nr < 60 && rng_below(&rng, 2)))
			CHECK(take_run(runs, 1 + rng_below(&rng, 16),
				       (uintptr_t)index << 32 | (i + 1)));
		else
			give_run(runs, rng_below(&rng, runs->nr));
		CHECK(span_held(&crowd->span).bytes < (size_t)1 << 32);
	}
	while (runs->nr)
		give_run(runs, 0);
	free(runs);
	watchdog_progress();
}

static void threads_may_take_and_give_at_once(void **state)
{
	struct crowd crowd = { .rounds = 2000 };
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	span_init(&crowd.span, &mem, 4096);
	run_threads(NR_THREADS, take_and_give_runs, &crowd);
	assert_true(span_check(&crowd.span));
	assert_int_equal(span_held(&crowd.span).bytes, 0);
	span_exit(&crowd.span);
	mem_exit(&mem);
	assert_int_equal(atomic_load(&mem.metadata_bytes), 0);
}

/* ---- all spans together -------------------------------------------------- */

static uint64_t granules_held(struct unit *u)
{
	struct mem_held held = mem_held(&u->mem);

	return held.used_granules + held.reserve_granules;
}

static void D59_the_sum_of_all_spans_is_what_each_holds(void **state)
{
	struct unit *u = *state;
	struct span_pool one = { 0 }, two = { 0 };
	void *a, *b;

	span_init(&one, &u->mem, 4096);
	span_init(&two, &u->mem, 4096);
	a = alloc(&one, 5, u);
	b = alloc(&two, 7, u);
	assert_int_equal(granules_held(u), 12);
	assert_int_equal(mem_held(&u->mem).used_granules, 12);
	span_free(&one, a, 5);
	assert_int_equal(granules_held(u), 7);
	/* A span that ends with runs in use takes its share along. */
	span_exit(&two);
	assert_int_equal(granules_held(u), 0);
	(void)b;
	span_exit(&one);
}

static void D64_no_run_goes_beyond_the_limit_and_the_slack(void **state)
{
	struct unit *u = *state;
	struct span_pool one = { 0 }, two = { 0 };
	void *a;

	span_init(&one, &u->mem, 4096);
	span_init(&two, &u->mem, 4096);
	one.slack_bytes = 4 * 4096;
	atomic_store(&u->mem.held_max_bytes, 10 * 4096);
	assert_non_null(alloc(&two, 8, u));
	assert_int_equal(span_alloc(&one, 7, u, &a), -EDQUOT);
	a = alloc(&one, 6, u);
	assert_non_null(a);
	assert_null(alloc(&one, 1, u));
	assert_null(alloc(&two, 1, u));
	assert_int_equal(granules_held(u), 14);
	span_free(&one, a, 6);
	assert_non_null(alloc(&two, 2, u));
	span_exit(&one);
	span_exit(&two);
}

/* Its memory is there, so that using it makes nothing larger. */
static void a_waiting_run_is_handed_out_at_the_limit(void **state)
{
	struct unit *u = *state;
	struct span_pool span = { 0 };
	void *run;

	span_init(&span, &u->mem, 4096);
	for (int i = 0; i < 20; i++)
		assert_non_null(alloc(&span, 16, u));
	run = alloc(&span, 2, u);
	span_free(&span, run, 2);
	assert_int_equal(span_held(&span).reserve_bytes, 2 * 4096);
	atomic_store(&u->mem.held_max_bytes, 4096);
	assert_null(alloc(&span, 3, u));
	assert_ptr_equal(alloc(&span, 2, u), run);
	span_exit(&span);
}

static uint64_t limited(struct unit *u)
{
	return mem_limited_granules(mem_held(&u->mem));
}

/* Freed runs whose memory stays: using them makes nothing larger. */
static void D71_memory_that_can_t_go_back_does_not_fill_the_limit(void **state)
{
	struct unit *u = *state;
	struct span_pool span = { 0 };
	void *runs[100];

	u->mem.hooks.purge = NULL;
	span_init(&span, &u->mem, 4096);
	atomic_store(&u->mem.held_max_bytes, 100 * 4096);
	for (int i = 0; i < 100; i++)
		runs[i] = alloc(&span, 1, u);
	assert_null(alloc(&span, 1, u));
	for (int i = 1; i < 100; i++)
		span_free(&span, runs[i], 1);
	assert_int_equal(mem_held(&u->mem).reserve_granules, 99);
	assert_int_equal(limited(u), 1);
	for (int i = 1; i < 90; i++)
		assert_non_null(alloc(&span, 1, u));
	assert_int_equal(mem_held(&u->mem).used_granules, 90);
	assert_int_equal(mem_held(&u->mem).reserve_granules, 10);
	span_exit(&span);
}

/* A run that was used made one more granule of the reserve count. */
static void D64_what_a_run_makes_count_is_within_the_limit_too(void **state)
{
	struct unit *u = *state;
	struct span_pool span = { 0 };
	void *runs[70];

	u->mem.hooks.purge = NULL;
	span_init(&span, &u->mem, 4096);
	for (int i = 0; i < 70; i++)
		runs[i] = alloc(&span, 1, u);
	for (int i = 0; i < 16; i += 2)
		span_free(&span, runs[i], 1);
	assert_int_equal(mem_held(&u->mem).used_granules, 62);
	assert_int_equal(limited(u), 62 + 62 / MEM_RESERVE_SHARE);
	atomic_store(&u->mem.held_max_bytes, 65 * 4096);
	assert_null(alloc(&span, 2, u));
	atomic_store(&u->mem.held_max_bytes, 66 * 4096);
	assert_non_null(alloc(&span, 2, u));
	assert_int_equal(limited(u), 66);
	span_exit(&span);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(runs_are_aligned_and_never_overlap),
		unit_case(a_chunk_is_used_up_before_the_next_is_mapped),
		unit_case(a_gap_is_found_by_a_run_that_fits),
		unit_case(no_memory_gives_no_run_and_changes_nothing),
		unit_case(addresses_above_48_bits_are_not_used),
		unit_case(the_reserve_stays_within_its_share),
		unit_case(D60_the_reserve_of_large_pools_is_a_smaller_share),
		unit_case(a_waiting_run_serves_the_next_request_of_its_length),
		unit_case(the_run_freed_last_is_handed_out_first),
		unit_case(D60_an_empty_pool_holds_nothing),
		unit_case(a_run_given_back_meanwhile_does_for_a_chunk),
		unit_case(D60_unused_chunks_are_unmapped_but_for_a_spare),
		unit_case(D60_the_reserve_is_bounded_when_a_chunk_goes_first),
		unit_case(leaving_gives_everything_back_whatever_is_used),
		unit_case(without_purge_memory_goes_back_by_whole_chunks),
		unit_case(memory_that_stayed_is_used_again_first),
		unit_case(a_purge_that_fails_leaves_the_memory_held),
		unit_case(only_whole_system_pages_go_back),
		unit_case(D60_joined_runs_give_back_a_system_page),
		unit_case(an_unused_chunk_is_purged_by_whole_system_pages),
		unit_case(D59_the_sum_of_all_spans_is_what_each_holds),
		unit_case(D64_no_run_goes_beyond_the_limit_and_the_slack),
		unit_case(a_waiting_run_is_handed_out_at_the_limit),
		unit_case(
			D71_memory_that_can_t_go_back_does_not_fill_the_limit),
		unit_case(D64_what_a_run_makes_count_is_within_the_limit_too),
		cmocka_unit_test(threads_may_take_and_give_at_once),
	};

	watchdog_start("test_span", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
