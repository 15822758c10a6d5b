// SPDX-License-Identifier: MIT
#include "zs_class.h"

#include <string.h>

/* A zspage's pages are counted in bytes by 32 bits, its objects by 16. */
static_assert(ZS_MAX_CHAIN * UINT64_C(65536) / ZS_MIN_SIZE <= UINT16_MAX,
	      "objects of a zspage must fit their type");
static_assert(ZS_MAX_CLASSES <= UINT16_MAX, "classes must fit class_of[]");

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

/* Merging looks at the class of the next larger size, so it goes downwards. */
static void merge_classes(struct zs_class_table *table, uint32_t chain)
{
	struct zs_class_size *last = NULL;
	uint32_t nr = 0;

	for (uint32_t i = table->nr_raw; i--;) {
		struct zs_class_size raw = raw_class(table, i, chain);

		if (!last || last->pages != raw.pages ||
		    last->objects != raw.objects) {
			last = &table->classes[nr++];
			*last = raw;
		}
		table->class_of[i] = (uint16_t)(nr - 1);
	}
	table->nr_classes = nr;
}

/* From descending to ascending order. */
static void turn_around(struct zs_class_table *table)
{
	uint32_t nr = table->nr_classes;

	for (uint32_t i = 0; i < nr / 2; i++) {
		struct zs_class_size tmp = table->classes[i];

		table->classes[i] = table->classes[nr - 1 - i];
		table->classes[nr - 1 - i] = tmp;
	}
	for (uint32_t i = 0; i < table->nr_raw; i++)
		table->class_of[i] = (uint16_t)(nr - 1 - table->class_of[i]);
}

void zs_class_table_init(struct zs_class_table *table, uint32_t page_bytes,
			 uint32_t chain)
{
	memset(table, 0, sizeof(*table));
	table->page_bytes = page_bytes;
	table->step_shift = (uint32_t)__builtin_ctz(page_bytes) - 8;
	table->nr_raw =
		((page_bytes - ZS_MIN_SIZE - 1) >> table->step_shift) + 2;
	merge_classes(table, chain);
	turn_around(table);
	/* The last class is the huge one; what does not fit the one before. */
	table->huge_bytes = table->classes[table->nr_classes - 2].bytes -
			    ZS_HEADER_BYTES + 1;
}
