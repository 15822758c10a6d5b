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
#include "comp_builtin.h"

#include <zstd.h>

struct instance {
	const struct zswap_comp_env *env;
	int level;
	size_t compress_bytes; /* of a context */
	size_t decompress_bytes;
};

static void levels(struct comp_levels *out)
{
	*out = (struct comp_levels){
		.min = ZSTD_minCLevel(),
		.max = ZSTD_maxCLevel(),
		.normal = ZSTD_CLEVEL_DEFAULT,
		.zero_is_normal = true,
	};
}

static int create(const struct zswap_comp_env *env, const char *options,
		  void **out)
{
	struct instance *instance = env->alloc(env->ctx, sizeof(*instance));
	int level = spec_level(options);

	if (!instance)
		return -ENOMEM;
	instance->env = env;
	instance->level = level;
	instance->compress_bytes = ZSTD_estimateCCtxSize_usingCParams(
		ZSTD_getCParams(level, env->unit_size, 0));
	instance->decompress_bytes = ZSTD_estimateDCtxSize();
	*out = instance;
	return 0;
}

static void destroy(void *instance)
{
	const struct zswap_comp_env *env = ((struct instance *)instance)->env;

	env->free(env->ctx, instance, sizeof(struct instance));
}

/* With this much room libzstd need not look for its end. */
static size_t bound(void *instance, size_t unit_size)
{
	(void)instance;
	return ZSTD_compressBound(unit_size);
}

/* ---- contexts ------------------------------------------------------------ */

/*
 * libzstd wants its memory aligned to 8 and keeps its context at the start of
 * it, so the context's address is the block's.
 */
static int compress_ctx_create(void *arg, void **ctx)
{
	const struct instance *instance = arg;
	const struct zswap_comp_env *env = instance->env;
	void *block = env->alloc(env->ctx, instance->compress_bytes);
	ZSTD_CCtx *zstd;

	if (!block)
		return -ENOMEM;
	zstd = ZSTD_initStaticCCtx(block, instance->compress_bytes);
	if (!zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel,
						instance->level)) ||
	    ZSTD_isError(
		    ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, 0)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_dictIDFlag, 0))) {
		env->free(env->ctx, block, instance->compress_bytes);
		return -EINVAL;
	}
	*ctx = block;
	return 0;
}

static void compress_ctx_destroy(void *arg, void *ctx)
{
	const struct instance *instance = arg;

	instance->env->free(instance->env->ctx, ctx, instance->compress_bytes);
}

static int decompress_ctx_create(void *arg, void **ctx)
{
	const struct instance *instance = arg;
	const struct zswap_comp_env *env = instance->env;
	void *block = env->alloc(env->ctx, instance->decompress_bytes);

	if (!block)
		return -ENOMEM;
	if (!ZSTD_initStaticDCtx(block, instance->decompress_bytes)) {
		env->free(env->ctx, block, instance->decompress_bytes);
		return -EINVAL;
	}
	*ctx = block;
	return 0;
}

static void decompress_ctx_destroy(void *arg, void *ctx)
{
	const struct instance *instance = arg;

	instance->env->free(instance->env->ctx, ctx,
			    instance->decompress_bytes);
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
	.create = create,
	.destroy = destroy,
	.bound = bound,
	.compress_ctx_create = compress_ctx_create,
	.compress_ctx_destroy = compress_ctx_destroy,
	.decompress_ctx_create = decompress_ctx_create,
	.decompress_ctx_destroy = decompress_ctx_destroy,
	.compress = compress,
	.decompress = decompress,
};

const struct comp_builtin comp_zstd = { .ops = &ops, .levels = levels };
