// SPDX-License-Identifier: MIT
/*
 * destroy_moments.c - D52, D83: destroy while the cache's thread is at work
 *
 * The thread is caught before, in, and after the end of a pool, or could never
 * be started; the functions of a compressor that is ended meanwhile make all
 * calls of the table.
 */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "process.h"
#include "scene.h"

/* Takes the pages of all pools: the last load leaves them to the thread. */
static void take_all(struct scene *s)
{
	char page[PAGE_BYTES];
	uint64_t i;

	for (i = 0; i < SCENE_PAGES; i++)
		CHECK(zswap_load(s->z, at(SCENE_FIRST + i), page) == 0);
}

/* Retires the test compressor's pool as well. */
static void retire_all(struct scene *s)
{
	CHECK(zswap_set_compressor(s->z, "deflate") == 0);
}

/* ---- the thread is at a gate ------------------------------------------- */

struct destroyer {
	struct scene scene;
	struct gate gate;
	atomic_bool returned;
};

static void stand_at_gate(void *arg, enum codec_event event)
{
	struct destroyer *d = arg;

	if (event == CODEC_DESTROY)
		gate_pass(&d->gate);
}

static void destroy(void *arg)
{
	struct destroyer *d = arg;

	zswap_destroy(d->scene.z);
	atomic_store(&d->returned, true);
}

static void D52_destroy_waits_for_a_pool_that_is_ending(void)
{
	static struct destroyer d;
	struct thread thread;

	gate_init(&d.gate);
	atomic_store(&d.returned, false);
	scene_begin(&d.scene);
	d.scene.codec.event_arg = &d;
	d.scene.codec.event = stand_at_gate;
	gate_close(&d.gate);
	retire_all(&d.scene);
	take_all(&d.scene);
	CHECK(gate_wait(&d.gate, 1));
	thread_start(&thread, destroy, &d);
	usleep(20000); /* every chance to return too early */
	CHECK(!atomic_load(&d.returned));
	gate_open(&d.gate);
	thread_join(&thread);
	CHECK(atomic_load(&d.returned));
	scene_end(&d.scene);
	gate_end(&d.gate);
}

/* ---- the thread is somewhere ------------------------------------------- */

static void end_slowly(void *rng, enum codec_event event)
{
	if (event == CODEC_DESTROY || event == CODEC_CTX_DESTROY)
		usleep(rng_below(rng, 200));
}

static void D83_destroy_comes_while_pools_end_slowly(void)
{
	static struct scene s;
	struct rng delays, ends;
	unsigned i;

	rng_init(&delays, 1);
	rng_init(&ends, 2);
	for (i = 0; i < test_rounds(100); i++) {
		scene_begin(&s);
		s.codec.event_arg = &ends;
		s.codec.event = end_slowly;
		retire_all(&s);
		take_all(&s);
		usleep(rng_below(&delays, 1000));
		zswap_destroy(s.z);
		scene_end(&s);
	}
}

static void destroy_ends_pools_that_no_thread_could(void)
{
	static struct scene s;

	scene_init(&s);
	faulty_fail_from(&s.hooks, FAULTY_THREAD, 1);
	scene_fill(&s);
	retire_all(&s);
	take_all(&s);
	CHECK(atomic_load(&s.codec.instances) == 1);
	CHECK(stress_stats(s.z).pools == SCENE_POOLS + 1);
	zswap_destroy(s.z);
	CHECK(s.hooks.thread_creates > 0);
	scene_end(&s);
}

/* ---- calls from a compressor's functions ------------------------------- */

static bool begins(const struct call *call, const char *function)
{
	return strncmp(call->function, function, strlen(function)) == 0;
}

/*
 * What a cache says that is being destroyed: it has no areas, gets none, and
 * no other compressor.
 */
static long result_while_destroyed(const struct call *call)
{
	if (call->result == -EINVAL || call->rule == CALL_ANYWHERE ||
	    call->rule == CALL_MAKES || begins(call, "zs_"))
		return call->result;
	if (begins(call, "zswap_set_compressor"))
		return call->result ? call->result : -EINVAL;
	if (begins(call, "zswap_get") || begins(call, "zswap_set") ||
	    begins(call, "zswap_format") || begins(call, "zswap_compact"))
		return call->result;
	if (call->rule == CALL_SILENT)
		return 0;
	return begins(call, "zswap_swapon") ? -EINVAL : -ENXIO;
}

struct caller_inside {
	struct scene scene;
	atomic_bool destroying;
	atomic_uint rounds;
};

static void call_all(void *arg, enum codec_event event)
{
	struct caller_inside *c = arg;
	size_t i;

	(void)event;
	if (!atomic_load(&c->destroying))
		return;
	for (i = 0; i < nr_calls; i++)
		if (!call_ends_something(calls[i].rule))
			call_expect(&calls[i], &c->scene,
				    result_while_destroyed(&calls[i]));
	atomic_fetch_add(&c->rounds, 1);
}

/* Its own functions, for an instance and for two contexts at least. */
static void D80_compressors_may_call_a_cache_being_destroyed(void)
{
	static struct caller_inside c;

	atomic_store(&c.destroying, false);
	atomic_store(&c.rounds, 0);
	scene_begin(&c.scene);
	c.scene.codec.event_arg = &c;
	c.scene.codec.event = call_all;
	atomic_store(&c.destroying, true);
	zswap_destroy(c.scene.z);
	CHECK(atomic_load(&c.rounds) ==
	      atomic_load(&c.scene.codec.contexts_made) + 1);
	CHECK(atomic_load(&c.rounds) >= 3);
	scene_end(&c.scene);
}

int main(void)
{
	struct holdings before;
	int i;

	holdings_prepare();
	watchdog_start("destroy_moments", 60);
	D83_destroy_comes_while_pools_end_slowly();
	before = holdings_now();
	for (i = 0; i < 3; i++) {
		D52_destroy_waits_for_a_pool_that_is_ending();
		D83_destroy_comes_while_pools_end_slowly();
		destroy_ends_pools_that_no_thread_could();
		D80_compressors_may_call_a_cache_being_destroyed();
		watchdog_progress();
	}
	holdings_check_same(&before);
	watchdog_stop();
	return 0;
}
