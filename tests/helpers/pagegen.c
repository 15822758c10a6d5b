// SPDX-License-Identifier: MIT
/*
 * pagegen.c - pages of the kinds that a cache treats differently
 */
#include "pagegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"

static const char *const words[] = { "page ", "slot ",   "folio ", "entry ",
				     "area ", "object ", "class ", "pool " };

/*
 * Short lines with a run of one character at the end: a dictionary coder finds
 * the words, a run-length coder the runs.
 */
static void make_text(char *page, size_t page_size, struct rng *rng)
{
	size_t line, i;

	for (line = 0; line < page_size; line += 64) {
		uint64_t r = rng_next(rng);
		size_t at = 0;
		const char *c;

		for (i = 0; i < 3; i++)
			for (c = words[(r >> (8 * i)) & 7]; *c; c++)
				page[line + at++] = *c;
		for (i = 0; i < 4; i++)
			page[line + at++] =
				"0123456789abcdef"[(r >> (32 + 4 * i)) & 15];
		memset(page + line + at, '.', 63 - at);
		page[line + 63] = '\n';
	}
}

static void make_word(char *page, size_t page_size, uint64_t word)
{
	size_t at;

	for (at = 0; at < page_size; at += sizeof(word))
		memcpy(page + at, &word, sizeof(word));
}

void page_make(void *page, size_t page_size, enum page_kind kind, uint64_t seed)
{
	struct rng rng;
	char *bytes = page;

	rng_init(&rng, random_mix(seed) + kind);
	switch (kind) {
	case PAGE_TEXT:
		make_text(bytes, page_size, &rng);
		break;
	case PAGE_ZERO:
		memset(page, 0, page_size);
		break;
	case PAGE_WORD:
		make_word(bytes, page_size, rng_next(&rng));
		break;
	case PAGE_ALMOST:
		/* Of one byte, so that a run-length coder likes it as well. */
		memset(page, (int)rng_below(&rng, 256), page_size);
		bytes[rng_below(&rng, (uint32_t)page_size)] ^=
			(char)(1 << rng_below(&rng, 8));
		break;
	case PAGE_HALF:
		rng_fill(&rng, page, page_size / 2);
		memset(bytes + page_size / 2, 0, page_size / 2);
		break;
	case PAGE_RANDOM:
	default:
		rng_fill(&rng, page, page_size);
		break;
	}
}

void page_make_part(void *page, size_t page_size, size_t part, uint64_t seed)
{
	struct rng rng;

	rng_init(&rng, random_mix(seed) + PAGE_RANDOM);
	rng_fill(&rng, page, part);
	memset((char *)page + part, 0, page_size - part);
}

size_t page_spread(size_t page_size, uint64_t seed)
{
	uint64_t drawn = random_mix(seed ^ page_size);
	size_t eighth = page_size / 8;
	size_t within = drawn >> 2;

	switch (drawn % 4) {
	case 0: /* up to an eighth */
		return 16 + within % eighth;
	case 1: /* more than five eighths */
		return 5 * eighth + within % (page_size - 5 * eighth + 1);
	default:
		return eighth + within % (4 * eighth);
	}
}

bool page_is(const void *page, size_t page_size, enum page_kind kind,
	     uint64_t seed)
{
	char *expected = malloc(page_size);
	bool same;

	CHECK(expected);
	page_make(expected, page_size, kind, seed);
	same = memcmp(page, expected, page_size) == 0;
	free(expected);
	return same;
}

bool page_is_filled(const void *page, size_t page_size)
{
	size_t at;

	for (at = 8; at < page_size; at += 8)
		if (memcmp(page, (const char *)page + at, 8) != 0)
			return false;
	return true;
}

/* ---- stamped pages ----------------------------------------------------- */

#define STAMP_MAGIC UINT64_C(0x7a73776170737461)

struct stamp {
	uint64_t magic;
	uint64_t key;
	uint64_t version;
	uint64_t checksum; /* of all that follows, and of the three above */
};

static uint64_t checksum(const void *page, size_t page_size,
			 const struct stamp *stamp)
{
	uint64_t sum = stamp->magic ^ random_mix(stamp->key) ^
		       random_mix(~stamp->version);
	const char *bytes = page;
	uint64_t word;
	size_t at;

	for (at = sizeof(*stamp); at < page_size; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 29;
	}
	return sum;
}

/* Key, version and a check byte in the one word of a filled page. */
static uint64_t stamp_word(uint64_t key, uint64_t version)
{
	uint64_t word = key << 32 | version;

	return word | (random_mix(word) & 0xff) << 56;
}

enum page_kind page_stamp_kind(uint64_t version)
{
	static const enum page_kind kinds[] = { PAGE_TEXT, PAGE_RANDOM,
						PAGE_WORD, PAGE_HALF };

	return kinds[version % 4];
}

void page_stamp(void *page, size_t page_size, uint64_t key, uint64_t version)
{
	enum page_kind kind = page_stamp_kind(version);
	struct stamp stamp = { STAMP_MAGIC, key, version, 0 };

	CHECK(key <= PAGE_MAX_KEY && version <= PAGE_MAX_VERSION);
	if (kind == PAGE_WORD) {
		make_word(page, page_size, stamp_word(key, version));
		return;
	}
	page_make(page, page_size, kind, key << 32 | version);
	stamp.checksum = checksum(page, page_size, &stamp);
	memcpy(page, &stamp, sizeof(stamp));
}

static bool verify_filled(const void *page, uint64_t key, uint64_t *version)
{
	uint64_t word;

	memcpy(&word, page, sizeof(word));
	*version = word & PAGE_MAX_VERSION;
	return word == stamp_word(key, *version);
}

bool page_verify(const void *page, size_t page_size, uint64_t key,
		 uint64_t *version)
{
	struct stamp stamp;

	if (page_is_filled(page, page_size))
		return verify_filled(page, key, version);
	memcpy(&stamp, page, sizeof(stamp));
	*version = stamp.version;
	return stamp.magic == STAMP_MAGIC && stamp.key == key &&
	       stamp.checksum == checksum(page, page_size, &stamp);
}
