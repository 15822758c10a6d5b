// SPDX-License-Identifier: MIT
/*
 * bench_store_load.c - store and load every page, beside the bare codec
 *
 * Two variants. *First* is a program's start: a fresh cache takes all folios in
 * order, then gives all pages back one by one in random order until it is
 * empty. New memory and its return are in the times. *Warm* is steady use: the
 * cache is full and stays so. A pass goes over the folios in random order, in
 * blocks of some folios:
 *
 *	block:  load each page | compare   | store its folios again
 *	        (timed)        | (untimed) | (timed)
 *
 * Bare does the very same blocks from and to the same memory; what the caches
 * of the processor hold is therefore alike. For it both variants are one, since
 * its memory is always warm: it is the limit, not a rival.
 *
 * The two sides take turns, repeat by repeat, and each repeat turns the order
 * round. Ratios are taken within a repeat, so that a machine that slows down
 * for a second spoils one ratio and not the median. Latencies come from passes
 * of their own, in which the clock is read around each call.
 */
#include "bench_store_load.h"

#include "side_bare.h"
#include "side_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Pages of a block: enough that reading the clock twice costs nothing, few
 * enough (256 KiB) that its buffer stays in the processor's second cache.
 */
#define BLOCK_PAGES 64u

/*
 * A warm pass takes a block out before it puts it back. Where that is a large
 * part of what the cache holds, memory is emptied and filled again all the
 * time, which steady use does not do. So the cache holds at least this many
 * blocks, ballast included: more copies of the corpus, which nobody loads.
 */
#define WARM_BLOCKS 64u

struct trial {
	const struct job *job;
	const char *variant;
	struct layout layout;
	struct side_cache cache;
	struct side_bare bare;
	uint32_t block_folios;
	uint32_t block_pages; /* at most */
	uint32_t *folios;     /* the order of a pass */
	uint32_t *pages;      /* the order of its loads */
	unsigned char *buf;   /* a block */
};

/* Where the latency of each call goes, per page. */
struct samples {
	double *store_ns, *load_ns;
	size_t nr_stores, nr_loads;
};

struct meter {
	uint64_t store_ns, load_ns;
	struct samples *samples; /* NULL while whole blocks are timed */
};

/* ---- timed calls ------------------------------------------------------- */

static void check(const struct trial *t, const struct side *s, const char *what,
		  int err)
{
	if (err)
		broken("%s, %s, folio %u, %s: %s of the %s failed: %s",
		       t->job->corpus->name, t->job->codec->name,
		       t->job->folio_pages, t->variant, what, s->name,
		       strerror(-err));
}

static void store_sampled(const struct trial *t, struct side *s,
			  const uint32_t *folios, size_t count,
			  struct samples *samples)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t start = now_ns();
		int err = s->store(s, &folios[i], 1);
		uint64_t ns = now_ns() - start;

		check(t, s, "a store", err);
		samples->store_ns[samples->nr_stores++] =
			(double)ns / folio_len(&t->layout, folios[i]);
	}
}

static void load_sampled(const struct trial *t, struct side *s,
			 const uint32_t *pages, size_t count,
			 struct samples *samples)
{
	for (size_t i = 0; i < count; i++) {
		unsigned char *dst = t->buf + i * PAGE_BYTES;
		uint64_t start = now_ns();
		int err = s->load(s, &pages[i], 1, dst);
		uint64_t ns = now_ns() - start;

		check(t, s, "a load", err);
		samples->load_ns[samples->nr_loads++] = (double)ns;
	}
}

static void store_folios(const struct trial *t, struct side *s,
			 const uint32_t *folios, size_t count, struct meter *m)
{
	uint64_t start = now_ns();
	int err;

	if (m->samples) {
		store_sampled(t, s, folios, count, m->samples);
		return;
	}
	err = s->store(s, folios, count);
	m->store_ns += now_ns() - start;
	check(t, s, "a store", err);
}

static void load_pages(const struct trial *t, struct side *s,
		       const uint32_t *pages, size_t count, struct meter *m)
{
	uint64_t start = now_ns();
	int err;

	if (m->samples) {
		load_sampled(t, s, pages, count, m->samples);
		return;
	}
	err = s->load(s, pages, count, t->buf);
	m->load_ns += now_ns() - start;
	check(t, s, "a load", err);
}

/* ---- verifying --------------------------------------------------------- */

static size_t first_difference(const unsigned char *a, const unsigned char *b)
{
	size_t i = 0;

	while (i < PAGE_BYTES && a[i] == b[i])
		i++;
	return i;
}

/* Not timed. What was loaded is wiped, so that no later load passes by it. */
static void verify(const struct trial *t, const struct side *s,
		   const uint32_t *pages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const unsigned char *got = t->buf + i * PAGE_BYTES;
		const unsigned char *want = t->job->corpus->pages +
					    (size_t)pages[i] * PAGE_BYTES;

		if (!memcmp(got, want, PAGE_BYTES))
			continue;
		broken("%s, %s, folio %u, %s: MISMATCH: page %u of the %s came "
		       "back changed at byte %zu",
		       t->job->corpus->name, t->job->codec->name,
		       t->job->folio_pages, t->variant, pages[i], s->name,
		       first_difference(got, want));
	}
	memset(t->buf, 0xa5, count * PAGE_BYTES);
}

/* ---- the first variant ------------------------------------------------- */

static void in_order(uint32_t *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		items[i] = i;
}

static void first_fill(struct trial *t, struct side *s, struct meter *m)
{
	in_order(t->folios, t->layout.nr_folios);
	if (s->before_fill)
		s->before_fill(s);
	store_folios(t, s, t->folios, t->layout.nr_folios, m);
	if (s->after_fill)
		s->after_fill(s);
}

static void first_pass(struct trial *t, struct side *s, uint64_t seed,
		       struct meter *m)
{
	uint32_t nr_pages = (uint32_t)t->layout.corpus->nr_pages;
	struct rng rng = { seed };

	first_fill(t, s, m);
	in_order(t->pages, nr_pages);
	shuffle(&rng, t->pages, nr_pages);
	for (uint32_t at = 0; at < nr_pages; at += BLOCK_PAGES) {
		uint32_t left = nr_pages - at;
		uint32_t count = left < BLOCK_PAGES ? left : BLOCK_PAGES;

		load_pages(t, s, t->pages + at, count, m);
		verify(t, s, t->pages + at, count);
	}
	if (s->after_loads)
		s->after_loads(s);
}

/* ---- the warm variant -------------------------------------------------- */

/* The pages of these folios, in random order; how many. */
static uint32_t list_pages(struct trial *t, const uint32_t *folios,
			   uint32_t count, struct rng *rng)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t first = folio_first(&t->layout, folios[i]);
		uint32_t len = folio_len(&t->layout, folios[i]);

		for (uint32_t p = 0; p < len; p++)
			t->pages[nr++] = first + p;
	}
	shuffle(rng, t->pages, nr);
	return nr;
}

static void warm_pass(struct trial *t, struct side *s, uint64_t seed,
		      struct meter *m)
{
	uint32_t nr_folios = t->layout.nr_folios;
	struct rng rng = { seed };

	in_order(t->folios, nr_folios);
	shuffle(&rng, t->folios, nr_folios);
	for (uint32_t at = 0; at < nr_folios; at += t->block_folios) {
		uint32_t left = nr_folios - at;
		uint32_t count = left < t->block_folios ? left
							: t->block_folios;
		uint32_t nr = list_pages(t, t->folios + at, count, &rng);

		load_pages(t, s, t->pages, nr, m);
		verify(t, s, t->pages, nr);
		store_folios(t, s, t->folios + at, count, m);
	}
}

/* Copies of the corpus that make the cache hold WARM_BLOCKS blocks. */
static size_t ballast_copies(const struct trial *t)
{
	size_t nr_pages = t->layout.corpus->nr_pages;
	size_t block = t->block_pages < nr_pages ? t->block_pages : nr_pages;
	size_t wanted = WARM_BLOCKS * block;

	return (wanted + nr_pages - 1) / nr_pages - 1;
}

static void warm_up(struct trial *t)
{
	struct meter m = { 0 };

	first_fill(t, &t->cache.side, &m);
	cache_ballast(&t->cache, ballast_copies(t));
	warm_pass(t, &t->cache.side, 0, &m);
	warm_pass(t, &t->bare.side, 0, &m);
}

/* ---- repeats ----------------------------------------------------------- */

typedef void pass_fn(struct trial *t, struct side *s, uint64_t seed,
		     struct meter *m);

/* One pass of each side, with the same seed; even ones begin with bare. */
static void take_turns(struct trial *t, pass_fn *pass, unsigned repeat,
		       struct meter *cache, struct meter *bare)
{
	uint64_t seed = repeat + 1;

	if (repeat % 2 == 0)
		pass(t, &t->bare.side, seed, bare);
	pass(t, &t->cache.side, seed, cache);
	if (repeat % 2 != 0)
		pass(t, &t->bare.side, seed, bare);
}

/* MB/s of each repeat, and their ratios. */
struct rates {
	double *cache, *bare, *ratio;
};

static struct rates rates_alloc(unsigned repeats)
{
	struct rates r = {
		.cache = bench_alloc(repeats, sizeof(double)),
		.bare = bench_alloc(repeats, sizeof(double)),
		.ratio = bench_alloc(repeats, sizeof(double)),
	};

	return r;
}

static void rates_add(struct rates *r, unsigned repeat, double bytes,
		      uint64_t cache_ns, uint64_t bare_ns)
{
	r->cache[repeat] = bytes * 1e3 / (double)(cache_ns ? cache_ns : 1);
	r->bare[repeat] = bytes * 1e3 / (double)(bare_ns ? bare_ns : 1);
	r->ratio[repeat] = r->cache[repeat] / r->bare[repeat];
}

static void rates_finish(struct rates *r, unsigned repeats, struct speed *out)
{
	out->mbps = summarize(r->cache, repeats);
	out->bare_mbps = summarize(r->bare, repeats);
	out->vs_bare = summarize(r->ratio, repeats);
	free(r->cache);
	free(r->bare);
	free(r->ratio);
}

static void show_progress(const struct trial *t, unsigned done, unsigned total)
{
	progress("%s %s, folio %u, %s: %u of %u", t->job->corpus->name,
		 t->job->codec->name, t->job->folio_pages, t->variant, done,
		 total);
}

static void run_repeats(struct trial *t, pass_fn *pass, struct row *row)
{
	double bytes = (double)t->layout.corpus->nr_pages * PAGE_BYTES;
	struct rates store = rates_alloc(row->repeats);
	struct rates load = rates_alloc(row->repeats);

	for (unsigned i = 0; i < row->repeats; i++) {
		struct meter cache = { 0 }, bare = { 0 };

		show_progress(t, i, row->repeats);
		take_turns(t, pass, i, &cache, &bare);
		rates_add(&store, i, bytes, cache.store_ns, bare.store_ns);
		rates_add(&load, i, bytes, cache.load_ns, bare.load_ns);
	}
	rates_finish(&store, row->repeats, &row->store);
	rates_finish(&load, row->repeats, &row->load);
}

static struct samples samples_alloc(const struct trial *t)
{
	size_t passes = t->job->latency_passes;
	size_t loads = passes * t->layout.corpus->nr_pages;
	size_t stores = passes * t->layout.nr_folios;
	struct samples s = {
		.store_ns = bench_alloc(stores, sizeof(double)),
		.load_ns = bench_alloc(loads, sizeof(double)),
	};

	return s;
}

static void samples_finish(struct samples *s, struct latency *store,
			   struct latency *load)
{
	*store = latency_of(s->store_ns, s->nr_stores);
	*load = latency_of(s->load_ns, s->nr_loads);
	free(s->store_ns);
	free(s->load_ns);
}

static void run_latencies(struct trial *t, pass_fn *pass, struct row *row)
{
	unsigned passes = t->job->latency_passes;
	struct samples cache = samples_alloc(t), bare = samples_alloc(t);
	struct meter cache_meter = { .samples = &cache };
	struct meter bare_meter = { .samples = &bare };

	for (unsigned i = 0; i < passes; i++)
		take_turns(t, pass, i, &cache_meter, &bare_meter);
	samples_finish(&cache, &row->store.page, &row->load.page);
	samples_finish(&bare, &row->store.bare_page, &row->load.bare_page);
}

/* ---- trials ------------------------------------------------------------ */

static void trial_init(struct trial *t, const struct job *job,
		       const char *variant)
{
	uint32_t folio = job->folio_pages;
	size_t nr_pages = job->corpus->nr_pages;

	*t = (struct trial){
		.job = job,
		.variant = variant,
		.layout = layout_of(job->corpus, folio),
		.block_folios = (BLOCK_PAGES + folio - 1) / folio,
	};
	t->block_pages = t->block_folios * folio;
	t->folios = bench_alloc(t->layout.nr_folios, sizeof(*t->folios));
	t->pages = bench_alloc(nr_pages, sizeof(*t->pages));
	t->buf = bench_map_touched((size_t)t->block_pages * PAGE_BYTES);
	bare_init(&t->bare, &t->layout, job->codec);
	cache_init(&t->cache, &t->layout, job->codec);
}

static void trial_free(struct trial *t)
{
	cache_free(&t->cache);
	bare_free(&t->bare);
	bench_unmap(t->buf, (size_t)t->block_pages * PAGE_BYTES);
	free(t->folios);
	free(t->pages);
}

/* A corpus of same-filled pages has no payload, and no ratio. */
static double ratio(double pages, uint64_t bytes)
{
	return bytes ? pages * PAGE_BYTES / (double)bytes : NAN;
}

static void note_density(struct row *row, const struct zswap_stats *s)
{
	double pages = (double)s->stored_pages;

	row->ratio = ratio(pages, s->compressed_bytes);
	row->held_ratio = ratio(pages, s->pool_total_size + s->metadata_bytes);
	row->metadata_bytes = (double)s->metadata_bytes / pages;
}

static void note_kinds(struct row *row, const struct zswap_stats *s)
{
	row->same_filled = s->same_filled_pages;
	row->raw = s->stored_incompressible_pages;
}

struct row bench_first(const struct job *job)
{
	struct row row = {
		.job = job, .variant = "first", .repeats = job->first_repeats,
	};
	struct trial t;

	trial_init(&t, job, row.variant);
	run_repeats(&t, first_pass, &row);
	run_latencies(&t, first_pass, &row);
	note_kinds(&row, &t.cache.full);
	note_density(&row, &t.cache.full);
	trial_free(&t);
	return row;
}

struct row bench_warm(const struct job *job)
{
	struct row row = {
		.job = job, .variant = "warm", .repeats = job->warm_repeats,
	};
	struct zswap_stats stats;
	struct trial t;

	trial_init(&t, job, row.variant);
	warm_up(&t);
	run_repeats(&t, warm_pass, &row);
	run_latencies(&t, warm_pass, &row);
	stats = cache_stats(t.cache.z);
	note_kinds(&row, &t.cache.full); /* of the corpus, without ballast */
	note_density(&row, &stats);
	trial_free(&t);
	return row;
}
