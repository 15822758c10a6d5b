/* SPDX-License-Identifier: MIT */
/*
 * limit.h - whether the cache is full
 *
 * The measure is what all pools really hold, mem->held, at the moment of the
 * question; nothing is kept here that could drift from it. Between the limit
 * and a threshold below it the answer depends on where it came from:
 *
 *	held   0 ........... threshold ............ limit ........
 *	       accepts    |  full: refuses        |  is full
 *	                  |  not full: accepts    |  from here on
 *
 * The limit itself is mem->held_max_bytes, for the spans hold to it as well: no
 * new zspage may pass it by more than a store batch.
 *
 * Locking: limit->lock makes a setter's changes one; a leaf. Questions take no
 * lock: one that runs beside a setter may see the new limit with the old
 * threshold, which is the answer of a moment between two setters.
 *
 * Origin: the check of Linux mm/zswap.c, in bytes instead of pages.
 */
#ifndef ZSWAP_LIMIT_H
#define ZSWAP_LIMIT_H

#include "mem.h"

struct limit {
	struct mem *mem;
	uint32_t page_bytes;
	struct lock lock;
	unsigned threshold_percent; /* guarded by lock */
	_Atomic uint64_t threshold_bytes;
	_Atomic bool full;
};

struct limit_values {
	uint64_t max_bytes;
	uint64_t threshold_bytes;
};

/* Without a limit, and with a threshold of 90 percent. */
void limit_init(struct limit *limit, struct mem *mem, uint32_t page_bytes);

/* ZSWAP_UNLIMITED is none. */
void limit_set_bytes(struct limit *limit, uint64_t bytes);
/* A share, 0..100, of base_bytes. */
void limit_set_percent(struct limit *limit, unsigned percent,
		       uint64_t base_bytes);
void limit_set_threshold(struct limit *limit, unsigned percent);

/* Both, as the last setter has left them. */
struct limit_values limit_values(struct limit *limit);

enum limit_answer {
	LIMIT_ACCEPTS,
	LIMIT_STILL_FULL, /* between threshold and limit */
	LIMIT_REACHED,    /* as much as the limit, or more */
};

enum limit_answer limit_check(struct limit *limit);
/* The allocator has found no room: the cache is full from now on. */
void limit_was_reached(struct limit *limit);

/* Nothing at all is stored at 0. */
static inline bool limit_is_zero(const struct limit *limit)
{
	return !atomic_load_explicit(&limit->mem->held_max_bytes,
				     memory_order_relaxed);
}

/* What is held, as far as it counts against the limit. */
static inline uint64_t limit_held_bytes(const struct limit *limit)
{
	return mem_limited_granules(mem_held(limit->mem)) * limit->page_bytes;
}

/* percent of n, rounded down, for any n. */
static inline uint64_t percent_of(uint64_t n, unsigned percent)
{
	return n / 100 * percent + n % 100 * percent / 100;
}

#endif /* ZSWAP_LIMIT_H */
