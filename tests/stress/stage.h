/* SPDX-License-Identifier: MIT */
/*
 * stage.h - a cache whose slots and settings are the places of a history
 *
 * The stage is a few slots of an area, with the settings that decide what
 * becomes of a store. Threads play on it (play.h); between two rounds, when no
 * call is running, one thread looks what there is now, has the round judged,
 * and prepares the next.
 *
 * The slots may be a *stride* apart. Folios then have same-filled pages between
 * those of the slots, which no history knows of: all they do is to make the
 * moment long at which a folio comes or goes.
 *
 *	stride 4:   slot 0 | filler | filler | filler | slot 1 | filler ...
 *
 * Beside the area lies one page, in another, compressed by SPEC_RETIRED: so
 * there is always a retired pool that can be taken back. A *crowd* of pages,
 * compressed by SPEC_BASE, lies there as well: some of them go after the slots'
 * pages have come, so that these have reasons to be moved.
 */
#ifndef TEST_STAGE_H
#define TEST_STAGE_H

#include "codec.h"
#include "history.h"
#include "stress.h"

#define STAGE_SLOTS 3
#define STAGE_TYPE 7
#define STAGE_MAX_STRIDE 60

/* The area with the page beside, and a slot to find things out with. */
#define STAGE_ASIDE_TYPE 8
#define STAGE_ASIDE_SLOT 0
#define STAGE_PROBE_SLOT 1
#define STAGE_CROWD_SLOT 2
#define STAGE_CROWD 18u
#define STAGE_CROWD_PAGES (STAGE_CROWD / 2) /* that are there in a round */
#define STAGE_ASIDE_SLOTS (STAGE_CROWD_SLOT + STAGE_CROWD)
#define STAGE_ASIDE_PAGES (1u + STAGE_CROWD_PAGES)

/* The slots come first. */
enum place {
	PLACE_AREA = STAGE_SLOTS, /* an enum stage_area */
	PLACE_ENABLED,            /* 0 or 1 */
	PLACE_LIMIT,              /* 0, or 1 for one that nothing reaches */
	PLACE_SPEC,               /* an enum stage_spec */
	NR_PLACES
};

/* Beside places for stage_prepare(): objects lie scattered over zspages. */
#define STAGE_SCATTERED (1u << NR_PLACES)

enum stage_area { AREA_OFF, AREA_GOING, AREA_ON };

enum stage_spec { SPEC_BASE, SPEC_RETIRED, SPEC_NEW, NR_SPECS };

struct stage {
	struct zswap *z;
	bool refuses;     /* pages that don't compress */
	bool memory_ends; /* the hooks may fail */
	struct faulty hooks;
	struct codec codec;
	char specs[NR_SPECS][32];
	uint64_t first; /* offset of the first slot */
	uint32_t stride;
	uint32_t now[HISTORY_PLACES];
	struct history history;
	uint32_t next_version;
	uint64_t aside_bytes;              /* of the pages beside */
	uint64_t crowd_bytes[STAGE_CROWD]; /* of each */
	bool crowd_is_there[STAGE_CROWD];

	/*
	 * The clock of the calls; or where the threads meet before theirs, with
	 * no clock, which would give them an order that races do not have.
	 */
	atomic_ulong clock;
	struct meeting *start;
	atomic_uint
		calls_left; /* in this round; who stands still looks at it */

	struct zswap_stats counts; /* what the counters must say at rest */
};

/*
 * With a policy, and either lz4 as base and the test compressor as the new one,
 * or the other way round. With @hooks memory comes from those of the stage, and
 * the cache compacts by itself as well.
 */
void stage_begin(struct stage *stage, const char *program, uint32_t policy,
		 bool base_is_codec, bool hooks);
void stage_end(struct stage *stage);

/* The state, for zswap_query(), of a page of this version. */
unsigned stage_kind_of(uint32_t version);

/* The spec of a canonical form, which must be one of the three. */
enum stage_spec stage_spec_of(const struct stage *stage, const char *name);

static inline zswap_slot_t stage_slot(const struct stage *stage, unsigned i)
{
	return zswap_slot(STAGE_TYPE, stage->first + i * stage->stride);
}

/* From the first of @nr slots to the last. */
static inline uint32_t stage_pages(const struct stage *stage, unsigned nr)
{
	return (nr - 1) * stage->stride + 1;
}

/* Slots that the area has to have. */
static inline uint64_t stage_area_slots(const struct stage *stage)
{
	return stage->first + stage_pages(stage, STAGE_SLOTS);
}

/* ---- at rest ----------------------------------------------------------- */

/* Lays the slots elsewhere, all absent. */
void stage_move(struct stage *stage, uint64_t first, uint32_t stride);

/*
 * Prepares a round of @nr_calls calls: the area is there, stores work, the base
 * compressor is in use. Some slots get another page or none. With the bit
 * STAGE_SCATTERED in @spoil compaction would then move some. Of the places in
 * it, a bit each, some are set so that stores fail or the area is off.
 */
void stage_prepare(struct stage *stage, struct rng *rng, unsigned spoil,
		   unsigned nr_calls);

/* The first of so many versions, of any kind, that nobody has used. */
uint32_t stage_versions(struct stage *stage, struct rng *rng, uint32_t nr);

/* No hook and no codec fails any more. */
void stage_end_trouble(struct stage *stage);

/*
 * Ends a round: what there is now must be explained by the calls, the gauges
 * must be exact, and so must the counters be with @counts of the round added.
 */
void stage_judge(struct stage *stage, const struct zswap_stats *counts);

#endif
