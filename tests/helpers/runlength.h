/* SPDX-License-Identifier: MIT */
/*
 * runlength.h - a small real coder for the test compressors
 *
 * A token byte t and what follows: t < 128 means t + 1 literal bytes, any other
 * t one byte that is repeated t - 126 times. Bounded on both sides: neither
 * function reads or writes outside what it is given.
 */
#ifndef TEST_RUNLENGTH_H
#define TEST_RUNLENGTH_H

#include <stddef.h>

/* The longest result for @len bytes. */
size_t runlength_bound(size_t len);

/* The length of the result, or 0 when it does not fit into @dst_len. */
size_t runlength_pack(unsigned char *dst, size_t dst_len,
		      const unsigned char *src, size_t len);

/* The length of the result, or 0 when @src is damaged or does not fit. */
size_t runlength_unpack(unsigned char *dst, size_t dst_len,
			const unsigned char *src, size_t len);

#endif
