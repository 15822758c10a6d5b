/* SPDX-License-Identifier: MIT */
/* json.h - rows as an array of objects */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "bench.h"

struct json;

/*
 * json_write() - write @count rows, which are @stride_bytes apart; ends the
 * program when it fails
 * @path:  NULL means that nothing is written
 * @put:   called for each: json_row() first, then its fields
 */
void json_write(const char *path, const void *rows, size_t count,
		size_t stride_bytes,
		void (*put)(struct json *json, const void *row));

/* json_row() - begin an object, with the benchmark's name and hooks */
void json_row(struct json *json, const char *bench);

/* Its fields. A number that is not finite becomes null. */
void json_text(struct json *json, const char *key, const char *text);
void json_count(struct json *json, const char *key, uint64_t v);
void json_bool(struct json *json, const char *key, bool v);
void json_real(struct json *json, const char *key, double v);

/* json_summary() - @key, and "<key>_spread" */
void json_summary(struct json *json, const char *key, const struct summary *s);

#endif /* BENCH_JSON_H */
