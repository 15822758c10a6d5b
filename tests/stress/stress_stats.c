// SPDX-License-Identifier: MIT
/*
 * stress_stats.c - D66, D75, D77: what a poller may see, and what is exact
 *
 * Workers use and misuse the cache while memory and the compressor fail now and
 * then, and the cache is full or disabled for a while. A poller looks for
 * gauges out of their range and for counters that fall. At rest all that was
 * asked for is accounted for.
 */
#include "stress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"

#define NR_SLOTS 1024
#define NR_WORKERS 6
#define MAX_PAGES 16

struct books {
	struct zswap *z;
	struct faulty hooks;
	struct codec codec;
	uint64_t deadline;
	atomic_ulong calls; /* stores and loads */
	/* Pages asked for, pages stored; folios of which no page was. */
	atomic_ulong asked, stored;
	atomic_ulong no_memory, no_room, poor, broken, disabled;
};

/* ---- workers ----------------------------------------------------------- */

static struct zswap_folio draw_folio(struct rng *rng, char *data)
{
	struct zswap_folio folio = { .size = sizeof(folio), .data = data };

	folio.nr_pages = 1 + rng_below(rng, MAX_PAGES);
	folio.slot = at(rng_below(rng, NR_SLOTS - folio.nr_pages));
	return folio;
}

/* Where a folio that was refused for a reason is counted. */
static atomic_ulong *count_of(struct books *books, int err)
{
	switch (err) {
	case -ENOMEM:
		return &books->no_memory;
	case -ENOSPC:
		return &books->no_room;
	case -E2BIG:
		return &books->poor;
	case -EIO:
		return &books->broken;
	default:
		CHECK(err == -EPERM);
		return &books->disabled;
	}
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
	if (err)
		atomic_fetch_add(count_of(books, err), 1);
	else
		atomic_fetch_add(&books->stored, folio.nr_pages);
	atomic_fetch_add(&books->calls, 1);
}

/* Whatever comes of it, each page counts as asked for. */
static void load_some(struct books *books, struct rng *rng, char *data)
{
	struct zswap_folio folio = draw_folio(rng, data);
	int result = zswap_load_folio(books->z, &folio, rng_below(rng, 4));

	CHECK(result >= 0 || result == -ENOENT || result == -EBUSY ||
	      result == -EIO);
	atomic_fetch_add(&books->asked, folio.nr_pages);
	atomic_fetch_add(&books->calls, 1);
}

static void load_one(struct books *books, struct rng *rng)
{
	uint64_t version;
	int err = stress_load(books->z, at(rng_below(rng, NR_SLOTS)),
			      rng_below(rng, 2), &version);

	CHECK(err == 0 || err == -ENOENT || err == -EIO);
	atomic_fetch_add(&books->asked, 1);
	atomic_fetch_add(&books->calls, 1);
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

static void make_things_fail(struct books *books, struct rng *rng)
{
	while (!deadline_is_over(books->deadline)) {
		faulty_fail_nth(&books->hooks, FAULTY_ANY,
				1 + rng_below(rng, 10));
		codec_fail(&books->codec.compress, CODEC_ERROR,
			   (int32_t)rng_below(rng, 3));
		codec_fail(&books->codec.decompress, CODEC_ERROR,
			   (int32_t)rng_below(rng, 3));
		usleep(300);
		zswap_set_max_pool_bytes(books->z, rng_below(rng, 8) ?
							   ZSWAP_UNLIMITED :
							   50 * PAGE_BYTES);
		zswap_set_enabled(books->z, rng_below(rng, 16) != 0);
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
		stress_poll(books->z, books->deadline, check_gauges);
	else
		make_things_fail(books, &rng);
}

static void check_books(struct books *books)
{
	struct zswap_stats stats = stress_stats(books->z);

	CHECK(stats.zswpout == atomic_load(&books->stored));
	CHECK(stats.loads == atomic_load(&books->asked));
	CHECK(stats.reject_alloc_fail + stats.reject_kmemcache_fail ==
	      atomic_load(&books->no_memory));
	CHECK(stats.reject_limit == atomic_load(&books->no_room));
	CHECK(stats.reject_compress_poor == atomic_load(&books->poor));
	CHECK(stats.reject_compress_fail == atomic_load(&books->broken));
	CHECK(stats.reject_disabled == atomic_load(&books->disabled));
	CHECK(stats.reject_no_context == 0);
	stress_check_sums(books->z);
}

static void run_with(uint32_t policy)
{
	static struct books books;
	struct zswap_params params = { .size = sizeof(params),
				       .hooks = &books.hooks.hooks,
				       .nr_compressors = 1,
				       .raw_policy = policy };

	memset(&books, 0, sizeof(books));
	faulty_init(&books.hooks);
	codec_init(&books.codec, 4);
	params.compressor = books.codec.spec;
	params.compressors = &books.codec.vtable_list;
	books.z = stress_begin_with("stats", &params);
	books.deadline = deadline_after_ms(1000);
	run_threads(NR_WORKERS + 2, run, &books);
	printf("%lu calls\n", atomic_load(&books.calls));
	check_books(&books);
	stress_end(books.z);
	CHECK(codec_end(&books.codec));
	CHECK(faulty_end(&books.hooks));
}

int main(void)
{
	run_with(ZSWAP_RAW_KEEP);
	run_with(ZSWAP_RAW_REFUSE);
	return 0;
}
