// SPDX-License-Identifier: MIT
/*
 * codec.c - the fastest documented calls of each codec library
 */
#include "codec.h"

#include "bench.h"

#include <lz4.h>
#include <string.h>

/* ---- lz4 --------------------------------------------------------------- */

/*
 * LZ4_compress_default() keeps its table on the stack and is as fast as
 * LZ4_compress_fast_extState(): both clear 16 KiB for each page. With room for
 * LZ4_compressBound() it need not check for the end of the output, and never
 * fails.
 */
static size_t lz4_compress(const void *page, void *dst)
{
	int len = LZ4_compress_default(page, dst, PAGE_BYTES,
				       LZ4_COMPRESSBOUND(PAGE_BYTES));

	return len > 0 ? (size_t)len : 0;
}

static int lz4_decompress(const void *src, size_t len, void *page)
{
	return LZ4_decompress_safe(src, page, (int)len, PAGE_BYTES) ==
	       (int)PAGE_BYTES;
}

static size_t lz4_bound(void)
{
	return LZ4_COMPRESSBOUND(PAGE_BYTES);
}

/* ---- table ------------------------------------------------------------- */

static const struct codec codecs[] = {
	{
		.name = "lz4",
		.version = LZ4_versionString,
		.bound = lz4_bound,
		.compress = lz4_compress,
		.decompress = lz4_decompress,
	},
};

const struct codec *codec_at(size_t i)
{
	return i < sizeof(codecs) / sizeof(*codecs) ? &codecs[i] : NULL;
}

const struct codec *codec_find(const char *name)
{
	const struct codec *codec;

	for (size_t i = 0; (codec = codec_at(i)); i++)
		if (!strcmp(codec->name, name))
			return codec;
	return NULL;
}
