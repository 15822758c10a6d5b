// SPDX-License-Identifier: MIT
/*
 * deflate_libdeflate.c - the compressor "deflate", by libdeflate
 *
 * Two to three times as fast as zlib for a page of 4 KiB. libdeflate takes no
 * allocator for a single context, only one for the whole process, which is not
 * ours to set; so its contexts come from malloc(), and zlib does the work where
 * the caller has an allocator of its own.
 */
#include "deflate.h"

#include <libdeflate.h>

static int compress_ctx_create(void *instance, void **ctx)
{
	*ctx = libdeflate_alloc_compressor(
		((struct level_instance *)instance)->level);
	return *ctx ? 0 : -ENOMEM;
}

static void compress_ctx_destroy(void *instance, void *ctx)
{
	(void)instance;
	libdeflate_free_compressor(ctx);
}

static int decompress_ctx_create(void *instance, void **ctx)
{
	(void)instance;
	*ctx = libdeflate_alloc_decompressor();
	return *ctx ? 0 : -ENOMEM;
}

static void decompress_ctx_destroy(void *instance, void *ctx)
{
	(void)instance;
	libdeflate_free_decompressor(ctx);
}

/* There is no bound(): what would not fit in a page may as well fail. */
static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	size_t len =
		libdeflate_deflate_compress(ctx, segment->src, segment->src_len,
					    segment->dst, segment->dst_len);

	(void)instance;
	segment->result = len ? (int32_t)len : -ENOSPC;
	return 0;
}

static int decompress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	enum libdeflate_result result = libdeflate_deflate_decompress(
		ctx, segment->src, segment->src_len, segment->dst,
		segment->dst_len, NULL); /* exactly dst_len, or an error */

	(void)instance;
	segment->result =
		result == LIBDEFLATE_SUCCESS ? (int32_t)segment->dst_len : -EIO;
	return 0;
}

const struct zswap_compressor deflate_by_libdeflate = {
	.size = sizeof(struct zswap_compressor),
	.name = "deflate",
	.create = level_create,
	.destroy = level_destroy,
	.compress_ctx_create = compress_ctx_create,
	.compress_ctx_destroy = compress_ctx_destroy,
	.decompress_ctx_create = decompress_ctx_create,
	.decompress_ctx_destroy = decompress_ctx_destroy,
	.compress = compress,
	.decompress = decompress,
};
