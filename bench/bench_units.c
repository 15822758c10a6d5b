// SPDX-License-Identifier: MIT
/*
 * bench_units.c - what larger pages buy and cost: 4, 16 and 64 KiB
 *
 * Three caches hold the same bytes in pages (units) of these sizes, and take
 * turns. The application's own pages are of 4 KiB:
 *
 *	store       all of them, 64 KiB a call, over what is there
 *	sequential  each unit is loaded once, and all of it is used
 *	random      a unit is loaded for one of its pages of 4 KiB
 *
 *	used     [....................]        [.....####............]
 *	loaded   [####################]        [#####################]
 *	          sequential: 1 : 1             random, 64 KiB: 16 : 1
 *
 * Loads are peeks, into a buffer of 256 KiB, whatever the unit.
 */
#include "topics.h"

#include "bench_memory.h"
#include "json.h"
#include "repeats.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_UNITS 3
#define FOLIO_BYTES 65536u /* one store, of whole units */
#define RANDOM_SHARE 4u    /* one in so many pages is loaded at random */

static const uint32_t unit_bytes[NR_UNITS] = { 4096, 16384, 65536 };

enum work { STORE, SEQUENTIAL, RANDOM, NR_WORKS };

/* MB (10^6 bytes) a second for stores, us per 4 KiB of use for loads. */
struct pace {
	struct summary value;
	struct summary ratio; /* to that of units of 4 KiB, in each repeat */
};

struct unit_row {
	const char *name; /* of the corpus */
	const struct corpus *corpus;
	struct cache_kind kind;
	unsigned repeats;
	double ratio;         /* original / payload */
	double held_ratio;    /* original / (zspages + metadata) */
	struct memory memory; /* of a larger cache */
	struct pace paces[NR_WORKS];
};

struct contender {
	struct layout layout;
	struct passes passes;
	struct side_cache cache;
	uint32_t *list; /* units to load */
};

struct trial {
	struct contender contenders[NR_UNITS];
	uint32_t *pages; /* of 4 KiB, in random order */
	uint32_t nr_pages, nr_random;
	struct series values[NR_WORKS];
};

/* ---- measuring --------------------------------------------------------- */

static double store_mbps(struct contender *c, unsigned repeat)
{
	struct meter m = { 0 };

	pass_overwrite(&c->passes, &c->cache.side, repeat + 1, &m);
	return (double)layout_bytes(&c->layout) * 1e3 / (double)m.store_ns;
}

/* Units, of each of which so much is used; us per 4 KiB of that. */
static double load_us(struct contender *c, uint32_t nr_loads,
		      uint32_t used_pages)
{
	struct meter m = { 0 };

	pass_peek(&c->passes, &c->cache.side, c->list, nr_loads, &m);
	return (double)m.load_ns / 1e3 / (double)used_pages;
}

static double sequential_us(const struct trial *t, struct contender *c)
{
	list_in_order(c->list, c->layout.nr_pages);
	return load_us(c, c->layout.nr_pages, t->nr_pages);
}

/* The units of the first pages in the trial's order. */
static double random_us(const struct trial *t, struct contender *c)
{
	uint32_t pages_each = c->layout.page_bytes / PAGE_BYTES;

	for (uint32_t i = 0; i < t->nr_random; i++)
		c->list[i] = t->pages[i] / pages_each;
	return load_us(c, t->nr_random, t->nr_random);
}

static void run_turn(struct trial *t, unsigned repeat, unsigned who)
{
	struct contender *c = &t->contenders[who];

	series_put(&t->values[STORE], repeat, who, store_mbps(c, repeat));
	series_put(&t->values[SEQUENTIAL], repeat, who, sequential_us(t, c));
	series_put(&t->values[RANDOM], repeat, who, random_us(t, c));
}

static void run_repeat(struct trial *t, unsigned repeat)
{
	struct rng rng = { repeat + 1 };

	list_in_order(t->pages, t->nr_pages);
	shuffle(&rng, t->pages, t->nr_pages);
	for (unsigned i = 0; i < NR_UNITS; i++)
		run_turn(t, repeat, turn_of(NR_UNITS, repeat, i));
}

static void contender_init(struct contender *c, const struct unit_row *row)
{
	uint32_t page_bytes = row->kind.page_bytes;
	struct meter m = { 0 };

	c->layout =
		layout_of(row->corpus, page_bytes, FOLIO_BYTES / page_bytes);
	c->list = bench_alloc(row->corpus->nr_pages, sizeof(*c->list));
	passes_init(&c->passes, &c->layout,
		    bench_format("%s, %s, units of %u bytes", row->corpus->name,
				 row->kind.codec->spec, page_bytes));
	cache_init(&c->cache, &c->layout, &row->kind);
	pass_fill(&c->passes, &c->cache.side, 0, &m);
}

static void trial_init(struct trial *t, const struct unit_row *rows)
{
	t->nr_pages = (uint32_t)rows->corpus->nr_pages;
	t->nr_random = t->nr_pages / RANDOM_SHARE; /* 4 at least */
	t->pages = bench_alloc(t->nr_pages, sizeof(*t->pages));
	for (unsigned i = 0; i < NR_UNITS; i++)
		contender_init(&t->contenders[i], &rows[i]);
	for (unsigned i = 0; i < NR_WORKS; i++)
		t->values[i] = series_make(rows->repeats, NR_UNITS);
}

static void trial_free(struct trial *t)
{
	for (unsigned i = 0; i < NR_UNITS; i++) {
		cache_free(&t->contenders[i].cache);
		passes_free(&t->contenders[i].passes);
		free(t->contenders[i].list);
	}
	for (unsigned i = 0; i < NR_WORKS; i++)
		series_free(&t->values[i]);
	free(t->pages);
}

static void note(const struct trial *t, unsigned who, struct unit_row *row)
{
	struct density d = density_of(&t->contenders[who].cache.full,
				      row->kind.page_bytes);

	row->ratio = d.ratio;
	row->held_ratio = d.held_ratio;
	for (unsigned i = 0; i < NR_WORKS; i++) {
		row->paces[i].value = series_of(&t->values[i], who);
		row->paces[i].ratio = series_ratio(&t->values[i], who, 0);
	}
}

/* All units of one corpus and codec. */
static void measure(struct unit_row *rows, bool quick)
{
	struct trial t;

	for (unsigned i = 0; i < NR_UNITS; i++)
		rows[i].memory =
			bench_memory(rows[i].corpus, &rows[i].kind, quick);
	trial_init(&t, rows);
	for (unsigned i = 0; i < rows->repeats; i++) {
		progress("%s, %s, units: %u of %u", rows->corpus->name,
			 rows->kind.codec->spec, i, rows->repeats);
		run_repeat(&t, i);
	}
	for (unsigned i = 0; i < NR_UNITS; i++)
		note(&t, i, &rows[i]);
	trial_free(&t);
}

/* ---- table ------------------------------------------------------------- */

static void print_heading(void)
{
	put_names("", "");
	put_format(" %6s %17s %17s %17s %17s", "", "ratio", "store",
		   "sequential load", "random load");
	table_end();
	put_names("corpus", "codec");
	put_format(" %6s %5s %5s %5s", "unit", "plain", "held", "grown");
	put_format(" %5s %-11s %5s %-11s %5s %-11s", "MB/s", "of 4 KiB", "us",
		   "of 4 KiB", "us", "of 4 KiB");
	table_end();
}

static void print_row(const struct unit_row *row)
{
	put_names(row->name, row->kind.codec->label);
	put_format(" %2u KiB", row->kind.page_bytes / 1024);
	put(6, 2, row->ratio);
	put(6, 2, row->held_ratio);
	put(6, 2, row->memory.held_ratio);
	for (unsigned i = 0; i < NR_WORKS; i++) {
		put(6, i == STORE ? 0 : 2, row->paces[i].value.median);
		put_ratio(&row->paces[i].ratio);
	}
	table_end();
}

static struct summary median_summary(const struct summary *first, size_t count,
				     size_t stride)
{
	struct summary s = { median_across(&first->median, count, stride),
			     NAN };

	return s;
}

/* Of rows that are @each apart: one for each corpus. */
static void print_median(const struct unit_row *rows, size_t corpora,
			 size_t each)
{
	size_t stride = each * sizeof(*rows);
	struct unit_row median = *rows;

	median.name = "median";
	median.ratio = median_across(&rows->ratio, corpora, stride);
	median.held_ratio = median_across(&rows->held_ratio, corpora, stride);
	median.memory.held_ratio =
		median_across(&rows->memory.held_ratio, corpora, stride);
	for (unsigned i = 0; i < NR_WORKS; i++) {
		const struct pace *first = &rows->paces[i];

		median.paces[i].value =
			median_summary(&first->value, corpora, stride);
		median.paces[i].ratio =
			median_summary(&first->ratio, corpora, stride);
	}
	print_row(&median);
}

static void print_legend(const struct unit_row *rows)
{
	printf("\n"
	       "unit        bytes of a page of the cache\n"
	       "ratio       plain: original / payload; held: original /\n"
	       "            (zspages + metadata), of the corpus alone; grown:\n"
	       "            of a cache of %.0f MB of pages\n"
	       "store       10^6 bytes of pages a second, 64 KiB a call\n"
	       "sequential  us per 4 KiB; each unit is loaded once\n"
	       "random      us per 4 KiB; a unit is loaded for each\n"
	       "of 4 KiB    to units of 4 KiB in the same repeat: median of\n"
	       "            %u, spread p75 - p25\n",
	       (double)rows->memory.nr_pages * rows->kind.page_bytes / 1e6,
	       rows->repeats);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_one(struct json *json, const void *arg)
{
	const struct unit_row *row = arg;
	const struct pace *p = row->paces;

	json_row(json, "units");
	json_text(json, "corpus", row->name);
	json_text(json, "codec", row->kind.codec->spec);
	json_count(json, "page_bytes", row->kind.page_bytes);
	json_count(json, "threads", 1);
	json_count(json, "repeats", row->repeats);
	json_count(json, "bytes", corpus_bytes(row->corpus));
	json_real(json, "ratio", row->ratio);
	json_real(json, "held_ratio", row->held_ratio);
	json_count(json, "memory_pages", row->memory.nr_pages);
	json_real(json, "memory_held_ratio", row->memory.held_ratio);
	json_summary(json, "store_mbps", &p[STORE].value);
	json_summary(json, "store_vs_4k", &p[STORE].ratio);
	json_summary(json, "sequential_load_us_per_4k", &p[SEQUENTIAL].value);
	json_summary(json, "sequential_load_vs_4k", &p[SEQUENTIAL].ratio);
	json_summary(json, "random_load_us_per_4k", &p[RANDOM].value);
	json_summary(json, "random_load_vs_4k", &p[RANDOM].ratio);
}

/* ---- the whole --------------------------------------------------------- */

/* For a page of 4 KiB at random 1, 4 and 16 are loaded. */
static unsigned repeats(const struct args *a, const struct corpora *all)
{
	struct cost cost = cost_of(a, all);
	double load = cost.load_us + cost.other_us;

	return repeats_that_fit(a, NR_UNITS * (cost.store_us + load) +
					   (1 + 4 + 16) * load / RANDOM_SHARE);
}

/* Rows by corpus, then by codec, then by unit. */
static struct unit_row *plan_rows(const struct args *a,
				  const struct corpora *all, size_t count)
{
	struct unit_row *rows = bench_alloc(count, sizeof(*rows));
	unsigned nr = repeats(a, all);

	for (size_t i = 0; i < count; i++) {
		size_t pair = i / NR_UNITS;

		rows[i].corpus = &all->items[pair / a->nr_codecs];
		rows[i].name = rows[i].corpus->name;
		rows[i].kind.codec = &a->codecs[pair % a->nr_codecs];
		rows[i].kind.page_bytes = unit_bytes[i % NR_UNITS];
		rows[i].repeats = nr;
	}
	return rows;
}

void topic_units(const struct args *a, const struct corpora *all)
{
	size_t each = a->nr_codecs * NR_UNITS;
	size_t count = all->count * each;
	struct unit_row *rows = plan_rows(a, all, count);

	print_heading();
	for (size_t i = 0; i < count; i += NR_UNITS) {
		measure(&rows[i], a->quick);
		for (size_t k = i; k < i + NR_UNITS; k++)
			print_row(&rows[k]);
	}
	for (size_t i = 0; all->count > 1 && i < each; i++)
		print_median(&rows[i], all->count, each);
	print_legend(rows);
	json_write(a->json, rows, count, sizeof(*rows), json_one);
	free(rows);
}
