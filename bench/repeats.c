// SPDX-License-Identifier: MIT
/*
 * repeats.c - how often: as many repeats as time allows; see repeats.h
 */
#include "repeats.h"

#include "codec.h"

#include <stdlib.h>

#define BUDGET_US 40e6 /* of all repeats of a run */
#define TRIED_PAGES 64u
#define OTHER_US 1.5 /* of a page */

/* Some pages from all over the corpus; how many of them went through. */
static size_t try_codec(const struct codec_ctx *codec, const struct corpus *c,
			struct cost *cost)
{
	size_t step = c->nr_pages / TRIED_PAGES + 1, nr = 0;
	unsigned char *packed = bench_alloc(1, codec->bound_bytes);
	unsigned char page[PAGE_BYTES];

	for (size_t i = 0; i < c->nr_pages; i += step, nr++) {
		uint64_t start = now_ns(), middle;
		size_t len = codec_compress(codec, c->pages + i * PAGE_BYTES,
					    packed);

		middle = now_ns();
		if (len)
			codec_decompress(codec, packed, len, page);
		cost->store_us += (double)(middle - start) / 1e3;
		cost->load_us += (double)(now_ns() - middle) / 1e3;
	}
	free(packed);
	return nr;
}

static void add_cost(struct cost *sum, const struct codec *codec,
		     const struct corpus *c)
{
	struct cost tried = { 0 };
	struct codec_ctx ctx;
	double pages;

	codec_open(&ctx, codec, PAGE_BYTES);
	pages = (double)c->nr_pages / (double)try_codec(&ctx, c, &tried);
	codec_close(&ctx);
	sum->store_us += pages * tried.store_us;
	sum->load_us += pages * tried.load_us;
	sum->other_us += (double)c->nr_pages * OTHER_US;
}

struct cost cost_of(const struct args *a, const struct corpora *all)
{
	struct cost sum = { 0 };

	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < a->nr_codecs; k++)
			add_cost(&sum, &a->codecs[k], &all->items[i]);
	return sum;
}

/* Odd, so that the median is one of them. */
unsigned repeats_that_fit(const struct args *a, double repeat_us)
{
	double fit = BUDGET_US / repeat_us;

	if (a->repeats)
		return a->repeats;
	if (a->quick || fit < 5)
		return 5;
	return fit > 25 ? 25 : (unsigned)fit | 1;
}
