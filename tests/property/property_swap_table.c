// SPDX-License-Identifier: MIT
/*
 * property_swap_table.c - slots keep their words, tables exist where needed
 *
 * The model is an array of words for a few windows of an area: stretches of
 * slots at its start, at its end, and on borders between nodes.
 */
#include "property.h"

#include <errno.h>
#include <string.h>

#include "faulty.h"
#include "swap_table.h"

#define NR_AREAS 3
#define NR_WINDOWS 5
#define WINDOW 1536 /* slots: three clusters or four */
#define MAX_SPAN 600

struct window {
	uint64_t first;
	unsigned nr;
	uint64_t words[WINDOW];
	uint8_t holds[WINDOW / CLUSTER_SLOTS + 1]; /* by cluster */
};

struct area_model {
	struct area *area; /* NULL: off */
	unsigned type;
	struct window windows[NR_WINDOWS];
};

struct model {
	struct faulty hooks;
	struct mem mem;
	struct swap_table table;
	struct area_model areas[NR_AREAS];
};

static struct cluster *cluster_at(struct area_model *a, uint64_t offset)
{
	return area_cluster(a->area, offset);
}

/* ---- operations ---------------------------------------------------------- */

static void drop_words(void *arg, struct cluster *cluster)
{
	struct model *m = arg;

	lock_take(&cluster->lock);
	for (unsigned i = 0; i < CLUSTER_SLOTS; i++)
		cluster_set_word(cluster, i, 0);
	CHECK(cluster->nr_words == 0);
	cluster_unlock(&m->table, cluster);
}

/* Windows that do not touch: each border of nodes has at most one. */
static void place_windows(struct area_model *a, uint64_t nr_slots,
			  struct rng *rng)
{
	uint64_t starts[NR_WINDOWS] = { 0, UINT64_C(1) << 17, UINT64_C(1) << 25,
					UINT64_C(1) << 33, nr_slots };

	for (unsigned w = 0; w < NR_WINDOWS; w++) {
		struct window *window = &a->windows[w];
		uint64_t at = starts[w];

		memset(window, 0, sizeof(*window));
		if (w == NR_WINDOWS - 1)
			at = nr_slots - (nr_slots < WINDOW ? nr_slots : WINDOW);
		else if (w)
			at -= rng_below(rng, WINDOW);
		window->first = at;
		window->nr =
			at < nr_slots && nr_slots - at >= WINDOW ? WINDOW : 0;
		for (unsigned o = 0; o < w; o++) /* the last may be another */
			if (a->windows[o].nr &&
			    a->windows[o].first + 2 * WINDOW > at)
				window->nr = 0;
	}
}

static void switch_on(struct model *m, struct area_model *a, struct rng *rng)
{
	uint64_t nr_slots = UINT64_C(1) << (11 + rng_below(rng, 38));
	int err;

	nr_slots -= rng_below(rng, 200);
	err = swap_table_on(&m->table, a->type, nr_slots);
	if (err) {
		CHECK(err == -ENOMEM && m->hooks.failed);
		return;
	}
	CHECK(swap_table_on(&m->table, a->type, nr_slots) == -EEXIST);
	a->area = area_enter(&m->table, a->type);
	CHECK(a->area && a->area->nr_slots == nr_slots);
	area_leave(&m->table, a->area);
	place_windows(a, nr_slots, rng);
}

static void unhold(struct model *m, struct area_model *a, struct window *w,
		   unsigned c)
{
	struct cluster *cluster =
		cluster_at(a, w->first + c * (uint64_t)CLUSTER_SLOTS);

	CHECK(cluster);
	lock_take(&cluster->lock);
	cluster_unhold(cluster);
	cluster_unlock(&m->table, cluster);
	w->holds[c]--;
}

static void switch_off(struct model *m, struct area_model *a)
{
	for (unsigned i = 0; i < NR_WINDOWS; i++)
		for (unsigned c = 0; c < ARRAY_SIZE(a->windows[i].holds); c++)
			while (a->windows[i].holds[c])
				unhold(m, a, &a->windows[i], c);
	CHECK(swap_table_off(&m->table, a->type, drop_words, m) == 0);
	CHECK(!area_enter(&m->table, a->type));
	CHECK(swap_table_off(&m->table, a->type, drop_words, m) == -ENXIO);
	a->area = NULL;
}

/* Writes words of a run of slots, the way a store does, cluster by cluster. */
static void write_words(struct model *m, struct area_model *a, struct window *w,
			unsigned first, unsigned nr, struct rng *rng)
{
	for (unsigned i = first; i < first + nr;) {
		uint64_t offset = w->first + i;
		struct cluster *cluster =
			area_make_cluster(&m->table, a->area, offset);

		if (!cluster || cluster_hold(&m->table, cluster)) {
			CHECK(m->hooks.failed);
			return;
		}
		lock_take(&cluster->lock);
		do {
			w->words[i] = rng_below(rng, 4) ? rng_next(rng) : 0;
			cluster_set_word(cluster, slot_in_cluster(w->first + i),
					 w->words[i]);
		} while (++i < first + nr && slot_in_cluster(w->first + i));
		cluster_unhold(cluster);
		cluster_unlock(&m->table, cluster);
	}
}

/* Zeroes words, the way an invalidation does. */
static void clear_words(struct model *m, struct area_model *a, struct window *w,
			unsigned first, unsigned nr)
{
	uint64_t offset = w->first + first, end = offset + nr;
	struct cluster *cluster;

	while ((cluster = area_next_cluster(a->area, &offset, end))) {
		lock_take(&cluster->lock);
		do {
			if (cluster_word(cluster, slot_in_cluster(offset)))
				cluster_set_word(cluster,
						 slot_in_cluster(offset), 0);
			offset++;
		} while (offset < end && slot_in_cluster(offset));
		cluster_unlock(&m->table, cluster);
	}
	memset(&w->words[first], 0, nr * sizeof(w->words[0]));
}

static void hold_or_unhold(struct model *m, struct area_model *a,
			   struct window *w, struct rng *rng)
{
	unsigned c = rng_below(rng, WINDOW / CLUSTER_SLOTS);
	struct cluster *cluster;

	if (w->holds[c] && rng_below(rng, 2)) {
		unhold(m, a, w, c);
		return;
	}
	cluster = area_make_cluster(&m->table, a->area,
				    w->first + c * (uint64_t)CLUSTER_SLOTS);
	if (cluster && w->holds[c] < 3 && !cluster_hold(&m->table, cluster))
		w->holds[c]++;
}

/* ---- checks -------------------------------------------------------------- */

static bool has_hold(const struct window *w, uint64_t cluster_first)
{
	for (unsigned c = 0; c < ARRAY_SIZE(w->holds); c++)
		if (w->holds[c] && ((w->first + c * (uint64_t)CLUSTER_SLOTS) ^
				    cluster_first) < CLUSTER_SLOTS)
			return true;
	return false;
}

/* A cluster that a window touches, from the window's point of view. */
static void check_cluster(struct area_model *a, struct window *w,
			  uint64_t first, unsigned *nr_tables)
{
	struct cluster *cluster = cluster_at(a, first);
	bool needed = has_hold(w, first);

	if (cluster)
		lock_take(&cluster->lock);
	for (unsigned i = 0; i < CLUSTER_SLOTS; i++) {
		uint64_t at = first + i, expected = 0;

		if (at >= w->first && at < w->first + w->nr)
			expected = w->words[at - w->first];
		CHECK((cluster ? cluster_word(cluster, i) : 0) == expected);
		needed |= expected != 0;
	}
	CHECK(!cluster || cluster_check(cluster));
	CHECK(needed == (cluster && atomic_load(&cluster->words)));
	*nr_tables += needed;
	if (cluster)
		lock_give(&cluster->lock);
}

static void check_area(struct area_model *a)
{
	uint64_t offset = 0, last = 0;
	unsigned nr = 0, met = 0;

	for (unsigned i = 0; i < NR_WINDOWS; i++) {
		struct window *w = &a->windows[i];
		uint64_t at = w->first & ~(uint64_t)(CLUSTER_SLOTS - 1);

		for (; w->nr && at < w->first + w->nr; at += CLUSTER_SLOTS)
			check_cluster(a, w, at, &nr);
	}
	/* And there are no others. */
	while (area_next_cluster(a->area, &offset, a->area->nr_slots)) {
		CHECK(!met || offset > last);
		last = offset;
		met++;
		offset = (offset | (CLUSTER_SLOTS - 1)) + 1;
	}
	CHECK(met == nr);
}

static void check(struct model *m)
{
	unsigned type = 0;

	for (unsigned i = 0; i < NR_AREAS; i++)
		if (m->areas[i].area)
			check_area(&m->areas[i]);
	for (; swap_table_next_type(&m->table, &type); type++)
		CHECK(type == m->areas[0].type || type == m->areas[1].type ||
		      type == m->areas[2].type);
	CHECK(!m->hooks.misuse);
	CHECK(atomic_load(&m->mem.metadata_bytes) ==
	      m->hooks.alloc_bytes + m->mem.os_page);
}

/* ---- runs ---------------------------------------------------------------- */

static void step(struct model *m, struct area_model *a, struct rng *rng)
{
	struct window *w = &a->windows[rng_below(rng, NR_WINDOWS)];
	unsigned what = rng_below(rng, 100);
	unsigned nr = rng_below(rng, 4) ? 1 + rng_below(rng, 8) :
					  1 + rng_below(rng, MAX_SPAN);
	unsigned first = rng_below(rng, WINDOW - nr);

	if (!a->area)
		switch_on(m, a, rng);
	else if (what < 2)
		switch_off(m, a);
	else if (!w->nr)
		return;
	else if (what < 40)
		write_words(m, a, w, first, nr, rng);
	else if (what < 50)
		hold_or_unhold(m, a, w, rng);
	else if (what < 55)
		clear_words(m, a, w, 0, WINDOW);
	else
		clear_words(m, a, w, first, nr);
}

void property_run(struct rng *rng, unsigned steps)
{
	static const unsigned types[NR_AREAS] = { 0, 300, 65535 };
	static struct model m;

	memset(&m, 0, sizeof(m));
	faulty_init(&m.hooks);
	CHECK(mem_init(&m.mem, &m.hooks.hooks) == 0);
	swap_table_init(&m.table, &m.mem);
	for (unsigned i = 0; i < NR_AREAS; i++)
		m.areas[i].type = types[i];
	for (unsigned i = 0; i < steps; i++) {
		bool plan = rng_below(rng, 4) == 0;

		if (plan)
			faulty_fail_from(&m.hooks, FAULTY_ANY,
					 1 + rng_below(rng, 4));
		step(&m, &m.areas[rng_below(rng, NR_AREAS)], rng);
		faulty_fail_none(&m.hooks);
		m.hooks.failed = 0;
		check(&m);
	}
	for (unsigned i = 0; i < NR_AREAS; i++)
		if (m.areas[i].area)
			switch_off(&m, &m.areas[i]);
	swap_table_exit(&m.table);
	mem_exit(&m.mem);
	CHECK(faulty_end(&m.hooks));
}
