/* SPDX-License-Identifier: MIT */
/*
 * zs_choice.h - the class of a request, where it depends on what else is there
 *
 * A class has one zspage that is partly empty, so that a hundred classes of a
 * few objects each hold twice what they need. Chains of fewer pages make fewer,
 * coarser classes of smaller zspages: more waste in each object, less in each
 * class. Which is better depends on how many objects share the class. An object
 * in a class of n objects on p pages costs, where P objects are of the sizes
 * that the class would serve,
 *
 *	p pages / n  +  p pages / 6 / (P + 5)
 *
 * its part of a zspage, and its part of what is empty. The choice is the chain
 * for which this is least, but never a whole page where the exact choice shares
 * one. It is made anew when the class chosen last has no free place. With many
 * objects the second term goes away, and what is left is the kernel's rule.
 *
 * That term is smaller than half a zspage for P objects, which is right for a
 * pool that stays as it is: most grow, and what was put in a coarse class stays
 * there. With a half and no 5, pools of 100 objects hold a tenth less, and
 * those of silesia-osdb 1 % more than with the kernel's choice.
 *
 * The same sum says how large the places of another class may be that a request
 * is *lent* rather than to begin a zspage: as long as they cost no more.
 *
 * Measured on process memory and the Silesia corpus (12 files, lz4 and zstd
 * level 1, in order and at random), held beside the payload, and in brackets
 * with the exact choice: at 1,000 objects 1.12 on average and 1.26 at worst
 * (1.64, 2.99), at 5,000 1.07 and 1.12 (1.15, 1.36), at 16,384 1.05 and 1.09
 * (1.06, 1.12); from 65,536 on they are the same within 0.4 %.
 *
 * Locking: none. The counts are exact; a choice made while they change is a
 * good choice of a moment ago.
 */
#ifndef ZSWAP_ZS_CHOICE_H
#define ZSWAP_ZS_CHOICE_H

#include "zs_class.h"

/* The second term: this part of a zspage, for as many objects more. */
#define ZS_CHOICE_EMPTY 6
#define ZS_CHOICE_MORE 5

struct zs_raw_range {
	uint16_t first, end;
};

struct zs_choice {
	const struct zs_class_table *table;
	/* By raw index of the request: objects, and the class chosen last. */
	_Atomic uint32_t objects[ZS_MAX_RAW];
	_Atomic uint16_t class_of[ZS_MAX_RAW];
	/* By chain and raw index: the sizes that share its class there. */
	struct zs_raw_range sizes[ZS_MAX_CHAINS][ZS_MAX_RAW];
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
