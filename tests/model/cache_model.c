// SPDX-License-Identifier: MIT
/*
 * cache_model.c - what a cache must hold and count, as plain arrays
 */
#include "cache_model.h"

#include <errno.h>
#include <string.h>

#include "palette.h"

/* At an area's end, over a border of leaves, and at the very last slot. */
static void place_windows(struct model *m)
{
	static const uint64_t last = UINT64_C(1) << 48;
	struct model_area *a = m->areas;
	unsigned half = m->window / 2;

	a[0].type = 0;
	a[0].nr_slots = 6 * 512 + half;
	a[0].first = a[0].nr_slots - m->window;
	a[1].type = 257;
	a[1].nr_slots = last;
	a[1].first = (UINT64_C(1) << 33) - half;
	a[2].type = 65535;
	a[2].nr_slots = last - 1;
	a[2].first = a[2].nr_slots - m->window;
}

void model_reset(struct model *m, unsigned window)
{
	memset(m, 0, sizeof(*m));
	m->window = window;
	m->enabled = true;
	place_windows(m);
}

/* ---- pages on their way in ----------------------------------------------- */

static void make_one(const struct model *m, struct model_page *page, int fault,
		     uint32_t min_bytes)
{
	uint32_t len = engine_length(m->engine, m->page_size, page->slot.page);

	if (len < min_bytes)
		len = min_bytes;
	page->fault = fault;
	if (!fault && len >= m->huge_bytes)
		page->fault = -E2BIG;
	page->slot.state = page->fault ? ZSWAP_RAW : ZSWAP_STORED;
	page->slot.bytes = page->fault ? m->page_size : len;
}

/*
 * A fault falls on the first pages that are compressed, or on each whole
 * request with one of these.
 */
static bool falls_on(const struct model *m, const struct model_fault *fault,
		     unsigned nth)
{
	unsigned in_batch = nth % m->batch;

	if (!fault->fault)
		return false;
	if (fault->whole_request)
		nth -= in_batch % m->request;
	return nth < fault->nr;
}

void model_make(const struct model *m, struct model_page *pages, unsigned nr,
		const struct model_fault *fault, uint32_t min_bytes)
{
	unsigned nr_compressed = 0;

	for (unsigned i = 0; i < nr; i++) {
		struct model_page *page = &pages[i];

		page->slot.engine = (uint8_t)m->engine;
		if (palette_is_filled(page->slot.page)) {
			page->slot.state = ZSWAP_FILLED;
			page->slot.bytes = 0;
			page->fault = 0;
			continue;
		}
		make_one(m, page,
			 falls_on(m, fault, nr_compressed) ? fault->fault : 0,
			 min_bytes);
		nr_compressed++;
	}
}

/* The first batch with a page that is refused ends the store. */
int model_verdict(const struct model *m, const struct model_page *pages,
		  unsigned nr, int *results)
{
	unsigned in_batch = 0;
	int verdict = 0;

	for (unsigned i = 0; i < nr; i++)
		results[i] = -ECANCELED;
	for (unsigned i = 0; i < nr && !m->keeps_raw; i++) {
		if (pages[i].slot.state == ZSWAP_FILLED)
			continue;
		if (in_batch == m->batch) {
			if (verdict)
				break;
			in_batch = 0;
		}
		in_batch++;
		if (!pages[i].fault)
			continue;
		results[i] = pages[i].fault;
		if (!verdict)
			verdict = pages[i].fault;
	}
	if (!verdict)
		memset(results, 0, nr * sizeof(*results));
	return verdict;
}

/* ---- slots --------------------------------------------------------------- */

unsigned model_pools(const struct model *m)
{
	unsigned n = 0;

	for (unsigned e = 0; e < MAX_ENGINES; e++)
		n += e == m->engine || m->objects[e];
	return n;
}

unsigned model_present(const struct model_slot *slots, unsigned nr)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nr; i++)
		n += slots[i].state != ZSWAP_ABSENT;
	return n;
}

/* Adds a slot to the gauges, or with sign -1 takes it from them. */
static void account(struct model *m, const struct model_slot *slot, int sign)
{
	uint64_t one = (uint64_t)(int64_t)sign;

	if (slot->state == ZSWAP_ABSENT)
		return;
	m->counts.stored_pages += one;
	m->counts.compressed_bytes += one * slot->bytes;
	if (slot->state == ZSWAP_FILLED) {
		m->counts.same_filled_pages += one;
		return;
	}
	m->counts.stored_incompressible_pages +=
		slot->state == ZSWAP_RAW ? one : 0;
	m->counts.original_bytes += one * m->page_size;
	m->objects[slot->engine] += (unsigned)sign;
	m->freed += sign < 0;
}

void model_set(struct model *m, struct model_area *a, unsigned first,
	       const struct model_slot *slots, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		account(m, &a->slots[first + i], -1);
		a->slots[first + i] = slots[i];
		account(m, &a->slots[first + i], 1);
	}
}

void model_clear(struct model *m, struct model_area *a, unsigned first,
		 unsigned nr)
{
	static const struct model_slot absent;

	for (unsigned i = 0; i < nr; i++)
		model_set(m, a, first + i, &absent, 1);
}

uint64_t model_percent_of(uint64_t n, unsigned percent)
{
	return n / 100 * percent + n % 100 * percent / 100;
}

uint64_t model_threshold_bytes(const struct model *m)
{
	if (m->max_bytes == ZSWAP_UNLIMITED)
		return ZSWAP_UNLIMITED;
	return model_percent_of(m->max_bytes, m->threshold_percent);
}
