// SPDX-License-Identifier: MIT
/*
 * shrink.c - a shorter and simpler sequence that fails in the same way
 *
 * Two moves by turns, as long as they get anywhere: leave out stretches of
 * steps, long ones first; lower single choices, to 0 if possible. A move is
 * kept if the sequence then still fails, and says the same.
 */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

/* For one fault; most take a few seconds, and what hangs takes longest. */
#define MAX_S 60
#define HANG_AGAIN_S 3

struct search {
	struct sequence *sequence; /* the shortest so far, shared memory */
	struct sequence *backup;
	const struct verdict *verdict;
	unsigned hang_s;
	uint64_t end_ns;
};

static void save(struct search *s)
{
	s->backup->nr = s->sequence->nr;
	memcpy(s->backup->steps, s->sequence->steps,
	       s->sequence->nr * sizeof(struct step));
}

static void restore(struct search *s)
{
	s->sequence->nr = s->backup->nr;
	memcpy(s->sequence->steps, s->backup->steps,
	       s->backup->nr * sizeof(struct step));
}

/* Whether it still fails as it did; if not it is what it was before. */
static bool holds(struct search *s)
{
	struct verdict now;

	if (now_ns() > s->end_ns) {
		restore(s);
		return false;
	}
	now = child_run(s->sequence, s->hang_s);
	if (!now.failed || strcmp(now.what, s->verdict->what)) {
		restore(s);
		return false;
	}
	if (now.steps && now.steps < s->sequence->nr)
		s->sequence->nr = now.steps;
	save(s);
	return true;
}

static bool leave_out(struct search *s, unsigned first, unsigned nr)
{
	struct step *steps = s->sequence->steps;

	memmove(steps + first, steps + first + nr,
		(s->sequence->nr - first - nr) * sizeof(*steps));
	s->sequence->nr -= nr;
	return holds(s);
}

static bool shorten(struct search *s)
{
	bool any = false;

	for (unsigned len = s->sequence->nr / 2; len; len /= 2)
		for (unsigned first = 0; first + len <= s->sequence->nr;)
			if (leave_out(s, first, len))
				any = true;
			else
				first += len;
	return any;
}

static bool lower(struct search *s, uint32_t *value, uint32_t to)
{
	if (*value <= to)
		return false;
	*value = to;
	return holds(s);
}

/* To 0, or else down by halves and by ones. */
static bool lower_as_far(struct search *s, uint32_t *value)
{
	bool any = lower(s, value, 0);

	while (*value && lower(s, value, *value / 2))
		any = true;
	while (*value && lower(s, value, *value - 1))
		any = true;
	return any;
}

static bool without_failure(struct search *s, struct step *step)
{
	if (!step->failure)
		return false;
	step->failure = FAIL_NOTHING;
	return holds(s);
}

static bool simplify(struct search *s)
{
	bool any = false;

	for (unsigned i = 0; i < s->sequence->nr; i++) {
		struct step *step = &s->sequence->steps[i];

		any |= without_failure(s, step);
		any |= lower_as_far(s, &step->thread);
		for (unsigned c = 0; c < step->nr_used; c++)
			any |= lower_as_far(s, &step->choices[c]);
	}
	return any;
}

unsigned shrink_hang_s(const struct verdict *verdict)
{
	return verdict->hung ? HANG_AGAIN_S : CHILD_HANG_S;
}

bool shrink(struct sequence *sequence, const struct verdict *verdict)
{
	struct search s = { .sequence = sequence,
			    .verdict = verdict,
			    .backup = malloc(sizeof(*s.backup)),
			    .hang_s = shrink_hang_s(verdict),
			    .end_ns = now_ns() + MAX_S * UINT64_C(1000000000) };
	bool again, any;

	CHECK(s.backup);
	if (verdict->steps && verdict->steps < sequence->nr)
		sequence->nr = verdict->steps;
	save(&s);
	again = holds(&s);
	for (any = again; any;) {
		any = shorten(&s);
		any |= simplify(&s);
	}
	free(s.backup);
	return again;
}
