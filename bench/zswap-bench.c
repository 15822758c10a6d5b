// SPDX-License-Identifier: MIT
/*
 * zswap-bench.c - the whole run: pages, then a pair of rows for each corpus,
 * codec and folio size, then the tables
 */
#include "args.h"
#include "bench.h"
#include "bench_store_load.h"
#include "json.h"
#include "live.h"
#include "pages.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMORY_PAGES 25000u /* and 4 x as many; see bench_memory.c */
#define QUICK_MEMORY_PAGES 5000u

/* What the repeats of a default run may take, and a page of one repeat. */
#define BUDGET_US 40e6
#define PAGE_US 30.0

/* ---- how often --------------------------------------------------------- */

static double pages_of_a_repeat(const struct args *a, const struct corpora *all)
{
	double pages = 0;

	for (size_t i = 0; i < all->count; i++)
		pages += (double)all->items[i].nr_pages;
	return pages * (double)(a->nr_codecs * a->nr_folios);
}

/* Odd, so that the median is one of them. Of three repeats one is a first. */
static unsigned warm_repeats(const struct args *a, const struct corpora *all)
{
	double fit = BUDGET_US / PAGE_US / pages_of_a_repeat(a, all) * 3 / 4;

	if (a->repeats)
		return a->repeats;
	if (a->quick || fit < 5)
		return 5;
	return fit > 25 ? 25 : (unsigned)fit | 1;
}

static unsigned first_repeats(const struct args *a, unsigned warm)
{
	unsigned third = warm / 3 | 1;

	if (a->repeats)
		return third < warm ? third : warm;
	return third < 3 ? 3 : third;
}

/* ---- all jobs ---------------------------------------------------------- */

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
static void run_pair(struct plan *plan, const struct args *a, struct job job)
{
	size_t first = plan->nr_rows / 2;
	struct memory *memory = &plan->memory[first / a->nr_folios];

	*memory = bench_memory(job.corpus, job.codec,
			       a->quick ? QUICK_MEMORY_PAGES : MEMORY_PAGES);
	job.memory = memory;
	for (size_t i = 0; i < a->nr_folios; i++) {
		job.folio_pages = a->folios[i];
		plan->jobs[first + i] = job;
		run_job(plan, &plan->jobs[first + i]);
	}
}

static void run_all(struct plan *plan, const struct args *a,
		    const struct corpora *all)
{
	struct job job = { .latency_passes = a->quick ? 1 : 3 };

	job.warm_repeats = warm_repeats(a, all);
	job.first_repeats = first_repeats(a, job.warm_repeats);
	for (size_t i = 0; i < all->count; i++) {
		for (size_t k = 0; k < a->nr_codecs; k++) {
			job.corpus = &all->items[i];
			job.codec = a->codecs[k];
			run_pair(plan, a, job);
		}
	}
}

/* ---- main -------------------------------------------------------------- */

static struct corpora gather(const struct args *a)
{
	struct corpora all = { 0 };

	for (size_t i = 0; i < a->nr_corpora; i++)
		corpora_add_path(&all, a->corpora[i], a->max_pages);
	for (size_t i = 0; i < a->nr_pids; i++)
		live_add_pid(&all, a->pids[i], a->max_pages);
	if (!all.count)
		live_add_programs(&all, a->max_pages, a->quick);
	return all;
}

static void close_output(void)
{
	if (fflush(stdout) || ferror(stdout))
		bad_input("standard output could not be written");
}

int main(int argc, char **argv)
{
	struct args args = args_parse(argc, argv);
	uint64_t start = now_ns();
	struct corpora all;
	struct plan plan;

	if (args.json)
		json_check(args.json);
	report_machine();
	all = gather(&args);
	report_corpora(&all);
	plan = plan_make(&args, &all);
	report_heading();
	run_all(&plan, &args, &all);
	report_memory(plan.rows, plan.nr_rows);
	report_legend();
	if (args.json)
		json_write(args.json, plan.rows, plan.nr_rows);
	printf("\nevery page came back as it was; %.0f s\n",
	       (double)(now_ns() - start) / 1e9);
	close_output();
	plan_free(&plan);
	corpora_free(&all);
	return 0;
}
