// SPDX-License-Identifier: MIT
/*
 * test_pool.c - a pool has a compressor and an allocator, or does not exist; it
 * dies when it is retired and nobody refers to it, once
 */
#include "unit.h"

#include <errno.h>

#include "arena.h"
#include "pool.h"
#include "threads.h"

static const struct comp_list nobody = { NULL, 0 };

static int open_pool(struct pool *pool, const char *text, uint32_t page_bytes)
{
	struct zs_params params;
	struct spec spec;

	assert_int_equal(spec_resolve(&nobody, text, &spec, NULL), 0);
	params = exact_params(page_bytes, ZS_NORMAL_CHAIN);
	return pool_open(pool, &spec, &params);
}

static void a_pool_joins_a_compressor_and_an_allocator(void **state)
{
	struct unit *u = *state;
	struct pool *pool = pool_new(&u->mem, 7);

	assert_int_equal(pool->number, 7);
	assert_int_equal(pool_state(pool), POOL_FREE);
	assert_int_equal(open_pool(pool, "lz4", 16384), 0);
	assert_string_equal(pool->comp->name, "lz4");
	assert_int_equal(pool->comp->unit_size, 16384);
	assert_int_equal(pool->zs->table.page_bytes, 16384);
	assert_int_equal(pool->zs->span.slack_bytes, 8 * 16384);
	assert_int_equal(zs_arena_pages(pool->zs), 0);
	pool_delete(pool);
	pool_delete(NULL);
}

static void a_closed_pool_can_be_opened_again(void **state)
{
	struct unit *u = *state;
	struct pool *pool = pool_new(&u->mem, 1);

	for (int i = 0; i < 3; i++) {
		size_t before = metadata_bytes(u);

		assert_int_equal(open_pool(pool, "zstd", 4096), 0);
		assert_true(metadata_bytes(u) > before);
		pool_close(pool);
		assert_int_equal(metadata_bytes(u), before);
	}
	pool_delete(pool);
}

static void D48_opening_a_pool_survives_any_failing_hook(void **state)
{
	struct unit *u = *state;
	struct pool *pool = pool_new(&u->mem, 1);
	size_t before = metadata_bytes(u);
	uint64_t k, failed = 1;

	for (k = 1; failed; k++) {
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = open_pool(pool, "zstd:level=1", 4096);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (!err)
			pool_close(pool);
		assert_int_equal(metadata_bytes(u), before);
	}
	assert_true(k > 6);
	pool_delete(pool);
}

/* ---- states and references ----------------------------------------------- */

static void a_step_is_made_from_the_right_state_only(void **state)
{
	struct unit *u = *state;
	struct pool *pool = pool_new(&u->mem, 1);

	assert_false(pool_move(pool, POOL_CURRENT, POOL_RETIRED));
	assert_true(pool_move(pool, POOL_FREE, POOL_BUILDING));
	assert_false(pool_move(pool, POOL_FREE, POOL_BUILDING));
	assert_true(pool_move(pool, POOL_BUILDING, POOL_CURRENT));
	assert_int_equal(pool_state(pool), POOL_CURRENT);
	pool_delete(pool);
}

static struct pool *current_pool(struct unit *u)
{
	struct pool *pool = pool_new(&u->mem, 1);

	pool_move(pool, POOL_FREE, POOL_BUILDING);
	pool_move(pool, POOL_BUILDING, POOL_CURRENT);
	return pool;
}

static void a_current_pool_does_not_die(void **state)
{
	struct unit *u = *state;
	struct pool *pool = current_pool(u);

	pool_get(pool, 3);
	assert_false(pool_put(pool, 3));
	assert_false(pool_dies(pool));
	pool_delete(pool);
}

static void a_retired_pool_dies_with_its_last_reference(void **state)
{
	struct unit *u = *state;
	struct pool *pool = current_pool(u);

	pool_get(pool, 3);
	assert_true(pool_move(pool, POOL_CURRENT, POOL_RETIRED));
	assert_false(pool_dies(pool));
	assert_false(pool_put(pool, 2));
	assert_true(pool_put(pool, 1));
	assert_int_equal(pool_state(pool), POOL_DEAD);
	/* Only one caller is told. */
	assert_false(pool_dies(pool));
	pool_delete(pool);
}

static void a_pool_taken_back_into_use_does_not_die(void **state)
{
	struct unit *u = *state;
	struct pool *pool = current_pool(u);

	pool_get(pool, 1);
	pool_move(pool, POOL_CURRENT, POOL_RETIRED);
	assert_true(pool_move(pool, POOL_RETIRED, POOL_CURRENT));
	assert_false(pool_put(pool, 1));
	assert_int_equal(pool_state(pool), POOL_CURRENT);
	pool_delete(pool);
}

/*
 * A thread that has read the state of a retired pool sums up the references,
 * then makes the step to DEAD if the word is still the same. Between the two
 * the pool may have been taken back into use, stored to, and retired again.
 */
static void D08_a_pool_retired_again_is_told_from_the_one_it_was(void **state)
{
	struct unit *u = *state;
	struct pool *pool = current_pool(u);
	uint64_t word;

	pool_move(pool, POOL_CURRENT, POOL_RETIRED);
	word = atomic_load(&pool->state);
	pool_move(pool, POOL_RETIRED, POOL_CURRENT);
	pool_move(pool, POOL_CURRENT, POOL_RETIRED);
	assert_int_equal(pool_state(pool), POOL_RETIRED);
	assert_true(atomic_load(&pool->state) != word);
	pool_delete(pool);
}

/*
 * Likewise where somebody has got a reference between the two, to compact a
 * pool that may be retired: the step to DEAD must fail.
 */
static void D52_a_retired_pool_that_is_held_is_told_from_before(void **state)
{
	struct unit *u = *state;
	struct pool *pool = current_pool(u);
	uint64_t word;

	pool_move(pool, POOL_CURRENT, POOL_RETIRED);
	word = atomic_load(&pool->state);
	pool_get(pool, 1);
	assert_true(pool_is_alive(pool));
	assert_int_equal(pool_state(pool), POOL_RETIRED);
	assert_true(atomic_load(&pool->state) != word);
	assert_false(pool_dies(pool));
	assert_true(pool_put(pool, 1));
	assert_int_equal(pool_state(pool), POOL_DEAD);
	assert_false(pool_is_alive(pool));
	pool_delete(pool);
}

static void a_pool_is_alive_where_it_is_current_or_retired(void **state)
{
	struct unit *u = *state;
	struct pool *pool = pool_new(&u->mem, 1);

	assert_false(pool_is_alive(pool));
	assert_true(pool_move(pool, POOL_FREE, POOL_BUILDING));
	assert_false(pool_is_alive(pool));
	assert_true(pool_move(pool, POOL_BUILDING, POOL_CURRENT));
	assert_true(pool_is_alive(pool));
	assert_int_equal(pool_state(pool), POOL_CURRENT);
	assert_true(pool_move(pool, POOL_CURRENT, POOL_RETIRED));
	assert_true(pool_is_alive(pool));
	pool_delete(pool);
}

/* Each reference is dropped by another thread than the one that took it. */
struct relay {
	struct pool *pool;
	_Atomic unsigned nr_dead;
};

#define RELAY_THREADS 4
#define RELAY_REFS 5000

static void drop_references(unsigned index, void *arg)
{
	struct relay *relay = arg;

	(void)index;
	for (int i = 0; i < RELAY_REFS; i++)
		if (pool_put(relay->pool, 1))
			atomic_fetch_add(&relay->nr_dead, 1);
}

static void D04_threads_that_drop_all_references_kill_a_pool_once(void **state)
{
	struct unit *u = *state;

	for (int round = 0; round < 20; round++) {
		struct relay relay = { .pool = current_pool(u) };

		pool_get(relay.pool, RELAY_THREADS * RELAY_REFS);
		pool_move(relay.pool, POOL_CURRENT, POOL_RETIRED);
		run_threads(RELAY_THREADS, drop_references, &relay);
		assert_int_equal(relay.nr_dead, 1);
		pool_delete(relay.pool);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(a_pool_joins_a_compressor_and_an_allocator),
		unit_case(a_closed_pool_can_be_opened_again),
		unit_case(D48_opening_a_pool_survives_any_failing_hook),
		unit_case(a_step_is_made_from_the_right_state_only),
		unit_case(a_current_pool_does_not_die),
		unit_case(a_retired_pool_dies_with_its_last_reference),
		unit_case(a_pool_taken_back_into_use_does_not_die),
		unit_case(D08_a_pool_retired_again_is_told_from_the_one_it_was),
		unit_case(D52_a_retired_pool_that_is_held_is_told_from_before),
		unit_case(a_pool_is_alive_where_it_is_current_or_retired),
		unit_case(
			D04_threads_that_drop_all_references_kill_a_pool_once),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
