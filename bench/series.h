/* SPDX-License-Identifier: MIT */
/*
 * series.h - contenders that take turns, repeat by repeat
 *
 *	repeat   0: A B C   1: C B A   2: A B C   ...
 *
 * Each repeat gives one value for each contender. Ratios are taken within a
 * repeat, so that a machine that slows down for a second spoils one ratio and
 * not the median; the order turns round, so that nobody is always the first.
 */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include "bench.h"

struct series {
	unsigned repeats, contenders;
	double *values; /* the contenders of a repeat side by side */
};

struct series series_make(unsigned repeats, unsigned contenders);
void series_free(struct series *s);

/* turn_of() - who is the i-th in a repeat */
static inline unsigned turn_of(unsigned contenders, unsigned repeat, unsigned i)
{
	return repeat % 2 ? contenders - 1 - i : i;
}

static inline void series_put(struct series *s, unsigned repeat, unsigned who,
			      double value)
{
	s->values[repeat * s->contenders + who] = value;
}

/* series_of() - of one contender's values */
struct summary series_of(const struct series *s, unsigned who);

/* series_ratio() - of the ratios of @who's values to those of @to */
struct summary series_ratio(const struct series *s, unsigned who, unsigned to);

#endif /* BENCH_SERIES_H */
