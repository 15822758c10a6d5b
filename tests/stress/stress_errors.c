// SPDX-License-Identifier: MIT
/*
 * stress_errors.c - D42: contexts that have seen errors work like new ones
 *
 * Threads read pages whose stored bytes are broken, store pages that do not
 * compress, and store and read good ones, all through the same few contexts.
 * Good pages come back, and the same pages take the same bytes whatever went
 * before: at the end all good pages are stored anew, and take as many in all as
 * when they were stored at first.
 */
#include "stress.h"

#include <stdlib.h>
#include <string.h>

#include "payload.h"

#define NR_THREADS 4
#define NR_GOOD 32 /* of each thread */
#define NR_BROKEN 16

struct scene {
	struct zswap *z;
	struct faulty hooks;
	uint64_t deadline;
	uint64_t good_bytes;
};

static zswap_slot_t broken_slot(uint64_t i)
{
	return at(10 + i);
}

static uint64_t good_slot(unsigned thread, uint64_t i)
{
	return 1000 * (thread + 1) + i;
}

/* Version 4 is text, 7 half random: the same for the same slot, always. */
static void store_good(struct scene *scene, unsigned thread, uint64_t i)
{
	CHECK(stress_store(scene->z, at(good_slot(thread, i)), i % 2 ? 4 : 7) ==
	      0);
}

static void load_good(struct scene *scene, unsigned thread, uint64_t i)
{
	uint64_t version;

	CHECK(stress_load(scene->z, at(good_slot(thread, i)), true, &version) ==
	      0);
	CHECK(version == (i % 2 ? 4 : 7));
}

static void load_broken(struct scene *scene, uint64_t i)
{
	char page[PAGE_BYTES];
	int err = zswap_peek(scene->z, broken_slot(i), page);

	/* Without checksums a wrong page is allowed. */
	CHECK(err == 0 || err == -EIO);
}

static void store_incompressible(struct scene *scene, unsigned thread,
				 struct rng *rng)
{
	zswap_slot_t slot = at(good_slot(thread, 500));
	char page[PAGE_BYTES], out[PAGE_BYTES];

	rng_fill(rng, page, sizeof(page));
	CHECK(zswap_store(scene->z, slot, page) == 0);
	CHECK(zswap_query(scene->z, slot) == ZSWAP_RAW);
	CHECK(zswap_load(scene->z, slot, out) == 0);
	CHECK(memcmp(page, out, sizeof(page)) == 0);
}

static void run(unsigned thread, void *arg)
{
	struct scene *scene = arg;
	struct rng rng;
	uint64_t i;

	rng_init(&rng, thread);
	while (!deadline_is_over(scene->deadline)) {
		i = rng_below(&rng, NR_GOOD);
		load_broken(scene, rng_below(&rng, NR_BROKEN));
		load_good(scene, thread, i);
		store_incompressible(scene, thread, &rng);
		store_good(scene, thread, i);
		load_broken(scene, rng_below(&rng, NR_BROKEN));
		load_good(scene, thread, rng_below(&rng, NR_GOOD));
	}
}

/* ---- broken pages ------------------------------------------------------ */

/*
 * Spoils the payload of the page in @slot, and of the same page elsewhere: each
 * in its own way, or the next call would find these two, of which one is freed.
 */
static void store_broken(struct scene *scene, zswap_slot_t slot, uint64_t seed)
{
	unsigned char *copies[PAYLOAD_MAX_COPIES];
	uint64_t before = stress_stats(scene->z).compressed_bytes, len, i;
	char page[PAGE_BYTES], out[PAGE_BYTES];

	page_make(page, sizeof(page), PAGE_TEXT, seed);
	CHECK(zswap_store(scene->z, slot, page) == 0);
	len = stress_stats(scene->z).compressed_bytes - before;
	CHECK(zswap_store(scene->z, at(900), page) == 0);
	CHECK(payload_find_copies(&scene->hooks, len, copies) == 2);
	/* From another byte on in each, to fail at another place. */
	for (i = len * seed / (NR_BROKEN + 1); i < len; i += 3) {
		copies[0][i] ^= (unsigned char)(17 * seed + i);
		copies[1][i] ^= (unsigned char)~(17 * seed + i);
	}
	zswap_invalidate(scene->z, at(900), 1);
	CHECK(zswap_peek(scene->z, slot, out) == -EIO ||
	      memcmp(page, out, sizeof(page)) != 0);
}

static uint64_t store_all_good(struct scene *scene)
{
	uint64_t before, i;
	unsigned thread;

	for (thread = 0; thread < NR_THREADS; thread++)
		zswap_invalidate(scene->z, at(good_slot(thread, 0)), 600);
	before = stress_stats(scene->z).compressed_bytes;
	for (thread = 0; thread < NR_THREADS; thread++)
		for (i = 0; i < NR_GOOD; i++)
			store_good(scene, thread, i);
	return stress_stats(scene->z).compressed_bytes - before;
}

static void run_with(const char *compressor)
{
	static struct scene scene;
	struct zswap_params params = { .size = sizeof(params),
				       .compressor = compressor,
				       .hooks = &scene.hooks.hooks };
	uint64_t i;

	faulty_init(&scene.hooks);
	scene.z = stress_begin_with("errors", &params);
	for (i = 0; i < NR_BROKEN; i++)
		store_broken(&scene, broken_slot(i), i + 1);
	scene.good_bytes = store_all_good(&scene);
	scene.deadline = deadline_after_ms(200);
	run_threads(NR_THREADS, run, &scene);
	CHECK(stress_stats(scene.z).decompress_fail > 0);
	CHECK(store_all_good(&scene) == scene.good_bytes);
	stress_end(scene.z);
	CHECK(faulty_end(&scene.hooks));
}

int main(void)
{
	const char *const *spec;

	for (spec = stress_specs(); *spec; spec++)
		run_with(*spec);
	return 0;
}
