// SPDX-License-Identifier: MIT
/*
 * stress_linearizable.c - calls act on a slot at one moment each
 *
 * Short rounds of four threads with four drawn calls each, on two slots on both
 * sides of a border of 512. Every call notes when it began and ended on one
 * counter; after each round history.c judges each slot. Folios count as one
 * operation of each of their slots.
 *
 * The counter orders the threads more than they would be without it, so this
 * program is for the answers; races are for the other programs to find.
 */
#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

#define NR_SLOTS 2
#define FIRST (BORDER - 1)

/* Versions of a round: this times the round, and a number from 1 on. */
#define ROUND_VERSIONS 64

struct game {
	struct zswap *z;
	pthread_barrier_t barrier;
	uint64_t deadline;
	bool over; /* written between barriers */
	atomic_ulong clock;
	struct history histories[NR_SLOTS];
};

struct player {
	struct game *game;
	unsigned index;
	struct rng rng;
	uint64_t next_version;
	char data[NR_SLOTS * PAGE_BYTES];
};

static void note(struct player *player, unsigned slot, struct op op)
{
	struct history *history = &player->game->histories[slot];

	history->ops[player->index][history->nr[player->index]++] = op;
}

static uint64_t tick(struct game *game)
{
	return atomic_fetch_add(&game->clock, 1);
}

/* ---- calls ------------------------------------------------------------- */

static void play_store(struct player *player, unsigned slot)
{
	struct game *game = player->game;
	struct op op = { OP_STORE, player->next_version++, 0, 0 };

	page_stamp(player->data, PAGE_BYTES, FIRST + slot, op.version);
	op.begin = tick(game);
	CHECK(zswap_store(game->z, at(FIRST + slot), player->data) == 0);
	op.end = tick(game);
	note(player, slot, op);
}

static void play_load(struct player *player, unsigned slot, bool keep)
{
	struct game *game = player->game;
	struct op op = { keep ? OP_PEEK : OP_TAKE, 0, tick(game), 0 };
	int err;

	err = stress_load(game->z, at(FIRST + slot), keep, &op.version);
	op.end = tick(game);
	CHECK(err == 0 || err == -ENOENT);
	note(player, slot, op);
}

static void play_invalidate(struct player *player, unsigned slot)
{
	struct game *game = player->game;
	struct op op = { OP_EMPTY, 0, tick(game), 0 };

	zswap_invalidate(game->z, at(FIRST + slot), 1);
	op.end = tick(game);
	note(player, slot, op);
}

static struct zswap_folio both_slots(struct player *player)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = at(FIRST),
				     .nr_pages = NR_SLOTS,
				     .data = player->data };

	return folio;
}

static void play_store_folio(struct player *player)
{
	struct game *game = player->game;
	struct zswap_folio folio = both_slots(player);
	struct op op = { OP_STORE, player->next_version++, 0, 0 };
	unsigned i;

	for (i = 0; i < NR_SLOTS; i++)
		page_stamp(player->data + i * PAGE_BYTES, PAGE_BYTES, FIRST + i,
			   op.version);
	op.begin = tick(game);
	CHECK(zswap_store_folio(game->z, &folio) == 0);
	op.end = tick(game);
	for (i = 0; i < NR_SLOTS; i++)
		note(player, i, op);
}

static void play_load_folio(struct player *player, bool keep)
{
	struct game *game = player->game;
	struct zswap_folio folio = both_slots(player);
	int results[NR_SLOTS];
	struct op op = { keep ? OP_PEEK : OP_TAKE, 0, tick(game), 0 };
	unsigned i;

	folio.results = results;
	CHECK(zswap_load_folio(game->z, &folio,
			       ZSWAP_LOAD_PARTIAL |
				       (keep ? ZSWAP_LOAD_KEEP : 0)) >= 0);
	op.end = tick(game);
	for (i = 0; i < NR_SLOTS; i++) {
		op.version = 0;
		CHECK(results[i] == 0 || results[i] == -ENOENT);
		if (!results[i])
			CHECK(page_verify(player->data + i * PAGE_BYTES,
					  PAGE_BYTES, FIRST + i, &op.version));
		note(player, i, op);
	}
}

static void play_once(struct player *player)
{
	unsigned slot = rng_below(&player->rng, NR_SLOTS);

	switch (rng_below(&player->rng, 8)) {
	case 0:
	case 1:
		play_store(player, slot);
		break;
	case 2:
		play_store_folio(player);
		break;
	case 3:
		play_load_folio(player, rng_below(&player->rng, 2));
		break;
	case 4:
		play_invalidate(player, slot);
		break;
	case 5:
		play_load(player, slot, true);
		break;
	default:
		play_load(player, slot, false);
		break;
	}
}

/* ---- rounds ------------------------------------------------------------ */

static void judge(struct game *game)
{
	struct history *history;
	unsigned slot;

	for (slot = 0; slot < NR_SLOTS; slot++) {
		history = &game->histories[slot];
		history->last = 0;
		stress_load(game->z, at(FIRST + slot), true, &history->last);
		if (!history_is_linearizable(history)) {
			history_print(history);
			CHECK(!"the history of a slot is linearizable");
		}
		history->first = history->last;
		memset(history->nr, 0, sizeof(history->nr));
	}
	game->over = deadline_is_over(game->deadline);
}

static void run(unsigned index, void *arg)
{
	struct game *game = arg;
	struct player *player = malloc(sizeof(*player));
	uint64_t round;
	int i;

	CHECK(player);
	player->game = game;
	player->index = index;
	rng_init(&player->rng, index);
	for (round = 0; !game->over; round++) {
		player->next_version =
			round * ROUND_VERSIONS + index * HISTORY_OPS + 1;
		for (i = 0; i < HISTORY_OPS; i++)
			play_once(player);
		pthread_barrier_wait(&game->barrier);
		if (index == 0)
			judge(game);
		pthread_barrier_wait(&game->barrier);
	}
	free(player);
}

/* The judge must be able to say no. */
static void check_the_judge(void)
{
	struct history history = { .first = 0, .last = 0 };

	/* Two takes of one store; the second came too late for it. */
	history.nr[0] = history.nr[1] = history.nr[2] = 1;
	history.ops[0][0] = (struct op){ OP_STORE, 7, 0, 9 };
	history.ops[1][0] = (struct op){ OP_TAKE, 7, 1, 2 };
	history.ops[2][0] = (struct op){ OP_TAKE, 7, 3, 8 };
	CHECK(!history_is_linearizable(&history));
	history.ops[2][0].kind = OP_PEEK;
	CHECK(!history_is_linearizable(&history));
	history.ops[2][0].begin = 0;
	CHECK(history_is_linearizable(&history));
	history.last = 7;
	CHECK(!history_is_linearizable(&history));
	history.nr[1] = 0;
	CHECK(history_is_linearizable(&history));
	/* A store that had ended is not seen by a later peek. */
	history.ops[0][0].end = 1;
	history.ops[2][0] = (struct op){ OP_PEEK, 0, 2, 3 };
	CHECK(!history_is_linearizable(&history));
}

int main(void)
{
	static struct game game;

	check_the_judge();
	game.z = stress_begin("linearizable");
	game.deadline = deadline_after_ms(1500);
	pthread_barrier_init(&game.barrier, NULL, HISTORY_THREADS);
	run_threads(HISTORY_THREADS, run, &game);
	pthread_barrier_destroy(&game.barrier);
	stress_end(game.z);
	return 0;
}
