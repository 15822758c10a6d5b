// SPDX-License-Identifier: MIT
/*
 * stress_swapoff.c - areas go and come while others store and load
 *
 * Each user has slots of its own, so it knows what it may find there: its last
 * version or nothing; and nothing, once it has met -ENXIO, since the area has
 * been dropped after that version was stored.
 */
#include "stress.h"

#include <unistd.h>

#define NR_USERS 4
#define NR_SLOTS 40
#define TYPE 7

struct scene {
	struct zswap *z;
	uint64_t deadline;
};

static zswap_slot_t slot_of(unsigned user, uint32_t i)
{
	return zswap_slot(TYPE, BORDER - NR_SLOTS / 2 + i * NR_USERS + user);
}

struct user {
	struct scene *scene;
	unsigned index;
	uint64_t last[NR_SLOTS]; /* versions, 0 when there can be none */
};

static void forget_all(struct user *user)
{
	uint32_t i;

	for (i = 0; i < NR_SLOTS; i++)
		user->last[i] = 0;
}

static void store(struct user *user, uint32_t i, uint64_t version)
{
	int err =
		stress_store(user->scene->z, slot_of(user->index, i), version);

	CHECK(err == 0 || err == -ENXIO);
	if (err)
		forget_all(user);
	else
		user->last[i] = version;
}

static void load(struct user *user, uint32_t i, bool keep)
{
	uint64_t version;
	int err = stress_load(user->scene->z, slot_of(user->index, i), keep,
			      &version);

	CHECK(err == 0 || err == -ENOENT || err == -ENXIO);
	if (err == -ENXIO)
		forget_all(user);
	else if (err == -ENOENT)
		user->last[i] = 0;
	else
		CHECK(user->last[i] != 0 && version == user->last[i]);
	if (!keep)
		user->last[i] = 0;
}

static void use_area(struct scene *scene, unsigned index)
{
	struct user user = { scene, index, { 0 } };
	uint64_t version = 0;
	struct rng rng;
	uint32_t i;

	rng_init(&rng, index);
	while (!deadline_is_over(scene->deadline)) {
		i = rng_below(&rng, NR_SLOTS);
		switch (rng_below(&rng, 4)) {
		case 0:
			load(&user, i, rng_below(&rng, 2));
			break;
		case 1:
			zswap_invalidate(scene->z, slot_of(index, i), 1);
			user.last[i] = 0;
			break;
		default:
			store(&user, i, ++version);
			break;
		}
	}
}

static void drop_and_add(struct scene *scene)
{
	struct zswap_stats stats;

	while (!deadline_is_over(scene->deadline)) {
		CHECK(zswap_swapon(scene->z, TYPE, AREA_SLOTS) == 0);
		CHECK(zswap_swapon(scene->z, TYPE, AREA_SLOTS) == -EEXIST);
		usleep(500);
		CHECK(zswap_swapoff(scene->z, TYPE) == 0);
		stats = stress_stats(scene->z);
		CHECK(stats.stored_pages == 0 && stats.compressed_bytes == 0);
		CHECK(zswap_swapoff(scene->z, TYPE) == -ENXIO);
	}
}

static void walk(struct scene *scene)
{
	zswap_slot_t slot;

	while (!deadline_is_over(scene->deadline)) {
		slot = zswap_slot(TYPE, 0);
		for (; zswap_next_present(scene->z, &slot); slot.val++)
			CHECK(zswap_slot_type(slot) == TYPE &&
			      zswap_slot_offset(slot) < AREA_SLOTS);
		zswap_is_present(scene->z, zswap_slot(TYPE, 0), AREA_SLOTS);
		CHECK(stress_stats(scene->z).stored_pages <=
		      NR_USERS * NR_SLOTS);
	}
}

static void run(unsigned index, void *arg)
{
	if (index < NR_USERS)
		use_area(arg, index);
	else if (index == NR_USERS)
		drop_and_add(arg);
	else
		walk(arg);
}

int main(void)
{
	static struct faulty hooks;
	struct zswap_params params = { .size = sizeof(params) };
	struct scene scene;

	faulty_init(&hooks);
	params.hooks = &hooks.hooks;
	scene.z = stress_begin_with("swapoff", &params);
	scene.deadline = deadline_after_ms(1500);
	run_threads(NR_USERS + 2, run, &scene);
	stress_end(scene.z);
	CHECK(faulty_end(&hooks));
	return 0;
}
