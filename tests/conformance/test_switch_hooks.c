// SPDX-License-Identifier: MIT
/*
 * test_switch_hooks.c - a switch of compressors, seen from their functions
 *
 * No load waits for a compressor's destroy() (D79), no lock that another call
 * needs is held while its functions run (D80), and these may call the cache,
 * zswap_set_compressor() included. Where something must not wait, the function
 * itself stands still until the other has returned, or gives up after
 * PATIENCE_S and says so: no time is measured.
 */
#include "fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

#define PATIENCE_S 20

static void switch_to(struct fixture *f, unsigned i)
{
	char spec[32];

	snprintf(spec, sizeof(spec), "%s,%u", f->codec.spec, i);
	assert_int_equal(zswap_set_compressor(f->z, spec), 0);
}

static void switch_to_spec(struct fixture *f, const char *spec)
{
	assert_int_equal(zswap_set_compressor(f->z, spec), 0);
}

/* ---- a function that stands still -------------------------------------- */

struct stand {
	struct fixture *f;
	int event;           /* at which it stands, of enum codec_event */
	atomic_bool stands;  /* it has come there */
	atomic_bool go;      /* it may go on */
	atomic_bool gave_up; /* nobody told it to */
};

static bool wait_for(atomic_bool *flag)
{
	uint64_t deadline = now_ns() + PATIENCE_S * UINT64_C(1000000000);

	while (!atomic_load(flag) && now_ns() < deadline)
		usleep(100);
	return atomic_load(flag);
}

static void stand_still(void *arg, enum codec_event event)
{
	struct stand *s = arg;

	if ((int)event != s->event)
		return;
	atomic_store(&s->stands, true);
	if (!wait_for(&s->go))
		atomic_store(&s->gave_up, true);
}

static void stand_begin(struct stand *s, struct fixture *f,
			enum codec_event event)
{
	memset(s, 0, sizeof(*s));
	s->f = f;
	s->event = (int)event;
	f->codec.event_arg = s;
	f->codec.event = stand_still;
}

/* Lets it go; it must not have given up before. */
static void stand_end(struct stand *s)
{
	assert_false(atomic_load(&s->gave_up));
	atomic_store(&s->go, true);
}

/* ---- D79: nobody's load waits for destroy() ---------------------------- */

/* A retired pool with one page, at slot 500, whose destroy() will stand. */
static void retire_one(struct fixture *f, enum page_kind kind)
{
	switch_to(f, 1);
	store_page(f, at(500), kind, 1);
	switch_to_spec(f, "lz4");
}

static void load_one(struct fixture *f)
{
	assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
}

static void load_one_as_folio(struct fixture *f)
{
	struct zswap_folio folio = folio_of_data(at(500), 1, f->out);

	assert_int_equal(zswap_load_folio(f->z, &folio, 0), 0);
}

static void load_one_partially(struct fixture *f)
{
	char *data = malloc(30 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(490), 30, data);

	assert_non_null(data);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL), 1);
	memcpy(f->out, data + 10 * f->page_size, f->page_size);
	free(data);
}

static void D79_a_load_does_not_wait_for_the_end_of_its_pool(void **state)
{
	static void (*const loads[])(struct fixture * f) = {
		load_one, load_one_as_folio, load_one_partially
	};
	static const enum page_kind kinds[] = { PAGE_TEXT, PAGE_RANDOM };
	struct fixture *f = *state;
	struct stand stand;
	int i;

	for (i = 0; i < 6; i++) {
		retire_one(f, kinds[i % 2]);
		stand_begin(&stand, f,
			    i < 3 ? CODEC_DESTROY : CODEC_CTX_DESTROY);
		loads[i % 3](f);
		assert_true(page_is(f->out, f->page_size, kinds[i % 2], 1));
		assert_true(wait_for(&stand.stands));
		assert_in_range(stats_of(f->z).pools, 1, 2);
		stand_end(&stand);
		wait_for_instances(f, 0);
		wait_for_pools(f->z, 1);
	}
	f->codec.event = NULL;
}

static void D79_many_slow_ends_delay_no_load(void **state)
{
	struct fixture *f = *state;
	struct stand stand;
	unsigned i;

	for (i = 0; i < 50; i++) {
		switch_to(f, i);
		store_page(f, at(i), PAGE_TEXT, i);
	}
	switch_to_spec(f, "lz4");
	stand_begin(&stand, f, CODEC_DESTROY);
	for (i = 0; i < 50; i++) {
		assert_int_equal(zswap_load(f->z, at(i), f->out), 0);
		assert_true(page_is(f->out, f->page_size, PAGE_TEXT, i));
	}
	stand_end(&stand);
	wait_for_instances(f, 0);
	wait_for_pools(f->z, 1);
	f->codec.event = NULL;
	assert_int_equal(atomic_load(&f->codec.instances_ended), 50);
}

/* ---- no lock is held while a compressor's function runs ---------------- */

/* A call in a thread of its own, during which a function stands. */
struct other {
	struct fixture *f;
	void (*run)(struct fixture *f);
	struct thread thread;
};

static void run_other(void *arg)
{
	struct other *other = arg;

	other->run(other->f);
}

static void do_switch(struct fixture *f)
{
	char spec[32];

	snprintf(spec, sizeof(spec), "%s,1", f->codec.spec);
	CHECK(zswap_set_compressor(f->z, spec) == 0);
}

static void do_switch_to_lz4(struct fixture *f)
{
	CHECK(zswap_set_compressor(f->z, "lz4") == 0);
}

static void do_invalidate(struct fixture *f)
{
	zswap_invalidate(f->z, at(500), 1);
}

static void do_overwrite(struct fixture *f)
{
	uint64_t words[8192] = { 0 }; /* a page of any size */

	CHECK(zswap_store(f->z, at(500), words) == 0);
}

static void do_swapoff(struct fixture *f)
{
	CHECK(zswap_swapoff(f->z, 3) == 0);
}

/* All that the standing function must not keep from going on. */
static void use_everything(struct fixture *f)
{
	char buf[ZSWAP_MAX_SPEC + 1], text[8192];
	zswap_slot_t slot = at(0);

	store_pages(f, at(100), 24, 7);
	assert_holds_pages(f, at(100), 24, 7);
	assert_int_equal(zswap_load(f->z, at(100), f->out), 0);
	assert_true(zswap_next_present(f->z, &slot));
	zswap_invalidate(f->z, at(100), 24);
	assert_int_equal(zswap_query(f->z, at(100)), ZSWAP_ABSENT);
	stats_of(f->z);
	assert_true(zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text,
				       sizeof(text)) > 0);
	assert_true(zswap_get_compressor(f->z, buf, sizeof(buf)) > 0);
	assert_int_equal(zswap_set_max_pool_percent(f->z, 20), 0);
	assert_int_equal(zswap_set_accept_threshold_percent(f->z, 90), 0);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
	assert_int_equal(zswap_swapon(f->z, 2, 10), 0);
	assert_int_equal(zswap_swapoff(f->z, 2), 0);
}

static void use_everything_during(struct fixture *f, enum codec_event event,
				  void (*run)(struct fixture *f))
{
	struct other other = { .f = f, .run = run };
	struct stand stand;

	stand_begin(&stand, f, event);
	thread_start(&other.thread, run_other, &other);
	assert_true(wait_for(&stand.stands));
	use_everything(f);
	stand_end(&stand);
	thread_join(&other.thread);
	assert_false(atomic_load(&stand.gave_up));
	f->codec.event = NULL;
}

static void D80_no_lock_is_held_while_a_pool_is_made(void **state)
{
	struct fixture *f = *state;

	use_everything_during(f, CODEC_CREATE, do_switch);
	switch_to_spec(f, "lz4");
	use_everything_during(f, CODEC_CTX_CREATE, do_switch);
}

static void D80_no_lock_is_held_while_a_switch_ends_a_pool(void **state)
{
	struct fixture *f = *state;

	switch_to(f, 1);
	use_everything_during(f, CODEC_DESTROY, do_switch_to_lz4);
	switch_to(f, 1);
	use_everything_during(f, CODEC_CTX_DESTROY, do_switch_to_lz4);
}

static void D79_D80_no_lock_is_held_while_the_last_entry_goes(void **state)
{
	struct fixture *f = *state;

	retire_one(f, PAGE_TEXT);
	use_everything_during(f, CODEC_DESTROY, do_invalidate);
	retire_one(f, PAGE_RANDOM);
	use_everything_during(f, CODEC_CTX_DESTROY, do_invalidate);
	retire_one(f, PAGE_TEXT);
	use_everything_during(f, CODEC_DESTROY, do_overwrite);
	assert_int_equal(zswap_swapon(f->z, 3, 10), 0);
	switch_to(f, 1);
	store_page(f, zswap_slot(3, 5), PAGE_TEXT, 1);
	switch_to_spec(f, "lz4");
	use_everything_during(f, CODEC_DESTROY, do_swapoff);
	assert_int_equal(stats_of(f->z).pools, 1);
}

/* That a number was given back by each pool that is no more. */
static void assert_all_pools_can_be_made(struct fixture *f)
{
	unsigned i;

	for (i = 1; i <= MAX_POOLS; i++) {
		switch_to(f, i);
		store_page(f, at(i), PAGE_TEXT, i);
	}
	assert_int_equal(stats_of(f->z).pools, MAX_POOLS);
}

/*
 * Of two switches to one new spec neither may make a second pool of it, and of
 * what the slower one has made nothing is left.
 */
static void a_switch_meets_another_to_the_same_spec(void **state)
{
	struct fixture *f = *state;
	struct other others[4];
	struct stand stand;
	int i;

	stand_begin(&stand, f, CODEC_CREATE);
	for (i = 0; i < 4; i++) {
		others[i] = (struct other){ .f = f, .run = do_switch };
		thread_start(&others[i].thread, run_other, &others[i]);
	}
	assert_true(wait_for(&stand.stands));
	use_everything(f);
	stand_end(&stand);
	for (i = 0; i < 4; i++)
		thread_join(&others[i].thread);
	f->codec.event = NULL;
	assert_int_equal(stats_of(f->z).pools, 1);
	assert_int_equal(atomic_load(&f->codec.instances), 1);
	store_page(f, at(0), PAGE_TEXT, 1);
	assert_int_equal(atomic_load(&f->codec.compress.segments), 1);
	assert_all_pools_can_be_made(f);
}

/* ---- running calls and a switch ---------------------------------------- */

struct call {
	struct fixture *f;
	zswap_slot_t slot;
	uint32_t nr;
	char *data;
	int result;
	struct thread thread;
};

static void run_store(void *arg)
{
	struct call *call = arg;
	struct zswap_folio folio =
		folio_of_data(call->slot, call->nr, call->data);

	call->result = zswap_store_folio(call->f->z, &folio);
}

static void run_peek(void *arg)
{
	struct call *call = arg;

	call->result = zswap_peek(call->f->z, call->slot, call->data);
}

static void run_load(void *arg)
{
	struct call *call = arg;

	call->result = zswap_load(call->f->z, call->slot, call->data);
}

static void call_init(struct call *call, struct fixture *f, zswap_slot_t slot,
		      uint32_t nr)
{
	call->f = f;
	call->slot = slot;
	call->nr = nr;
	call->data = malloc(nr * f->page_size);
	call->result = 777;
	assert_non_null(call->data);
}

static void a_running_store_goes_on_with_the_pool_it_began_with(void **state)
{
	struct fixture *f = *state;
	struct call call;
	unsigned long segments;

	switch_to(f, 1);
	call_init(&call, f, at(500), 40);
	make_pages(f, call.data, 40, 0);
	gate_close(&f->codec.compress.gate);
	thread_start(&call.thread, run_store, &call);
	assert_true(gate_wait(&f->codec.compress.gate, 1));
	/* The switch waits for no store, nor do stores wait for each other. */
	switch_to_spec(f, "lz4");
	store_page(f, at(1), PAGE_TEXT, 1);
	assert_int_equal(stats_of(f->z).pools, 2);
	gate_open(&f->codec.compress.gate);
	thread_join(&call.thread);
	assert_int_equal(call.result, 0);
	segments = atomic_load(&f->codec.compress.segments);
	assert_true(segments >= 26); /* all that are not one word */
	assert_int_equal(stats_of(f->z).pools, 2);
	assert_holds_pages(f, at(500), 40, 0);
	assert_holds(f, at(1), PAGE_TEXT, 1);
	zswap_invalidate(f->z, at(500), 40);
	assert_int_equal(stats_of(f->z).pools, 1);
	assert_int_equal(atomic_load(&f->codec.instances), 0);
	free(call.data);
}

static void a_running_store_that_fails_ends_its_retired_pool(void **state)
{
	struct fixture *f = *state;
	struct call call;

	switch_to(f, 1);
	call_init(&call, f, at(500), 40);
	make_pages(f, call.data, 40, 0);
	gate_close(&f->codec.compress.gate);
	thread_start(&call.thread, run_store, &call);
	assert_true(gate_wait(&f->codec.compress.gate, 1));
	switch_to_spec(f, "lz4");
	/* The pool has no entry, but somebody works in it. */
	assert_int_equal(atomic_load(&f->codec.instances), 1);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	gate_open(&f->codec.compress.gate);
	thread_join(&call.thread);
	faulty_fail_none(&f->hooks);
	assert_int_equal(call.result, -ENOMEM);
	assert_absent(f, at(500), 40);
	assert_int_equal(stats_of(f->z).pools, 1);
	assert_int_equal(atomic_load(&f->codec.instances), 0);
	free(call.data);
}

static void a_running_peek_keeps_the_pool_of_a_forgotten_page(void **state)
{
	struct fixture *f = *state;
	struct call call;

	retire_one(f, PAGE_TEXT);
	call_init(&call, f, at(500), 1);
	gate_close(&f->codec.decompress.gate);
	thread_start(&call.thread, run_peek, &call);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	zswap_invalidate(f->z, at(500), 1);
	assert_int_equal(atomic_load(&f->codec.instances), 1);
	gate_open(&f->codec.decompress.gate);
	thread_join(&call.thread);
	assert_true(call.result == 0 || call.result == -ENOENT);
	assert_true(call.result ||
		    page_is(call.data, f->page_size, PAGE_TEXT, 1));
	wait_for_instances(f, 0);
	free(call.data);
}

static void a_running_load_outlives_two_switches(void **state)
{
	struct fixture *f = *state;
	struct call call;

	switch_to(f, 1);
	store_page(f, at(500), PAGE_TEXT, 1);
	call_init(&call, f, at(500), 1);
	gate_close(&f->codec.decompress.gate);
	thread_start(&call.thread, run_load, &call);
	assert_true(gate_wait(&f->codec.decompress.gate, 1));
	switch_to_spec(f, "lz4");
	switch_to(f, 1); /* taken back, and retired once more */
	switch_to_spec(f, "zstd");
	gate_open(&f->codec.decompress.gate);
	thread_join(&call.thread);
	assert_int_equal(call.result, 0);
	assert_true(page_is(call.data, f->page_size, PAGE_TEXT, 1));
	wait_for_instances(f, 0);
	assert_int_equal(atomic_load(&f->codec.instances_made), 1);
	free(call.data);
}

/* ---- functions that call the cache ------------------------------------- */

struct caller {
	struct fixture *f;
	int event;          /* that calls; one at a time */
	atomic_flag inside; /* calls made by a call do not call again */
	atomic_ulong calls;
	int load, set; /* what the last load and switch returned */
	char page[4096], out[4096];
};

/* Everything but destroy and swapoff, in a thread that may be the cache's. */
static void call_the_cache(struct caller *c)
{
	struct zswap_stats stats = { .size = sizeof(stats) };
	char buf[ZSWAP_MAX_SPEC + 1], text[8192];
	struct zswap *z = c->f->z;

	CHECK(zswap_get_stats(z, &stats) == 0);
	CHECK(zswap_format_stats(z, ZSWAP_STATS_TEXT, text, sizeof(text)) > 0);
	CHECK(zswap_get_compressor(z, buf, sizeof(buf)) > 0);
	CHECK(zswap_peek(z, at(900), c->out) == 0);
	CHECK(page_is(c->out, 4096, PAGE_TEXT, 900));
	c->load = zswap_load(z, at(901), c->out);
	CHECK(c->load == 0 || c->load == -ENOENT);
	CHECK(zswap_set_max_pool_percent(z, 20) == 0);
	CHECK(zswap_set_accept_threshold_percent(z, 90) == 0);
	page_make(c->page, 4096, PAGE_TEXT, 901);
	CHECK(zswap_store(z, at(901), c->page) == 0);
	zswap_invalidate(z, at(902), 1);
}

static void call_from_event(void *arg, enum codec_event event)
{
	struct caller *c = arg;

	if ((int)event != c->event || atomic_flag_test_and_set(&c->inside))
		return;
	atomic_fetch_add(&c->calls, 1);
	call_the_cache(c);
	atomic_flag_clear(&c->inside);
}

static void caller_init(struct caller *c, struct fixture *f)
{
	memset(c, 0, sizeof(*c));
	c->f = f;
	c->event = -1;
	atomic_flag_clear(&c->inside);
	store_page(f, at(900), PAGE_TEXT, 900);
	store_page(f, at(901), PAGE_TEXT, 901);
}

/* A pool made, used, retired, taken back, retired and ended by a load. */
static void live_a_pools_life(struct fixture *f)
{
	switch_to(f, 1);
	store_page(f, at(500), PAGE_TEXT, 1);
	switch_to_spec(f, "lz4");
	switch_to(f, 1);
	assert_holds(f, at(500), PAGE_TEXT, 1);
	switch_to_spec(f, "lz4");
	assert_holds(f, at(500), PAGE_TEXT, 1);
	assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
	/* What was stored from inside may be in the same pool. */
	zswap_invalidate(f->z, at(901), 1);
	wait_for_instances(f, 0);
}

static void D80_functions_that_make_and_end_may_call_the_cache(void **state)
{
	struct fixture *f = *state;
	struct caller caller;
	int event;

	caller_init(&caller, f);
	f->codec.event_arg = &caller;
	f->codec.event = call_from_event;
	for (event = 0; event < CODEC_EVENTS; event++) {
		caller.event = event;
		live_a_pools_life(f);
		assert_true(atomic_load(&caller.calls) > 0);
		atomic_store(&caller.calls, 0);
	}
	f->codec.event = NULL;
}

static void call_from_request(void *arg)
{
	struct caller *c = arg;

	if (atomic_flag_test_and_set(&c->inside))
		return;
	atomic_fetch_add(&c->calls, 1);
	call_the_cache(c);
	atomic_flag_clear(&c->inside);
}

static void D80_requests_may_call_the_cache_during_a_switch(void **state)
{
	struct codec_side *sides[2];
	struct fixture *f = *state;
	struct caller caller;
	int i;

	sides[0] = &f->codec.compress;
	sides[1] = &f->codec.decompress;
	caller_init(&caller, f);
	for (i = 0; i < 2; i++) {
		sides[i]->call_arg = &caller;
		sides[i]->call = call_from_request;
		live_a_pools_life(f);
		assert_true(atomic_load(&caller.calls) > 0);
		atomic_store(&caller.calls, 0);
		sides[i]->call = NULL;
	}
}

/* ---- functions that switch --------------------------------------------- */

static void switch_from_event(void *arg, enum codec_event event)
{
	struct caller *c = arg;

	if ((int)event != c->event || atomic_flag_test_and_set(&c->inside))
		return;
	atomic_fetch_add(&c->calls, 1);
	c->set = zswap_set_compressor(c->f->z, "deflate");
	CHECK(c->set == 0);
	atomic_flag_clear(&c->inside);
}

static void switch_from_request(void *arg)
{
	switch_from_event(arg, (enum codec_event)((struct caller *)arg)->event);
}

static void assert_names_a_compressor(struct fixture *f)
{
	char buf[ZSWAP_MAX_SPEC + 1];

	assert_true(zswap_get_compressor(f->z, buf, sizeof(buf)) > 0);
	assert_true(strcmp(buf, "deflate:level=6") == 0 ||
		    strncmp(buf, "test:", 5) == 0 || strcmp(buf, "lz4") == 0);
	store_page(f, at(700), PAGE_TEXT, 7);
	assert_holds(f, at(700), PAGE_TEXT, 7);
	zswap_invalidate(f->z, at(700), 1);
}

static void D80_functions_that_make_and_end_may_switch(void **state)
{
	struct fixture *f = *state;
	struct caller caller;
	int event;

	caller_init(&caller, f);
	f->codec.event_arg = &caller;
	f->codec.event = switch_from_event;
	for (event = 0; event < CODEC_EVENTS; event++) {
		caller.event = event;
		switch_to(f, 1);
		store_page(f, at(500), PAGE_TEXT, 1);
		switch_to_spec(f, "lz4");
		assert_names_a_compressor(f);
		assert_holds(f, at(500), PAGE_TEXT, 1);
		assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
		/* Both lead away from the test compressor's pool. */
		wait_for_instances(f, 0);
		assert_true(atomic_load(&caller.calls) > 0);
		atomic_store(&caller.calls, 0);
		assert_names_a_compressor(f);
	}
	f->codec.event = NULL;
}

static void D80_requests_may_switch(void **state)
{
	struct codec_side *sides[2];
	struct fixture *f = *state;
	struct caller caller;
	int i;

	sides[0] = &f->codec.compress;
	sides[1] = &f->codec.decompress;
	caller_init(&caller, f);
	for (i = 0; i < 2; i++) {
		sides[i]->call_arg = &caller;
		sides[i]->call = switch_from_request;
		switch_to(f, 1);
		store_pages(f, at(500), 40, 0);
		assert_holds_pages(f, at(500), 40, 0);
		assert_int_equal(caller.set, 0);
		assert_names_a_compressor(f);
		assert_true(atomic_load(&caller.calls) > 0);
		atomic_store(&caller.calls, 0);
		sides[i]->call = NULL;
		zswap_invalidate(f->z, at(500), 40);
		wait_for_instances(f, 0);
	}
}

/* ---- the thread that ends pools ---------------------------------------- */

struct thread_look {
	pthread_t self;
	atomic_bool seen;
	bool elsewhere; /* not in the caller's thread */
	bool blocked;   /* all signals that can be */
};

static void look_at_thread(void *arg, enum codec_event event)
{
	struct thread_look *look = arg;
	sigset_t mask;
	int sig;

	if (event != CODEC_DESTROY)
		return;
	look->elsewhere = !pthread_equal(look->self, pthread_self());
	look->blocked = true;
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
	for (sig = 1; sig <= SIGRTMAX; sig++)
		if (sig != SIGKILL && sig != SIGSTOP && (sig < 32 || sig > 34))
			look->blocked &= sigismember(&mask, sig) == 1;
	atomic_store(&look->seen, true);
}

static void after_a_load_a_thread_with_signals_blocked_ends_it(void **state)
{
	struct thread_look look = { .self = pthread_self() };
	struct fixture *f = *state;

	retire_one(f, PAGE_TEXT);
	f->codec.event_arg = &look;
	f->codec.event = look_at_thread;
	assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
	assert_true(wait_for(&look.seen));
	assert_true(look.elsewhere);
	assert_true(look.blocked);
	wait_for_instances(f, 0);
	atomic_store(&look.seen, false);
	/* Where no load is concerned the caller does it. */
	retire_one(f, PAGE_TEXT);
	zswap_invalidate(f->z, at(500), 1);
	assert_true(atomic_load(&look.seen));
	assert_false(look.elsewhere);
	f->codec.event = NULL;
}

/* Destroy is called while the thread is at work, or is about to be. */
static void D83_destroy_waits_for_the_thread(void **state)
{
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < 100; i++) {
		begin_other(f, &f->params);
		retire_one(f, PAGE_TEXT);
		assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
		if (i % 2)
			usleep(20 * i);
		destroy_other(f);
		assert_int_equal(atomic_load(&f->codec.instances), 0);
		assert_int_equal(atomic_load(&f->codec.contexts), 0);
		assert_int_equal(f->hooks.threads, 0);
	}
	assert_int_equal(atomic_load(&f->codec.instances_ended), 100);
}

/* What a function that destroy calls may still ask, and what it gets. */
static void call_while_destroyed(void *arg, enum codec_event event)
{
	char buf[ZSWAP_MAX_SPEC + 1];
	struct caller *c = arg;

	if (event != CODEC_DESTROY && event != CODEC_CTX_DESTROY)
		return;
	atomic_fetch_add(&c->calls, 1);
	c->set = zswap_set_compressor(c->f->z, "zstd");
	CHECK(c->set == -EINVAL);
	CHECK(zswap_set_compressor(c->f->z, c->f->codec.spec) == -EINVAL);
	CHECK(zswap_get_compressor(c->f->z, buf, sizeof(buf)) > 0);
	CHECK(zswap_set_compressor(c->f->z, buf) == -EINVAL);
	CHECK(zswap_load(c->f->z, at(0), c->out) == -ENXIO);
	CHECK(zswap_swapon(c->f->z, 0, 1) == -EINVAL);
}

static void D80_a_cache_being_destroyed_takes_no_other_compressor(void **state)
{
	struct fixture *f = *state;
	struct caller caller;

	begin_other(f, &f->params);
	memset(&caller, 0, sizeof(caller));
	caller.f = f;
	switch_to(f, 1);
	store_page(f, at(0), PAGE_TEXT, 1);
	switch_to(f, 2);
	store_page(f, at(1), PAGE_TEXT, 1);
	f->codec.event_arg = &caller;
	f->codec.event = call_while_destroyed;
	destroy_other(f);
	f->codec.event = NULL;
	assert_true(atomic_load(&caller.calls) >= 4);
	assert_int_equal(atomic_load(&f->codec.instances), 0);
	assert_int_equal(f->hooks.threads, 0);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(D79_a_load_does_not_wait_for_the_end_of_its_pool),
		CASE(D79_many_slow_ends_delay_no_load),
		CASE(D80_no_lock_is_held_while_a_pool_is_made),
		CASE(D80_no_lock_is_held_while_a_switch_ends_a_pool),
		CASE(D79_D80_no_lock_is_held_while_the_last_entry_goes),
		CASE(a_switch_meets_another_to_the_same_spec),
		CASE(a_running_store_goes_on_with_the_pool_it_began_with),
		CASE(a_running_store_that_fails_ends_its_retired_pool),
		CASE(a_running_peek_keeps_the_pool_of_a_forgotten_page),
		CASE(a_running_load_outlives_two_switches),
		CASE(D80_functions_that_make_and_end_may_call_the_cache),
		CASE(D80_requests_may_call_the_cache_during_a_switch),
		CASE(D80_functions_that_make_and_end_may_switch),
		CASE(D80_requests_may_switch),
		CASE(after_a_load_a_thread_with_signals_blocked_ends_it),
		CASE(D83_destroy_waits_for_the_thread),
		CASE(D80_a_cache_being_destroyed_takes_no_other_compressor),
	};

	return run_cases("switch_hooks", cases,
			 sizeof(cases) / sizeof(cases[0]));
}
