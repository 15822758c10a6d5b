// SPDX-License-Identifier: MIT
/*
 * bench_kernel.c - the same pages in a zram device of the kernel's
 *
 * zram keeps pages as zswap in the kernel does, by the kernel's own zsmalloc,
 * and says to the page what it takes.
 */
#include "topics.h"

#include "json.h"
#include "side_cache.h"
#include "table.h"
#include "zram.h"

#include <stdio.h>
#include <stdlib.h>

#define KERNEL_FOLIO 16u

struct kernel_row {
	const char *name; /* of the corpus */
	const struct codec *codec;
	const char *algorithm; /* the kernel's name for it */
	size_t nr_pages;
	struct zram_stat kernel;
	uint64_t payload_bytes, held_bytes;
	double kernel_over_payload, over_payload; /* what is held / payload */
	double vs_kernel;                         /* held / held */
};

/* ---- measuring --------------------------------------------------------- */

/* Each page is loaded again as well, and compared. */
static struct zswap_stats store_and_load(const struct corpus *corpus,
					 const struct codec *codec)
{
	struct layout layout = layout_of(corpus, PAGE_BYTES, KERNEL_FOLIO);
	struct cache_kind kind = { .codec = codec, .page_bytes = PAGE_BYTES };
	struct meter m = { 0 };
	struct side_cache cache;
	struct zswap_stats full;
	struct passes p;

	passes_init(&p, &layout,
		    bench_format("%s, %s", corpus->name, codec->spec));
	cache_init(&cache, &layout, &kind);
	pass_first(&p, &cache.side, 1, &m);
	full = cache.full;
	cache_free(&cache);
	passes_free(&p);
	return full;
}

static void measure(struct zram *z, const struct corpus *corpus,
		    struct kernel_row *row)
{
	struct zswap_stats full;

	progress("%s, %s, kernel", corpus->name, row->codec->spec);
	row->name = corpus->name;
	row->nr_pages = corpus->nr_pages;
	row->kernel =
		zram_measure(z, row->codec, corpus->pages, corpus->nr_pages);
	full = store_and_load(corpus, row->codec);
	row->payload_bytes = full.compressed_bytes;
	row->held_bytes = full.pool_total_size;
	row->kernel_over_payload = (double)row->kernel.mem_used_total /
				   (double)row->kernel.compr_data_size;
	row->over_payload =
		(double)row->held_bytes / (double)row->payload_bytes;
	row->vs_kernel =
		(double)row->held_bytes / (double)row->kernel.mem_used_total;
}

/* ---- table ------------------------------------------------------------- */

static void print_heading(void)
{
	put_names("", "");
	put_format(" %8s %6s %24s %24s %7s", "", "", "kernel, KiB",
		   "cache, KiB", "held by");
	table_end();
	put_names("corpus", "codec");
	put_format(" %8s %6s", "zram's", "pages");
	for (int i = 0; i < 2; i++)
		put_format(" %8s %8s %6s", "payload", "held", "ratio");
	put_format(" %7s", "kernel");
	table_end();
}

static void put_sizes(uint64_t payload, uint64_t held, double ratio)
{
	put(9, 0, (double)payload / 1024);
	put(9, 0, (double)held / 1024);
	put(7, 3, ratio);
}

static void print_row(const struct kernel_row *row)
{
	put_names(row->name, row->codec->label);
	put_format(" %8s %6zu", row->algorithm, row->nr_pages);
	put_sizes(row->kernel.compr_data_size, row->kernel.mem_used_total,
		  row->kernel_over_payload);
	put_sizes(row->payload_bytes, row->held_bytes, row->over_payload);
	put(8, 3, row->vs_kernel);
	table_end();
}

/* Of rows that are @each apart: one for each corpus. */
static void print_median(const struct kernel_row *rows, size_t corpora,
			 size_t each)
{
	size_t stride = each * sizeof(*rows);

	put_names("median", rows->codec->label);
	put_format(" %8s %6s %17s", rows->algorithm, "", "");
	put(7, 3, median_across(&rows->kernel_over_payload, corpora, stride));
	put_format(" %17s", "");
	put(7, 3, median_across(&rows->over_payload, corpora, stride));
	put(8, 3, median_across(&rows->vs_kernel, corpora, stride));
	table_end();
}

static void print_legend(void)
{
	printf("\n"
	       "kernel   a zram device of the kernel's, which was added for "
	       "this: compr_data_size and mem_used_total of mm_stat\n"
	       "cache    the same pages in a fresh cache: compressed_bytes and "
	       "pool_total_size, reserve included\n"
	       "ratio    held / payload\n"
	       "held by kernel: bytes held by the cache / by the kernel; below "
	       "1 the cache is denser\n");
}

/* ---- JSON -------------------------------------------------------------- */

static void json_one(struct json *json, const void *arg)
{
	const struct kernel_row *row = arg;

	json_row(json, "kernel");
	json_text(json, "corpus", row->name);
	json_text(json, "codec", row->codec->spec);
	json_text(json, "algorithm", row->algorithm);
	json_count(json, "page_bytes", PAGE_BYTES);
	json_count(json, "folio_pages", KERNEL_FOLIO);
	json_count(json, "pages", row->nr_pages);
	json_count(json, "orig_data_size", row->kernel.orig_data_size);
	json_count(json, "compr_data_size", row->kernel.compr_data_size);
	json_count(json, "mem_used_total", row->kernel.mem_used_total);
	json_count(json, "payload_bytes", row->payload_bytes);
	json_count(json, "held_bytes", row->held_bytes);
	json_real(json, "held_vs_kernel", row->vs_kernel);
}

/* ---- the whole --------------------------------------------------------- */

/* The rows of one corpus: codecs that both have. The others are told. */
static size_t choose_codecs(const struct args *a, const struct zram *z,
			    struct kernel_row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < a->nr_codecs; i++) {
		const struct codec *codec = &a->codecs[i];
		const char *algorithm = zram_algorithm(z, codec);

		if (!algorithm) {
			printf("%s: left out, this kernel's zram has no such "
			       "algorithm\n",
			       codec->spec);
			continue;
		}
		rows[count].codec = codec;
		rows[count++].algorithm = algorithm;
	}
	if (!count)
		skipped("this kernel's zram has none of these codecs");
	return count;
}

static void measure_all(struct zram *z, const struct corpora *all,
			struct kernel_row *rows, size_t each)
{
	for (size_t i = 0; i < all->count * each; i++) {
		rows[i].codec = rows[i % each].codec;
		rows[i].algorithm = rows[i % each].algorithm;
		measure(z, &all->items[i / each], &rows[i]);
		print_row(&rows[i]);
	}
	for (size_t i = 0; all->count > 1 && i < each; i++)
		print_median(&rows[i], all->count, each);
}

void topic_kernel(const struct args *a, const struct corpora *all)
{
	struct kernel_row *rows =
		bench_alloc(all->count * a->nr_codecs, sizeof(*rows));
	struct zram *z = zram_add();
	size_t each = choose_codecs(a, z, rows);

	print_heading();
	measure_all(z, all, rows, each);
	zram_remove(z);
	print_legend();
	json_write(a->json, rows, all->count * each, sizeof(*rows), json_one);
	free(rows);
}
