/* SPDX-License-Identifier: MIT */
/*
 * deflate.h - the two makers of the compressor "deflate"
 */
#ifndef ZSWAP_COMP_DEFLATE_H
#define ZSWAP_COMP_DEFLATE_H

#include "level.h"

extern const struct zswap_compressor deflate_by_zlib;
extern const struct zswap_compressor
	deflate_by_libdeflate; /* if built with it */

#endif /* ZSWAP_COMP_DEFLATE_H */
