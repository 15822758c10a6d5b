/* SPDX-License-Identifier: MIT */
/*
 * player.h - one thread that makes calls on the stage
 *
 * A player keeps what its calls need: buffers, versions to store, and the
 * counters that follow from the results. Now and then it is stopped in the
 * midst of a call until another's has ended, which makes two calls meet on any
 * machine.
 */
#ifndef TEST_PLAYER_H
#define TEST_PLAYER_H

#include "interrupt.h"
#include "stage.h"

struct play;

/* The longest folio; and as many calls as a player can remember times of. */
#define PLAYER_PAGES ((STAGE_SLOTS - 1) * STAGE_MAX_STRIDE + 1)
#define PLAYER_MAX_PLAYS 64

struct player {
	struct stage *stage;
	unsigned index; /* of the thread, in the history */
	struct rng rng;

	/* Of the round: what to store next, and what the results say. */
	uint32_t next_version;
	struct zswap_stats counts;

	/* Of the call. */
	const struct play *play;
	unsigned first, nr; /* slots of the stage */
	uint32_t nr_pages;  /* from the first of them to the last */
	struct call *call;
	int results[PLAYER_PAGES];
	void *pages[PLAYER_PAGES]; /* fillers share one */
	char data[STAGE_SLOTS * PAGE_BYTES];
	char filler[PAGE_BYTES];

	/* To be stopped in it. */
	struct interrupt interrupt;
	bool stops; /* if the signal comes during the call */
	volatile bool calling;
	volatile unsigned long nr_stops;
	uint64_t began_ns;
	uint32_t usual_ns[PLAYER_MAX_PLAYS][2]; /* in short and long folios */
};

void player_init(struct player *player, struct stage *stage, unsigned index);

/* In the player's own thread, around all its calls. */
void player_enter(struct player *player);
void player_leave(struct player *player);

/* Forgets the last round; the player may store as many versions as given. */
void player_begin_round(struct player *player, uint32_t nr_versions);

/* Adds the counters of the player's round to those of all. */
void player_add_counts(const struct player *player, struct zswap_stats *sum);

/* Makes a call on so many slots of the stage, from @first on. */
void player_play(struct player *player, const struct play *play, unsigned first,
		 unsigned nr);

/* For the function of a call: all is ready for the call itself; it is over. */
void player_begins(struct player *player);
void player_ended(struct player *player);

#endif
