// SPDX-License-Identifier: MIT
/*
 * bench_churn.c - how much memory stays held while pages come and go
 *
 * The cache and its rivals, a codec beside each allocator that this machine
 * has, do the same stores, loads and invalidations; see churn.h. Each is in a
 * process of its own, for its size to be its own.
 */
#include "topics.h"

#include "child.h"
#include "churn.h"
#include "json.h"
#include "rival.h"
#include "svg.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NR_SLOTS 262144u
#define QUICK_SLOTS 2048u
#define QUICK_POINTS 50u
#define REPEATS 2 /* by default; what disturbs a call rarely does so twice */
#define NR_ENTRANTS (1 + NR_RIVALS) /* the cache is the first */

/* Of live payload, at NR_SLOTS; with fewer slots less, in proportion. */
static const double floor_mib[CHURN_FLOORS] = { 32, 128 };

struct entrant {
	const char *name;
	struct churn_job job;
	unsigned number, repeats;
	char why_not[160]; /* empty when it took part */
	struct churn_log log;
	struct churn_result result;
};

/* A phase of an entrant: a line of the table. */
struct churn_row {
	const struct entrant *entrant;
	unsigned phase;
};

static const char *const phase_names[NR_PHASES] = {
	[FILL] = "fill",
	[OVERWRITE] = "overwrite",
	[DISCARD] = "discard",
	[COMPACT] = "compact",
};

/* ---- measuring --------------------------------------------------------- */

static struct holder *make_holder(struct entrant *e)
{
	uint32_t slots = churn_slots(&e->job);
	struct holder *holder;
	const char *why;

	if (!e->number)
		return holder_cache(e->job.codec, slots);
	holder = holder_rival(e->job.codec, slots, e->number - 1, &why);
	if (!holder)
		snprintf(e->why_not, sizeof(e->why_not), "%s", why);
	return holder;
}

/* In a process of its own. */
static void take_part(void *arg)
{
	struct entrant *e = arg;
	struct holder *holder = make_holder(e);

	if (holder)
		churn(&e->job, holder, &e->log, &e->result);
}

/* ---- table ------------------------------------------------------------- */

static void print_heading(void)
{
	put_format("%-12s %-8s %-9s %5s %17s %17s %17s %17s %6s", "", "", "",
		   "live", "held / live", "RSS / live", "p99.9 us", "added us",
		   "moves");
	table_end();
	put_format("%-12s %-8s %-9s %5s", "codec", "with", "phase", "MiB");
	for (int i = 0; i < 2; i++)
		put_format(" %5s %5s %5s", "worst", "large", "end");
	for (int i = 0; i < 2; i++)
		put_format(" %5s %5s %5s", "store", "load", "inval");
	put_format(" %6s", "per op");
	table_end();
}

static double field(const struct over_live *o, bool rss)
{
	return rss ? o->rss : o->held;
}

static void print_row(const struct churn_row *row)
{
	const struct entrant *e = row->entrant;
	const struct churn_phase *p = &e->result.phases[row->phase];

	put_format("%-12s %-8s %-9s", e->job.codec->label, e->name,
		   phase_names[row->phase]);
	put(6, 0, p->live_bytes / 1048576);
	for (int rss = 0; rss < 2; rss++) {
		for (int i = 0; i < CHURN_FLOORS; i++)
			put(6, 2, field(&p->worst[i], rss));
		put(6, 2, field(&p->end, rss));
	}
	for (int i = 0; i < NR_CALLS; i++)
		put(6, 1, p->pauses[i].p999_us);
	for (int i = 0; i < NR_CALLS; i++)
		put(6, 1, p->pauses[i].added_us);
	put(7, 3, p->moves_per_op);
	table_end();
}

static void print_legend(const struct entrant *e, bool quick)
{
	const struct churn_job *job = &e->job;

	printf("\n"
	       "phase    fill: %u slots, in order, with pages of the first "
	       "corpus; overwrite: four times as many stores,\n"
	       "         to slots at random, of the next corpora's pages, "
	       "a quarter from each in turn; discard: half of\n"
	       "         the slots, at random; compact: after one "
	       "zswap_compact(), or the allocator's own way to trim\n"
	       "with     zswap: the cache; else the bare codec, a block of "
	       "that allocator's for each result, an array\n"
	       "live     payload: compressed bytes, and whole pages that do "
	       "not "
	       "compress; at the end of the phase\n"
	       "held     zswap: zspages with reserve; glibc: mallinfo2's arena "
	       "+ hblkhd; jemalloc: stats.resident;\n"
	       "         mimalloc, which does not tell: RSS; without what the "
	       "bench itself has of it\n"
	       "RSS      what the process has grown by since before the first "
	       "store: with zswap's metadata; the rivals'\n"
	       "         array and the bench's own tables are not in it\n"
	       "worst    of about %u samples a phase, those with at least "
	       "%.3g MiB live; large: %.3g MiB; end: of the last\n"
	       "p99.9    one call of a thousand takes longer; a load follows "
	       "each 8th store or invalidation. Of each call\n"
	       "         the shortest time of %u repeats counts: what "
	       "delays it once is not the allocator's\n"
	       "added    p99.9 of the time that a call takes longer than the "
	       "same call with the same page in a slot of its\n"
	       "         own at the end of fill, with nothing to compact; page "
	       "faults and misses of the processor's caches\n"
	       "         are in it: compare with the rivals'\n"
	       "moves    objects moved by compaction, for each store or "
	       "invalidation\n",
	       job->nr_slots, job->nr_points, job->floor_bytes[0] / 1048576,
	       job->floor_bytes[1] / 1048576, e->repeats);
	if (quick)
		printf("--quick  so few slots that size classes which are "
		       "hardly used weigh: no measure of anything\n");
}

/* ---- JSON -------------------------------------------------------------- */

/* The worst of all three calls. */
static double worst_pause(const struct churn_phase *p)
{
	double worst = NAN;

	for (int i = 0; i < NR_CALLS; i++)
		worst = fmax(worst, p->pauses[i].added_us);
	return worst;
}

static void json_pauses(struct json *json, const struct churn_phase *p)
{
	static const char *const names[NR_CALLS] = { "store", "load",
						     "invalidate" };
	char key[64];

	json_real(json, "pause_p999_us", worst_pause(p));
	for (int i = 0; i < NR_CALLS; i++) {
		snprintf(key, sizeof(key), "%s_p999_us", names[i]);
		json_real(json, key, p->pauses[i].p999_us);
		snprintf(key, sizeof(key), "%s_added_p999_us", names[i]);
		json_real(json, key, p->pauses[i].added_us);
	}
}

static void json_over_live(struct json *json, const struct churn_phase *p)
{
	json_real(json, "held_over_live", p->worst[0].held);
	json_real(json, "rss_over_live", p->worst[0].rss);
	json_real(json, "large_held_over_live", p->worst[1].held);
	json_real(json, "large_rss_over_live", p->worst[1].rss);
	json_real(json, "end_held_over_live", p->end.held);
	json_real(json, "end_rss_over_live", p->end.rss);
}

static void json_one(struct json *json, const void *arg)
{
	const struct churn_row *row = arg;
	const struct entrant *e = row->entrant;
	const struct churn_phase *p = &e->result.phases[row->phase];

	json_row(json, "churn");
	json_text(json, "allocator", e->name);
	json_text(json, "codec", e->job.codec->spec);
	json_text(json, "phase", phase_names[row->phase]);
	json_count(json, "page_bytes", PAGE_BYTES);
	json_count(json, "threads", 1);
	json_count(json, "slots", e->job.nr_slots);
	json_count(json, "repeats", e->repeats);
	json_count(json, "ops", churn_ops(&e->job, row->phase));
	json_real(json, "live_bytes", p->live_bytes);
	json_real(json, "floor_bytes", e->job.floor_bytes[0]);
	json_real(json, "large_floor_bytes", e->job.floor_bytes[1]);
	json_over_live(json, p);
	json_pauses(json, p);
	json_real(json, "moves_per_op", p->moves_per_op);
}

/* ---- plot -------------------------------------------------------------- */

/* Moments with little payload are left out, as they are in the table. */
static struct svg_line line_of(const struct entrant *e)
{
	const struct churn_result *result = &e->result;
	double *x = bench_alloc(result->nr_points, sizeof(*x));
	double *y = bench_alloc(result->nr_points, sizeof(*y));

	for (size_t i = 0; i < result->nr_points; i++) {
		const struct churn_point *p = &result->points[i];
		bool counts = p->live_bytes >= e->job.floor_bytes[0];

		x[i] = p->ops / 1000;
		y[i] = counts ? p->over.held : NAN;
	}
	return (struct svg_line){ e->name, x, y, result->nr_points };
}

static void set_marks(struct svg_mark *marks, const struct churn_job *job)
{
	uint64_t ops = 0;

	for (unsigned i = 0; i < COMPACT; i++) {
		marks[i].name = phase_names[i];
		marks[i].x = (double)ops / 1000;
		ops += churn_ops(job, i);
	}
}

static void set_panel(struct svg_panel *panel, const struct entrant *entrants)
{
	panel->title = entrants->job.codec->spec;
	for (int i = 0; i < NR_ENTRANTS; i++)
		if (!*entrants[i].why_not)
			panel->lines[panel->nr_lines++] = line_of(&entrants[i]);
}

static void plot(const char *path, const struct entrant *all, size_t nr_codecs)
{
	struct svg_panel *panels = bench_alloc(nr_codecs, sizeof(*panels));
	struct svg_axes axes = {
		.x_name = "stores and invalidations, thousands; "
			  "compacted at the end",
		.y_name = "held / live",
		.y_from = 1,
	};
	struct svg_mark marks[COMPACT];

	set_marks(marks, &all->job);
	for (size_t i = 0; i < nr_codecs; i++) {
		set_panel(&panels[i], &all[i * NR_ENTRANTS]);
		panels[i].marks = marks;
		panels[i].nr_marks = COMPACT;
	}
	svg_write(path, &axes, panels, nr_codecs);
	for (size_t i = 0; i < nr_codecs; i++) {
		for (size_t k = 0; k < panels[i].nr_lines; k++) {
			free((void *)panels[i].lines[k].x);
			free((void *)panels[i].lines[k].y);
		}
	}
	free(panels);
}

/* ---- the whole --------------------------------------------------------- */

static void set_entrant(struct entrant *e, const struct args *a,
			const struct corpora *all, size_t number)
{
	e->number = (unsigned)(number % NR_ENTRANTS);
	e->name = e->number ? rival_name(e->number - 1) : "zswap";
	e->repeats = a->repeats ? a->repeats : REPEATS;
	e->job.all = all;
	e->job.codec = &a->codecs[number / NR_ENTRANTS];
	e->job.nr_slots = a->quick ? QUICK_SLOTS : NR_SLOTS;
	e->job.nr_points = a->quick ? QUICK_POINTS : CHURN_MAX_POINTS;
	for (int i = 0; i < CHURN_FLOORS; i++)
		e->job.floor_bytes[i] =
			floor_mib[i] * 1048576 * e->job.nr_slots / NR_SLOTS;
}

static void run_repeats(struct entrant *e)
{
	churn_log_make(&e->log, &e->job);
	churn_result_init(&e->result);
	for (unsigned i = 0; i < e->repeats && !*e->why_not; i++) {
		progress("churn, %s, %s: %u of %u", e->job.codec->spec, e->name,
			 i, e->repeats);
		child_run(take_part, e);
	}
	churn_pauses(&e->log, &e->result);
	churn_log_free(&e->log);
}

/* Its rows behind the @count there are; how many there are then. */
static size_t run_entrant(struct entrant *e, struct churn_row *rows,
			  size_t count)
{
	run_repeats(e);
	if (*e->why_not) {
		put_format("%-12s %-8s left out: %s", e->job.codec->label,
			   e->name, e->why_not);
		table_end();
		return count;
	}
	for (unsigned i = 0; i < NR_PHASES; i++) {
		rows[count] = (struct churn_row){ e, i };
		print_row(&rows[count++]);
	}
	return count;
}

void topic_churn(const struct args *a, const struct corpora *all)
{
	size_t count = a->nr_codecs * NR_ENTRANTS, nr_rows = 0;
	struct entrant *entrants = child_room(count * sizeof(*entrants));
	struct churn_row *rows = bench_alloc(count * NR_PHASES, sizeof(*rows));

	print_heading();
	for (size_t i = 0; i < count; i++) {
		set_entrant(&entrants[i], a, all, i);
		nr_rows = run_entrant(&entrants[i], rows, nr_rows);
	}
	print_legend(entrants, a->quick);
	json_write(a->json, rows, nr_rows, sizeof(*rows), json_one);
	plot(a->svg, entrants, a->nr_codecs);
	free(rows);
	munmap(entrants, count * sizeof(*entrants));
}
