// SPDX-License-Identifier: MIT
/*
 * test_create.c - zswap_create(), zswap_destroy(), two caches
 */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- create and destroy ------------------------------------------------ */

static void create_without_params_means_4096_and_lz4(void **state)
{
	struct zswap *z = NULL;
	char page[4096], out[4096];

	(void)state;
	assert_int_equal(zswap_create(&z, NULL), 0);
	assert_int_equal(zswap_page_size(z), 4096);
	assert_int_equal(zswap_swapon(z, 0, 1 << 20), 0);
	page_make(page, sizeof(page), PAGE_TEXT, 1);
	assert_int_equal(zswap_store(z, zswap_slot(0, 7), page), 0);
	assert_int_equal(zswap_query(z, zswap_slot(0, 7)), ZSWAP_STORED);
	assert_int_equal(zswap_load(z, zswap_slot(0, 7), out), 0);
	assert_memory_equal(page, out, sizeof(page));
	zswap_destroy(z);
}

static void create_into_null_is_einval(void **state)
{
	struct zswap_params params = params_of("lz4");

	(void)state;
	assert_int_equal(zswap_create(NULL, NULL), -EINVAL);
	assert_int_equal(zswap_create(NULL, &params), -EINVAL);
}

static void zero_params_mean_the_defaults(void **state)
{
	struct zswap_params params = params_of(NULL);
	struct zswap *z;

	(void)state;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_page_size(z), 4096);
	zswap_destroy(z);
}

static void create_takes_the_three_page_sizes(void **state)
{
	struct zswap_params params = params_of(NULL);
	struct zswap *z;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		params.page_size = all_page_sizes[i];
		assert_int_equal(zswap_create(&z, &params), 0);
		assert_int_equal(zswap_page_size(z), all_page_sizes[i]);
		zswap_destroy(z);
	}
}

static void create_refuses_every_other_page_size(void **state)
{
	static const size_t wrong[] = { 1,     512,   2048,   4095,
					4097,  8192,  12288,  32768,
					65535, 65537, 131072, SIZE_MAX };
	struct zswap_params params = params_of(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		params.page_size = wrong[i];
		assert_int_equal(create_error(&params), -EINVAL);
	}
}

static void params_smaller_than_version_0_1_are_einval(void **state)
{
	struct zswap_params params = params_of(NULL);

	(void)state;
	params.size = 0;
	assert_int_equal(create_error(&params), -EINVAL);
	params.size = offsetof(struct zswap_params, nr_compressors);
	assert_int_equal(create_error(&params), -EINVAL);
	params.size = sizeof(params) - 1;
	assert_int_equal(create_error(&params), -EINVAL);
}

static void params_larger_than_known_are_fine(void **state)
{
	struct {
		struct zswap_params params;
		uint64_t later[4];
	} larger;

	(void)state;
	memset(&larger, 0xff, sizeof(larger));
	larger.params = params_of("lz4");
	larger.params.size = sizeof(larger);
	assert_creates(&larger.params);
}

static void a_new_cache_is_enabled_and_has_no_area(void **state)
{
	struct zswap *z;
	char page[4096] = "x";

	(void)state;
	assert_int_equal(zswap_create(&z, NULL), 0);
	assert_int_equal(zswap_store(z, zswap_slot(0, 0), page), -ENXIO);
	assert_int_equal(zswap_swapon(z, 0, 1), 0);
	assert_int_equal(zswap_store(z, zswap_slot(0, 0), page), 0);
	zswap_destroy(z);
}

static void a_new_cache_has_no_memory_for_pages(void **state)
{
	struct fixture *f = *state;

	/* One system page may be mapped, to tell parent and child apart. */
	assert_empty(f->z);
	assert_in_range(f->hooks.map_bytes, 0, (size_t)sysconf(_SC_PAGESIZE));
}

static void params_are_read_during_the_call_only(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params;
	struct zswap_hooks hooks = f->hooks.hooks;
	struct zswap_compressor vtable = f->codec.vtable;
	const struct zswap_compressor *list = &vtable;
	char spec[sizeof(f->codec.spec)];
	struct zswap *z;

	/* The names the copied vtable points to stay. */
	memcpy(spec, f->codec.spec, sizeof(spec));
	fixture_params(f, &params);
	params.hooks = &hooks;
	params.compressor = spec;
	params.compressors = &list;
	assert_int_equal(zswap_create(&z, &params), 0);
	memset(&params, 0xff, sizeof(params));
	memset(&hooks, 0xff, sizeof(hooks));
	memset(&vtable, 0xff, sizeof(vtable));
	memset(spec, 0xff, sizeof(spec));
	list = NULL;
	assert_int_equal(zswap_swapon(z, 0, 10), 0);
	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	assert_int_equal(zswap_store(z, at(3), f->page), 0);
	assert_int_equal(zswap_load(z, at(3), f->out), 0);
	assert_memory_equal(f->page, f->out, f->page_size);
	zswap_destroy(z);
}

static void destroy_accepts_null(void **state)
{
	(void)state;
	zswap_destroy(NULL);
}

static void page_size_of_null_is_0(void **state)
{
	(void)state;
	assert_int_equal(zswap_page_size(NULL), 0);
}

static void D12_create_then_destroy_at_once_is_clean(void **state)
{
	struct fixture *f = *state;
	size_t bytes = f->hooks.alloc_bytes, mapped = f->hooks.map_bytes;
	struct zswap *z;
	int i;

	for (i = 0; i < 100; i++) {
		assert_int_equal(zswap_create(&z, &f->params), 0);
		zswap_destroy(z);
	}
	assert_int_equal(f->hooks.alloc_bytes, bytes);
	assert_int_equal(f->hooks.map_bytes, mapped);
}

static void destroy_drops_pages_and_gives_all_memory_back(void **state)
{
	struct fixture *f = *state;
	size_t bytes = f->hooks.alloc_bytes, mapped = f->hooks.map_bytes;
	struct zswap *z, *before = f->z;

	assert_int_equal(zswap_create(&z, &f->params), 0);
	f->z = z;
	assert_int_equal(zswap_swapon(z, 0, AREA_SLOTS), 0);
	assert_int_equal(zswap_swapon(z, 9, 5), 0);
	store_pages(f, at(300), 500, 1);
	store_pages(f, zswap_slot(9, 1), 4, 1);
	f->z = before;
	zswap_destroy(z);
	assert_int_equal(f->hooks.alloc_bytes, bytes);
	assert_int_equal(f->hooks.map_bytes, mapped);
}

static void D12_every_call_is_valid_on_a_fresh_cache(void **state)
{
	struct zswap *z;
	char page[4096];
	struct zswap_folio folio = folio_of_data(zswap_slot(5, 5), 1, page);
	zswap_slot_t slot = zswap_slot(0, 0);

	(void)state;
	assert_int_equal(zswap_create(&z, NULL), 0);
	assert_int_equal(zswap_load(z, slot, page), -ENXIO);
	assert_int_equal(zswap_peek(z, slot, page), -ENXIO);
	assert_int_equal(zswap_load_folio(z, &folio, 0), -ENXIO);
	assert_int_equal(zswap_query(z, slot), -ENXIO);
	assert_int_equal(zswap_swapoff(z, 0), -ENXIO);
	zswap_invalidate(z, slot, 100);
	assert_false(zswap_is_present(z, slot, 100));
	assert_false(zswap_next_present(z, &slot));
	assert_int_equal(zswap_set_enabled(z, false), 0);
	assert_int_equal(zswap_set_enabled(z, true), 0);
	assert_empty(z);
	assert_true(zswap_format_stats(z, ZSWAP_STATS_TEXT, NULL, 0) > 0);
	zswap_destroy(z);
}

/* ---- two caches -------------------------------------------------------- */

static void D86_two_caches_do_not_influence_each_other(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = params_of("lz4");
	struct zswap_stats before, after;
	struct zswap *other;
	char page[16384];

	params.page_size = 16384;
	store_page(f, at(7), PAGE_TEXT, 1);
	before = stats_of(f->z);
	assert_int_equal(zswap_create(&other, &params), 0);
	assert_int_equal(zswap_swapon(other, 0, 10), 0);
	assert_int_equal(zswap_query(other, at(7)), ZSWAP_ABSENT);
	assert_int_equal(zswap_query(other, at(10)), -ENXIO);
	page_make(page, sizeof(page), PAGE_TEXT, 2);
	assert_int_equal(zswap_store(other, at(7), page), 0);
	assert_int_equal(zswap_set_enabled(other, false), 0);
	assert_int_equal(zswap_swapoff(other, 0), 0);
	zswap_destroy(other);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_holds(f, at(7), PAGE_TEXT, 1);
	store_page(f, at(8), PAGE_TEXT, 2);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		BARE_CASE(create_without_params_means_4096_and_lz4),
		BARE_CASE(create_into_null_is_einval),
		BARE_CASE(zero_params_mean_the_defaults),
		BARE_CASE(create_takes_the_three_page_sizes),
		BARE_CASE(create_refuses_every_other_page_size),
		BARE_CASE(params_smaller_than_version_0_1_are_einval),
		BARE_CASE(params_larger_than_known_are_fine),
		BARE_CASE(a_new_cache_is_enabled_and_has_no_area),
		CASE(a_new_cache_has_no_memory_for_pages),
		CASE(params_are_read_during_the_call_only),
		BARE_CASE(destroy_accepts_null),
		BARE_CASE(page_size_of_null_is_0),
		CASE(D12_create_then_destroy_at_once_is_clean),
		CASE(destroy_drops_pages_and_gives_all_memory_back),
		BARE_CASE(D12_every_call_is_valid_on_a_fresh_cache),
		CASE(D86_two_caches_do_not_influence_each_other),
	};

	return run_cases("create", cases, sizeof(cases) / sizeof(cases[0]));
}
