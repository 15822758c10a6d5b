// SPDX-License-Identifier: MIT
#include "zs_class.h"

#include <string.h>

/* A zspage's pages are counted in bytes by 32 bits, its objects by 16. */
static_assert(ZS_MAX_CHAIN * UINT64_C(65536) / ZS_MIN_SIZE <= UINT16_MAX,
	      "objects of a zspage must fit their type");
static_assert(ZS_MAX_CLASSES <= UINT16_MAX, "classes must fit class_of[]");
static_assert(1u << (ZS_MAX_CHAINS - 1) == ZS_MAX_CHAIN,
	      "chains of the powers of two must fit class_of[]");

static bool is_power_of_two(uint32_t n)
{
	return !(n & (n - 1));
}

static uint32_t best_chain(uint32_t page_bytes, uint32_t size, uint32_t chain)
{
	uint32_t best = 1;

	if (is_power_of_two(size))
		return 1;
	for (uint32_t i = 2; i <= chain; i++)
		if (i * page_bytes % size < best * page_bytes % size)
			best = i;
	return best;
}

static struct zs_class_size raw_class(const struct zs_class_table *table,
				      uint32_t i, uint32_t chain)
{
	struct zs_class_size raw;

	raw.bytes = ZS_MIN_SIZE + (i << table->step_shift);
	if (raw.bytes > table->page_bytes)
		raw.bytes = table->page_bytes;
	raw.pages = (uint16_t)best_chain(table->page_bytes, raw.bytes, chain);
	raw.objects = (uint16_t)(raw.pages * table->page_bytes / raw.bytes);
	return raw;
}

static bool is_same(struct zs_class_size a, struct zs_class_size b)
{
	return a.bytes == b.bytes && a.pages == b.pages;
}

/* Adds a class, unless another chain has it already. */
static void add_class(struct zs_class_table *table, struct zs_class_size size)
{
	uint32_t i = table->nr_classes;

	for (uint32_t c = 0; c < table->nr_classes; c++)
		if (is_same(table->classes[c], size))
			return;
	zswap_assert(i < ZS_MAX_CLASSES);
	for (; i && (table->classes[i - 1].bytes > size.bytes ||
		     (table->classes[i - 1].bytes == size.bytes &&
		      table->classes[i - 1].pages > size.pages));
	     i--)
		table->classes[i] = table->classes[i - 1];
	table->classes[i] = size;
	table->nr_classes++;
}

/* Merging looks at the class of the next larger size, so it goes downwards. */
static void merge_classes(const struct zs_class_table *table, uint32_t chain,
			  struct zs_class_size *merged)
{
	for (uint32_t i = table->nr_raw; i--;) {
		struct zs_class_size raw = raw_class(table, i, chain);
		struct zs_class_size *next = &merged[i + 1];

		if (i + 1 < table->nr_raw && next->pages == raw.pages &&
		    next->objects == raw.objects)
			raw = *next;
		merged[i] = raw;
	}
}

/* Finds a chain's classes among all, both in ascending order. */
static void number_classes(const struct zs_class_table *table,
			   const struct zs_class_size *merged,
			   uint16_t *class_of)
{
	uint16_t c = 0;

	for (uint32_t i = 0; i < table->nr_raw; i++) {
		while (!is_same(table->classes[c], merged[i]))
			c++;
		class_of[i] = c;
	}
}

/* Which chains there are: powers of two below the longest, and that. */
static uint32_t chain_at(uint32_t c, uint32_t nr_chains, uint32_t longest)
{
	return c + 1 < nr_chains ? 1u << c : longest;
}

static uint32_t nr_chains_of(uint32_t longest, bool adaptive)
{
	uint32_t nr = 1;

	while (adaptive && 1u << (nr - 1) < longest)
		nr++;
	return nr;
}

void zs_class_table_init(struct zs_class_table *table, uint32_t page_bytes,
			 uint32_t chain, bool adaptive)
{
	struct zs_class_size merged[ZS_MAX_CHAINS][ZS_MAX_RAW];
	uint32_t nr_chains = nr_chains_of(chain, adaptive);

	memset(table, 0, sizeof(*table));
	table->page_bytes = page_bytes;
	table->step_shift = (uint32_t)__builtin_ctz(page_bytes) - 8;
	table->nr_raw =
		((page_bytes - ZS_MIN_SIZE - 1) >> table->step_shift) + 2;
	table->nr_chains = nr_chains;
	for (uint32_t c = 0; c < nr_chains; c++) {
		merge_classes(table, chain_at(c, nr_chains, chain), merged[c]);
		for (uint32_t i = 0; i < table->nr_raw; i++)
			if (!i || !is_same(merged[c][i], merged[c][i - 1]))
				add_class(table, merged[c][i]);
	}
	for (uint32_t c = 0; c < nr_chains; c++)
		number_classes(table, merged[c], table->class_of[c]);
	/* The last class is the huge one; what does not fit the one before. */
	table->huge_bytes = 1;
	for (uint32_t i = table->nr_raw; i-- && table->huge_bytes == 1;)
		if (merged[nr_chains - 1][i].objects > 1 ||
		    merged[nr_chains - 1][i].pages > 1)
			table->huge_bytes = merged[nr_chains - 1][i].bytes -
					    ZS_HEADER_BYTES + 1;
}
