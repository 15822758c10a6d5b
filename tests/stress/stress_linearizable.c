// SPDX-License-Identifier: MIT
/*
 * stress_linearizable.c - calls act on slots and settings at one moment each
 *
 * Short rounds of four threads with four drawn calls each, on slots on both
 * sides of a border of 512. Every call notes when it began and ended on one
 * counter; after each round history.c judges all that was seen together. Memory
 * ends and codecs fail now and then; a failed store must act as an invalidation
 * of each of its slots, whatever it failed of.
 *
 * The counter orders the threads more than they would be without it, so this
 * program is for the answers; races are for the other programs to find.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

#define NR_PLAYERS HISTORY_THREADS

/* Until the slots are laid elsewhere. */
#define ROUNDS_IN_PLACE 100

struct game {
	struct stage stage;
	struct meeting meeting;
	uint64_t deadline;
	uint64_t rounds;
	bool over; /* written between meetings */
	struct player players[NR_PLAYERS];
};

/* ---- trouble ----------------------------------------------------------- */

static void run_out_of_memory(struct stage *stage, struct rng *rng)
{
	if (rng_below(rng, 2))
		faulty_fail_nth(&stage->hooks, FAULTY_ANY,
				1 + rng_below(rng, 4));
	else
		faulty_fail_from(&stage->hooks, FAULTY_ANY,
				 1 + rng_below(rng, 4));
}

/* Where pages are kept raw instead, their kind would not be as foreseen. */
static void break_compression(struct stage *stage, struct rng *rng)
{
	if (stage->refuses)
		codec_fail(&stage->codec.compress, CODEC_ERROR,
			   (int32_t)rng_below(rng, 3));
}

static void break_decompression(struct stage *stage, struct rng *rng)
{
	codec_fail(&stage->codec.decompress, CODEC_ERROR,
		   (int32_t)rng_below(rng, 3));
}

static void make_trouble(struct stage *stage, struct rng *rng)
{
	switch (rng_below(rng, 3)) {
	case 0:
		run_out_of_memory(stage, rng);
		break;
	case 1:
		break_compression(stage, rng);
		break;
	default:
		break_decompression(stage, rng);
		break;
	}
}

/* ---- rounds ------------------------------------------------------------ */

static const struct play *draw_play(struct rng *rng)
{
	unsigned sum = 0, i;
	uint32_t drawn;

	for (i = 0; i < nr_plays; i++)
		sum += plays[i].weight;
	drawn = rng_below(rng, sum);
	for (i = 0; drawn >= plays[i].weight; i++)
		drawn -= plays[i].weight;
	return &plays[i];
}

static void play_once(struct player *player)
{
	const struct play *play = draw_play(&player->rng);
	unsigned first = rng_below(&player->rng, STAGE_SLOTS), nr = 1;

	if (play->slots == SEVERAL_SLOTS)
		nr += rng_below(&player->rng, STAGE_SLOTS - first);
	player_play(player, play, first, nr);
}

/* Across a border in any case: between two slots, or amidst a long folio. */
static void move(struct stage *stage, struct rng *rng)
{
	if (rng_below(rng, 2))
		stage_move(stage, BORDER - 1, 1);
	else
		stage_move(stage, BORDER - STAGE_MAX_STRIDE / 2,
			   STAGE_MAX_STRIDE);
}

/* Whether each way in which calls can fail has come up. */
static bool has_tried_all(const struct game *game)
{
	struct zswap_stats s = stress_stats(game->stage.z);
	bool refused = s.reject_compress_poor && s.reject_compress_fail;

	return s.reject_disabled && s.reject_limit && s.load_errors &&
	       s.reject_alloc_fail + s.reject_kmemcache_fail &&
	       (refused || !game->stage.refuses);
}

static void prepare(struct game *game, struct rng *rng)
{
	unsigned i;

	if (game->rounds % ROUNDS_IN_PLACE == 0)
		move(&game->stage, rng);
	stage_prepare(&game->stage, rng, STAGE_SCATTERED,
		      NR_PLAYERS * HISTORY_CALLS);
	for (i = 0; i < NR_PLAYERS; i++)
		player_begin_round(&game->players[i], HISTORY_CALLS);
	if (rng_below(rng, 4) == 0)
		make_trouble(&game->stage, rng);
	game->over = deadline_is_over(game->deadline) && has_tried_all(game);
	game->rounds++;
}

static void judge(struct game *game)
{
	struct stage *stage = &game->stage;
	struct zswap_stats counts = { 0 };
	unsigned i;

	for (i = 0; i < NR_PLAYERS; i++)
		player_add_counts(&game->players[i], &counts);
	stage_end_trouble(stage);
	stage_judge(stage, &counts);
}

static void run(unsigned index, void *arg)
{
	struct game *game = arg;
	struct player *player = &game->players[index];
	unsigned i;

	player_enter(player);
	for (;;) {
		if (index == 0)
			prepare(game, &player->rng);
		meet(&game->meeting);
		if (game->over)
			break;
		for (i = 0; i < HISTORY_CALLS; i++)
			play_once(player);
		meet(&game->meeting);
		if (index == 0)
			judge(game);
	}
	player_leave(player);
}

/* What was tried, for who wants to know if it was. */
static void print_counts(struct game *game)
{
	struct zswap_stats s = stress_stats(game->stage.z);

	printf("%" PRIu64 " rounds; stores: %" PRIu64 " good, %" PRIu64
	       " disabled, %" PRIu64 " full, %" PRIu64 " poor, %" PRIu64
	       " failed, %" PRIu64 " out of memory; %" PRIu64
	       " pages not delivered\n",
	       game->rounds, s.stored_folios, s.reject_disabled, s.reject_limit,
	       s.reject_compress_poor, s.reject_compress_fail,
	       s.reject_alloc_fail + s.reject_kmemcache_fail, s.load_errors);
}

static void run_with(uint32_t policy)
{
	struct game *game = calloc(1, sizeof(*game));
	unsigned i;

	CHECK(game);
	stage_begin(&game->stage, "linearizable", policy,
		    policy == ZSWAP_RAW_REFUSE, true);
	for (i = 0; i < NR_PLAYERS; i++)
		player_init(&game->players[i], &game->stage, i);
	game->deadline = deadline_after_ms(750);
	meeting_init(&game->meeting, NR_PLAYERS);
	run_threads(NR_PLAYERS, run, game);
	print_counts(game);
	stage_end(&game->stage);
	free(game);
}

int main(void)
{
	run_with(ZSWAP_RAW_KEEP);
	run_with(ZSWAP_RAW_REFUSE);
	return 0;
}
