/* SPDX-License-Identifier: MIT */
/*
 * csv.h - reads tables of numbers
 *
 *	csv_open(&csv, argv[1], "squares.csv");
 *	while (csv_row(&csv, row, 2))
 *		assert_int_equal(row[0] * row[0], row[1]);
 */
#ifndef TEST_CSV_H
#define TEST_CSV_H

#include <stdbool.h>
#include <stdio.h>

struct csv {
	FILE *file;
};

/* Opens @name in the folder of the file @beside, and skips its head line. */
void csv_open(struct csv *csv, const char *beside, const char *name);

/* The first @nr numbers of the next row; false, and closed, behind the last. */
bool csv_row(struct csv *csv, unsigned long *row, unsigned nr);

#endif
