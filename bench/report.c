// SPDX-License-Identifier: MIT
/*
 * report.c - what store-load says, in at most 120 columns for short names
 */
#include "report.h"

#include "json.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

/* ---- store and load ---------------------------------------------------- */

void report_heading(void)
{
	put_names("", "");
	put_format(" %5s %-5s %5s %11s %15s %15s %19s %16s", "", "", "",
		   "ratio", "store", "load", "store us/page", "load us/page");
	table_end();
	put_names("corpus", "codec");
	put_format(" %5s %-5s %5s %5s %5s", "folio", "row", "pages", "plain",
		   "held");
	put_format(" %4s %-10s %4s %-10s", "MB/s", "of bare", "MB/s",
		   "of bare");
	put_format(" %9s %9s %8s %7s", "p50/p99", "bare", "p50/p99", "bare");
	table_end();
}

static void put_speed(const struct speed *s)
{
	put(5, 0, s->mbps.median);
	put_ratio(&s->vs_bare);
}

void report_row(const struct row *row)
{
	const struct layout *l = &row->job->layout;

	put_names(l->corpus->name, row->job->kind.codec->label);
	put_format(" %5u %-5s %5u", l->folio_pages, row->variant, l->nr_pages);
	put(6, 2, row->density.ratio);
	put(6, 2, row->density.held_ratio);
	put_speed(&row->store);
	put_speed(&row->load);
	put_pair(10, &row->store.page);
	put_pair(10, &row->store.bare_page);
	put_pair(9, &row->load.page);
	put_pair(8, &row->load.bare_page);
	table_end();
}

/* ---- medians ----------------------------------------------------------- */

void report_medians(const struct row *rows, size_t corpora, size_t each)
{
	size_t stride = each * sizeof(*rows);

	for (size_t i = 0; corpora > 1 && i < each; i++) {
		const struct row *row = &rows[i];

		if (strcmp(row->variant, "warm"))
			continue;
		put_names("median", row->job->kind.codec->label);
		put_format(" %5u %-5s %22s", row->job->layout.folio_pages,
			   row->variant, "");
		put(5, 2,
		    median_across(&row->store.vs_bare.median, corpora, stride));
		put_format("%11s", "");
		put(5, 2,
		    median_across(&row->load.vs_bare.median, corpora, stride));
		table_end();
	}
}

/* ---- memory ------------------------------------------------------------ */

static void memory_line(const struct row *row)
{
	const struct memory *m = row->job->memory;
	const struct layout *l = &row->job->layout;

	put_names(l->corpus->name, row->job->kind.codec->label);
	put_format(" %6u %11llu %5llu %12zu", l->nr_pages,
		   (unsigned long long)row->density.same_filled,
		   (unsigned long long)row->density.raw, m->nr_pages);
	put(7, 2, m->held_ratio);
	put(10, 1, m->metadata_bytes);
	put(10, 1, m->metadata_rss);
	put(16, 0, m->rss_bytes);
	table_end();
}

void report_memory(const struct row *rows, size_t count)
{
	table_end();
	put_names("", "");
	put_format(" %6s %17s %12s %6s %19s %15s", "", "of these", "grown to",
		   "ratio", "metadata, B/page", "process growth");
	table_end();
	put_names("corpus", "codec");
	put_format(" %6s %11s %5s %12s %6s %9s %9s %15s", "pages",
		   "same-filled", "raw", "pages", "held", "counted", "by RSS",
		   "B/page");
	table_end();
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count ||
		    rows[i].job->memory != rows[i + 1].job->memory)
			memory_line(&rows[i]);
}

/* ---- legend ------------------------------------------------------------ */

void report_legend(void)
{
	printf("\n"
	       "folio    pages stored by one call; loads are one page a call\n"
	       "row      first: a fresh cache is filled, then emptied; warm: a "
	       "full cache, loaded from and stored to\n"
	       "ratio    plain: original / payload; held: original / (zspages "
	       "+ metadata), all that the cache holds\n"
	       "MB/s     10^6 bytes of pages; median of the repeats\n"
	       "of bare  the codec library alone in the same repeat is 1.00: "
	       "median, and the spread p75 - p25; bare runs\n"
	       "         the codec on same-filled pages too, and its memory is "
	       "always warm\n"
	       "us/page  of one call, a store's divided by its pages; a pass "
	       "of its own; %.0f ns of each are the clock's\n"
	       "grown to a cache of that many pages, the corpus again and "
	       "again; by RSS: what the process grew by\n"
	       "         for each page beyond the zspages; process growth: all "
	       "of it\n",
	       clock_cost_ns());
}

/* ---- JSON -------------------------------------------------------------- */

static void json_side(struct json *json, const char *side, const char *what,
		      const struct summary *mbps, const struct latency *page)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s_mbps", side, what);
	json_summary(json, key, mbps);
	snprintf(key, sizeof(key), "%s%s_p50_us", side, what);
	json_real(json, key, page->p50_us);
	snprintf(key, sizeof(key), "%s%s_p99_us", side, what);
	json_real(json, key, page->p99_us);
}

/* One direction; @what is "store" or "load". */
static void json_speed(struct json *json, const char *what,
		       const struct speed *s)
{
	char key[64];

	json_side(json, "", what, &s->mbps, &s->page);
	json_side(json, "bare_", what, &s->bare_mbps, &s->bare_page);
	snprintf(key, sizeof(key), "%s_vs_bare", what);
	json_summary(json, key, &s->vs_bare);
}

/* Per page of a cache of memory_pages, where fixed costs hide nothing. */
static void json_memory(struct json *json, const struct memory *m)
{
	json_count(json, "memory_pages", m->nr_pages);
	json_real(json, "metadata_bytes_per_page", m->metadata_bytes);
	json_real(json, "metadata_rss_bytes_per_page", m->metadata_rss);
	json_real(json, "rss_bytes_per_page", m->rss_bytes);
	json_real(json, "memory_held_ratio", m->held_ratio);
}

static void json_density(struct json *json, const struct density *d)
{
	json_count(json, "same_filled", d->same_filled);
	json_count(json, "raw", d->raw);
	json_real(json, "ratio", d->ratio);
	json_real(json, "held_ratio", d->held_ratio);
	json_real(json, "corpus_metadata_bytes_per_page", d->metadata_bytes);
}

static void json_one(struct json *json, const void *arg)
{
	const struct row *row = arg;
	const struct job *job = row->job;

	json_row(json, "store-load");
	json_text(json, "corpus", job->layout.corpus->name);
	json_text(json, "codec", job->kind.codec->spec);
	json_text(json, "variant", row->variant);
	json_count(json, "page_bytes", job->layout.page_bytes);
	json_bool(json, "checksum", job->kind.checksum);
	json_count(json, "folio_pages", job->layout.folio_pages);
	json_count(json, "threads", 1);
	json_count(json, "repeats", row->repeats);
	json_count(json, "pages", job->layout.nr_pages);
	json_density(json, &row->density);
	json_memory(json, job->memory);
	json_speed(json, "store", &row->store);
	json_speed(json, "load", &row->load);
}

void report_json(const char *path, const struct row *rows, size_t count)
{
	json_write(path, rows, count, sizeof(*rows), json_one);
}
