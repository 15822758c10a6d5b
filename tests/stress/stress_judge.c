// SPDX-License-Identifier: MIT
/*
 * stress_judge.c - the judge of histories can say no
 *
 * Each case is a history with something that can't have happened, and the same
 * with the one difference that makes it possible.
 */
#include <string.h>

#include "check.h"
#include "history.h"

/* Two slots, and a third place that is a setting. */
enum { LEFT, RIGHT, SETTING };

#define NR_KINDS 4

static unsigned kind_of(uint32_t number)
{
	return number % NR_KINDS;
}

static struct history fresh(void)
{
	struct history history;

	memset(&history, 0, sizeof(history));
	history.kind_of = kind_of;
	return history;
}

static struct call *call_at(struct history *history, unsigned thread,
			    uint64_t begin, uint64_t end)
{
	struct call *call = history_call(history, thread, "call");

	call->begin = begin;
	call->end = end;
	return call;
}

static void set(struct call *call, unsigned place, uint32_t number)
{
	moment_sets(call_moment(call), place, number);
}

static void see(struct call *call, unsigned place, uint32_t number)
{
	moment_sees(call_moment(call), place, TEST_IS, number);
}

static void take(struct call *call, unsigned place, uint32_t number)
{
	struct moment *moment = call_moment(call);

	moment_sees(moment, place, TEST_IS, number);
	moment_sets(moment, place, 0);
}

static bool is_good(const struct history *history)
{
	return history_is_linearizable(history);
}

/* Two takes of one store can't both have it; a peek may come before a take. */
static void one_page_is_taken_once(void)
{
	struct history history = fresh();
	struct call *late;

	set(call_at(&history, 0, 0, 9), LEFT, 7);
	take(call_at(&history, 1, 1, 2), LEFT, 7);
	late = call_at(&history, 2, 3, 8);
	take(late, LEFT, 7);
	CHECK(!is_good(&history));
	late->nr_moments = 0;
	see(late, LEFT, 7);
	CHECK(!is_good(&history));
	late->begin = 0;
	CHECK(is_good(&history));
	history.last[LEFT] = 7;
	CHECK(!is_good(&history));
	history.nr[1] = 0;
	CHECK(is_good(&history));
}

static void what_has_ended_is_seen(void)
{
	struct history history = fresh();
	struct call *store = call_at(&history, 0, 0, 1);

	set(store, LEFT, 7);
	see(call_at(&history, 1, 2, 3), LEFT, 0);
	history.last[LEFT] = 7;
	CHECK(!is_good(&history));
	store->end = 3;
	CHECK(is_good(&history));
}

/* Calls of one thread keep their order, though they touch at the edges. */
static void a_thread_keeps_its_order(void)
{
	struct history history = fresh();

	set(call_at(&history, 0, 0, 1), LEFT, 7);
	set(call_at(&history, 0, 1, 2), LEFT, 8);
	see(call_at(&history, 1, 0, 9), LEFT, 8);
	see(call_at(&history, 1, 0, 9), LEFT, 7);
	history.last[LEFT] = 8;
	CHECK(!is_good(&history));
	history.calls[1][0].moments[0].touches[LEFT].seen = 7;
	CHECK(is_good(&history));
}

/* Two slots at one moment; or one after the other, with a load in between. */
static void half_a_folio_is_seen_of_two_moments_only(void)
{
	struct history history = fresh();
	struct call *store = call_at(&history, 0, 0, 9);
	struct call *load = call_at(&history, 1, 0, 9);
	struct moment *both = call_moment(store), *half = call_moment(load);

	moment_sets(both, LEFT, 7);
	moment_sets(both, RIGHT, 7);
	moment_sees(half, LEFT, TEST_IS, 7);
	moment_sees(half, RIGHT, TEST_IS, 0);
	history.last[LEFT] = history.last[RIGHT] = 7;
	CHECK(!is_good(&history));
	moment_sees(half, LEFT, TEST_IS, 0);
	CHECK(is_good(&history));
	moment_sees(half, LEFT, TEST_IS, 7);
	store->nr_moments = 0;
	set(store, LEFT, 7);
	set(store, RIGHT, 7);
	CHECK(is_good(&history));
}

/* Two pages that one load delivers were there together. */
static void pages_of_one_load_were_there_together(void)
{
	struct history history = fresh();
	struct call *call = call_at(&history, 1, 0, 9);
	struct moment *both = call_moment(call);

	history.first[LEFT] = 7;
	take(call_at(&history, 0, 0, 1), LEFT, 7);
	set(call_at(&history, 0, 2, 3), RIGHT, 8);
	history.last[RIGHT] = 8;
	moment_sees(both, LEFT, TEST_IS, 7);
	moment_sees(both, RIGHT, TEST_IS, 8);
	CHECK(!is_good(&history));
	call->nr_moments = 0;
	see(call, LEFT, 7);
	see(call, RIGHT, 8);
	CHECK(is_good(&history));
}

static void a_failed_store_leaves_nothing(void)
{
	struct history history = fresh();
	struct call *store = call_at(&history, 0, 0, 1);

	history.first[LEFT] = history.first[RIGHT] = 7;
	history.last[RIGHT] = 7;
	set(store, LEFT, 0);
	set(store, RIGHT, 0);
	see(store, SETTING, 0);
	CHECK(!is_good(&history));
	history.last[RIGHT] = 0;
	CHECK(is_good(&history));
	history.first[SETTING] = history.last[SETTING] = 1;
	CHECK(!is_good(&history));
}

static void kinds_and_presence(void)
{
	struct history history = fresh();
	struct call *call = call_at(&history, 0, 0, 1);
	struct moment *moment = call_moment(call);

	moment_sees(moment, LEFT, TEST_KIND, 0);
	CHECK(!is_good(&history)); /* 0 is of no kind */
	history.first[LEFT] = history.last[LEFT] = NR_KINDS;
	CHECK(is_good(&history));
	moment_sees(moment, LEFT, TEST_KIND, 1);
	CHECK(!is_good(&history));
	moment_sees(moment, LEFT, TEST_IS_NOT, 0);
	CHECK(is_good(&history));
	moment_sees(moment, LEFT, TEST_IS_NOT, NR_KINDS);
	CHECK(!is_good(&history));
}

static void some_and_so_many(void)
{
	struct history history = fresh();
	struct call *call = call_at(&history, 0, 0, 1);
	struct moment *moment = call_moment(call);

	moment_sees(moment, LEFT, TEST_IS_NOT, 0);
	moment_sees(moment, RIGHT, TEST_IS_NOT, 0);
	moment->holds = HOLDS_SOME;
	CHECK(!is_good(&history));
	moment->holds = 0;
	CHECK(is_good(&history));
	history.first[RIGHT] = history.last[RIGHT] = 7;
	CHECK(!is_good(&history));
	moment->holds = HOLDS_SOME;
	CHECK(is_good(&history));
	moment->holds = 1;
	CHECK(is_good(&history));
	moment->holds = 2;
	CHECK(!is_good(&history));
}

/* So long that the search's memory must grow. */
static void a_long_search_ends(void)
{
	struct history history = fresh();
	unsigned t, i;

	for (t = 0; t < HISTORY_THREADS - 1; t++)
		for (i = 0; i < HISTORY_CALLS; i++) {
			struct call *call = call_at(&history, t, 0, 1);

			set(call, LEFT, 100 * t + i + 1);
			set(call, RIGHT, 100 * t + i + 1);
		}
	history.last[LEFT] = history.last[RIGHT] = HISTORY_CALLS;
	CHECK(is_good(&history));
	history.last[RIGHT] = 99;
	CHECK(!is_good(&history));
}

int main(void)
{
	one_page_is_taken_once();
	what_has_ended_is_seen();
	a_thread_keeps_its_order();
	half_a_folio_is_seen_of_two_moments_only();
	pages_of_one_load_were_there_together();
	a_failed_store_leaves_nothing();
	kinds_and_presence();
	some_and_so_many();
	a_long_search_ends();
	return 0;
}
