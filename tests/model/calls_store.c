// SPDX-License-Identifier: MIT
/*
 * calls_store.c - pages in
 *
 * What a store must return follows from its pages, the compressor's faults and
 * the policy, but for two things: memory may run out at any point, and how much
 * the cache will hold after each batch is the allocator's secret. Of these it
 * is checked that the outcome can be.
 */
#include "world.h"

#include <string.h>

#include "pool.h"

/* Of the reserve, says the header, this part of what is used may count. */
#define RESERVE_SHARE 32

struct store {
	struct target t;
	int form;
	bool results;
	unsigned start, stride;
	struct model_fault fault;
	struct model_page pages[ZSWAP_MAX_FOLIO];
	unsigned nr_compressed; /* pages that are not same-filled */
	struct model m;         /* its settings, as the store began */
	struct zswap_stats before;
	int err;
};

/* Only the settings are used of the copy. */
static void remember_settings(struct store *s, const struct model *m)
{
	memcpy(&s->m, m, offsetof(struct model, counts));
}

/* ---- what the compressor does -------------------------------------------- */

static void choose_fault(struct world *w, struct store *s)
{
	static const struct {
		enum codec_fault fault;
		int err;
	} faults[] = {
		{ CODEC_ERROR, -EIO },         { CODEC_ZERO, -EIO },
		{ CODEC_DST_PLUS_1, -EIO },    { CODEC_HUGE, -EIO },
		{ CODEC_VERY_LOW, -EIO },      { CODEC_NOT_DONE, -EIO },
		{ CODEC_REQUEST_ERROR, -EIO }, { CODEC_NO_ROOM, -E2BIG },
		{ CODEC_UNIT_LESS_1, -E2BIG }, { CODEC_UNIT_PLUS_1, -E2BIG },
	};
	unsigned i;

	if (w->depth || !one_in(w, 8) ||
	    engines[w->m.engine].kind != ENGINE_TEST)
		return;
	i = choose(w, sizeof(faults) / sizeof(faults[0]));
	s->fault.whole_request = faults[i].fault == CODEC_REQUEST_ERROR;
	s->fault.fault = faults[i].err;
	s->fault.nr = 1 + choose(w, one_in(w, 2) ? ZSWAP_MAX_FOLIO : 3);
	codec_fail(&w->codec.compress, faults[i].fault, (int32_t)s->fault.nr);
	say("codec_fail(&codec.compress, %d, %u);", faults[i].fault,
	    s->fault.nr);
}

static void end_fault(struct world *w, const struct store *s)
{
	if (!s->fault.fault)
		return;
	codec_behave(&w->codec.compress);
	say("codec_behave(&codec.compress);");
}

/* Results at the very lengths where something changes. */
static uint32_t choose_padding(struct world *w)
{
	uint32_t huge = (uint32_t)w->m.huge_bytes, page = w->m.page_size;
	const uint32_t lengths[] = { huge - 1, huge, huge + 1,
				     page - 1, page, page + 1 };
	uint32_t bytes = 0;

	if (w->depth || engines[w->m.engine].kind != ENGINE_TEST)
		return 0;
	if (one_in(w, 10))
		bytes = lengths[choose(w, 6)];
	if (bytes)
		say("codec.pad_to = %u;", bytes);
	atomic_store(&w->codec.pad_to, bytes);
	return bytes;
}

static void end_padding(struct world *w, uint32_t padding)
{
	if (!padding)
		return;
	atomic_store(&w->codec.pad_to, 0);
	say("codec.pad_to = 0;");
}

/* ---- the outcome --------------------------------------------------------- */

static uint64_t limited_bytes(const struct model *m,
			      const struct zswap_stats *stats)
{
	uint64_t used = stats->pool_total_size - stats->reserve_bytes;
	uint64_t share = used / m->page_size / RESERVE_SHARE * m->page_size;

	return used +
	       (stats->reserve_bytes < share ? stats->reserve_bytes : share);
}

/* Whether the first question about the limit is answered with no. */
static bool is_full(const struct store *s)
{
	uint64_t held = limited_bytes(&s->m, &s->before);

	if (held >= s->m.max_bytes)
		return true;
	return s->m.full && held > model_threshold_bytes(&s->m);
}

/* A later question, or the allocator, may say no where this is possible. */
static bool may_become_full(const struct store *s)
{
	uint64_t most =
		(uint64_t)s->nr_compressed * s->m.chain * s->m.page_size;

	return s->m.max_bytes != ZSWAP_UNLIMITED &&
	       limited_bytes(&s->m, &s->before) + most >= s->m.max_bytes;
}

/* The counters that a store may have moved which was ended before its end. */
static void count_failed_pages(struct world *w, const struct store *s,
			       const struct zswap_stats *now)
{
	uint64_t most = w->m.counts.compress_engine_fail;

	for (unsigned i = 0; i < s->t.nr; i++)
		most += s->pages[i].fault == -EIO;
	CHECK(now->compress_engine_fail >= w->m.counts.compress_engine_fail);
	CHECK(now->compress_engine_fail <= most);
	w->m.counts.compress_engine_fail = now->compress_engine_fail;
}

static void after_no_memory(struct world *w, const struct store *s)
{
	struct zswap_stats *counts = &w->m.counts, now = io_stats(w->z);

	CHECK(w->hooks.failed);
	CHECK(now.reject_alloc_fail + now.reject_kmemcache_fail ==
	      counts->reject_alloc_fail + counts->reject_kmemcache_fail + 1);
	counts->reject_alloc_fail = now.reject_alloc_fail;
	counts->reject_kmemcache_fail = now.reject_kmemcache_fail;
	count_failed_pages(w, s, &now);
	w->m.full = inspect_is_full(w->z);
}

static void after_limit(struct world *w, const struct store *s)
{
	struct zswap_stats now = io_stats(w->z);

	CHECK(!s->m.max_bytes || (s->nr_compressed && is_full(s)) ||
	      may_become_full(s));
	w->m.counts.reject_limit++;
	w->m.counts.pool_limit_hit +=
		!is_full(s) ||
		limited_bytes(&s->m, &s->before) >= s->m.max_bytes;
	count_failed_pages(w, s, &now);
	w->m.full = true;
}

/* Refused for what its pages are: exactly those are named. */
static void after_verdict(struct world *w, const struct store *s, int verdict,
			  const int *results)
{
	struct zswap_stats *counts = &w->m.counts;

	CHECK(s->err == verdict);
	for (unsigned i = 0; i < s->t.nr; i++) {
		if (s->results)
			CHECK(own_io(w)->results[i] == results[i]);
		counts->compress_engine_fail += results[i] == -EIO;
	}
	counts->reject_compress_fail += verdict == -EIO;
	counts->reject_compress_poor += verdict == -E2BIG;
	w->m.full = false;
}

/* The results where the pages themselves are not the cause. */
static void check_results(struct world *w, const struct store *s)
{
	unsigned nr_causes = 0;

	for (unsigned i = 0; s->results && i < s->t.nr; i++) {
		int result = own_io(w)->results[i];

		CHECK(result == s->err ||
		      (s->err == -ENOMEM && result == -ECANCELED));
		nr_causes += result == s->err;
	}
	CHECK(nr_causes || !s->results);
}

/* The reason is the first of these that holds. */
static void after_refusal(struct world *w, const struct store *s)
{
	int results[ZSWAP_MAX_FOLIO];
	int verdict = model_verdict(&s->m, s->pages, s->t.nr, results);

	say("CHECK(err == %d);", s->err);
	if (!s->m.enabled) {
		CHECK(s->err == -EPERM);
		w->m.counts.reject_disabled++;
	} else if (s->err == -ENOSPC) {
		after_limit(w, s);
	} else if (s->err == -ENOMEM) {
		after_no_memory(w, s);
	} else if (s->err == -EDEADLK) {
		CHECK(w->depth);
		w->m.counts.reject_no_context++;
		w->m.full = inspect_is_full(w->z);
	} else {
		CHECK(!is_full(s));
		after_verdict(w, s, verdict, results);
		return;
	}
	check_results(w, s);
}

/* What is held stays within the limit and one batch. */
static void check_overshoot(struct world *w, const struct store *s)
{
	struct zswap_stats now = io_stats(w->z);
	uint64_t held = limited_bytes(&s->m, &s->before);
	uint64_t bound = s->m.max_bytes + s->m.batch * s->m.page_size;

	if (s->m.max_bytes == ZSWAP_UNLIMITED)
		return;
	CHECK(limited_bytes(&s->m, &now) <= (held > bound ? held : bound));
}

static void after_success(struct world *w, const struct store *s)
{
	struct zswap_stats *counts = &w->m.counts;
	int results[ZSWAP_MAX_FOLIO];

	say("CHECK(err == 0);");
	CHECK(s->m.enabled && s->m.max_bytes);
	CHECK(!s->nr_compressed || !is_full(s));
	CHECK(!model_verdict(&s->m, s->pages, s->t.nr, results));
	check_overshoot(w, s);
	check_results(w, s);
	for (unsigned i = 0; i < s->t.nr; i++) {
		const struct model_page *page = &s->pages[i];

		model_set(&w->m, s->t.area, s->t.first + i, &page->slot, 1);
		counts->same_filled_stored += page->slot.state == ZSWAP_FILLED;
		counts->incompressible_stored += page->slot.state == ZSWAP_RAW;
		counts->compress_engine_fail += page->fault == -EIO;
	}
	counts->zswpout += s->t.nr;
	if (s->nr_compressed)
		w->m.full = false;
}

/* The counter, in a row by sizes, of a folio of nr pages. */
static uint64_t *by_size(uint64_t *row, unsigned nr)
{
	while (nr > 1) {
		row++;
		nr = (nr + 1) / 2;
	}
	return row;
}

static void after_store(struct world *w, const struct store *s)
{
	struct zswap_stats *counts = &w->m.counts;

	if (!s->t.valid) {
		EXPECT(s->err, -ENXIO);
		CHECK(own_io(w)->results[0] == IO_UNTOUCHED);
		return;
	}
	if (!w->depth)
		w->dead_may_wait = false;
	if (!s->err) {
		after_success(w, s);
		counts->stored_folios++;
		++*by_size(&counts->stored_folios_1, s->t.nr);
		return;
	}
	after_refusal(w, s);
	/* What it had made goes one by one, and the others are still pinned. */
	w->m.freed += s->nr_compressed;
	w->pinned = true;
	model_clear(&w->m, s->t.area, s->t.first, s->t.nr);
	counts->refused_folios++;
	++*by_size(&counts->refused_folios_1, s->t.nr);
}

/* ---- the call ------------------------------------------------------------ */

static void choose_pages(struct world *w, struct store *s)
{
	s->start = choose(w, PALETTE_PAGES);
	s->stride = choose(w, 8);
	for (unsigned i = 0; i < s->t.nr; i++) {
		unsigned number = io_number(s->start, s->stride, i);

		s->pages[i].slot.page = (uint16_t)number;
		s->nr_compressed += !palette_is_filled(number);
	}
}

static void lay_out(struct world *w, struct store *s)
{
	unsigned turn = choose(w, s->t.nr);

	say("io_lay_out(&io[%u], %u, %u, %d, %u);", w->depth, w->m.page_size,
	    s->t.nr, s->form, turn);
	io_lay_out(own_io(w), w->m.page_size, s->t.nr, s->form, turn);
	say("io_fill(&io[%u], %u, %u, %d, %u, %u);", w->depth, w->m.page_size,
	    s->t.nr, s->form, s->start, s->stride);
	io_fill(own_io(w), w->m.page_size, s->t.nr, s->form, s->start,
		s->stride);
}

static int do_store(struct world *w, const struct store *s)
{
	struct zswap_folio folio =
		io_folio(own_io(w), s->t.slot, s->t.nr, s->form, s->results);

	if (s->t.nr == 1 && !s->results) {
		say("err = zswap_store(z, %s, io[%u].pages[0]);",
		    slot_text(s->t.slot), w->depth);
		return zswap_store(w->z, s->t.slot, own_io(w)->pages[0]);
	}
	say("folio = io_folio(&io[%u], %s, %u, %d, %d);", w->depth,
	    slot_text(s->t.slot), s->t.nr, s->form, s->results);
	say("err = zswap_store_folio(z, &folio);");
	return zswap_store_folio(w->z, &folio);
}

void call_store(struct world *w)
{
	static struct store stores[2]; /* one for each depth */
	struct store *s = &stores[w->depth];
	uint32_t padding;

	memset(&s->fault, 0, sizeof(s->fault));
	s->nr_compressed = 0;
	s->t = choose_target(w, max_folio(w));
	s->form = (int)choose(w, NR_IO_FORMS);
	s->results = one_in(w, 2);
	choose_pages(w, s);
	choose_fault(w, s);
	padding = choose_padding(w);
	remember_settings(s, &w->m);
	s->before = w->depth ? io_stats(w->z) : w->before;
	model_make(&w->m, s->pages, s->t.nr, &s->fault, padding);
	lay_out(w, s);
	/* Calls in the middle only where all can be told beforehand. */
	if (!s->fault.fault && !padding && s->m.max_bytes == ZSWAP_UNLIMITED)
		choose_nested(w);
	s->err = do_store(w, s);
	end_nested(w);
	end_fault(w, s);
	after_store(w, s);
	end_padding(w, padding);
}
