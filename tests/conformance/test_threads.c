// SPDX-License-Identifier: MIT
/*
 * test_threads.c - what the threads' chapter of the header promises
 *
 * The test compressor stands at a gate inside a call, and another thread finds
 * out what it can do meanwhile. A wrong answer is often a hang, which the
 * watchdog ends. Longer runs with chance in them are in ../stress.
 */
#include "fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "halt.h"
#include "threads.h"

/* A call in a thread of its own. */
struct call {
	struct fixture *f;
	zswap_slot_t slot;
	uint32_t nr;
	char *data;
	int (*run)(struct call *call);
	atomic_bool done;
	int result;
	struct thread thread;
};

static void run_call(void *arg)
{
	struct call *call = arg;

	call->result = call->run(call);
	atomic_store(&call->done, true);
}

static void call_start(struct call *call, struct fixture *f, zswap_slot_t slot,
		       uint32_t nr, int (*run)(struct call *call))
{
	call->f = f;
	call->slot = slot;
	call->nr = nr;
	call->data = calloc(nr, f->page_size);
	assert_non_null(call->data);
	call->run = run;
	atomic_init(&call->done, false);
	call->result = 777;
}

static void call_go(struct call *call)
{
	thread_start(&call->thread, run_call, call);
}

static int call_join(struct call *call)
{
	thread_join(&call->thread);
	return call->result;
}

static void call_end(struct call *call)
{
	free(call->data);
}

static int do_load(struct call *call)
{
	return zswap_load(call->f->z, call->slot, call->data);
}

static int do_peek(struct call *call)
{
	return zswap_peek(call->f->z, call->slot, call->data);
}

static int do_load_folio(struct call *call)
{
	struct zswap_folio folio =
		folio_of_data(call->slot, call->nr, call->data);

	return zswap_load_folio(call->f->z, &folio, 0);
}

static int do_store_folio(struct call *call)
{
	struct zswap_folio folio =
		folio_of_data(call->slot, call->nr, call->data);

	return zswap_store_folio(call->f->z, &folio);
}

static int do_invalidate(struct call *call)
{
	zswap_invalidate(call->f->z, call->slot, call->nr);
	return 0;
}

static int do_swapoff(struct call *call)
{
	return zswap_swapoff(call->f->z, zswap_slot_type(call->slot));
}

/* Gives another thread every chance to do what it should not. */
static void wait_a_moment(void)
{
	usleep(20000);
}

/* ---- no lock is held while a compressor runs --------------------------- */

/* All that goes on while a call on slots 500 .. 539 stands in the codec. */
static void use_everything_else(struct fixture *f)
{
	zswap_slot_t slot = at(0);
	uint64_t i;

	/* Pages that need no codec, which is at a gate. */
	for (i = 490; i < 500; i++) {
		store_page(f, at(i), i % 2 ? PAGE_WORD : PAGE_ZERO, i);
		assert_holds(f, at(i), i % 2 ? PAGE_WORD : PAGE_ZERO, i);
		assert_int_equal(zswap_load(f->z, at(i), f->out), 0);
	}
	assert_absent(f, at(490), 10);
	zswap_invalidate(f->z, at(490), 10);
	zswap_is_present(f->z, at(0), AREA_SLOTS);
	zswap_next_present(f->z, &slot);
	zswap_query(f->z, at(505));
	stats_of(f->z);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	assert_int_equal(zswap_swapon(f->z, 2, 100), 0);
	store_page(f, zswap_slot(2, 5), PAGE_WORD, 1);
	assert_int_equal(zswap_swapoff(f->z, 2), 0);
}

static void no_lock_is_held_while_a_store_compresses(void **state)
{
	struct fixture *f = *state;
	struct call store;

	call_start(&store, f, at(500), 40, do_store_folio);
	make_pages(f, store.data, 40, 0);
	gate_close(&f->codec.compress.gate);
	call_go(&store);
	assert_true(gate_wait(&f->codec.compress.gate, 1));
	use_everything_else(f);
	assert_false(atomic_load(&store.done));
	gate_open(&f->codec.compress.gate);
	assert_int_equal(call_join(&store), 0);
	assert_holds_pages(f, at(500), 40, 0);
	call_end(&store);
}

static void no_lock_is_held_while_a_load_decompresses(void **state)
{
	struct fixture *f = *state;
	struct call load;

	store_page(f, at(505), PAGE_TEXT, 1);
	call_start(&load, f, at(505), 1, do_load);
	gate_close(&f->codec.decompress.gate);
	call_go(&load);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	use_everything_else(f);
	assert_false(atomic_load(&load.done));
	gate_open(&f->codec.decompress.gate);
	assert_int_equal(call_join(&load), 0);
	assert_true(page_is(load.data, f->page_size, PAGE_TEXT, 1));
	assert_absent(f, at(505), 1);
	call_end(&load);
}

/* ---- a folio is stored at one moment ----------------------------------- */

static void until_a_store_ends_loads_find_the_older_pages(void **state)
{
	struct fixture *f = *state;
	struct call store;
	uint64_t i;

	/* Older pages that can be read while the compressor stands still. */
	for (i = 0; i < 40; i++)
		store_page(f, at(500 + i), PAGE_WORD, i);
	call_start(&store, f, at(500), 40, do_store_folio);
	make_pages(f, store.data, 40, 0);
	gate_close(&f->codec.compress.gate);
	call_go(&store);
	assert_true(gate_wait(&f->codec.compress.gate, 1));
	for (i = 0; i < 40; i++)
		assert_holds(f, at(500 + i), PAGE_WORD, i);
	assert_int_equal(stats_of(f->z).stored_pages, 40);
	gate_open(&f->codec.compress.gate);
	assert_int_equal(call_join(&store), 0);
	assert_holds_pages(f, at(500), 40, 0);
	assert_int_equal(stats_of(f->z).stored_pages, 40);
	call_end(&store);
}

static void a_page_changed_during_its_store_harms_no_other(void **state)
{
	struct fixture *f = *state;
	struct call store;
	int err;

	store_page(f, at(499), PAGE_TEXT, 1);
	store_page(f, at(540), PAGE_TEXT, 2);
	call_start(&store, f, at(500), 40, do_store_folio);
	make_pages(f, store.data, 40, 0);
	gate_close(&f->codec.compress.gate);
	call_go(&store);
	assert_true(gate_wait(&f->codec.compress.gate, 1));
	rng_fill(&f->rng, store.data + 38 * f->page_size, f->page_size);
	gate_open(&f->codec.compress.gate);
	assert_int_equal(call_join(&store), 0);
	err = zswap_peek(f->z, at(538), f->out);
	assert_true(err == 0 || err == -EIO);
	assert_holds_pages(f, at(500), 38, 0);
	assert_holds(f, at(539), kind_of(39), 39);
	assert_holds(f, at(499), PAGE_TEXT, 1);
	assert_holds(f, at(540), PAGE_TEXT, 2);
	call_end(&store);
}

/* ---- loads in flight --------------------------------------------------- */

static void invalidate_does_not_wait_for_a_load_of_the_same_page(void **state)
{
	struct fixture *f = *state;
	struct call load, invalidate;
	int err;

	store_page(f, at(505), PAGE_TEXT, 1);
	call_start(&load, f, at(505), 1, do_load);
	call_start(&invalidate, f, at(505), 1, do_invalidate);
	gate_close(&f->codec.decompress.gate);
	call_go(&load);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	call_go(&invalidate);
	call_join(&invalidate);
	/* One of the two took it; either way it is gone or being delivered. */
	gate_open(&f->codec.decompress.gate);
	err = call_join(&load);
	assert_true(err == 0 || err == -ENOENT);
	if (!err)
		assert_true(page_is(load.data, f->page_size, PAGE_TEXT, 1));
	assert_absent(f, at(505), 1);
	call_end(&load);
	call_end(&invalidate);
}

static void D08_a_page_replaced_during_its_load_is_told_apart(void **state)
{
	struct fixture *f = *state;
	struct call load;
	int err;

	/* The replacement needs no gate to pass: it is stored, not loaded. */
	store_page(f, at(505), PAGE_TEXT, 1);
	call_start(&load, f, at(505), 1, do_load);
	gate_close(&f->codec.decompress.gate);
	call_go(&load);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	zswap_invalidate(f->z, at(505), 1);
	store_page(f, at(505), PAGE_TEXT, 2);
	gate_open(&f->codec.decompress.gate);
	err = call_join(&load);
	assert_true(err == 0 || err == -ENOENT);
	if (!err && page_is(load.data, f->page_size, PAGE_TEXT, 2)) {
		assert_absent(f, at(505), 1); /* it took the second */
	} else {
		if (!err)
			assert_true(
				page_is(load.data, f->page_size, PAGE_TEXT, 1));
		assert_holds(f, at(505), PAGE_TEXT, 2);
		assert_int_equal(zswap_load(f->z, at(505), f->out), 0);
		assert_true(page_is(f->out, f->page_size, PAGE_TEXT, 2));
	}
	assert_int_equal(stats_of(f->z).stored_pages, 0);
	call_end(&load);
}

static void D08_a_folio_load_meets_a_page_replaced_meanwhile(void **state)
{
	struct fixture *f = *state;
	struct call load;
	uint64_t i, replaced = 0;

	for (i = 0; i < 20; i++)
		store_page(f, at(505 + i), PAGE_TEXT, i);
	call_start(&load, f, at(505), 20, do_load_folio);
	gate_close(&f->codec.decompress.gate);
	call_go(&load);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	store_page(f, at(505), PAGE_TEXT, 100);
	store_page(f, at(524), PAGE_TEXT, 119);
	gate_open(&f->codec.decompress.gate);
	assert_int_equal(call_join(&load), 0);
	/* Both new, or both old and the new ones left: all at one moment. */
	for (i = 0; i < 20; i += 19)
		replaced += page_is(load.data + i * f->page_size, f->page_size,
				    PAGE_TEXT, 100 + i);
	assert_true(replaced == 0 || replaced == 2);
	for (i = 0; i < 20; i++)
		if (!replaced || (i != 0 && i != 19))
			assert_true(page_is(load.data + i * f->page_size,
					    f->page_size, PAGE_TEXT, i));
	assert_int_equal(stats_of(f->z).stored_pages, replaced ? 0 : 2);
	call_end(&load);
}

/* A load whose first page is replaced while it is read has to look again. */
static void assert_replaced_pages_count_once(struct fixture *f, uint32_t nr,
					     int (*run)(struct call *call))
{
	struct zswap_stats stats;
	struct call load;

	for (uint64_t i = 0; i < nr; i++)
		store_page(f, at(505 + i), PAGE_TEXT, i);
	call_start(&load, f, at(505), nr, run);
	gate_close(&f->codec.decompress.gate);
	call_go(&load);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	store_page(f, at(505), PAGE_TEXT, 100);
	gate_open(&f->codec.decompress.gate);
	assert_int_equal(call_join(&load), 0);
	stats = stats_of(f->z);
	assert_int_equal(stats.loads, nr);
	assert_int_equal(stats.zswpin, nr);
	assert_int_equal(stats.load_misses, 0);
	assert_int_equal(stats.load_errors, 0);
	call_end(&load);
}

static void D75_a_load_that_starts_over_counts_once(void **state)
{
	assert_replaced_pages_count_once(*state, 1, do_load);
}

static void D75_a_folio_load_with_a_page_read_twice_counts_it_once(void **state)
{
	assert_replaced_pages_count_once(*state, 20, do_load_folio);
}

static void peeks_of_one_page_run_at_the_same_time(void **state)
{
	struct fixture *f = *state;
	struct call first, second;

	/* There is a context for each processor; one would have to wait. */
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
	store_page(f, at(505), PAGE_TEXT, 1);
	call_start(&first, f, at(505), 1, do_peek);
	call_start(&second, f, at(505), 1, do_peek);
	gate_close(&f->codec.decompress.gate);
	call_go(&first);
	call_go(&second);
	assert_true(gate_wait(&f->codec.decompress.gate, 2));
	gate_open(&f->codec.decompress.gate);
	assert_int_equal(call_join(&first), 0);
	assert_int_equal(call_join(&second), 0);
	assert_true(page_is(first.data, f->page_size, PAGE_TEXT, 1));
	assert_true(page_is(second.data, f->page_size, PAGE_TEXT, 1));
	assert_holds(f, at(505), PAGE_TEXT, 1);
	call_end(&first);
	call_end(&second);
}

static void of_two_loads_of_one_page_one_gets_it(void **state)
{
	struct fixture *f = *state;
	struct call calls[2];
	int i, results[2];

	store_page(f, at(505), PAGE_TEXT, 1);
	gate_close(&f->codec.decompress.gate);
	for (i = 0; i < 2; i++) {
		call_start(&calls[i], f, at(505), 1, do_load);
		call_go(&calls[i]);
	}
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	wait_a_moment();
	gate_open(&f->codec.decompress.gate);
	for (i = 0; i < 2; i++) {
		results[i] = call_join(&calls[i]);
		if (results[i] == 0)
			assert_true(page_is(calls[i].data, f->page_size,
					    PAGE_TEXT, 1));
		call_end(&calls[i]);
	}
	assert_true((results[0] == 0 && results[1] == -ENOENT) ||
		    (results[1] == 0 && results[0] == -ENOENT));
	assert_absent(f, at(505), 1);
}

/* ---- looking ------------------------------------------------------------ */

/* Slot 505 holds a page of one word, or nothing. */
static void ask_what_505_holds(void *arg)
{
	struct fixture *f = arg;
	int held = zswap_query(f->z, at(505));

	CHECK(held == ZSWAP_FILLED || held == ZSWAP_ABSENT);
}

/* The entry is freed and used for another slot's page while a query is on. */
static void D07_a_query_tells_of_no_other_slots_page(void **state)
{
	struct fixture *f = *state;

	halt_start(ask_what_505_holds, f);
	for (int i = 0; i < HALTS / 4; i++) {
		store_page(f, at(505), PAGE_WORD, 1);
		halt();
		zswap_invalidate(f->z, at(505), 1);
		store_page(f, at(1505), PAGE_TEXT, 1);
		halt_go_on();
		zswap_invalidate(f->z, at(1505), 1);
	}
	halt_end();
}

/* ---- swapoff ----------------------------------------------------------- */

static void D11_swapoff_waits_for_calls_at_work_on_its_area(void **state)
{
	struct fixture *f = *state;
	struct call load, swapoff;
	int err;

	assert_int_equal(zswap_swapon(f->z, 6, 1000), 0);
	store_page(f, zswap_slot(6, 5), PAGE_TEXT, 1);
	call_start(&load, f, zswap_slot(6, 5), 1, do_load);
	call_start(&swapoff, f, zswap_slot(6, 0), 1, do_swapoff);
	gate_close(&f->codec.decompress.gate);
	call_go(&load);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	call_go(&swapoff);
	wait_a_moment();
	assert_false(atomic_load(&swapoff.done));
	/* Once it runs, others find no such area, nor can it be added. */
	while (zswap_query(f->z, zswap_slot(6, 0)) != -ENXIO)
		usleep(1000);
	assert_int_equal(zswap_store(f->z, zswap_slot(6, 5), f->page), -ENXIO);
	assert_int_equal(zswap_swapon(f->z, 6, 1000), -EEXIST);
	assert_int_equal(zswap_swapoff(f->z, 6), -ENXIO);
	gate_open(&f->codec.decompress.gate);
	err = call_join(&load);
	assert_true(err == 0 || err == -ENXIO || err == -ENOENT);
	assert_int_equal(call_join(&swapoff), 0);
	assert_int_equal(stats_of(f->z).stored_pages, 0);
	assert_int_equal(zswap_swapon(f->z, 6, 1000), 0);
	assert_int_equal(zswap_query(f->z, zswap_slot(6, 5)), ZSWAP_ABSENT);
	call_end(&load);
	call_end(&swapoff);
}

static void D11_swapoff_waits_for_a_store_and_drops_its_pages(void **state)
{
	struct fixture *f = *state;
	struct call store, swapoff;
	int err;

	assert_int_equal(zswap_swapon(f->z, 6, 1000), 0);
	call_start(&store, f, zswap_slot(6, 500), 40, do_store_folio);
	make_pages(f, store.data, 40, 0);
	call_start(&swapoff, f, zswap_slot(6, 0), 1, do_swapoff);
	gate_close(&f->codec.compress.gate);
	call_go(&store);
	assert_true(gate_wait(&f->codec.compress.gate, 1));
	call_go(&swapoff);
	wait_a_moment();
	assert_false(atomic_load(&swapoff.done));
	gate_open(&f->codec.compress.gate);
	err = call_join(&store);
	assert_true(err == 0 || err == -ENXIO);
	assert_int_equal(call_join(&swapoff), 0);
	assert_empty(f->z);
	call_end(&store);
	call_end(&swapoff);
}

static void swapoff_does_not_wait_for_calls_on_other_areas(void **state)
{
	struct fixture *f = *state;
	struct call load;

	assert_int_equal(zswap_swapon(f->z, 6, 1000), 0);
	store_page(f, at(505), PAGE_TEXT, 1);
	call_start(&load, f, at(505), 1, do_load);
	gate_close(&f->codec.decompress.gate);
	call_go(&load);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	assert_int_equal(zswap_swapoff(f->z, 6), 0);
	assert_false(atomic_load(&load.done));
	gate_open(&f->codec.decompress.gate);
	assert_int_equal(call_join(&load), 0);
	call_end(&load);
}

/* ---- threads that come and go ------------------------------------------ */

static void use_and_leave(void *arg)
{
	struct fixture *f = arg;
	char *page = malloc(f->page_size);
	uint64_t version;

	CHECK(page);
	page_stamp(page, f->page_size, 1, 4);
	CHECK(zswap_store(f->z, at(1), page) == 0);
	CHECK(zswap_peek(f->z, at(1), page) == 0);
	CHECK(page_verify(page, f->page_size, 1, &version) && version == 4);
	CHECK(zswap_load(f->z, at(1), page) == 0);
	free(page);
}

static void D81_nothing_is_kept_for_a_thread(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;
	struct thread thread;
	size_t bytes;
	int i;

	/* Until each of the library's parts has been used by some thread. */
	for (i = 0; i < 100; i++) {
		thread_start(&thread, use_and_leave, f);
		thread_join(&thread);
	}
	before = stats_of(f->z);
	bytes = f->hooks.alloc_bytes;
	for (i = 0; i < 300; i++) {
		thread_start(&thread, use_and_leave, f);
		thread_join(&thread);
	}
	after = stats_of(f->z);
	assert_same_gauges(&before, &after);
	assert_int_equal(f->hooks.alloc_bytes, bytes);
}

static void D81_threads_may_outlive_a_cache_they_used(void **state)
{
	struct fixture *f = *state;
	struct fixture other = *f;
	struct call call;

	/* The load stands still while another cache, used before, goes. */
	store_page(f, at(505), PAGE_TEXT, 1);
	assert_int_equal(zswap_create(&other.z, &f->params), 0);
	assert_int_equal(zswap_swapon(other.z, 0, 100), 0);
	call_start(&call, f, at(505), 1, do_load);
	gate_close(&f->codec.decompress.gate);
	call_go(&call);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	zswap_destroy(other.z);
	gate_open(&f->codec.decompress.gate);
	assert_int_equal(call_join(&call), 0);
	call_end(&call);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(no_lock_is_held_while_a_store_compresses),
		CASE(no_lock_is_held_while_a_load_decompresses),
		CASE(until_a_store_ends_loads_find_the_older_pages),
		CASE(a_page_changed_during_its_store_harms_no_other),
		CASE(invalidate_does_not_wait_for_a_load_of_the_same_page),
		CASE(D08_a_page_replaced_during_its_load_is_told_apart),
		CASE(D08_a_folio_load_meets_a_page_replaced_meanwhile),
		CASE(D75_a_load_that_starts_over_counts_once),
		CASE(D75_a_folio_load_with_a_page_read_twice_counts_it_once),
		CASE(peeks_of_one_page_run_at_the_same_time),
		CASE(of_two_loads_of_one_page_one_gets_it),
		CASE(D07_a_query_tells_of_no_other_slots_page),
		CASE(D11_swapoff_waits_for_calls_at_work_on_its_area),
		CASE(D11_swapoff_waits_for_a_store_and_drops_its_pages),
		CASE(swapoff_does_not_wait_for_calls_on_other_areas),
		CASE(D81_nothing_is_kept_for_a_thread),
		CASE(D81_threads_may_outlive_a_cache_they_used),
	};

	return run_codec_variants("threads", cases,
				  sizeof(cases) / sizeof(cases[0]));
}
