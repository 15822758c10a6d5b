// SPDX-License-Identifier: MIT
/*
 * json.c - the rows as an array of objects
 *
 * Values that are not known (NAN) become null: JSON has no other word.
 */
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Opening for appending leaves an older file as it is; a new one goes again. So
 * a run that fails leaves no half a result.
 */
void json_check(const char *path)
{
	struct stat st;
	bool is_new =
		lstat(path, &st) != 0; /* a link is there, if only a link */
	/* A pipe without a reader is an error rather than a wait. */
	int fd = open(path,
		      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK,
		      0666);

	if (fd < 0)
		bad_input("%s: %s", path, strerror(errno));
	close(fd);
	if (is_new)
		unlink(path);
}

/* ---- values ------------------------------------------------------------ */

static void put_text(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(file, "\\u%04x", c); /* as if it were latin-1 */
		else
			fputc(c, file);
	}
	fputc('"', file);
}

static void put_key(FILE *file, const char *key, const char *suffix)
{
	fprintf(file, ",\n    \"%s%s\": ", key, suffix);
}

static void put_real(FILE *file, const char *key, const char *suffix, double v)
{
	put_key(file, key, suffix);
	if (isfinite(v))
		fprintf(file, "%.6g", v);
	else
		fputs("null", file);
}

static void put_count(FILE *file, const char *key, uint64_t v)
{
	put_key(file, key, "");
	fprintf(file, "%llu", (unsigned long long)v);
}

static void put_summary(FILE *file, const char *key, const char *suffix,
			const struct summary *s)
{
	char spread[64];

	put_real(file, key, suffix, s->median);
	snprintf(spread, sizeof(spread), "%s_spread", suffix);
	put_real(file, key, spread, s->spread);
}

/* ---- rows -------------------------------------------------------------- */

static void put_speed(FILE *file, const char *key, const struct speed *s)
{
	char bare[32];

	snprintf(bare, sizeof(bare), "bare_%s", key);
	put_summary(file, key, "_mbps", &s->mbps);
	put_summary(file, bare, "_mbps", &s->bare_mbps);
	put_summary(file, key, "_vs_bare", &s->vs_bare);
	put_real(file, key, "_p50_us", s->page.p50_us);
	put_real(file, key, "_p99_us", s->page.p99_us);
	put_real(file, bare, "_p50_us", s->bare_page.p50_us);
	put_real(file, bare, "_p99_us", s->bare_page.p99_us);
}

/* Per page of a cache of memory_pages, where fixed costs hide nothing. */
static void put_memory(FILE *file, const struct memory *m)
{
	put_count(file, "memory_pages", m->nr_pages);
	put_real(file, "metadata_bytes_per_page", "", m->metadata_bytes);
	put_real(file, "metadata_rss_bytes_per_page", "", m->metadata_rss);
	put_real(file, "rss_bytes_per_page", "", m->rss_bytes);
	put_real(file, "memory_held_ratio", "", m->held_ratio);
}

static void put_row(FILE *file, const struct row *row)
{
	const struct job *job = row->job;

	fputs("  {\n    \"bench\": \"store-load\",\n    \"corpus\": ", file);
	put_text(file, job->corpus->name);
	put_key(file, "codec", "");
	put_text(file, job->codec->name);
	put_key(file, "variant", "");
	put_text(file, row->variant);
	put_count(file, "folio_pages", job->folio_pages);
	put_count(file, "threads", 1);
	put_count(file, "repeats", row->repeats);
	put_count(file, "pages", job->corpus->nr_pages);
	put_count(file, "same_filled", row->same_filled);
	put_count(file, "raw", row->raw);
	put_real(file, "ratio", "", row->ratio);
	put_real(file, "held_ratio", "", row->held_ratio);
	put_real(file, "corpus_metadata_bytes_per_page", "",
		 row->metadata_bytes);
	put_memory(file, job->memory);
	put_speed(file, "store", &row->store);
	put_speed(file, "load", &row->load);
	fputs("\n  }", file);
}

void json_write(const char *path, const struct row *rows, size_t count)
{
	FILE *file = fopen(path, "we");
	int failed;

	if (!file)
		bad_input("%s: %s", path, strerror(errno));
	fputs("[\n", file);
	for (size_t i = 0; i < count; i++) {
		put_row(file, &rows[i]);
		fputs(i + 1 < count ? ",\n" : "\n", file);
	}
	fputs("]\n", file);
	failed = ferror(file);
	if (fclose(file) || failed)
		bad_input("%s: could not be written: %s", path,
			  strerror(errno));
}
