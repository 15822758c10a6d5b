// SPDX-License-Identifier: MIT
/*
 * stress_stats.c - D66, D75, D77: what a poller may see, and what is exact
 *
 * Workers use and misuse the cache while memory fails now and then. A poller
 * looks for gauges out of their range and for counters that fall. At rest all
 * that was asked for is accounted for.
 */
#include "stress.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define NR_SLOTS 1024
#define NR_WORKERS 6
#define MAX_PAGES 16

struct books {
	struct zswap *z;
	struct faulty hooks;
	uint64_t deadline;
	atomic_ulong asked, stored, refused;
};

/* ---- workers ----------------------------------------------------------- */

static struct zswap_folio draw_folio(struct rng *rng, char *data)
{
	struct zswap_folio folio = { .size = sizeof(folio), .data = data };

	folio.nr_pages = 1 + rng_below(rng, MAX_PAGES);
	folio.slot = at(rng_below(rng, NR_SLOTS - folio.nr_pages));
	return folio;
}

static void store_some(struct books *books, struct rng *rng, char *data)
{
	struct zswap_folio folio = draw_folio(rng, data);
	uint64_t first = zswap_slot_offset(folio.slot);
	uint32_t i;
	int err;

	for (i = 0; i < folio.nr_pages; i++)
		page_stamp(data + i * PAGE_BYTES, PAGE_BYTES, first + i,
			   rng_below(rng, 1000));
	err = zswap_store_folio(books->z, &folio);
	CHECK(err == 0 || err == -ENOMEM);
	if (err)
		atomic_fetch_add(&books->refused, 1);
	else
		atomic_fetch_add(&books->stored, folio.nr_pages);
}

/* With PARTIAL each page asked for is delivered, missed or broken. */
static void load_some(struct books *books, struct rng *rng, char *data)
{
	struct zswap_folio folio = draw_folio(rng, data);
	unsigned keep = rng_below(rng, 2) ? ZSWAP_LOAD_KEEP : 0;

	CHECK(zswap_load_folio(books->z, &folio, keep | ZSWAP_LOAD_PARTIAL) >=
	      0);
	atomic_fetch_add(&books->asked, folio.nr_pages);
}

static void load_one(struct books *books, struct rng *rng)
{
	uint64_t version;
	int err = stress_load(books->z, at(rng_below(rng, NR_SLOTS)),
			      rng_below(rng, 2), &version);

	CHECK(err == 0 || err == -ENOENT);
	atomic_fetch_add(&books->asked, 1);
}

static void work(struct books *books, struct rng *rng)
{
	char *data = malloc(MAX_PAGES * PAGE_BYTES);

	CHECK(data);
	while (!deadline_is_over(books->deadline)) {
		switch (rng_below(rng, 8)) {
		case 0:
		case 1:
		case 2:
			store_some(books, rng, data);
			break;
		case 3:
			load_some(books, rng, data);
			break;
		case 4:
			zswap_invalidate(books->z, at(rng_below(rng, NR_SLOTS)),
					 rng_below(rng, 64));
			break;
		default:
			load_one(books, rng);
			break;
		}
	}
	free(data);
}

/* ---- poller and saboteur ----------------------------------------------- */

static void check_gauges(const struct zswap_stats *now)
{
	CHECK(now->stored_pages <= NR_SLOTS);
	CHECK(now->same_filled_pages + now->stored_incompressible_pages <=
	      now->stored_pages);
	CHECK(now->compressed_bytes <= NR_SLOTS * (uint64_t)PAGE_BYTES);
	CHECK(now->pool_total_size < UINT64_C(1) << 30);
	CHECK(now->reserve_bytes <= now->pool_total_size);
	CHECK(now->metadata_bytes > 0);
	CHECK(now->metadata_bytes < UINT64_C(1) << 30);
}

static void check_counters(const struct zswap_stats *before,
			   const struct zswap_stats *now)
{
	CHECK(now->zswpout >= before->zswpout);
	CHECK(now->zswpin >= before->zswpin);
	CHECK(now->load_misses >= before->load_misses);
	CHECK(now->same_filled_stored >= before->same_filled_stored);
	CHECK(now->incompressible_stored >= before->incompressible_stored);
	CHECK(now->reject_alloc_fail >= before->reject_alloc_fail);
	CHECK(now->reject_kmemcache_fail >= before->reject_kmemcache_fail);
}

static void poll_stats(struct books *books)
{
	struct zswap_stats before = stress_stats(books->z), now;

	while (!deadline_is_over(books->deadline)) {
		now = stress_stats(books->z);
		check_gauges(&now);
		check_counters(&before, &now);
		before = now;
	}
}

static void make_memory_fail(struct books *books, struct rng *rng)
{
	while (!deadline_is_over(books->deadline)) {
		faulty_fail_nth(&books->hooks, FAULTY_ANY,
				1 + rng_below(rng, 10));
		usleep(300);
	}
	faulty_fail_none(&books->hooks);
}

static void run(unsigned index, void *arg)
{
	struct books *books = arg;
	struct rng rng;

	rng_init(&rng, index);
	if (index < NR_WORKERS)
		work(books, &rng);
	else if (index == NR_WORKERS)
		poll_stats(books);
	else
		make_memory_fail(books, &rng);
}

static void check_sums(struct books *books)
{
	struct zswap_stats stats = stress_stats(books->z);

	CHECK(stats.zswpout == atomic_load(&books->stored));
	CHECK(stats.zswpin + stats.load_misses + stats.decompress_fail ==
	      atomic_load(&books->asked));
	CHECK(stats.reject_alloc_fail + stats.reject_kmemcache_fail ==
	      atomic_load(&books->refused));
	CHECK(stats.decompress_fail == 0 && stats.compress_engine_fail == 0);
}

int main(void)
{
	static struct books books;
	struct zswap_params params = { .size = sizeof(params),
				       .hooks = &books.hooks.hooks };

	faulty_init(&books.hooks);
	books.z = stress_begin_with("stats", &params);
	books.deadline = deadline_after_ms(1500);
	run_threads(NR_WORKERS + 2, run, &books);
	check_sums(&books);
	stress_end(books.z);
	CHECK(faulty_end(&books.hooks));
	return 0;
}
