/* SPDX-License-Identifier: MIT */
/*
 * passes.h - all pages of a corpus, once, through one side
 *
 * A pass goes block by block. A block is some folios, whose pages a buffer
 * holds; what lies between two readings of the clock is the block's calls, and
 * every page that came out is compared before the next block:
 *
 *	first      store all folios in order, then load | compare, each page in
 *	           random order, until the side is empty
 *	warm       load each page of a block | compare | store its folios again
 *	overwrite  store all folios in random order, over what is there
 *	peek       load pages of the caller's choice | compare, and leave them
 *
 * All sides deliver into the same kind of buffer, so what the caches of the
 * processor hold is alike. The same seed gives the same order.
 *
 * A page that comes back changed ends the program (EXIT_BROKEN).
 */
#ifndef BENCH_PASSES_H
#define BENCH_PASSES_H

#include "series.h"
#include "side.h"

struct passes {
	char *title; /* what is measured: for messages */
	struct layout layout;
	uint32_t block_folios;
	uint32_t block_pages; /* at most */
	uint32_t *folios;     /* the order of a pass */
	uint32_t *pages;      /* the order of its loads */
	unsigned char *buf;   /* a block */
};

/* Where the time of each call goes, per page. */
struct samples {
	double *store_ns, *load_ns;
	size_t nr_stores, nr_loads;
};

struct meter {
	uint64_t store_ns, load_ns;
	struct samples *samples; /* NULL while whole blocks are timed */
};

/* passes_init() - @title becomes the passes' own */
void passes_init(struct passes *p, const struct layout *layout, char *title);
void passes_free(struct passes *p);

typedef void pass_fn(struct passes *p, struct side *s, uint64_t seed,
		     struct meter *m);

pass_fn pass_first, pass_warm, pass_overwrite;

/* pass_fill() - the first half of pass_first(); @seed does not matter */
pass_fn pass_fill;

/* pass_peek() - these pages, in this order */
void pass_peek(struct passes *p, struct side *s, const uint32_t *pages,
	       size_t count, struct meter *m);

/* list_in_order() - 0 .. @count - 1 */
void list_in_order(uint32_t *items, uint32_t count);

/* MB (10^6 bytes of pages) a second, of sides that take turns. */
struct rates {
	struct series store, load;
};

/* passes_race() - @repeats passes of each side */
struct rates passes_race(struct passes *p, pass_fn *pass,
			 struct side *const *sides, unsigned nr_sides,
			 unsigned repeats);
void rates_free(struct rates *r);

#endif /* BENCH_PASSES_H */
