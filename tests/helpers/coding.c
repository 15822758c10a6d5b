// SPDX-License-Identifier: MIT
/*
 * coding.c - how the test compressors code a unit
 */
#include "coding.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "runlength.h"

#define HEAD_BYTES 8u

static uint32_t checksum(const unsigned char *page, size_t len)
{
	uint64_t sum = len, word;
	size_t i;

	for (i = 0; i < len; i += sizeof(word)) {
		memcpy(&word, page + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 29;
	}
	return (uint32_t)(sum ^ sum >> 32); /* the last word's top bits too */
}

size_t coding_bound(size_t unit_size)
{
	return HEAD_BYTES + runlength_bound(unit_size);
}

int32_t coding_encode(const struct zswap_comp_segment *seg)
{
	unsigned char *dst = seg->dst;
	uint32_t sum = checksum(seg->src, seg->src_len), len;

	if (seg->dst_len <= HEAD_BYTES)
		return -ENOSPC;
	len = (uint32_t)runlength_pack(dst + HEAD_BYTES,
				       seg->dst_len - HEAD_BYTES, seg->src,
				       seg->src_len);
	if (!len)
		return -ENOSPC;
	memcpy(dst, &sum, sizeof(sum));
	memcpy(dst + 4, &len, sizeof(len));
	return (int32_t)(HEAD_BYTES + len);
}

int32_t coding_decode(const struct zswap_comp_segment *seg)
{
	const unsigned char *src = seg->src;
	uint32_t sum, len;

	if (seg->src_len <= HEAD_BYTES)
		return -EIO;
	memcpy(&sum, src, sizeof(sum));
	memcpy(&len, src + 4, sizeof(len));
	if (len > seg->src_len - HEAD_BYTES)
		return -EIO;
	if (runlength_unpack(seg->dst, seg->dst_len, src + HEAD_BYTES, len) !=
		    seg->dst_len ||
	    checksum(seg->dst, seg->dst_len) != sum)
		return -EIO;
	return (int32_t)seg->dst_len;
}

/* ---- a compressor of no more than this --------------------------------- */

static int plain_compress(void *instance, void *ctx,
			  struct zswap_comp_request *req)
{
	struct zswap_comp_segment *seg = req->segments;

	CHECK(!instance && !ctx && req->nr_segments == 1);
	seg->result = coding_encode(seg);
	return 0;
}

static int plain_decompress(void *instance, void *ctx,
			    struct zswap_comp_request *req)
{
	struct zswap_comp_segment *seg = req->segments;

	CHECK(!instance && !ctx && req->nr_segments == 1);
	seg->result = coding_decode(seg);
	return 0;
}

const struct zswap_compressor codec_plain = {
	.size = sizeof(codec_plain),
	.name = "plain",
	.compress = plain_compress,
	.decompress = plain_decompress,
};
