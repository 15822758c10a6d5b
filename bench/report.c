// SPDX-License-Identifier: MIT
/*
 * report.c - the tables that a reader sees, at most 120 columns wide
 */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Of the first column. Longer names are cut. */
#define MAX_NAME_WIDTH 15
static int name_width = 6;

/* ---- the top ----------------------------------------------------------- */

/* The first "model name" of /proc/cpuinfo; other names on other processors. */
static void read_cpu_model(char *buf, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512];

	snprintf(buf, size, "unknown processor");
	while (file && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10))
			continue;
		colon[1 + strcspn(colon + 1, "\n")] = '\0';
		snprintf(buf, size, "%s", colon + 1 + strspn(colon + 1, " "));
		break;
	}
	if (file)
		fclose(file);
}

void report_machine(void)
{
	const struct codec *codec;
	struct utsname sys;
	char model[128];

	uname(&sys);
	read_cpu_model(model, sizeof(model));
	printf("zswap-bench: libzswap %s", ZSWAP_BENCH_VERSION);
	for (size_t i = 0; (codec = codec_at(i)); i++)
		printf(", %s %s", codec->name, codec->version());
	printf("\nmachine: %s, %ld CPUs, %s %s %s\n", model,
	       sysconf(_SC_NPROCESSORS_ONLN), sys.sysname, sys.release,
	       sys.machine);
	fflush(stdout);
}

void report_corpora(const struct corpora *all)
{
	size_t pages = 0;

	for (size_t i = 0; i < all->count; i++) {
		int len = (int)strlen(all->items[i].name);

		len = len < MAX_NAME_WIDTH ? len : MAX_NAME_WIDTH;
		name_width = len > name_width ? len : name_width;
		pages += all->items[i].nr_pages;
		if (all->items[i].origin)
			printf("  %s: %s\n", all->items[i].name,
			       all->items[i].origin);
	}
	printf("corpora: %zu, %zu pages of %u bytes, one thread\n\n",
	       all->count, pages, PAGE_BYTES);
}

/* ---- cells ------------------------------------------------------------- */

/* A number in few digits, or "-" for one that is not known. */
static const char *cell(char *buf, size_t size, int digits, double v)
{
	if (isfinite(v))
		snprintf(buf, size, "%.*f", digits, v);
	else
		snprintf(buf, size, "-");
	return buf;
}

static void put(int width, int digits, double v)
{
	char buf[32];

	printf(" %*s", width - 1, cell(buf, sizeof(buf), digits, v));
}

static void put_pair(int width, const struct latency *l)
{
	char p50[32], p99[32], both[72];

	snprintf(both, sizeof(both), "%s/%s",
		 cell(p50, sizeof(p50), l->p50_us < 100 ? 1 : 0, l->p50_us),
		 cell(p99, sizeof(p99), l->p99_us < 100 ? 1 : 0, l->p99_us));
	printf(" %*s", width - 1, both);
}

/* "+-.05": a leading zero more would make the table too wide. */
static void put_spread(double v)
{
	char buf[32];

	cell(buf, sizeof(buf), v < 0.995 ? 2 : 1, v);
	printf(" +-%-3s", buf[0] == '0' ? buf + 1 : buf);
}

static void put_speed(const struct speed *s)
{
	put(5, 0, s->mbps.median);
	put(5, 2, s->vs_bare.median);
	put_spread(s->vs_bare.spread);
}

static void put_name(const char *name)
{
	printf("%-*.*s", name_width, name_width, name);
}

/* ---- store and load ---------------------------------------------------- */

void report_heading(void)
{
	put_name("");
	printf(" %-5s %5s %-5s %5s %11s %15s %15s %19s %16s\n", "", "", "", "",
	       "ratio", "store", "load", "store us/page", "load us/page");
	put_name("corpus");
	printf(" %-5s %5s %-5s %5s %5s %5s", "codec", "folio", "row", "pages",
	       "plain", "held");
	printf(" %4s %-10s %4s %-10s", "MB/s", "of bare", "MB/s", "of bare");
	printf(" %9s %9s %8s %7s\n", "p50/p99", "bare", "p50/p99", "bare");
}

void report_row(const struct row *row)
{
	const struct job *job = row->job;

	progress_clear();
	put_name(job->corpus->name);
	printf(" %-5s %5u %-5s %5zu", job->codec->name, job->folio_pages,
	       row->variant, job->corpus->nr_pages);
	put(6, 2, row->ratio);
	put(6, 2, row->held_ratio);
	put_speed(&row->store);
	put_speed(&row->load);
	put_pair(10, &row->store.page);
	put_pair(10, &row->store.bare_page);
	put_pair(9, &row->load.page);
	put_pair(8, &row->load.bare_page);
	putchar('\n');
	fflush(stdout);
}

/* ---- memory ------------------------------------------------------------ */

static void memory_line(const struct row *row)
{
	const struct memory *m = row->job->memory;

	put_name(row->job->corpus->name);
	printf(" %-5s %6zu %11llu %5llu", row->job->codec->name,
	       row->job->corpus->nr_pages,
	       (unsigned long long)row->same_filled,
	       (unsigned long long)row->raw);
	printf(" %12zu", m->nr_pages);
	put(7, 2, m->held_ratio);
	put(10, 1, m->metadata_bytes);
	put(10, 1, m->metadata_rss);
	put(16, 0, m->rss_bytes);
	putchar('\n');
}

void report_memory(const struct row *rows, size_t count)
{
	putchar('\n');
	put_name("");
	printf(" %-5s %6s %17s %12s %6s %19s %15s\n", "", "", "of these",
	       "grown to", "ratio", "metadata, B/page", "process growth");
	put_name("corpus");
	printf(" %-5s %6s %11s %5s %12s %6s %9s %9s %15s\n", "codec", "pages",
	       "same-filled", "raw", "pages", "held", "counted", "by RSS",
	       "B/page");
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || rows[i].job->memory !=
					      rows[i + 1].job->memory)
			memory_line(&rows[i]);
}

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
