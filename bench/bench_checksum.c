// SPDX-License-Identifier: MIT
/*
 * bench_checksum.c - what checksums cost: a cache with them beside one without
 *
 * Both are full and stay so, and take turns at the same passes as the warm row
 * of store-load: pages out of a block, its folios in again. A ratio is one of
 * times, so that 1.10 means that checksums take a tenth more.
 */
#include "topics.h"

#include "json.h"
#include "repeats.h"
#include "side_cache.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WITHOUT, WITH, NR_SIDES };

/* One direction; us per page. */
struct price {
	double without_us, with_us;
	struct summary ratio; /* of the times of each repeat */
};

struct checksum_row {
	const char *name; /* of the corpus */
	struct layout layout;
	const struct codec *codec;
	unsigned repeats;
	struct price load, store;
};

/* ---- measuring --------------------------------------------------------- */

static struct price price_of(const struct series *mbps, size_t page_bytes)
{
	struct price p = {
		.without_us =
			(double)page_bytes / series_of(mbps, WITHOUT).median,
		.with_us = (double)page_bytes / series_of(mbps, WITH).median,
		.ratio = series_ratio(mbps, WITHOUT, WITH),
	};

	return p;
}

static void race(struct checksum_row *row, struct passes *p)
{
	struct side_cache caches[NR_SIDES];
	struct side *sides[NR_SIDES];
	struct rates rates;

	for (int i = 0; i < NR_SIDES; i++) {
		struct cache_kind kind = {
			.codec = row->codec,
			.page_bytes = row->layout.page_bytes,
			.checksum = i == WITH,
		};

		cache_init(&caches[i], &row->layout, &kind);
		cache_warm_up(&caches[i], p);
		sides[i] = &caches[i].side;
	}
	rates = passes_race(p, pass_warm, sides, NR_SIDES, row->repeats);
	row->load = price_of(&rates.load, row->layout.page_bytes);
	row->store = price_of(&rates.store, row->layout.page_bytes);
	rates_free(&rates);
	for (int i = 0; i < NR_SIDES; i++)
		cache_free(&caches[i]);
}

static void measure(struct checksum_row *row)
{
	struct passes p;

	passes_init(&p, &row->layout,
		    bench_format("%s, %s, folio %u, checksum",
				 row->layout.corpus->name, row->codec->spec,
				 row->layout.folio_pages));
	race(row, &p);
	passes_free(&p);
}

/* ---- table ------------------------------------------------------------- */

static void print_heading(void)
{
	put_names("", "");
	put_format(" %5s %29s %29s", "", "load, us/page", "store, us/page");
	table_end();
	put_names("corpus", "codec");
	put_format(" %5s", "folio");
	for (int i = 0; i < 2; i++)
		put_format(" %9s %6s %-12s", "without", "with", "  ratio");
	table_end();
}

static void put_price(const struct price *p)
{
	put(10, 2, p->without_us);
	put(7, 2, p->with_us);
	put_format(" ");
	put_ratio(&p->ratio);
}

static void print_row(const struct checksum_row *row)
{
	put_names(row->name, row->codec->label);
	put_format(" %5u", row->layout.folio_pages);
	put_price(&row->load);
	put_price(&row->store);
	table_end();
}

static struct price median_price(const struct price *first, size_t count,
				 size_t stride)
{
	struct price p = {
		.without_us = median_across(&first->without_us, count, stride),
		.with_us = median_across(&first->with_us, count, stride),
		.ratio = { median_across(&first->ratio.median, count, stride),
			   NAN },
	};

	return p;
}

/* Of rows that are @each apart: one for each corpus. */
static void print_median(const struct checksum_row *rows, size_t corpora,
			 size_t each)
{
	size_t stride = each * sizeof(*rows);
	struct checksum_row median = *rows;

	median.name = "median";
	median.load = median_price(&rows->load, corpora, stride);
	median.store = median_price(&rows->store, corpora, stride);
	print_row(&median);
}

static void print_legend(const struct checksum_row *rows)
{
	printf("\n"
	       "us/page  of a page of %u bytes: the median of %u repeats\n"
	       "ratio    of the time with checksums to that without in the\n"
	       "         same repeat: median, spread p75 - p25\n",
	       rows->layout.page_bytes, rows->repeats);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_price(struct json *json, const char *what,
		       const struct price *p)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_us", what);
	json_real(json, key, p->without_us);
	snprintf(key, sizeof(key), "checked_%s_us", what);
	json_real(json, key, p->with_us);
	snprintf(key, sizeof(key), "checked_%s_time_ratio", what);
	json_summary(json, key, &p->ratio);
}

static void json_one(struct json *json, const void *arg)
{
	const struct checksum_row *row = arg;

	json_row(json, "checksum");
	json_text(json, "corpus", row->name);
	json_text(json, "codec", row->codec->spec);
	json_count(json, "page_bytes", row->layout.page_bytes);
	json_count(json, "folio_pages", row->layout.folio_pages);
	json_count(json, "threads", 1);
	json_count(json, "repeats", row->repeats);
	json_count(json, "pages", row->layout.nr_pages);
	json_price(json, "load", &row->load);
	json_price(json, "store", &row->store);
}

/* ---- the whole --------------------------------------------------------- */

static unsigned repeats(const struct args *a, const struct corpora *all)
{
	struct cost cost = cost_of(a, all);
	double pass = cost.store_us + cost.load_us + 2 * cost.other_us;

	return repeats_that_fit(a, NR_SIDES * pass * (double)a->nr_folios);
}

/* Rows by corpus, then by codec, then by folio. */
static struct checksum_row *plan_rows(const struct args *a,
				      const struct corpora *all, size_t count)
{
	struct checksum_row *rows = bench_alloc(count, sizeof(*rows));
	unsigned nr = repeats(a, all);

	for (size_t i = 0; i < count; i++) {
		size_t corpus = i / (a->nr_codecs * a->nr_folios);

		rows[i].name = all->items[corpus].name;
		rows[i].layout = layout_of(&all->items[corpus], a->page_bytes,
					   a->folios[i % a->nr_folios]);
		rows[i].codec = &a->codecs[i / a->nr_folios % a->nr_codecs];
		rows[i].repeats = nr;
	}
	return rows;
}

void topic_checksum(const struct args *a, const struct corpora *all)
{
	size_t each = a->nr_codecs * a->nr_folios;
	size_t count = all->count * each;
	struct checksum_row *rows = plan_rows(a, all, count);

	print_heading();
	for (size_t i = 0; i < count; i++) {
		measure(&rows[i]);
		print_row(&rows[i]);
	}
	for (size_t i = 0; all->count > 1 && i < each; i++)
		print_median(&rows[i], all->count, each);
	print_legend(rows);
	json_write(a->json, rows, count, sizeof(*rows), json_one);
	free(rows);
}
