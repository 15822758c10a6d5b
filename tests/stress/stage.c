// SPDX-License-Identifier: MIT
/*
 * stage.c - a cache whose slots and settings are the places of a history
 */
#include "stage.h"

#include <stdio.h>
#include <string.h>

_Static_assert(NR_PLACES <= HISTORY_PLACES, "all places are in a history");

unsigned stage_kind_of(uint32_t version)
{
	switch (page_stamp_kind(version)) {
	case PAGE_RANDOM:
		return ZSWAP_RAW;
	case PAGE_WORD:
		return ZSWAP_FILLED;
	default:
		return ZSWAP_STORED;
	}
}

/* ---- begin ------------------------------------------------------------- */

static void name_specs(struct stage *stage, bool base_is_codec)
{
	const char *codec = stage->codec.spec;

	snprintf(stage->specs[SPEC_BASE], 32, "%s",
		 base_is_codec ? codec : "lz4");
	snprintf(stage->specs[SPEC_RETIRED], 32, "%s",
		 base_is_codec ? "lz4" : codec);
	snprintf(stage->specs[SPEC_NEW], 32, "%s,new", codec);
}

enum stage_spec stage_spec_of(const struct stage *stage, const char *name)
{
	unsigned i;

	for (i = 0; i < NR_SPECS; i++)
		if (strcmp(name, stage->specs[i]) == 0)
			break;
	CHECK(i < NR_SPECS);
	return (enum stage_spec)i;
}

/* What the stage itself stores, beside the stores that are played. */
static void store_good(struct stage *stage, zswap_slot_t slot, uint32_t version)
{
	CHECK(stress_store(stage->z, slot, version) == 0);
	stage->counts.stored_folios++;
	stage->counts.zswpout++;
}

static zswap_slot_t crowd_slot(unsigned i)
{
	return zswap_slot(STAGE_ASIDE_TYPE, STAGE_CROWD_SLOT + i);
}

static void come(struct stage *stage, unsigned i)
{
	store_good(stage, crowd_slot(i), 0);
	stage->crowd_is_there[i] = true;
	stage->aside_bytes += stage->crowd_bytes[i];
}

static void go(struct stage *stage, unsigned i)
{
	zswap_invalidate(stage->z, crowd_slot(i), 1);
	stage->crowd_is_there[i] = false;
	stage->aside_bytes -= stage->crowd_bytes[i];
}

static void begin_crowd(struct stage *stage)
{
	unsigned i;

	for (i = 0; i < STAGE_CROWD; i++) {
		come(stage, i);
		stage->crowd_bytes[i] =
			stress_stats(stage->z).compressed_bytes -
			stage->aside_bytes;
		stage->aside_bytes += stage->crowd_bytes[i];
	}
	for (i = STAGE_CROWD_PAGES; i < STAGE_CROWD; i++)
		go(stage, i);
}

static void put_page_aside(struct stage *stage)
{
	struct zswap *z = stage->z;

	CHECK(zswap_swapon(z, STAGE_ASIDE_TYPE, STAGE_ASIDE_SLOTS) == 0);
	CHECK(zswap_set_compressor(z, stage->specs[SPEC_RETIRED]) == 0);
	store_good(stage, zswap_slot(STAGE_ASIDE_TYPE, STAGE_ASIDE_SLOT), 0);
	stage->aside_bytes = stress_stats(z).compressed_bytes;
	CHECK(zswap_set_compressor(z, stage->specs[SPEC_BASE]) == 0);
	begin_crowd(stage);
}

void stage_begin(struct stage *stage, const char *program, uint32_t policy,
		 bool base_is_codec, bool hooks)
{
	struct zswap_params params = { .size = sizeof(params),
				       .nr_compressors = 1,
				       .max_pool_bytes = ZSWAP_UNLIMITED,
				       .raw_policy = policy,
				       .chain_size = 2,
				       .class_choice = ZSWAP_CLASSES_EXACT,
				       .memory_flags = ZSWAP_MEM_WIPE };

	memset(stage, 0, sizeof(*stage));
	stage->refuses = policy != ZSWAP_RAW_KEEP;
	stage->memory_ends = hooks;
	faulty_init(&stage->hooks);
	codec_init(&stage->codec, 2);
	name_specs(stage, base_is_codec);
	params.hooks = hooks ? &stage->hooks.hooks : NULL;
	params.compaction = hooks ? ZSWAP_COMPACT_AUTO : ZSWAP_COMPACT_MANUAL;
	params.compressor = stage->specs[SPEC_BASE];
	params.compressors = &stage->codec.vtable_list;
	stage->z = stress_begin_with(program, &params);
	put_page_aside(stage);
	stage->history.kind_of = stage_kind_of;
	stage->next_version = 1;
	stage->now[PLACE_ENABLED] = stage->now[PLACE_LIMIT] = 1;
}

/* ---- preparing --------------------------------------------------------- */

uint32_t stage_versions(struct stage *stage, struct rng *rng, uint32_t nr)
{
	uint32_t version = stage->next_version + rng_below(rng, 4);

	stage->next_version = version + nr;
	return version;
}

static void swapon(struct stage *stage)
{
	CHECK(zswap_swapon(stage->z, STAGE_TYPE, stage_area_slots(stage)) == 0);
	stage->now[PLACE_AREA] = AREA_ON;
}

static void swapoff(struct stage *stage)
{
	unsigned i;

	CHECK(zswap_swapoff(stage->z, STAGE_TYPE) == 0);
	stage->now[PLACE_AREA] = AREA_OFF;
	for (i = 0; i < STAGE_SLOTS; i++)
		stage->now[i] = 0;
}

static void check_nothing_is_left(struct stage *stage)
{
	struct zswap_stats stats = stress_stats(stage->z);

	CHECK(stats.stored_pages == STAGE_ASIDE_PAGES);
	CHECK(stats.compressed_bytes == stage->aside_bytes);
}

static void empty(struct stage *stage)
{
	unsigned i;

	zswap_invalidate(stage->z, stage_slot(stage, 0),
			 stage_pages(stage, STAGE_SLOTS));
	for (i = 0; i < STAGE_SLOTS; i++)
		stage->now[i] = 0;
	check_nothing_is_left(stage);
}

void stage_move(struct stage *stage, uint64_t first, uint32_t stride)
{
	CHECK(stride && stride <= STAGE_MAX_STRIDE);
	if (stage->now[PLACE_AREA] == AREA_ON)
		swapoff(stage);
	check_nothing_is_left(stage);
	stage->first = first;
	stage->stride = stride;
	swapon(stage);
}

static void set_enabled(struct stage *stage, bool on)
{
	CHECK(zswap_set_enabled(stage->z, on) == 0);
	stage->now[PLACE_ENABLED] = on;
}

static void set_limit(struct stage *stage, bool some)
{
	CHECK(zswap_set_max_pool_bytes(stage->z, some ? ZSWAP_UNLIMITED : 0) ==
	      0);
	stage->now[PLACE_LIMIT] = some;
}

/* Without pages of the new pool, so that it is a new one next time as well. */
static void set_base(struct stage *stage)
{
	empty(stage);
	CHECK(zswap_set_compressor(stage->z, stage->specs[SPEC_BASE]) == 0);
	stage->now[PLACE_SPEC] = SPEC_BASE;
}

void stage_end_trouble(struct stage *stage)
{
	faulty_fail_none(&stage->hooks);
	codec_behave(&stage->codec.compress);
	codec_behave(&stage->codec.decompress);
}

static void make_good(struct stage *stage)
{
	if (stage->now[PLACE_AREA] != AREA_ON)
		swapon(stage);
	if (!stage->now[PLACE_ENABLED])
		set_enabled(stage, true);
	if (!stage->now[PLACE_LIMIT])
		set_limit(stage, true);
	if (stage->now[PLACE_SPEC] != SPEC_BASE)
		set_base(stage);
}

static void draw_slot(struct stage *stage, struct rng *rng, unsigned i)
{
	uint32_t version;

	switch (rng_below(rng, 4)) {
	case 0:
		zswap_invalidate(stage->z, stage_slot(stage, i), 1);
		stage->now[i] = 0;
		break;
	case 1:
		break;
	default:
		do
			version = stage_versions(stage, rng, 1);
		while (stage->refuses && stage_kind_of(version) == ZSWAP_RAW);
		store_good(stage, stage_slot(stage, i), version);
		stage->now[i] = version;
		break;
	}
}

static void gather_crowd(struct stage *stage)
{
	unsigned i;

	for (i = 0; i < STAGE_CROWD; i++)
		if (!stage->crowd_is_there[i])
			come(stage, i);
}

static void scatter_crowd(struct stage *stage, struct rng *rng)
{
	unsigned nr = STAGE_CROWD, i;

	while (nr > STAGE_CROWD_PAGES) {
		i = rng_below(rng, STAGE_CROWD);
		if (!stage->crowd_is_there[i])
			continue;
		go(stage, i);
		nr--;
	}
}

static void check_crowd(struct stage *stage)
{
	uint64_t version;
	unsigned i;

	for (i = 0; i < STAGE_CROWD; i++)
		CHECK(stress_load(stage->z, crowd_slot(i), true, &version) ==
		      (stage->crowd_is_there[i] ? 0 : -ENOENT));
}

static bool drawn(struct rng *rng, unsigned spoil, enum place place)
{
	return spoil & 1u << place && rng_below(rng, 4) == 0;
}

void stage_prepare(struct stage *stage, struct rng *rng, unsigned spoil,
		   unsigned nr_calls)
{
	unsigned i;

	atomic_store(&stage->calls_left, nr_calls);
	make_good(stage);
	if (spoil & STAGE_SCATTERED)
		gather_crowd(stage);
	for (i = 0; i < STAGE_SLOTS; i++)
		draw_slot(stage, rng, i);
	if (spoil & STAGE_SCATTERED)
		scatter_crowd(stage, rng);
	if (drawn(rng, spoil, PLACE_ENABLED))
		set_enabled(stage, false);
	if (drawn(rng, spoil, PLACE_LIMIT))
		set_limit(stage, false);
	if (drawn(rng, spoil, PLACE_AREA))
		swapoff(stage);
	memcpy(stage->history.first, stage->now, sizeof(stage->now));
	history_clear(&stage->history);
}

void stage_end(struct stage *stage)
{
	stage_end_trouble(stage); /* planned for a round that did not come */
	make_good(stage);
	empty(stage);
	check_crowd(stage);
	CHECK(zswap_swapoff(stage->z, STAGE_TYPE) == 0);
	CHECK(zswap_swapoff(stage->z, STAGE_ASIDE_TYPE) == 0);
	stress_end(stage->z);
	CHECK(codec_end(&stage->codec));
	CHECK(faulty_end(&stage->hooks));
}
