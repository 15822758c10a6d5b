// SPDX-License-Identifier: MIT
/*
 * broken.c - a fault for the driver to find
 *
 * Linked with --wrap=zswap_invalidate: some invalidations forget their last
 * slot.
 */
#include <zswap/zswap.h>

void __real_zswap_invalidate(struct zswap *z, zswap_slot_t slot,
			     uint64_t nr_slots);
void __wrap_zswap_invalidate(struct zswap *z, zswap_slot_t slot,
			     uint64_t nr_slots);

void __wrap_zswap_invalidate(struct zswap *z, zswap_slot_t slot,
			     uint64_t nr_slots)
{
	if (nr_slots > 3 && nr_slots < 20)
		nr_slots--;
	__real_zswap_invalidate(z, slot, nr_slots);
}
