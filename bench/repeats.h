/* SPDX-License-Identifier: MIT */
/*
 * repeats.h - how often: as many repeats as time allows
 *
 * What a repeat takes is guessed from what the bare codecs take for a few
 * pages, for lz4 and a high level of zstd are a hundredfold apart.
 */
#ifndef BENCH_REPEATS_H
#define BENCH_REPEATS_H

#include "args.h"
#include "pages.h"

/* Of all pages of all corpora, once, with each codec. */
struct cost {
	double store_us, load_us;
	double other_us; /* of one side's load: compare, wipe, its own work */
};

struct cost cost_of(const struct args *a, const struct corpora *all);

/* repeats_that_fit() - an odd number, 5 to 25, or what the caller asked for */
unsigned repeats_that_fit(const struct args *a, double repeat_us);

#endif /* BENCH_REPEATS_H */
