// SPDX-License-Identifier: MIT
/*
 * table.c - what all tables for a reader are made of; see table.h
 */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Of the first columns. Longer names of corpora are cut. */
#define MAX_NAME_WIDTH 15
static int name_width = 6, codec_width = 5;

/* ---- the top ----------------------------------------------------------- */

/* The first "model name" of /proc/cpuinfo; other names on other processors. */
static void read_cpu_model(char *buf, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char text[512];

	snprintf(buf, size, "unknown processor");
	while (file && fgets(text, sizeof(text), file)) {
		char *colon = strchr(text, ':');

		if (!colon || strncmp(text, "model name", 10))
			continue;
		colon[1 + strcspn(colon + 1, "\n")] = '\0';
		snprintf(buf, size, "%s", colon + 1 + strspn(colon + 1, " "));
		break;
	}
	if (file)
		fclose(file);
}

/* Whether an earlier codec of the run comes from the same library. */
static bool is_named(const struct args *a, size_t codec)
{
	for (size_t i = 0; i < codec; i++)
		if (!strcmp(a->codecs[i].ops->made_by,
			    a->codecs[codec].ops->made_by))
			return true;
	return false;
}

void table_machine(const struct args *a)
{
	struct utsname sys;
	char model[128];

	uname(&sys);
	read_cpu_model(model, sizeof(model));
	printf("zswap-bench: libzswap %s", ZSWAP_BENCH_VERSION);
	for (size_t i = 0; i < a->nr_codecs; i++)
		if (!is_named(a, i))
			printf(", %s %s", a->codecs[i].ops->made_by,
			       a->codecs[i].ops->version());
	printf("\nmachine: %s, %ld CPUs, %s %s %s\n", model,
	       sysconf(_SC_NPROCESSORS_ONLN), sys.sysname, sys.release,
	       sys.machine);
	fflush(stdout);
}

static int larger_width(int width, const char *text)
{
	int len = (int)strlen(text);

	return len > width ? len : width;
}

void table_corpora(const struct args *a, const struct corpora *all)
{
	size_t bytes = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct corpus *c = &all->items[i];

		name_width = larger_width(name_width, c->name);
		bytes += corpus_bytes(c);
		if (c->origin)
			printf("  %s: %s\n", c->name, c->origin);
	}
	if (name_width > MAX_NAME_WIDTH)
		name_width = MAX_NAME_WIDTH;
	for (size_t i = 0; i < a->nr_codecs; i++)
		codec_width = larger_width(codec_width, a->codecs[i].label);
	printf("corpora: %zu, %zu pages of %u bytes, one thread%s\n\n",
	       all->count, bytes / a->page_bytes, a->page_bytes,
	       a->checksum ? ", with checksums" : "");
}

/* ---- cells ------------------------------------------------------------- */

/* The line so far: what the last cell leaves blank is not printed. */
static char line[512];
static size_t line_len;

void put_format(const char *fmt, ...)
{
	size_t room = sizeof(line) - line_len;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line + line_len, room, fmt, args);
	va_end(args);
	if (len > 0)
		line_len += (size_t)len < room ? (size_t)len : room - 1;
}

void put_names(const char *corpus, const char *codec)
{
	put_format("%-*.*s %-*s", name_width, name_width, corpus, codec_width,
		   codec);
}

/* A number in few digits, or "-" for one that is not known. */
static const char *cell(char *buf, size_t size, int digits, double v)
{
	if (isfinite(v))
		snprintf(buf, size, "%.*f", digits, v);
	else
		snprintf(buf, size, "-");
	return buf;
}

void put(int width, int digits, double v)
{
	char buf[32];

	put_format(" %*s", width - 1, cell(buf, sizeof(buf), digits, v));
}

void put_pair(int width, const struct latency *l)
{
	char p50[32], p99[32], both[72];

	snprintf(both, sizeof(both), "%s/%s",
		 cell(p50, sizeof(p50), l->p50_us < 100 ? 1 : 0, l->p50_us),
		 cell(p99, sizeof(p99), l->p99_us < 100 ? 1 : 0, l->p99_us));
	put_format(" %*s", width - 1, both);
}

/* The spread without its leading zero, which would make tables too wide. */
void put_ratio(const struct summary *s)
{
	char buf[32];

	put(5, 2, s->median);
	cell(buf, sizeof(buf), s->spread < 0.995 ? 2 : 1, s->spread);
	if (isnan(s->spread))
		put_format("%6s", "");
	else
		put_format(" +-%-3s", buf[0] == '0' ? buf + 1 : buf);
}

void table_end(void)
{
	while (line_len && line[line_len - 1] == ' ')
		line_len--;
	progress_clear();
	printf("%.*s\n", (int)line_len, line);
	fflush(stdout);
	line_len = 0;
}
