// SPDX-License-Identifier: MIT
/*
 * lzo.c - the compressor "lzo": LZO1X-1
 *
 * Only in builds that ask for it: liblzo2 is under the GPL, and so is then what
 * it is linked into. The call that makes the blocks knows no end of its output,
 * so the room is always the worst case's.
 */
#include "comp_builtin.h"

#include <lzo/lzo1x.h>

static int create(const struct zswap_comp_env *env, const char *options,
		  void **out)
{
	(void)options;
	if (lzo_init() != LZO_E_OK) /* a header of another library */
		return -EINVAL;
	*out = (void *)(uintptr_t)env;
	return 0;
}

/* As in the documentation of lzo1x_1_compress(). */
static size_t bound(void *instance, size_t unit_size)
{
	(void)instance;
	return unit_size + unit_size / 16 + 64 + 3;
}

static int ctx_create(void *instance, void **ctx)
{
	const struct zswap_comp_env *env = instance;

	*ctx = env->alloc(env->ctx, LZO1X_1_MEM_COMPRESS);
	return *ctx ? 0 : -ENOMEM;
}

static void ctx_destroy(void *instance, void *ctx)
{
	const struct zswap_comp_env *env = instance;

	env->free(env->ctx, ctx, LZO1X_1_MEM_COMPRESS);
}

static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	lzo_uint len = segment->dst_len;
	int err = lzo1x_1_compress(segment->src, segment->src_len, segment->dst,
				   &len, ctx);

	(void)instance;
	segment->result = err == LZO_E_OK ? (int32_t)len : -EIO;
	return 0;
}

static int decompress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	lzo_uint len = segment->dst_len;
	int err = lzo1x_decompress_safe(segment->src, segment->src_len,
					segment->dst, &len, NULL);

	(void)instance, (void)ctx;
	segment->result = err == LZO_E_OK ? (int32_t)len : -EIO;
	return 0;
}

static const struct zswap_compressor ops = {
	.size = sizeof(struct zswap_compressor),
	.name = "lzo",
	.create = create,
	.bound = bound,
	.compress_ctx_create = ctx_create,
	.compress_ctx_destroy = ctx_destroy,
	.compress = compress,
	.decompress = decompress,
};

const struct comp_builtin comp_lzo = { .ops = &ops };
