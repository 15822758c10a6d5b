// SPDX-License-Identifier: MIT
/*
 * zstd.c - the codec "zstd"
 *
 * ZSTD_compress2() with parameters that stay, and ZSTD_compressCCtx() at the
 * same level, are equally fast for one page. The former can leave the content
 * size out, as the library does, so that both sides make the same bytes.
 */
#include "codecs.h"

#include <stdlib.h>
#include <zstd.h>

struct state {
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
};

static void close_state(struct codec_ctx *c)
{
	struct state *state = c->state;

	ZSTD_freeCCtx(state->compress);
	ZSTD_freeDCtx(state->decompress);
	free(state);
}

static bool set(ZSTD_CCtx *ctx, ZSTD_cParameter what, int value)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(ctx, what, value));
}

static bool open_state(struct codec_ctx *c)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return false;
	c->state = state;
	state->compress = ZSTD_createCCtx();
	state->decompress = ZSTD_createDCtx();
	if (state->compress && state->decompress &&
	    set(state->compress, ZSTD_c_compressionLevel, c->level) &&
	    set(state->compress, ZSTD_c_contentSizeFlag, 0))
		return true;
	close_state(c);
	return false;
}

static size_t compress(const struct codec_ctx *c, const void *page, void *dst)
{
	struct state *state = c->state;
	size_t len = ZSTD_compress2(state->compress, dst, c->bound_bytes, page,
				    c->page_bytes);

	return ZSTD_isError(len) ? 0 : len;
}

static bool decompress(const struct codec_ctx *c, const void *src, size_t len,
		       void *page)
{
	struct state *state = c->state;

	return ZSTD_decompressDCtx(state->decompress, page, c->page_bytes, src,
				   len) == c->page_bytes;
}

const struct codec_ops codec_zstd = {
	.name = "zstd",
	.made_by = "zstd",
	.version = ZSTD_versionString,
	.open = open_state,
	.close = close_state,
	.bound = ZSTD_compressBound,
	.compress = compress,
	.decompress = decompress,
};
