/* SPDX-License-Identifier: MIT */
/* report.h - what store-load says: its tables, and its rows as JSON */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench_store_load.h"

/* One line for each row as it comes, under two lines of heading. */
void report_heading(void);
void report_row(const struct row *row);

/*
 * report_medians() - of the warm rows, over several corpora
 * @each: rows of one corpus; those of the next follow in the same order
 */
void report_medians(const struct row *rows, size_t corpora, size_t each);

/* report_memory() - one line for each corpus and codec; from their last rows */
void report_memory(const struct row *rows, size_t count);

/* report_legend() - what the columns mean */
void report_legend(void);

/* report_json() - all rows to @path; nothing when it is NULL */
void report_json(const char *path, const struct row *rows, size_t count);

#endif /* BENCH_REPORT_H */
