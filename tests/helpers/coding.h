/* SPDX-License-Identifier: MIT */
/*
 * coding.h - how the test compressors code a unit
 *
 *	| checksum of the page | bytes of code | code | padding |
 *	       4 bytes              4 bytes
 *
 * The code is of runlength.h. The checksum makes damage an error, always; what
 * follows the code is ignored, so that a result can have any length.
 */
#ifndef TEST_CODING_H
#define TEST_CODING_H

#include <stddef.h>
#include <stdint.h>

#include <zswap/compressor.h>

/* The longest result for a unit. */
size_t coding_bound(size_t unit_size);

/* The length, or -ENOSPC when dst_len is too short for this page. */
int32_t coding_encode(const struct zswap_comp_segment *seg);

/* The length, or -EIO for anything but an exact unit. */
int32_t coding_decode(const struct zswap_comp_segment *seg);

/* A compressor of two functions, without state, bound or options: "plain". */
extern const struct zswap_compressor codec_plain;

#endif
