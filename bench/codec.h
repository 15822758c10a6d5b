/* SPDX-License-Identifier: MIT */
/*
 * codec.h - the bare codecs that the cache is compared with
 *
 * A codec to come is one more entry in the table of codec.c.
 */
#ifndef BENCH_CODEC_H
#define BENCH_CODEC_H

#include <stddef.h>

struct codec {
	const char *name; /* zswap_params.compressor as well */
	const char *(*version)(void);

	/* The longest result of compress() for a page. */
	size_t (*bound)(void);

	/* A page into @dst with room for bound(); the length, 0 on failure. */
	size_t (*compress)(const void *page, void *dst);

	/* A page out of @len bytes; whether it came out. */
	int (*decompress)(const void *src, size_t len, void *page);
};

/* codec_find() - by name; NULL when there is none */
const struct codec *codec_find(const char *name);

/* codec_at() - the i-th of the table; NULL past its end */
const struct codec *codec_at(size_t i);

#endif /* BENCH_CODEC_H */
