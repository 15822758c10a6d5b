// SPDX-License-Identifier: MIT
/*
 * history.c - whether what threads saw can have happened
 *
 * A search over how far each thread has come. At each step the next moment of
 * any thread may come first unless another thread's call has ended before its
 * call began. A moment that changes nothing and sees what it has seen comes at
 * once, with no other tried: later it could only be in the way. Where the
 * search has been before, with the same numbers in all places, it does not look
 * again.
 *
 * Origin: Wing and Gong, with the memory of Lowe.
 */
#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"

/* Where a search is. No byte of it is padding, so that it can be compared. */
struct state {
	uint32_t numbers[HISTORY_PLACES];
	uint8_t call[HISTORY_THREADS]; /* that each thread is in */
	uint8_t done[HISTORY_THREADS]; /* a bit for each moment of that call */
};

_Static_assert(sizeof(struct state) % sizeof(uint64_t) == 0, "whole words");

/* ---- where it has been --------------------------------------------------- */

#define FIRST_ROOM 64

/* Open addressing, at most half full; no bit is free for "empty". */
struct visited {
	struct state *states;
	bool *used;
	size_t nr, room; /* a power of two */
};

static void visited_init(struct visited *v, size_t room)
{
	v->states = malloc(room * sizeof(*v->states));
	v->used = calloc(room, sizeof(*v->used));
	v->nr = 0;
	v->room = room;
	CHECK(v->states && v->used);
}

static void visited_free(struct visited *v)
{
	free(v->states);
	free(v->used);
}

static size_t hash_of(const struct state *state)
{
	const char *bytes = (const char *)state;
	uint64_t hash = 0, word;
	size_t at;

	for (at = 0; at < sizeof(*state); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		hash = random_mix(hash ^ word);
	}
	return (size_t)hash;
}

/* Adds a state; false when it is there. */
static bool visited_put(struct visited *v, const struct state *state)
{
	size_t i = hash_of(state) & (v->room - 1);

	for (; v->used[i]; i = (i + 1) & (v->room - 1))
		if (memcmp(&v->states[i], state, sizeof(*state)) == 0)
			return false;
	v->used[i] = true;
	v->states[i] = *state;
	v->nr++;
	return true;
}

static bool visited_add(struct visited *v, const struct state *state)
{
	struct visited larger;
	size_t i;

	if (2 * v->nr >= v->room) {
		visited_init(&larger, 2 * v->room);
		for (i = 0; i < v->room; i++)
			if (v->used[i])
				visited_put(&larger, &v->states[i]);
		visited_free(v);
		*v = larger;
	}
	return visited_put(v, state);
}

/* ---- moments ------------------------------------------------------------- */

static bool test_holds(const struct history *history, const struct touch *touch,
		       uint32_t number)
{
	switch (touch->test) {
	case TEST_IS:
		return number == touch->seen;
	case TEST_IS_NOT:
		return number != touch->seen;
	case TEST_KIND:
		return number && history->kind_of(number) == touch->seen;
	default:
		return true;
	}
}

/* Whether a moment may see these numbers. */
static bool fits(const struct history *history, const struct moment *moment,
		 const uint32_t *numbers)
{
	int tests = 0, hold = 0;
	unsigned i;

	for (i = 0; i < HISTORY_PLACES; i++) {
		const struct touch *touch = &moment->touches[i];

		if (touch->test == TEST_NOTHING)
			continue;
		tests++;
		hold += test_holds(history, touch, numbers[i]);
	}
	if (moment->holds == HOLDS_SOME)
		return hold > 0;
	return hold == (moment->holds == HOLDS_ALL ? tests : moment->holds);
}

static bool changes_nothing(const struct moment *moment)
{
	unsigned i;

	for (i = 0; i < HISTORY_PLACES; i++)
		if (moment->touches[i].sets)
			return false;
	return true;
}

/* ---- the search ---------------------------------------------------------- */

struct search {
	const struct history *history;
	struct visited visited;
};

/* The call that a thread is in, or NULL. */
static const struct call *call_of(const struct search *search,
				  const struct state *state, unsigned t)
{
	if (state->call[t] == search->history->nr[t])
		return NULL;
	return &search->history->calls[t][state->call[t]];
}

/* Leaves calls that have no moment left. */
static void leave_calls(const struct search *search, struct state *state,
			unsigned t)
{
	const struct call *call;

	while ((call = call_of(search, state, t)) &&
	       state->done[t] == (1u << call->nr_moments) - 1) {
		state->call[t]++;
		state->done[t] = 0;
	}
}

static bool may_come_next(const struct search *search,
			  const struct state *state, const struct call *call)
{
	const struct call *other;
	unsigned t;

	for (t = 0; t < HISTORY_THREADS; t++) {
		other = call_of(search, state, t);
		if (other && other->end < call->begin)
			return false;
	}
	return true;
}

/* Does moment @m of the call that thread @t is in; false if it can't be. */
static bool step(const struct search *search, struct state *state, unsigned t,
		 unsigned m, bool may_change)
{
	const struct call *call = call_of(search, state, t);
	const struct moment *moment;
	unsigned i;

	if (!call || m >= call->nr_moments || state->done[t] & 1u << m)
		return false;
	moment = &call->moments[m];
	if ((!may_change && !changes_nothing(moment)) ||
	    !may_come_next(search, state, call) ||
	    !fits(search->history, moment, state->numbers))
		return false;
	for (i = 0; i < HISTORY_PLACES; i++)
		if (moment->touches[i].sets)
			state->numbers[i] = moment->touches[i].next;
	state->done[t] |= (uint8_t)(1u << m);
	leave_calls(search, state, t);
	return true;
}

/* Does all moments that change nothing and fit now. */
static void look_around(const struct search *search, struct state *state)
{
	bool any = true;
	unsigned t, m;

	while (any) {
		any = false;
		for (t = 0; t < HISTORY_THREADS; t++)
			for (m = 0; m < HISTORY_MOMENTS; m++)
				any |= step(search, state, t, m, false);
	}
}

static bool is_the_end(const struct search *search, const struct state *state)
{
	unsigned t;

	for (t = 0; t < HISTORY_THREADS; t++)
		if (call_of(search, state, t))
			return false;
	return memcmp(state->numbers, search->history->last,
		      sizeof(state->numbers)) == 0;
}

static bool search_from(struct search *search, struct state state)
{
	struct state next;
	unsigned t, m;

	look_around(search, &state);
	if (is_the_end(search, &state))
		return true;
	if (!visited_add(&search->visited, &state))
		return false;
	for (t = 0; t < HISTORY_THREADS; t++)
		for (m = 0; m < HISTORY_MOMENTS; m++) {
			next = state;
			if (step(search, &next, t, m, true) &&
			    search_from(search, next))
				return true;
		}
	return false;
}

bool history_is_linearizable(const struct history *history)
{
	struct search search = { .history = history };
	struct state state;
	bool found;
	unsigned t;

	memset(&state, 0, sizeof(state));
	memcpy(state.numbers, history->first, sizeof(state.numbers));
	for (t = 0; t < HISTORY_THREADS; t++)
		leave_calls(&search, &state, t);
	visited_init(&search.visited, FIRST_ROOM);
	found = search_from(&search, state);
	visited_free(&search.visited);
	return found;
}

/* ---- writing and printing ------------------------------------------------ */

void history_clear(struct history *history)
{
	memset(history->nr, 0, sizeof(history->nr));
}

struct call *history_call(struct history *history, unsigned thread,
			  const char *name)
{
	struct call *call;

	CHECK(history->nr[thread] < HISTORY_CALLS);
	call = &history->calls[thread][history->nr[thread]++];
	call->name = name;
	call->nr_moments = 0;
	return call;
}

struct moment *call_moment(struct call *call)
{
	struct moment *moment;

	CHECK(call->nr_moments < HISTORY_MOMENTS);
	moment = &call->moments[call->nr_moments++];
	memset(moment, 0, sizeof(*moment));
	moment->holds = HOLDS_ALL;
	return moment;
}

void moment_sees(struct moment *moment, unsigned place, enum test test,
		 uint32_t seen)
{
	moment->touches[place].test = test;
	moment->touches[place].seen = seen;
}

void moment_sets(struct moment *moment, unsigned place, uint32_t next)
{
	moment->touches[place].sets = true;
	moment->touches[place].next = next;
}

static void print_numbers(const char *when, const uint32_t *numbers)
{
	unsigned i;

	fprintf(stderr, "%s:", when);
	for (i = 0; i < HISTORY_PLACES; i++)
		fprintf(stderr, " %" PRIu32, numbers[i]);
	fprintf(stderr, "\n");
}

/* "[0 is 7, becomes 3; 1 becomes 3]", the places by their numbers. */
static void print_moment(const struct moment *moment)
{
	static const char *const tests[] = { "", " is", " is not", " is kind" };
	const char *before = "[";
	unsigned i;

	for (i = 0; i < HISTORY_PLACES; i++) {
		const struct touch *touch = &moment->touches[i];

		if (!touch->sets && touch->test == TEST_NOTHING)
			continue;
		fprintf(stderr, "%s%u", before, i);
		if (touch->test != TEST_NOTHING)
			fprintf(stderr, "%s %" PRIu32, tests[touch->test],
				touch->seen);
		if (touch->sets)
			fprintf(stderr, " becomes %" PRIu32, touch->next);
		before = "; ";
	}
	if (moment->holds == HOLDS_SOME)
		fprintf(stderr, ": one or more");
	else if (moment->holds != HOLDS_ALL)
		fprintf(stderr, ": %d of these", moment->holds);
	fprintf(stderr, "] ");
}

void history_print(const struct history *history)
{
	unsigned t, i, m;

	print_numbers("first", history->first);
	for (t = 0; t < HISTORY_THREADS; t++)
		for (i = 0; i < history->nr[t]; i++) {
			const struct call *call = &history->calls[t][i];

			fprintf(stderr,
				"thread %u: %" PRIu64 "..%" PRIu64 " %s ", t,
				call->begin, call->end, call->name);
			for (m = 0; m < call->nr_moments; m++)
				print_moment(&call->moments[m]);
			fprintf(stderr, "\n");
		}
	print_numbers("last", history->last);
}
