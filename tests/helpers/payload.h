/* SPDX-License-Identifier: MIT */
/*
 * payload.h - where in its memory a cache keeps a compressed page
 *
 * What a compressor makes of a page is the compressor's business, so a test
 * can't look for it. But the same page stored twice gives the same bytes twice:
 * they are the only long and varied block that occurs twice in the mappings.
 */
#ifndef TEST_PAYLOAD_H
#define TEST_PAYLOAD_H

#include <stddef.h>

#include "faulty.h"

#define PAYLOAD_MAX_COPIES 8

/*
 * The copies of a block of @len bytes that is there more than once: their
 * number, 0 when there is no such block. Payloads begin at multiples of 8. A
 * freed payload may still be there, so store both into an empty cache.
 */
int payload_find_copies(struct faulty *f, size_t len,
			unsigned char *copies[PAYLOAD_MAX_COPIES]);

#endif
