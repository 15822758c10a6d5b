// SPDX-License-Identifier: MIT
/*
 * test_comp.c - compressors are found by name, and not believed
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "codec.h"
#include "comp.h"
#include "guard.h"
#include "pagegen.h"
#include "random.h"
#include "threads.h"
#include "watchdog.h"

#define PAGE 4096u
#define NR_CPUS 3u
#define MAX_PAGES ZSWAP_COMP_MAX_BATCH

static struct comp_list nobody; /* no compressors of the caller's own */

static struct comp_list list_of(const struct zswap_compressor *const *all)
{
	return (struct comp_list){ all, 1 };
}

/* A comp from a text, as a cache makes it. */
static int create(struct unit *u, const struct comp_list *own, const char *text,
		  uint32_t unit_size, struct comp **out)
{
	struct spec spec;
	int err;

	*out = NULL;
	for (size_t i = 0; i < own->nr; i++)
		if (!spec_ops_are_complete(own->all[i]))
			return -EINVAL;
	err = spec_resolve(own, text, &spec, NULL);
	return err ? err : comp_create(&u->mem, &spec, unit_size, out);
}

/* What a spec gives; an instance that was made is ended. */
static int try_spec(struct unit *u, const struct comp_list *own,
		    const char *spec)
{
	struct comp *comp = (void *)u;
	int err = create(u, own, spec, PAGE, &comp);

	assert_true(err ? !comp : !!comp);
	comp_destroy(comp);
	assert_int_equal(u->hooks.alloc_bytes, 0);
	return err;
}

static int try_vtable(struct unit *u, const struct zswap_compressor *vtable,
		      const char *spec)
{
	struct comp_list own = list_of(&vtable);

	return try_spec(u, &own, spec);
}

/* ---- a comp of the test's codec ------------------------------------------ */

struct bench {
	struct unit *u;
	struct codec codec;
	struct comp *comp;
	char pages[MAX_PAGES][PAGE];
	const void *sources[MAX_PAGES];
};

static struct bench *bench_new(struct unit *u, uint32_t batch)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct comp_list own;

	assert_non_null(b);
	u->mem.nr_cpus = NR_CPUS;
	b->u = u;
	codec_init(&b->codec, batch);
	own = list_of(&b->codec.vtable_list);
	assert_int_equal(create(u, &own, b->codec.spec, PAGE, &b->comp), 0);
	for (unsigned i = 0; i < MAX_PAGES; i++) {
		page_make(b->pages[i], PAGE, PAGE_TEXT, i);
		b->sources[i] = b->pages[i];
	}
	return b;
}

static void bench_end(struct bench *b)
{
	comp_destroy(b->comp);
	assert_true(codec_end(&b->codec));
	free(b);
}

/* Compresses the first nr pages. */
static struct comp_context *compress(struct bench *b, unsigned nr)
{
	struct comp_context *ctx = comp_claim(b->comp);

	assert_non_null(ctx);
	comp_compress(b->comp, ctx, b->sources, nr);
	return ctx;
}

/* ---- specs --------------------------------------------------------------- */

static void specs_are_a_name_or_a_name_and_options(void **state)
{
	struct unit *u = *state;

	assert_int_equal(try_spec(u, &nobody, "lz4"), 0);
	assert_int_equal(try_spec(u, &nobody, ""), -EINVAL);
	assert_int_equal(try_spec(u, &nobody, ":"), -EINVAL);
	assert_int_equal(try_spec(u, &nobody, "lz4:"), -EINVAL);
	assert_int_equal(try_spec(u, &nobody, ":level=1"), -EINVAL);
	assert_int_equal(try_spec(u, &nobody, "LZ4"), -EINVAL);
	assert_int_equal(try_spec(u, &nobody, " lz4\n"), 0);
	assert_int_equal(try_spec(u, &nobody, "lz 4"), -EINVAL);
	assert_int_equal(try_spec(u, &nobody, "lz4,x"), -EINVAL);
	/* Names of 31 characters may be, of 32 not. */
	assert_int_equal(
		try_spec(u, &nobody, "abcdefghijklmnopqrstuvwxyz-_012"),
		-ENOENT);
	assert_int_equal(
		try_spec(u, &nobody, "abcdefghijklmnopqrstuvwxyz-_0123"),
		-EINVAL);
}

static void D46_unknown_names_and_options_are_refused(void **state)
{
	struct unit *u = *state;
	struct codec codec;
	char spec[32];

	assert_int_equal(try_spec(u, &nobody, "nope"), -ENOENT);
	assert_int_equal(try_spec(u, &nobody, "nope:level=1"), -ENOENT);
	assert_int_equal(try_spec(u, &nobody, "lz"), -ENOENT);
	assert_int_equal(try_spec(u, &nobody, "lz44"), -ENOENT);
	assert_int_equal(try_spec(u, &nobody, "lz4:level=1"), -EINVAL);
	/* Options are the compressor's own business. */
	codec_init(&codec, 1);
	snprintf(spec, sizeof(spec), "test:%d", codec.number);
	assert_int_equal(try_vtable(u, &codec.vtable, spec), 0);
	assert_int_equal(try_vtable(u, &codec.vtable, "test:x"), -EINVAL);
	assert_int_equal(try_vtable(u, &codec.vtable, "test"), -EINVAL);
	assert_true(codec_end(&codec));
	/* Without a create() there are none. */
	assert_int_equal(try_vtable(u, &codec_plain, "plain"), 0);
	assert_int_equal(try_vtable(u, &codec_plain, "plain:x"), -EINVAL);
}

static void a_compressor_of_the_callers_own_hides_a_built_in_one(void **state)
{
	struct unit *u = *state;
	struct codec codec;
	struct comp_list own;
	struct comp *comp;

	codec_init(&codec, 1);
	codec.vtable.name = "lz4";
	own = list_of(&codec.vtable_list);
	assert_int_equal(create(u, &own, "lz4:0", PAGE, &comp), 0);
	assert_int_equal(codec.instances, 1);
	assert_string_equal(comp->name, "lz4");
	comp_destroy(comp);
	codec.vtable.name = "test";
	assert_int_equal(create(u, &own, "lz4", PAGE, &comp), 0);
	assert_int_equal(codec.instances, 0);
	comp_destroy(comp);
	assert_true(codec_end(&codec));
}

/* ---- vtables ------------------------------------------------------------- */

static void a_vtable_without_what_it_needs_is_refused(void **state)
{
	struct unit *u = *state;
	struct zswap_compressor bad;

	assert_int_equal(try_vtable(u, NULL, "lz4"), -EINVAL);
	bad = codec_plain;
	assert_int_equal(try_vtable(u, &bad, "plain"), 0);
	bad.size = sizeof(bad) - 1;
	assert_int_equal(try_vtable(u, &bad, "plain"), -EINVAL);
	bad = codec_plain;
	bad.name = NULL;
	assert_int_equal(try_vtable(u, &bad, "plain"), -EINVAL);
	bad = codec_plain;
	bad.compress = NULL;
	assert_int_equal(try_vtable(u, &bad, "plain"), -EINVAL);
	bad = codec_plain;
	bad.decompress = NULL;
	assert_int_equal(try_vtable(u, &bad, "plain"), -EINVAL);
	bad = codec_plain;
	bad.flags = 0x80;
	assert_int_equal(try_vtable(u, &bad, "plain"), -EINVAL);
	/* Also where another is asked for. */
	assert_int_equal(try_vtable(u, &bad, "lz4"), -EINVAL);
	bad = codec_plain;
	bad.size += 8; /* a caller from the future */
	assert_int_equal(try_vtable(u, &bad, "plain"), 0);
}

static void names_in_vtables_obey_the_rules(void **state)
{
	static const char *const wrong[] = {
		"",
		"Plain",
		"pla in",
		"plain:",
		"pläin",
		"a/b",
		"abcdefghijklmnopqrstuvwxyz-_0123",
	};
	struct zswap_compressor vtable = codec_plain;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		vtable.name = wrong[i];
		assert_int_equal(try_vtable(*state, &vtable, "lz4"), -EINVAL);
	}
	vtable.name = "abcdefghijklmnopqrstuvwxyz-_012";
	assert_int_equal(try_vtable(*state, &vtable, vtable.name), 0);
}

static void D35_wrong_batch_sizes_are_refused(void **state)
{
	struct zswap_compressor vtable = codec_plain;

	vtable.batch_size = 1;
	assert_int_equal(try_vtable(*state, &vtable, "plain"), 0);
	vtable.batch_size = 2; /* without the flag */
	assert_int_equal(try_vtable(*state, &vtable, "plain"), -EINVAL);
	vtable.flags = ZSWAP_COMP_SEGMENTS;
	assert_int_equal(try_vtable(*state, &vtable, "plain"), 0);
	vtable.batch_size = 0;
	assert_int_equal(try_vtable(*state, &vtable, "plain"), 0);
	vtable.batch_size = ZSWAP_COMP_MAX_BATCH;
	assert_int_equal(try_vtable(*state, &vtable, "plain"), 0);
	vtable.batch_size = ZSWAP_COMP_MAX_BATCH + 1;
	assert_int_equal(try_vtable(*state, &vtable, "plain"), -EINVAL);
	vtable.batch_size = 1000000;
	assert_int_equal(try_vtable(*state, &vtable, "plain"), -EINVAL);
}

static void a_bound_out_of_reason_is_refused(void **state)
{
	struct codec codec;

	codec_init(&codec, 1);
	codec.extra_bound = 2 * PAGE + 65536 - codec_bound(&codec, PAGE);
	assert_int_equal(try_vtable(*state, &codec.vtable, codec.spec), 0);
	codec.extra_bound++;
	assert_int_equal(try_vtable(*state, &codec.vtable, codec.spec),
			 -EINVAL);
	assert_true(codec_end(&codec));
}

/* ---- making -------------------------------------------------------------- */

static void D48_making_survives_any_failing_hook(void **state)
{
	struct unit *u = *state;
	struct codec codec;
	uint64_t k, failed = 1;

	codec_init(&codec, 8);
	for (k = 1; failed; k++) {
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = try_vtable(u, &codec.vtable, codec.spec);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_int_equal(codec.instances, 0);
		assert_int_equal(codec.contexts, 0);
		assert_int_equal(codec.env_bytes, 0);
	}
	assert_true(k > 6);
	assert_true(codec_end(&codec));
}

static void D46_errors_of_a_compressor_are_passed_on(void **state)
{
	struct unit *u = *state;
	struct codec codec;

	codec_init(&codec, 1);
	codec.create_error = -EACCES;
	assert_int_equal(try_vtable(u, &codec.vtable, codec.spec), -EACCES);
	codec.create_error = 5; /* no errno: still a failure */
	assert_true(try_vtable(u, &codec.vtable, codec.spec) < 0);
	codec.compress_ctx_error = -ENODEV;
	assert_int_equal(try_vtable(u, &codec.vtable, codec.spec), -ENODEV);
	codec.compress_ctx_error = 5;
	assert_true(try_vtable(u, &codec.vtable, codec.spec) < 0);
	codec.decompress_ctx_error = -ENOSPC;
	assert_int_equal(try_vtable(u, &codec.vtable, codec.spec), -ENOSPC);
	assert_int_equal(try_vtable(u, &codec.vtable, codec.spec), 0);
	assert_true(codec_end(&codec));
}

static void decompression_contexts_are_made_with_the_comp(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx;
	char page[PAGE];

	assert_int_equal(b->codec.contexts, 1 + NR_CPUS);
	ctx = compress(b, 1);
	faulty_fail_from(&b->u->hooks, FAULTY_ANY, 1); /* nothing is needed */
	for (int i = 0; i < 10; i++)
		assert_int_equal(comp_decompress(b->comp, comp_buffer(ctx, 0),
						 (uint32_t)comp_result(ctx, 0),
						 page),
				 0);
	assert_memory_equal(page, b->pages[0], PAGE);
	assert_int_equal(faulty_fail_none(&b->u->hooks), 0);
	assert_int_equal(b->codec.contexts_made, 1 + NR_CPUS);
	comp_release(ctx);
	bench_end(b);
}

static void memory_of_a_compressor_is_counted(void **state)
{
	struct bench *b = bench_new(*state, 1);

	assert_true(b->codec.env_bytes > 0);
	assert_true(metadata_bytes(b->u) ==
		    b->u->hooks.alloc_bytes + b->u->os_page);
	bench_end(b);
}

/* ---- requests ------------------------------------------------------------ */

static void assert_requests(struct unit *u, uint32_t batch)
{
	struct bench *b = bench_new(u, batch);
	uint32_t most = batch ? batch : 1;

	assert_int_equal(b->comp->batch, most > 8 ? most : 8);
	for (unsigned nr = 1; nr <= b->comp->batch; nr++) {
		struct comp_context *ctx;

		b->codec.compress.requests = b->codec.compress.segments = 0;
		ctx = compress(b, nr);
		assert_int_equal(b->codec.compress.segments, nr);
		assert_int_equal(b->codec.compress.requests,
				 (nr + most - 1) / most);
		assert_true(b->codec.compress.longest <= most);
		for (unsigned i = 0; i < nr; i++) {
			char page[PAGE];

			assert_true(comp_result(ctx, i) > 0);
			assert_int_equal(
				comp_decompress(b->comp, comp_buffer(ctx, i),
						(uint32_t)comp_result(ctx, i),
						page),
				0);
			assert_memory_equal(page, b->pages[i], PAGE);
		}
		comp_release(ctx);
	}
	assert_int_equal(b->codec.decompress.longest, 1);
	bench_end(b);
}

static void D34_requests_never_hold_more_than_the_batch_size(void **state)
{
	assert_requests(*state, 0);
	assert_requests(*state, 1);
	assert_requests(*state, 2);
	assert_requests(*state, 3);
	assert_requests(*state, 4);
	assert_requests(*state, 8);
	assert_requests(*state, 64);
}

static void the_test_codec_sees_a_bound_that_fits_its_buffers(void **state)
{
	struct bench *b = bench_new(*state, 8);
	struct comp_context *ctx;

	b->codec.pad_to = codec_bound(&b->codec, PAGE);
	ctx = compress(b, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(comp_result(ctx, i), b->codec.pad_to);
	comp_release(ctx);
	bench_end(b); /* the red zones behind the buffers are whole */
}

/* One segment of several fails: what comes of it, and of its neighbours? */
static int result_of(struct bench *b, enum codec_fault fault)
{
	struct comp_context *ctx;
	int result;

	codec_fail(&b->codec.compress, fault, 1);
	ctx = compress(b, 3);
	codec_behave(&b->codec.compress);
	result = comp_result(ctx, 0);
	assert_true(fault == CODEC_REQUEST_ERROR || comp_result(ctx, 1) > 0);
	assert_true(fault == CODEC_REQUEST_ERROR || comp_result(ctx, 2) > 0);
	comp_release(ctx);
	return result;
}

static void D39_results_that_cannot_be_are_failures(void **state)
{
	struct bench *b = bench_new(*state, 4);

	assert_int_equal(result_of(b, CODEC_ZERO), -EIO);
	assert_int_equal(result_of(b, CODEC_DST_PLUS_1), -EIO);
	assert_int_equal(result_of(b, CODEC_HUGE), -EIO);
	assert_int_equal(result_of(b, CODEC_ERROR), -EIO);
	assert_int_equal(result_of(b, CODEC_NOT_DONE), -EIO);
	assert_true(result_of(b, CODEC_VERY_LOW) < 0);
	assert_true(result_of(b, CODEC_GOOD) > 0);
	bench_end(b);
}

static void D39_a_result_may_fill_its_buffer_to_the_last_byte(void **state)
{
	struct bench *b = bench_new(*state, 4);

	b->codec.pad_to = b->comp->buffer_bytes;
	assert_int_equal(result_of(b, CODEC_GOOD), b->comp->buffer_bytes);
	bench_end(b);
}

static void a_failed_request_voids_all_its_segments(void **state)
{
	struct bench *b = bench_new(*state, 4);
	struct comp_context *ctx;

	codec_fail(&b->codec.compress, CODEC_REQUEST_ERROR, 1);
	ctx = compress(b, 8); /* two requests */
	codec_behave(&b->codec.compress);
	for (unsigned i = 0; i < 8; i++)
		assert_true(i < 4 ? comp_result(ctx, i) == -EIO :
				    comp_result(ctx, i) > 0);
	comp_release(ctx);
	bench_end(b);
}

static int does_not_fit(void *instance, void *ctx,
			struct zswap_comp_request *req)
{
	(void)instance, (void)ctx;
	errno = EDOM; /* a codec's errno is not the library's */
	req->segments->result = -ENOSPC;
	return 0;
}

static int positive(void *instance, void *ctx, struct zswap_comp_request *req)
{
	(void)instance, (void)ctx;
	errno = EDOM;
	req->segments->result = (int32_t)req->unit_size;
	return 1;
}

static int result_with(struct unit *u,
		       int (*compress_one)(void *, void *,
					   struct zswap_comp_request *))
{
	struct zswap_compressor vtable = codec_plain;
	const struct zswap_compressor *one = &vtable;
	struct comp_list own = list_of(&one);
	static char page[PAGE];
	const void *source = page;
	struct comp_context *ctx;
	struct comp *comp;
	int result;

	vtable.compress = compress_one;
	assert_int_equal(create(u, &own, "plain", PAGE, &comp), 0);
	ctx = comp_claim(comp);
	errno = ERANGE;
	comp_compress(comp, ctx, &source, 1);
	assert_int_equal(errno, ERANGE);
	result = comp_result(ctx, 0);
	comp_release(ctx);
	comp_destroy(comp);
	return result;
}

static void D36_not_fitting_is_told_apart_from_failing(void **state)
{
	assert_int_equal(result_with(*state, does_not_fit), -ENOSPC);
	assert_int_equal(result_with(*state, positive), -EIO);
}

static void D40_a_page_that_is_not_exact_is_an_error(void **state)
{
	static const enum codec_fault faults[] = {
		CODEC_ZERO,     CODEC_UNIT_LESS_1,   CODEC_UNIT_PLUS_1,
		CODEC_HUGE,     CODEC_ERROR,         CODEC_VERY_LOW,
		CODEC_NOT_DONE, CODEC_REQUEST_ERROR,
	};
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx = compress(b, 1);
	uint32_t len = (uint32_t)comp_result(ctx, 0);
	struct guard guard;
	void *page = guard_at_end(&guard, PAGE);

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		codec_fail(&b->codec.decompress, faults[i], 1);
		assert_int_equal(comp_decompress(b->comp, comp_buffer(ctx, 0),
						 len, page),
				 -EIO);
		/* D42: the same context serves well afterwards. */
		codec_behave(&b->codec.decompress);
		assert_int_equal(comp_decompress(b->comp, comp_buffer(ctx, 0),
						 len, page),
				 0);
		assert_memory_equal(page, b->pages[0], PAGE);
	}
	guard_free(&guard);
	comp_release(ctx);
	bench_end(b);
}

/* ---- lz4 ----------------------------------------------------------------- */

/* Source and destination both touch inaccessible memory. */
static void exercise_lz4(struct comp *comp, enum page_kind kind, size_t page,
			 struct rng *rng)
{
	struct guard in, packed, out;
	char *source = guard_at_end(&in, page);
	const void *sources = source;
	char *middle = guard_at_end(&packed, comp->buffer_bytes);
	char *result = guard_at_end(&out, page);
	struct comp_context *ctx = comp_claim(comp);
	uint32_t len;

	page_make(source, page, kind, rng_next(rng));
	guard_allow_reading(&in);
	comp_compress(comp, ctx, &sources, 1);
	assert_true(comp_result(ctx, 0) > 0);
	len = (uint32_t)comp_result(ctx, 0);
	middle += comp->buffer_bytes - len;
	memcpy(middle, comp_buffer(ctx, 0), len);
	comp_release(ctx);
	assert_int_equal(comp_decompress(comp, middle, len, result), 0);
	assert_memory_equal(result, source, page);
	/* D41: damaged and cut input ends in an error or in any bytes. */
	for (int i = 0; i < 50; i++) {
		uint32_t at = rng_below(rng, len), cut = rng_below(rng, len);

		middle[at] ^= (char)(1 + rng_below(rng, 255));
		comp_decompress(comp, middle + cut, len - cut, result);
	}
	guard_free(&in);
	guard_free(&packed);
	guard_free(&out);
}

static void D41_lz4_stays_inside_its_buffers(void **state)
{
	static const uint32_t sizes[] = { 4096, 16384, 65536 };
	struct unit *u = *state;
	struct rng rng;

	rng_init(&rng, 41);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct comp *comp;

		assert_int_equal(create(u, &nobody, "lz4", sizes[i], &comp), 0);
		for (int kind = 0; kind < PAGE_KINDS; kind++)
			exercise_lz4(comp, (enum page_kind)kind, sizes[i],
				     &rng);
		comp_destroy(comp);
	}
}

/* ---- contexts ------------------------------------------------------------ */

struct waiter {
	struct bench *b;
	_Atomic(struct comp_context *) got;
};

static void claim(void *arg)
{
	struct waiter *w = arg;
	struct comp_context *ctx = comp_claim(w->b->comp);

	CHECK(ctx);
	atomic_store(&w->got, ctx);
	comp_release(ctx);
}

/* Returns when the thread sleeps for a context. */
static void let_it_wait(struct waiter *w, struct thread *thread)
{
	unsigned round = 0;

	atomic_store(&w->got, NULL);
	thread_start(thread, claim, w);
	while (!atomic_load(&w->b->comp->compress.waiters))
		wait_a_moment(&round);
	assert_null(atomic_load(&w->got));
}

static void D43_contexts_are_exclusive_and_grow_to_the_processors(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx[NR_CPUS];
	struct waiter w = { .b = b };
	struct thread thread;

	assert_int_equal(b->comp->compress.nr, 1);
	errno = EDOM;
	for (unsigned i = 0; i < NR_CPUS; i++) {
		ctx[i] = comp_claim(b->comp);
		assert_int_equal(errno, EDOM);
		assert_non_null(ctx[i]);
		for (unsigned j = 0; j < i; j++)
			assert_ptr_not_equal(ctx[i], ctx[j]);
		assert_int_equal(b->comp->compress.nr, i + 1);
	}
	let_it_wait(&w, &thread);
	for (unsigned i = 0; i < NR_CPUS; i++)
		comp_release(ctx[i]);
	thread_join(&thread);
	assert_non_null(w.got);
	assert_int_equal(b->comp->compress.nr, NR_CPUS);
	bench_end(b);
}

/*
 * A claim used to wait for the context of its thread's number alone, however
 * many others became free: for as long as one codec call took.
 */
static void a_claim_that_waits_gets_whichever_context_is_released(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx[NR_CPUS];
	struct waiter w = { .b = b };
	struct thread thread;

	for (unsigned i = 0; i < NR_CPUS; i++)
		ctx[i] = comp_claim(b->comp);
	for (unsigned i = 0; i < NR_CPUS; i++) {
		let_it_wait(&w, &thread);
		comp_release(ctx[i]);
		thread_join(&thread);
		assert_ptr_equal(w.got, ctx[i]);
		ctx[i] = comp_claim(b->comp);
	}
	for (unsigned i = 0; i < NR_CPUS; i++)
		comp_release(ctx[i]);
	bench_end(b);
}

static void without_memory_for_a_context_a_claim_waits(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx = comp_claim(b->comp);
	struct waiter w = { .b = b };
	struct thread thread;

	for (uint64_t k = 1; k <= 3; k++) {
		faulty_fail_from(&b->u->hooks, FAULTY_ANY, k);
		let_it_wait(&w, &thread);
		assert_int_equal(faulty_fail_none(&b->u->hooks), 1);
		comp_release(ctx);
		thread_join(&thread);
		assert_ptr_equal(w.got, ctx);
		assert_int_equal(b->comp->compress.nr, 1);
		ctx = comp_claim(b->comp);
		assert_ptr_equal(ctx, w.got);
	}
	/* Memory came back: the next one finds some. */
	assert_ptr_not_equal(comp_claim(b->comp), ctx);
	assert_int_equal(b->comp->compress.nr, 2);
	for (unsigned i = 0; i < 2; i++)
		comp_release(b->comp->compress.all[i]);
	bench_end(b);
}

static void a_codec_that_makes_no_context_is_tolerated(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx = comp_claim(b->comp);
	struct waiter w = { .b = b };
	struct thread thread;

	b->codec.compress_ctx_error = -ENODEV;
	let_it_wait(&w, &thread);
	comp_release(ctx);
	thread_join(&thread);
	assert_ptr_equal(w.got, ctx);
	bench_end(b);
}

/* What a codec finds that calls the library. */
struct nested {
	struct bench *b;
	const void *packed;
	uint32_t len;
	struct comp_context *claimed;
	int err;
	unsigned depth;
};

static void claim_inside(void *arg)
{
	struct nested *n = arg;

	n->claimed = comp_claim(n->b->comp);
	if (n->claimed)
		comp_release(n->claimed);
}

static void a_claim_inside_a_codec_never_waits(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx[NR_CPUS];
	struct nested n = { .b = b };

	b->codec.compress.call = claim_inside;
	b->codec.compress.call_arg = &n;
	/* One is free, or can be made. */
	ctx[0] = compress(b, 1);
	assert_non_null(n.claimed);
	assert_ptr_not_equal(n.claimed, ctx[0]);
	/* None is. */
	for (unsigned i = 1; i < NR_CPUS; i++)
		ctx[i] = comp_claim(b->comp);
	comp_compress(b->comp, ctx[0], b->sources, 1);
	assert_null(n.claimed);
	assert_true(comp_result(ctx[0], 0) > 0);
	for (unsigned i = 0; i < NR_CPUS; i++)
		comp_release(ctx[i]);
	bench_end(b);
}

static void claim_while_made(void *arg, enum codec_event event)
{
	if (event == CODEC_CTX_CREATE)
		claim_inside(arg);
}

static void a_claim_while_a_context_is_made_never_waits(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx = comp_claim(b->comp), *second;
	struct nested n = { .b = b, .claimed = ctx };

	b->codec.event_arg = &n;
	b->codec.event = claim_while_made;
	second = comp_claim(b->comp);
	b->codec.event = NULL;
	assert_null(n.claimed);
	assert_ptr_not_equal(second, ctx);
	comp_release(ctx);
	comp_release(second);
	bench_end(b);
}

static void decompress_inside(void *arg)
{
	struct nested *n = arg;
	char page[PAGE];

	n->depth++;
	n->err = comp_decompress(n->b->comp, n->packed, n->len, page);
}

static void decompressions_may_nest_as_deep_as_there_are_contexts(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx = compress(b, 1);
	struct nested n = { .b = b,
			    .packed = comp_buffer(ctx, 0),
			    .len = (uint32_t)comp_result(ctx, 0) };
	char page[PAGE];

	/* Each call makes another, until there is no context any more. */
	b->codec.decompress.call = decompress_inside;
	b->codec.decompress.call_arg = &n;
	assert_int_equal(comp_decompress(b->comp, n.packed, n.len, page), 0);
	assert_int_equal(n.depth, NR_CPUS);
	assert_int_equal(n.err, 0); /* of the outermost */
	assert_memory_equal(page, b->pages[0], PAGE);
	b->codec.decompress.call = NULL;
	for (unsigned i = 0; i < NR_CPUS; i++) {
		assert_true(lock_try(&b->comp->decompress.all[i]->lock));
		lock_give(&b->comp->decompress.all[i]->lock);
	}
	comp_release(ctx);
	bench_end(b);
}

static void a_decompression_inside_a_codec_never_waits(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *ctx = compress(b, 1);
	struct nested n = { .b = b,
			    .packed = comp_buffer(ctx, 0),
			    .len = (uint32_t)comp_result(ctx, 0) };

	for (unsigned i = 0; i < NR_CPUS; i++)
		lock_take(&b->comp->decompress.all[i]->lock);
	b->codec.compress.call = decompress_inside;
	b->codec.compress.call_arg = &n;
	comp_release(ctx);
	comp_release(compress(b, 1));
	assert_int_equal(n.depth, 1);
	assert_int_equal(n.err, -EDEADLK);
	for (unsigned i = 0; i < NR_CPUS; i++)
		lock_give(&b->comp->decompress.all[i]->lock);
	bench_end(b);
}

static void work(unsigned index, void *arg)
{
	struct bench *b = arg;
	char page[PAGE];

	for (unsigned i = 0; i < 300; i++) {
		unsigned nr = 1 + (index + i) % 8, last = nr - 1;
		struct comp_context *ctx = comp_claim(b->comp);

		comp_compress(b->comp, ctx, b->sources, nr);
		CHECK(comp_decompress(b->comp, comp_buffer(ctx, last),
				      (uint32_t)comp_result(ctx, last),
				      page) == 0);
		CHECK(!memcmp(page, b->pages[last], PAGE));
		comp_release(ctx);
	}
	watchdog_progress();
}

static void D43_threads_never_share_a_context(void **state)
{
	struct bench *b = bench_new(*state, 4);

	run_threads(2 * NR_CPUS, work, b);
	assert_true(b->comp->compress.nr <= NR_CPUS);
	bench_end(b); /* the codec saw no context used twice at a time */
}

/* Of several free ones; a thread's number would always choose the same. */
static void D44_a_thread_claims_the_context_it_used_last(void **state)
{
	struct bench *b = bench_new(*state, 1);
	struct comp_context *one = comp_claim(b->comp);
	struct comp_context *other = comp_claim(b->comp);

	assert_ptr_not_equal(one, other);
	comp_release(one);
	comp_release(other);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(comp_claim(b->comp), other);
		comp_release(other);
	}
	/* While that one is taken it gets the first, and then stays there. */
	lock_take(&other->lock);
	assert_ptr_equal(comp_claim(b->comp), one);
	comp_release(one);
	lock_give(&other->lock);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(comp_claim(b->comp), one);
		comp_release(one);
	}
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(specs_are_a_name_or_a_name_and_options),
		unit_case(D46_unknown_names_and_options_are_refused),
		unit_case(a_compressor_of_the_callers_own_hides_a_built_in_one),
		unit_case(a_vtable_without_what_it_needs_is_refused),
		unit_case(names_in_vtables_obey_the_rules),
		unit_case(D35_wrong_batch_sizes_are_refused),
		unit_case(a_bound_out_of_reason_is_refused),
		unit_case(D48_making_survives_any_failing_hook),
		unit_case(D46_errors_of_a_compressor_are_passed_on),
		unit_case(decompression_contexts_are_made_with_the_comp),
		unit_case(memory_of_a_compressor_is_counted),
		unit_case(D34_requests_never_hold_more_than_the_batch_size),
		unit_case(the_test_codec_sees_a_bound_that_fits_its_buffers),
		unit_case(D39_results_that_cannot_be_are_failures),
		unit_case(D39_a_result_may_fill_its_buffer_to_the_last_byte),
		unit_case(a_failed_request_voids_all_its_segments),
		unit_case(D36_not_fitting_is_told_apart_from_failing),
		unit_case(D40_a_page_that_is_not_exact_is_an_error),
		unit_case(D41_lz4_stays_inside_its_buffers),
		unit_case(
			D43_contexts_are_exclusive_and_grow_to_the_processors),
		unit_case(
			a_claim_that_waits_gets_whichever_context_is_released),
		unit_case(without_memory_for_a_context_a_claim_waits),
		unit_case(a_codec_that_makes_no_context_is_tolerated),
		unit_case(a_claim_inside_a_codec_never_waits),
		unit_case(a_claim_while_a_context_is_made_never_waits),
		unit_case(
			decompressions_may_nest_as_deep_as_there_are_contexts),
		unit_case(a_decompression_inside_a_codec_never_waits),
		unit_case(D43_threads_never_share_a_context),
		unit_case(D44_a_thread_claims_the_context_it_used_last),
	};

	watchdog_start("test_comp", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
