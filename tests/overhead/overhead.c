// SPDX-License-Identifier: MIT
/*
 * overhead.c - compress and decompress pages by lz4, by one of three ways
 *
 *	direct   calls of liblz4 in a loop: what the others are measured by
 *	single   the built-in lz4: a request of one unit for each page
 *	batch    a compressor with batch_size 8 and segments around the same calls
 *
 * Each is a function of its own, measured_..., so that a tool which counts
 * instructions can be told where to count. The last two also store folios of 16
 * in a cache, where the two must come to the same. See overhead.sh.
 */
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "comp.h"
#include "pagegen.h"

#define PAGE 4096u
#define BATCH 8u
#define NR_PAGES 256u

static char pages[NR_PAGES][PAGE], out[NR_PAGES][PAGE];
static char coded[NR_PAGES][LZ4_COMPRESSBOUND(PAGE)];
static uint32_t lengths[NR_PAGES];

/* ---- lz4 in batches ------------------------------------------------------ */

static size_t batch_bound(void *instance, size_t unit_size)
{
	(void)instance;
	return (size_t)LZ4_compressBound((int)unit_size);
}

static int batch_compress(void *instance, void *ctx,
			  struct zswap_comp_request *req)
{
	(void)instance, (void)ctx;
	for (uint32_t i = 0; i < req->nr_segments; i++) {
		struct zswap_comp_segment *s = zswap_comp_segment_at(req, i);

		s->result = LZ4_compress_default(
			s->src, s->dst, (int)s->src_len, (int)s->dst_len);
	}
	return 0;
}

static int batch_decompress(void *instance, void *ctx,
			    struct zswap_comp_request *req)
{
	(void)instance, (void)ctx;
	for (uint32_t i = 0; i < req->nr_segments; i++) {
		struct zswap_comp_segment *s = zswap_comp_segment_at(req, i);

		s->result = LZ4_decompress_safe(s->src, s->dst, (int)s->src_len,
						(int)s->dst_len);
	}
	return 0;
}

static const struct zswap_compressor batch = {
	.size = sizeof(batch),
	.name = "batch",
	.flags = ZSWAP_COMP_SEGMENTS,
	.batch_size = BATCH,
	.bound = batch_bound,
	.compress = batch_compress,
	.decompress = batch_decompress,
};

/* ---- what is measured ---------------------------------------------------- */

static __attribute__((noinline)) void measured_direct_compress(void)
{
	for (unsigned i = 0; i < NR_PAGES; i++)
		lengths[i] = (uint32_t)LZ4_compress_default(
			pages[i], coded[i], PAGE, LZ4_COMPRESSBOUND(PAGE));
}

static __attribute__((noinline)) void measured_direct_decompress(void)
{
	for (unsigned i = 0; i < NR_PAGES; i++)
		CHECK(LZ4_decompress_safe(coded[i], out[i], (int)lengths[i],
					  PAGE) == (int)PAGE);
}

static const void *sources[NR_PAGES];

/* As a store does it: a context for each batch, then a look at each result. */
static __attribute__((noinline)) void measured_compress(struct comp *comp)
{
	for (unsigned i = 0; i < NR_PAGES; i += BATCH) {
		struct comp_context *ctx = comp_claim(comp);

		comp_compress(comp, ctx, &sources[i], BATCH);
		for (unsigned k = 0; k < BATCH; k++)
			lengths[i + k] = (uint32_t)comp_result(ctx, k);
		comp_release(ctx);
	}
}

static __attribute__((noinline)) void measured_decompress(struct comp *comp)
{
	for (unsigned i = 0; i < NR_PAGES; i++)
		CHECK(!comp_decompress(comp, coded[i], lengths[i], out[i]));
}

#define FOLIO 16u

static __attribute__((noinline)) void measured_store(struct zswap *z)
{
	for (unsigned i = 0; i < NR_PAGES; i += FOLIO) {
		struct zswap_folio folio = {
			.size = sizeof(folio),
			.slot = zswap_slot(0, i),
			.nr_pages = FOLIO,
			.data = pages[i],
		};

		CHECK(!zswap_store_folio(z, &folio));
	}
}

/* ---- the ways ------------------------------------------------------------ */

static void check_all(void)
{
	for (unsigned i = 0; i < NR_PAGES; i++)
		CHECK(!memcmp(out[i], pages[i], PAGE));
}

static const struct zswap_compressor *const own = &batch;

/* The first pass fills the cache, the second finds it as it will be. */
static void through_cache(const char *spec)
{
	struct zswap_params params = { .size = sizeof(params),
				       .compressor = spec,
				       .compressors = &own,
				       .nr_compressors = 1 };
	struct zswap *z;

	CHECK(!zswap_create(&z, &params));
	CHECK(!zswap_swapon(z, 0, NR_PAGES));
	measured_store(z);
	measured_store(z);
	zswap_destroy(z);
}

static void through_comp(const char *spec_text)
{
	const struct comp_list list = { &own, 1 };
	struct comp *comp;
	struct spec spec;
	struct mem mem;

	CHECK(!mem_init(&mem, NULL));
	CHECK(!spec_resolve(&list, spec_text, &spec, NULL));
	CHECK(!comp_create(&mem, &spec, PAGE, &comp));
	measured_direct_compress(); /* the bytes to decompress */
	measured_compress(comp);
	measured_decompress(comp);
	comp_destroy(comp);
	mem_exit(&mem);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	for (unsigned i = 0; i < NR_PAGES; i++) {
		page_make(pages[i], PAGE, PAGE_TEXT, i);
		sources[i] = pages[i];
	}
	if (!strcmp(argv[1], "direct")) {
		measured_direct_compress();
		measured_direct_decompress();
	} else {
		const char *spec = strcmp(argv[1], "single") ? "batch" : "lz4";

		through_comp(spec);
		through_cache(spec);
	}
	check_all();
	return 0;
}
