/* SPDX-License-Identifier: MIT */
/* bench_rawcut.h - a corpus in caches that keep pages raw from a cut on */
#ifndef BENCH_BENCH_RAWCUT_H
#define BENCH_BENCH_RAWCUT_H

#include "bench.h"
#include "codec.h"
#include "pages.h"

#define NR_CUTS 10u

/* In percent of a page, ascending. */
extern const double rawcut_percents[NR_CUTS];

struct cut_row {
	const char *name; /* of the corpus */
	const struct codec *codec;
	unsigned repeats;
	double cut_percent;
	size_t nr_pages; /* of the corpus */
	size_t nr_range; /* of these, above the first cut, and up to 100 % */
	size_t nr_band;  /* of these, above the row before, and up to this */
	uint64_t raw, payload_bytes, held_bytes;

	/* us per page */
	struct summary load_all;
	struct summary load_range;
	struct summary load_range_ratio; /* to that of the last row */
	struct summary decompress_band;
	struct summary copy_band;
};

/**
 * bench_rawcut() - fill in the rows of one corpus and codec
 * @rows: NR_CUTS, with their codec and repeats set
 *
 * Where nr_range is 0 nothing else but nr_pages is known.
 */
void bench_rawcut(struct cut_row *rows, const struct corpus *corpus);

#endif /* BENCH_BENCH_RAWCUT_H */
