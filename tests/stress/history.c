// SPDX-License-Identifier: MIT
/*
 * history.c - whether what threads saw of one slot can have happened
 *
 * A search over how far each thread has come. At each step the next operation
 * of any thread may come first unless another thread's next one has ended
 * before it began. Where the search has been before with the same version in
 * the slot it does not look again; that leaves 5^4 places times 18 versions.
 *
 * Origin: Wing and Gong, with the memory of Lowe.
 */
#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACES 625 /* (HISTORY_OPS + 1) ^ HISTORY_THREADS */
#define MAX_VERSIONS (HISTORY_THREADS * HISTORY_OPS + 2)

_Static_assert(HISTORY_OPS == 4 && HISTORY_THREADS == 4, "PLACES fits");

struct search {
	const struct history *history;
	unsigned done[HISTORY_THREADS];
	uint64_t versions[MAX_VERSIONS];
	unsigned nr_versions;
	bool seen[PLACES][MAX_VERSIONS];
};

/* A small number for a version; every version here was stored or first. */
static unsigned number_of(struct search *search, uint64_t version)
{
	unsigned i;

	for (i = 0; i < search->nr_versions; i++)
		if (search->versions[i] == version)
			return i;
	search->versions[search->nr_versions] = version;
	return search->nr_versions++;
}

/* Marks where the search is; false when it has been there. */
static bool enter(struct search *search, uint64_t version)
{
	unsigned place = 0, t;
	bool *seen;

	for (t = 0; t < HISTORY_THREADS; t++)
		place = place * (HISTORY_OPS + 1) + search->done[t];
	seen = &search->seen[place][number_of(search, version)];
	if (*seen)
		return false;
	*seen = true;
	return true;
}

static const struct op *next_op(const struct search *search, unsigned t)
{
	const struct history *history = search->history;

	if (search->done[t] == history->nr[t])
		return NULL;
	return &history->ops[t][search->done[t]];
}

static bool may_come_next(const struct search *search, const struct op *op)
{
	const struct op *other;
	unsigned t;

	for (t = 0; t < HISTORY_THREADS; t++) {
		other = next_op(search, t);
		if (other && other->end < op->begin)
			return false;
	}
	return true;
}

/* Does the operation; false when it cannot have seen this version. */
static bool apply(const struct op *op, uint64_t version, uint64_t *after)
{
	*after = version;
	switch (op->kind) {
	case OP_STORE:
		*after = op->version;
		return true;
	case OP_EMPTY:
		*after = 0;
		return true;
	case OP_TAKE:
		*after = 0;
		return op->version == version;
	default:
		return op->version == version;
	}
}

static bool search_from(struct search *search, uint64_t version)
{
	const struct op *op;
	bool left = false;
	uint64_t after;
	unsigned t;

	if (!enter(search, version))
		return false;
	for (t = 0; t < HISTORY_THREADS; t++) {
		op = next_op(search, t);
		left = left || op;
		if (!op || !may_come_next(search, op) ||
		    !apply(op, version, &after))
			continue;
		search->done[t]++;
		if (search_from(search, after))
			return true;
		search->done[t]--;
	}
	return !left && version == search->history->last;
}

bool history_is_linearizable(const struct history *history)
{
	struct search search;

	memset(&search, 0, sizeof(search));
	search.history = history;
	return search_from(&search, history->first);
}

void history_print(const struct history *history)
{
	static const char *const names[] = { "store", "peek", "take", "empty" };
	unsigned t, i;

	fprintf(stderr, "first %" PRIu64 ", last %" PRIu64 "\n", history->first,
		history->last);
	for (t = 0; t < HISTORY_THREADS; t++)
		for (i = 0; i < history->nr[t]; i++) {
			const struct op *op = &history->ops[t][i];

			fprintf(stderr,
				"thread %u: %" PRIu64 "..%" PRIu64
				" %s %" PRIu64 "\n",
				t, op->begin, op->end, names[op->kind],
				op->version);
		}
}
