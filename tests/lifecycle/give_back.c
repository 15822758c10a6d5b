// SPDX-License-Identifier: MIT
/*
 * give_back.c - D59, D60: what a cache says it holds is what the process has
 * more, and it goes back to the system
 *
 * Pages are stored, most of them dropped at random, what is left is moved
 * together, and at last all is dropped. What is held is compared with the
 * payload, and what comes and goes with the resident memory of the process,
 * which the kernel counts. Then pages are written over and dropped at random,
 * and what is held must stay near the payload all the time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "stress.h"

/* A quarter of the fault list's 200,000; of which one in ten stays. */
#define NR_PAGES 50000
#define ONE_OF 10

/*
 * Of the payload, when all is there, and when most of it has gone: then size
 * classes are many for what is left. With fewer pages it would be more.
 */
#define MOST_PERCENT_FULL 110
#define MOST_PERCENT_THIN 120

/* How far the kernel's count may be from the cache's: a part, and a rest. */
#define DEVIATION_PART 20
#define DEVIATION_BYTES ((size_t)2 << 20)

struct measure {
	size_t held, payload, resident;
};

static bool kernel_counts(void)
{
	return !SANITIZER_KEEPS_NOTES && !usual_hooks();
}

static struct measure measure_now(struct zswap *z)
{
	struct zswap_stats stats = stress_stats(z);

	return (struct measure){ stats.pool_total_size + stats.metadata_bytes,
				 stats.compressed_bytes,
				 process_resident_bytes() };
}

/* What came, or went, between two moments. */
static void check_change(const struct measure *less, const struct measure *more)
{
	size_t held = more->held - less->held;
	size_t resident = more->resident - less->resident;
	size_t far = resident > held ? resident - held : held - resident;

	printf("%zu bytes by the cache's count, %zu by the kernel's\n", held,
	       resident);
	CHECK(!kernel_counts() ||
	      far <= held / DEVIATION_PART + DEVIATION_BYTES);
}

/* What is held, in percent of the payload, rounded up. */
static uint64_t percent_held(const struct zswap_stats *stats)
{
	return (stats->pool_total_size * 100 + stats->compressed_bytes - 1) /
	       stats->compressed_bytes;
}

static void check_pool(struct zswap *z, unsigned nr, unsigned most_percent)
{
	struct zswap_stats stats = stress_stats(z);
	uint64_t percent = percent_held(&stats);

	printf("%lu pages: %lu %% of the payload is held\n",
	       (unsigned long)stats.stored_pages, (unsigned long)percent);
	CHECK(nr < NR_PAGES || percent <= most_percent);
}

/* In slot @i the page of a seed. */
static void put(struct zswap *z, unsigned i, uint64_t seed)
{
	char page[PAGE_BYTES];

	page_make_part(page, PAGE_BYTES, page_spread(PAGE_BYTES, seed), seed);
	CHECK(zswap_store(z, at(i), page) == 0);
}

static void fill(struct zswap *z, unsigned nr)
{
	unsigned i;

	for (i = 0; i < nr; i++)
		put(z, i, i);
}

static void thin_out(struct zswap *z, unsigned nr, struct rng *rng)
{
	unsigned i;

	for (i = 0; i < nr; i++)
		if (rng_below(rng, ONE_OF))
			zswap_invalidate(z, at(i), 1);
}

static void memory_goes_back(enum zswap_compaction compaction)
{
	struct zswap_params params = { .size = sizeof(params),
				       .compaction = compaction,
				       .max_pool_bytes = ZSWAP_UNLIMITED };
	struct zswap *z = stress_begin_with("give_back", &params);
	unsigned nr = test_rounds(NR_PAGES);
	struct measure empty, full, thin, end;
	struct rng rng;

	rng_init(&rng, 1);
	empty = measure_now(z);
	fill(z, nr);
	full = measure_now(z);
	check_change(&empty, &full);
	check_pool(z, nr, MOST_PERCENT_FULL);
	thin_out(z, nr, &rng);
	CHECK(zswap_compact(z) >= 0);
	thin = measure_now(z);
	check_change(&thin, &full);
	check_pool(z, nr, MOST_PERCENT_THIN);
	zswap_invalidate(z, at(0), AREA_SLOTS);
	CHECK(stress_stats(z).pool_total_size == 0);
	end = measure_now(z);
	CHECK(!kernel_counts() ||
	      end.resident <= empty.resident + DEVIATION_BYTES);
	stress_end(z);
}

/* ---- what is held meanwhile ---------------------------------------------- */

/* Where less is stored this is not promised. */
#define CHURN_BYTES ((uint64_t)32 << 20)

/* Looks as often as this. */
#define CHURN_LOOKS 500

/* The most that is held at any moment, in percent of the payload. */
static void look(struct zswap *z, unsigned i, uint64_t *most_percent)
{
	struct zswap_stats stats;
	uint64_t percent;

	if (i % CHURN_LOOKS)
		return;
	stats = stress_stats(z);
	if (stats.compressed_bytes < CHURN_BYTES)
		return;
	percent = percent_held(&stats);
	if (percent > *most_percent)
		*most_percent = percent;
}

enum phase { FILLED, OVERWRITTEN, DROPPED, PHASES };

static void churn(struct zswap *z, uint64_t most_percent[PHASES])
{
	unsigned nr = test_rounds(NR_PAGES), i;
	struct rng rng;

	rng_init(&rng, 2);
	for (i = 0; i < nr; i++) {
		put(z, i, i);
		look(z, i, &most_percent[FILLED]);
	}
	for (i = 0; i < nr; i++) {
		put(z, rng_below(&rng, nr), nr + i);
		look(z, i, &most_percent[OVERWRITTEN]);
	}
	for (i = 0; i < nr / 2; i++) {
		zswap_invalidate(z, at(rng_below(&rng, nr)), 1);
		look(z, i, &most_percent[DROPPED]);
	}
}

static void churn_with(enum zswap_compaction compaction,
		       uint64_t most_percent[PHASES])
{
	struct zswap_params params = { .size = sizeof(params),
				       .compaction = compaction,
				       .max_pool_bytes = ZSWAP_UNLIMITED };
	struct zswap *z = stress_begin_with("give_back", &params);

	memset(most_percent, 0, PHASES * sizeof(*most_percent));
	churn(z, most_percent);
	printf("at most %lu %% while filled, %lu %% written over, %lu %% "
	       "dropped\n",
	       (unsigned long)most_percent[FILLED],
	       (unsigned long)most_percent[OVERWRITTEN],
	       (unsigned long)most_percent[DROPPED]);
	stress_end(z);
}

static void held_bytes_stay_near_the_payload_by_themselves(void)
{
	uint64_t by_itself[PHASES], when_told[PHASES];
	unsigned i;

	churn_with(ZSWAP_COMPACT_AUTO, by_itself);
	churn_with(ZSWAP_COMPACT_MANUAL, when_told);
	if (test_rounds(NR_PAGES) < NR_PAGES) {
		printf("too few pages to look at what is held\n");
		return;
	}
	for (i = 0; i < PHASES; i++)
		CHECK(by_itself[i] && by_itself[i] <= MOST_PERCENT_FULL);
	CHECK(by_itself[DROPPED] < when_told[DROPPED]);
}

int main(void)
{
	holdings_prepare();
	memory_goes_back(ZSWAP_COMPACT_MANUAL);
	memory_goes_back(ZSWAP_COMPACT_AUTO);
	held_bytes_stay_near_the_payload_by_themselves();
	return 0;
}
