// SPDX-License-Identifier: MIT
/*
 * lzo.c - the codec "lzo", where libzswap was built with liblzo2
 */
#include "codecs.h"

#include <lzo/lzo1x.h>
#include <stdlib.h>

static bool open_state(struct codec_ctx *c)
{
	c->state = malloc(LZO1X_1_MEM_COMPRESS);
	return c->state && lzo_init() == LZO_E_OK;
}

static void close_state(struct codec_ctx *c)
{
	free(c->state);
}

static size_t bound(size_t page_bytes)
{
	return page_bytes + page_bytes / 16 + 64 + 3;
}

static size_t compress(const struct codec_ctx *c, const void *page, void *dst)
{
	lzo_uint len;

	return lzo1x_1_compress(page, c->page_bytes, dst, &len, c->state) ==
			       LZO_E_OK ?
		       len :
		       0;
}

static bool decompress(const struct codec_ctx *c, const void *src, size_t len,
		       void *page)
{
	lzo_uint got = c->page_bytes;

	return lzo1x_decompress_safe(src, len, page, &got, NULL) == LZO_E_OK &&
	       got == c->page_bytes;
}

const struct codec_ops codec_lzo = {
	.name = "lzo",
	.made_by = "lzo",
	.version = lzo_version_string,
	.open = open_state,
	.close = close_state,
	.bound = bound,
	.compress = compress,
	.decompress = decompress,
};
