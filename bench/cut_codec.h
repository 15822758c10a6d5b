/* SPDX-License-Identifier: MIT */
/* cut_codec.h - a compressor that gives up above a certain size */
#ifndef BENCH_CUT_CODEC_H
#define BENCH_CUT_CODEC_H

#include "codec.h"

#include <zswap/compressor.h>

/*
 * A bare codec as a compressor of the caller's own. A result of more than
 * cut_bytes is -ENOSPC, so that the cache keeps the page raw.
 */
struct cut_codec {
	struct zswap_compressor ops; /* what the cache gets */
	const struct codec *codec;
	size_t cut_bytes;
	struct codec_ctx shared; /* of a codec without state */
};

/* cut_codec_init() - *@c stays where it is until cut_codec_exit() */
void cut_codec_init(struct cut_codec *c, const struct codec *codec,
		    size_t page_bytes, size_t cut_bytes);

/* cut_codec_exit() - after its last cache is gone */
void cut_codec_exit(struct cut_codec *c);

#endif /* BENCH_CUT_CODEC_H */
