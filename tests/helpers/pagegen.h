/* SPDX-License-Identifier: MIT */
/*
 * pagegen.h - pages of the kinds that a cache treats differently
 *
 * page_make() gives the same bytes for the same arguments, so that a test
 * needs to remember no more than them. Buffers need no alignment.
 */
#ifndef TEST_PAGEGEN_H
#define TEST_PAGEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum page_kind {
	PAGE_TEXT,   /* lines; every coder here at least halves it */
	PAGE_RANDOM, /* does not compress */
	PAGE_ZERO,   /* one word, 0 */
	PAGE_WORD,   /* one random word */
	PAGE_ALMOST, /* one repeated byte, but for one bit */
	PAGE_HALF,   /* half random, half zero */
	PAGE_KINDS
};

void page_make(void *page, size_t page_size, enum page_kind kind,
	       uint64_t seed);
bool page_is(const void *page, size_t page_size, enum page_kind kind,
	     uint64_t seed);

/*
 * A page whose first @part bytes are random and the others zero: its payload is
 * a little longer than that. page_spread() draws such parts as the payloads of
 * a process's memory lie: half around the middle, some tiny, some whole pages.
 */
void page_make_part(void *page, size_t page_size, size_t part, uint64_t seed);
size_t page_spread(size_t page_size, uint64_t seed);

/* Whether all 64-bit words of a page are equal, the slow and obvious way. */
bool page_is_filled(const void *page, size_t page_size);

/*
 * Stamped pages say which page they are, and a mixture of two is recognised.
 * The version chooses the kind: text, random, one word, half random, in turn.
 */
#define PAGE_MAX_KEY 0xffffffu
#define PAGE_MAX_VERSION 0xffffffffu

enum page_kind page_stamp_kind(uint64_t version);
void page_stamp(void *page, size_t page_size, uint64_t key, uint64_t version);

/* Whether @page is the whole page of @key in some version. */
bool page_verify(const void *page, size_t page_size, uint64_t key,
		 uint64_t *version);

#endif
