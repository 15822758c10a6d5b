// SPDX-License-Identifier: MIT
/*
 * lz4.c - the compressor "lz4": LZ4 blocks at the library's default speed
 *
 * LZ4_compress_default() keeps its table of 16 KiB on the stack, so that there
 * is no state at all. It is also the fastest of the calls that liblz4.so
 * exports for pages of 4 KiB: LZ4_compress_fast_continue() after
 * LZ4_resetStream_fast() saves clearing the table, but then uses one of 4-byte
 * entries, half as many of them, and is up to 20 % slower on process memory.
 */
#include "lz4_block.h"

static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	int len = LZ4_compress_default(segment->src, segment->dst,
				       (int)segment->src_len,
				       (int)segment->dst_len);

	(void)instance, (void)ctx;
	segment->result = len > 0 ? len : -EIO;
	return 0;
}

static const struct zswap_compressor ops = {
	.size = sizeof(struct zswap_compressor),
	.name = "lz4",
	.bound = lz4_block_bound,
	.compress = compress,
	.decompress = lz4_block_decompress,
};

const struct comp_builtin comp_lz4 = { .ops = &ops };
