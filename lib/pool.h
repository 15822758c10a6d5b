/* SPDX-License-Identifier: MIT */
/*
 * pool.h - a pool: one compressor and one allocator
 *
 * Every entry belongs to the pool it was stored in, whose number it carries,
 * and is loaded through that pool's compressor. There is one pool today; a
 * switch of the compressor at run time will make more.
 */
#ifndef ZSWAP_POOL_H
#define ZSWAP_POOL_H

#include "comp.h"
#include "zs.h"

/* The kernel's usual chain; zspages of up to 8 pages. */
#define POOL_CHAIN 8

struct pool {
	struct mem *mem;
	unsigned number; /* 1 .. 255 */
	struct comp *comp;
	struct zs_pool *zs;
};

/* Return: 0, or with *out NULL what comp_create() or zs_create_pool() said. */
int pool_create(struct mem *mem, const struct comp_list *own, const char *spec,
		uint32_t page_bytes, unsigned number, struct pool **out);
/* Ends the pool, whatever is left in it. NULL is fine. */
void pool_destroy(struct pool *pool);

#endif /* ZSWAP_POOL_H */
