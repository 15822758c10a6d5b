// SPDX-License-Identifier: MIT
/*
 * stress_new_area.c - a folio appears as one where nothing was stored before
 *
 * A folio across a multiple of 2^17 slots (or of 512) makes the first tables on
 * its far side, while somebody loads those slots. One page is stored on its
 * near side before, so that some tables are there already.
 */
#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NR_PAGES 8

/* All of a folio, half of it, or less lies before this. */
static const uint64_t borders[] = { 512, 1 << 17, 1 << 18 };

struct scene {
	struct zswap *z;
	pthread_barrier_t barrier;
	uint64_t deadline;
	uint64_t first; /* slot of the folio in this round */
	bool over;
};

#define TYPE 3

static struct zswap_folio folio_of(struct scene *scene, char *data)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = zswap_slot(TYPE, scene->first),
				     .nr_pages = NR_PAGES,
				     .data = data };

	return folio;
}

static void begin_round(struct scene *scene, struct rng *rng)
{
	uint64_t border = borders[rng_below(rng, 3)];

	CHECK(zswap_swapon(scene->z, TYPE, AREA_SLOTS) == 0);
	CHECK(stress_store(scene->z, zswap_slot(TYPE, border - 100), 2) == 0);
	scene->first = border - 1 - rng_below(rng, NR_PAGES - 1);
	scene->over = deadline_is_over(scene->deadline);
}

static void store_it(struct scene *scene, char *data)
{
	struct zswap_folio folio = folio_of(scene, data);
	uint64_t i;

	for (i = 0; i < NR_PAGES; i++)
		page_stamp(data + i * PAGE_BYTES, PAGE_BYTES, scene->first + i,
			   2);
	CHECK(zswap_store_folio(scene->z, &folio) == 0);
}

/* All or nothing, however often; once all, always all, since it is kept. */
static void load_it(struct scene *scene, unsigned index, char *data)
{
	struct zswap_folio folio = folio_of(scene, data);
	unsigned partial = index % 2 ? ZSWAP_LOAD_PARTIAL : 0;
	int result;

	do {
		result = zswap_load_folio(scene->z, &folio,
					  ZSWAP_LOAD_KEEP | partial);
		if (partial)
			CHECK(result == 0 || result == NR_PAGES);
		else
			CHECK(result == 0 || result == -ENOENT);
	} while (partial ? result != NR_PAGES : result != 0);
}

static void run(unsigned index, void *arg)
{
	struct scene *scene = arg;
	char *data = malloc(NR_PAGES * PAGE_BYTES);
	struct rng rng;

	CHECK(data);
	rng_init(&rng, index);
	for (;;) {
		if (index == 0)
			begin_round(scene, &rng);
		pthread_barrier_wait(&scene->barrier);
		if (scene->over)
			break;
		if (index == 0)
			store_it(scene, data);
		else
			load_it(scene, index, data);
		pthread_barrier_wait(&scene->barrier);
		if (index == 0)
			CHECK(zswap_swapoff(scene->z, TYPE) == 0);
	}
	free(data);
}

int main(void)
{
	struct scene scene = { .z = stress_begin("new_area") };

	scene.deadline = deadline_after_ms(1500);
	pthread_barrier_init(&scene.barrier, NULL, 3);
	run_threads(3, run, &scene);
	pthread_barrier_destroy(&scene.barrier);
	CHECK(zswap_swapoff(scene.z, TYPE) == 0);
	stress_end(scene.z);
	return 0;
}
