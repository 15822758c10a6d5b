// SPDX-License-Identifier: MIT
/*
 * test_counters.c - each counter counts what its line says, and they add up
 *
 * The case's end looks at the sums as well; see assert_sums(). What counts
 * folios that met the limit is in test_limit.c, what counts pages that do not
 * compress in test_raw_policy.c.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- folios by their size ---------------------------------------------- */

/* The counter of a group: 0 is that of 1 page, 9 that of 257 to 512. */
static uint64_t by_size(const uint64_t *first, int group)
{
	return first[group]; /* they follow each other */
}

static int group_of(uint32_t nr_pages)
{
	int group = 0;

	while ((1u << group) < nr_pages)
		group++;
	return group;
}

/* A folio of these pages counts in its own group and in no other. */
static void assert_counts_in_group(struct fixture *f, uint32_t nr, bool stored)
{
	struct zswap_stats before = stats_of(f->z), after;
	void *pages[ZSWAP_MAX_FOLIO];
	struct zswap_folio folio = folio_of_pages(at(300), nr, pages);
	uint32_t i;
	int group;

	for (i = 0; i < nr; i++)
		pages[i] = f->page;
	assert_int_equal(zswap_store_folio(f->z, &folio), stored ? 0 : -EPERM);
	after = stats_of(f->z);
	assert_int_equal(after.stores, before.stores + 1);
	assert_int_equal(after.stored_folios, before.stored_folios + stored);
	assert_int_equal(after.refused_folios, before.refused_folios + !stored);
	assert_int_equal(after.zswpout, before.zswpout + (stored ? nr : 0));
	for (group = 0; group < 10; group++) {
		bool own = group == group_of(nr);

		assert_int_equal(
			by_size(&after.stored_folios_1, group) -
				by_size(&before.stored_folios_1, group),
			own && stored);
		assert_int_equal(
			by_size(&after.refused_folios_1, group) -
				by_size(&before.refused_folios_1, group),
			own && !stored);
	}
}

static void folios_of_every_size_count_in_their_group(void **state)
{
	static const uint32_t larger[] = { 64,  65,  127, 128, 129, 200,
					   255, 256, 257, 300, 511, 512 };
	struct fixture *f = *state;
	uint32_t nr;
	int stored, i;

	page_make(f->page, f->page_size, PAGE_WORD, 1);
	for (stored = 1; stored >= 0; stored--) {
		assert_int_equal(zswap_set_enabled(f->z, stored), 0);
		for (nr = 1; nr <= 33; nr++)
			assert_counts_in_group(f, nr, stored);
		for (i = 0; i < 12; i++)
			assert_counts_in_group(f, larger[i], stored);
	}
}

static void the_counters_by_size_are_in_order(void **state)
{
	(void)state;
#define NEXT_IS(a, b)                                             \
	assert_int_equal(offsetof(struct zswap_stats, b) -        \
				 offsetof(struct zswap_stats, a), \
			 sizeof(uint64_t))
	NEXT_IS(stored_folios_1, stored_folios_2);
	NEXT_IS(stored_folios_2, stored_folios_4);
	NEXT_IS(stored_folios_4, stored_folios_8);
	NEXT_IS(stored_folios_8, stored_folios_16);
	NEXT_IS(stored_folios_16, stored_folios_32);
	NEXT_IS(stored_folios_32, stored_folios_64);
	NEXT_IS(stored_folios_64, stored_folios_128);
	NEXT_IS(stored_folios_128, stored_folios_256);
	NEXT_IS(stored_folios_256, stored_folios_512);
	NEXT_IS(stored_folios_512, refused_folios_1);
	NEXT_IS(refused_folios_1, refused_folios_2);
	NEXT_IS(refused_folios_256, refused_folios_512);
#undef NEXT_IS
}

/* ---- stores ------------------------------------------------------------ */

static void a_page_stored_alone_is_a_folio_of_one(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint64_t i;

	for (i = 0; i < 12; i++)
		store_page(f, at(i), kind_of(i), i);
	stats = stats_of(f->z);
	assert_int_equal(stats.stores, 12);
	assert_int_equal(stats.stored_folios, 12);
	assert_int_equal(stats.stored_folios_1, 12);
	assert_int_equal(stats.refused_folios, 0);
}

static void calls_with_wrong_arguments_are_not_counted(void **state)
{
	struct fixture *f = *state;
	struct zswap_folio folio = folio_of_data(at(0), 0, f->page);
	struct zswap_stats before = stats_of(f->z), after;

	assert_int_equal(zswap_store_folio(f->z, &folio), -EINVAL);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -EINVAL);
	folio.nr_pages = 1;
	folio.slot = at(AREA_SLOTS);
	assert_int_equal(zswap_store_folio(f->z, &folio), -ENXIO);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -ENXIO);
	assert_int_equal(zswap_store(f->z, at(0), NULL), -EINVAL);
	assert_int_equal(zswap_store(f->z, zswap_slot(9, 0), f->page), -ENXIO);
	assert_int_equal(zswap_load(f->z, at(0), NULL), -EINVAL);
	assert_int_equal(zswap_peek(f->z, at(AREA_SLOTS), f->out), -ENXIO);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
}

/* Each reason has its counter, and a folio counts under one. */
static void D75_every_refusal_has_one_reason(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	struct zswap_stats stats;

	params.raw_policy = ZSWAP_RAW_REFUSE;
	begin_other(f, &params);
	page_make(f->page, f->page_size, PAGE_RANDOM, 1);
	assert_int_equal(zswap_store(f->z, at(0), f->page), -E2BIG);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, 0), 0);
	assert_int_equal(zswap_store(f->z, at(0), f->page), -ENOSPC);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_int_equal(zswap_store(f->z, at(0), f->page), -EPERM);
	stats = stats_of(f->z);
	assert_int_equal(stats.stores, 3);
	assert_int_equal(stats.refused_folios, 3);
	assert_int_equal(stats.reject_compress_poor, 1);
	assert_int_equal(stats.reject_limit, 1);
	assert_int_equal(stats.reject_disabled, 1);
	assert_int_equal(stats.reject_compress_fail, 0);
	assert_int_equal(stats.reject_alloc_fail, 0);
	assert_int_equal(stats.reject_kmemcache_fail, 0);
	assert_int_equal(stats.reject_no_context, 0);
	end_other(f);
}

static void folios_without_memory_count_once(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint64_t k, failed = 0;

	for (k = 0; k < 40; k++) {
		page_make(f->page, f->page_size, PAGE_TEXT, k);
		faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
		failed += zswap_store(f->z, at(100000 + 1000 * k), f->page) ==
			  -ENOMEM;
		faulty_fail_none(&f->hooks);
	}
	stats = stats_of(f->z);
	assert_true(failed > 0);
	assert_int_equal(stats.stores, 40);
	assert_int_equal(stats.refused_folios_1, failed);
	assert_int_equal(stats.reject_alloc_fail + stats.reject_kmemcache_fail,
			 failed);
}

/* In a cache that never stored, memory for entries is asked for first. */
static void memory_is_counted_by_what_it_was_missing_for(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;

	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	faulty_fail_nth(&f->hooks, FAULTY_ALLOC, 1);
	assert_int_equal(zswap_store(f->z, at(0), f->page), -ENOMEM);
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_kmemcache_fail, 1);
	assert_int_equal(stats.reject_alloc_fail, 0);
	faulty_fail_from(&f->hooks, FAULTY_MAP, 1);
	assert_int_equal(zswap_store(f->z, at(0), f->page), -ENOMEM);
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_kmemcache_fail, 1);
	assert_int_equal(stats.reject_alloc_fail, 1);
	/* A slot table comes last, and fails with the pages there. */
	faulty_fail_none(&f->hooks);
	store_page(f, at(0), PAGE_TEXT, 1);
	faulty_fail_from(&f->hooks, FAULTY_ALLOC, 1);
	assert_int_equal(zswap_store(f->z, at(CLUSTER_SLOTS), f->page),
			 -ENOMEM);
	faulty_fail_none(&f->hooks);
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_kmemcache_fail, 1);
	assert_int_equal(stats.reject_alloc_fail, 2);
}

/* ---- stores and loads that find no context ----------------------------- */

struct descent {
	struct fixture *f;
	char *pages; /* one for each level */
	int depth;
	int refusal;
};

/* Deeper than there are contexts: one for each processor. */
static int max_depth(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN) + 4;
}

static void store_deeper(void *arg)
{
	struct descent *d = arg;
	char *page = d->pages + (size_t)d->depth * d->f->page_size;
	int err;

	if (d->refusal || d->depth == max_depth() - 1)
		return;
	d->depth++;
	page_make(page, d->f->page_size, PAGE_TEXT, (uint64_t)d->depth);
	err = zswap_store(d->f->z, at((uint64_t)d->depth), page);
	if (err)
		d->refusal = err;
}

static void a_store_without_a_context_is_counted_as_such(void **state)
{
	struct fixture *f = *state;
	struct descent d = { f, malloc((size_t)max_depth() * f->page_size), 0,
			     0 };
	struct zswap_stats stats;

	assert_non_null(d.pages);
	f->codec.compress.call_arg = &d;
	f->codec.compress.call = store_deeper;
	store_page(f, at(0), PAGE_TEXT, 0);
	f->codec.compress.call = NULL;
	assert_int_equal(d.refusal, -EDEADLK);
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_no_context, 1);
	assert_int_equal(stats.refused_folios, 1);
	assert_int_equal(stats.stores, d.depth + 1);
	free(d.pages);
}

static void peek_deeper(void *arg)
{
	struct descent *d = arg;
	char *page = d->pages + (size_t)d->depth * d->f->page_size;
	int err;

	if (d->refusal || d->depth == max_depth() - 1)
		return;
	d->depth++;
	err = zswap_peek(d->f->z, at(0), page);
	if (err)
		d->refusal = err;
}

static void a_load_without_a_context_is_an_error_of_its_page(void **state)
{
	struct fixture *f = *state;
	struct descent d = { f, malloc((size_t)max_depth() * f->page_size), 0,
			     0 };
	struct zswap_stats stats;

	assert_non_null(d.pages);
	store_page(f, at(0), PAGE_TEXT, 0);
	f->codec.decompress.call_arg = &d;
	f->codec.decompress.call = peek_deeper;
	assert_holds(f, at(0), PAGE_TEXT, 0);
	f->codec.decompress.call = NULL;
	assert_int_equal(d.refusal, -EDEADLK);
	stats = stats_of(f->z);
	assert_int_equal(stats.loads, d.depth + 1);
	assert_int_equal(stats.zswpin, d.depth);
	assert_int_equal(stats.load_errors, 1);
	assert_int_equal(stats.decompress_fail, 0);
	free(d.pages);
}

/* ---- loads ------------------------------------------------------------- */

/* By how much the counters of loads have moved. */
static void assert_loads(struct fixture *f, struct zswap_stats *before,
			 uint64_t in, uint64_t misses, uint64_t errors)
{
	struct zswap_stats now = stats_of(f->z);

	assert_int_equal(now.loads - before->loads, in + misses + errors);
	assert_int_equal(now.zswpin - before->zswpin, in);
	assert_int_equal(now.load_misses - before->load_misses, misses);
	assert_int_equal(now.load_errors - before->load_errors, errors);
	*before = now;
}

static void D75_pages_of_failed_loads_are_missed_or_errors(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(20 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(505), 20, data);
	struct zswap_stats before;

	assert_non_null(data);
	store_pages(f, at(505), 20, 0);
	before = stats_of(f->z);
	assert_int_equal(zswap_peek(f->z, at(505), f->out), 0);
	assert_loads(f, &before, 1, 0, 0);
	assert_int_equal(zswap_load(f->z, at(505), f->out), 0);
	assert_loads(f, &before, 1, 0, 0);
	assert_int_equal(zswap_load(f->z, at(505), f->out), -ENOENT);
	assert_loads(f, &before, 0, 1, 0);
	/* Nineteen are there and are not delivered for the sake of one. */
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -EBUSY);
	assert_loads(f, &before, 0, 1, 19);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_KEEP),
			 -EBUSY);
	assert_loads(f, &before, 0, 1, 19);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL),
			 19);
	assert_loads(f, &before, 19, 1, 0);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL), 0);
	assert_loads(f, &before, 0, 20, 0);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -ENOENT);
	assert_loads(f, &before, 0, 20, 0);
	assert_int_equal(stats_of(f->z).decompress_fail, 0);
	free(data);
}

static void D75_pages_that_do_not_decompress_are_errors(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(20 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(505), 20, data);
	struct zswap_stats before;
	uint64_t i;

	assert_non_null(data);
	for (i = 0; has_codec(f) && i < 20; i++)
		store_page(f, at(505 + i), PAGE_TEXT, i);
	before = stats_of(f->z);
	if (has_codec(f)) {
		codec_fail(&f->codec.decompress, CODEC_ERROR, 1);
		assert_int_equal(zswap_peek(f->z, at(505), f->out), -EIO);
		assert_loads(f, &before, 0, 0, 1);
		codec_fail(&f->codec.decompress, CODEC_ERROR, 1);
		assert_int_equal(zswap_load_folio(f->z, &folio, 0), -EIO);
		assert_loads(f, &before, 0, 0, 20);
		codec_fail(&f->codec.decompress, CODEC_ERROR, 3);
		assert_int_equal(
			zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL), 17);
		assert_loads(f, &before, 17, 0, 3);
		assert_int_equal(stats_of(f->z).decompress_fail, 5);
	}
	free(data);
}

/* ---- gauges ------------------------------------------------------------ */

static void D73_inputs_of_the_ratio_are_the_sums_of_the_pages(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint64_t compressed = 0, before, i;

	for (i = 0; i < 10; i++)
		store_page(f, at(i), i % 2 ? PAGE_ZERO : PAGE_WORD, i);
	stats = stats_of(f->z);
	assert_int_equal(stats.original_bytes, 0);
	assert_int_equal(stats.compressed_bytes, 0);
	for (i = 0; i < 100; i++) {
		before = stats_of(f->z).compressed_bytes;
		store_page(f, at(500 + i), PAGE_TEXT, i);
		stats = stats_of(f->z);
		if (has_codec(f))
			assert_int_equal(stats.compressed_bytes - before,
					 atomic_load(&f->codec.last_length));
		compressed += stats.compressed_bytes - before;
		assert_int_equal(stats.original_bytes, (i + 1) * f->page_size);
	}
	assert_int_equal(stats.compressed_bytes, compressed);
	assert_true(compressed < 50 * f->page_size);
	assert_true(stats.pool_total_size >= compressed);
	store_page(f, at(500), PAGE_RANDOM, 0);
	stats = stats_of(f->z);
	assert_int_equal(stats.original_bytes, 100 * f->page_size);
	for (i = 0; i < 100; i++) {
		assert_int_equal(zswap_load(f->z, at(500 + i), f->out), 0);
		assert_int_equal(stats_of(f->z).original_bytes,
				 (99 - i) * f->page_size);
	}
	assert_int_equal(stats_of(f->z).compressed_bytes, 0);
}

static void D76_counters_stay_where_gauges_fall(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;

	store_pages(f, at(0), 12, 0); /* two of each kind */
	zswap_invalidate(f->z, at(0), 6);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_pages, 6);
	assert_int_equal(stats.same_filled_pages, 2);
	assert_int_equal(stats.stored_incompressible_pages, 1);
	assert_int_equal(stats.original_bytes, 4 * f->page_size);
	assert_int_equal(stats.zswpout, 12);
	assert_int_equal(stats.same_filled_stored, 4);
	assert_int_equal(stats.incompressible_stored, 2);
	assert_int_equal(stats.stored_folios_16, 1);
	store_pages(f, at(6), 6, 6); /* over themselves */
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_pages, 6);
	assert_int_equal(stats.zswpout, 18);
	assert_int_equal(stats.stored_folios_8, 1);
}

static void pages_of_a_refused_folio_count_as_stored_nowhere(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	char *data = malloc(30 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(0), 30, data);
	struct zswap_stats stats;
	uint32_t i;

	assert_non_null(data);
	params.raw_policy = ZSWAP_RAW_REFUSE;
	begin_other(f, &params);
	for (i = 0; i < 30; i++)
		page_make(data + i * f->page_size, f->page_size,
			  i % 2 ? PAGE_TEXT : PAGE_WORD, i);
	page_make(data + 29 * f->page_size, f->page_size, PAGE_RANDOM, 29);
	assert_int_equal(zswap_store_folio(f->z, &folio), -E2BIG);
	stats = stats_of(f->z);
	assert_int_equal(stats.zswpout, 0);
	assert_int_equal(stats.same_filled_stored, 0);
	assert_int_equal(stats.incompressible_stored, 0);
	assert_int_equal(stats.refused_folios_32, 1);
	assert_empty(f->z);
	end_other(f);
	free(data);
}

static void limits_and_pools_are_gauges_of_their_own(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;

	assert_int_equal(zswap_set_max_pool_bytes(f->z, 1000000), 0);
	assert_int_equal(zswap_set_accept_threshold_percent(f->z, 37), 0);
	stats = stats_of(f->z);
	assert_int_equal(stats.max_pool_bytes, 1000000);
	assert_int_equal(stats.accept_threshold_bytes, 370000);
	assert_int_equal(stats.pools, 1);
	store_page(f, at(0), PAGE_TEXT, 0);
	assert_int_equal(zswap_set_compressor(f->z, "zstd:level=17"), 0);
	assert_int_equal(stats_of(f->z).pools, 2);
}

/* ---- the text ---------------------------------------------------------- */

/* The last line of the text, in @line. */
static void last_line(struct fixture *f, char *line, size_t len)
{
	char text[8192], *start;
	long bytes =
		zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text, sizeof(text));

	assert_in_range(bytes, 1, sizeof(text) - 1);
	assert_int_equal(text[bytes - 1], '\n');
	text[bytes - 1] = '\0';
	start = strrchr(text, '\n');
	assert_non_null(start);
	snprintf(line, len, "%s", start + 1);
}

static void the_last_line_names_the_compressor_in_use(void **state)
{
	static const char *const specs[][2] = {
		{ "zstd", "compressor zstd:level=3" },
		{ " lz4 ", "compressor lz4" },
		{ "deflate:level=+9", "compressor deflate:level=9" },
	};
	struct fixture *f = *state;
	char line[300], expected[300];
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(zswap_set_compressor(f->z, specs[i][0]), 0);
		last_line(f, line, sizeof(line));
		assert_string_equal(line, specs[i][1]);
		/* D46: a switch that failed is not told. */
		assert_int_equal(zswap_set_compressor(f->z, "nope"), -ENOENT);
		last_line(f, line, sizeof(line));
		assert_string_equal(line, specs[i][1]);
	}
	assert_int_equal(zswap_set_compressor(f->z, f->codec.spec), 0);
	snprintf(expected, sizeof(expected), "compressor %s", f->codec.spec);
	last_line(f, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void every_line_of_the_text_is_a_name_and_a_number(void **state)
{
	struct fixture *f = *state;
	char text[8192], name[64], *line = text, *end;
	int nr = 0, bytes;

	store_pages(f, at(0), 30, 0);
	assert_true(zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text,
				       sizeof(text)) > 0);
	while ((end = strchr(line, '\n')) != NULL && end[1]) {
		*end = '\0';
		bytes = 0;
		sscanf(line, "%63[a-z_0-9] %*[0-9]%n", name, &bytes);
		assert_int_equal(bytes, strlen(line));
		line = end + 1;
		nr++;
	}
#define COUNT_FIELD(name, what) nr--;
	ZSWAP_STATS(COUNT_FIELD)
#undef COUNT_FIELD
	assert_int_equal(nr, 0);
}

/* ---- nothing is printed ------------------------------------------------ */

static void refuse_100000_stores(struct fixture *f)
{
	struct zswap_params params = f->params;
	uint64_t i;

	params.raw_policy = ZSWAP_RAW_REFUSE;
	begin_other(f, &params);
	page_make(f->page, f->page_size, PAGE_RANDOM, 1);
	for (i = 0; i < 1000; i++)
		assert_int_equal(zswap_store(f->z, at(i), f->page), -E2BIG);
	assert_int_equal(zswap_set_max_pool_bytes(f->z, 0), 0);
	for (i = 0; i < 50000; i++)
		assert_int_equal(zswap_store(f->z, at(i), f->page), -ENOSPC);
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	for (i = 0; i < 49000; i++)
		assert_int_equal(zswap_store(f->z, at(i), f->page), -EPERM);
	assert_int_equal(stats_of(f->z).reject_compress_poor, 1000);
	assert_int_equal(stats_of(f->z).reject_limit, 50000);
	assert_int_equal(stats_of(f->z).pool_limit_hit, 50000);
	assert_int_equal(stats_of(f->z).reject_disabled, 49000);
	assert_int_equal(stats_of(f->z).refused_folios_1, 100000);
	end_other(f);
}

static void
D78_failing_stores_and_switches_are_counted_not_printed(void **state)
{
	char path[] = "/tmp/zswap-test-XXXXXX";
	int file = mkstemp(path), out = dup(1), err = dup(2), i;
	struct fixture *f = *state;
	off_t bytes;

	assert_true(file >= 0 && out >= 0 && err >= 0);
	unlink(path);
	fflush(stdout);
	assert_true(dup2(file, 1) == 1 && dup2(file, 2) == 2);
	refuse_100000_stores(f);
	for (i = 0; i < 1000; i++)
		assert_int_equal(zswap_set_compressor(f->z, "nope"), -ENOENT);
	fflush(stdout);
	bytes = lseek(file, 0, SEEK_END);
	assert_true(dup2(out, 1) == 1 && dup2(err, 2) == 2);
	close(out);
	close(err);
	close(file);
	assert_int_equal(bytes, 0);
}

/* ---- a random mix ------------------------------------------------------ */

struct tally {
	uint64_t stores, refused, loads;
};

static void store_something(struct fixture *f, struct tally *t, char *data)
{
	uint32_t nr = 1 + rng_below(&f->rng, 20);
	struct zswap_folio folio =
		folio_of_data(at(rng_below(&f->rng, 900)), nr, data);

	if (rng_below(&f->rng, 4) == 0)
		codec_fail(&f->codec.compress, CODEC_ERROR,
			   (int32_t)rng_below(&f->rng, 3));
	if (rng_below(&f->rng, 6) == 0)
		faulty_fail_nth(&f->hooks, FAULTY_ANY,
				1 + rng_below(&f->rng, 5));
	t->stores++;
	t->refused += zswap_store_folio(f->z, &folio) != 0;
	faulty_fail_none(&f->hooks);
	codec_behave(&f->codec.compress);
}

static void load_something(struct fixture *f, struct tally *t, char *data)
{
	uint32_t nr = 1 + rng_below(&f->rng, 20);
	struct zswap_folio folio =
		folio_of_data(at(rng_below(&f->rng, 900)), nr, data);

	if (rng_below(&f->rng, 4) == 0)
		codec_fail(&f->codec.decompress, CODEC_ERROR,
			   (int32_t)rng_below(&f->rng, 3));
	t->loads += nr;
	zswap_load_folio(f->z, &folio, rng_below(&f->rng, 4));
	codec_behave(&f->codec.decompress);
}

static void change_something(struct fixture *f)
{
	uint64_t limits[] = { 0, 30 * f->page_size, ZSWAP_UNLIMITED };

	switch (rng_below(&f->rng, 4)) {
	case 0:
		zswap_set_max_pool_bytes(f->z, limits[rng_below(&f->rng, 3)]);
		break;
	case 1:
		zswap_set_enabled(f->z, rng_below(&f->rng, 4) != 0);
		break;
	case 2:
		zswap_invalidate(f->z, at(rng_below(&f->rng, 900)),
				 rng_below(&f->rng, 100));
		break;
	default:
		zswap_set_compressor(
			f->z, rng_below(&f->rng, 2) ? "lz4" : f->codec.spec);
		break;
	}
}

static void mix_calls(struct fixture *f, struct tally *t, char *data, int nr)
{
	while (nr-- > 0)
		switch (rng_below(&f->rng, 10)) {
		case 0:
			change_something(f);
			break;
		case 1:
		case 2:
		case 3:
			store_something(f, t, data);
			break;
		default:
			load_something(f, t, data);
			break;
		}
}

static void D75_after_a_mix_of_calls_all_adds_up(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	char *data = malloc(20 * f->page_size);
	struct tally t = { 0 };
	struct zswap_stats stats;
	int round, calls = f->page_size == 65536 ? 30 : 200;

	assert_non_null(data);
	params.raw_policy = ZSWAP_RAW_REFUSE;
	begin_other(f, &params);
	for (round = 0; round < 30; round++) {
		make_pages(f, data, 20, (uint64_t)round);
		mix_calls(f, &t, data, calls);
		assert_sums(f->z);
		stats = stats_of(f->z);
		assert_int_equal(stats.stores, t.stores);
		assert_int_equal(stats.refused_folios, t.refused);
		assert_int_equal(stats.loads, t.loads);
	}
	assert_true(t.refused > 0 && t.refused < t.stores);
	assert_true(stats.load_errors > 0 && stats.reject_limit > 0);
	assert_true(stats.reject_compress_poor > 0 &&
		    stats.reject_disabled > 0);
	end_other(f);
	free(data);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(folios_of_every_size_count_in_their_group),
		BARE_CASE(the_counters_by_size_are_in_order),
		CASE(a_page_stored_alone_is_a_folio_of_one),
		CASE(calls_with_wrong_arguments_are_not_counted),
		CASE(D75_every_refusal_has_one_reason),
		CASE(folios_without_memory_count_once),
		CASE(memory_is_counted_by_what_it_was_missing_for),
		CASE(D75_pages_of_failed_loads_are_missed_or_errors),
		CASE(D75_pages_that_do_not_decompress_are_errors),
		CASE(D73_inputs_of_the_ratio_are_the_sums_of_the_pages),
		CASE(D76_counters_stay_where_gauges_fall),
		CASE(pages_of_a_refused_folio_count_as_stored_nowhere),
		CASE(limits_and_pools_are_gauges_of_their_own),
		CASE(the_last_line_names_the_compressor_in_use),
		CASE(every_line_of_the_text_is_a_name_and_a_number),
		CASE(D78_failing_stores_and_switches_are_counted_not_printed),
		CASE(D75_after_a_mix_of_calls_all_adds_up),
	};

	static const struct CMUnitTest codec_cases[] = {
		CASE(a_store_without_a_context_is_counted_as_such),
		CASE(a_load_without_a_context_is_an_error_of_its_page),
	};

	return run_variants("counters", cases,
			    sizeof(cases) / sizeof(cases[0])) +
	       run_codec_variants("counters", codec_cases,
				  sizeof(codec_cases) / sizeof(codec_cases[0]));
}
