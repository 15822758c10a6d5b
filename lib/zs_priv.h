/* SPDX-License-Identifier: MIT */
/*
 * zs_priv.h - a zspage's descriptor, for the allocator's files and its tests
 */
#ifndef ZSWAP_ZS_PRIV_H
#define ZSWAP_ZS_PRIV_H

#include "zs.h"

/* Bit 0 of an object's first word: allocated. */
#define ZS_ALLOCATED UINT64_C(1)
#define ZS_NO_OBJECT UINT32_MAX

/*
 * Free objects are listed by their offset in the zspage. Those from `fresh` on
 * were never handed out and hold no link yet; they follow the listed ones, in
 * ascending order, which is the order of the kernel's list.
 *
 * Of a zspage's memory only the headers and the payloads of objects in use are
 * allowed (see poison.h), as long as they were asked for: what lies behind a
 * payload in its object is forbidden. The class's lock is held when this
 * changes, but for a zspage that is not in the class's lists yet.
 *
 * Invariants: in_use + listed + (end - fresh) / size == objects;
 * low <= in_use <= high are the numbers that belong to the group.
 */
struct zspage {
	struct list node; /* on class->groups[group] */
	char *base;
	zs_cell *huge_cell;
	struct zs_class *class;
	uint32_t first_free; /* offset, or ZS_NO_OBJECT */
	uint32_t fresh;      /* offset */
	uint16_t in_use;
	uint16_t low, high;
	uint8_t group;
};

/* The fullness group of a zspage with `used` of `objects` in use. */
static inline unsigned zs_fullness(unsigned used, unsigned objects)
{
	if (!used)
		return 0;
	if (used == objects)
		return ZS_FULL;
	return 100 * used / objects / 10 + 1;
}

#endif /* ZSWAP_ZS_PRIV_H */
