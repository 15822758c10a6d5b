// SPDX-License-Identifier: MIT
#include "limit.h"

#define NORMAL_THRESHOLD_PERCENT 90

/* Sets a limit, 0 to none, with the threshold that belongs to it. */
static void set_max(struct limit *limit, uint64_t bytes)
{
	uint64_t threshold = percent_of(bytes, limit->threshold_percent);

	lock_assert_held(&limit->lock);
	if (bytes == ZSWAP_UNLIMITED)
		threshold = ZSWAP_UNLIMITED;
	atomic_store_explicit(&limit->mem->held_max_bytes, bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&limit->threshold_bytes, threshold,
			      memory_order_relaxed);
}

static uint64_t max_bytes(const struct limit *limit)
{
	return atomic_load_explicit(&limit->mem->held_max_bytes,
				    memory_order_relaxed);
}

void limit_init(struct limit *limit, struct mem *mem, uint32_t page_bytes)
{
	limit->mem = mem;
	limit->page_bytes = page_bytes;
	limit->threshold_percent = NORMAL_THRESHOLD_PERCENT;
	atomic_init(&limit->full, false);
	limit_set_bytes(limit, ZSWAP_UNLIMITED);
}

void limit_set_bytes(struct limit *limit, uint64_t bytes)
{
	lock_take(&limit->lock);
	set_max(limit, bytes);
	lock_give(&limit->lock);
}

/* In whole pages, as in the kernel: 20 percent of 1003 pages are 200. */
void limit_set_percent(struct limit *limit, unsigned percent,
		       uint64_t base_bytes)
{
	uint64_t pages = percent_of(base_bytes / limit->page_bytes, percent);

	limit_set_bytes(limit, pages * limit->page_bytes);
}

void limit_set_threshold(struct limit *limit, unsigned percent)
{
	lock_take(&limit->lock);
	limit->threshold_percent = percent;
	set_max(limit, max_bytes(limit));
	lock_give(&limit->lock);
}

struct limit_values limit_values(struct limit *limit)
{
	struct limit_values values;

	lock_take(&limit->lock);
	values.max_bytes = max_bytes(limit);
	values.threshold_bytes = atomic_load_explicit(&limit->threshold_bytes,
						      memory_order_relaxed);
	lock_give(&limit->lock);
	return values;
}

enum limit_answer limit_check(struct limit *limit)
{
	uint64_t held = limit_held_bytes(limit);

	if (unlikely(held >= max_bytes(limit))) {
		limit_was_reached(limit);
		return LIMIT_REACHED;
	}
	if (likely(!atomic_load_explicit(&limit->full, memory_order_relaxed)))
		return LIMIT_ACCEPTS;
	if (held >
	    atomic_load_explicit(&limit->threshold_bytes, memory_order_relaxed))
		return LIMIT_STILL_FULL;
	atomic_store_explicit(&limit->full, false, memory_order_relaxed);
	return LIMIT_ACCEPTS;
}

void limit_was_reached(struct limit *limit)
{
	atomic_store_explicit(&limit->full, true, memory_order_relaxed);
}
