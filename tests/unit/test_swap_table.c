// SPDX-License-Identifier: MIT
/*
 * test_swap_table.c - areas come and go; slots of any offset keep their words
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "halt.h"
#include "random.h"
#include "swap_table.h"
#include "threads.h"
#include "watchdog.h"

#define BIT(n) (UINT64_C(1) << (n))
#define TABLE_BYTES (CLUSTER_SLOTS * 8)

/* Both sides of every border between nodes. */
static const uint64_t far_apart[] = {
	0,           511,           512,         BIT(17) - 1, BIT(17),
	BIT(25) - 1, BIT(25),       BIT(33) - 1, BIT(33),     BIT(41) - 1,
	BIT(41),     BIT(48) - 512, BIT(48) - 1,
};

static struct swap_table *table_new(struct mem *mem)
{
	struct swap_table *table = malloc(sizeof(*table));

	assert_non_null(table);
	swap_table_init(table, mem);
	return table;
}

/* Makes the words 0, as the owner of the words must. */
static void drop_words(void *arg, struct cluster *cluster)
{
	struct swap_table *table = arg;

	lock_take(&cluster->lock);
	for (unsigned i = 0; i < CLUSTER_SLOTS; i++)
		cluster_set_word(cluster, i, 0);
	cluster_unlock(table, cluster);
}

static void off(struct swap_table *table, unsigned type)
{
	assert_int_equal(swap_table_off(table, type, drop_words, table), 0);
}

static void table_end(struct swap_table *table)
{
	unsigned type = 0;

	for (; swap_table_next_type(table, &type); type++)
		swap_table_off(table, type, drop_words, table);
	swap_table_exit(table);
	free(table);
}

static struct area *on(struct swap_table *table, unsigned type, uint64_t nr)
{
	struct area *area;

	assert_int_equal(swap_table_on(table, type, nr), 0);
	area = area_enter(table, type);
	assert_non_null(area);
	area_leave(table, area);
	return area; /* it stays until a case ends it */
}

/* As a store does it. */
static int set_word(struct swap_table *table, struct area *area,
		    uint64_t offset, uint64_t word)
{
	struct cluster *cluster = area_make_cluster(table, area, offset);

	if (!cluster || cluster_hold(table, cluster))
		return -ENOMEM;
	lock_take(&cluster->lock);
	cluster_set_word(cluster, slot_in_cluster(offset), word);
	cluster_unhold(cluster);
	CHECK(cluster_check(cluster) || !cluster->nr_words);
	cluster_unlock(table, cluster);
	return 0;
}

static uint64_t get_word(struct area *area, uint64_t offset)
{
	struct cluster *cluster = area_cluster(area, offset);
	uint64_t word;

	if (!cluster)
		return 0;
	lock_take(&cluster->lock);
	word = cluster_word(cluster, slot_in_cluster(offset));
	CHECK(cluster_check(cluster));
	lock_give(&cluster->lock);
	return word;
}

/* ---- areas --------------------------------------------------------------- */

static void areas_come_and_go(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	static const unsigned types[] = { 0, 1, 255, 256, 65535 };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		assert_null(area_enter(table, types[i]));
		assert_int_equal(
			swap_table_off(table, types[i], drop_words, table),
			-ENXIO);
		on(table, types[i], 1000 + i);
		assert_int_equal(swap_table_on(table, types[i], 5), -EEXIST);
	}
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct area *area = area_enter(table, types[i]);

		assert_non_null(area);
		assert_int_equal(area->nr_slots, 1000 + i);
		area_leave(table, area);
		off(table, types[i]);
		assert_null(area_enter(table, types[i]));
	}
	table_end(table);
}

static void types_are_walked_in_order(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	static const unsigned types[] = { 3, 4, 255, 256, 1000, 65535 };
	unsigned type = 0;

	assert_false(swap_table_next_type(table, &type));
	for (size_t i = ARRAY_SIZE(types); i--;)
		on(table, types[i], 1);
	type = 0;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++, type++) {
		assert_true(swap_table_next_type(table, &type));
		assert_int_equal(type, types[i]);
	}
	assert_false(swap_table_next_type(table, &type));
	table_end(table);
}

static void D09_an_area_that_comes_again_is_empty(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	size_t first = 0;

	for (int round = 0; round < 10; round++) {
		struct area *area = on(table, 3, BIT(20));

		for (uint64_t i = 0; i < 5000; i += 7) {
			assert_int_equal(get_word(area, i), 0);
			assert_int_equal(set_word(table, area, i, i + 1), 0);
		}
		off(table, 3);
		if (!round)
			first = metadata_bytes(u);
		assert_int_equal(metadata_bytes(u), first);
	}
	table_end(table);
}

static void an_area_that_comes_again_may_be_larger(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	struct area *area = on(table, 0, 1);

	assert_int_equal(area->depth, 0);
	set_word(table, area, 0, 1);
	off(table, 0);
	area = on(table, 0, BIT(48));
	assert_int_equal(area->depth, 4);
	assert_int_equal(set_word(table, area, BIT(48) - 1, 5), 0);
	assert_int_equal(get_word(area, BIT(48) - 1), 5);
	assert_int_equal(get_word(area, 0), 0);
	table_end(table);
}

struct leaver {
	struct swap_table *table;
	atomic_bool gone;
};

static void end_area(void *arg)
{
	struct leaver *l = arg;

	CHECK(swap_table_off(l->table, 7, drop_words, l->table) == 0);
	atomic_store(&l->gone, true);
}

static void D11_ending_an_area_waits_for_its_users(void **state)
{
	struct unit *u = *state;
	struct leaver l = { .table = table_new(&u->mem) };
	struct thread thread;
	struct area *area;
	unsigned round = 0;

	on(l.table, 7, 1000);
	area = area_enter(l.table, 7);
	assert_ptr_equal(area_enter(l.table, 7), area); /* two users */
	thread_start(&thread, end_area, &l);
	while (atomic_load(&area->state) == AREA_ON)
		wait_a_moment(&round);
	/* Nobody comes in any more, and nobody makes it anew. */
	assert_null(area_enter(l.table, 7));
	assert_int_equal(swap_table_on(l.table, 7, 5), -EEXIST);
	assert_int_equal(swap_table_off(l.table, 7, drop_words, l.table),
			 -ENXIO);
	/* Who is in may still work. */
	assert_int_equal(set_word(l.table, area, 5, 5), 0);
	area_leave(l.table, area);
	for (int i = 0; i < 10; i++)
		wait_a_moment(&round);
	assert_false(atomic_load(&l.gone));
	area_leave(l.table, area);
	thread_join(&thread);
	assert_true(l.gone);
	assert_int_equal(swap_table_on(l.table, 7, 5), 0);
	table_end(l.table);
}

/* ---- slots --------------------------------------------------------------- */

static void the_depth_fits_the_area(void **state)
{
	static const struct {
		uint64_t nr_slots;
		unsigned depth;
	} known[] = {
		{ 1, 0 },           { 512, 0 },         { BIT(17) - 1, 0 },
		{ BIT(17), 0 },     { BIT(17) + 1, 1 }, { BIT(25), 1 },
		{ BIT(25) + 1, 2 }, { BIT(33), 2 },     { BIT(33) + 1, 3 },
		{ BIT(41), 3 },     { BIT(41) + 1, 4 }, { BIT(48), 4 },
	};
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);

	for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
		uint64_t last = known[i].nr_slots - 1;
		struct area *area = on(table, i, known[i].nr_slots);

		assert_int_equal(area->depth, known[i].depth);
		assert_int_equal(set_word(table, area, last, i + 1), 0);
		assert_int_equal(get_word(area, last), i + 1);
		assert_int_equal(set_word(table, area, 0, i + 2), 0);
		assert_int_equal(get_word(area, 0), i + 2);
	}
	table_end(table);
}

static void slots_far_apart_keep_their_words(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	struct area *area = on(table, 0, BIT(48));

	for (size_t i = 0; i < ARRAY_SIZE(far_apart); i++) {
		assert_int_equal(get_word(area, far_apart[i]), 0);
		assert_int_equal(set_word(table, area, far_apart[i], i + 1), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(far_apart); i++)
		assert_int_equal(get_word(area, far_apart[i]), i + 1);
	for (size_t i = 0; i < ARRAY_SIZE(far_apart); i++)
		assert_int_equal(set_word(table, area, far_apart[i], 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(far_apart); i++)
		assert_int_equal(get_word(area, far_apart[i]), 0);
	table_end(table);
}

static void every_slot_of_neighbouring_clusters_is_its_own(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	struct area *area = on(table, 0, BIT(33));
	uint64_t first = BIT(25) - 2 * CLUSTER_SLOTS;

	for (uint64_t i = 0; i < 4 * CLUSTER_SLOTS; i++)
		assert_int_equal(set_word(table, area, first + i, i + 1), 0);
	for (uint64_t i = 0; i < 4 * CLUSTER_SLOTS; i++)
		assert_int_equal(get_word(area, first + i), i + 1);
	assert_int_equal(get_word(area, first - 1), 0);
	assert_int_equal(get_word(area, first + 4 * CLUSTER_SLOTS), 0);
	table_end(table);
}

static void a_nearly_empty_area_costs_under_64_KiB(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	size_t before = metadata_bytes(u);
	struct area *area = on(table, 9, BIT(48));

	assert_true(metadata_bytes(u) - before < 8192);
	assert_int_equal(set_word(table, area, BIT(47) + 12345, 1), 0);
	assert_int_equal(set_word(table, area, BIT(47) + 13345, 1), 0);
	assert_true(metadata_bytes(u) - before < 65536);
	table_end(table);
}

static void D48_every_step_survives_a_failing_hook(void **state)
{
	struct unit *u = *state;
	uint64_t k, failed = 1;

	for (k = 1; failed; k++) {
		struct swap_table *table = table_new(&u->mem);
		struct area *area;
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = swap_table_on(table, 300, BIT(48));
		area = area_enter(table, 300);
		assert_int_equal(!area, !!err);
		if (area) {
			err = set_word(table, area, 77, 5);
			assert_int_equal(get_word(area, 77), err ? 0 : 5);
			area_leave(table, area);
		}
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		/* And once more. */
		err = swap_table_on(table, 300, BIT(48));
		assert_int_equal(err, area ? -EEXIST : 0);
		table_end(table);
		assert_int_equal(u->hooks.alloc_bytes, 0);
	}
	assert_true(k > 7);
}

/* ---- tables -------------------------------------------------------------- */

static void a_table_goes_with_its_last_word(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	struct area *area = on(table, 0, 2000);
	size_t without;

	set_word(table, area, 5, 0); /* makes the leaf */
	without = metadata_bytes(u);
	set_word(table, area, 5, 1);
	set_word(table, area, 511, 2);
	assert_int_equal(metadata_bytes(u), without + TABLE_BYTES);
	set_word(table, area, 512, 3);
	assert_int_equal(metadata_bytes(u), without + 2 * TABLE_BYTES);
	set_word(table, area, 5, 0);
	assert_int_equal(metadata_bytes(u), without + 2 * TABLE_BYTES);
	set_word(table, area, 511, 0);
	assert_int_equal(metadata_bytes(u), without + TABLE_BYTES);
	set_word(table, area, 512, 0);
	assert_int_equal(metadata_bytes(u), without);
	table_end(table);
}

static void a_hold_keeps_an_empty_table(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	struct area *area = on(table, 0, 2000);
	struct cluster *cluster = area_make_cluster(table, area, 600);
	size_t without = metadata_bytes(u);

	assert_int_equal(cluster_hold(table, cluster), 0);
	assert_int_equal(cluster_hold(table, cluster), 0);
	assert_int_equal(metadata_bytes(u), without + TABLE_BYTES);
	for (int i = 0; i < 2; i++) {
		lock_take(&cluster->lock);
		cluster_unlock(table, cluster); /* nothing to give back yet */
		assert_int_equal(metadata_bytes(u), without + TABLE_BYTES);
		assert_true(cluster_check(cluster));
		lock_take(&cluster->lock);
		cluster_unhold(cluster);
		cluster_unlock(table, cluster);
	}
	assert_int_equal(metadata_bytes(u), without);
	table_end(table);
}

static void words_without_a_table_are_0(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	struct area *area = on(table, 0, BIT(20));
	struct cluster *cluster = area_make_cluster(table, area, 1024);

	assert_null(area_cluster(area, BIT(17)));
	assert_ptr_equal(area_cluster(area, 1024 + 511), cluster);
	lock_take(&cluster->lock);
	for (unsigned i = 0; i < CLUSTER_SLOTS; i++)
		assert_int_equal(cluster_word(cluster, i), 0);
	cluster_unlock(table, cluster);
	table_end(table);
}

/* ---- walks --------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* Clusters with tables, by their first slots, ascending and without doubles. */
struct sorted {
	uint64_t first[400];
	unsigned nr;
};

static void sorted_add(struct sorted *s, uint64_t offset)
{
	offset &= ~(uint64_t)(CLUSTER_SLOTS - 1);
	for (unsigned i = 0; i < s->nr; i++)
		if (s->first[i] == offset)
			return;
	s->first[s->nr++] = offset;
	qsort(s->first, s->nr, sizeof(s->first[0]), by_value);
}

static void assert_walk(struct area *area, const struct sorted *s,
			uint64_t from, uint64_t end)
{
	uint64_t offset = from;
	unsigned i = 0;

	while (i < s->nr && (s->first[i] | (CLUSTER_SLOTS - 1)) < from)
		i++;
	for (; from < end && i < s->nr && s->first[i] < end; i++) {
		struct cluster *cluster = area_next_cluster(area, &offset, end);

		assert_non_null(cluster);
		assert_ptr_equal(cluster, area_cluster(area, s->first[i]));
		assert_int_equal(offset,
				 s->first[i] > from ? s->first[i] : from);
		offset = (offset | (CLUSTER_SLOTS - 1)) + 1;
	}
	assert_null(area_next_cluster(area, &offset, end));
}

static void walks_meet_all_tables_in_order(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	static const unsigned bits[] = { 10, 17, 20, 25, 33, 44, 48 };
	struct rng rng;

	rng_init(&rng, 1);
	for (unsigned b = 0; b < ARRAY_SIZE(bits); b++) {
		uint64_t nr_slots = BIT(bits[b]);
		struct area *area = on(table, b, nr_slots);
		struct sorted s = { .nr = 0 };

		assert_walk(area, &s, 0, nr_slots);
		for (unsigned i = 0; i < 60; i++) {
			uint64_t offset = rng_next(&rng) >>
					  (64 - 1 - rng_below(&rng, bits[b]));

			set_word(table, area, offset, 1);
			sorted_add(&s, offset);
		}
		set_word(table, area, nr_slots - 1, 1);
		sorted_add(&s, nr_slots - 1);
		assert_walk(area, &s, 0, nr_slots);
		for (unsigned i = 0; i < 100; i++) {
			uint64_t from = rng_next(&rng) % nr_slots;
			uint64_t end =
				from + rng_next(&rng) % (nr_slots - from + 1);

			assert_walk(area, &s, from, end);
			assert_walk(area, &s, s.first[i % s.nr], nr_slots);
			assert_walk(area, &s, s.first[i % s.nr] + 300, end);
		}
	}
	table_end(table);
}

static void a_walk_over_nothing_is_short(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);
	struct area *area = on(table, 0, BIT(48));
	uint64_t start, offset;

	set_word(table, area, 0, 1);
	set_word(table, area, BIT(48) - 1, 1);
	start = now_ns();
	for (int i = 0; i < 1000; i++) {
		offset = 512;
		assert_non_null(area_next_cluster(area, &offset, BIT(48)));
		assert_int_equal(offset, BIT(48) - 512);
	}
	assert_true(now_ns() - start < UINT64_C(5000000000) * test_scale());
	table_end(table);
}

/* ---- threads ------------------------------------------------------------- */

#define NR_THREADS 4

struct race {
	struct swap_table *table;
	struct area *area;
	_Atomic(struct cluster *) made[ARRAY_SIZE(far_apart)];
};

/* All make the same nodes at the same time; each owns a word of a cluster. */
static void make_nodes(unsigned index, void *arg)
{
	struct race *race = arg;

	for (size_t i = 0; i < ARRAY_SIZE(far_apart); i++) {
		uint64_t first = far_apart[i] & ~(uint64_t)511;
		struct cluster *other = NULL, *cluster;

		CHECK(set_word(race->table, race->area, first + index,
			       index + 1) == 0);
		cluster = area_cluster(race->area, first);
		if (!atomic_compare_exchange_strong(&race->made[i], &other,
						    cluster))
			CHECK(other == cluster);
		CHECK(get_word(race->area, first + index) == index + 1);
		CHECK(set_word(race->table, race->area, first + index, 0) == 0);
	}
}

static void threads_that_make_one_node_get_the_same(void **state)
{
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	for (int round = 0; round < 100; round++) {
		struct race race = { .table = table_new(&mem) };
		uint64_t offset = 0;

		race.area = on(race.table, 0, BIT(48));
		run_threads(NR_THREADS, make_nodes, &race);
		assert_null(area_next_cluster(race.area, &offset, BIT(48)));
		table_end(race.table);
		assert_int_equal(atomic_load(&mem.metadata_bytes), mem.os_page);
		watchdog_progress();
	}
	mem_exit(&mem);
}

/* Each has a cluster; what says that it has a table lies in one word. */
static void toggle(unsigned index, void *arg)
{
	struct race *race = arg;
	uint64_t first = index * CLUSTER_SLOTS, end = first + CLUSTER_SLOTS;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t word = (i + 1) % 2, offset = first;

		CHECK(!set_word(race->table, race->area, first, word));
		CHECK(!area_next_cluster(race->area, &offset, end) == !word);
	}
	watchdog_progress();
}

static void tables_that_come_and_go_at_once_are_all_met(void **state)
{
	struct race race;
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	race.table = table_new(&mem);
	race.area = on(race.table, 0, BIT(17));
	run_threads(2, toggle, &race);
	table_end(race.table);
	mem_exit(&mem);
}

static void come_and_go(unsigned index, void *arg)
{
	struct swap_table *table = arg;

	for (unsigned i = 0; i < 2000; i++) {
		struct area *area;
		int err;

		if (index == 0) {
			err = i % 2 ? swap_table_off(table, 1, drop_words,
						     table) :
				      swap_table_on(table, 1, BIT(30));
			CHECK(err == 0);
			continue;
		}
		area = area_enter(table, 1);
		if (!area)
			continue;
		CHECK(set_word(table, area, i * 999 + index, index) == 0);
		CHECK(get_word(area, i * 999 + index) == index);
		area_leave(table, area);
	}
	watchdog_progress();
}

static void D11_areas_may_end_while_threads_use_them(void **state)
{
	struct swap_table *table;
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	table = table_new(&mem);
	run_threads(NR_THREADS, come_and_go, table);
	table_end(table);
	assert_int_equal(atomic_load(&mem.metadata_bytes), mem.os_page);
	mem_exit(&mem);
}

static void enter_and_leave(void *table)
{
	struct area *area = area_enter(table, 3);

	if (!area)
		return;
	/* On, or going, which waits for us. */
	CHECK(atomic_load(&area->state) != AREA_OFF);
	area_leave(table, area);
}

static void D11_an_area_is_not_entered_while_it_ends(void **state)
{
	struct unit *u = *state;
	struct swap_table *table = table_new(&u->mem);

	halt_start(enter_and_leave, table);
	for (int i = 0; i < HALTS; i++) {
		CHECK(!swap_table_on(table, 3, 5));
		halt();
		CHECK(!swap_table_off(table, 3, drop_words, table));
		halt_go_on();
	}
	halt_end();
	table_end(table);
}

/* An area that one thread makes, of two sizes in turn, and ends. */
struct turns {
	struct swap_table *table;
	_Atomic uint64_t nr_slots; /* of the area, or of the one to come */
};

static void make_and_end(void *arg)
{
	struct turns *turns = arg;
	uint64_t other = BIT(17) + BIT(48) - atomic_load(&turns->nr_slots);

	atomic_store(&turns->nr_slots, other);
	if (!swap_table_on(turns->table, 3, other))
		CHECK(!swap_table_off(turns->table, 3, drop_words,
				      turns->table));
}

/* Between two steps of the other thread the area is whole, or is not there. */
static void look_between_steps(struct turns *turns)
{
	struct area *area = area_enter(turns->table, 3);

	if (!area)
		return;
	CHECK(area->nr_slots == atomic_load(&turns->nr_slots));
	CHECK(area->depth == (area->nr_slots > BIT(17) ? 4 : 0));
	CHECK(!get_word(area, 7));
	area_leave(turns->table, area);
}

/* What is made between two steps of the other thread stays. */
static void make_between_steps(struct turns *turns)
{
	struct area *area;

	if (swap_table_on(turns->table, 3, 512)) {
		halt_go_on();
		return;
	}
	area = area_enter(turns->table, 3);
	CHECK(area && !set_word(turns->table, area, 7, 1));
	halt_go_on();
	CHECK(get_word(area, 7) == 1);
	area_leave(turns->table, area);
	CHECK(!swap_table_off(turns->table, 3, drop_words, turns->table));
}

static void D09_an_area_comes_and_goes_in_one_step(void **state)
{
	struct unit *u = *state;
	struct turns turns = { table_new(&u->mem), BIT(17) };

	halt_start(make_and_end, &turns);
	for (int i = 0; i < 3 * HALTS; i++) {
		halt();
		look_between_steps(&turns);
		make_between_steps(&turns);
	}
	halt_end();
	table_end(turns.table);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(areas_come_and_go),
		unit_case(types_are_walked_in_order),
		unit_case(D09_an_area_that_comes_again_is_empty),
		unit_case(an_area_that_comes_again_may_be_larger),
		unit_case(D11_ending_an_area_waits_for_its_users),
		unit_case(the_depth_fits_the_area),
		unit_case(slots_far_apart_keep_their_words),
		unit_case(every_slot_of_neighbouring_clusters_is_its_own),
		unit_case(a_nearly_empty_area_costs_under_64_KiB),
		unit_case(D48_every_step_survives_a_failing_hook),
		unit_case(a_table_goes_with_its_last_word),
		unit_case(a_hold_keeps_an_empty_table),
		unit_case(words_without_a_table_are_0),
		unit_case(walks_meet_all_tables_in_order),
		unit_case(a_walk_over_nothing_is_short),
		unit_case(D11_an_area_is_not_entered_while_it_ends),
		unit_case(D09_an_area_comes_and_goes_in_one_step),
		cmocka_unit_test(threads_that_make_one_node_get_the_same),
		cmocka_unit_test(tables_that_come_and_go_at_once_are_all_met),
		cmocka_unit_test(D11_areas_may_end_while_threads_use_them),
	};

	watchdog_start("test_swap_table", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
