// SPDX-License-Identifier: MIT
/*
 * libdeflate.c - the codec "deflate", where libzswap was built with libdeflate
 *
 * There is one call for each direction, and room for more than a page makes it
 * no faster: a page that does not compress is kept as it is.
 */
#include "codecs.h"

#include <libdeflate.h>
#include <stdlib.h>

struct state {
	struct libdeflate_compressor *compress;
	struct libdeflate_decompressor *decompress;
};

static void close_state(struct codec_ctx *c)
{
	struct state *state = c->state;

	libdeflate_free_compressor(state->compress);
	libdeflate_free_decompressor(state->decompress);
	free(state);
}

static bool open_state(struct codec_ctx *c)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return false;
	c->state = state;
	state->compress = libdeflate_alloc_compressor(c->level);
	state->decompress = libdeflate_alloc_decompressor();
	if (state->compress && state->decompress)
		return true;
	close_state(c);
	return false;
}

static const char *version(void)
{
	return LIBDEFLATE_VERSION_STRING;
}

static size_t bound(size_t page_bytes)
{
	return page_bytes;
}

static size_t compress(const struct codec_ctx *c, const void *page, void *dst)
{
	struct state *state = c->state;

	return libdeflate_deflate_compress(state->compress, page, c->page_bytes,
					   dst, c->bound_bytes);
}

static bool decompress(const struct codec_ctx *c, const void *src, size_t len,
		       void *page)
{
	struct state *state = c->state;

	return libdeflate_deflate_decompress(state->decompress, src, len, page,
					     c->page_bytes,
					     NULL) == LIBDEFLATE_SUCCESS;
}

const struct codec_ops codec_libdeflate = {
	.name = "deflate",
	.made_by = "libdeflate",
	.version = version,
	.open = open_state,
	.close = close_state,
	.bound = bound,
	.compress = compress,
	.decompress = decompress,
};
