// SPDX-License-Identifier: MIT
/*
 * fork_inside.c - D80: forks in the midst of a call
 *
 * A thread forks inside a compressor's function, with whatever the library
 * holds there; its child makes every call on that cache. And while a thread
 * stands in a hook of zswap_create() or zswap_destroy(), once in each of its
 * calls of hooks, another forks: the child makes and uses a cache of its own.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "calls.h"
#include "process.h"
#include "scene.h"

/* ---- inside a compressor's function ------------------------------------ */

struct forker {
	struct scene scene;
	unsigned forks;
	bool asked; /* fork at the next */
};

static void call_all(void *arg)
{
	call_all_elsewhere(arg, CHILD_MAY_ALLOCATE);
}

static void fork_here(void *arg)
{
	struct forker *f = arg;

	if (!f->asked)
		return;
	f->asked = false; /* children are asked nothing either */
	f->forks++;
	child_must_succeed(call_all, &f->scene);
}

static void fork_at_event(void *arg, enum codec_event event)
{
	(void)event;
	fork_here(arg);
}

static void arm(struct forker *f)
{
	f->asked = true;
	watchdog_progress();
}

static void D80_a_compressors_function_may_fork(void)
{
	static struct forker f;
	uint64_t version;

	scene_begin(&f.scene);
	f.scene.codec.event_arg = &f;
	f.scene.codec.event = fork_at_event;
	f.scene.codec.compress.call = fork_here;
	f.scene.codec.compress.call_arg = &f;
	f.scene.codec.decompress.call = fork_here;
	f.scene.codec.decompress.call_arg = &f;
	/* In a store, a peek, a load. */
	arm(&f);
	CHECK(stress_store(f.scene.z, at(CALLS_FIRST), 4) == 0);
	CHECK(f.forks == 1);
	arm(&f);
	CHECK(stress_load(f.scene.z, at(CALLS_FIRST), true, &version) == 0);
	CHECK(f.forks == 2);
	arm(&f);
	CHECK(stress_load(f.scene.z, at(CALLS_FIRST), false, &version) == 0);
	CHECK(f.forks == 3 && version == 4);
	scene_check(&f.scene);
	/* Where an instance is ended, and where one is made. */
	CHECK(zswap_set_compressor(f.scene.z, "lz4") == 0);
	arm(&f);
	zswap_invalidate(f.scene.z, at(0), AREA_SLOTS);
	CHECK(f.forks == 4);
	arm(&f);
	CHECK(zswap_set_compressor(f.scene.z, f.scene.codec.spec) == 0);
	CHECK(f.forks == 5);
	arm(&f);
	zswap_destroy(f.scene.z);
	CHECK(f.forks == 6);
	scene_end(&f.scene);
}

/* ---- during create and destroy ----------------------------------------- */

/* Hooks of which one call stands at a gate. */
struct halting {
	struct faulty accounts;
	struct zswap_hooks hooks;
	struct gate gate;
	atomic_uint calls;
	unsigned halt_at;
};

static void halt(struct halting *h)
{
	if (atomic_fetch_add(&h->calls, 1) + 1 == h->halt_at)
		gate_pass(&h->gate);
}

static void *halting_alloc(void *ctx, size_t bytes, size_t align)
{
	struct halting *h = ctx;

	halt(h);
	return h->accounts.hooks.alloc(&h->accounts, bytes, align);
}

static void halting_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	struct halting *h = ctx;

	halt(h);
	h->accounts.hooks.free(&h->accounts, ptr, bytes, align);
}

static void *halting_map(void *ctx, size_t bytes, size_t align)
{
	struct halting *h = ctx;

	halt(h);
	return h->accounts.hooks.map(&h->accounts, bytes, align);
}

static void halting_unmap(void *ctx, void *addr, size_t bytes)
{
	struct halting *h = ctx;

	halt(h);
	h->accounts.hooks.unmap(&h->accounts, addr, bytes);
}

static int halting_thread_create(void *ctx, void **thread,
				 void (*run)(void *arg), void *arg)
{
	struct halting *h = ctx;

	halt(h);
	return h->accounts.hooks.thread_create(&h->accounts, thread, run, arg);
}

static void halting_thread_join(void *ctx, void *thread)
{
	struct halting *h = ctx;

	halt(h);
	h->accounts.hooks.thread_join(&h->accounts, thread);
}

/* With a thread, which ends the retired pool, or leaves it to destroy. */
static void make_and_destroy(void *arg)
{
	struct halting *h = arg;
	struct zswap_params params = { .size = sizeof(params),
				       .hooks = &h->hooks };
	struct zswap *z;

	CHECK(zswap_create(&z, &params) == 0);
	CHECK(zswap_swapon(z, 0, AREA_SLOTS) == 0);
	CHECK(stress_store(z, at(0), 1) == 0);
	CHECK(zswap_set_compressor(z, "zstd:level=1") == 0);
	zswap_destroy(z);
}

static void halting_init(struct halting *h, unsigned halt_at)
{
	atomic_store(&h->calls, 0);
	h->halt_at = halt_at;
	faulty_init(&h->accounts);
	gate_init(&h->gate);
	h->hooks = (struct zswap_hooks){ .size = sizeof(h->hooks),
					 .ctx = h,
					 .alloc = halting_alloc,
					 .free = halting_free,
					 .map = halting_map,
					 .unmap = halting_unmap,
					 .thread_create = halting_thread_create,
					 .thread_join = halting_thread_join };
}

static void halting_end(struct halting *h)
{
	gate_end(&h->gate);
	CHECK(faulty_end(&h->accounts));
}

/* The other cache is another's, and one of its own works. */
static void call_all_and_make(void *scene)
{
	struct halting own;

	call_all_elsewhere(scene, CHILD_MAY_ALLOCATE);
	if (!CHILD_MAY_ALLOCATE)
		return;
	halting_init(&own, 0);
	make_and_destroy(&own);
	halting_end(&own);
}

static unsigned count_hook_calls(void)
{
	static struct halting h;

	halting_init(&h, 0);
	make_and_destroy(&h);
	CHECK(h.accounts.thread_creates == 1);
	halting_end(&h);
	return atomic_load(&h.calls);
}

static void forks_while_another_thread_makes_or_destroys(void)
{
	static struct halting h;
	static struct scene s;
	unsigned i, nr = count_hook_calls();
	struct thread thread;

	CHECK(nr > 0);
	scene_begin(&s);
	for (i = 1; i <= nr; i++) {
		halting_init(&h, i);
		gate_close(&h.gate);
		thread_start(&thread, make_and_destroy, &h);
		CHECK(gate_wait(&h.gate, 1));
		child_must_succeed(call_all_and_make, &s);
		gate_open(&h.gate);
		thread_join(&thread);
		CHECK(atomic_load(&h.calls) == nr);
		halting_end(&h);
		watchdog_progress();
	}
	scene_check(&s);
	zswap_destroy(s.z);
	scene_end(&s);
}

int main(void)
{
	watchdog_start("fork_inside", 60);
	D80_a_compressors_function_may_fork();
	forks_while_another_thread_makes_or_destroys();
	watchdog_stop();
	return 0;
}
