// SPDX-License-Identifier: MIT
/*
 * stress_limits.c - D66, D67: limits, thresholds and compressors change at
 * random while pages come and go
 *
 * A poller looks at all gauges. At rest what the slots hold is what the gauges
 * say, and after all is forgotten they are 0.
 */
#include "stress.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define NR_WORKERS 8
#define NR_SLOTS 2048
#define MAX_PAGES 16

/* The largest limit that is set, in pages, but for none. */
#define MAX_LIMIT 600

struct scene {
	struct zswap *z;
	uint64_t deadline;
	atomic_ulong stored, refused;
};

/* ---- workers ----------------------------------------------------------- */

static struct zswap_folio draw_folio(struct rng *rng, char *data)
{
	struct zswap_folio folio = { .size = sizeof(folio), .data = data };

	folio.nr_pages = 1 + rng_below(rng, MAX_PAGES);
	folio.slot = at(rng_below(rng, NR_SLOTS - folio.nr_pages));
	return folio;
}

static void store_some(struct scene *scene, struct rng *rng, char *data)
{
	struct zswap_folio folio = draw_folio(rng, data);
	uint64_t first = zswap_slot_offset(folio.slot);
	uint32_t i;
	int err;

	for (i = 0; i < folio.nr_pages; i++)
		page_stamp(data + i * PAGE_BYTES, PAGE_BYTES, first + i,
			   rng_below(rng, 1000));
	err = zswap_store_folio(scene->z, &folio);
	CHECK(err == 0 || err == -ENOSPC);
	atomic_fetch_add(err ? &scene->refused : &scene->stored, 1);
}

static void load_some(struct scene *scene, struct rng *rng, char *data)
{
	struct zswap_folio folio = draw_folio(rng, data);
	uint64_t first = zswap_slot_offset(folio.slot), version;
	unsigned keep = rng_below(rng, 2) ? ZSWAP_LOAD_KEEP : 0;
	int results[MAX_PAGES];
	uint32_t i;

	folio.results = results;
	CHECK(zswap_load_folio(scene->z, &folio, keep | ZSWAP_LOAD_PARTIAL) >=
	      0);
	for (i = 0; i < folio.nr_pages; i++)
		CHECK(results[i] == -ENOENT ||
		      (results[i] == 0 &&
		       page_verify(data + i * PAGE_BYTES, PAGE_BYTES, first + i,
				   &version)));
}

static void work(struct scene *scene, struct rng *rng)
{
	char *data = malloc(MAX_PAGES * PAGE_BYTES);

	CHECK(data);
	while (!deadline_is_over(scene->deadline))
		switch (rng_below(rng, 4)) {
		case 0:
		case 1:
			store_some(scene, rng, data);
			break;
		case 2:
			load_some(scene, rng, data);
			break;
		default:
			zswap_invalidate(scene->z, at(rng_below(rng, NR_SLOTS)),
					 rng_below(rng, 64));
			break;
		}
	free(data);
}

/* ---- setters and poller ------------------------------------------------ */

static void change(struct scene *scene, struct rng *rng)
{
	static const char *const specs[] = { "lz4", "zstd:level=1",
					     "deflate:level=1" };

	while (!deadline_is_over(scene->deadline)) {
		CHECK(zswap_set_max_pool_bytes(scene->z,
					       rng_below(rng, MAX_LIMIT) *
						       PAGE_BYTES) == 0);
		CHECK(zswap_set_accept_threshold_percent(
			      scene->z, rng_below(rng, 101)) == 0);
		usleep(1000);
		if (rng_below(rng, 4) == 0)
			CHECK(zswap_set_max_pool_percent(
				      scene->z, 1 + rng_below(rng, 100)) == 0);
		if (rng_below(rng, 8) == 0)
			CHECK(zswap_set_max_pool_bytes(scene->z,
						       ZSWAP_UNLIMITED) == 0);
		if (rng_below(rng, 2) == 0)
			CHECK(zswap_set_compressor(
				      scene->z, specs[rng_below(rng, 3)]) == 0);
		usleep(rng_below(rng, 2000));
	}
}

static void check_gauges(const struct zswap_stats *now)
{
	CHECK(now->stored_pages <= NR_SLOTS);
	CHECK(now->same_filled_pages + now->stored_incompressible_pages <=
	      now->stored_pages);
	CHECK(now->original_bytes ==
	      (now->stored_pages - now->same_filled_pages) * PAGE_BYTES);
	CHECK(now->compressed_bytes <= now->original_bytes);
	CHECK(now->pool_total_size < UINT64_C(1) << 30);
	CHECK(now->reserve_bytes <= now->pool_total_size);
	CHECK(now->metadata_bytes > 0);
	CHECK(now->metadata_bytes < UINT64_C(1) << 30);
	CHECK(now->accept_threshold_bytes <= now->max_pool_bytes);
	CHECK(now->pools >= 1 && now->pools <= 8);
}

static void run(unsigned index, void *arg)
{
	struct scene *scene = arg;
	struct rng rng;

	rng_init(&rng, index);
	if (index < NR_WORKERS)
		work(scene, &rng);
	else if (index == NR_WORKERS)
		change(scene, &rng);
	else
		stress_poll(scene->z, scene->deadline, check_gauges);
}

/* ---- at rest ----------------------------------------------------------- */

static void check_against_slots(struct scene *scene)
{
	struct zswap_stats stats = stress_stats(scene->z);
	uint64_t nr[4] = { 0 }, i;
	int state;

	for (i = 0; i < NR_SLOTS; i++) {
		state = zswap_query(scene->z, at(i));
		CHECK(state >= ZSWAP_ABSENT && state <= ZSWAP_RAW);
		nr[state]++;
	}
	CHECK(stats.stored_pages == NR_SLOTS - nr[ZSWAP_ABSENT]);
	CHECK(stats.same_filled_pages == nr[ZSWAP_FILLED]);
	CHECK(stats.stored_incompressible_pages == nr[ZSWAP_RAW]);
	CHECK(stats.stored_folios == atomic_load(&scene->stored));
	CHECK(stats.reject_limit == atomic_load(&scene->refused));
	stress_check_sums(scene->z);
}

int main(void)
{
	static struct faulty hooks;
	struct zswap_params params = { .size = sizeof(params),
				       .hooks = &hooks.hooks };
	struct scene scene = { 0 };

	faulty_init(&hooks);
	scene.z = stress_begin_with("limits", &params);
	scene.deadline = deadline_after_ms(1500);
	run_threads(NR_WORKERS + 2, run, &scene);
	CHECK(atomic_load(&scene.stored) && atomic_load(&scene.refused));
	check_against_slots(&scene);
	stress_end(scene.z);
	CHECK(faulty_end(&hooks));
	return 0;
}
