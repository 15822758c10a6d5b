// SPDX-License-Identifier: MIT
/*
 * lz4hc.c - the compressor "lz4hc": LZ4 blocks, made with a longer search
 *
 * They are read by the same function as those of "lz4", as fast. A context is
 * the 256 KiB of tables that the search needs.
 */
#include "comp_builtin.h"

#include <lz4.h>
#include <lz4hc.h>

struct instance {
	const struct zswap_comp_env *env;
	int level;
};

static void levels(struct comp_levels *out)
{
	*out = (struct comp_levels){
		.min = 1,
		.max = LZ4HC_CLEVEL_MAX,
		.normal = LZ4HC_CLEVEL_DEFAULT,
	};
}

static int create(const struct zswap_comp_env *env, const char *options,
		  void **out)
{
	struct instance *instance = env->alloc(env->ctx, sizeof(*instance));

	if (!instance)
		return -ENOMEM;
	instance->env = env;
	instance->level = spec_level(options);
	*out = instance;
	return 0;
}

static void destroy(void *instance)
{
	const struct zswap_comp_env *env = ((struct instance *)instance)->env;

	env->free(env->ctx, instance, sizeof(struct instance));
}

static size_t bound(void *instance, size_t unit_size)
{
	(void)instance;
	return (size_t)LZ4_compressBound((int)unit_size);
}

static int ctx_create(void *instance, void **ctx)
{
	const struct zswap_comp_env *env = ((struct instance *)instance)->env;

	*ctx = env->alloc(env->ctx, (size_t)LZ4_sizeofStateHC());
	return *ctx ? 0 : -ENOMEM;
}

static void ctx_destroy(void *instance, void *ctx)
{
	const struct zswap_comp_env *env = ((struct instance *)instance)->env;

	env->free(env->ctx, ctx, (size_t)LZ4_sizeofStateHC());
}

static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	int len = LZ4_compress_HC_extStateHC(
		ctx, segment->src, segment->dst, (int)segment->src_len,
		(int)segment->dst_len, ((struct instance *)instance)->level);

	segment->result = len > 0 ? len : -EIO;
	return 0;
}

static int decompress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	int len = LZ4_decompress_safe(segment->src, segment->dst,
				      (int)segment->src_len,
				      (int)segment->dst_len);

	(void)instance, (void)ctx;
	segment->result = len > 0 ? len : -EIO;
	return 0;
}

static const struct zswap_compressor ops = {
	.size = sizeof(struct zswap_compressor),
	.name = "lz4hc",
	.create = create,
	.destroy = destroy,
	.bound = bound,
	.compress_ctx_create = ctx_create,
	.compress_ctx_destroy = ctx_destroy,
	.compress = compress,
	.decompress = decompress,
};

const struct comp_builtin comp_lz4hc = { .ops = &ops, .levels = levels };
