/* SPDX-License-Identifier: MIT */
/*
 * zs_pin.h - keeps an object's readers and its mover out of each other's way
 *
 * Who owns a cell has beside it a word, refs, that is the value `rest` while
 * the object lies still and nobody uses it. Each user adds a pin of its own to
 * it; who moves the object sets the bit `moving`:
 *
 *	user                                  mover, under the class's lock
 *	add a pin (acquire)                   rest -> rest | moving (acquire),
 *	wait while `moving` is set              or leave the object
 *	read the cell, use the object         store the new place in the cell
 *	take the pin off (release)            clear `moving` (release)
 *
 * So a user that is inside keeps the object where it is, and one that comes
 * later finds it at its new place, with all that was written at the old one.
 * No object is ever used and moved at the same time: the pin and the bit are in
 * one word.
 */
#ifndef ZSWAP_ZS_PIN_H
#define ZSWAP_ZS_PIN_H

#include "zs.h"

/* False when the object is in use. */
static inline bool zs_begin_move(_Atomic uint32_t *refs, uint32_t rest,
				 uint32_t moving)
{
	return atomic_compare_exchange_strong_explicit(
		refs, &rest, rest | moving, memory_order_acquire,
		memory_order_relaxed);
}

static inline void zs_end_move(_Atomic uint32_t *refs, uint32_t moving,
			       zs_cell *cell, uint64_t place)
{
	atomic_store_explicit(cell, place, memory_order_relaxed);
	atomic_fetch_and_explicit(refs, ~moving, memory_order_release);
}

/*
 * Waits for a move that had begun when the object was pinned; none begins while
 * there is a pin. It takes a microsecond at most, unless the mover does not run.
 */
#define ZS_MOVE_SPINS 1000

static inline void zs_wait_for_move(_Atomic uint32_t *refs, uint32_t moving)
{
	unsigned spins = 0, round = 0;

	while (unlikely(atomic_load_explicit(refs, memory_order_acquire) &
			moving))
		if (++spins > ZS_MOVE_SPINS)
			wait_a_moment(&round);
}

#endif /* ZSWAP_ZS_PIN_H */
