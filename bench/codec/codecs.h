/* SPDX-License-Identifier: MIT */
/* codecs.h - the codecs there are, each in a file of this folder */
#ifndef BENCH_CODECS_H
#define BENCH_CODECS_H

#include "../codec.h"

extern const struct codec_ops codec_lz4;
extern const struct codec_ops codec_lz4hc;
extern const struct codec_ops codec_zstd;
/* Both "deflate", which the library has from the one or the other. */
extern const struct codec_ops codec_libdeflate;
extern const struct codec_ops codec_zlib;
extern const struct codec_ops codec_lzo;     /* where built with liblzo2 */

#endif /* BENCH_CODECS_H */
