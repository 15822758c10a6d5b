// SPDX-License-Identifier: MIT
/*
 * bench_rawcut.c - from which compressed size on a page had better be kept raw
 *
 * A raw page loads by a copy, and takes a page. Caches whose compressor gives
 * up at different sizes, the *cut*, hold the same corpus:
 *
 *	compressed size   0 %         80 %     cut      88.5 %        100 %
 *	                  | compressed          | raw     | raw, whatever the
 *	                  |                     |         | cut: huge class
 *
 * From 3625 bytes on, 88.5 % of a page of 4 KiB, an object has a page of its
 * own, and the library keeps the page raw: rows above that are equal. What the
 * kernel's cut of 100 % costs there is what the bare codec takes for such
 * pages, against copying them; so that is measured for the pages of each *band*
 * between two cuts, in memory packed alike.
 *
 * Loads are peeks. All caches take turns, and so do codec and copy.
 */
#include "bench_rawcut.h"

#include "cut_codec.h"
#include "side_bare.h"
#include "side_cache.h"

#include <math.h>
#include <stdlib.h>

#define CUT_FOLIO 16u

/* 88.5 are 3624 bytes, the most that is not in the huge class. */
const double rawcut_percents[NR_CUTS] = { 80, 82.5, 85, 87.5, 88.5,
					  90, 92.5, 95, 97.5, 100 };

enum value { LOAD_ALL, LOAD_RANGE, DECOMPRESS_BAND, COPY_BAND, NR_VALUES };

struct trial {
	struct layout layout;
	struct passes passes;
	struct cut_codec codecs[NR_CUTS];
	struct side_cache caches[NR_CUTS];
	struct side_bare decompress, copy;
	uint32_t *all;   /* pages, in random order */
	uint32_t *range; /* those above the first cut, in random order */
	uint32_t nr_range;
	uint32_t nr_band[NR_CUTS];       /* of these, by band */
	struct samples samples;          /* of a pass over the range */
	struct series values[NR_VALUES]; /* contenders are cuts */
};

/* ---- cuts and bands ---------------------------------------------------- */

/* A result of a whole page is no compression, at 100 % neither. */
static size_t cut_bytes(unsigned cut)
{
	size_t bytes = (size_t)(rawcut_percents[cut] * PAGE_BYTES / 100);

	return bytes < PAGE_BYTES ? bytes : PAGE_BYTES - 1;
}

/* The first cut that lets this size pass; NR_CUTS when none does. */
static unsigned band_of(size_t len)
{
	unsigned cut = 0;

	if (!len)
		return NR_CUTS;
	while (cut < NR_CUTS && len > cut_bytes(cut))
		cut++;
	return cut;
}

/* By what the bare codec has made of the pages. */
static unsigned band_of_page(const struct trial *t, uint32_t page)
{
	return band_of(t->decompress.pages[page].len);
}

static void list_range(struct trial *t)
{
	for (uint32_t p = 0; p < t->layout.nr_pages; p++) {
		unsigned band = band_of_page(t, p);

		if (band == 0 || band == NR_CUTS)
			continue;
		t->range[t->nr_range++] = p;
		t->nr_band[band]++;
	}
}

/* ---- a codec that copies ----------------------------------------------- */

static size_t copy_bound(size_t page_bytes)
{
	return page_bytes;
}

/* The bare side keeps a page as it is when its codec fails. */
static size_t copy_compress(const struct codec_ctx *c, const void *page,
			    void *dst)
{
	(void)c, (void)page, (void)dst;
	return 0;
}

static const struct codec_ops copy_ops = {
	.name = "copy",
	.bound = copy_bound,
	.compress = copy_compress,
};

static const struct codec copy_codec = { .ops = &copy_ops, .spec = "copy" };

/* ---- measuring --------------------------------------------------------- */

/* us per page; NAN when there are none. */
static double peek_us(struct trial *t, struct side *s, const uint32_t *pages,
		      uint32_t count)
{
	struct meter m = { 0 };

	pass_peek(&t->passes, s, pages, count, &m);
	return count ? (double)m.load_ns / 1e3 / count : NAN;
}

static void run_cut(struct trial *t, unsigned repeat, unsigned cut)
{
	struct side *s = &t->caches[cut].side;

	series_put(&t->values[LOAD_ALL], repeat, cut,
		   peek_us(t, s, t->all, t->layout.nr_pages));
	series_put(&t->values[LOAD_RANGE], repeat, cut,
		   peek_us(t, s, t->range, t->nr_range));
}

/* One pass, so that a band of few pages is no colder than others. */
static void run_bands(struct trial *t, struct side *s, unsigned repeat,
		      struct series *us)
{
	double sum_us[NR_CUTS] = { 0 };
	struct meter m = { .samples = &t->samples };

	t->samples.nr_loads = 0;
	pass_peek(&t->passes, s, t->range, t->nr_range, &m);
	for (uint32_t i = 0; i < t->nr_range; i++)
		sum_us[band_of_page(t, t->range[i])] +=
			t->samples.load_ns[i] / 1e3;
	for (unsigned band = 0; band < NR_CUTS; band++)
		series_put(us, repeat, band, sum_us[band] / t->nr_band[band]);
}

static void run_repeat(struct trial *t, unsigned repeat)
{
	struct side *bare[] = { &t->decompress.side, &t->copy.side };
	struct rng rng = { repeat + 1 };

	shuffle(&rng, t->all, t->layout.nr_pages);
	shuffle(&rng, t->range, t->nr_range);
	for (unsigned i = 0; i < NR_CUTS; i++)
		run_cut(t, repeat, turn_of(NR_CUTS, repeat, i));
	for (unsigned i = 0; i < 2; i++) {
		unsigned who = turn_of(2, repeat, i);

		run_bands(t, bare[who], repeat,
			  &t->values[DECOMPRESS_BAND + who]);
	}
}

static void fill_cache(struct trial *t, unsigned cut, const struct codec *codec)
{
	struct cache_kind kind = {
		.codec = codec,
		.own = &t->codecs[cut].ops,
		.page_bytes = PAGE_BYTES,
	};
	struct meter m = { 0 };

	cut_codec_init(&t->codecs[cut], codec, PAGE_BYTES, cut_bytes(cut));
	cache_init(&t->caches[cut], &t->layout, &kind);
	pass_fill(&t->passes, &t->caches[cut].side, 0, &m);
}

/* Without caches, which only a corpus with pages in the range gets. */
static void trial_init(struct trial *t, const struct corpus *corpus,
		       const struct codec *codec)
{
	uint32_t nr_pages = (uint32_t)corpus->nr_pages;

	*t = (struct trial){
		.layout = layout_of(corpus, PAGE_BYTES, CUT_FOLIO),
		.all = bench_alloc(nr_pages, sizeof(*t->all)),
		.range = bench_alloc(nr_pages, sizeof(*t->range)),
		.samples.load_ns = bench_alloc(nr_pages, sizeof(double)),
	};
	passes_init(&t->passes, &t->layout,
		    bench_format("%s, %s, rawcut", corpus->name, codec->spec));
	bare_init(&t->decompress, &t->layout, codec);
	bare_init(&t->copy, &t->layout, &copy_codec);
	list_in_order(t->all, nr_pages);
	list_range(t);
}

static void trial_free(struct trial *t)
{
	for (unsigned i = 0; i < NR_CUTS; i++) {
		cache_free(&t->caches[i]);
		cut_codec_exit(&t->codecs[i]);
	}
	for (unsigned i = 0; i < NR_VALUES; i++)
		series_free(&t->values[i]);
	bare_free(&t->decompress);
	bare_free(&t->copy);
	passes_free(&t->passes);
	free(t->all);
	free(t->range);
	free(t->samples.load_ns);
}

static void note(const struct trial *t, unsigned cut, struct cut_row *row)
{
	const struct zswap_stats *full = &t->caches[cut].full;

	row->cut_percent = rawcut_percents[cut];
	row->nr_pages = t->layout.nr_pages;
	row->nr_range = t->nr_range;
	row->nr_band = t->nr_band[cut];
	row->raw = full->stored_incompressible_pages;
	row->payload_bytes = full->compressed_bytes;
	row->held_bytes = full->pool_total_size;
	if (!row->nr_range)
		return;
	row->load_all = series_of(&t->values[LOAD_ALL], cut);
	row->load_range = series_of(&t->values[LOAD_RANGE], cut);
	row->load_range_ratio =
		series_ratio(&t->values[LOAD_RANGE], cut, NR_CUTS - 1);
	row->decompress_band = series_of(&t->values[DECOMPRESS_BAND], cut);
	row->copy_band = series_of(&t->values[COPY_BAND], cut);
}

/* All cuts of one corpus and codec; without a page in the range only noted. */
void bench_rawcut(struct cut_row *rows, const struct corpus *corpus)
{
	unsigned repeats = rows->repeats;
	struct trial t;

	trial_init(&t, corpus, rows->codec);
	for (unsigned i = 0; i < NR_CUTS && t.nr_range; i++)
		fill_cache(&t, i, rows->codec);
	for (unsigned i = 0; i < NR_VALUES; i++)
		t.values[i] = series_make(repeats, NR_CUTS);
	for (unsigned i = 0; i < repeats && t.nr_range; i++) {
		progress("%s: %u of %u", t.passes.title, i, repeats);
		run_repeat(&t, i);
	}
	for (unsigned i = 0; i < NR_CUTS; i++)
		note(&t, i, &rows[i]);
	trial_free(&t);
}
