// SPDX-License-Identifier: MIT
/*
 * cut_codec.c - a compressor that gives up above a certain size
 *
 * The instance is the struct cut_codec itself, a context a struct codec_ctx. A
 * codec without state has no contexts, as the library's own has none: claiming
 * one for each load would be part of what is measured.
 */
#include "cut_codec.h"

#include <errno.h>
#include <stdlib.h>

static int create(const struct zswap_comp_env *env, const char *options,
		  void **instance)
{
	(void)options;
	*instance = env->user;
	return 0;
}

static size_t bound(void *instance, size_t unit_size)
{
	struct cut_codec *c = instance;

	return c->codec->ops->bound(unit_size);
}

static int ctx_create(void *instance, void **ctx)
{
	struct cut_codec *c = instance;
	struct codec_ctx *codec = malloc(sizeof(*codec));

	if (!codec)
		return -ENOMEM;
	codec_open(codec, c->codec, c->shared.page_bytes);
	*ctx = codec;
	return 0;
}

static void ctx_destroy(void *instance, void *ctx)
{
	(void)instance;
	codec_close(ctx);
	free(ctx);
}

static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct cut_codec *c = instance;
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	size_t len = codec_compress(ctx ? ctx : &c->shared, segment->src,
				    segment->dst);

	segment->result = len && len <= c->cut_bytes ? (int32_t)len : -ENOSPC;
	return 0;
}

static int decompress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct cut_codec *c = instance;
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	bool good = codec_decompress(ctx ? ctx : &c->shared, segment->src,
				     segment->src_len, segment->dst);

	segment->result = good ? (int32_t)segment->dst_len : -EIO;
	return 0;
}

void cut_codec_init(struct cut_codec *c, const struct codec *codec,
		    size_t page_bytes, size_t cut_bytes)
{
	*c = (struct cut_codec){
		.ops = { .size = sizeof(c->ops),
			 .name = "cut",
			 .user = c,
			 .create = create,
			 .bound = bound,
			 .compress = compress,
			 .decompress = decompress },
		.codec = codec,
		.cut_bytes = cut_bytes,
	};
	codec_open(&c->shared, codec, page_bytes);
	if (!codec->ops->open)
		return;
	c->ops.compress_ctx_create = ctx_create;
	c->ops.compress_ctx_destroy = ctx_destroy;
	c->ops.decompress_ctx_create = ctx_create;
	c->ops.decompress_ctx_destroy = ctx_destroy;
}

void cut_codec_exit(struct cut_codec *c)
{
	codec_close(&c->shared);
}
