// SPDX-License-Identifier: MIT
#include "zs_choice.h"

/* Costs are in bytes of an object times this, to compare them exactly. */
#define SCALE 256

static void find_sizes(const uint16_t *class_of, uint32_t nr_raw,
		       struct zs_raw_range *sizes)
{
	struct zs_raw_range range = { 0, 0 };

	while (range.end < nr_raw) {
		range.first = range.end;
		while (range.end < nr_raw &&
		       class_of[range.end] == class_of[range.first])
			range.end++;
		for (uint32_t i = range.first; i < range.end; i++)
			sizes[i] = range;
	}
}

void zs_choice_init(struct zs_choice *choice,
		    const struct zs_class_table *table)
{
	choice->table = table;
	for (uint32_t c = 0; c < table->nr_chains; c++)
		find_sizes(table->class_of[c], table->nr_raw, choice->sizes[c]);
	for (uint32_t i = 0; i < table->nr_raw; i++) {
		atomic_init(&choice->objects[i], 0);
		atomic_init(&choice->class_of[i],
			    (uint16_t)zs_exact_class(table, i));
	}
}

/* Objects of the sizes that a chain's class of this raw index serves. */
static uint64_t population(struct zs_choice *choice, uint32_t chain,
			   unsigned raw)
{
	struct zs_raw_range sizes = choice->sizes[chain][raw];
	uint64_t n = 0;

	for (unsigned i = sizes.first; i < sizes.end; i++)
		n += atomic_load_explicit(&choice->objects[i],
					  memory_order_relaxed);
	return n;
}

/* What an object of a chain's class would cost, in bytes times SCALE. */
static uint64_t cost_of(struct zs_choice *choice, uint32_t chain, unsigned raw)
{
	const struct zs_class_table *table = choice->table;
	const struct zs_class_size *size =
		&table->classes[table->class_of[chain][raw]];
	uint64_t zspage = (uint64_t)size->pages * table->page_bytes * SCALE;
	uint64_t objects = population(choice, chain, raw) + ZS_CHOICE_MORE;

	return zspage / size->objects + zspage / ZS_CHOICE_EMPTY / objects;
}

struct zs_chosen zs_choose(struct zs_choice *choice, unsigned raw)
{
	const struct zs_class_table *table = choice->table;
	struct zs_chosen best = { zs_exact_class(table, raw), 0 };
	uint32_t exact = table->nr_chains - 1;
	uint64_t least = cost_of(choice, exact, raw);

	for (uint32_t c = exact; c--;) {
		unsigned class = table->class_of[c][raw];
		uint64_t cost = cost_of(choice, c, raw);

		if (cost < least && table->classes[class].objects > 1) {
			least = cost;
			best.class = class;
		}
	}
	best.lend_bytes = (uint32_t)(least / SCALE);
	atomic_store_explicit(&choice->class_of[raw], (uint16_t)best.class,
			      memory_order_relaxed);
	return best;
}
