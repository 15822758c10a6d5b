/* SPDX-License-Identifier: MIT */
/*
 * deflate.h - what both makers of the compressor "deflate" have in common
 *
 * Raw deflate (RFC 1951), by libdeflate where the library is built with it, and
 * by zlib elsewhere; the one reads what the other has made. The levels are
 * those that both know.
 */
#ifndef ZSWAP_COMP_DEFLATE_H
#define ZSWAP_COMP_DEFLATE_H

#include "level.h"

static inline void deflate_levels(struct comp_levels *out)
{
	*out = (struct comp_levels){ .min = 1, .max = 9, .normal = 6 };
}

#endif /* ZSWAP_COMP_DEFLATE_H */
