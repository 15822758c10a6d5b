/* SPDX-License-Identifier: MIT */
/*
 * table.h - what all tables for a reader are made of
 *
 * A line begins with put_names() and ends with table_end(). A cell is printed
 * with its width, a space in front included. The first two columns are a
 * corpus's name and a codec's, as wide as the longest of the run.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "args.h"
#include "bench.h"
#include "pages.h"

/* table_machine() - what runs, on what; before all else */
void table_machine(const struct args *a);

/* table_corpora() - what was taken; fits the first columns to the names */
void table_corpora(const struct args *a, const struct corpora *all);

/* The first two columns. */
void put_names(const char *corpus, const char *codec);

/* put() - a number, or "-" when it is not finite */
void put(int width, int digits, double v);

/* put_format() - anything else */
void put_format(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* put_pair() - "p50/p99" */
void put_pair(int width, const struct latency *l);

/* put_ratio() - " 0.97 +-.01", 11 wide; blanks for a spread of NAN */
void put_ratio(const struct summary *s);

/* table_end() - the line is complete, and on the screen now */
void table_end(void);

#endif /* BENCH_TABLE_H */
