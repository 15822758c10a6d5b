/* SPDX-License-Identifier: MIT */
/*
 * stress.h - what the threaded programs have in common
 *
 * Each program runs one race for about a second, times ZSWAP_TEST_SCALE, and
 * ends by abort() at the first wrong answer or when nothing moves any more.
 * They are made for ThreadSanitizer: pages are stamped, so that a wrong one is
 * recognised without a shared record, which would order what should race.
 */
#ifndef TEST_STRESS_H
#define TEST_STRESS_H

#include <errno.h>
#include <stdint.h>
#include <zswap/zswap.h>

#include "check.h"
#include "faulty.h"
#include "pagegen.h"
#include "random.h"
#include "threads.h"
#include "watchdog.h"

#define PAGE_BYTES 4096
#define AREA_SLOTS (UINT64_C(1) << 20)

/* The first slot of the second 512, in the middle of most ranges here. */
#define BORDER 512

/* Starts the watchdog and makes a cache of 4 KiB pages with area 0. */
struct zswap *stress_begin(const char *program);

/* Likewise, with other parameters. */
struct zswap *stress_begin_with(const char *program,
				const struct zswap_params *params);

/* Invalidates all, looks for what is left, destroys the cache. */
void stress_end(struct zswap *z);

struct zswap_stats stress_stats(struct zswap *z);

/* D75: what holds of the counters when no call is running. */
void stress_check_sums(struct zswap *z);

/*
 * Polls the statistics until a deadline: each snapshot must pass the check, and
 * no counter may fall.
 */
void stress_poll(struct zswap *z, uint64_t deadline,
		 void (*check_gauges)(const struct zswap_stats *now));

/*
 * Specs of the built-in compressors, with NULL at the end; what the library was
 * built without is left out.
 */
const char *const *stress_specs(void);

static inline zswap_slot_t at(uint64_t offset)
{
	return zswap_slot(0, offset);
}

/* Stores a stamped page; its slot's offset is the key. */
int stress_store(struct zswap *z, zswap_slot_t slot, uint64_t version);

/* zswap_load() or zswap_peek(), with the page checked against its slot. */
int stress_load(struct zswap *z, zswap_slot_t slot, bool keep,
		uint64_t *version);

#endif
