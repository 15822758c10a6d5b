// SPDX-License-Identifier: MIT
/*
 * stress_calls.c - D84: every call at any time, areas and compressors too
 *
 * Eight threads make calls at random, with the watchdog for a hang and, under
 * ThreadSanitizer, its look at the order of locks. Pages are stamped with their
 * offset, so that a wrong one is recognised in whatever area it is.
 */
#include "stress.h"

#include <stdatomic.h>
#include <stdlib.h>

#define NR_THREADS 8
#define NR_TYPES 3
#define NR_SLOTS 600
#define MAX_PAGES 12

struct scene {
	struct zswap *z;
	uint64_t deadline;
};

/* What a thread works with. */
struct worker {
	struct scene *scene;
	struct rng rng;
	char *data;
};

static uint32_t below(struct worker *w, uint32_t n)
{
	return rng_below(&w->rng, n);
}

static zswap_slot_t any_slot(struct worker *w)
{
	return zswap_slot(below(w, NR_TYPES), below(w, NR_SLOTS));
}

static void store(struct worker *w)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = any_slot(w),
				     .nr_pages = 1 + below(w, MAX_PAGES),
				     .data = w->data };
	uint64_t first = zswap_slot_offset(folio.slot), i;
	int err;

	for (i = 0; i < folio.nr_pages; i++)
		page_stamp(w->data + i * PAGE_BYTES, PAGE_BYTES, first + i,
			   below(w, 1000));
	err = zswap_store_folio(w->scene->z, &folio);
	CHECK(err == 0 || err == -ENXIO || err == -ENOSPC || err == -EPERM);
}

static void load(struct worker *w)
{
	int results[MAX_PAGES];
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = any_slot(w),
				     .nr_pages = 1 + below(w, MAX_PAGES),
				     .data = w->data,
				     .results = results };
	uint64_t first = zswap_slot_offset(folio.slot), version, i;
	int result = zswap_load_folio(w->scene->z, &folio, below(w, 4));

	CHECK(result >= 0 || result == -ENXIO || result == -ENOENT ||
	      result == -EBUSY);
	for (i = 0; result >= 0 && i < folio.nr_pages; i++)
		CHECK(results[i] == -ENOENT ||
		      page_verify(w->data + i * PAGE_BYTES, PAGE_BYTES,
				  first + i, &version));
}

static void look(struct worker *w)
{
	zswap_slot_t slot = any_slot(w);
	char buf[ZSWAP_MAX_SPEC + 1];
	int state = zswap_query(w->scene->z, slot);

	CHECK(state == -ENXIO || (state >= 0 && state <= ZSWAP_RAW));
	zswap_is_present(w->scene->z, slot, below(w, 100));
	zswap_next_present(w->scene->z, &slot);
	stress_stats(w->scene->z);
	CHECK(zswap_get_compressor(w->scene->z, buf, sizeof(buf)) > 0);
	CHECK(zswap_format_stats(w->scene->z, ZSWAP_STATS_TEXT, NULL, 0) > 0);
}

static void change_areas(struct worker *w)
{
	unsigned type = below(w, NR_TYPES);
	int err = zswap_swapoff(w->scene->z, type);

	CHECK(err == 0 || err == -ENXIO);
	err = zswap_swapon(w->scene->z, type, NR_SLOTS + MAX_PAGES);
	CHECK(err == 0 || err == -EEXIST);
}

static void change_compressor(struct worker *w)
{
	const char *const *specs = stress_specs();
	uint32_t nr = 0;

	while (specs[nr])
		nr++;
	CHECK(zswap_set_compressor(w->scene->z, specs[below(w, nr)]) == 0);
}

static void change_limits(struct worker *w)
{
	struct zswap *z = w->scene->z;

	CHECK(zswap_set_max_pool_bytes(z, below(w, 300) * PAGE_BYTES) == 0);
	CHECK(zswap_set_accept_threshold_percent(z, below(w, 101)) == 0);
	CHECK(zswap_set_max_pool_percent(z, 1 + below(w, 100)) == 0);
	CHECK(zswap_set_enabled(z, below(w, 8) != 0) == 0);
}

static void run(unsigned index, void *arg)
{
	struct worker w = { .scene = arg,
			    .data = malloc(MAX_PAGES * PAGE_BYTES) };

	CHECK(w.data);
	rng_init(&w.rng, index);
	while (!deadline_is_over(w.scene->deadline))
		switch (below(&w, 64)) {
		case 0:
			change_areas(&w);
			break;
		case 1:
			change_compressor(&w);
			break;
		case 2:
			change_limits(&w);
			break;
		case 3:
		case 4:
			zswap_invalidate(w.scene->z, any_slot(&w),
					 below(&w, 200));
			break;
		case 5:
		case 6:
			look(&w);
			break;
		default:
			if (below(&w, 2))
				store(&w);
			else
				load(&w);
			break;
		}
	free(w.data);
}

int main(void)
{
	static struct faulty hooks;
	struct zswap_params params = { .size = sizeof(params),
				       .hooks = &hooks.hooks };
	struct scene scene;
	unsigned type;

	faulty_init(&hooks);
	scene.z = stress_begin_with("calls", &params);
	scene.deadline = deadline_after_ms(1500);
	run_threads(NR_THREADS, run, &scene);
	for (type = 1; type < NR_TYPES; type++)
		zswap_swapoff(scene.z, type);
	stress_end(scene.z);
	CHECK(faulty_end(&hooks));
	return 0;
}
