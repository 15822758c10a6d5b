// SPDX-License-Identifier: MIT
/*
 * stress_short_threads.c - D82: threads that come, make a few calls and go
 *
 * Nothing is kept for a thread: when they are gone, memory is as it was after
 * the first few.
 */
#include "stress.h"

#include <stdatomic.h>

#define AT_A_TIME 64
#define NR_THREADS 2048

struct crowd {
	struct zswap *z;
	uint64_t version;
};

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

static void run_crowds(struct crowd *crowd, unsigned nr_threads)
{
	unsigned i;

	for (i = 0; i < nr_threads; i += AT_A_TIME) {
		crowd->version++;
		run_threads(AT_A_TIME, live_shortly, crowd);
		watchdog_progress();
	}
}

int main(void)
{
	static struct faulty hooks;
	struct zswap_params params = { .size = sizeof(params) };
	struct crowd crowd = { 0 };
	size_t bytes, mapped;

	faulty_init(&hooks);
	params.hooks = &hooks.hooks;
	crowd.z = stress_begin_with("short_threads", &params);
	/* Parts that the library makes when first needed are made here. */
	run_crowds(&crowd, 8 * AT_A_TIME);
	bytes = hooks.alloc_bytes;
	mapped = hooks.map_bytes;
	run_crowds(&crowd, (unsigned)(NR_THREADS * test_scale()));
	CHECK(hooks.alloc_bytes <= bytes + bytes / 4);
	CHECK(hooks.map_bytes <= mapped);
	stress_end(crowd.z);
	CHECK(faulty_end(&hooks));
	return 0;
}
