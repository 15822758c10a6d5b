// SPDX-License-Identifier: MIT
/*
 * stage_judge.c - the end of a round: what is there now, and can it be?
 *
 * All places are looked at, by public calls alone. Whether the cache is enabled
 * only a store can tell, so one is tried beside the stage, last of all.
 */
#include "stage.h"

#include <string.h>

static void look_at_slot(struct stage *stage, unsigned i)
{
	int state = zswap_query(stage->z, stage_slot(stage, i)), err;
	uint64_t version = 0;

	stage->now[PLACE_AREA] = state == -ENXIO ? AREA_OFF : AREA_ON;
	err = stress_load(stage->z, stage_slot(stage, i), true, &version);
	stage->now[i] = err ? 0 : (uint32_t)version;
	if (state == -ENXIO) {
		CHECK(err == -ENXIO);
	} else if (state == ZSWAP_ABSENT) {
		CHECK(err == -ENOENT);
		stage->counts.load_misses++;
	} else {
		CHECK(!err && state == (int)stage_kind_of(stage->now[i]));
		stage->counts.zswpin++;
	}
}

static void look_at_compressor(struct stage *stage)
{
	char name[ZSWAP_MAX_SPEC + 1];

	CHECK(zswap_get_compressor(stage->z, name, sizeof(name)) > 0);
	stage->now[PLACE_SPEC] = stage_spec_of(stage, name);
}

/* Pages of the area that no history knows of; all of them are same-filled. */
static uint64_t count_fillers(struct stage *stage)
{
	zswap_slot_t slot = stage_slot(stage, 0);
	uint64_t first = slot.val, nr = 0;

	if (stage->stride == 1)
		return 0;
	for (; zswap_next_present(stage->z, &slot) &&
	       zswap_slot_type(slot) == STAGE_TYPE;
	     slot.val++)
		nr += (slot.val - first) % stage->stride != 0;
	return nr;
}

static void check_gauges(struct stage *stage, const struct zswap_stats *stats)
{
	uint64_t nr[ZSWAP_RAW + 1] = { [ZSWAP_FILLED] = count_fillers(stage) };
	unsigned i;

	for (i = 0; i < STAGE_SLOTS; i++)
		if (stage->now[i])
			nr[stage_kind_of(stage->now[i])]++;
	CHECK(stats->stored_pages == STAGE_ASIDE_PAGES + nr[ZSWAP_STORED] +
					     nr[ZSWAP_FILLED] + nr[ZSWAP_RAW]);
	CHECK(stats->same_filled_pages == nr[ZSWAP_FILLED]);
	CHECK(stats->stored_incompressible_pages == nr[ZSWAP_RAW]);
	CHECK(stats->compressed_bytes >= stage->aside_bytes + nr[ZSWAP_STORED] +
						 nr[ZSWAP_RAW] * PAGE_BYTES);
	CHECK(stats->compressed_bytes <= stats->original_bytes);
}

/* Those counters that follow from the results of calls. */
static void check_counters(struct stage *stage, const struct zswap_stats *stats,
			   const struct zswap_stats *counts)
{
#define CHECK_COUNT(name)                   \
	stage->counts.name += counts->name; \
	CHECK(stats->name == stage->counts.name)
	CHECK_COUNT(stored_folios);
	CHECK_COUNT(refused_folios);
	CHECK_COUNT(zswpout);
	CHECK_COUNT(reject_disabled);
	CHECK_COUNT(reject_limit);
	CHECK_COUNT(reject_compress_poor);
	CHECK_COUNT(reject_compress_fail);
	CHECK_COUNT(zswpin);
	CHECK_COUNT(load_misses);
	CHECK_COUNT(load_errors);
#undef CHECK_COUNT
	stress_check_sums(stage->z);
}

static void look_whether_enabled(struct stage *stage)
{
	const uint64_t filled = 2; /* a version that needs no room */
	zswap_slot_t slot = zswap_slot(STAGE_ASIDE_TYPE, STAGE_PROBE_SLOT);
	int err;

	if (!stage->now[PLACE_LIMIT])
		CHECK(zswap_set_max_pool_bytes(stage->z, ZSWAP_UNLIMITED) == 0);
	err = stress_store(stage->z, slot, filled);
	CHECK(err == 0 || err == -EPERM);
	stage->now[PLACE_ENABLED] = !err;
	stage->counts.stored_folios += !err;
	stage->counts.zswpout += !err;
	stage->counts.refused_folios += !!err;
	stage->counts.reject_disabled += !!err;
	zswap_invalidate(stage->z, slot, 1);
	if (!stage->now[PLACE_LIMIT])
		CHECK(zswap_set_max_pool_bytes(stage->z, 0) == 0);
}

void stage_judge(struct stage *stage, const struct zswap_stats *counts)
{
	struct history *history = &stage->history;
	struct zswap_stats stats;
	unsigned i;

	for (i = 0; i < STAGE_SLOTS; i++)
		look_at_slot(stage, i);
	look_at_compressor(stage);
	stats = stress_stats(stage->z);
	stage->now[PLACE_LIMIT] = stats.max_pool_bytes != 0;
	check_gauges(stage, &stats);
	check_counters(stage, &stats, counts);
	look_whether_enabled(stage);
	memcpy(history->last, stage->now, sizeof(history->last));
	if (history_is_linearizable(history))
		return;
	history_print(history);
	CHECK(!"what the calls saw can have happened");
}
