/* SPDX-License-Identifier: MIT */
/*
 * play.h - the public calls of a cache, each with what it says in a history
 *
 * Each call is one function, which makes the call on the player's slots, checks
 * what the header promises of its results by themselves, and writes the moments
 * that its results tell of; and one line in the table. All programs that go
 * through all calls go through this table.
 */
#ifndef TEST_PLAY_H
#define TEST_PLAY_H

#include "player.h"

/* How many slots a call is about. */
enum play_slots { NO_SLOT, ONE_SLOT, SEVERAL_SLOTS };

struct play {
	const char *name;
	void (*run)(struct player *player);
	unsigned arg; /* flags, or which compressor */
	enum play_slots slots;
	unsigned weight; /* how often it is drawn, where calls are */
	/* What stage_prepare() is to spoil for it, now and then. */
	unsigned spoil;
};

extern const struct play plays[];
extern const unsigned nr_plays;

#endif
