// SPDX-License-Identifier: MIT
/*
 * csv.c - reads tables of numbers
 */
#include "csv.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static bool next_line(struct csv *csv, char *line, int bytes)
{
	if (fgets(line, bytes, csv->file))
		return true;
	CHECK(feof(csv->file));
	fclose(csv->file);
	return false;
}

void csv_open(struct csv *csv, const char *beside, const char *name)
{
	const char *slash = strrchr(beside, '/');
	int folder = slash ? (int)(slash + 1 - beside) : 0;
	char path[4096], head[512];

	snprintf(path, sizeof(path), "%.*s%s", folder, beside, name);
	csv->file = fopen(path, "r");
	CHECK(csv->file);
	CHECK(next_line(csv, head, sizeof(head)));
}

bool csv_row(struct csv *csv, unsigned long *row, unsigned nr)
{
	char line[512], *at = line;

	if (!next_line(csv, line, sizeof(line)))
		return false;
	for (unsigned i = 0; i < nr; i++) {
		char *start = at;

		row[i] = strtoul(start, &at, 10);
		CHECK(at > start && (*at == ',' || *at == '\n'));
		at++;
	}
	return true;
}
