// SPDX-License-Identifier: MIT
/*
 * rawcut.c - the subcommand rawcut: ten rows for each corpus and codec
 */
#include "topics.h"

#include "bench_rawcut.h"
#include "json.h"
#include "repeats.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- table ------------------------------------------------------------- */

static void print_heading(void)
{
	put_names("", "");
	put_format(" %5s %5s %15s %25s %21s", "", "", "MB", "load, us/page",
		   "band, bare, us/page");
	table_end();
	put_names("corpus", "codec");
	put_format(" %5s %5s %7s %7s", "cut %", "raw", "payload", "held");
	put_format(" %5s %6s %-12s %5s %10s %4s", "all", "range", " of 100 %",
		   "pages", "decompress", "copy");
	table_end();
}

static void print_row(const struct cut_row *row)
{
	put_names(row->name, row->codec->label);
	put(6, 1, row->cut_percent);
	put_format(" %5llu", (unsigned long long)row->raw);
	put(8, 3, (double)row->payload_bytes / 1e6);
	put(8, 3, (double)row->held_bytes / 1e6);
	put(6, 2, row->load_all.median);
	put(7, 2, row->load_range.median);
	put_format(" ");
	put_ratio(&row->load_range_ratio);
	put_format(" %5zu", row->nr_band);
	put(11, 2, row->decompress_band.median);
	put(5, 2, row->copy_band.median);
	table_end();
}

static void print_rows(const struct cut_row *rows)
{
	if (rows->nr_range) {
		for (unsigned i = 0; i < NR_CUTS; i++)
			print_row(&rows[i]);
		return;
	}
	put_names(rows->name, rows->codec->label);
	put_format(" none of %zu pages compresses to %.0f to 100 %% of a page",
		   rows->nr_pages, rawcut_percents[0]);
	table_end();
}

/* ---- all corpora ------------------------------------------------------- */

/* Adds a mean over @count pages; divide() makes one of the sum. */
static void add_mean(struct summary *sum, const struct summary *mean,
		     size_t count)
{
	if (count)
		sum->median += mean->median * (double)count;
}

static void divide(struct summary *sum, size_t count)
{
	sum->median = count ? sum->median / (double)count : NAN;
	sum->spread = NAN;
}

static void add_row(struct cut_row *sum, const struct cut_row *row)
{
	sum->nr_pages += row->nr_pages;
	sum->nr_range += row->nr_range;
	sum->nr_band += row->nr_band;
	sum->raw += row->raw;
	sum->payload_bytes += row->payload_bytes;
	sum->held_bytes += row->held_bytes;
	add_mean(&sum->load_all, &row->load_all, row->nr_pages);
	add_mean(&sum->load_range, &row->load_range, row->nr_range);
	add_mean(&sum->load_range_ratio, &row->load_range_ratio, row->nr_range);
	add_mean(&sum->decompress_band, &row->decompress_band, row->nr_band);
	add_mean(&sum->copy_band, &row->copy_band, row->nr_band);
}

/* Of one cut: rows that are @each apart, without corpora that say nothing. */
static struct cut_row sum_of(const struct cut_row *rows, size_t corpora,
			     size_t each)
{
	struct cut_row sum = {
		.name = "sum",
		.codec = rows->codec,
		.cut_percent = rows->cut_percent,
	};

	for (size_t i = 0; i < corpora; i++)
		if (rows[i * each].nr_range)
			add_row(&sum, &rows[i * each]);
	divide(&sum.load_all, sum.nr_pages);
	divide(&sum.load_range, sum.nr_range);
	divide(&sum.load_range_ratio, sum.nr_range);
	divide(&sum.decompress_band, sum.nr_band);
	divide(&sum.copy_band, sum.nr_band);
	return sum;
}

static size_t nr_telling(const struct cut_row *rows, size_t corpora,
			 size_t each)
{
	size_t nr = 0;

	for (size_t i = 0; i < corpora; i++)
		nr += rows[i * each].nr_range > 0;
	return nr;
}

static void print_sums(const struct cut_row *rows, size_t corpora, size_t each)
{
	if (nr_telling(rows, corpora, each) < 2)
		return;
	for (unsigned i = 0; i < NR_CUTS; i++) {
		struct cut_row sum = sum_of(&rows[i], corpora, each);

		print_row(&sum);
	}
}

static void print_legend(const struct cut_row *rows)
{
	printf("\n"
	       "cut %%   pages that compress to more of a page are kept raw\n"
	       "MB      10^6 bytes; held: zspages\n"
	       "load    by a peek; all: of all pages; range: of those that\n"
	       "        compress to %.0f to 100 %%, and that to the time with "
	       "a\n"
	       "        cut of 100 %% in the same repeat: median of %u, "
	       "spread\n"
	       "        p75 - p25\n"
	       "band    pages that this cut lets pass and the one before does\n"
	       "        not: the bare codec's time, and that of a copy, "
	       "without\n"
	       "        a cache; %.0f ns of each are the clock's\n"
	       "sum     over all corpora with such pages; times are means\n",
	       rawcut_percents[0], rows->repeats, clock_cost_ns());
}

/* ---- JSON -------------------------------------------------------------- */

static void json_one(struct json *json, const void *arg)
{
	const struct cut_row *row = arg;

	json_row(json, "rawcut");
	json_text(json, "corpus", row->name);
	json_text(json, "codec", row->codec->spec);
	json_count(json, "page_bytes", PAGE_BYTES);
	json_count(json, "threads", 1);
	json_count(json, "repeats", row->repeats);
	json_real(json, "cut_percent", row->cut_percent);
	json_count(json, "pages", row->nr_pages);
	json_count(json, "range_pages", row->nr_range);
	if (!row->nr_range)
		return;
	json_count(json, "band_pages", row->nr_band);
	json_count(json, "raw", row->raw);
	json_count(json, "payload_bytes", row->payload_bytes);
	json_count(json, "held_bytes", row->held_bytes);
	json_summary(json, "load_us", &row->load_all);
	json_summary(json, "range_load_us", &row->load_range);
	json_summary(json, "range_load_vs_100", &row->load_range_ratio);
	json_summary(json, "bare_band_decompress_us", &row->decompress_band);
	json_summary(json, "bare_band_copy_us", &row->copy_band);
}

/* ---- the whole --------------------------------------------------------- */

static unsigned repeats(const struct args *a, const struct corpora *all)
{
	struct cost cost = cost_of(a, all);

	return repeats_that_fit(a, NR_CUTS * (cost.load_us + cost.other_us));
}

/* Rows by corpus, then by codec, then by cut. */
static struct cut_row *plan_rows(const struct args *a,
				 const struct corpora *all, size_t count)
{
	struct cut_row *rows = bench_alloc(count, sizeof(*rows));
	unsigned nr = repeats(a, all);

	for (size_t i = 0; i < count; i++) {
		size_t pair = i / NR_CUTS;

		rows[i].name = all->items[pair / a->nr_codecs].name;
		rows[i].codec = &a->codecs[pair % a->nr_codecs];
		rows[i].repeats = nr;
	}
	return rows;
}

void topic_rawcut(const struct args *a, const struct corpora *all)
{
	size_t each = a->nr_codecs * NR_CUTS;
	size_t count = all->count * each;
	struct cut_row *rows = plan_rows(a, all, count);

	print_heading();
	for (size_t i = 0; i < count; i += NR_CUTS) {
		bench_rawcut(&rows[i], &all->items[i / each]);
		print_rows(&rows[i]);
	}
	for (size_t i = 0; i < each; i += NR_CUTS)
		print_sums(&rows[i], all->count, each);
	print_legend(rows);
	json_write(a->json, rows, count, sizeof(*rows), json_one);
	free(rows);
}
