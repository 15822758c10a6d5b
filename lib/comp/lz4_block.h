/* SPDX-License-Identifier: MIT */
/*
 * lz4_block.h - what "lz4" and "lz4hc" share: the format, and so its reading
 */
#ifndef ZSWAP_COMP_LZ4_BLOCK_H
#define ZSWAP_COMP_LZ4_BLOCK_H

#include "comp_builtin.h"

#include <lz4.h>

static inline size_t lz4_block_bound(void *instance, size_t unit_size)
{
	(void)instance;
	return (size_t)LZ4_compressBound((int)unit_size);
}

static inline int lz4_block_decompress(void *instance, void *ctx,
				       struct zswap_comp_request *req)
{
	struct zswap_comp_segment *segment = zswap_comp_segment_at(req, 0);
	int len = LZ4_decompress_safe(segment->src, segment->dst,
				      (int)segment->src_len,
				      (int)segment->dst_len);

	(void)instance, (void)ctx;
	segment->result = len > 0 ? len : -EIO;
	return 0;
}

#endif /* ZSWAP_COMP_LZ4_BLOCK_H */
