// SPDX-License-Identifier: MIT
/*
 * test_stack.c - how much of the caller's stack the calls need
 *
 * A call runs on a stack that was painted before; how much paint is gone tells
 * its depth. What a thread needs by itself is measured by one without a call.
 */
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "sanitizer.h"

#define STACK_BYTES ((size_t)1 << 20)
#define PAINT 0xa7
#define LIMIT_BYTES ((size_t)48 << 10)

struct dive {
	struct fixture *f;
	struct zswap_folio folio;
	void (*call)(struct dive *dive);
};

static void *dive_main(void *arg)
{
	struct dive *dive = arg;

	dive->call(dive);
	return NULL;
}

static size_t depth_of(struct dive *dive, void (*call)(struct dive *dive))
{
	unsigned char *stack = aligned_alloc(4096, STACK_BYTES);
	pthread_attr_t attr;
	pthread_t thread;
	size_t untouched = 0;

	assert_non_null(stack);
	memset(stack, PAINT, STACK_BYTES);
	dive->call = call;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstack(&attr, stack, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attr, dive_main, dive), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	while (untouched < STACK_BYTES && stack[untouched] == PAINT)
		untouched++;
	free(stack);
	return STACK_BYTES - untouched;
}

static void do_nothing(struct dive *dive)
{
	(void)dive;
}

static void do_store(struct dive *dive)
{
	CHECK(zswap_store_folio(dive->f->z, &dive->folio) == 0);
}

static void do_load(struct dive *dive)
{
	CHECK(zswap_load_folio(dive->f->z, &dive->folio, 0) == 0);
}

static void folio_calls_need_at_most_48_kib_of_stack(void **state)
{
	struct fixture *f = *state;
	struct dive dive = { .f = f };
	size_t idle;
	char *data;

	if (TEST_ASAN || TEST_TSAN)
		skip(); /* their frames are larger */
	data = malloc(ZSWAP_MAX_FOLIO * f->page_size);
	assert_non_null(data);
	make_pages(f, data, ZSWAP_MAX_FOLIO, 0);
	dive.folio = folio_of_data(at(300), ZSWAP_MAX_FOLIO, data);
	idle = depth_of(&dive, do_nothing);
	assert_in_range(depth_of(&dive, do_store), idle + 1024,
			idle + LIMIT_BYTES);
	assert_in_range(depth_of(&dive, do_load), idle + 1024,
			idle + LIMIT_BYTES);
	free(data);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(folio_calls_need_at_most_48_kib_of_stack),
	};

	return run_all_variants("stack", cases,
				sizeof(cases) / sizeof(cases[0]));
}
