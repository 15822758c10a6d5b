// SPDX-License-Identifier: MIT
/*
 * test_compressor.c - what <zswap/compressor.h> promises both sides
 *
 * The test compressor checks every request of every case in this folder
 * against the header; see codec.c. Here are the cases that need more.
 */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- results of compress() --------------------------------------------- */

static void a_page_whose_compression_fails_is_kept_raw_and_counted(void **state)
{
	static const enum codec_fault faults[] = {
		CODEC_ZERO,          CODEC_DST_PLUS_1, CODEC_HUGE,
		CODEC_ERROR,         CODEC_VERY_LOW,   CODEC_NOT_DONE,
		CODEC_REQUEST_ERROR,
	};
	struct fixture *f = *state;
	uint64_t failed = 0, i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		codec_fail(&f->codec.compress, faults[i], 1);
		store_page(f, at(i), PAGE_TEXT, i);
		assert_int_equal(zswap_query(f->z, at(i)), ZSWAP_RAW);
		assert_int_equal(stats_of(f->z).compress_engine_fail, ++failed);
		assert_int_equal(stats_of(f->z).incompressible_stored, failed);
		assert_holds(f, at(i), PAGE_TEXT, i);
		/* And the next page is none the worse for it. */
		store_page(f, at(100), PAGE_TEXT, 100);
		assert_int_equal(zswap_query(f->z, at(100)), ZSWAP_STORED);
		assert_holds(f, at(100), PAGE_TEXT, 100);
	}
}

static void only_the_failed_segments_of_a_request_are_kept_raw(void **state)
{
	struct fixture *f = *state;
	const uint32_t nr = 40;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), nr, data);
	struct zswap_stats stats;
	uint32_t i;

	assert_non_null(data);
	for (i = 0; i < nr; i++)
		page_make(data + i * f->page_size, f->page_size, PAGE_TEXT, i);
	codec_fail(&f->codec.compress, CODEC_ERROR, 3);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_incompressible_pages, 3);
	assert_int_equal(stats.compress_engine_fail, 3);
	for (i = 0; i < nr; i++)
		assert_holds(f, at(500 + i), PAGE_TEXT, i);
	free(data);
}

static void a_request_error_voids_all_its_segments(void **state)
{
	struct fixture *f = *state;
	const uint32_t nr = 8;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), nr, data);
	struct zswap_stats stats;
	uint32_t i;

	assert_non_null(data);
	for (i = 0; i < nr; i++)
		page_make(data + i * f->page_size, f->page_size, PAGE_TEXT, i);
	codec_fail(&f->codec.compress, CODEC_REQUEST_ERROR, CODEC_FOR_EVER);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_incompressible_pages, nr);
	assert_int_equal(stats.compress_engine_fail, nr);
	for (i = 0; i < nr; i++)
		assert_holds(f, at(500 + i), PAGE_TEXT, i);
	free(data);
}

static void a_result_that_saves_no_room_is_kept_raw_uncounted(void **state)
{
	struct fixture *f = *state;
	uint32_t unit = (uint32_t)f->page_size;
	uint32_t lengths[] = { unit, unit + 1, unit + 8 };
	uint64_t i;

	for (i = 0; i < 3; i++) {
		atomic_store(&f->codec.pad_to, lengths[i]);
		store_page(f, at(i), PAGE_TEXT, i);
		assert_int_equal(atomic_load(&f->codec.last_length),
				 (int32_t)lengths[i]);
		assert_int_equal(zswap_query(f->z, at(i)), ZSWAP_RAW);
		assert_holds(f, at(i), PAGE_TEXT, i);
	}
	store_page(f, at(9), PAGE_RANDOM, 9);
	assert_int_equal(stats_of(f->z).compress_engine_fail, 0);
	assert_int_equal(stats_of(f->z).stored_incompressible_pages, 4);
}

static void D36_a_page_that_does_not_fit_is_kept_raw_uncounted(void **state)
{
	struct fixture *f = *state;

	codec_fail(&f->codec.compress, CODEC_NO_ROOM, 1);
	store_page(f, at(0), PAGE_TEXT, 0);
	assert_int_equal(zswap_query(f->z, at(0)), ZSWAP_RAW);
	assert_holds(f, at(0), PAGE_TEXT, 0);
	assert_int_equal(stats_of(f->z).compress_engine_fail, 0);
	assert_int_equal(stats_of(f->z).incompressible_stored, 1);
}

static void D47_results_of_every_length_load_exactly(void **state)
{
	struct fixture *f = *state;
	uint32_t unit = (uint32_t)f->page_size, len, step = unit / 256;
	struct zswap_stats stats;
	int query;

	for (len = unit / 2; len <= unit + 16;
	     len += len >= unit - 16 ? 1 : step - 1) {
		atomic_store(&f->codec.pad_to, len);
		store_page(f, at(3), PAGE_TEXT, len);
		query = zswap_query(f->z, at(3));
		stats = stats_of(f->z);
		assert_true(query == ZSWAP_STORED || query == ZSWAP_RAW);
		assert_int_equal(stats.compressed_bytes,
				 query == ZSWAP_RAW ? unit : len);
		assert_int_equal(stats.stored_incompressible_pages,
				 query == ZSWAP_RAW);
		assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
		assert_true(page_is(f->out, unit, PAGE_TEXT, len));
	}
}

static void D39_expansion_up_to_the_bound_harms_nothing(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params;
	struct zswap *z;
	const uint32_t nr = 20;
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(at(0), nr, data);

	/* The red zones behind all memory of the hooks show a short buffer. */
	assert_non_null(data);
	f->codec.extra_bound = (uint32_t)f->page_size / 2 + 13;
	fixture_params(f, &params);
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 100), 0);
	atomic_store(&f->codec.pad_to, codec_bound(&f->codec, f->page_size));
	make_pages(f, data, nr, 0);
	assert_int_equal(zswap_store_folio(z, &folio), 0);
	assert_true(atomic_load(&f->codec.last_length) > (int32_t)f->page_size);
	memset(data, 0, nr * f->page_size);
	assert_int_equal(zswap_load_folio(z, &folio, 0), 0);
	assert_true(page_is(data, f->page_size, kind_of(0), 0));
	zswap_destroy(z);
	free(data);
	/* For the fixture's own cache. */
	f->codec.extra_bound = 0;
}

/* The test compressor looks at the room it is given. */
static void a_bound_below_a_page_leaves_room_for_a_page(void **state)
{
	struct fixture *f = *state;

	f->codec.extra_bound = 1 - codec_bound(&f->codec, f->page_size);
	assert_int_equal(codec_bound(&f->codec, f->page_size), 1);
	begin_other(f, &f->params);
	store_pages(f, at(0), 20, 0);
	assert_holds_pages(f, at(0), 20, 0);
	end_other(f);
	f->codec.extra_bound = 0;
}

/* ---- requests ---------------------------------------------------------- */

static void check_batches(struct fixture *f, uint32_t batch)
{
	struct zswap_params params;
	struct zswap *z, *fixtures = f->z;
	struct codec codec;
	uint32_t nr, i, text;

	codec_init(&codec, batch);
	fixture_params(f, &params);
	params.compressor = codec.spec;
	params.compressors = &codec.vtable_list;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 1000), 0);
	f->z = z;
	for (nr = 1; nr <= 33; nr++) {
		unsigned long before = atomic_load(&codec.compress.segments);

		store_pages(f, at(500), nr, 0);
		for (text = i = 0; i < nr; i++)
			text += expected_state(kind_of(i)) != ZSWAP_FILLED;
		assert_int_equal(atomic_load(&codec.compress.segments) - before,
				 text);
		assert_holds_pages(f, at(500), nr, 0);
	}
	f->z = fixtures;
	/* Long folios make full use of what the compressor likes. */
	assert_in_range(atomic_load(&codec.compress.longest),
			batch < 8 ? batch : 8, batch);
	zswap_destroy(z);
	assert_true(codec_end(&codec));
}

static void D34_D35_batches_hold_every_page_once(void **state)
{
	static const uint32_t batches[] = { 1, 2, 4, 7, 8, 64 };
	struct fixture *f = *state;
	int i;

	for (i = 0; i < 6; i++)
		check_batches(f, batches[i]);
}

static void without_the_segments_flag_requests_have_one_segment(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params;
	struct zswap *z, *fixtures = f->z;
	struct codec codec;

	codec_init(&codec, 1);
	fixture_params(f, &params);
	params.compressor = codec.spec;
	params.compressors = &codec.vtable_list;
	codec.vtable.batch_size = 0; /* means 1 */
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 1000), 0);
	f->z = z;
	store_pages(f, at(0), 33, 0);
	assert_holds_pages(f, at(0), 33, 0);
	f->z = fixtures;
	assert_int_equal(atomic_load(&codec.compress.longest), 1);
	assert_int_equal(atomic_load(&codec.decompress.longest), 1);
	zswap_destroy(z);
	assert_true(codec_end(&codec));
}

/* ---- instances and contexts -------------------------------------------- */

static void every_instance_and_context_is_ended(void **state)
{
	struct fixture *f = *state;
	unsigned long made = atomic_load(&f->codec.instances_made);
	struct zswap *z;

	assert_int_equal(zswap_create(&z, &f->params), 0);
	assert_true(atomic_load(&f->codec.instances_made) > made);
	assert_int_equal(zswap_swapon(z, 0, 10), 0);
	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	assert_int_equal(zswap_store(z, at(0), f->page), 0);
	zswap_destroy(z);
	/* What is left belongs to the fixture; its end looks for the rest. */
	assert_int_equal(atomic_load(&f->codec.instances), (long)made);
}

static void a_compressors_memory_counts_as_metadata(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;

	store_page(f, at(0), PAGE_TEXT, 1);
	stats = stats_of(f->z);
	assert_true(atomic_load(&f->codec.env_bytes) > 0);
	assert_true(stats.metadata_bytes >= atomic_load(&f->codec.env_bytes));
}

struct big_instance {
	const struct zswap_comp_env *env;
};

#define BIG_BYTES ((size_t)1 << 20)

static int big_create(const struct zswap_comp_env *env, const char *options,
		      void **instance)
{
	(void)options;
	if (env->unit_size != 4096 && env->unit_size != 16384 &&
	    env->unit_size != 65536)
		return -EDOM;
	*instance = env->alloc(env->ctx, BIG_BYTES);
	if (!*instance)
		return -ENOMEM;
	((struct big_instance *)*instance)->env = env;
	return 0;
}

static void big_destroy(void *instance)
{
	const struct zswap_comp_env *env =
		((struct big_instance *)instance)->env;

	env->free(env->ctx, instance, BIG_BYTES);
}

static int stateless_compress(void *instance, void *ctx,
			      struct zswap_comp_request *req)
{
	(void)instance;
	return codec_plain.compress(NULL, ctx, req);
}

static int stateless_decompress(void *instance, void *ctx,
				struct zswap_comp_request *req)
{
	(void)instance;
	return codec_plain.decompress(NULL, ctx, req);
}

static void env_memory_moves_the_metadata_gauge_by_its_size(void **state)
{
	struct fixture *f = *state;
	struct zswap_compressor vtable = codec_plain;
	const struct zswap_compressor *list = &vtable;
	struct zswap_params params;
	struct zswap *small, *big;
	uint64_t difference;

	fixture_params(f, &params);
	params.compressors = &list;
	params.compressor = "plain";
	assert_int_equal(zswap_create(&small, &params), 0);
	vtable.create = big_create;
	vtable.destroy = big_destroy;
	vtable.compress = stateless_compress;
	vtable.decompress = stateless_decompress;
	assert_int_equal(zswap_create(&big, &params), 0);
	difference =
		stats_of(big).metadata_bytes - stats_of(small).metadata_bytes;
	/* A header for each block may be counted with it. */
	assert_in_range(difference, BIG_BYTES, BIG_BYTES + 4096);
	zswap_destroy(small);
	zswap_destroy(big);
}

static void a_compressor_without_state_or_bound_works(void **state)
{
	struct fixture *f = *state;
	const struct zswap_compressor *list = &codec_plain;
	struct zswap_params params;
	struct zswap *z, *fixtures = f->z;

	fixture_params(f, &params);
	params.compressors = &list;
	params.compressor = "plain";
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 1000), 0);
	f->z = z;
	store_pages(f, at(0), 60, 0);
	assert_holds_pages(f, at(0), 60, 0);
	assert_int_equal(zswap_query(z, at(0)), ZSWAP_STORED);
	f->z = fixtures;
	zswap_destroy(z);
}

static void D48_a_store_that_gets_no_context_is_clean(void **state)
{
	struct fixture *f = *state;
	int err;

	/* Either another context does, or the store fails like any other. */
	atomic_store(&f->codec.compress_ctx_error, -ENOMEM);
	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	err = zswap_store(f->z, at(3), f->page);
	assert_true(err == 0 || err == -ENOMEM);
	if (err)
		assert_absent(f, at(3), 1);
	else
		assert_holds(f, at(3), PAGE_TEXT, 1);
	atomic_store(&f->codec.compress_ctx_error, 0);
	store_page(f, at(3), PAGE_TEXT, 2);
	assert_holds(f, at(3), PAGE_TEXT, 2);
}

/* ---- calls from a compressor's functions ------------------------------- */

struct reentry {
	struct fixture *f;
	void *page, *out; /* not those of the call that is running */
	unsigned long calls;
	bool inside; /* the inner calls do not call again */
};

/* What a callback may do: everything but destroy and this area's swapoff. */
static void call_the_cache(void *arg)
{
	struct reentry *r = arg;
	struct fixture *f = r->f;
	zswap_slot_t slot = at(0);

	if (r->inside)
		return;
	r->inside = true;
	r->calls++;
	stats_of(f->z);
	assert_int_equal(zswap_peek(f->z, at(900), r->out), 0);
	assert_true(page_is(r->out, f->page_size, PAGE_TEXT, 900));
	assert_int_equal(zswap_query(f->z, at(3)) < 0, 0);
	zswap_is_present(f->z, at(0), AREA_SLOTS);
	assert_true(zswap_next_present(f->z, &slot));
	page_make(r->page, f->page_size, PAGE_TEXT, 901);
	assert_int_equal(zswap_store(f->z, at(901), r->page), 0);
	assert_int_equal(zswap_load(f->z, at(901), r->out), 0);
	zswap_invalidate(f->z, at(901), 1);
	assert_int_equal(zswap_swapon(f->z, 8, 10), 0);
	assert_int_equal(zswap_swapoff(f->z, 8), 0);
	r->inside = false;
}

static void D80_compressors_may_call_the_cache(void **state)
{
	struct fixture *f = *state;
	struct reentry r = { f, malloc(f->page_size), malloc(f->page_size), 0,
			     false };
	struct codec_side *sides[] = { &f->codec.compress,
				       &f->codec.decompress };
	int i;

	assert_true(r.page && r.out);
	store_page(f, at(900), PAGE_TEXT, 900);
	for (i = 0; i < 2; i++) {
		sides[i]->call_arg = &r;
		sides[i]->call = call_the_cache;
	}
	store_page(f, at(3), PAGE_TEXT, 3);
	assert_holds(f, at(3), PAGE_TEXT, 3);
	assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
	store_pages(f, at(505), 20, 0);
	assert_holds_pages(f, at(505), 20, 0);
	assert_true(r.calls >= 4);
	for (i = 0; i < 2; i++)
		sides[i]->call = NULL;
	free(r.page);
	free(r.out);
}

/* A compressor that stores, whose page is compressed, and so on. */
struct descent {
	struct fixture *f;
	void *page;
	uint64_t depth;
	int refusal; /* of the deepest store */
};

#define MAX_DEPTH 2000

static void store_deeper(void *arg)
{
	struct descent *d = arg;
	int err;

	if (d->refusal || d->depth == MAX_DEPTH)
		return;
	d->depth++;
	err = zswap_store(d->f->z, at(d->depth), d->page);
	if (err)
		d->refusal = err;
}

static void D80_without_a_free_context_a_nested_call_is_edeadlk(void **state)
{
	struct fixture *f = *state;
	struct descent d = { f, malloc(f->page_size), 0, 0 };
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	/* There are no more contexts than processors. */
	if (nr_cpus > 64)
		skip();
	assert_non_null(d.page);
	page_make(d.page, f->page_size, PAGE_TEXT, 1);
	f->codec.compress.call_arg = &d;
	f->codec.compress.call = store_deeper;
	store_page(f, at(0), PAGE_TEXT, 0);
	f->codec.compress.call = NULL;
	assert_int_equal(d.refusal, -EDEADLK);
	assert_in_range(d.depth, 1, (uint64_t)nr_cpus);
	/* Like any failed store it left its slot absent; the others worked. */
	assert_absent(f, at(d.depth), 1);
	assert_holds(f, at(0), PAGE_TEXT, 0);
	assert_int_equal(stats_of(f->z).stored_pages, d.depth);
	store_page(f, at(0), PAGE_TEXT, 5);
	free(d.page);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(a_page_whose_compression_fails_is_kept_raw_and_counted),
		CASE(only_the_failed_segments_of_a_request_are_kept_raw),
		CASE(a_request_error_voids_all_its_segments),
		CASE(a_result_that_saves_no_room_is_kept_raw_uncounted),
		CASE(D36_a_page_that_does_not_fit_is_kept_raw_uncounted),
		CASE(D47_results_of_every_length_load_exactly),
		CASE(D39_expansion_up_to_the_bound_harms_nothing),
		CASE(a_bound_below_a_page_leaves_room_for_a_page),
		CASE(D34_D35_batches_hold_every_page_once),
		CASE(without_the_segments_flag_requests_have_one_segment),
		CASE(every_instance_and_context_is_ended),
		CASE(a_compressors_memory_counts_as_metadata),
		CASE(env_memory_moves_the_metadata_gauge_by_its_size),
		CASE(a_compressor_without_state_or_bound_works),
		CASE(D48_a_store_that_gets_no_context_is_clean),
		CASE(D80_compressors_may_call_the_cache),
		CASE(D80_without_a_free_context_a_nested_call_is_edeadlk),
	};

	return run_codec_variants("compressor", cases,
				  sizeof(cases) / sizeof(cases[0]));
}
