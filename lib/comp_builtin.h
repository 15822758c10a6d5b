/* SPDX-License-Identifier: MIT */
/*
 * comp_builtin.h - the built-in compressors, each in comp/NAME.c
 *
 * They are what any compressor is: a public vtable. Besides, the library knows
 * their options, so that a spec can be checked without making an instance.
 */
#ifndef ZSWAP_COMP_BUILTIN_H
#define ZSWAP_COMP_BUILTIN_H

#include "spec.h"

extern const struct comp_builtin comp_lz4;
extern const struct comp_builtin comp_lz4hc;
extern const struct comp_builtin comp_zstd;
extern const struct comp_builtin comp_deflate;
extern const struct comp_builtin comp_lzo; /* where built with liblzo2 */

#endif /* ZSWAP_COMP_BUILTIN_H */
