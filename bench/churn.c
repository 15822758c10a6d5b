// SPDX-License-Identifier: MIT
/*
 * churn.c - the same stores and invalidations for every holder; see churn.h
 *
 * Whatever this keeps for itself is touched before the first sample of the
 * process's size, and a page has been through the codec: what the process grows
 * by is the holder's.
 */
#include "churn.h"

#include "bench.h"
#include "child.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OVERWRITES 4u
#define OPS_PER_LOAD 8u
#define NO_PAGE UINT32_MAX
/*
 * Operations after a sample whose calls are not timed: reading the process's
 * size leaves the processor's caches cold.
 */
#define COLD_OPS 8u

/* Pages in one list, whatever their corpus. */
struct pages {
	const unsigned char **at;
	uint32_t first[1 + OVERWRITES + 1]; /* of each corpus, and the end */
	uint32_t nr_corpora;
};

struct run {
	const struct churn_job *job;
	struct holder *holder;
	struct churn_result *out;
	struct pages pages;
	uint32_t *page_of; /* what a slot holds */
	uint32_t nr_used;  /* slots from here on were never used */
	struct churn_log *log;
	struct rng rng;
	unsigned phase;
	uint64_t ops, phase_ops;
	uint64_t warm_from; /* of phase_ops: no longer cold */
	double rss;         /* before the first store */
	double moves;       /* before the phase */
	unsigned char buf[PAGE_BYTES];
};

void churn_result_init(struct churn_result *out)
{
	const struct over_live unknown = { NAN, NAN };

	for (unsigned i = 0; i < NR_PHASES; i++) {
		struct churn_phase *p = &out->phases[i];

		p->live_bytes = NAN;
		p->end = unknown;
		for (int k = 0; k < CHURN_FLOORS; k++)
			p->worst[k] = unknown;
	}
}

uint64_t churn_ops(const struct churn_job *job, unsigned phase)
{
	const uint64_t ops[NR_PHASES] = {
		[FILL] = job->nr_slots,
		[OVERWRITE] = (uint64_t)OVERWRITES * job->nr_slots,
		[DISCARD] = job->nr_slots / 2,
	};

	return ops[phase];
}

/* ---- pages ------------------------------------------------------------- */

static struct pages list_pages(const struct corpora *all)
{
	size_t count =
		all->count < 1 + OVERWRITES ? all->count : 1 + OVERWRITES;
	struct pages p = { .nr_corpora = (uint32_t)count };

	for (size_t i = 0; i < count; i++)
		p.first[i + 1] = p.first[i] + (uint32_t)all->items[i].nr_pages;
	p.at = bench_alloc(p.first[count], sizeof(*p.at));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < all->items[i].nr_pages; k++)
			p.at[p.first[i] + k] =
				all->items[i].pages + k * PAGE_BYTES;
	return p;
}

static uint32_t nr_pages(const struct pages *p)
{
	return p->first[p->nr_corpora];
}

/* The @n-th of a corpus, whose pages come again and again. */
static uint32_t page_of_corpus(const struct pages *p, uint32_t corpus,
			       uint64_t n)
{
	uint32_t count = p->first[corpus + 1] - p->first[corpus];

	return p->first[corpus] + (uint32_t)(n % count);
}

/* Never the one of the fill, unless there is no other. */
static uint32_t corpus_of_round(const struct pages *p, uint32_t round)
{
	return p->nr_corpora > 1 ? 1 + round % (p->nr_corpora - 1) : 0;
}

/* ---- the log ----------------------------------------------------------- */

void churn_log_make(struct churn_log *log, const struct churn_job *job)
{
	struct pages pages = list_pages(job->all);
	size_t ops = 0;

	for (unsigned i = 0; i < NR_PHASES; i++)
		ops += churn_ops(job, i);
	log->calls_bytes =
		(ops + ops / OPS_PER_LOAD) * sizeof(struct churn_call);
	log->costs_bytes = nr_pages(&pages) * sizeof(struct churn_cost);
	log->calls = child_room(log->calls_bytes);
	log->costs = child_room(log->costs_bytes);
	free(pages.at);
}

void churn_log_free(struct churn_log *log)
{
	bench_unmap(log->calls, log->calls_bytes);
	bench_unmap(log->costs, log->costs_bytes);
}

static struct pause pause_of(const struct churn_log *log, unsigned phase,
			     unsigned call)
{
	double *ns = bench_alloc(log->nr_calls, sizeof(*ns));
	double *added_ns = bench_alloc(log->nr_calls, sizeof(*added_ns));
	struct pause pause;
	size_t count = 0;

	for (size_t i = 0; i < log->nr_calls; i++) {
		const struct churn_call *c = &log->calls[i];

		if (c->phase != phase || c->call != call)
			continue;
		ns[count] = c->ns;
		added_ns[count++] = c->ns - log->costs[c->page].ns[call];
	}
	pause.p999_us = latency_of(ns, count).p999_us;
	pause.added_us = latency_of(added_ns, count).p999_us;
	free(ns);
	free(added_ns);
	return pause;
}

void churn_pauses(const struct churn_log *log, struct churn_result *out)
{
	for (unsigned phase = 0; phase < NR_PHASES; phase++)
		for (unsigned call = 0; call < NR_CALLS; call++)
			out->phases[phase].pauses[call] =
				pause_of(log, phase, call);
}

/* ---- calls ------------------------------------------------------------- */

static void check(const struct run *r, const char *what, int err)
{
	if (err)
		broken("churn, %s: %s failed: %s", r->job->codec->spec, what,
		       strerror(-err));
}

static uint64_t time_store(struct run *r, uint32_t slot, uint32_t page)
{
	const unsigned char *bytes = r->pages.at[page];
	uint64_t start = now_ns(), ns;
	int err = r->holder->store(r->holder, slot, bytes);

	ns = now_ns() - start;
	check(r, "a store", err);
	return ns;
}

/* The page has to be this one. */
static uint64_t time_load(struct run *r, uint32_t slot, uint32_t page)
{
	uint64_t start = now_ns(), ns;
	int err = r->holder->peek(r->holder, slot, r->buf);

	ns = now_ns() - start;
	check(r, "a load", err);
	if (memcmp(r->buf, r->pages.at[page], PAGE_BYTES))
		broken("churn, %s: MISMATCH: slot %u came back changed",
		       r->job->codec->spec, slot);
	return ns;
}

static uint64_t time_invalidate(struct run *r, uint32_t slot)
{
	uint64_t start = now_ns();

	r->holder->invalidate(r->holder, slot);
	return now_ns() - start;
}

static void lower_to(float *least, uint64_t ns)
{
	if (*least == 0 || (float)ns < *least)
		*least = (float)ns;
}

/* The same sequence makes the same calls: the n-th is that of other repeats. */
static void note(struct run *r, unsigned call, uint32_t page, uint64_t ns)
{
	struct churn_call *c = &r->log->calls[r->log->nr_calls];

	if (r->phase_ops < r->warm_from)
		return;
	c->page = page;
	c->phase = (uint8_t)r->phase;
	c->call = (uint8_t)call;
	lower_to(&c->ns, ns);
	r->log->nr_calls++;
}

/* ---- samples ----------------------------------------------------------- */

/* The larger; what is not known yet gives way. */
static void raise_to(double *worst, double v)
{
	if (isnan(*worst) || v > *worst)
		*worst = v;
}

/* NAN where the system does not tell. */
static double rss_now(void)
{
	size_t bytes = bench_rss_bytes();

	return bytes ? (double)bytes : NAN;
}

static void take_point(struct run *r)
{
	struct usage u = r->holder->usage(r->holder);
	double rss = rss_now() - r->rss;
	struct churn_phase *phase = &r->out->phases[r->phase];
	struct churn_point p = {
		.ops = (double)r->ops,
		.live_bytes = u.live,
		.over.held = (isnan(u.held) ? rss : u.held) / u.live,
		.over.rss = rss / u.live,
	};

	r->out->points[r->out->nr_points++] = p;
	phase->live_bytes = p.live_bytes;
	phase->end = p.over;
	for (int i = 0; i < CHURN_FLOORS; i++) {
		if (p.live_bytes < r->job->floor_bytes[i])
			continue;
		raise_to(&phase->worst[i].held, p.over.held);
		raise_to(&phase->worst[i].rss, p.over.rss);
	}
}

/* ---- operations -------------------------------------------------------- */

static uint32_t random_present(struct run *r)
{
	uint32_t slot;

	do
		slot = (uint32_t)(rng_next(&r->rng) % r->nr_used);
	while (r->page_of[slot] == NO_PAGE);
	return slot;
}

static void after_op(struct run *r)
{
	uint64_t total = churn_ops(r->job, r->phase);
	uint64_t every = total / r->job->nr_points + 1;

	r->ops++;
	r->phase_ops++;
	if (r->phase_ops % OPS_PER_LOAD == 0) {
		uint32_t slot = random_present(r), page = r->page_of[slot];

		note(r, LOAD, page, time_load(r, slot, page));
	}
	if (r->phase_ops % every == 0 || r->phase_ops == total) {
		take_point(r);
		r->warm_from = r->phase_ops + COLD_OPS;
	}
}

static void op_store(struct run *r, uint32_t slot, uint32_t page)
{
	note(r, STORE, page, time_store(r, slot, page));
	r->page_of[slot] = page;
	after_op(r);
}

static void op_discard(struct run *r, uint32_t slot)
{
	note(r, INVALIDATE, r->page_of[slot], time_invalidate(r, slot));
	r->page_of[slot] = NO_PAGE;
	after_op(r);
}

/* ---- the added time ---------------------------------------------------- */

/* In a slot that is used for nothing else. */
static void learn_costs(struct run *r)
{
	uint32_t slot = r->job->nr_slots;

	for (uint32_t page = 0; page < nr_pages(&r->pages); page++) {
		float *ns = r->log->costs[page].ns;

		lower_to(&ns[STORE], time_store(r, slot, page));
		lower_to(&ns[LOAD], time_load(r, slot, page));
		lower_to(&ns[INVALIDATE], time_invalidate(r, slot));
	}
}

/* ---- phases ------------------------------------------------------------ */

static void fill(struct run *r)
{
	for (uint32_t slot = 0; slot < r->job->nr_slots; slot++) {
		r->nr_used = slot + 1;
		op_store(r, slot, page_of_corpus(&r->pages, 0, slot));
	}
	learn_costs(r);
}

static void overwrite(struct run *r)
{
	for (uint32_t round = 0; round < OVERWRITES; round++) {
		uint32_t corpus = corpus_of_round(&r->pages, round);

		for (uint32_t i = 0; i < r->job->nr_slots; i++) {
			uint32_t slot = (uint32_t)(rng_next(&r->rng) %
						   r->job->nr_slots);

			op_store(r, slot,
				 page_of_corpus(&r->pages, corpus,
						rng_next(&r->rng)));
		}
	}
}

static void discard(struct run *r)
{
	for (uint64_t left = churn_ops(r->job, DISCARD); left; left--)
		op_discard(r, random_present(r));
}

static void compact(struct run *r)
{
	r->holder->compact(r->holder);
	take_point(r);
}

static void begin_phase(struct run *r, unsigned phase)
{
	r->phase = phase;
	r->phase_ops = 0;
	r->warm_from = 0;
	r->moves = r->holder->usage(r->holder).moves;
}

static void end_phase(struct run *r)
{
	double moves = r->holder->usage(r->holder).moves - r->moves;
	double ops = (double)churn_ops(r->job, r->phase);

	r->out->phases[r->phase].moves_per_op = ops > 0 ? moves / ops : NAN;
}

/* ---- the whole --------------------------------------------------------- */

/* Nothing may be lost, and nothing be there that was discarded. */
static void check_all(struct run *r)
{
	for (uint32_t slot = 0; slot < r->job->nr_slots; slot++) {
		if (r->page_of[slot] != NO_PAGE)
			time_load(r, slot, r->page_of[slot]);
		else if (r->holder->peek(r->holder, slot, r->buf) != -ENOENT)
			broken("churn, %s: slot %u is still there",
			       r->job->codec->spec, slot);
	}
}

/* Shared memory grows a process only when that process touches it. */
static void touch(const void *addr, size_t bytes)
{
	const volatile unsigned char *at = addr;

	for (size_t i = 0; i < bytes; i += PAGE_BYTES)
		(void)at[i];
}

static void make_room(struct run *r)
{
	touch(r->log->calls, r->log->calls_bytes);
	touch(r->log->costs, r->log->costs_bytes);
	r->page_of = bench_map_touched(r->job->nr_slots * sizeof(uint32_t));
}

static void start_from_here(struct run *r)
{
	uint32_t slot = r->job->nr_slots;

	time_store(r, slot, 0);
	time_load(r, slot, 0);
	time_invalidate(r, slot);
	r->rss = rss_now();
}

void churn(const struct churn_job *job, struct holder *holder,
	   struct churn_log *log, struct churn_result *out)
{
	static void (*const phases[NR_PHASES])(struct run * r) = {
		[FILL] = fill,
		[OVERWRITE] = overwrite,
		[DISCARD] = discard,
		[COMPACT] = compact,
	};
	struct run r = {
		.job = job,
		.holder = holder,
		.log = log,
		.out = out,
		.pages = list_pages(job->all),
		.rng = { 1 },
	};

	log->nr_calls = 0;
	out->nr_points = 0;
	make_room(&r);
	start_from_here(&r);
	for (unsigned i = 0; i < NR_PHASES; i++) {
		begin_phase(&r, i);
		phases[i](&r);
		end_phase(&r);
	}
	check_all(&r);
}
