// SPDX-License-Identifier: MIT
#include "zs_choice.h"

/* Costs are in bytes of an object, times this, to compare them exactly enough. */
#define SCALE 256

void zs_choice_init(struct zs_choice *choice,
		    const struct zs_class_table *table)
{
	choice->table = table;
	for (uint32_t c = 0; c < table->nr_chains; c++) {
		const uint16_t *class_of = table->class_of[c];
		uint16_t first = 0;

		for (uint16_t i = 0; i < table->nr_raw; i++) {
			if (class_of[i] != class_of[first])
				first = i;
			choice->first_raw[c][i] = first;
		}
	}
	for (uint32_t i = 0; i < table->nr_raw; i++) {
		atomic_init(&choice->objects[i], 0);
		atomic_init(&choice->class_of[i], table->class_of[0][i]);
	}
}

/* Objects of the sizes that a chain's class of this raw index serves. */
static uint64_t population(struct zs_choice *choice, uint32_t chain,
			   unsigned raw)
{
	const uint16_t *first_raw = choice->first_raw[chain];
	uint64_t n = 0;

	for (unsigned i = first_raw[raw];
	     i < choice->table->nr_raw && first_raw[i] == first_raw[raw]; i++)
		n += atomic_load_explicit(&choice->objects[i],
					  memory_order_relaxed);
	return n;
}

struct zs_chosen zs_choose(struct zs_choice *choice, unsigned raw)
{
	const struct zs_class_table *table = choice->table;
	struct zs_chosen best = { 0, 0 };
	uint64_t least = UINT64_MAX;

	for (uint32_t c = 0; c < table->nr_chains; c++) {
		unsigned class = table->class_of[c][raw];
		const struct zs_class_size *size = &table->classes[class];
		uint64_t zspage = (uint64_t)size->pages * table->page_bytes;
		uint64_t cost =
			SCALE * zspage / size->objects +
			SCALE / 2 * zspage / (population(choice, c, raw) + 1);

		if (cost < least) {
			least = cost;
			best.class = class;
		}
	}
	best.lend_bytes = (uint32_t)(least / SCALE);
	atomic_store_explicit(&choice->class_of[raw], (uint16_t)best.class,
			      memory_order_relaxed);
	return best;
}
