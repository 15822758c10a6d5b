// SPDX-License-Identifier: MIT
/*
 * zstd.c - the compressor "zstd": Zstandard frames of one page
 *
 * The frames carry no content size, checksum or dictionary number: the page's
 * size is known, and a checksum is the cache's own business.
 *
 * A context of either direction is one block of memory, made to measure for
 * pages of this size by libzstd's own estimates, so that all of it is counted
 * and nothing is allocated later. The functions for that are in the part of the
 * API that libzstd does not call stable; they have been there since 1.3, and
 * every libzstd.so exports them.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "level.h"

#include <zstd.h>

static void levels(struct comp_levels *out)
{
	*out = (struct comp_levels){
		.min = ZSTD_minCLevel(),
		.max = ZSTD_maxCLevel(),
		.normal = ZSTD_CLEVEL_DEFAULT,
		.zero_is_normal = true,
	};
}

/* With this much room libzstd need not look for its end. */
static size_t bound(void *instance, size_t unit_size)
{
	(void)instance;
	return ZSTD_compressBound(unit_size);
}

/* ---- contexts ------------------------------------------------------------ */

static size_t compress_bytes(const struct level_instance *instance)
{
	return ZSTD_estimateCCtxSize_usingCParams(
		ZSTD_getCParams(instance->level, instance->env->unit_size, 0));
}

static bool set(ZSTD_CCtx *zstd, ZSTD_cParameter what, int value)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, what, value));
}

/* libzstd keeps its context at the start of the memory it is given. */
static int compress_ctx_create(void *arg, void **ctx)
{
	const struct level_instance *instance = arg;
	size_t bytes = compress_bytes(instance);
	int err = level_alloc_ctx(instance, bytes, ctx);
	ZSTD_CCtx *zstd;

	if (err)
		return err;
	zstd = ZSTD_initStaticCCtx(*ctx, bytes);
	if (zstd && set(zstd, ZSTD_c_compressionLevel, instance->level) &&
	    set(zstd, ZSTD_c_contentSizeFlag, 0) &&
	    set(zstd, ZSTD_c_dictIDFlag, 0))
		return 0;
	level_free_ctx(instance, *ctx, bytes);
	return -EINVAL;
}

static void compress_ctx_destroy(void *instance, void *ctx)
{
	level_free_ctx(instance, ctx, compress_bytes(instance));
}

static int decompress_ctx_create(void *instance, void **ctx)
{
	size_t bytes = ZSTD_estimateDCtxSize();
	int err = level_alloc_ctx(instance, bytes, ctx);

	if (err)
		return err;
	if (ZSTD_initStaticDCtx(*ctx, bytes))
		return 0;
	level_free_ctx(instance, *ctx, bytes);
	return -EINVAL;
}

static void decompress_ctx_destroy(void *instance, void *ctx)
{
	level_free_ctx(instance, ctx, ZSTD_estimateDCtxSize());
}

/* ---- requests ------------------------------------------------------------ */

/* Both calls begin a new frame whatever became of the last one. */
static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	size_t len = ZSTD_compress2(ctx, segment->dst, segment->dst_len,
				    segment->src, segment->src_len);

	(void)instance;
	segment->result = ZSTD_isError(len) ? -EIO : (int32_t)len;
	return 0;
}

static int decompress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	size_t len = ZSTD_decompressDCtx(ctx, segment->dst, segment->dst_len,
					 segment->src, segment->src_len);

	(void)instance;
	segment->result = ZSTD_isError(len) ? -EIO : (int32_t)len;
	return 0;
}

static const struct zswap_compressor ops = {
	.size = sizeof(struct zswap_compressor),
	.name = "zstd",
	.create = level_create,
	.destroy = level_destroy,
	.bound = bound,
	.compress_ctx_create = compress_ctx_create,
	.compress_ctx_destroy = compress_ctx_destroy,
	.decompress_ctx_create = decompress_ctx_create,
	.decompress_ctx_destroy = decompress_ctx_destroy,
	.compress = compress,
	.decompress = decompress,
};

const struct comp_builtin comp_zstd = { .ops = &ops, .levels = levels };
