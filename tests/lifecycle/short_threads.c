// SPDX-License-Identifier: MIT
/*
 * short_threads.c - D82: threads that come, make a few calls and go
 *
 * 20,000 of them, 64 at a time, while others store and load all the time and
 * one switches compressors. Nothing is kept for a thread: when they are gone,
 * memory is as it was after the first few.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "process.h"
#include "stress.h"

#define AT_A_TIME 64
#define NR_THREADS 20000
#define WARM_UP (4 * AT_A_TIME)
#define NR_WORKERS 2
#define WORKERS_FIRST (BORDER + 1000)

struct crowd {
	struct zswap *z;
	unsigned nr_threads;
	uint64_t version;
	atomic_bool over;
	atomic_ulong switches;
};

/* ---- short lives ------------------------------------------------------- */

static void live_shortly(unsigned index, void *arg)
{
	struct crowd *crowd = arg;
	zswap_slot_t slot = at(BORDER - 30 + index);
	uint64_t version;

	CHECK(stress_store(crowd->z, slot, crowd->version) == 0);
	CHECK(stress_load(crowd->z, slot, true, &version) == 0);
	CHECK(version == crowd->version);
	if (index % 2)
		zswap_invalidate(crowd->z, slot, 1);
	else
		CHECK(stress_load(crowd->z, slot, false, &version) == 0);
	CHECK(zswap_query(crowd->z, slot) == ZSWAP_ABSENT);
}

static void run_short_threads(struct crowd *crowd)
{
	unsigned i;

	for (i = 0; i < crowd->nr_threads; i += AT_A_TIME) {
		crowd->version++;
		run_threads(AT_A_TIME, live_shortly, crowd);
		watchdog_progress();
	}
	atomic_store(&crowd->over, true);
}

/* ---- long ones --------------------------------------------------------- */

/* Lets the short ones, who wait for each other, run on few processors. */
static void pause_a_little(void)
{
	usleep(200);
}

static void work(struct crowd *crowd, unsigned index)
{
	zswap_slot_t slot = at(WORKERS_FIRST + index);
	uint64_t version = 0, seen;

	while (!atomic_load(&crowd->over)) {
		CHECK(stress_store(crowd->z, slot, ++version) == 0);
		CHECK(stress_load(crowd->z, slot, version % 2, &seen) == 0);
		CHECK(seen == version);
		pause_a_little();
	}
}

static void switch_compressors(struct crowd *crowd)
{
	const char *const *specs = stress_specs();
	unsigned i;

	while (!atomic_load(&crowd->over))
		for (i = 0; specs[i]; i++) {
			CHECK(zswap_set_compressor(crowd->z, specs[i]) == 0);
			atomic_fetch_add(&crowd->switches, 1);
			pause_a_little();
		}
}

static void run(unsigned index, void *arg)
{
	struct crowd *crowd = arg;

	if (index == 0)
		run_short_threads(crowd);
	else if (index == 1)
		switch_compressors(crowd);
	else
		work(crowd, index);
}

/* ---- memory ------------------------------------------------------------ */

/* Then at rest: no page, and a single pool, which has never had one. */
static void run_crowd(struct crowd *crowd, unsigned nr_threads)
{
	crowd->nr_threads = nr_threads;
	atomic_store(&crowd->over, false);
	run_threads(2 + NR_WORKERS, run, crowd);
	zswap_invalidate(crowd->z, at(0), AREA_SLOTS);
	CHECK(zswap_set_compressor(crowd->z, "zstd") == 0);
	CHECK(zswap_set_compressor(crowd->z, "lz4") == 0);
	while (stress_stats(crowd->z).pools > 1)
		usleep(200); /* the cache's thread may be ending others */
}

int main(void)
{
	static struct faulty hooks;
	struct zswap_params params = { .size = sizeof(params) };
	static struct crowd crowd;
	struct holdings before;
	size_t bytes, mapped;

	holdings_prepare();
	faulty_init(&hooks);
	params.hooks = &hooks.hooks;
	crowd.z = stress_begin_with("short_threads", &params);
	/* Parts that the library makes when first needed are made here. */
	run_crowd(&crowd, WARM_UP);
	bytes = hooks.alloc_bytes;
	mapped = hooks.map_bytes;
	before = holdings_now();
	run_crowd(&crowd, test_rounds(NR_THREADS));
	CHECK(atomic_load(&crowd.switches) > 0);
	CHECK(hooks.alloc_bytes <= bytes + bytes / 4);
	CHECK(hooks.map_bytes == mapped);
	holdings_check_same(&before);
	stress_end(crowd.z);
	CHECK(faulty_end(&hooks));
	return 0;
}
