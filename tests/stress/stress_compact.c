// SPDX-License-Identifier: MIT
/*
 * stress_compact.c - D51, D55, D57, D61: objects are moved while everybody is
 * at work
 *
 * One thread scatters its pages and compacts, over and over, and is stopped
 * anywhere in that; another is stopped anywhere in its loads. A third has pools
 * that die, of retired compressors, and an area that goes; the others store,
 * load and forget, and know what each of their slots must hold. What is freed
 * or moved away is wiped, so that who reads it at its old place gets no page.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "interrupt.h"
#include "stress.h"

#define NR_THREADS 8
#define COMPACTOR 0
#define STOPPED_LOADER 1
#define SWITCHER 2

#define NR_SLOTS 64 /* of each thread */
#define FOLIO 8u

/* Of the thread with an area of its own. */
#define OTHER_TYPE 1
#define OTHER_SPEC "zstd:level=1"
#define BASE_SPEC "lz4"

/* How long a stopped thread waits for others, which may wait for it. */
#define LONGEST_STOP_NS 2000000

struct scene {
	struct zswap *z;
	bool by_itself; /* the cache compacts when objects are freed, too */
	uint64_t deadline;
	atomic_ulong steps; /* of all threads but the two that are stopped */
	uint64_t compacted; /* bytes, by the results */
};

struct worker {
	struct scene *scene;
	unsigned index;
	struct rng rng;
	struct interrupt interrupt;
	atomic_bool in_call;
	uint64_t next_version;
	uint64_t versions[NR_SLOTS]; /* 0: absent */
};

/* ---- slots --------------------------------------------------------------- */

/* The slots of all threads are neighbours, half of a cluster's in another. */
static zswap_slot_t slot_of(const struct worker *w, unsigned i)
{
	return at(BORDER - NR_THREADS * NR_SLOTS / 2 + i * NR_THREADS +
		  w->index);
}

static void store(struct worker *w, unsigned i)
{
	CHECK(stress_store(w->scene->z, slot_of(w, i), ++w->next_version) == 0);
	w->versions[i] = w->next_version;
}

static void load(struct worker *w, unsigned i, bool keep)
{
	uint64_t version = 0;
	int err = stress_load(w->scene->z, slot_of(w, i), keep, &version);

	CHECK(err == (w->versions[i] ? 0 : -ENOENT));
	CHECK(version == w->versions[i]);
	if (!keep)
		w->versions[i] = 0;
}

static void forget(struct worker *w, unsigned i)
{
	zswap_invalidate(w->scene->z, slot_of(w, i), 1);
	w->versions[i] = 0;
}

/* ---- being stopped ------------------------------------------------------- */

static void let_others_go_on(void *arg)
{
	struct worker *w = arg;
	unsigned long before = atomic_load(&w->scene->steps);
	uint64_t end = now_ns() + LONGEST_STOP_NS;

	if (!atomic_load(&w->in_call))
		return;
	while (atomic_load(&w->scene->steps) < before + NR_THREADS &&
	       now_ns() < end)
		;
}

/* The signal is to come within so many ns; what comes before does not count. */
static void begin_stopped(struct worker *w, uint32_t ns)
{
	interrupt_after_ns(&w->interrupt, rng_below(&w->rng, ns));
	atomic_store(&w->in_call, true);
}

static void end_stopped(struct worker *w)
{
	atomic_store(&w->in_call, false);
}

/* ---- what each does ------------------------------------------------------ */

static void compact(struct worker *w)
{
	struct scene *s = w->scene;
	unsigned i;
	long bytes;

	for (i = 0; i < NR_SLOTS; i++)
		if (!w->versions[i])
			store(w, i);
	for (i = 0; i < NR_SLOTS; i++)
		if (rng_below(&w->rng, 2))
			forget(w, i);
	begin_stopped(w, 30000);
	bytes = zswap_compact(s->z);
	end_stopped(w);
	CHECK(bytes >= 0 && bytes % PAGE_BYTES == 0);
	s->compacted += (uint64_t)bytes;
}

static void load_and_be_stopped(struct worker *w)
{
	unsigned i = rng_below(&w->rng, NR_SLOTS);

	if (!w->versions[i])
		store(w, i);
	begin_stopped(w, 6000);
	load(w, i, rng_below(&w->rng, 4));
	end_stopped(w);
}

/*
 * A pool that is retired with scattered pages, which then go, in one of three
 * ways: while it is compacted its last may.
 */
static void let_a_pool_die(struct worker *w)
{
	struct zswap *z = w->scene->z;
	uint64_t version;
	unsigned i;

	CHECK(zswap_set_compressor(z, OTHER_SPEC) == 0);
	for (i = 0; i < NR_SLOTS; i++)
		CHECK(stress_store(z, zswap_slot(OTHER_TYPE, i), 4 * i) == 0);
	CHECK(zswap_set_compressor(z, BASE_SPEC) == 0);
	for (i = 0; i < NR_SLOTS; i += 1 + rng_below(&w->rng, 2))
		zswap_invalidate(z, zswap_slot(OTHER_TYPE, i), 1);
	switch (rng_below(&w->rng, 3)) {
	case 0:
		zswap_invalidate(z, zswap_slot(OTHER_TYPE, 0), NR_SLOTS);
		break;
	case 1:
		for (i = 0; i < NR_SLOTS; i++)
			if (stress_load(z, zswap_slot(OTHER_TYPE, i), false,
					&version) == 0)
				CHECK(version == 4 * i);
		break;
	default:
		CHECK(zswap_swapoff(z, OTHER_TYPE) == 0);
		CHECK(zswap_swapon(z, OTHER_TYPE, NR_SLOTS) == 0);
		break;
	}
}

static void load_folio(struct worker *w)
{
	char data[FOLIO * PAGE_BYTES];
	int results[FOLIO];
	struct zswap_folio folio = { .size = sizeof(folio),
				     .nr_pages = FOLIO,
				     .data = data,
				     .results = results };
	unsigned i = rng_below(&w->rng, NR_SLOTS), k;
	uint64_t version;

	folio.slot = slot_of(w, i);
	CHECK(zswap_load_folio(w->scene->z, &folio,
			       ZSWAP_LOAD_KEEP | ZSWAP_LOAD_PARTIAL) >= 0);
	CHECK(results[0] == (w->versions[i] ? 0 : -ENOENT));
	for (k = 0; k < FOLIO; k++)
		CHECK(results[k] ||
		      page_verify(data + k * PAGE_BYTES, PAGE_BYTES,
				  zswap_slot_offset(folio.slot) + k, &version));
}

static void work(struct worker *w)
{
	unsigned i = rng_below(&w->rng, NR_SLOTS);

	switch (rng_below(&w->rng, 8)) {
	case 0:
	case 1:
	case 2:
		store(w, i);
		break;
	case 3:
		forget(w, i);
		break;
	case 4:
		load(w, i, false);
		break;
	case 5:
		load_folio(w);
		break;
	default:
		load(w, i, true);
		break;
	}
}

static void run(unsigned index, void *arg)
{
	struct worker *all = arg, *w = &all[index];

	interrupt_init(&w->interrupt, let_others_go_on, w);
	while (!deadline_is_over(w->scene->deadline))
		switch (index) {
		case COMPACTOR:
			compact(w);
			break;
		case STOPPED_LOADER:
			load_and_be_stopped(w);
			break;
		case SWITCHER:
			let_a_pool_die(w);
			break;
		default:
			work(w);
			atomic_fetch_add(&w->scene->steps, 1);
			break;
		}
	interrupt_end(&w->interrupt);
}

/* ---- at rest ------------------------------------------------------------- */

static void check_all(struct worker *all)
{
	unsigned t, i;

	for (t = 0; t < NR_THREADS; t++)
		for (i = 0; i < NR_SLOTS; i++)
			load(&all[t], i, true);
}

/* A load may have left the last pool to the cache's thread. */
static void check_one_pool_is_left(struct zswap *z)
{
	zswap_invalidate(z, at(0), AREA_SLOTS);
	while (stress_stats(z).pools > 1)
		; /* until the watchdog comes */
}

/* All that compaction may change is made equal: then all must be equal. */
static void check_only_places_change(struct zswap *z)
{
	struct zswap_stats before = stress_stats(z), after;

	CHECK(zswap_compact(z) >= 0);
	after = stress_stats(z);
	before.pool_total_size = after.pool_total_size;
	before.reserve_bytes = after.reserve_bytes;
	before.metadata_bytes = after.metadata_bytes;
	before.pages_compacted = after.pages_compacted;
	before.objects_moved = after.objects_moved;
	CHECK(memcmp(&before, &after, sizeof(before)) == 0);
	CHECK(zswap_compact(z) == 0);
}

static void churn(enum zswap_compaction compaction, uint32_t flags)
{
	static struct worker workers[NR_THREADS];
	struct zswap_params params = { .size = sizeof(params),
				       .compressor = BASE_SPEC,
				       .chain_size = 2,
				       .compaction = compaction,
				       .memory_flags = flags };
	struct scene scene = { .z = stress_begin_with("compact", &params) };
	struct zswap_stats stats;
	unsigned i;

	memset(workers, 0, sizeof(workers));
	for (i = 0; i < NR_THREADS; i++) {
		workers[i].scene = &scene;
		workers[i].index = i;
		rng_init(&workers[i].rng, i);
	}
	CHECK(zswap_swapon(scene.z, OTHER_TYPE, NR_SLOTS) == 0);
	scene.deadline = deadline_after_ms(700);
	run_threads(NR_THREADS, run, workers);
	stats = stress_stats(scene.z);
	CHECK(compaction == ZSWAP_COMPACT_AUTO ||
	      stats.pages_compacted * PAGE_BYTES == scene.compacted);
	check_all(workers);
	check_only_places_change(scene.z);
	check_all(workers);
	printf("%lu objects moved, %lu skipped, %lu pages given back\n",
	       (unsigned long)stats.objects_moved,
	       (unsigned long)stats.objects_skipped,
	       (unsigned long)stats.pages_compacted);
	check_one_pool_is_left(scene.z);
	CHECK(zswap_swapoff(scene.z, OTHER_TYPE) == 0);
	stress_end(scene.z);
}

int main(void)
{
	churn(ZSWAP_COMPACT_MANUAL, 0);
	churn(ZSWAP_COMPACT_MANUAL, ZSWAP_MEM_WIPE);
	churn(ZSWAP_COMPACT_AUTO, ZSWAP_MEM_WIPE);
	return 0;
}
