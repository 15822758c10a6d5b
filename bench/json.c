// SPDX-License-Identifier: MIT
/*
 * json.c - rows as an array of objects; see json.h
 */
#include "json.h"

#include "hooks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json {
	FILE *file;
	size_t rows; /* begun */
};

/* ---- the file ---------------------------------------------------------- */

void json_write(const char *path, const void *rows, size_t count,
		size_t stride_bytes,
		void (*put)(struct json *json, const void *row))
{
	struct json json = { 0 };
	int failed;

	if (!path)
		return;
	json.file = fopen(path, "we");
	if (!json.file)
		bad_input("%s: %s", path, strerror(errno));
	fputc('[', json.file);
	for (size_t i = 0; i < count; i++)
		put(&json, (const char *)rows + i * stride_bytes);
	fputs(json.rows ? "\n  }\n]\n" : "]\n", json.file);
	failed = ferror(json.file);
	if (fclose(json.file) || failed)
		bad_input("%s: could not be written: %s", path,
			  strerror(errno));
}

/* ---- rows -------------------------------------------------------------- */

static void put_string(FILE *file, const char *text)
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

void json_row(struct json *json, const char *bench)
{
	fputs(json->rows ? "\n  },\n  {\n    \"bench\": " :
			   "\n  {\n    \"bench\": ",
	      json->file);
	put_string(json->file, bench);
	json->rows++;
	json_text(json, "hooks", hooks_name());
}

static void put_key(struct json *json, const char *key)
{
	fprintf(json->file, ",\n    \"%s\": ", key);
}

void json_text(struct json *json, const char *key, const char *text)
{
	put_key(json, key);
	put_string(json->file, text);
}

void json_count(struct json *json, const char *key, uint64_t v)
{
	put_key(json, key);
	fprintf(json->file, "%llu", (unsigned long long)v);
}

void json_bool(struct json *json, const char *key, bool v)
{
	put_key(json, key);
	fputs(v ? "true" : "false", json->file);
}

void json_real(struct json *json, const char *key, double v)
{
	put_key(json, key);
	if (isfinite(v))
		fprintf(json->file, "%.6g", v);
	else
		fputs("null", json->file);
}

void json_summary(struct json *json, const char *key, const struct summary *s)
{
	char *spread = bench_format("%s_spread", key);

	json_real(json, key, s->median);
	json_real(json, spread, s->spread);
	free(spread);
}
