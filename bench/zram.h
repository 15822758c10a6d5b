/* SPDX-License-Identifier: MIT */
/*
 * zram.h - a compressed block device of the kernel's, added for this run
 *
 * Devices that were there before are not touched, and no setting outlives the
 * one that was added. It is removed however the program ends, killed or not: a
 * process of its own adds it, waits for the end of this one, and removes it.
 */
#ifndef BENCH_ZRAM_H
#define BENCH_ZRAM_H

#include "codec.h"

#include <stdint.h>

struct zram;

/* zram_why_not() - why no device can be added here; NULL when one can */
const char *zram_why_not(void);

/* zram_add() - a device; ends the program (EXIT_SKIPPED) when there is none */
struct zram *zram_add(void);

/* zram_remove() - returns when it is gone */
void zram_remove(struct zram *z);

/*
 * zram_algorithm() - the kernel's name for a codec at its level
 *
 * Return: NULL when this kernel's zram does not have it.
 */
const char *zram_algorithm(const struct zram *z, const struct codec *codec);

/* What it holds: fields of mm_stat. */
struct zram_stat {
	uint64_t orig_data_size;
	uint64_t compr_data_size;
	uint64_t mem_used_total;
};

/*
 * zram_measure() - empty it, write pages with this codec, and read them again
 *
 * A page that comes back changed ends the program (EXIT_BROKEN).
 */
struct zram_stat zram_measure(struct zram *z, const struct codec *codec,
			      const unsigned char *pages, size_t nr_pages);

#endif /* BENCH_ZRAM_H */
