// SPDX-License-Identifier: MIT
/*
 * play.c - the public calls of a cache, each with what it says in a history
 *
 * What is written follows the header, not the library. A store that succeeds,
 * and a load of a folio, is one moment of all its slots; a store that fails,
 * and an invalidation, has a moment for each slot, and so has a question about
 * several slots. Where a call could only have acted on an area that is there
 * its moments say so.
 */
#include "play.h"

#include <stdlib.h>
#include <string.h>

/* What the pages between slots are stamped with; the version is same-filled. */
#define FILLER_KEY 0
#define FILLER_VERSION 2

/* ---- what all calls have in common --------------------------------------- */

/* Moments of one place. */
static void saw(struct player *p, unsigned place, enum test test, uint32_t seen)
{
	moment_sees(call_moment(p->call), place, test, seen);
}

static void did_set(struct player *p, unsigned place, uint32_t next)
{
	moment_sets(call_moment(p->call), place, next);
}

/* A moment at which the area was there, for more to be added to. */
static struct moment *in_area(struct player *p)
{
	struct moment *moment = call_moment(p->call);

	moment_sees(moment, PLACE_AREA, TEST_IS, AREA_ON);
	return moment;
}

static void saw_no_area(struct player *p)
{
	saw(p, PLACE_AREA, TEST_IS_NOT, AREA_ON);
}

static void saw_absent(struct player *p, unsigned first, unsigned end)
{
	unsigned i;

	for (i = first; i < end; i++)
		saw(p, i, TEST_IS, 0);
}

/* Whether page @i of the call's is that of a slot of the stage, and which. */
static bool is_slot(const struct player *p, uint32_t i, unsigned *place)
{
	*place = p->first + i / p->stage->stride;
	return i % p->stage->stride == 0;
}

static uint64_t key_of(const struct player *p, unsigned place)
{
	return zswap_slot_offset(stage_slot(p->stage, place));
}

/* The buffer of a slot's page. */
static char *page_of(struct player *p, unsigned place)
{
	return p->data + place * PAGE_BYTES;
}

/* The version of the page that was delivered for a slot. */
static uint32_t version_of(struct player *p, unsigned place)
{
	uint64_t version;

	CHECK(page_verify(page_of(p, place), PAGE_BYTES, key_of(p, place),
			  &version));
	return (uint32_t)version;
}

static struct zswap_folio folio_of(struct player *p)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = stage_slot(p->stage, p->first),
				     .nr_pages = p->nr_pages,
				     .results = p->results };
	unsigned place;
	uint32_t i;

	if (p->nr == p->nr_pages) {
		folio.data = page_of(p, p->first);
		return folio;
	}
	folio.pages = p->pages;
	for (i = 0; i < p->nr_pages; i++)
		p->pages[i] =
			is_slot(p, i, &place) ? page_of(p, place) : p->filler;
	return folio;
}

/* ---- stores -------------------------------------------------------------- */

static uint32_t stamp_pages(struct player *p)
{
	uint32_t version = p->next_version++;
	unsigned i;

	for (i = p->first; i < p->first + p->nr; i++)
		page_stamp(page_of(p, i), PAGE_BYTES, key_of(p, i), version);
	page_stamp(p->filler, PAGE_BYTES, FILLER_KEY, FILLER_VERSION);
	return version;
}

static void was_stored(struct player *p, uint32_t version)
{
	struct moment *moment = in_area(p);
	unsigned i;

	for (i = 0; i < p->nr; i++)
		moment_sets(moment, p->first + i, version);
	saw(p, PLACE_ENABLED, TEST_IS, 1);
	saw(p, PLACE_LIMIT, TEST_IS, 1);
	CHECK(!p->stage->refuses || stage_kind_of(version) != ZSWAP_RAW);
	p->counts.stored_folios++;
	p->counts.zswpout += p->nr_pages;
}

static void say_why(struct player *p, uint32_t version, int err)
{
	switch (err) {
	case -EPERM:
		saw(p, PLACE_ENABLED, TEST_IS, 0);
		p->counts.reject_disabled++;
		break;
	case -ENOSPC:
		saw(p, PLACE_LIMIT, TEST_IS, 0);
		p->counts.reject_limit++;
		break;
	case -E2BIG:
		CHECK(p->stage->refuses && stage_kind_of(version) == ZSWAP_RAW);
		p->counts.reject_compress_poor++;
		break;
	case -EIO:
		CHECK(p->stage->refuses &&
		      stage_kind_of(version) != ZSWAP_FILLED);
		p->counts.reject_compress_fail++;
		break;
	default:
		CHECK(err == -ENOMEM && p->stage->memory_ends);
		break;
	}
}

static void was_refused(struct player *p, uint32_t version, int err)
{
	unsigned i;

	for (i = 0; i < p->nr; i++)
		moment_sets(in_area(p), p->first + i, 0);
	say_why(p, version, err);
	p->counts.refused_folios++;
}

static void after_store(struct player *p, uint32_t version, int err)
{
	if (err == -ENXIO)
		saw_no_area(p);
	else if (err)
		was_refused(p, version, err);
	else
		was_stored(p, version);
}

static void play_store(struct player *p)
{
	uint32_t version = stamp_pages(p);
	int err;

	player_begins(p);
	err = zswap_store(p->stage->z, stage_slot(p->stage, p->first),
			  page_of(p, p->first));
	player_ended(p);
	after_store(p, version, err);
}

/*
 * All 0; or -ECANCELED for all but the pages at fault, each of which has its
 * own error, and the call that of the first.
 */
static void check_store_results(const struct player *p, int err)
{
	uint32_t first = 0, i;

	while (first < p->nr_pages && err && p->results[first] == -ECANCELED)
		first++;
	CHECK(first < p->nr_pages && p->results[first] == err);
	for (i = first; i < p->nr_pages; i++)
		CHECK((p->results[i] != 0) == (err != 0));
}

static void play_store_folio(struct player *p)
{
	struct zswap_folio folio = folio_of(p);
	uint32_t version = stamp_pages(p);
	int err;

	player_begins(p);
	err = zswap_store_folio(p->stage->z, &folio);
	player_ended(p);
	if (err != -ENXIO)
		check_store_results(p, err);
	after_store(p, version, err);
}

/* ---- loads --------------------------------------------------------------- */

/* What a load does with the pages that are there. */
struct doing {
	bool delivers;
	bool takes;
};

static void count_page(struct player *p, int result, bool delivers)
{
	p->counts.load_misses += result == -ENOENT;
	p->counts.zswpin += !result && delivers;
	p->counts.load_errors += result ? result == -EIO : !delivers;
}

/* What a page's result says of its slot, at the moment of the load. */
static void tell_of_slot(struct player *p, struct moment *moment,
			 unsigned place, int result, struct doing doing)
{
	switch (result) {
	case 0:
		if (doing.delivers)
			moment_sees(moment, place, TEST_IS,
				    version_of(p, place));
		else
			moment_sees(moment, place, TEST_IS_NOT, 0);
		if (doing.takes)
			moment_sets(moment, place, 0);
		break;
	case -ENOENT:
		moment_sees(moment, place, TEST_IS, 0);
		break;
	default:
		/* Neither same-filled nor raw: these need no codec. */
		CHECK(result == -EIO);
		moment_sees(moment, place, TEST_KIND, ZSWAP_STORED);
		break;
	}
	count_page(p, result, doing.delivers);
}

static void tell_of_filler(struct player *p, int result, struct doing doing)
{
	uint64_t version;

	CHECK(result == 0 || result == -ENOENT);
	if (!result && doing.delivers)
		CHECK(page_verify(p->filler, PAGE_BYTES, FILLER_KEY,
				  &version) &&
		      version == FILLER_VERSION);
	count_page(p, result, doing.delivers);
}

static void play_load(struct player *p)
{
	zswap_slot_t slot = stage_slot(p->stage, p->first);
	bool keep = p->play->arg & ZSWAP_LOAD_KEEP;
	char *page = page_of(p, p->first);
	int err;

	player_begins(p);
	err = keep ? zswap_peek(p->stage->z, slot, page) :
		     zswap_load(p->stage->z, slot, page);
	player_ended(p);
	if (err == -ENXIO)
		saw_no_area(p);
	else
		tell_of_slot(p, in_area(p), p->first, err,
			     (struct doing){ true, !keep });
}

static unsigned nr_results(const struct player *p, int result)
{
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < p->nr_pages; i++)
		n += p->results[i] == result;
	return n;
}

/* What the call must return, by its results. */
static int expected_return(const struct player *p)
{
	unsigned absent = nr_results(p, -ENOENT);

	if (p->play->arg & ZSWAP_LOAD_PARTIAL)
		return (int)nr_results(p, 0);
	if (absent)
		return absent == p->nr_pages ? -ENOENT : -EBUSY;
	return nr_results(p, -EIO) ? -EIO : 0;
}

static void play_load_folio(struct player *p)
{
	struct zswap_folio folio = folio_of(p);
	struct doing doing;
	struct moment *moment;
	unsigned place;
	uint32_t i;
	int result;

	memset(p->filler, 0, sizeof(p->filler));
	player_begins(p);
	result = zswap_load_folio(p->stage->z, &folio, p->play->arg);
	player_ended(p);
	if (result == -ENXIO) {
		saw_no_area(p);
		return;
	}
	CHECK(result == expected_return(p));
	doing.delivers = result >= 0;
	doing.takes = result >= 0 && !(p->play->arg & ZSWAP_LOAD_KEEP);
	moment = in_area(p);
	for (i = 0; i < p->nr_pages; i++)
		if (is_slot(p, i, &place))
			tell_of_slot(p, moment, place, p->results[i], doing);
		else
			tell_of_filler(p, p->results[i], doing);
}

/* ---- without data -------------------------------------------------------- */

static void play_invalidate(struct player *p)
{
	unsigned i;

	player_begins(p);
	zswap_invalidate(p->stage->z, stage_slot(p->stage, p->first),
			 p->nr_pages);
	player_ended(p);
	for (i = 0; i < p->nr; i++)
		did_set(p, p->first + i, 0);
}

static void play_is_present(struct player *p)
{
	struct moment *moment;
	unsigned i;
	bool is;

	player_begins(p);
	is = zswap_is_present(p->stage->z, stage_slot(p->stage, p->first),
			      p->nr_pages);
	player_ended(p);
	if (!is) {
		saw_absent(p, p->first, p->first + p->nr);
		return;
	}
	if (p->nr < p->nr_pages)
		return; /* it may have been a filler */
	moment = call_moment(p->call);
	moment->holds = HOLDS_SOME;
	for (i = 0; i < p->nr; i++)
		moment_sees(moment, p->first + i, TEST_IS_NOT, 0);
}

static void play_query(struct player *p)
{
	int state;

	player_begins(p);
	state = zswap_query(p->stage->z, stage_slot(p->stage, p->first));
	player_ended(p);
	if (state == -ENXIO) {
		saw_no_area(p);
		return;
	}
	CHECK(state >= ZSWAP_ABSENT && state <= ZSWAP_RAW);
	if (state == ZSWAP_ABSENT)
		moment_sees(in_area(p), p->first, TEST_IS, 0);
	else
		moment_sees(in_area(p), p->first, TEST_KIND, (uint32_t)state);
}

static void play_next_present(struct player *p)
{
	zswap_slot_t begin = stage_slot(p->stage, p->first), slot = begin;
	unsigned next = STAGE_SLOTS, place;
	uint32_t i;
	bool found;

	player_begins(p);
	found = zswap_next_present(p->stage->z, &slot);
	player_ended(p);
	CHECK(slot.val >= begin.val && (found || slot.val == begin.val));
	if (found) {
		CHECK(slot.val <= stage_slot(p->stage, STAGE_SLOTS - 1).val);
		i = (uint32_t)(slot.val - begin.val);
		next = p->first +
		       ((i + p->stage->stride - 1) / p->stage->stride);
		if (is_slot(p, i, &place))
			saw(p, place, TEST_IS_NOT, 0);
	}
	saw_absent(p, p->first, next);
}

/* ---- areas --------------------------------------------------------------- */

static void play_swapon(struct player *p)
{
	struct moment *moment;
	int err;

	player_begins(p);
	err = zswap_swapon(p->stage->z, STAGE_TYPE, stage_area_slots(p->stage));
	player_ended(p);
	if (err == -EEXIST) {
		saw(p, PLACE_AREA, TEST_IS_NOT, AREA_OFF);
	} else if (err) {
		CHECK(err == -ENOMEM && p->stage->memory_ends);
	} else {
		moment = call_moment(p->call);
		moment_sees(moment, PLACE_AREA, TEST_IS, AREA_OFF);
		moment_sets(moment, PLACE_AREA, AREA_ON);
	}
}

/* At its first moment all slots go; at its last the area can come again. */
static void play_swapoff(struct player *p)
{
	struct moment *moment;
	unsigned i;
	int err;

	player_begins(p);
	err = zswap_swapoff(p->stage->z, STAGE_TYPE);
	player_ended(p);
	if (err) {
		CHECK(err == -ENXIO);
		saw_no_area(p);
		return;
	}
	moment = in_area(p);
	for (i = 0; i < STAGE_SLOTS; i++)
		moment_sets(moment, i, 0);
	moment_sets(moment, PLACE_AREA, AREA_GOING);
	moment = call_moment(p->call);
	moment_sees(moment, PLACE_AREA, TEST_IS, AREA_GOING);
	moment_sets(moment, PLACE_AREA, AREA_OFF);
}

/* ---- settings ------------------------------------------------------------ */

static void play_set_compressor(struct player *p)
{
	const char *spec = p->stage->specs[p->play->arg];
	int err;

	player_begins(p);
	err = zswap_set_compressor(p->stage->z, spec);
	player_ended(p);
	if (err)
		CHECK(err == -ENOMEM && p->stage->memory_ends);
	else
		did_set(p, PLACE_SPEC, p->play->arg);
}

static void play_get_compressor(struct player *p)
{
	char name[ZSWAP_MAX_SPEC + 1];
	long len;

	player_begins(p);
	len = zswap_get_compressor(p->stage->z, name, sizeof(name));
	player_ended(p);
	CHECK(len == (long)strlen(name));
	saw(p, PLACE_SPEC, TEST_IS, stage_spec_of(p->stage, name));
}

/* A state that stops stores, now and then. */
static bool good_or_not(struct player *p)
{
	return rng_below(&p->rng, 4) != 0;
}

static void play_set_enabled(struct player *p)
{
	bool on = good_or_not(p);

	player_begins(p);
	CHECK(zswap_set_enabled(p->stage->z, on) == 0);
	player_ended(p);
	did_set(p, PLACE_ENABLED, on);
}

static void play_set_max_pool_bytes(struct player *p)
{
	bool some = good_or_not(p);

	player_begins(p);
	CHECK(zswap_set_max_pool_bytes(p->stage->z,
				       some ? ZSWAP_UNLIMITED : 0) == 0);
	player_ended(p);
	did_set(p, PLACE_LIMIT, some);
}

static void play_set_max_pool_percent(struct player *p)
{
	bool some = good_or_not(p);

	player_begins(p);
	CHECK(zswap_set_max_pool_percent(p->stage->z, some ? 100 : 0) == 0);
	player_ended(p);
	did_set(p, PLACE_LIMIT, some);
}

/* At 0 the cache, once full, would stay so for as long as it has a page. */
static void play_set_accept_threshold_percent(struct player *p)
{
	unsigned percent = 1 + rng_below(&p->rng, 100);

	player_begins(p);
	CHECK(zswap_set_accept_threshold_percent(p->stage->z, percent) == 0);
	player_ended(p);
}

/* ---- compaction -------------------------------------------------------- */

/* It says nothing of any place: whoever looks at one sees no difference. */
static void play_compact(struct player *p)
{
	long bytes;

	player_begins(p);
	bytes = zswap_compact(p->stage->z);
	player_ended(p);
	CHECK(bytes >= 0 && bytes % PAGE_BYTES == 0);
}

/* ---- statistics ---------------------------------------------------------- */

/* Pages of one cluster are counted at one moment. */
static void saw_stats(struct player *p, uint64_t stored_pages,
		      uint64_t max_pool_bytes)
{
	uint64_t first = p->stage->first;
	uint64_t last = stage_area_slots(p->stage) - 1;
	struct moment *moment;
	unsigned i;

	saw(p, PLACE_LIMIT, TEST_IS, max_pool_bytes != 0);
	CHECK(stored_pages >= STAGE_ASIDE_PAGES &&
	      stored_pages <= STAGE_ASIDE_PAGES + last - first + 1);
	if (first / BORDER != last / BORDER || p->stage->stride > 1)
		return;
	moment = call_moment(p->call);
	moment->holds = (int)(stored_pages - STAGE_ASIDE_PAGES);
	for (i = 0; i < STAGE_SLOTS; i++)
		moment_sees(moment, i, TEST_IS_NOT, 0);
}

static void play_get_stats(struct player *p)
{
	struct zswap_stats stats = { .size = sizeof(stats) };

	player_begins(p);
	CHECK(zswap_get_stats(p->stage->z, &stats) == 0);
	player_ended(p);
	saw_stats(p, stats.stored_pages, stats.max_pool_bytes);
	CHECK(stats.same_filled_pages + stats.stored_incompressible_pages <=
	      stats.stored_pages);
}

/* The value of the line "name value" in a text of such lines. */
static const char *value_of(const char *text, const char *name)
{
	const char *line = text;

	while (strncmp(line, name, strlen(name)) != 0) {
		line = strchr(line, '\n');
		CHECK(line++);
	}
	return line + strlen(name);
}

static void play_format_stats(struct player *p)
{
	char text[8192], *end;
	long len;

	player_begins(p);
	len = zswap_format_stats(p->stage->z, ZSWAP_STATS_TEXT, text,
				 sizeof(text));
	player_ended(p);
	CHECK(len > 0 && len == (long)strlen(text));
	saw_stats(p, strtoull(value_of(text, "stored_pages "), NULL, 10),
		  strtoull(value_of(text, "max_pool_bytes "), NULL, 10));
	end = strchr(text, '\0');
	CHECK(*--end == '\n');
	*end = '\0';
	saw(p, PLACE_SPEC, TEST_IS,
	    stage_spec_of(p->stage, value_of(text, "compressor ")));
}

/* ---- all calls ----------------------------------------------------------- */

#define KEEP ZSWAP_LOAD_KEEP
#define PARTIAL ZSWAP_LOAD_PARTIAL

#define STORES_FAIL (1u << PLACE_ENABLED | 1u << PLACE_LIMIT)
#define IS_OFF (1u << PLACE_AREA)

/* clang-format off */
const struct play plays[] = {
	/* name, function, argument, slots, weight, spoil */
	{ "store", play_store, 0, ONE_SLOT, 12, STORES_FAIL },
	{ "store_folio", play_store_folio, 0, SEVERAL_SLOTS, 10, STORES_FAIL },
	{ "load", play_load, 0, ONE_SLOT, 6, 0 },
	{ "peek", play_load, KEEP, ONE_SLOT, 4, 0 },
	{ "load_folio", play_load_folio, 0, SEVERAL_SLOTS, 4, 0 },
	{ "load_folio KEEP", play_load_folio, KEEP, SEVERAL_SLOTS, 4, 0 },
	{ "load_folio PARTIAL", play_load_folio, PARTIAL, SEVERAL_SLOTS, 4, 0 },
	{ "load_folio KEEP PARTIAL", play_load_folio, KEEP | PARTIAL,
	  SEVERAL_SLOTS, 4, 0 },
	{ "invalidate", play_invalidate, 0, ONE_SLOT, 2, 0 },
	{ "invalidate several", play_invalidate, 0, SEVERAL_SLOTS, 2, 0 },
	{ "is_present", play_is_present, 0, SEVERAL_SLOTS, 2, 0 },
	{ "query", play_query, 0, ONE_SLOT, 3, 0 },
	{ "next_present", play_next_present, 0, SEVERAL_SLOTS, 2, 0 },
	{ "swapon", play_swapon, 0, NO_SLOT, 3, IS_OFF },
	{ "swapoff", play_swapoff, 0, NO_SLOT, 1, 0 },
	{ "set_compressor", play_set_compressor, SPEC_BASE, NO_SLOT, 1, 0 },
	{ "set_compressor retired", play_set_compressor, SPEC_RETIRED, NO_SLOT,
	  1, 0 },
	{ "set_compressor new", play_set_compressor, SPEC_NEW, NO_SLOT, 1, 0 },
	{ "get_compressor", play_get_compressor, 0, NO_SLOT, 1, 0 },
	{ "set_enabled", play_set_enabled, 0, NO_SLOT, 1, 0 },
	{ "set_max_pool_bytes", play_set_max_pool_bytes, 0, NO_SLOT, 1, 0 },
	{ "set_max_pool_percent", play_set_max_pool_percent, 0, NO_SLOT, 1, 0 },
	{ "set_accept_threshold_percent", play_set_accept_threshold_percent, 0,
	  NO_SLOT, 1, 0 },
	{ "compact", play_compact, 0, NO_SLOT, 2, STAGE_SCATTERED },
	{ "get_stats", play_get_stats, 0, NO_SLOT, 1, 0 },
	{ "format_stats", play_format_stats, 0, NO_SLOT, 1, 0 },
};
/* clang-format on */

const unsigned nr_plays = sizeof(plays) / sizeof(plays[0]);

_Static_assert(sizeof(plays) / sizeof(plays[0]) <= PLAYER_MAX_PLAYS,
	       "a player remembers each");
