/* SPDX-License-Identifier: MIT */
/*
 * checksum.h - a checksum of stored bytes, where the library has one
 *
 * XXH3 of 64 bits: about 70 ns for a kilobyte, a twentieth to a tenth of the
 * time in which lz4 makes a page of it. Without libxxhash no cache with
 * checksums can be made, so that the function here is never called.
 */
#ifndef ZSWAP_CHECKSUM_H
#define ZSWAP_CHECKSUM_H

#include "base.h"

#ifdef HAVE_XXHASH
#include <xxhash.h>
#define CHECKSUM_AVAILABLE true

static inline uint64_t checksum(const void *bytes, size_t len)
{
	return XXH3_64bits(bytes, len);
}

#else
#define CHECKSUM_AVAILABLE false

static inline uint64_t checksum(const void *bytes, size_t len)
{
	(void)bytes, (void)len;
	return 0;
}

#endif

#endif /* ZSWAP_CHECKSUM_H */
