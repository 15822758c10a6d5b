// SPDX-License-Identifier: MIT
/*
 * test_malloc.c - with hooks nothing is taken from elsewhere
 *
 * This program's malloc() and its kin count their calls, those of the codecs
 * included. The hooks, and cmocka, are left out of the count.
 */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The C library's own, by the names that are not interposed. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *ptr, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

static _Thread_local bool counted;
static atomic_ulong nr_mallocs;

static void count(void)
{
	if (counted)
		atomic_fetch_add(&nr_mallocs, 1);
}

void *malloc(size_t bytes)
{
	count();
	return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	count();
	return __libc_calloc(n, bytes);
}

void *realloc(void *ptr, size_t bytes)
{
	count();
	return __libc_realloc(ptr, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
	count();
	return __libc_memalign(align, bytes);
}

int posix_memalign(void **out, size_t align, size_t bytes)
{
	count();
	*out = __libc_memalign(align, bytes);
	return *out ? 0 : ENOMEM;
}

/* ---- hooks that are not counted ------------------------------------------ */

static void *hook_alloc(void *ctx, size_t bytes, size_t align)
{
	(void)ctx;
	return __libc_memalign(align, bytes);
}

static void hook_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	(void)ctx, (void)bytes, (void)align;
	free(ptr);
}

/* At most one for a cache. */
static struct {
	pthread_t id;
	void (*run)(void *arg);
	void *arg;
} helper;

static void *helper_main(void *unused)
{
	(void)unused;
	counted = true;
	helper.run(helper.arg);
	return NULL;
}

static int hook_thread_create(void *ctx, void **thread, void (*run)(void *arg),
			      void *arg)
{
	int err;

	(void)ctx;
	helper.run = run;
	helper.arg = arg;
	counted = false;
	err = pthread_create(&helper.id, NULL, helper_main, NULL);
	counted = true;
	*thread = &helper;
	return err;
}

static void hook_thread_join(void *ctx, void *thread)
{
	(void)ctx, (void)thread;
	pthread_join(helper.id, NULL);
}

static const struct zswap_hooks hooks = {
	.size = sizeof(hooks),
	.alloc = hook_alloc,
	.free = hook_free,
	.thread_create = hook_thread_create,
	.thread_join = hook_thread_join,
};

/* ---- cases --------------------------------------------------------------- */

#define NR_PAGES 40u
#define PAGE_BYTES 4096u

static char pages[NR_PAGES * PAGE_BYTES];

static unsigned long end_count(void)
{
	counted = false;
	return atomic_exchange(&nr_mallocs, 0);
}

static void the_count_sees_what_the_libraries_take(void **state)
{
	void *volatile kept; /* or the compiler would leave both out */

	(void)state;
	counted = true;
	kept = malloc(1);
	free(kept);
	assert_int_equal(end_count(), 1);
	/* Without hooks the cache's own memory is from malloc(). */
	counted = true;
	assert_creates(NULL);
	assert_true(end_count() > 0);
}

static void use(struct zswap *z)
{
	struct zswap_folio folio = folio_of_data(at(500), NR_PAGES, pages);
	struct zswap_stats stats = { .size = sizeof(stats) };
	char text[64];

	assert_int_equal(zswap_store_folio(z, &folio), 0);
	assert_int_equal(zswap_load_folio(z, &folio, ZSWAP_LOAD_KEEP), 0);
	assert_int_equal(zswap_load(z, at(501), pages), 0);
	zswap_invalidate(z, at(502), 3);
	assert_int_equal(zswap_get_stats(z, &stats), 0);
	assert_true(zswap_format_stats(z, ZSWAP_STATS_TEXT, text,
				       sizeof(text)) > 0);
	assert_int_equal(zswap_set_max_pool_percent(z, 50), 0);
}

static void nothing_is_taken_beside_the_hooks(void **state)
{
	const char *const *specs = builtin_specs();
	struct zswap_params params = params_of(specs[0]);
	struct zswap *z;
	unsigned i;

	(void)state;
	for (i = 0; i < NR_PAGES; i++)
		page_make(pages + i * PAGE_BYTES, PAGE_BYTES,
			  (enum page_kind)(i % PAGE_KINDS), i);
	params.hooks = &hooks;
	params.checksum = with_checksum;
	counted = true;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, AREA_SLOTS), 0);
	for (i = 0; specs[i]; i++) {
		assert_int_equal(zswap_set_compressor(z, specs[i]), 0);
		use(z);
	}
	zswap_destroy(z);
	assert_int_equal(end_count(), 0);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		BARE_CASE(the_count_sees_what_the_libraries_take),
		BARE_CASE(nothing_is_taken_beside_the_hooks),
	};

	return run_cases("malloc", cases, sizeof(cases) / sizeof(cases[0]));
}
