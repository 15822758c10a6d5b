// SPDX-License-Identifier: MIT
/*
 * deflate.c - the compressor "deflate", by whichever library suits
 *
 * Raw deflate (RFC 1951), by libdeflate where the library is built with it,
 * unless all memory is to come from the caller's hooks, and by zlib elsewhere;
 * the one reads what the other has made. The levels are those that both know.
 */
#include "deflate.h"

static void levels(struct comp_levels *out)
{
	*out = (struct comp_levels){ .min = 1, .max = 9, .normal = 6 };
}

const struct comp_builtin comp_deflate = {
#ifdef HAVE_LIBDEFLATE
	.ops = &deflate_by_libdeflate,
	.hooked_ops = &deflate_by_zlib,
#else
	.ops = &deflate_by_zlib,
#endif
	.levels = levels,
};
