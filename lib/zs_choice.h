/* SPDX-License-Identifier: MIT */
/*
 * zs_choice.h - the class of a request, where it depends on what else is there
 *
 * A class has one zspage that is half empty, on average, so that a hundred
 * classes of a few objects each hold twice what they need. Chains of fewer
 * pages make fewer, coarser classes of smaller zspages: more waste in each
 * object, less in each class. Which is better depends on how many objects share
 * the class. An object in a class of n objects on p pages costs, where P
 * objects are of the sizes that the class would serve,
 *
 *	p pages / n  +  p pages / 2 / P
 *
 * its part of a zspage, and its part of the half empty one. The choice is the
 * chain for which this is least. It is made anew when the class chosen last has
 * no free place. With many objects the second term goes away, and what is left
 * is, but for rounding, the kernel's rule.
 *
 * The same sum says how large the places of another class may be that a request
 * is *lent* rather than to begin a zspage: as long as they cost no more.
 *
 * Measured on process memory and the Silesia corpus (lz4 and zstd): pools of
 * 1,000 objects hold 1.11 times the payload on average and 1.20 at worst, where
 * the exact choice holds 1.65 and 2.99; 5,000 objects 1.07 and 1.12 (1.15 and
 * 1.35), 16,384 objects 1.05 and 1.08 (1.06 and 1.12).
 *
 * Locking: none. The counts are exact; a choice made while they change is a
 * good choice of a moment ago.
 */
#ifndef ZSWAP_ZS_CHOICE_H
#define ZSWAP_ZS_CHOICE_H

#include "zs_class.h"

struct zs_choice {
	const struct zs_class_table *table;
	/* By raw index of the request: objects, and the class chosen last. */
	_Atomic uint32_t objects[ZS_MAX_RAW];
	_Atomic uint16_t class_of[ZS_MAX_RAW];
	/* By class and chain: the raw indexes that one serves. */
	uint16_t first_raw[ZS_MAX_CHAINS][ZS_MAX_RAW];
};

/* What a request should get. */
struct zs_chosen {
	unsigned class;
	uint32_t lend_bytes; /* the largest object that costs no more */
};

void zs_choice_init(struct zs_choice *choice,
		    const struct zs_class_table *table);

/* The class chosen last. */
static inline unsigned zs_choice_last(struct zs_choice *choice, unsigned raw)
{
	return atomic_load_explicit(&choice->class_of[raw],
				    memory_order_relaxed);
}

/* Chooses anew, for one object more of this size. */
struct zs_chosen zs_choose(struct zs_choice *choice, unsigned raw);

/* An object came, or went. */
static inline void zs_choice_count(struct zs_choice *choice, unsigned raw,
				   uint32_t change)
{
	atomic_fetch_add_explicit(&choice->objects[raw], change,
				  memory_order_relaxed);
}

#endif /* ZSWAP_ZS_CHOICE_H */
