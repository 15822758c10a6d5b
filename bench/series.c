// SPDX-License-Identifier: MIT
/*
 * series.c - contenders that take turns; see series.h
 */
#include "series.h"

#include <stdlib.h>

struct series series_make(unsigned repeats, unsigned contenders)
{
	struct series s = {
		.repeats = repeats,
		.contenders = contenders,
		.values = bench_alloc((size_t)repeats * contenders,
				      sizeof(double)),
	};

	return s;
}

void series_free(struct series *s)
{
	free(s->values);
	s->values = NULL;
}

static double value_at(const struct series *s, unsigned repeat, unsigned who)
{
	return s->values[repeat * s->contenders + who];
}

struct summary series_of(const struct series *s, unsigned who)
{
	double *values = bench_alloc(s->repeats, sizeof(*values));
	struct summary out;

	for (unsigned i = 0; i < s->repeats; i++)
		values[i] = value_at(s, i, who);
	out = summarize(values, s->repeats);
	free(values);
	return out;
}

struct summary series_ratio(const struct series *s, unsigned who, unsigned to)
{
	double *ratios = bench_alloc(s->repeats, sizeof(*ratios));
	struct summary out;

	for (unsigned i = 0; i < s->repeats; i++)
		ratios[i] = value_at(s, i, who) / value_at(s, i, to);
	out = summarize(ratios, s->repeats);
	free(ratios);
	return out;
}
