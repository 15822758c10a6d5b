// SPDX-License-Identifier: MIT
/*
 * test_builtin.c - what the built-in compressors make can be read by others
 *
 * The bytes are the published formats': zlib reads and writes for "deflate",
 * whichever library that was built with; zstd's frames carry nothing that is
 * not needed; "lz4" reads what "lz4hc" wrote.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "comp.h"
#include "pagegen.h"

static const struct comp_list nobody = { NULL, 0 };
static const uint32_t page_sizes[] = { 4096, 16384, 65536 };
static const enum page_kind kinds[] = { PAGE_TEXT, PAGE_RANDOM, PAGE_ZERO };

static struct comp *comp_of(struct unit *u, const char *text, uint32_t page)
{
	struct spec spec;
	struct comp *comp;

	u->mem.nr_cpus = 1;
	assert_int_equal(spec_resolve(&nobody, text, &spec, NULL), 0);
	assert_int_equal(comp_create(&u->mem, &spec, page, &comp), 0);
	return comp;
}

/* Compresses a page; its length, or 0 where it did not fit. */
static uint32_t compress_page(struct comp *comp, const void *page, char *out)
{
	struct comp_context *ctx = comp_claim(comp);
	int len;

	comp_compress(comp, ctx, &page, 1);
	len = comp_result(ctx, 0);
	assert_true(len > 0 || len == -ENOSPC);
	if (len > 0)
		memcpy(out, comp_buffer(ctx, 0), (size_t)len);
	comp_release(ctx);
	return len > 0 ? (uint32_t)len : 0;
}

/* Calls a check for each page size and kind of page. */
static void for_each_page(struct unit *u,
			  void (*check)(struct unit *u, const char *page,
					uint32_t bytes))
{
	static char page[65536];

	for (size_t s = 0; s < ARRAY_SIZE(page_sizes); s++)
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			page_make(page, page_sizes[s], kinds[k], 7 * s + k);
			check(u, page, page_sizes[s]);
		}
}

/* ---- deflate ------------------------------------------------------------- */

static char coded[2 * 65536 + 1024], decoded[65536];

static void zlib_reads(const char *src, uint32_t len, const char *page,
		       uint32_t bytes)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)src,
		       .avail_in = len,
		       .next_out = (unsigned char *)decoded,
		       .avail_out = bytes };

	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.avail_out, 0);
	assert_memory_equal(decoded, page, bytes);
	inflateEnd(&z);
}

static void zlib_reads_what_deflate_wrote(struct unit *u, const char *page,
					  uint32_t bytes)
{
	static const char *const specs[] = { "deflate", "deflate:level=1",
					     "deflate:level=9" };

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct comp *comp = comp_of(u, specs[i], bytes);
		uint32_t len = compress_page(comp, page, coded);

		if (len)
			zlib_reads(coded, len, page, bytes);
		comp_destroy(comp);
	}
}

static uint32_t zlib_writes(const char *page, uint32_t bytes, int level)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)page,
		       .avail_in = bytes,
		       .next_out = (unsigned char *)coded,
		       .avail_out = sizeof(coded) };

	assert_int_equal(
		deflateInit2(&z, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY),
		Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return (uint32_t)z.total_out;
}

static void deflate_reads_what_zlib_wrote(struct unit *u, const char *page,
					  uint32_t bytes)
{
	struct comp *comp = comp_of(u, "deflate", bytes);

	/* Level 0 stores, and is a way to write all the same. */
	for (int level = 0; level <= 9; level++) {
		uint32_t len = zlib_writes(page, bytes, level);

		memset(decoded, 0x5a, bytes);
		assert_int_equal(comp_decompress(comp, coded, len, decoded), 0);
		assert_memory_equal(decoded, page, bytes);
	}
	comp_destroy(comp);
}

/* By libdeflate, where it is, and by zlib. */
static void for_each_maker(struct unit *u,
			   void (*check)(struct unit *u, const char *page,
					 uint32_t bytes))
{
	u->mem.alloc_is_hooked = false;
	for_each_page(u, check);
	u->mem.alloc_is_hooked = true;
	for_each_page(u, check);
}

static void deflate_is_raw_deflate_for_its_readers(void **state)
{
	for_each_maker(*state, zlib_reads_what_deflate_wrote);
}

static void deflate_is_raw_deflate_of_any_writer(void **state)
{
	for_each_maker(*state, deflate_reads_what_zlib_wrote);
}

/* ---- zstd ---------------------------------------------------------------- */

static void a_frame_has_no_more_than_it_needs(struct unit *u, const char *page,
					      uint32_t bytes)
{
	struct comp *comp = comp_of(u, "zstd:level=1", bytes);
	uint32_t len = compress_page(comp, page, coded);
	ZSTD_frameHeader header;

	assert_true(len > 0);
	assert_int_equal(ZSTD_getFrameHeader(&header, coded, len), 0);
	assert_true(header.frameContentSize == ZSTD_CONTENTSIZE_UNKNOWN);
	assert_int_equal(header.checksumFlag, 0);
	assert_int_equal(header.dictID, 0);
	/* Magic, descriptor, window. */
	assert_int_equal(header.headerSize, 6);
	assert_int_equal(ZSTD_decompress(decoded, bytes, coded, len), bytes);
	assert_memory_equal(decoded, page, bytes);
	comp_destroy(comp);
}

static void zstd_frames_have_no_size_checksum_or_dictionary(void **state)
{
	for_each_page(*state, a_frame_has_no_more_than_it_needs);
}

/* Each level's context is made to measure, and must be large enough. */
static void every_level_of_zstd_has_the_memory_it_needs(void **state)
{
	struct unit *u = *state;
	char text[32];
	static char page[65536];

	for (size_t s = 0; s < ARRAY_SIZE(page_sizes); s++) {
		uint32_t bytes = page_sizes[s];

		page_make(page, bytes, PAGE_TEXT, s);
		for (int level = -8; level <= ZSTD_maxCLevel(); level++) {
			struct comp *comp;
			uint32_t len;

			snprintf(text, sizeof(text), "zstd:level=%d", level);
			comp = comp_of(u, text, bytes);
			for (int i = 0; i < 3; i++)
				len = compress_page(comp, page, coded);
			assert_int_equal(
				comp_decompress(comp, coded, len, decoded), 0);
			assert_memory_equal(decoded, page, bytes);
			comp_destroy(comp);
		}
	}
}

/* ---- lz4 ----------------------------------------------------------------- */

static void lz4_reads_it(struct unit *u, const char *page, uint32_t bytes)
{
	struct comp *hc = comp_of(u, "lz4hc", bytes);
	struct comp *lz4 = comp_of(u, "lz4", bytes);
	uint32_t len = compress_page(hc, page, coded);

	assert_int_equal(comp_decompress(lz4, coded, len, decoded), 0);
	assert_memory_equal(decoded, page, bytes);
	comp_destroy(hc);
	comp_destroy(lz4);
}

static void lz4_reads_what_lz4hc_wrote(void **state)
{
	for_each_page(*state, lz4_reads_it);
}

/* ---- levels -------------------------------------------------------------- */

/* Text comes out shorter at the far end of the levels than at the near one. */
static void a_level_makes_a_difference(void **state)
{
	static const char *const pairs[][2] = {
		{ "zstd:level=-50", "zstd:level=9" },
		{ "lz4hc:level=1", "lz4hc:level=12" },
		{ "deflate:level=1", "deflate:level=9" },
	};
	struct unit *u = *state;
	static char page[65536];

	page_make(page, sizeof(page), PAGE_TEXT, 3);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		uint32_t len[2];

		for (int end = 0; end < 2; end++) {
			struct comp *comp =
				comp_of(u, pairs[i][end], sizeof(page));

			len[end] = compress_page(comp, page, coded);
			comp_destroy(comp);
		}
		assert_true(len[0] > len[1]);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(deflate_is_raw_deflate_for_its_readers),
		unit_case(deflate_is_raw_deflate_of_any_writer),
		unit_case(zstd_frames_have_no_size_checksum_or_dictionary),
		unit_case(every_level_of_zstd_has_the_memory_it_needs),
		unit_case(lz4_reads_what_lz4hc_wrote),
		unit_case(a_level_makes_a_difference),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
