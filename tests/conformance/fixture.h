/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - a cache for each case, in each of the variants that matter
 *
 * A variant is a page size, a compressor, and whether there are checksums.
 * run_variants() runs a group of cases once for each. A case gets a fresh cache
 * with one area (type 0, AREA_SLOTS slots), whose memory comes from accounting
 * hooks. After the case everything is invalidated: every gauge of pages must
 * then be 0, the counters must add up, and nothing may be left in the hooks
 * after zswap_destroy().
 *
 *	run_variants()		lz4 and the test compressor
 *	run_all_variants()	these, and every other built-in compressor with
 *				every page size, in turn with and without
 *				checksums, and with and without hooks for
 *				metadata
 */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zswap/compressor.h>
#include <zswap/zswap.h>

#include "codec.h"
#include "faulty.h"
#include "guard.h"
#include "pagegen.h"
#include "random.h"

#define AREA_SLOTS (UINT64_C(1) << 20)

/* The first of 512 slots that the library may treat as a unit. */
#define CLUSTER_SLOTS 512u

/* The most pools there can be at a time. */
#define MAX_POOLS 255u

struct variant {
	const char *name;
	size_t page_size;
	uint32_t batch;         /* of the test compressor; 0: a built-in one */
	const char *compressor; /* the built-in one */
	uint32_t checksum;
	uint32_t raw_policy;
	uint32_t compaction;
	bool malloc; /* metadata is not hooked: "deflate" has another maker */
};

struct fixture {
	const struct variant *variant;
	size_t page_size;
	struct zswap *z;
	struct zswap
		*own; /* between begin_other() and end_other(), else NULL */
	struct faulty hooks;
	struct codec codec;
	struct zswap_params params; /* what z was made with */
	struct rng rng;
	struct guard guards[2];
	void *page; /* two pages that touch inaccessible memory */
	void *out;
};

/* ---- running cases ----------------------------------------------------- */

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A case that gets a fixture, and one that needs none. */
#define CASE(function)                                           \
	cmocka_unit_test_setup_teardown(function, fixture_setup, \
					fixture_teardown)
#define BARE_CASE(function) cmocka_unit_test(function)

/*
 * For main(): 0, or more when cases failed, but never as much as makes an exit
 * status 0 again. A hang ends the program.
 */
int run_cases(const char *program, const struct CMUnitTest *cases, size_t nr);

/*
 * Likewise, for the usual variants, for all, or for those of the test
 * compressor.
 */
int run_variants(const char *program, const struct CMUnitTest *cases,
		 size_t nr);
int run_all_variants(const char *program, const struct CMUnitTest *cases,
		     size_t nr);
int run_codec_variants(const char *program, const struct CMUnitTest *cases,
		       size_t nr);

/*
 * Likewise, once for a variant of the caller's own. With the environment's
 * ZSWAP_TEST_FEW_VARIANTS only each fourth of these, and of those that
 * run_all_variants() adds.
 */
int run_variant(const char *program, const struct variant *variant,
		const struct CMUnitTest *cases, size_t nr);

/* Whether the variant's compressor is the test compressor. */
bool has_codec(const struct fixture *f);

/*
 * Specs of the built-in compressors, of zstd one on each side of 0, with NULL
 * at the end. What the library was built without is left out. The levels are
 * fast ones, for there are many cases; test_spec.c goes through all.
 */
const char *const *builtin_specs(void);

/* 1, or 0 where the library was built without checksums. */
extern const uint32_t with_checksum;

/* Makes params for a cache like the fixture's; params->hooks are set as well.*/
void fixture_params(struct fixture *f, struct zswap_params *params);

/* ---- making caches ----------------------------------------------------- */

extern const size_t all_page_sizes[3];

/*
 * Puts a cache with these parameters in the fixture in place of its own; with
 * an area like that one's. end_other() takes it away again, after a look at it
 * like fixture_teardown()'s; destroy_other() without one.
 */
void begin_other(struct fixture *f, const struct zswap_params *params);
void end_other(struct fixture *f);
void destroy_other(struct fixture *f);

/* All defaults but the compressor, and usual_hooks(). */
struct zswap_params params_of(const char *compressor);

/* A create with these parameters that fails: its error; *out is NULL then. */
int create_error(const struct zswap_params *params);

/* A create with these parameters that works, at once undone. */
void assert_creates(const struct zswap_params *params);

/* ---- slots and folios -------------------------------------------------- */

static inline zswap_slot_t at(uint64_t offset)
{
	return zswap_slot(0, offset);
}

/* Folios of contiguous pages, and of one pointer per page. */
struct zswap_folio folio_of_data(zswap_slot_t slot, uint32_t nr, void *data);
struct zswap_folio folio_of_pages(zswap_slot_t slot, uint32_t nr,
				  void *const *pages);

/* ---- doing ------------------------------------------------------------- */

/* Stores page_make(kind, seed); the call must succeed. */
void store_page(struct fixture *f, zswap_slot_t slot, enum page_kind kind,
		uint64_t seed);

/* Fills a buffer with @nr pages, of kinds in turn and seeds from @seed on. */
void make_pages(struct fixture *f, void *data, uint32_t nr, uint64_t seed);

/* Stores what make_pages() makes as one folio. */
void store_pages(struct fixture *f, zswap_slot_t slot, uint32_t nr,
		 uint64_t seed);

/* ---- children ---------------------------------------------------------- */

/*
 * Runs @child in a forked child: what it returned, which is 0 or the line that
 * failed; -1 when it did not come to its end. assert_good_child() wants a 0.
 */
int run_child(int (*child)(void *arg), void *arg);
void assert_good_child(int (*child)(void *arg), void *arg);

#define CHILD_EXPECT(condition)          \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

/* For a child: it makes a cache with these parameters, uses and ends it. */
int use_an_own_cache(struct fixture *f, const struct zswap_params *params);

/* ---- looking ----------------------------------------------------------- */

struct zswap_stats stats_of(struct zswap *z);

/* That all gauges of pages are zero, the held bytes included. */
void assert_empty(struct zswap *z);

/* D75: that the counters add up, as they do when no call is running. */
void assert_sums(struct zswap *z);

/*
 * Waits until a number of pools is left, for a minute at most: where a load
 * took a pool's last page, a thread of the cache ends it.
 */
void wait_for_pools(struct zswap *z, uint64_t nr);

/* Likewise, until a number of instances of the test compressor is left. */
void wait_for_instances(struct fixture *f, long nr);

/*
 * The results of a store that failed: the call's error for all pages, or for
 * those that caused it, and -ECANCELED for the others.
 */
void assert_refused(const int *results, uint32_t nr, int err);

/* That two snapshots are equal but for the counters of loads and misses. */
void assert_same_gauges(const struct zswap_stats *a,
			const struct zswap_stats *b);
void assert_same_stats(const struct zswap_stats *a,
		       const struct zswap_stats *b);

void assert_holds(struct fixture *f, zswap_slot_t slot, enum page_kind kind,
		  uint64_t seed);
void assert_holds_pages(struct fixture *f, zswap_slot_t slot, uint32_t nr,
			uint64_t seed);
void assert_absent(struct fixture *f, zswap_slot_t slot, uint64_t nr);

/* The state a stored page of a kind must be in. */
int expected_state(enum page_kind kind);

/* The kind of the @i-th of make_pages(). */
enum page_kind kind_of(uint64_t i);

#endif
