/* SPDX-License-Identifier: MIT */
/* json.h - the rows as an array of objects */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "bench_store_load.h"

/* json_check() - end the program now when @path could not be written later */
void json_check(const char *path);

/* json_write() - write @count rows; ends the program when it fails */
void json_write(const char *path, const struct row *rows, size_t count);

#endif /* BENCH_JSON_H */
