// SPDX-License-Identifier: MIT
/*
 * zlib.c - the codec "deflate", where libzswap was built with zlib
 *
 * Streams are made once and reset for each page. The window is the page's, for
 * a larger one finds nothing more, and so is the hash table, which is cleared
 * each time; above 2^15 entries (memLevel 8) a larger one is slower again.
 */
#include "codecs.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

struct state {
	z_stream compress;
	z_stream decompress;
};

/* Both calls accept a stream that could not be made. */
static void close_state(struct codec_ctx *c)
{
	struct state *state = c->state;

	deflateEnd(&state->compress);
	inflateEnd(&state->decompress);
	free(state);
}

static bool open_state(struct codec_ctx *c)
{
	struct state *state = calloc(1, sizeof(*state));
	int window = __builtin_ctzl(c->page_bytes);
	int mem_level;

	if (!state)
		return false;
	c->state = state;
	window = window < MAX_WBITS ? window : MAX_WBITS;
	mem_level = window - 6 < 8 ? window - 6 : 8;
	if (deflateInit2(&state->compress, c->level, Z_DEFLATED, -window,
			 mem_level, Z_DEFAULT_STRATEGY) == Z_OK &&
	    inflateInit2(&state->decompress, -window) == Z_OK)
		return true;
	close_state(c);
	return false;
}

/* As deflateBound() has it for any window and table, and some more. */
static size_t bound(size_t page_bytes)
{
	return page_bytes + page_bytes / 8 + page_bytes / 64 + 32;
}

/* zlib's headers may be without const. */
static void set_buffers(z_stream *z, const void *src, size_t len, void *dst,
			size_t room)
{
	z->next_in = (void *)(uintptr_t)src;
	z->avail_in = (unsigned)len;
	z->next_out = dst;
	z->avail_out = (unsigned)room;
}

static size_t compress_page(const struct codec_ctx *c, const void *page,
			    void *dst)
{
	z_stream *z = &((struct state *)c->state)->compress;

	deflateReset(z);
	set_buffers(z, page, c->page_bytes, dst, c->bound_bytes);
	return deflate(z, Z_FINISH) == Z_STREAM_END ?
		       c->bound_bytes - z->avail_out :
		       0;
}

static bool decompress(const struct codec_ctx *c, const void *src, size_t len,
		       void *page)
{
	z_stream *z = &((struct state *)c->state)->decompress;

	inflateReset(z);
	set_buffers(z, src, len, page, c->page_bytes);
	return inflate(z, Z_FINISH) == Z_STREAM_END && !z->avail_out;
}

const struct codec_ops codec_zlib = {
	.name = "deflate",
	.made_by = "zlib",
	.version = zlibVersion,
	.open = open_state,
	.close = close_state,
	.bound = bound,
	.compress = compress_page,
	.decompress = decompress,
};
