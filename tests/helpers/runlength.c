// SPDX-License-Identifier: MIT
/*
 * runlength.c - a small real coder for the test compressors
 *
 * Origin: PackBits.
 */
#include "runlength.h"

#include <stdbool.h>
#include <string.h>

#define MAX_LITERALS 128u
#define MIN_RUN 3u /* three comparisons, spelled out below */
#define MAX_RUN 129u

size_t runlength_bound(size_t len)
{
	return len + (len + MAX_LITERALS - 1) / MAX_LITERALS;
}

static size_t run_at(const unsigned char *src, size_t len)
{
	size_t n = 1;

	while (n < len && n < MAX_RUN && src[n] == src[0])
		n++;
	return n;
}

static bool run_begins(const unsigned char *src, size_t len)
{
	return len >= MIN_RUN && src[0] == src[1] && src[0] == src[2];
}

/* How many bytes come before the next run worth a token of its own. */
static size_t literals_at(const unsigned char *src, size_t len)
{
	size_t n = 0;

	while (n < len && n < MAX_LITERALS && !run_begins(src + n, len - n))
		n++;
	return n;
}

size_t runlength_pack(unsigned char *dst, size_t dst_len,
		      const unsigned char *src, size_t len)
{
	size_t at = 0, out = 0, n;

	while (at < len) {
		n = literals_at(src + at, len - at);
		if (n) {
			if (out + 1 + n > dst_len)
				return 0;
			dst[out++] = (unsigned char)(n - 1);
			memcpy(dst + out, src + at, n);
			out += n;
		} else {
			n = run_at(src + at, len - at);
			if (out + 2 > dst_len)
				return 0;
			dst[out++] = (unsigned char)(n + 126);
			dst[out++] = src[at];
		}
		at += n;
	}
	return out;
}

size_t runlength_unpack(unsigned char *dst, size_t dst_len,
			const unsigned char *src, size_t len)
{
	size_t at = 0, out = 0, n;

	while (at < len) {
		unsigned char token = src[at++];

		n = token < 128 ? token + 1u : token - 126u;
		if (n > dst_len - out || (token < 128 ? n : 1) > len - at)
			return 0;
		if (token < 128)
			memcpy(dst + out, src + at, n);
		else
			memset(dst + out, src[at], n);
		at += token < 128 ? n : 1;
		out += n;
	}
	return out;
}
