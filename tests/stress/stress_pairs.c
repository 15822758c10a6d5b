// SPDX-License-Identifier: MIT
/*
 * stress_pairs.c - every two calls at the same moment
 *
 * For each pair in the table of calls (play.c), and each placement of their
 * slots that makes a difference, two threads make the two calls at once, again
 * and again, from other states of slots and settings; now and then one stands
 * still amidst its call until the other's is over. Whatever comes out must be
 * what the calls give in some order. Calls that share slots are tried as three
 * as well: A, B and A.
 *
 * The time is shared out by weight: each combination gets its part of what is
 * left. So a slow one does not make the program longer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

#define MAX_PLAYERS 3
#define PAIRS_MS 3000
#define THREES_MS 700

/* However little time there is. */
#define FEWEST_ROUNDS 2

/* Not at the start of a cluster, and away from its end. */
#define INSIDE 100

/* Calls about several slots are about this many. */
#define SEVERAL 2

/* Where the calls' slots lie to each other. */
struct placement {
	const char *name;
	uint64_t first;  /* offset of the stage */
	uint32_t stride; /* above 1: for calls about several slots */
	unsigned other;  /* slot of the second call; the first's is 0 */
};

#define WIDE STAGE_MAX_STRIDE

static const struct placement placements[] = {
	{ "on one slot", INSIDE, 1, 0 },
	{ "on one slot before a border", BORDER - 1, 1, 0 },
	{ "on one long folio across a border", BORDER - WIDE / 2, WIDE, 0 },
	{ "on neighbours", INSIDE, 1, 1 },
	{ "on neighbours across a border", BORDER - 1, 1, 1 },
	{ "on neighbours in long folios", BORDER - WIDE / 2, WIDE, 1 },
};

#define NR_PLACEMENTS (sizeof(placements) / sizeof(placements[0]))

struct combination {
	const struct placement *placement;
	const struct play *plays[MAX_PLAYERS]; /* one for each player */
	unsigned weight;                       /* of its time */
};

/* ---- all combinations -------------------------------------------------- */

static bool both_have_slots(const struct play *a, const struct play *b)
{
	return a->slots != NO_SLOT && b->slots != NO_SLOT;
}

static bool any_has_several(const struct play *a, const struct play *b)
{
	return a->slots == SEVERAL_SLOTS || b->slots == SEVERAL_SLOTS;
}

/* Whether the placement makes a difference, for these two in this order. */
static bool differs(const struct play *a, const struct play *b,
		    const struct placement *placement)
{
	bool first = placement == &placements[0];

	if (!both_have_slots(a, b))
		return first && a <= b;
	if (any_has_several(a, b))
		return placement->other || a <= b;
	/* Single slots: which call has which makes no difference. */
	return a <= b && (placement->other ? placement->stride == 1 : first);
}

/* A and B at the same slot, with one more A. */
static bool is_worth_three(const struct play *a, const struct play *b,
			   const struct placement *placement)
{
	const struct placement *best =
		&placements[any_has_several(a, b) ? 2 : 0];

	return both_have_slots(a, b) && a != b && placement == best;
}

/* What shares slots can go wrong in more ways; long folios take longer. */
static unsigned weight_of(const struct placement *at, const struct play *a,
			  const struct play *b)
{
	if (!both_have_slots(a, b))
		return 1;
	return at->stride == 1 ? 2 : 4;
}

static void add(struct combination *all, unsigned *nr,
		const struct placement *at, const struct play *a,
		const struct play *b)
{
	if (all)
		all[*nr] = (struct combination){ at,
						 { a, b, a },
						 weight_of(at, a, b) };
	++*nr;
}

/* Those of so many players: their number; put in @all, if it is not NULL. */
static unsigned list(unsigned players, struct combination *all)
{
	const struct play *a, *b, *end = plays + nr_plays;
	const struct placement *at = placements;
	unsigned nr = 0;

	for (; at < placements + NR_PLACEMENTS; at++)
		for (a = plays; a < end; a++)
			for (b = plays; b < end; b++)
				if (players == 2 ? differs(a, b, at) :
						   is_worth_three(a, b, at))
					add(all, &nr, at, a, b);
	return nr;
}

/* ---- rounds ------------------------------------------------------------ */

struct show {
	struct stage stage;
	struct meeting meeting;
	unsigned nr_players;
	struct combination *all;
	unsigned nr, current; /* combinations */
	uint64_t weight_left; /* of those that come, the current one included */
	uint64_t deadline;    /* of all, */
	uint64_t until;       /* and of the current one */
	unsigned rounds;      /* of it */
	uint64_t all_rounds;
	char name[128];
	struct player players[MAX_PLAYERS];
};

static void say_what_runs(struct show *show)
{
	const struct combination *c = &show->all[show->current];

	snprintf(show->name, sizeof(show->name), "%s, %s%s, %s",
		 c->plays[0]->name, c->plays[1]->name,
		 show->nr_players == 3 ? ", and the first once more" : "",
		 c->placement->name);
	check_context(show->name);
}

static void begin_combination(struct show *show)
{
	const struct combination *c = &show->all[show->current];
	const struct placement *at = c->placement;
	uint64_t now = now_ns();

	show->rounds = 0;
	show->until = now;
	if (now < show->deadline)
		show->until +=
			(show->deadline - now) * c->weight / show->weight_left;
	show->weight_left -= c->weight;
	if (show->stage.first != at->first || show->stage.stride != at->stride)
		stage_move(&show->stage, at->first, at->stride);
	say_what_runs(show);
	watchdog_progress();
}

static void prepare(struct show *show)
{
	const struct combination *c = &show->all[show->current];
	unsigned spoil = 0, i;

	for (i = 0; i < show->nr_players; i++)
		spoil |= c->plays[i]->spoil;
	stage_prepare(&show->stage, &show->players[0].rng, spoil,
		      show->nr_players);
	for (i = 0; i < show->nr_players; i++)
		player_begin_round(&show->players[i], 1);
}

static void judge(struct show *show)
{
	struct zswap_stats counts = { 0 };
	unsigned i;

	for (i = 0; i < show->nr_players; i++)
		player_add_counts(&show->players[i], &counts);
	stage_judge(&show->stage, &counts);
	show->all_rounds++;
	if (++show->rounds < FEWEST_ROUNDS || now_ns() < show->until)
		return;
	if (++show->current < show->nr)
		begin_combination(show);
}

static void play(struct show *show, unsigned index)
{
	const struct combination *c = &show->all[show->current];
	const struct play *play = c->plays[index];

	player_play(&show->players[index], play,
		    index == 1 ? c->placement->other : 0,
		    play->slots == SEVERAL_SLOTS ? SEVERAL : 1);
}

/* Between meetings of all, the first player alone changes what all look at. */
static void run(unsigned index, void *arg)
{
	struct show *show = arg;

	player_enter(&show->players[index]);
	for (;;) {
		if (index == 0 && show->current < show->nr)
			prepare(show);
		meet(&show->meeting);
		if (show->current == show->nr)
			break;
		play(show, index);
		meet(&show->meeting);
		if (index == 0)
			judge(show);
	}
	player_leave(&show->players[index]);
}

/* ---- all of them ------------------------------------------------------- */

static void run_all_of(struct show *show, unsigned players, unsigned ms)
{
	unsigned i;

	show->nr_players = players;
	show->current = 0;
	show->nr = list(players, NULL);
	show->all = calloc(show->nr, sizeof(*show->all));
	CHECK(show->all && list(players, show->all) == show->nr);
	show->weight_left = 0;
	for (i = 0; i < show->nr; i++)
		show->weight_left += show->all[i].weight;
	show->deadline = deadline_after_ms(ms);
	begin_combination(show);
	meeting_init(&show->meeting, players);
	run_threads(players, run, show);
	printf("%u combinations of %u\n", show->nr, players);
	free(show->all);
}

int main(void)
{
	struct show *show = calloc(1, sizeof(*show));
	unsigned i;

	CHECK(show);
	stage_begin(&show->stage, "pairs", ZSWAP_RAW_KEEP, false, false);
	show->stage.start = &show->meeting;
	for (i = 0; i < MAX_PLAYERS; i++)
		player_init(&show->players[i], &show->stage, i);
	run_all_of(show, 2, PAIRS_MS);
	run_all_of(show, 3, THREES_MS);
	printf("%lu rounds\n", (unsigned long)show->all_rounds);
	check_context(NULL);
	stage_end(&show->stage);
	free(show);
	return 0;
}
