/* SPDX-License-Identifier: MIT */
/*
 * zs_class.h - which size class a request falls into: arithmetic only
 *
 * A *size class* is all zspages with objects of one size. Sizes are spaced by
 * 1/256 of a page; a class's zspage is the chain of 1 .. chain pages that
 * wastes the fewest bytes at its end (the shorter one on a tie). Neighbouring
 * sizes that give as many objects on as many pages are one class, of the
 * largest size among them.
 *
 *	request + 8 (header) -> index = ceil((bytes - 32) / step) -> class
 *
 * The largest class holds one object of a whole page, without a header: the
 * *huge* class. Requests from zs_arena_huge_bytes() on go there. (The kernel
 * looks for the largest size with several pages and several objects instead,
 * which is the same wherever there is one: with chains of 2 or more.)
 *
 * Shorter chains have fewer, coarser classes. The adaptive choice (zs_choice.h)
 * takes from several chains; all their classes are in one table.
 *
 * Origin: Linux mm/zsmalloc.c, whose table for 4 KiB pages and chains of 8 this
 * gives exactly (119 classes; huge from 3625 bytes on).
 */
#ifndef ZSWAP_ZS_CLASS_H
#define ZSWAP_ZS_CLASS_H

#include "base.h"

#define ZS_HEADER_BYTES 8
#define ZS_MIN_SIZE 32
#define ZS_MAX_CHAIN 16
#define ZS_MAX_RAW 257 /* sizes for pages of 16 and 64 KiB */
/* With chains of 16: of 1, 2, 4, 8 and 16 pages. */
#define ZS_MAX_CHAINS 5
/* More than the chains of any page size make together; see test_zs_class. */
#define ZS_MAX_CLASSES 304

struct zs_class_size {
	uint32_t bytes;   /* of one object, the header included */
	uint16_t objects; /* in one zspage */
	uint16_t pages;   /* of one zspage */
};

struct zs_class_table {
	uint32_t page_bytes;
	uint32_t step_shift; /* sizes are 1 << step_shift bytes apart */
	uint32_t nr_raw;     /* sizes before merging */
	uint32_t nr_classes; /* after */
	uint32_t nr_chains;  /* 1, or for the adaptive choice more */
	uint32_t
		huge_bytes; /* requests from this on have a page of their own */
	/* By size, ascending, and of one size by pages. */
	struct zs_class_size classes[ZS_MAX_CLASSES];
	/* By raw index; the longest chain's, which is the exact choice, last. */
	uint16_t class_of[ZS_MAX_CHAINS][ZS_MAX_RAW];
};

/*
 * page_bytes: 4096, 16384 or 65536; chain: 1 .. ZS_MAX_CHAIN. Adaptive: with
 * the classes of shorter chains beside those of this one.
 */
void zs_class_table_init(struct zs_class_table *table, uint32_t page_bytes,
			 uint32_t chain, bool adaptive);

/* The raw index of an object of this many bytes, its header included. */
static inline unsigned zs_raw_of_object(const struct zs_class_table *table,
					size_t bytes)
{
	size_t i = bytes <= ZS_MIN_SIZE ?
			   0 :
			   ((bytes - ZS_MIN_SIZE - 1) >> table->step_shift) + 1;

	return (unsigned)(i < table->nr_raw ? i : table->nr_raw - 1);
}

/* The raw index of a request of this many bytes. */
static inline unsigned zs_raw_of_request(const struct zs_class_table *table,
					 size_t bytes)
{
	return zs_raw_of_object(table, bytes + ZS_HEADER_BYTES);
}

/* The exact choice for a raw index. */
static inline unsigned zs_exact_class(const struct zs_class_table *table,
				      unsigned raw)
{
	return table->class_of[table->nr_chains - 1][raw];
}

/*
 * The first class whose objects are large enough. None has smaller ones than
 * the exact choice, but shorter chains may have some of the same size.
 */
static inline unsigned zs_first_class(const struct zs_class_table *table,
				      unsigned raw)
{
	const struct zs_class_size *classes = table->classes;
	unsigned first = zs_exact_class(table, raw);

	while (first && classes[first - 1].bytes == classes[first].bytes)
		first--;
	return first;
}

/* The class in which a request of this many bytes is served, by its size. */
static inline unsigned zs_class_of_request(const struct zs_class_table *table,
					   size_t bytes)
{
	return zs_exact_class(table, zs_raw_of_request(table, bytes));
}

#endif /* ZSWAP_ZS_CLASS_H */
