/* SPDX-License-Identifier: MIT */
/*
 * holder.h - who holds pages of 4 KiB under slots: the cache, or its rivals
 *
 * A rival is what a program would have without the library: the bare codec, a
 * block of another allocator's for each result, of its exact length, and an
 * array that knows for each slot where its block is. As the cache does it keeps
 * the word of a page that repeats one, and copies a page that does not get
 * smaller.
 *
 * A holder lives as long as the process.
 */
#ifndef BENCH_HOLDER_H
#define BENCH_HOLDER_H

#include "codec.h"

#include <stdint.h>

struct usage {
	double live;  /* bytes of payload */
	double held;  /* bytes from the system for them; NAN: can't be asked */
	double moves; /* objects moved until now; NAN: not told */
};

/* What returns int returns 0 or a negative errno. */
struct holder {
	int (*store)(struct holder *h, uint32_t slot, const void *page);
	int (*peek)(struct holder *h, uint32_t slot, void *page);
	void (*invalidate)(struct holder *h, uint32_t slot);

	/* Gives back to the system what it can. */
	void (*compact)(struct holder *h);

	struct usage (*usage)(struct holder *h);
};

/* holder_cache() - a cache without limit */
struct holder *holder_cache(const struct codec *codec, uint32_t nr_slots);

/*
 * holder_rival() - the codec and an allocator of enum GLIBC .. MIMALLOC
 * @why: receives a text when there is no such allocator
 *
 * Return: NULL when there is none.
 */
struct holder *holder_rival(const struct codec *codec, uint32_t nr_slots,
			    unsigned which, const char **why);

#endif /* BENCH_HOLDER_H */
