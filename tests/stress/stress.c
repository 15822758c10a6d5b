// SPDX-License-Identifier: MIT
/*
 * stress.c - what the threaded programs have in common
 */
#include "stress.h"

#include <string.h>

#define HANG_S 60

struct zswap *stress_begin_with(const char *program,
				const struct zswap_params *params)
{
	struct zswap *z;

	watchdog_start(program, HANG_S);
	CHECK(zswap_create(&z, params) == 0);
	CHECK(zswap_swapon(z, 0, AREA_SLOTS) == 0);
	return z;
}

struct zswap *stress_begin(const char *program)
{
	return stress_begin_with(program, NULL);
}

void stress_end(struct zswap *z)
{
	struct zswap_stats stats;

	zswap_invalidate(z, at(0), AREA_SLOTS);
	stats = stress_stats(z);
	CHECK(stats.stored_pages == 0);
	CHECK(stats.same_filled_pages == 0);
	CHECK(stats.stored_incompressible_pages == 0);
	CHECK(stats.compressed_bytes == 0);
	CHECK(stats.pool_total_size == 0);
	CHECK(stats.reserve_bytes == 0);
	zswap_destroy(z);
	watchdog_stop();
}

struct zswap_stats stress_stats(struct zswap *z)
{
	struct zswap_stats stats;

	stats.size = sizeof(stats);
	CHECK(zswap_get_stats(z, &stats) == 0);
	return stats;
}

int stress_store(struct zswap *z, zswap_slot_t slot, uint64_t version)
{
	char page[PAGE_BYTES];

	page_stamp(page, sizeof(page), zswap_slot_offset(slot), version);
	return zswap_store(z, slot, page);
}

int stress_load(struct zswap *z, zswap_slot_t slot, bool keep,
		uint64_t *version)
{
	char page[PAGE_BYTES];
	int err = keep ? zswap_peek(z, slot, page) : zswap_load(z, slot, page);

	if (!err)
		CHECK(page_verify(page, sizeof(page), zswap_slot_offset(slot),
				  version));
	return err;
}
