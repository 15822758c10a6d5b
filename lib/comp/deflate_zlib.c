// SPDX-License-Identifier: MIT
/*
 * deflate_zlib.c - the compressor "deflate", by zlib
 *
 * zlib clears its hash table for each page, so the window and the table are
 * made as small as a page allows: with the usual 32 KiB of each, a page of
 * 4 KiB would spend more on that than on its bytes. Reading takes the full
 * window's parameters, and so takes anybody's raw deflate.
 */
#include "deflate.h"

#include <string.h>
#include <zlib.h>

struct context {
	z_stream z;
	const struct zswap_comp_env *env;
	bool ready; /* made: from now on it gets no more memory */
};

/* ---- contexts ------------------------------------------------------------ */

/* zlib does not tell the size of what it frees: it lies before the block. */
#define BLOCK_HEAD 16

/*
 * Reading damaged bytes makes zlib ask for a window, in the middle of a load;
 * it takes no for an answer, which is one more error.
 */
static void *block_alloc(void *arg, unsigned items, unsigned size)
{
	struct context *ctx = arg;
	size_t bytes = BLOCK_HEAD + (size_t)items * size;
	char *block;

	if (ctx->ready)
		return Z_NULL;
	block = ctx->env->alloc(ctx->env->ctx, bytes);
	if (!block)
		return Z_NULL;
	memcpy(block, &bytes, sizeof(bytes));
	return block + BLOCK_HEAD;
}

static void block_free(void *arg, void *ptr)
{
	struct context *ctx = arg;
	char *block = (char *)ptr - BLOCK_HEAD;
	size_t bytes;

	memcpy(&bytes, block, sizeof(bytes));
	ctx->env->free(ctx->env->ctx, block, bytes);
}

static struct context *context_alloc(const struct zswap_comp_env *env)
{
	struct context *ctx = env->alloc(env->ctx, sizeof(*ctx));

	if (!ctx)
		return NULL;
	memset(ctx, 0, sizeof(*ctx));
	ctx->env = env;
	ctx->z.zalloc = block_alloc;
	ctx->z.zfree = block_free;
	ctx->z.opaque = ctx;
	return ctx;
}

static void context_free(struct context *ctx)
{
	ctx->env->free(ctx->env->ctx, ctx, sizeof(*ctx));
}

/* What zlib said when a context was made; it is freed unless that was good. */
static int context_ready(struct context *ctx, int zlib_err, void **out)
{
	if (zlib_err != Z_OK) {
		context_free(ctx);
		return zlib_err == Z_MEM_ERROR ? -ENOMEM : -EINVAL;
	}
	ctx->ready = true;
	*out = ctx;
	return 0;
}

/* The page's own size, or as much of it as zlib can look back. */
static int window_bits(const struct zswap_comp_env *env)
{
	int bits = __builtin_ctz(env->unit_size);

	return bits < MAX_WBITS ? bits : MAX_WBITS;
}

/*
 * memLevel: 2^(memLevel + 7) hash entries, and room for 2^(memLevel + 6)
 * symbols in a block: as many as a page can need.
 */
static int compress_ctx_create(void *arg, void **out)
{
	const struct level_instance *instance = arg;
	struct context *ctx = context_alloc(instance->env);
	int bits = window_bits(instance->env);

	if (!ctx)
		return -ENOMEM;
	return context_ready(ctx,
			     deflateInit2(&ctx->z, instance->level, Z_DEFLATED,
					  -bits, bits - 6, Z_DEFAULT_STRATEGY),
			     out);
}

static void compress_ctx_destroy(void *instance, void *arg)
{
	struct context *ctx = arg;

	(void)instance;
	deflateEnd(&ctx->z);
	context_free(ctx);
}

static int decompress_ctx_create(void *arg, void **out)
{
	const struct level_instance *instance = arg;
	struct context *ctx = context_alloc(instance->env);

	if (!ctx)
		return -ENOMEM;
	return context_ready(ctx, inflateInit2(&ctx->z, -MAX_WBITS), out);
}

static void decompress_ctx_destroy(void *instance, void *arg)
{
	struct context *ctx = arg;

	(void)instance;
	inflateEnd(&ctx->z);
	context_free(ctx);
}

/* ---- requests ------------------------------------------------------------ */

/* zlib's headers may be without const. */
static void set_buffers(z_stream *z, const struct zswap_comp_segment *segment)
{
	z->next_in = (void *)(uintptr_t)segment->src;
	z->avail_in = segment->src_len;
	z->next_out = segment->dst;
	z->avail_out = segment->dst_len;
}

/* There is no bound(): what would not fit in a page may as well fail. */
static int deflate_page(void *instance, void *arg,
			struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	struct context *ctx = arg;
	int err;

	(void)instance;
	deflateReset(&ctx->z);
	set_buffers(&ctx->z, segment);
	err = deflate(&ctx->z, Z_FINISH);
	if (err == Z_STREAM_END)
		segment->result =
			(int32_t)(segment->dst_len - ctx->z.avail_out);
	else
		segment->result = ctx->z.avail_out ? -EIO : -ENOSPC;
	return 0;
}

static int inflate_page(void *instance, void *arg,
			struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	struct context *ctx = arg;

	(void)instance;
	inflateReset(&ctx->z);
	set_buffers(&ctx->z, segment);
	if (inflate(&ctx->z, Z_FINISH) != Z_STREAM_END || ctx->z.avail_in)
		segment->result = -EIO;
	else
		segment->result =
			(int32_t)(segment->dst_len - ctx->z.avail_out);
	return 0;
}

const struct zswap_compressor deflate_by_zlib = {
	.size = sizeof(struct zswap_compressor),
	.name = "deflate",
	.create = level_create,
	.destroy = level_destroy,
	.compress_ctx_create = compress_ctx_create,
	.compress_ctx_destroy = compress_ctx_destroy,
	.decompress_ctx_create = decompress_ctx_create,
	.decompress_ctx_destroy = decompress_ctx_destroy,
	.compress = deflate_page,
	.decompress = inflate_page,
};
