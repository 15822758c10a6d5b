// SPDX-License-Identifier: MIT
/*
 * test_matrix.c - every compressor with every page size and every raw policy
 *
 *	lz4  lz4hc  zstd (1, default, -5)  deflate  lzo  test
 *	   x  4096  16384  65536
 *	   x  keep  kernel  refuse
 *
 * and each other one with checksums. What a folio should take is known before:
 * the gauges of its pages stored one by one, added up.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "payload.h"

#define FIRST 495 /* folios from here on cross the border of 512 slots */
#define MAX_PAGES 33

/* ---- pages of all kinds that the policy takes -------------------------- */

static bool keeps_raw(const struct fixture *f)
{
	return f->params.raw_policy == ZSWAP_RAW_KEEP;
}

/* Page @i of a folio; where random ones are refused there is text instead. */
static enum page_kind kind_at(const struct fixture *f, uint32_t i)
{
	return kind_of(i) == PAGE_RANDOM && !keeps_raw(f) ? PAGE_TEXT :
							    kind_of(i);
}

static void make_at(struct fixture *f, void *page, uint32_t i)
{
	page_make(page, f->page_size, kind_at(f, i), i);
}

static void assert_page_at(struct fixture *f, const void *page, uint32_t i)
{
	make_at(f, f->page, i);
	assert_memory_equal(page, f->page, f->page_size);
}

/* ---- gauges ------------------------------------------------------------ */

/* What pages take: of each the four gauges that belong together. */
struct sum {
	uint64_t pages, filled, raw, bytes;
};

static void add_to(struct sum *sum, const struct sum *page)
{
	sum->pages += page->pages;
	sum->filled += page->filled;
	sum->raw += page->raw;
	sum->bytes += page->bytes;
}

static void assert_gauges(struct fixture *f, const struct sum *sum)
{
	struct zswap_stats stats = stats_of(f->z);

	assert_int_equal(stats.stored_pages, sum->pages);
	assert_int_equal(stats.same_filled_pages, sum->filled);
	assert_int_equal(stats.stored_incompressible_pages, sum->raw);
	assert_int_equal(stats.compressed_bytes, sum->bytes);
	assert_int_equal(stats.original_bytes,
			 (sum->pages - sum->filled) * f->page_size);
	assert_true(stats.pool_total_size >= sum->bytes);
	assert_true(sum->bytes || !stats.pool_total_size);
}

/* One page alone, in an empty cache, which is empty again afterwards. */
static struct sum measure(struct fixture *f, uint32_t i)
{
	struct sum page = { .pages = 1 };

	make_at(f, f->page, i);
	assert_int_equal(zswap_store(f->z, at(0), f->page), 0);
	page.filled = expected_state(kind_at(f, i)) == ZSWAP_FILLED;
	page.raw = expected_state(kind_at(f, i)) == ZSWAP_RAW;
	page.bytes = stats_of(f->z).compressed_bytes;
	assert_int_equal(page.bytes == 0, page.filled);
	assert_true(page.raw ? page.bytes == f->page_size :
			       page.bytes < f->page_size);
	assert_gauges(f, &page);
	assert_int_equal(zswap_load(f->z, at(0), f->out), 0);
	assert_page_at(f, f->out, i);
	assert_empty(f->z);
	return page;
}

/* ---- folios ------------------------------------------------------------ */

static void store_folio(struct fixture *f, char *data, uint32_t nr)
{
	struct zswap_folio folio = folio_of_data(at(FIRST), nr, data);
	int results[MAX_PAGES];
	uint32_t i;

	for (i = 0; i < nr; i++)
		make_at(f, data + i * f->page_size, i);
	folio.results = results;
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	for (i = 0; i < nr; i++) {
		assert_int_equal(results[i], 0);
		assert_int_equal(zswap_query(f->z, at(FIRST + i)),
				 expected_state(kind_at(f, i)));
	}
}

/* Loads pages @first .. @first + @nr - 1 of the folio at FIRST. */
static void load_range(struct fixture *f, char *data, uint32_t first,
		       uint32_t nr, unsigned flags)
{
	struct zswap_folio folio = folio_of_data(at(FIRST + first), nr, data);
	int results[MAX_PAGES];
	uint32_t i;

	memset(data, 0xee, nr * f->page_size);
	folio.results = results;
	assert_int_equal(zswap_load_folio(f->z, &folio, flags),
			 flags & ZSWAP_LOAD_PARTIAL ? (int)nr : 0);
	for (i = 0; i < nr; i++) {
		assert_int_equal(results[i], 0);
		assert_page_at(f, data + i * f->page_size, first + i);
	}
}

static void load_all_ways(struct fixture *f, char *data, uint32_t nr)
{
	uint32_t third = nr / 3;

	load_range(f, data, 0, nr, ZSWAP_LOAD_KEEP);
	load_range(f, data, 0, nr, ZSWAP_LOAD_KEEP | ZSWAP_LOAD_PARTIAL);
	load_range(f, data, third, nr - third, ZSWAP_LOAD_KEEP);
	load_range(f, data, nr - 1, 1, ZSWAP_LOAD_KEEP);
	/* Taken in three parts. */
	if (third) {
		load_range(f, data, third, third, 0);
		load_range(f, data, 0, third, ZSWAP_LOAD_PARTIAL);
	}
	load_range(f, data, 2 * third, nr - 2 * third, 0);
	assert_absent(f, at(FIRST), nr);
}

static void D34_D35_folios_of_1_to_33_pages_come_back(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(MAX_PAGES * f->page_size);
	uint32_t step = f->page_size == 65536 ? 8 : 1, nr;
	struct sum sum = { 0 }, page;

	/* All sizes near a batch or two of 8, and the largest. */
	assert_non_null(data);
	for (nr = 1; nr <= MAX_PAGES; nr++) {
		page = measure(f, nr - 1);
		add_to(&sum, &page);
		if (nr % step > 1 && nr % step < step - 1)
			continue;
		store_folio(f, data, nr);
		assert_gauges(f, &sum);
		load_all_ways(f, data, nr);
		assert_empty(f->z);
	}
	free(data);
}

/* Few pages many times, for 512 pages of 64 KiB take a while to make. */
static void D14_a_folio_of_512_pages_comes_back(void **state)
{
	const uint32_t nr = ZSWAP_MAX_FOLIO;
	struct fixture *f = *state;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio;
	struct sum sum = { 0 }, page;
	void *pages[ZSWAP_MAX_FOLIO];
	uint32_t i;

	assert_non_null(data);
	if (f->page_size == 65536 && !keeps_raw(f)) {
		free(data); /* 32 MiB each time, and no page is raw */
		return;
	}
	for (i = 0; i < nr; i++)
		pages[i] = data + i % 12 * f->page_size;
	/* 42 times 12 pages, and the first 8 once more. */
	for (i = 0; i < 12; i++) {
		make_at(f, pages[i], i);
		page = measure(f, i);
		page.pages = i < 8 ? 43 : 42;
		page.filled *= page.pages;
		page.raw *= page.pages;
		page.bytes *= page.pages;
		add_to(&sum, &page);
	}
	folio = folio_of_pages(at(FIRST), nr, pages);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	assert_gauges(f, &sum);
	folio = folio_of_data(at(FIRST), nr, data);
	memset(data, 0xee, nr * f->page_size);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), 0);
	for (i = 0; i < nr; i++)
		assert_page_at(f, data + i * f->page_size, i % 12);
	assert_empty(f->z);
	free(data);
}

static void a_partial_load_leaves_out_what_is_not_there(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(24 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(FIRST), 24, data);
	int results[24];
	uint32_t i;

	assert_non_null(data);
	store_folio(f, data, 24);
	for (i = 0; i < 24; i += 5)
		zswap_invalidate(f->z, at(FIRST + i), 1);
	folio.results = results;
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -EBUSY);
	assert_int_equal(stats_of(f->z).stored_pages, 19);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL),
			 19);
	for (i = 0; i < 24; i++) {
		assert_int_equal(results[i], i % 5 ? 0 : -ENOENT);
		if (i % 5)
			assert_page_at(f, data + i * f->page_size, i);
	}
	assert_empty(f->z);
	free(data);
}

/* ---- one slot ---------------------------------------------------------- */

static void D06_gauges_follow_every_replacement(void **state)
{
	struct fixture *f = *state;
	struct sum pages[PAGE_KINDS];
	uint32_t from, to;

	for (from = 0; from < PAGE_KINDS; from++)
		pages[from] = measure(f, from);
	for (from = 0; from < PAGE_KINDS; from++)
		for (to = 0; to < PAGE_KINDS; to++) {
			make_at(f, f->page, from);
			assert_int_equal(zswap_store(f->z, at(0), f->page), 0);
			make_at(f, f->page, to);
			assert_int_equal(zswap_store(f->z, at(0), f->page), 0);
			assert_gauges(f, &pages[to]);
			assert_int_equal(zswap_peek(f->z, at(0), f->out), 0);
			assert_page_at(f, f->out, to);
		}
}

/* ---- the policy -------------------------------------------------------- */

static void D26_random_pages_are_kept_or_refused(void **state)
{
	struct fixture *f = *state;
	struct sum raw = { 1, 0, 1, f->page_size }, none = { 0 };

	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	assert_int_equal(zswap_store(f->z, at(3), f->page), 0);
	page_make(f->page, f->page_size, PAGE_RANDOM, 2);
	if (keeps_raw(f)) {
		assert_int_equal(zswap_store(f->z, at(3), f->page), 0);
		assert_holds(f, at(3), PAGE_RANDOM, 2);
		assert_gauges(f, &raw);
		assert_int_equal(stats_of(f->z).pool_total_size, f->page_size);
	} else {
		assert_int_equal(zswap_store(f->z, at(3), f->page), -E2BIG);
		assert_absent(f, at(3), 1);
		assert_gauges(f, &none);
		assert_int_equal(stats_of(f->z).reject_compress_poor, 1);
	}
	assert_int_equal(stats_of(f->z).compress_engine_fail, 0);
}

static void D49_a_random_page_anywhere_decides_over_its_folio(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(20 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(FIRST), 20, data);
	int results[20], expected = keeps_raw(f) ? 0 : -E2BIG;
	uint32_t culprit, i;

	assert_non_null(data);
	folio.results = results;
	for (culprit = 0; culprit < 20; culprit += 3) {
		for (i = 0; i < 20; i++)
			page_make(data + i * f->page_size, f->page_size,
				  i == culprit ? PAGE_RANDOM :
				  i % 4        ? PAGE_TEXT :
						 PAGE_WORD,
				  i);
		assert_int_equal(zswap_store_folio(f->z, &folio), expected);
		for (i = 0; i < 20; i++)
			assert_int_equal(results[i], i == culprit ? expected :
						     expected     ? -ECANCELED :
								    0);
		assert_int_equal(stats_of(f->z).stored_pages,
				 expected ? 0 : 20);
		if (!expected)
			assert_holds(f, at(FIRST + culprit), PAGE_RANDOM,
				     culprit);
	}
	free(data);
}

/* ---- damage ------------------------------------------------------------ */

/* After damage a page is an error; or, without a checksum, any page. */
static void assert_damage_is_contained(struct fixture *f, unsigned char *bytes,
				       size_t len, bool always_found)
{
	struct rng *rng = &f->rng;
	int err, i;

	for (i = 0; i < 60; i++) {
		unsigned char *byte = bytes + rng_below(rng, (uint32_t)len);
		unsigned char change = (unsigned char)(1 + rng_below(rng, 255));

		*byte ^= change;
		err = zswap_peek(f->z, at(3), f->out);
		assert_true(err == -EIO || (!err && !always_found));
		*byte ^= change;
	}
	assert_holds(f, at(1), PAGE_TEXT, 1);
	assert_holds(f, at(2), PAGE_WORD, 2);
}

static void D41_damage_of_a_compressed_page_is_contained(void **state)
{
	struct fixture *f = *state;
	unsigned char *copies[PAYLOAD_MAX_COPIES];
	size_t len;
	int i;

	store_page(f, at(3), PAGE_TEXT, 3);
	len = (size_t)stats_of(f->z).compressed_bytes;
	store_page(f, at(4), PAGE_TEXT, 3);
	assert_int_equal(payload_find_copies(&f->hooks, len, copies), 2);
	store_page(f, at(1), PAGE_TEXT, 1);
	store_page(f, at(2), PAGE_WORD, 2);
	/* One of the two is that of slot 3, whichever. */
	for (i = 0; i < 2; i++)
		assert_damage_is_contained(f, copies[i], len, false);
	if (f->params.checksum)
		assert_true(stats_of(f->z).decompress_fail >= 60);
	assert_holds(f, at(3), PAGE_TEXT, 3);
	assert_holds(f, at(4), PAGE_TEXT, 3);
}

static void D41_damage_of_a_raw_page_is_contained(void **state)
{
	struct fixture *f = *state;
	unsigned char *bytes;

	if (!keeps_raw(f))
		return;
	store_page(f, at(1), PAGE_TEXT, 1);
	store_page(f, at(2), PAGE_WORD, 2);
	store_page(f, at(3), PAGE_RANDOM, 3);
	bytes = faulty_find(&f->hooks, f->page, f->page_size);
	assert_non_null(bytes);
	assert_damage_is_contained(f, bytes, f->page_size,
				   f->params.checksum != 0);
	assert_holds(f, at(3), PAGE_RANDOM, 3);
}

/* ---- the matrix -------------------------------------------------------- */

static const struct CMUnitTest cases[] = {
	CASE(D34_D35_folios_of_1_to_33_pages_come_back),
	CASE(D14_a_folio_of_512_pages_comes_back),
	CASE(a_partial_load_leaves_out_what_is_not_there),
	CASE(D06_gauges_follow_every_replacement),
	CASE(D26_random_pages_are_kept_or_refused),
	CASE(D49_a_random_page_anywhere_decides_over_its_folio),
	CASE(D41_damage_of_a_compressed_page_is_contained),
	CASE(D41_damage_of_a_raw_page_is_contained),
};

/*
 * @spec: NULL for the test compressor
 * @turn: by which what is no side of the matrix goes on and off
 */
static int run_cell(const char *spec, size_t page_size, uint32_t policy,
		    uint32_t turn)
{
	static const char *const policies[] = { "keep", "kernel", "refuse" };
	struct variant variant = { .page_size = page_size,
				   .batch = spec ? 0 : 8,
				   .compressor = spec,
				   .checksum = turn % 2 ? with_checksum : 0,
				   .raw_policy = policy,
				   .malloc = turn / 2 % 2 };
	char name[64];

	snprintf(name, sizeof(name), "%s, %zu, %s%s%s", spec ? spec : "test",
		 page_size, policies[policy],
		 variant.checksum ? ", checksums" : "",
		 variant.malloc ? ", malloc" : "");
	variant.name = name;
	return run_variant("matrix", &variant, cases,
			   sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const char *const *spec = builtin_specs();
	uint32_t policy, turn = 0;
	int failed = 0, i;

	do
		for (i = 0; i < 3; i++)
			for (policy = 0; policy < 3; policy++, turn++)
				failed += run_cell(*spec, all_page_sizes[i],
						   policy, turn);
	while (*spec++);
	return failed;
}
