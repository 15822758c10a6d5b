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
	struct zswap_params all = *params;
	struct zswap *z;

	if (!all.hooks)
		all.hooks = usual_hooks();
	watchdog_start(program, HANG_S);
	CHECK(zswap_create(&z, &all) == 0);
	CHECK(zswap_swapon(z, 0, AREA_SLOTS) == 0);
	return z;
}

struct zswap *stress_begin(const char *program)
{
	struct zswap_params params = { .size = sizeof(params) };

	return stress_begin_with(program, &params);
}

void stress_end(struct zswap *z)
{
	struct zswap_stats stats;

	zswap_invalidate(z, at(0), AREA_SLOTS);
	stats = stress_stats(z);
	CHECK(stats.stored_pages == 0);
	CHECK(stats.same_filled_pages == 0);
	CHECK(stats.stored_incompressible_pages == 0);
	CHECK(stats.original_bytes == 0);
	CHECK(stats.compressed_bytes == 0);
	CHECK(stats.pool_total_size == 0);
	CHECK(stats.reserve_bytes == 0);
	stress_check_sums(z);
	zswap_destroy(z);
	CHECK(usual_hooks_end());
	watchdog_stop();
}

struct zswap_stats stress_stats(struct zswap *z)
{
	struct zswap_stats stats;

	stats.size = sizeof(stats);
	CHECK(zswap_get_stats(z, &stats) == 0);
	return stats;
}

/* The counters, which only grow: from the first to the struct's end. */
static void check_counters(const struct zswap_stats *before,
			   const struct zswap_stats *now)
{
	const uint64_t *a = &before->stores, *b = &now->stores;

	for (; b < &now->refused_folios_512 + 1; a++, b++)
		CHECK(*b >= *a);
}

void stress_poll(struct zswap *z, uint64_t deadline,
		 void (*check_gauges)(const struct zswap_stats *now))
{
	struct zswap_stats before = stress_stats(z), now;

	while (!deadline_is_over(deadline)) {
		now = stress_stats(z);
		check_gauges(&now);
		check_counters(&before, &now);
		before = now;
	}
}

#define BY_SIZE(s, name)                                                      \
	((s)->name##_1 + (s)->name##_2 + (s)->name##_4 + (s)->name##_8 +      \
	 (s)->name##_16 + (s)->name##_32 + (s)->name##_64 + (s)->name##_128 + \
	 (s)->name##_256 + (s)->name##_512)

void stress_check_sums(struct zswap *z)
{
	struct zswap_stats s = stress_stats(z);

	CHECK(s.stores == s.stored_folios + s.refused_folios);
	CHECK(s.stored_folios == BY_SIZE(&s, stored_folios));
	CHECK(s.refused_folios == BY_SIZE(&s, refused_folios));
	CHECK(s.refused_folios ==
	      s.reject_disabled + s.reject_limit + s.reject_compress_poor +
		      s.reject_compress_fail + s.reject_alloc_fail +
		      s.reject_kmemcache_fail + s.reject_no_context);
	CHECK(s.loads == s.zswpin + s.load_misses + s.load_errors);
	CHECK(s.original_bytes ==
	      (s.stored_pages - s.same_filled_pages) * zswap_page_size(z));
}

const char *const *stress_specs(void)
{
	/* What may be missing comes first. */
	static const char *const all[] = { "lzo",     "lz4",
					   "lz4hc",   "zstd:level=1",
					   "zstd",    "zstd:level=-5",
					   "deflate", NULL };

	return zswap_spec_check("lzo", NULL) ? all + 1 : all;
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
