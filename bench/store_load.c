// SPDX-License-Identifier: MIT
/*
 * store_load.c - the subcommand store-load: a pair of rows for each corpus,
 * codec and folio size, then the tables
 */
#include "topics.h"

#include "bench_store_load.h"
#include "repeats.h"
#include "report.h"

#include <stdlib.h>

struct plan {
	struct job *jobs;
	struct memory *memory; /* one for each corpus and codec */
	struct row *rows;      /* two for each job */
	size_t nr_rows;
};

static struct plan plan_make(const struct args *a, const struct corpora *all)
{
	size_t pairs = all->count * a->nr_codecs;
	struct plan plan = {
		.jobs = bench_alloc(pairs * a->nr_folios, sizeof(struct job)),
		.memory = bench_alloc(pairs, sizeof(struct memory)),
		.rows = bench_alloc(2 * pairs * a->nr_folios,
				    sizeof(struct row)),
	};

	return plan;
}

static void plan_free(struct plan *plan)
{
	free(plan->jobs);
	free(plan->memory);
	free(plan->rows);
}

/* Three of four repeats are warm ones. Each has two sides. */
static unsigned warm_repeats(const struct args *a, const struct corpora *all)
{
	struct cost cost = cost_of(a, all);
	double pass = cost.store_us + cost.load_us + 5 * cost.other_us;

	return repeats_that_fit(a, 2 * pass * (double)a->nr_folios * 4 / 3);
}

static unsigned first_repeats(const struct args *a, unsigned warm)
{
	unsigned third = warm / 3 | 1;

	if (a->repeats)
		return third < warm ? third : warm;
	return third < 3 ? 3 : third;
}

static void run_job(struct plan *plan, const struct job *job)
{
	struct row *rows = &plan->rows[plan->nr_rows];

	rows[0] = bench_first(job);
	report_row(&rows[0]);
	rows[1] = bench_warm(job);
	report_row(&rows[1]);
	plan->nr_rows += 2;
}

/* Memory goes first: it wants a process that has not freed much yet. */
static void run_pair(struct plan *plan, const struct args *a,
		     const struct corpus *corpus, struct job job)
{
	size_t first = plan->nr_rows / 2;
	struct memory *memory = &plan->memory[first / a->nr_folios];

	*memory = bench_memory(corpus, &job.kind, a->quick);
	job.memory = memory;
	for (size_t i = 0; i < a->nr_folios; i++) {
		job.layout = layout_of(corpus, a->page_bytes, a->folios[i]);
		plan->jobs[first + i] = job;
		run_job(plan, &plan->jobs[first + i]);
	}
}

static void run_all(struct plan *plan, const struct args *a,
		    const struct corpora *all)
{
	struct job job = { .latency_passes = a->quick ? 1 : 3 };

	job.kind.page_bytes = a->page_bytes;
	job.kind.checksum = a->checksum;
	job.warm_repeats = warm_repeats(a, all);
	job.first_repeats = first_repeats(a, job.warm_repeats);
	for (size_t i = 0; i < all->count; i++) {
		for (size_t k = 0; k < a->nr_codecs; k++) {
			job.kind.codec = &a->codecs[k];
			run_pair(plan, a, &all->items[i], job);
		}
	}
}

void topic_store_load(const struct args *a, const struct corpora *all)
{
	struct plan plan = plan_make(a, all);

	report_heading();
	run_all(&plan, a, all);
	report_medians(plan.rows, all->count, plan.nr_rows / all->count);
	report_memory(plan.rows, plan.nr_rows);
	report_legend();
	report_json(a->json, plan.rows, plan.nr_rows);
	plan_free(&plan);
}
