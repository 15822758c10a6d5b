// SPDX-License-Identifier: MIT
/*
 * test_zs_choice.c - the adaptive choice of classes costs least, as its formula
 * says, and what it lends costs no more
 */
#include "unit.h"

#include <stdlib.h>

#include "arena.h"
#include "watchdog.h"

#define PAGE 4096u
#define CHAIN 8u

static const uint32_t page_sizes[] = { 4096, 16384, 65536 };

struct scene {
	struct zs_class_table table;
	struct zs_choice choice;
};

static struct scene *scene_new(uint32_t page_bytes, uint32_t chain)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	zs_class_table_init(&s->table, page_bytes, chain, true);
	zs_choice_init(&s->choice, &s->table);
	return s;
}

static void add_objects(struct scene *s, unsigned raw, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		zs_choice_count(&s->choice, raw, 1);
}

static void add_everywhere(struct scene *s, unsigned nr)
{
	for (unsigned i = 0; i < s->table.nr_raw; i++)
		add_objects(s, i, nr);
}

/* ---- the formula --------------------------------------------------------- */

/* Objects of the sizes that a class serves in one chain, counted one by one. */
static double population(struct scene *s, unsigned chain, unsigned class)
{
	double n = 0;

	for (unsigned i = 0; i < s->table.nr_raw; i++)
		if (s->table.class_of[chain][i] == class)
			n += s->choice.objects[i];
	return n;
}

/* As zs_choice.h has it. */
static double cost(struct scene *s, unsigned chain, unsigned raw)
{
	unsigned class = s->table.class_of[chain][raw];
	double zspage =
		(double)s->table.classes[class].pages * s->table.page_bytes;

	return zspage / s->table.classes[class].objects +
	       zspage / 6 / (population(s, chain, class) + 5);
}

/* A whole page is no choice where the exact one shares pages. */
static bool may_be_chosen(struct scene *s, unsigned chain, unsigned raw)
{
	return chain == s->table.nr_chains - 1 ||
	       s->table.classes[s->table.class_of[chain][raw]].objects > 1;
}

/* The least cost, and what the class costs, or more where no chain has it. */
static double least_cost(struct scene *s, unsigned raw, unsigned class,
			 double *of_class)
{
	double least = 1e300;

	*of_class = 1e300;
	for (unsigned c = 0; c < s->table.nr_chains; c++) {
		double this = cost(s, c, raw);

		if (!may_be_chosen(s, c, raw))
			continue;
		if (this < least)
			least = this;
		if (s->table.class_of[c][raw] == class && this < *of_class)
			*of_class = this;
	}
	return least;
}

/* All sizes' choices; they are exact but for two roundings of 1/256 byte. */
static void assert_choices_cost_least(struct scene *s)
{
	for (unsigned raw = 0; raw < s->table.nr_raw; raw++) {
		struct zs_chosen chosen = zs_choose(&s->choice, raw);
		double of_class;
		double least = least_cost(s, raw, chosen.class, &of_class);

		assert_true(of_class <= least + 2.0 / 256);
		assert_true(chosen.lend_bytes <= least);
		assert_true(chosen.lend_bytes > least - 1 - 2.0 / 256);
		assert_int_equal(zs_choice_last(&s->choice, raw), chosen.class);
	}
}

/* Of a third of all sizes less than so many. */
static void add_some(struct scene *s, struct rng *rng, unsigned most)
{
	for (unsigned i = 0; i < s->table.nr_raw; i++)
		if (rng_below(rng, 3) == 0)
			add_objects(s, i, rng_below(rng, most));
}

static void the_choice_costs_least(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 1);
	for (unsigned p = 0; p < ARRAY_SIZE(page_sizes); p++)
		for (unsigned chain = 1; chain <= ZS_MAX_CHAIN; chain++) {
			struct scene *s = scene_new(page_sizes[p], chain);

			assert_choices_cost_least(s);
			for (unsigned most = 1; most <= 64; most *= 4) {
				add_some(s, &rng, most);
				assert_choices_cost_least(s);
			}
			free(s);
		}
}

/* Zspages of a MiB, and more objects of like size than 32 bits count. */
static void the_largest_populations_overflow_nothing(void **state)
{
	struct scene *s = scene_new(65536, ZS_MAX_CHAIN);

	(void)state;
	for (unsigned i = 0; i < s->table.nr_raw; i++)
		zs_choice_count(&s->choice, i, UINT32_C(1) << 31);
	assert_choices_cost_least(s);
	free(s);
}

/* ---- what it comes to ---------------------------------------------------- */

static unsigned pages_chosen(struct scene *s, unsigned raw)
{
	return s->table.classes[zs_choose(&s->choice, raw).class].pages;
}

/* Pages of all sizes' choices. */
static unsigned pages_of_all(struct scene *s)
{
	unsigned pages = 0;

	for (unsigned raw = 0; raw < s->table.nr_raw; raw++)
		pages += pages_chosen(s, raw);
	return pages;
}

static void few_objects_get_short_chains_and_many_long_ones(void **state)
{
	struct scene *s = scene_new(PAGE, CHAIN);
	unsigned few = pages_of_all(s), exact = 0;

	(void)state;
	for (unsigned raw = 0; raw < s->table.nr_raw; raw++)
		exact += s->table.classes[zs_exact_class(&s->table, raw)].pages;
	assert_true(2 * few < exact);
	add_everywhere(s, 1000000);
	assert_true(pages_of_all(s) > exact - exact / 20);
	free(s);
}

static void a_whole_page_is_for_those_who_need_it(void **state)
{
	struct scene *s = scene_new(PAGE, CHAIN);

	(void)state;
	for (unsigned raw = 0; raw < s->table.nr_raw; raw++) {
		unsigned exact = zs_exact_class(&s->table, raw);
		unsigned chosen = zs_choose(&s->choice, raw).class;

		assert_int_equal(s->table.classes[chosen].objects == 1,
				 s->table.classes[exact].objects == 1);
	}
	free(s);
}

/* With objects of one size only, each one more costs no longer a chain less. */
static void chains_grow_with_the_population(void **state)
{
	static const size_t sizes[] = { 200, 400, 700, 1100, 1700 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct scene *s = scene_new(PAGE, CHAIN);
		unsigned raw = zs_raw_of_request(&s->table, sizes[i]);
		unsigned pages = pages_chosen(s, raw), first = pages;

		for (unsigned n = 0; n < 2000; n++) {
			unsigned now = pages_chosen(s, raw);

			assert_true(now >= pages);
			pages = now;
			add_objects(s, raw, 1);
		}
		assert_true(pages > first);
		free(s);
	}
}

static void with_chains_of_one_page_there_is_no_choice(void **state)
{
	struct scene *s = scene_new(PAGE, 1);

	(void)state;
	assert_int_equal(s->table.nr_chains, 1);
	add_everywhere(s, 3);
	for (unsigned raw = 0; raw < s->table.nr_raw; raw++)
		assert_int_equal(zs_choose(&s->choice, raw).class,
				 zs_exact_class(&s->table, raw));
	free(s);
}

static void before_any_choice_it_is_the_exact_one(void **state)
{
	struct scene *s = scene_new(PAGE, CHAIN);

	(void)state;
	for (unsigned raw = 0; raw < s->table.nr_raw; raw++)
		assert_int_equal(zs_choice_last(&s->choice, raw),
				 zs_exact_class(&s->table, raw));
	free(s);
}

/* ---- in an arena --------------------------------------------------------- */

static struct zs_arena *adaptive_arena(struct mem *mem, uint32_t page_bytes,
				       uint32_t chain)
{
	struct zs_params params = exact_params(page_bytes, chain);

	params.adaptive = true;
	return arena_with(mem, params);
}

static uint32_t objects_counted(struct zs_arena *arena, size_t bytes)
{
	return arena->choice->objects[zs_raw_of_request(&arena->table, bytes)];
}

/* The population by size, as the objects themselves say. */
static void assert_counts_are(struct zs_arena *arena, struct owned *objects,
			      unsigned nr)
{
	uint32_t counts[ZS_MAX_RAW] = { 0 };

	for (unsigned i = 0; i < nr; i++)
		if (objects[i].bytes)
			counts[zs_raw_of_request(&arena->table,
						 objects[i].bytes)]++;
	for (unsigned i = 0; i < arena->table.nr_raw; i++)
		assert_int_equal(arena->choice->objects[i], counts[i]);
}

static void counts_follow_the_objects(void **state)
{
	enum { NR = 500 };
	struct unit *u = *state;
	struct zs_arena *arena = adaptive_arena(&u->mem, PAGE, CHAIN);
	struct owned *objects = calloc(NR, sizeof(*objects));
	struct rng rng;

	assert_non_null(objects);
	rng_init(&rng, 1);
	for (unsigned i = 0; i < 20 * NR; i++) {
		struct owned *o = &objects[rng_below(&rng, NR)];

		if (o->bytes)
			owned_give(arena, o);
		else
			owned_take(arena, o, 1 + rng_below(&rng, PAGE));
		if (i % NR == 0) {
			zs_arena_compact(arena); /* which changes no count */
			assert_counts_are(arena, objects, NR);
			assert_true(zs_arena_check(arena));
		}
	}
	for (unsigned i = 0; i < NR; i++)
		owned_give(arena, &objects[i]);
	assert_counts_are(arena, objects, NR);
	for (unsigned i = 0; i < ARRAY_SIZE(arena->lenders); i++)
		assert_int_equal(arena->lenders[i], 0);
	zs_arena_destroy(arena);
	free(objects);
}

static void a_refused_request_counts_nothing(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = adaptive_arena(&u->mem, PAGE, CHAIN);
	zs_cell cell;

	faulty_fail_from(&u->hooks, FAULTY_ANY, 1);
	assert_int_equal(zs_alloc_object(arena, 1000, &cell), -ENOMEM);
	faulty_fail_none(&u->hooks);
	assert_int_equal(objects_counted(arena, 1000), 0);
	assert_true(zs_arena_check(arena));
	assert_int_equal(zs_alloc_object(arena, 1000, &cell), 0);
	assert_int_equal(objects_counted(arena, 1000), 1);
	zs_free_object(arena, &cell, 1000);
	zs_arena_destroy(arena);
}

static void D48_adaptive_arenas_survive_any_failing_hook(void **state)
{
	struct unit *u = *state;
	struct zs_params params = exact_params(PAGE, CHAIN);
	uint64_t failed = 1, k;

	params.adaptive = true;
	for (k = 1; failed; k++) {
		struct zs_arena *arena;
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ANY, k);
		err = zs_arena_create(&u->mem, &params, &arena);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_int_equal(!arena, failed);
		zs_arena_destroy(arena);
		assert_int_equal(u->hooks.alloc_bytes, 0);
	}
	assert_true(k > 3);
}

/* ---- lending ------------------------------------------------------------- */

/* The limit is what a place in a zspage of its own would cost. */
static void places_are_lent_that_cost_no_more(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = adaptive_arena(&u->mem, PAGE, CHAIN);
	struct owned lender = { .bytes = 0 }, guest = { .bytes = 0 };
	unsigned lent = 0, refused = 0;
	uint32_t bytes_lent;

	owned_take(arena, &lender, 1300); /* 1360: 3 in a page */
	bytes_lent = class_of(arena, &lender.cell)->size.bytes;
	for (size_t bytes = 8; bytes < 1300; bytes += 16) {
		unsigned raw = zs_raw_of_request(&arena->table, bytes);
		bool may;

		/* As if there were others, all in full zspages. */
		zs_choice_count(arena->choice, raw, 20);
		may = zs_choose(arena->choice, raw).lend_bytes >= bytes_lent;
		owned_take(arena, &guest, bytes);
		assert_int_equal(class_of(arena, &guest.cell) ==
					 class_of(arena, &lender.cell),
				 may);
		owned_check(&lender);
		assert_true(zs_arena_check(arena));
		owned_give(arena, &guest);
		zs_choice_count(arena->choice, raw, -20u);
		lent += may;
		refused += !may;
	}
	assert_true(lent && refused);
	owned_give(arena, &lender);
	zs_arena_destroy(arena);
}

/*
 * Shorter chains have classes of the same size too, which come before the exact
 * choice. They used to lend nothing.
 */
static void classes_of_the_same_size_lend(void **state)
{
	enum { MANY = 1000000 };
	struct unit *u = *state;
	struct zs_arena *arena = adaptive_arena(&u->mem, PAGE, ZS_MAX_CHAIN);
	unsigned tried = 0;

	for (unsigned i = 0; i < arena->table.nr_raw; i++) {
		unsigned exact = zs_exact_class(&arena->table, i);
		unsigned first = zs_first_class(&arena->table, i), raw;
		struct owned lender = { .bytes = 0 }, guest = { .bytes = 0 };
		size_t bytes = payload_bytes(&arena->classes[exact]);

		raw = zs_raw_of_request(&arena->table, bytes);
		if (first == exact ||
		    zs_choose(arena->choice, raw).class != first)
			continue;
		owned_take(arena, &lender, bytes);
		zs_choice_count(arena->choice, raw, MANY);
		tried += zs_choose(arena->choice, raw).class != first;
		owned_take(arena, &guest, bytes);
		assert_ptr_equal(class_of(arena, &guest.cell),
				 &arena->classes[first]);
		owned_give(arena, &guest);
		zs_choice_count(arena->choice, raw, -(uint32_t)MANY);
		owned_give(arena, &lender);
	}
	assert_true(tried > 0);
	zs_arena_destroy(arena);
}

static bool is_lender(struct zs_arena *arena, const struct zs_class *class)
{
	return arena->lenders[class->number / 64] >> class->number % 64 & 1;
}

static void lenders_are_the_classes_with_a_free_place(void **state)
{
	struct unit *u = *state;
	struct zs_arena *arena = adaptive_arena(&u->mem, PAGE, CHAIN);
	struct owned objects[2] = { { .bytes = 0 } };
	struct zs_class *class;

	owned_take(arena, &objects[0], 2000); /* 2 in a page */
	class = class_of(arena, &objects[0].cell);
	assert_int_equal(class->size.objects, 2);
	assert_true(is_lender(arena, class));
	owned_take(arena, &objects[1], 2000);
	assert_ptr_equal(class_of(arena, &objects[1].cell), class);
	assert_false(is_lender(arena, class));
	owned_give(arena, &objects[0]);
	assert_true(is_lender(arena, class));
	owned_give(arena, &objects[1]);
	assert_false(is_lender(arena, class));
	zs_arena_destroy(arena);
}

/* ---- sizes at borders ---------------------------------------------------- */

static void class_borders_with(struct mem *mem, uint32_t page, uint32_t chain)
{
	struct zs_arena *arena = adaptive_arena(mem, page, chain);
	unsigned nr = 3 * arena->table.nr_classes;
	struct owned *objects = calloc(nr, sizeof(*objects));

	assert_non_null(objects);
	for (unsigned i = 0; i < nr; i++) {
		uint32_t size = arena->table.classes[i / 3].bytes;

		owned_take(arena, &objects[i], size - 7 - i % 3);
		assert_true(size - 7 - i % 3 <=
			    payload_bytes(class_of(arena, &objects[i].cell)));
	}
	assert_true(zs_arena_check(arena));
	for (unsigned i = 0; i < nr; i++)
		owned_check(&objects[i]);
	zs_arena_compact(arena);
	for (unsigned i = 0; i < nr; i++)
		owned_give(arena, &objects[i]);
	assert_true(zs_arena_check(arena));
	assert_int_equal(span_held(&arena->span).bytes, 0);
	zs_arena_destroy(arena);
	free(objects);
}

static void D58_objects_at_borders_of_all_chains_keep_their_bytes(void **state)
{
	struct unit *u = *state;

	for (size_t i = 0; i < ARRAY_SIZE(page_sizes); i++)
		for (uint32_t chain = 1; chain <= ZS_MAX_CHAIN; chain++)
			class_borders_with(&u->mem, page_sizes[i], chain);
}

/* ---- memory -------------------------------------------------------------- */

/*
 * Like pages of a process, compressed: two humps, pages of small words and of
 * text, some that hardly shrink, and each size as good as its neighbours.
 */
static size_t page_like_size(struct rng *rng)
{
	unsigned kind = rng_below(rng, 10), sum = 0;
	unsigned middle = kind < 5 ? 900 : 1900;

	if (kind == 9)
		return 2600 + rng_below(rng, 1000);
	for (unsigned i = 0; i < 4; i++) /* a hump, 1200 wide */
		sum += rng_below(rng, 300);
	return middle - 600 + sum;
}

/* Bytes of zspages, for so many objects, for each byte of payload. */
static double share_held(bool adaptive, unsigned nr)
{
	struct zs_params params = exact_params(PAGE, CHAIN);
	struct owned *objects = calloc(nr, sizeof(*objects));
	struct zs_arena *arena;
	double payload = 0, held;
	struct mem mem;
	struct rng rng;

	params.adaptive = adaptive;
	assert_non_null(objects);
	assert_int_equal(mem_init(&mem, NULL), 0);
	arena = arena_with(&mem, params);
	rng_init(&rng, 1);
	for (unsigned i = 0; i < nr; i++) {
		owned_take(arena, &objects[i], page_like_size(&rng));
		payload += (double)objects[i].bytes;
	}
	held = (double)zs_arena_pages(arena) * PAGE;
	for (unsigned i = 0; i < nr; i++)
		owned_give(arena, &objects[i]);
	zs_arena_destroy(arena);
	mem_exit(&mem);
	free(objects);
	return held / payload;
}

static void spread_out_sizes_hold_less_than_by_the_exact_choice(void **state)
{
	static const unsigned numbers[] = { 100, 1000, 5000 };
	double before = 1e300;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(numbers); i++) {
		double exact = share_held(false, numbers[i]);
		double adaptive = share_held(true, numbers[i]);

		print_message("%u objects: %.3f of the payload, exact %.3f\n",
			      numbers[i], adaptive, exact);
		assert_true(adaptive < exact);
		assert_true(adaptive < before);
		before = adaptive;
	}
}

/* Those that came when there were few keep their places. */
static void many_objects_hold_as_much_as_by_the_exact_choice(void **state)
{
	double exact = share_held(false, 50000);
	double adaptive = share_held(true, 50000);

	(void)state;
	print_message("%.3f of the payload, exact %.3f\n", adaptive, exact);
	assert_true(adaptive < 1.01 * exact);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(the_choice_costs_least),
		cmocka_unit_test(the_largest_populations_overflow_nothing),
		cmocka_unit_test(
			few_objects_get_short_chains_and_many_long_ones),
		cmocka_unit_test(a_whole_page_is_for_those_who_need_it),
		cmocka_unit_test(chains_grow_with_the_population),
		cmocka_unit_test(with_chains_of_one_page_there_is_no_choice),
		cmocka_unit_test(before_any_choice_it_is_the_exact_one),
		unit_case(counts_follow_the_objects),
		unit_case(a_refused_request_counts_nothing),
		unit_case(D48_adaptive_arenas_survive_any_failing_hook),
		unit_case(places_are_lent_that_cost_no_more),
		unit_case(classes_of_the_same_size_lend),
		unit_case(lenders_are_the_classes_with_a_free_place),
		unit_case(
			D58_objects_at_borders_of_all_chains_keep_their_bytes),
		cmocka_unit_test(
			spread_out_sizes_hold_less_than_by_the_exact_choice),
		cmocka_unit_test(
			many_objects_hold_as_much_as_by_the_exact_choice),
	};

	watchdog_start("test_zs_choice", 120);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
