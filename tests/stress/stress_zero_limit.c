// SPDX-License-Identifier: MIT
/*
 * stress_zero_limit.c - D20, D67: the limit goes to 0 and back without pause
 *
 * At 0 nothing is stored, same-filled pages included, and that is decided
 * elsewhere than for other limits: a store that looked twice, before and after
 * a change, used to go on with neither answer.
 */
#include "stress.h"

#include <stdatomic.h>

#define NR_WORKERS 4
#define NR_SLOTS 64

struct scene {
	struct zswap *z;
	uint64_t deadline;
	atomic_ulong stored, refused;
};

static void work(struct scene *scene, unsigned worker)
{
	zswap_slot_t slot = at(1000 * (worker + 1));
	uint64_t version = 0, seen;
	int err;

	while (!deadline_is_over(scene->deadline)) {
		version++; /* text, random, one word, half random, by turns */
		slot.val = at(1000 * (worker + 1) + version % NR_SLOTS).val;
		err = stress_store(scene->z, slot, version);
		CHECK(err == 0 || err == -ENOSPC);
		atomic_fetch_add(err ? &scene->refused : &scene->stored, 1);
		CHECK(stress_load(scene->z, slot, true, &seen) ==
		      (err ? -ENOENT : 0));
		CHECK(err || seen == version);
	}
}

static void run(unsigned index, void *arg)
{
	struct scene *scene = arg;

	if (index < NR_WORKERS) {
		work(scene, index);
		return;
	}
	while (!deadline_is_over(scene->deadline)) {
		CHECK(zswap_set_max_pool_bytes(scene->z, 0) == 0);
		CHECK(zswap_set_max_pool_bytes(scene->z, 1u << 30) == 0);
	}
}

int main(void)
{
	struct scene scene = { .z = stress_begin("zero_limit") };
	struct zswap_stats stats;

	scene.deadline = deadline_after_ms(1500);
	run_threads(NR_WORKERS + 1, run, &scene);
	stats = stress_stats(scene.z);
	CHECK(stats.stored_folios == atomic_load(&scene.stored));
	CHECK(stats.reject_limit == atomic_load(&scene.refused));
	CHECK(scene.stored && scene.refused);
	stress_end(scene.z);
	return 0;
}
