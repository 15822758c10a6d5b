// SPDX-License-Identifier: MIT
/*
 * bench_store_load.c - store and load every page, beside the bare codec
 *
 * Two variants. *First* is a program's start: a fresh cache takes all folios in
 * order, then gives all pages back one by one in random order until it is
 * empty. New memory and its return are in the times. *Warm* is steady use: the
 * cache is full and stays so. A pass takes out a block of pages, and stores its
 * folios again.
 *
 * Bare does the very same passes from and to the same memory. For it both
 * variants are one, since its memory is always warm: it is the limit, not a
 * rival.
 *
 * Latencies come from passes of their own, in which the clock is read around
 * each call.
 */
#include "bench_store_load.h"

#include "side_bare.h"

#include <stdlib.h>

enum { BARE, CACHE, NR_SIDES };

struct trial {
	const struct job *job;
	struct passes passes;
	struct side_bare bare;
	struct side_cache cache;
	struct side *sides[NR_SIDES];
};

/* ---- repeats ----------------------------------------------------------- */

static void note_speed(const struct series *s, struct speed *out)
{
	out->mbps = series_of(s, CACHE);
	out->bare_mbps = series_of(s, BARE);
	out->vs_bare = series_ratio(s, CACHE, BARE);
}

static void run_repeats(struct trial *t, pass_fn *pass, struct row *row)
{
	struct rates rates =
		passes_race(&t->passes, pass, t->sides, NR_SIDES, row->repeats);

	note_speed(&rates.store, &row->store);
	note_speed(&rates.load, &row->load);
	rates_free(&rates);
}

static struct samples samples_alloc(const struct job *job)
{
	size_t loads = (size_t)job->latency_passes * job->layout.nr_pages;
	size_t stores = (size_t)job->latency_passes * job->layout.nr_folios;
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
	struct samples samples[NR_SIDES] = { samples_alloc(t->job),
					     samples_alloc(t->job) };

	for (unsigned i = 0; i < t->job->latency_passes; i++) {
		for (unsigned k = 0; k < NR_SIDES; k++) {
			unsigned who = turn_of(NR_SIDES, i, k);
			struct meter m = { .samples = &samples[who] };

			pass(&t->passes, t->sides[who], i + 1, &m);
		}
	}
	samples_finish(&samples[BARE], &row->store.bare_page,
		       &row->load.bare_page);
	samples_finish(&samples[CACHE], &row->store.page, &row->load.page);
}

/* ---- trials ------------------------------------------------------------ */

static void trial_init(struct trial *t, const struct job *job,
		       const char *variant)
{
	const struct layout *l = &job->layout;

	t->job = job;
	passes_init(&t->passes, l,
		    bench_format("%s, %s, folio %u, %s", l->corpus->name,
				 job->kind.codec->spec, l->folio_pages,
				 variant));
	bare_init(&t->bare, l, job->kind.codec);
	cache_init(&t->cache, l, &job->kind);
	t->sides[BARE] = &t->bare.side;
	t->sides[CACHE] = &t->cache.side;
}

static void trial_free(struct trial *t)
{
	cache_free(&t->cache);
	bare_free(&t->bare);
	passes_free(&t->passes);
}

struct row bench_first(const struct job *job)
{
	struct row row = {
		.job = job,
		.variant = "first",
		.repeats = job->first_repeats,
	};
	struct trial t;

	trial_init(&t, job, row.variant);
	run_repeats(&t, pass_first, &row);
	run_latencies(&t, pass_first, &row);
	row.density = density_of(&t.cache.full, job->kind.page_bytes);
	trial_free(&t);
	return row;
}

struct row bench_warm(const struct job *job)
{
	struct row row = {
		.job = job,
		.variant = "warm",
		.repeats = job->warm_repeats,
	};
	struct zswap_stats stats;
	struct meter m = { 0 };
	struct trial t;

	trial_init(&t, job, row.variant);
	pass_warm(&t.passes, &t.bare.side, 0, &m);
	cache_warm_up(&t.cache, &t.passes);
	run_repeats(&t, pass_warm, &row);
	run_latencies(&t, pass_warm, &row);
	stats = cache_stats(t.cache.z);
	row.density = density_of(&stats, job->kind.page_bytes);
	row.density.same_filled = t.cache.full.same_filled_pages;
	row.density.raw = t.cache.full.stored_incompressible_pages;
	trial_free(&t);
	return row;
}
