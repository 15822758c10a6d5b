// SPDX-License-Identifier: MIT
/*
 * fork_load.c - children of a process that is at work
 *
 * usage: fork_load [MODE]
 *
 * Workers store, load and forget pages, switch compressors, change areas and
 * limits, make and destroy other caches, while the main thread forks over and
 * over. A child makes every call on its parent's cache and is told that it is
 * another's; then it makes caches of its own, uses them with threads of its
 * own, forks again, and leaves in any way there is. The parent does not notice:
 * each page is exact, the counters say what the workers did, and nothing grows.
 * A mode is what the program does when it was started by one of its children.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "process.h"
#include "scene.h"

#define NR_WORKERS 3
#define NR_SLOTS 16 /* of a worker */
#define FOLIO 4u
#define NR_FORKS 24
#define NR_QUIET_FORKS 100
#define OWN_CACHE "own cache"

/* Statuses of children that leave by an exit handler, or became another. */
#define BY_HANDLER 43
#define BY_EXEC 44

/* What a worker has done, for comparison with the counters. */
struct tally {
	uint64_t stores, loads, delivered;
	uint64_t version[NR_SLOTS]; /* what its slots hold; 0 is nothing */
};

struct load {
	struct scene scene;
	atomic_bool over;
	struct tally tallies[NR_WORKERS];
};

/* ---- the parent's threads ---------------------------------------------- */

static zswap_slot_t slot_of(unsigned worker, unsigned i)
{
	return at(BORDER + 1000 + worker * NR_SLOTS + i);
}

static void store_some(struct zswap *z, unsigned worker, struct tally *t,
		       unsigned first, uint64_t version)
{
	char data[FOLIO * PAGE_BYTES];
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = slot_of(worker, first),
				     .nr_pages = FOLIO,
				     .data = data };
	unsigned i;

	for (i = 0; i < FOLIO; i++) {
		page_stamp(data + i * PAGE_BYTES, PAGE_BYTES,
			   zswap_slot_offset(folio.slot) + i, version);
		t->version[first + i] = version;
	}
	CHECK(zswap_store_folio(z, &folio) == 0);
	t->stores++;
}

static void load_one(struct zswap *z, unsigned worker, struct tally *t,
		     unsigned i, bool keep)
{
	uint64_t version;
	int err = stress_load(z, slot_of(worker, i), keep, &version);

	t->loads++;
	CHECK(err == (t->version[i] ? 0 : -ENOENT));
	if (err)
		return;
	t->delivered++;
	CHECK(version == t->version[i]);
	if (!keep)
		t->version[i] = 0;
}

static void forget_one(struct zswap *z, unsigned worker, struct tally *t,
		       unsigned i)
{
	zswap_invalidate(z, slot_of(worker, i), 1);
	CHECK(zswap_query(z, slot_of(worker, i)) == ZSWAP_ABSENT);
	t->version[i] = 0;
}

static void work(struct load *load, unsigned worker)
{
	struct tally *t = &load->tallies[worker];
	struct zswap *z = load->scene.z;
	uint64_t version = 0;
	struct rng rng;

	rng_init(&rng, worker);
	while (!atomic_load(&load->over)) {
		unsigned i = rng_below(&rng, NR_SLOTS);

		store_some(z, worker, t, rng_below(&rng, NR_SLOTS - FOLIO + 1),
			   ++version);
		load_one(z, worker, t, i, true);
		load_one(z, worker, t, (i + 1) % NR_SLOTS, false);
		forget_one(z, worker, t, (i + 2) % NR_SLOTS);
		watchdog_progress();
	}
}

static void switch_compressors(struct load *load)
{
	const char *const *specs = stress_specs();
	unsigned i = 0;

	while (!atomic_load(&load->over)) {
		CHECK(zswap_set_compressor(load->scene.z, specs[i++]) == 0);
		CHECK(zswap_set_compressor(load->scene.z,
					   load->scene.codec.spec) == 0);
		if (!specs[i])
			i = 0;
	}
}

/* Areas that come and go, limits that do not bind, caches of a moment. */
static void administer(struct load *load)
{
	struct zswap *z = load->scene.z, *other;
	struct zswap_params params = load->scene.params;

	while (!atomic_load(&load->over)) {
		CHECK(zswap_swapon(z, 2, AREA_SLOTS) == 0);
		CHECK(zswap_set_max_pool_percent(z, 100) == 0);
		CHECK(zswap_set_accept_threshold_percent(z, 95) == 0);
		CHECK(zswap_set_max_pool_bytes(z, ZSWAP_UNLIMITED) == 0);
		CHECK(zswap_set_enabled(z, true) == 0);
		CHECK(zswap_compact(z) >= 0);
		CHECK(zswap_format_stats(z, ZSWAP_STATS_TEXT, NULL, 0) > 0);
		CHECK(stress_stats(z).stored_pages >= SCENE_PAGES);
		CHECK(zswap_swapoff(z, 2) == 0);
		params.hooks = params.hooks ? NULL : &load->scene.hooks.hooks;
		CHECK(zswap_create(&other, &params) == 0);
		CHECK(zswap_swapon(other, 0, AREA_SLOTS) == 0);
		CHECK(stress_store(other, at(0), 1) == 0);
		zswap_destroy(other);
	}
}

/* ---- what children do -------------------------------------------------- */

static void use_own(unsigned index, void *z)
{
	uint64_t version;
	unsigned i;

	for (i = 1; i <= 5; i++) {
		CHECK(stress_store(z, at(index), i) == 0);
		CHECK(stress_load(z, at(index), i % 2, &version) == 0);
		CHECK(version == i);
	}
}

/* With threads, and a switch that leaves a pool to the cache's own thread. */
static void make_own_cache(const struct zswap_hooks *hooks)
{
	struct zswap_params params = { .size = sizeof(params), .hooks = hooks };
	uint64_t version;
	struct zswap *z;

	CHECK(zswap_create(&z, &params) == 0);
	CHECK(zswap_swapon(z, 0, AREA_SLOTS) == 0);
	run_threads(4, use_own, z);
	CHECK(zswap_set_compressor(z, "zstd:level=1") == 0);
	run_threads(4, use_own, z);
	CHECK(stress_stats(z).stored_pages == 4);
	CHECK(stress_load(z, at(1), false, &version) == 0);
	zswap_destroy(z);
}

static void call_and_leave(void *arg)
{
	call_all_elsewhere(arg, CHILD_MAY_ALLOCATE);
}

static void call_and_die(void *arg)
{
	call_and_leave(arg);
	raise(SIGKILL);
}

static void leave_by_handler(void)
{
	_exit(BY_HANDLER);
}

static void make_and_exit(void *arg)
{
	call_and_leave(arg);
	make_own_cache(NULL);
	CHECK(atexit(leave_by_handler) == 0);
	exit(0);
}

static void make_with_own_hooks(void *arg)
{
	struct faulty hooks;

	faulty_init(&hooks);
	make_own_cache(&hooks.hooks);
	CHECK(hooks.thread_creates == 1);
	CHECK(faulty_end(&hooks));
	call_and_leave(arg);
}

/* Three caches: the parent's, the child's, and the grandchild's own. */
static void fork_again(void *arg)
{
	static struct scene own;

	scene_begin(&own);
	child_must_succeed(make_with_own_hooks, arg);
	child_must_succeed(make_with_own_hooks, &own);
	scene_check(&own);
	call_and_leave(arg);
	zswap_destroy(own.z);
	scene_end(&own);
}

static void become_another(void *arg)
{
	call_and_leave(arg);
	process_become(OWN_CACHE);
}

/* One that shares the parent's memory until it has become another. */
static void become_another_by_vfork(void)
{
	pid_t pid = vfork();

	CHECK(pid >= 0);
	if (pid == 0)
		process_become(OWN_CACHE);
	wait_for_exit(pid, BY_EXEC);
}

static void expect(bool exited, int code, int status)
{
	if (exited)
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
	else
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == code);
}

/* A child with threads and memory of its own: see CHILD_MAY_ALLOCATE. */
static const struct way {
	void (*run)(void *arg);
	bool allocates;
	bool exits;
	int code; /* of its exit, or the signal that ends it */
} ways[] = {
	{ call_and_leave, false, true, 0 },
	{ call_and_die, false, false, SIGKILL },
	{ become_another, false, true, BY_EXEC },
	{ make_and_exit, true, true, BY_HANDLER },
	{ make_with_own_hooks, true, true, 0 },
	{ fork_again, true, true, 0 },
};

#define NR_WAYS (sizeof(ways) / sizeof(ways[0]))

static void fork_each_way(struct load *load)
{
	size_t i;

	for (i = 0; i < NR_WAYS; i++)
		if (CHILD_MAY_ALLOCATE || !ways[i].allocates)
			expect(ways[i].exits, ways[i].code,
			       child_status(ways[i].run, &load->scene));
	wait_for_exit(process_start_again(OWN_CACHE), BY_EXEC);
	become_another_by_vfork();
}

/* ---- all together ------------------------------------------------------ */

static void run(unsigned index, void *arg)
{
	struct load *load = arg;
	unsigned i;

	if (index < NR_WORKERS) {
		work(load, index);
	} else if (index == NR_WORKERS) {
		switch_compressors(load);
	} else if (index == NR_WORKERS + 1) {
		administer(load);
	} else {
		for (i = 0; i < test_rounds(NR_FORKS); i += NR_WAYS)
			fork_each_way(load);
		atomic_store(&load->over, true);
	}
}

static void check_worker(struct load *load, unsigned worker)
{
	unsigned i;

	for (i = 0; i < NR_SLOTS; i++)
		load_one(load->scene.z, worker, &load->tallies[worker], i,
			 true);
}

/* Counters move by the parent's own calls alone. */
static void check_counters(struct load *load, const struct zswap_stats *before)
{
	struct zswap_stats now = stress_stats(load->scene.z);
	uint64_t stores = 0, loads = 0, delivered = 0;
	unsigned i;

	for (i = 0; i < NR_WORKERS; i++) {
		stores += load->tallies[i].stores;
		loads += load->tallies[i].loads;
		delivered += load->tallies[i].delivered;
	}
	CHECK(now.stores - before->stores == stores);
	CHECK(now.stored_folios - before->stored_folios == stores);
	CHECK(now.zswpout - before->zswpout == stores * FOLIO);
	CHECK(now.loads - before->loads == loads);
	CHECK(now.zswpin - before->zswpin == delivered);
	stress_check_sums(load->scene.z);
}

static void forks_during_calls(void)
{
	static struct load load;
	struct holdings held;
	struct zswap_stats before;
	unsigned i;

	scene_begin(&load.scene);
	held = holdings_now();
	before = stress_stats(load.scene.z);
	run_threads(NR_WORKERS + 3, run, &load);
	holdings_check_same(&held);
	for (i = 0; i < NR_WORKERS; i++)
		check_worker(&load, i);
	check_counters(&load, &before);
	scene_check(&load.scene);
	zswap_destroy(load.scene.z);
	scene_end(&load.scene);
}

/* ---- children of a parent at rest -------------------------------------- */

struct big {
	struct scene scene;
	size_t mapped_bytes, pool_bytes;
};

/* The child has all that the parent had mapped, but the memory of pages. */
static void look_for_pages(void *arg)
{
	struct big *big = arg;

	call_and_leave(&big->scene);
	CHECK(process_mapped_bytes() <= big->mapped_bytes - big->pool_bytes);
}

static void pages_are_not_in_children_and_forks_cost_nothing(void)
{
	static struct big big;
	unsigned nr = test_rounds(NR_QUIET_FORKS);
	struct holdings before;
	uint64_t i;

	scene_init(&big.scene);
	big.scene.params.hooks = NULL;
	scene_fill(&big.scene);
	for (i = 0; i < 4000; i++)
		CHECK(stress_store(big.scene.z, at(5000 + i), 1) == 0);
	big.pool_bytes = stress_stats(big.scene.z).pool_total_size;
	before = holdings_now();
	big.mapped_bytes = process_mapped_bytes(); /* after the heap grew */
	for (i = 0; i < nr; i++) {
		child_must_succeed(look_for_pages, &big);
		watchdog_progress();
	}
	holdings_check_same(&before);
	CHECK(process_mapped_bytes() == big.mapped_bytes);
	/* Not even a page for each fork, beside what looking itself takes. */
	holdings_check_growth(&before,
			      (nr + 32) * (size_t)sysconf(_SC_PAGESIZE));
	scene_check(&big.scene);
	zswap_destroy(big.scene.z);
	scene_end(&big.scene);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		CHECK(strcmp(argv[1], OWN_CACHE) == 0);
		make_own_cache(NULL);
		return BY_EXEC;
	}
	holdings_prepare();
	watchdog_start("fork_load", 60);
	pages_are_not_in_children_and_forks_cost_nothing();
	forks_during_calls();
	watchdog_stop();
	return 0;
}
