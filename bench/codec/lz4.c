// SPDX-License-Identifier: MIT
/*
 * lz4.c - the codecs "lz4" and "lz4hc", which are read by the same call
 *
 * LZ4_compress_default() keeps its table on the stack and is as fast as
 * LZ4_compress_fast_extState(): both clear 16 KiB for each page. With room for
 * LZ4_compressBound() neither codec need look for the end of the output, and
 * neither ever fails.
 */
#include "codecs.h"

#include <lz4.h>
#include <lz4hc.h>
#include <stdlib.h>

static size_t bound(size_t page_bytes)
{
	return (size_t)LZ4_compressBound((int)page_bytes);
}

static bool decompress(const struct codec_ctx *c, const void *src, size_t len,
		       void *page)
{
	int page_bytes = (int)c->page_bytes;

	return LZ4_decompress_safe(src, page, (int)len, page_bytes) ==
	       page_bytes;
}

/* ---- lz4 --------------------------------------------------------------- */

static size_t compress(const struct codec_ctx *c, const void *page, void *dst)
{
	int len = LZ4_compress_default(page, dst, (int)c->page_bytes,
				       (int)c->bound_bytes);

	return len > 0 ? (size_t)len : 0;
}

const struct codec_ops codec_lz4 = {
	.name = "lz4",
	.made_by = "lz4",
	.version = LZ4_versionString,
	.bound = bound,
	.compress = compress,
	.decompress = decompress,
};

/* ---- lz4hc ------------------------------------------------------------- */

static bool hc_open(struct codec_ctx *c)
{
	c->state = malloc((size_t)LZ4_sizeofStateHC());
	return c->state;
}

static void hc_close(struct codec_ctx *c)
{
	free(c->state);
}

static size_t hc_compress(const struct codec_ctx *c, const void *page,
			  void *dst)
{
	int len = LZ4_compress_HC_extStateHC(c->state, page, dst,
					     (int)c->page_bytes,
					     (int)c->bound_bytes, c->level);

	return len > 0 ? (size_t)len : 0;
}

const struct codec_ops codec_lz4hc = {
	.name = "lz4hc",
	.made_by = "lz4",
	.version = LZ4_versionString,
	.open = hc_open,
	.close = hc_close,
	.bound = bound,
	.compress = hc_compress,
	.decompress = decompress,
};
