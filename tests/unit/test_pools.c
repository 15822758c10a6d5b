// SPDX-License-Identifier: MIT
/*
 * test_pools.c - a pool that is held stays, whenever others switch
 *
 * No entry keeps a pool here: each switch ends the pool before, unless it is
 * held at that moment. What else pools do is tested through the public calls.
 */
#include "unit.h"

#include <string.h>

#include "arena.h"
#include "check.h"
#include "coding.h"
#include "halt.h"
#include "pools.h"
#include "watchdog.h"

#define PAGE 4096
#define NR_SPECS 2

static const char *const specs[NR_SPECS] = { "red", "blue" };

/* What a store relies on while it has references. */
static void check_held(struct pool *pool)
{
	enum pool_state state = pool_state(pool);

	CHECK(state == POOL_CURRENT || state == POOL_RETIRED);
	CHECK(pool->comp && pool->zs);
}

static void hold_and_drop(void *arg)
{
	struct pools *pools = arg;
	struct pool *pool = pools_hold(pools, 2);

	check_held(pool);
	pools_put(pools, pool, 1);
	check_held(pool);
	pools_put(pools, pool, 1);
}

static void D07_a_pool_held_across_a_switch_is_not_ended(void **state)
{
	struct unit *u = *state;
	struct zswap_compressor ops[NR_SPECS];
	const struct zswap_compressor *all[NR_SPECS];
	const struct comp_list own = { all, NR_SPECS };
	const struct zs_params params = exact_params(PAGE, ZS_NORMAL_CHAIN);
	struct pools pools;

	for (unsigned i = 0; i < NR_SPECS; i++) {
		ops[i] = codec_plain;
		ops[i].name = specs[i];
		all[i] = &ops[i];
	}
	memset(&pools, 0, sizeof(pools));
	assert_int_equal(pools_init(&pools, &u->mem, &params, &own, specs[0]),
			 0);
	halt_start(hold_and_drop, &pools);
	for (unsigned i = 1; i <= HALTS; i++) {
		halt();
		CHECK(!pools_switch(&pools, specs[i % NR_SPECS]));
		halt_go_on();
	}
	halt_end();
	pools_reap(&pools);
	assert_int_equal(pools.nr, 1);
	pools_exit(&pools);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(D07_a_pool_held_across_a_switch_is_not_ended),
	};

	watchdog_start("test_pools", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
