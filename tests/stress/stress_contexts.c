// SPDX-License-Identifier: MIT
/*
 * stress_contexts.c - D43: more threads than contexts, each with pages of its
 * own
 *
 * Nobody races for a page, so every answer is known. What is shared is codec
 * state, allocator and tables.
 */
#include "stress.h"

#include <stdlib.h>

#include "codec.h"

#define NR_THREADS 32
#define NR_PAGES 24

struct work {
	struct zswap *z;
	uint64_t deadline;
};

/* Thread @index has the slots from here on; some lie across a border. */
static uint64_t first_slot(unsigned index)
{
	return BORDER - 10 + index * 100;
}

static void store_all(struct zswap *z, uint64_t first, uint64_t version,
		      char *data)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = at(first),
				     .nr_pages = NR_PAGES,
				     .data = data };
	uint64_t i;

	for (i = 0; i < NR_PAGES; i++)
		page_stamp(data + i * PAGE_BYTES, PAGE_BYTES, first + i,
			   version + i);
	CHECK(zswap_store_folio(z, &folio) == 0);
}

static void load_all_at_once(struct zswap *z, uint64_t first, uint64_t version,
			     char *data)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = at(first),
				     .nr_pages = NR_PAGES,
				     .data = data };
	uint64_t i, seen;

	CHECK(zswap_load_folio(z, &folio, 0) == 0);
	for (i = 0; i < NR_PAGES; i++)
		CHECK(page_verify(data + i * PAGE_BYTES, PAGE_BYTES, first + i,
				  &seen) &&
		      seen == version + i);
}

static void load_one_by_one(struct zswap *z, uint64_t first, uint64_t version)
{
	uint64_t i, seen;

	for (i = 0; i < NR_PAGES; i++) {
		CHECK(stress_load(z, at(first + i), true, &seen) == 0 &&
		      seen == version + i);
		CHECK(stress_load(z, at(first + i), false, &seen) == 0 &&
		      seen == version + i);
		CHECK(stress_load(z, at(first + i), false, &seen) == -ENOENT);
	}
}

static void run(unsigned index, void *arg)
{
	struct work *work = arg;
	uint64_t first = first_slot(index), round;
	char *data = malloc(NR_PAGES * PAGE_BYTES);

	CHECK(data);
	for (round = 1; !deadline_is_over(work->deadline); round++) {
		store_all(work->z, first, round * NR_PAGES, data);
		if (round % 2)
			load_all_at_once(work->z, first, round * NR_PAGES,
					 data);
		else
			load_one_by_one(work->z, first, round * NR_PAGES);
	}
	free(data);
}

/* Once with each built-in compressor, once with one that has no contexts. */
static void run_with(const char *compressor)
{
	const struct zswap_compressor *list = &codec_plain;
	struct zswap_params params = { .size = sizeof(params),
				       .compressor = compressor,
				       .compressors = &list,
				       .nr_compressors = 1 };
	struct work work = { .z = stress_begin_with("contexts", &params) };

	work.deadline = deadline_after_ms(250);
	run_threads(NR_THREADS, run, &work);
	stress_end(work.z);
}

int main(void)
{
	const char *const *spec;

	for (spec = stress_specs(); *spec; spec++)
		run_with(*spec);
	run_with("plain");
	return 0;
}
