// SPDX-License-Identifier: MIT
/*
 * test_unruly.c - compressors and threads that do what is allowed, just
 *
 * The compressor here halves pages whose second half is zero. It uses its
 * segments as cursors, changes errno in every function, and calls the cache
 * from wherever it is.
 */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define PAGE 4096
#define HALF (PAGE / 2)
#define NR_PAGES 40

struct unruly {
	struct zswap *z;
	int nr_calls;          /* into the cache, from functions that end */
	int stats, load, swap; /* what they returned */
	bool nest;             /* decompress() loads a folio, and so on */
	int nested;            /* what the innermost of these returned */
	int results[3];        /* and its results */
	atomic_bool wait;      /* decompress() waits while this is set */
	atomic_bool waits;
};

static struct unruly unruly;

static void spoil_errno(void)
{
	errno = 1000;
}

static int create(const struct zswap_comp_env *env, const char *options,
		  void **instance)
{
	(void)options;
	spoil_errno();
	assert_ptr_equal(env->user, &unruly);
	*instance = env->user;
	return 0;
}

static void call_the_cache(struct unruly *u)
{
	struct zswap_stats stats = { .size = sizeof(stats) };
	char page[PAGE];

	if (!u->z)
		return;
	u->nr_calls++;
	u->stats = zswap_get_stats(u->z, &stats);
	u->load = zswap_load(u->z, zswap_slot(0, 0), page);
	u->swap = zswap_swapon(u->z, 9, 1);
}

static void destroy(void *instance)
{
	call_the_cache(instance);
	spoil_errno();
}

static size_t bound(void *instance, size_t unit_size)
{
	(void)instance;
	spoil_errno();
	return unit_size;
}

static int ctx_create(void *instance, void **ctx)
{
	*ctx = instance;
	spoil_errno();
	return 0;
}

static void ctx_destroy(void *instance, void *ctx)
{
	assert_ptr_equal(instance, ctx);
	destroy(instance);
}

static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *s = zswap_comp_segment_at(req, 0);
	char *end = (char *)s->dst + HALF;
	const char *src = s->src;

	(void)instance, (void)ctx;
	while ((char *)s->dst < end) {
		*(char *)s->dst = *src++;
		s->dst = (char *)s->dst + 1;
		s->dst_len--;
		s->src_len--;
	}
	s->src = src;
	s->size = 0;
	s->result = HALF;
	spoil_errno();
	return 0;
}

/* Of the three slots the last is absent. */
static int load_three(struct unruly *u, int *results)
{
	char pages[3 * PAGE];
	struct zswap_folio folio = {
		.size = sizeof(folio),
		.slot = zswap_slot(0, NR_PAGES - 2),
		.nr_pages = 3,
		.data = pages,
		.results = results,
	};

	return zswap_load_folio(u->z, &folio,
				ZSWAP_LOAD_KEEP | ZSWAP_LOAD_PARTIAL);
}

/* Each level has a context, until there is none. */
static void nest(struct unruly *u)
{
	int results[3] = { 77, 77, 77 };
	int result = load_three(u, results);

	if (!u->nest)
		return;
	u->nest = false;
	u->nested = result;
	memcpy(u->results, results, sizeof(results));
}

static int decompress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *s = zswap_comp_segment_at(req, 0);
	struct unruly *u = instance;

	(void)ctx;
	memcpy(s->dst, s->src, HALF);
	memset((char *)s->dst + HALF, 0, HALF);
	s->result = PAGE;
	if (u->nest)
		nest(u);
	atomic_store(&u->waits, true);
	while (atomic_load(&u->wait))
		usleep(100);
	spoil_errno();
	return 0;
}

static const struct zswap_compressor vtable = {
	.size = sizeof(vtable),
	.name = "unruly",
	.user = &unruly,
	.create = create,
	.destroy = destroy,
	.bound = bound,
	.compress_ctx_create = ctx_create,
	.compress_ctx_destroy = ctx_destroy,
	.decompress_ctx_create = ctx_create,
	.decompress_ctx_destroy = ctx_destroy,
	.compress = compress,
	.decompress = decompress,
};

static struct zswap *make_cache(struct faulty *hooks)
{
	static const struct zswap_compressor *const list = &vtable;
	struct zswap_params params = params_of("unruly");
	struct zswap *z;

	memset(&unruly, 0, sizeof(unruly));
	params.hooks = hooks ? &hooks->hooks : NULL;
	params.compressors = &list;
	params.nr_compressors = 1;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 1000), 0);
	return z;
}

static void make_page(char *page, int seed)
{
	memset(page, 0, PAGE);
	for (int i = 0; i < HALF; i++)
		page[i] = (char)(i * 7 + seed * 13 + i / 256);
}

static void store_some(struct zswap *z)
{
	char page[PAGE];

	for (int i = 0; i < NR_PAGES; i++) {
		make_page(page, i);
		assert_int_equal(
			zswap_store(z, zswap_slot(0, (uint64_t)i), page), 0);
	}
}

/*
 * Segments used to be bound to their buffers once: the second page went where
 * the first one's cursor had stopped, and out of the buffer in the end.
 */
static void a_compressor_may_use_its_segment_as_a_cursor(void **state)
{
	struct zswap *z = make_cache(NULL);
	char page[PAGE], out[PAGE];

	(void)state;
	store_some(z);
	for (int i = 0; i < NR_PAGES; i++) {
		make_page(page, i);
		assert_int_equal(zswap_query(z, zswap_slot(0, (uint64_t)i)),
				 ZSWAP_STORED);
		assert_int_equal(zswap_load(z, zswap_slot(0, (uint64_t)i), out),
				 0);
		assert_memory_equal(page, out, PAGE);
	}
	zswap_destroy(z);
}

static void errno_is_as_it_was_whatever_a_compressor_does(void **state)
{
	struct zswap *z;
	char page[PAGE];

	(void)state;
	errno = 5;
	z = make_cache(NULL);
	assert_int_equal(errno, 5);
	store_some(z);
	assert_int_equal(errno, 5);
	assert_int_equal(zswap_load(z, zswap_slot(0, 1), page), 0);
	assert_int_equal(errno, 5);
	assert_int_equal(zswap_set_compressor(z, "unruly:another"), 0);
	assert_int_equal(errno, 5);
	zswap_invalidate(z, zswap_slot(0, 0), NR_PAGES); /* ends the first */
	assert_int_equal(errno, 5);
	zswap_destroy(z);
	assert_int_equal(errno, 5);
}

static void D80_functions_that_end_may_call_the_cache(void **state)
{
	struct faulty hooks;
	struct zswap *z;

	(void)state;
	faulty_init(&hooks);
	z = make_cache(&hooks);
	store_some(z);
	unruly.z = z;
	zswap_destroy(z);
	/* One call from each context, and one from the instance. */
	assert_true(unruly.nr_calls >= 3);
	assert_int_equal(unruly.stats, 0);
	assert_int_equal(unruly.load, -ENXIO);
	assert_int_equal(unruly.swap, -EINVAL);
	assert_true(faulty_end(&hooks));
}

/* ---- a nested load that finds no context ------------------------------- */

struct taker {
	struct zswap *z;
	int result;
	pthread_t thread;
};

static void *take_one(void *arg)
{
	struct taker *t = arg;
	char page[PAGE];

	t->result = zswap_peek(t->z, zswap_slot(0, 1), page);
	return NULL;
}

static void results_of_an_edeadlk_load_are_the_documented_ones(void **state)
{
	struct zswap *z = make_cache(NULL);
	int results[3];

	(void)state;
	store_some(z);
	unruly.z = z;
	unruly.nest = true;
	assert_int_equal(load_three(&unruly, results), 2);
	assert_int_equal(unruly.nested, -EDEADLK);
	assert_int_equal(unruly.results[0], 0); /* present */
	assert_int_equal(unruly.results[1], 0);
	assert_int_equal(unruly.results[2], -ENOENT);
	unruly.z = NULL;
	zswap_destroy(z);
}

/* ---- cancellation ------------------------------------------------------ */

static void *swap_off(void *arg)
{
	struct taker *t = arg;

	t->result = zswap_swapoff(t->z, 0);
	return NULL;
}

/*
 * A thread that was cancelled while swapoff waited used to leave an area that
 * neither was there nor could be made again.
 */
static void no_call_is_a_point_of_cancellation(void **state)
{
	struct taker reader, off;
	struct faulty hooks;
	struct zswap *z;

	(void)state;
	faulty_init(&hooks);
	z = make_cache(&hooks);
	reader = (struct taker){ .z = z, .result = 1 };
	off = (struct taker){ .z = z, .result = 1 };
	store_some(z);
	atomic_store(&unruly.waits, false);
	atomic_store(&unruly.wait, true);
	assert_int_equal(
		pthread_create(&reader.thread, NULL, take_one, &reader), 0);
	while (!atomic_load(&unruly.waits))
		usleep(100);
	assert_int_equal(pthread_create(&off.thread, NULL, swap_off, &off), 0);
	usleep(5000); /* it waits now, or will be cancelled before it does */
	assert_int_equal(pthread_cancel(off.thread), 0);
	usleep(5000);
	atomic_store(&unruly.wait, false);
	assert_int_equal(pthread_join(reader.thread, NULL), 0);
	assert_int_equal(pthread_join(off.thread, NULL), 0);
	assert_int_equal(off.result, 0);
	assert_int_equal(zswap_swapon(z, 0, 10), 0);
	zswap_destroy(z);
	assert_true(faulty_end(&hooks));
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		BARE_CASE(a_compressor_may_use_its_segment_as_a_cursor),
		BARE_CASE(errno_is_as_it_was_whatever_a_compressor_does),
		BARE_CASE(D80_functions_that_end_may_call_the_cache),
		BARE_CASE(results_of_an_edeadlk_load_are_the_documented_ones),
		BARE_CASE(no_call_is_a_point_of_cancellation),
	};

	return run_cases("unruly", cases, sizeof(cases) / sizeof(cases[0]));
}
