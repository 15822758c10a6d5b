// SPDX-License-Identifier: MIT
/*
 * test_pool.c - a pool has a compressor and an allocator, or does not exist
 */
#include "unit.h"

#include <errno.h>

#include "pool.h"

static const struct comp_list nobody = { NULL, 0 };

static void a_pool_joins_a_compressor_and_an_allocator(void **state)
{
	struct unit *u = *state;
	struct pool *pool;

	assert_int_equal(pool_create(&u->mem, &nobody, "lz4", 16384, 7, &pool),
			 0);
	assert_int_equal(pool->number, 7);
	assert_string_equal(pool->comp->name, "lz4");
	assert_int_equal(pool->comp->unit_size, 16384);
	assert_int_equal(pool->zs->table.page_bytes, 16384);
	assert_int_equal(zs_get_total_pages(pool->zs), 0);
	pool_destroy(pool);
}

static void D46_a_pool_of_an_unknown_compressor_is_not_made(void **state)
{
	struct unit *u = *state;
	struct pool *pool = (struct pool *)u;

	assert_int_equal(pool_create(&u->mem, &nobody, "nope", 4096, 1, &pool),
			 -ENOENT);
	assert_null(pool);
	pool_destroy(NULL);
}

static void D48_making_a_pool_survives_any_failing_hook(void **state)
{
	struct unit *u = *state;
	struct pool *pool;
	uint64_t k, failed = 1;

	for (k = 1; failed; k++) {
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = pool_create(&u->mem, &nobody, "lz4", 4096, 1, &pool);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_int_equal(!pool, !!failed);
		pool_destroy(pool);
	}
	assert_true(k > 4);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(a_pool_joins_a_compressor_and_an_allocator),
		unit_case(D46_a_pool_of_an_unknown_compressor_is_not_made),
		unit_case(D48_making_a_pool_survives_any_failing_hook),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
