/* SPDX-License-Identifier: MIT */
/* codecs.h - the codecs there are, each in a file of this folder */
#ifndef BENCH_CODECS_H
#define BENCH_CODECS_H

#include "../codec.h"

extern const struct codec_ops codec_lz4;
extern const struct codec_ops codec_lz4hc;
extern const struct codec_ops codec_zstd;
extern const struct codec_ops codec_deflate; /* libdeflate's or zlib's */
extern const struct codec_ops codec_lzo;     /* where built with liblzo2 */

#endif /* BENCH_CODECS_H */
