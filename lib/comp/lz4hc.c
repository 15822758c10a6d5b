// SPDX-License-Identifier: MIT
/*
 * lz4hc.c - the compressor "lz4hc": LZ4 blocks, made with a longer search
 *
 * They are read by the same function as those of "lz4", as fast. A context is
 * the 256 KiB of tables that the search needs.
 */
#include "level.h"
#include "lz4_block.h"

#include <lz4hc.h>

static void levels(struct comp_levels *out)
{
	*out = (struct comp_levels){
		.min = 1,
		.max = LZ4HC_CLEVEL_MAX,
		.normal = LZ4HC_CLEVEL_DEFAULT,
	};
}

static int ctx_create(void *instance, void **ctx)
{
	return level_alloc_ctx(instance, (size_t)LZ4_sizeofStateHC(), ctx);
}

static void ctx_destroy(void *instance, void *ctx)
{
	level_free_ctx(instance, ctx, (size_t)LZ4_sizeofStateHC());
}

static int compress(void *arg, void *ctx, struct zswap_comp_request *req)
{
	const struct level_instance *instance = arg;
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	int len = LZ4_compress_HC_extStateHC(
		ctx, segment->src, segment->dst, (int)segment->src_len,
		(int)segment->dst_len, instance->level);

	segment->result = len > 0 ? len : -EIO;
	return 0;
}

static const struct zswap_compressor ops = {
	.size = sizeof(struct zswap_compressor),
	.name = "lz4hc",
	.create = level_create,
	.destroy = level_destroy,
	.bound = lz4_block_bound,
	.compress_ctx_create = ctx_create,
	.compress_ctx_destroy = ctx_destroy,
	.compress = compress,
	.decompress = lz4_block_decompress,
};

const struct comp_builtin comp_lz4hc = { .ops = &ops, .levels = levels };
