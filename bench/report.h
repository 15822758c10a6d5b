/* SPDX-License-Identifier: MIT */
/* report.h - the tables that a reader sees */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench_store_load.h"

/* report_machine() - what ran, on what; before all else */
void report_machine(void);

/* report_corpora() - what was taken; fits the first column to the names */
void report_corpora(const struct corpora *all);

/* One line for each row as it comes, under two lines of heading. */
void report_heading(void);
void report_row(const struct row *row);

/* report_memory() - one line for each corpus and codec; from their last rows */
void report_memory(const struct row *rows, size_t count);

/* report_legend() - what the columns mean */
void report_legend(void);

#endif /* BENCH_REPORT_H */
