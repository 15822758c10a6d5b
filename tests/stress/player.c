// SPDX-License-Identifier: MIT
/*
 * player.c - one thread that makes calls on the stage
 */
#include "player.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "play.h"

/* ---- being stopped ----------------------------------------------------- */

/* Looks before others on a busy machine get the processor, and yields. */
#define LOOKS 2000
#define YIELDS 5

/*
 * A signal has stopped the player: another's call is to end before it goes on.
 * That call may have to wait for this one, so there is an end to it.
 */
static void let_others_go_on(void *arg)
{
	struct player *p = arg;
	atomic_uint *left = &p->stage->calls_left;
	unsigned before = atomic_load_explicit(left, memory_order_relaxed);
	unsigned looks, yields;

	if (!p->stops || !p->calling || before <= 1)
		return;
	p->nr_stops++;
	for (yields = 0; yields < YIELDS; yields++) {
		for (looks = 0; looks < LOOKS; looks++)
			if (atomic_load_explicit(left, memory_order_relaxed) !=
			    before)
				return;
		sched_yield();
	}
}

/* How long this call takes, about; long folios are kept apart. */
static uint32_t *usual_ns(struct player *p)
{
	return &p->usual_ns[p->play - plays][p->nr_pages > p->nr];
}

/* The mean of late, without what is due to other programs. */
static void remember_duration(struct player *p, uint64_t ns)
{
	uint32_t *usual = usual_ns(p);
	uint64_t longest = *usual ? 2 * *usual + 100 : ns;

	*usual = (uint32_t)((3 * *usual + (ns < longest ? ns : longest)) / 4);
}

/*
 * When in the call it is to be stopped: anywhere, or near its end, where most
 * calls do what others can see.
 */
static uint32_t draw_stop_ns(struct player *p)
{
	uint32_t usual = *usual_ns(p);

	if (rng_below(&p->rng, 2))
		return rng_below(&p->rng, usual + usual / 4 + 1);
	return usual - usual / 4 + rng_below(&p->rng, usual / 2 + 1);
}

/* For those who are not stopped, to meet others in all parts of their calls. */
#define LONGEST_WAIT_NS 4096

static void wait_a_moment(struct rng *rng)
{
	uint64_t until = now_ns() + rng_below(rng, LONGEST_WAIT_NS);

	while (now_ns() < until)
		;
}

/* ---- calls ------------------------------------------------------------- */

/*
 * Where calls are to begin together all set a timer, so that it takes all as
 * long; elsewhere only who will be stopped, and that is seldom, since it costs
 * the others time.
 */
static void get_ready(struct player *p, bool together)
{
	if (together)
		meet(p->stage->start);
	p->stops = rng_below(&p->rng, together ? 2 : 8) == 0;
	if (together || p->stops)
		interrupt_after_ns(&p->interrupt, draw_stop_ns(p));
	if (together && !p->stops)
		wait_a_moment(&p->rng);
}

void player_begins(struct player *p)
{
	bool together = p->stage->start;

	get_ready(p, together);
	p->call->begin = together ? 0 : atomic_fetch_add(&p->stage->clock, 1);
	p->began_ns = now_ns();
	p->calling = true;
}

void player_ended(struct player *p)
{
	struct stage *stage = p->stage;

	p->calling = false;
	remember_duration(p, now_ns() - p->began_ns);
	p->call->end = stage->start ? 1 : atomic_fetch_add(&stage->clock, 1);
	atomic_fetch_sub_explicit(&stage->calls_left, 1, memory_order_relaxed);
}

void player_play(struct player *player, const struct play *play, unsigned first,
		 unsigned nr)
{
	player->play = play;
	player->first = first;
	player->nr = nr;
	player->nr_pages = stage_pages(player->stage, nr);
	player->call = history_call(&player->stage->history, player->index,
				    play->name);
	play->run(player);
}

/* ---- rounds ------------------------------------------------------------ */

void player_init(struct player *player, struct stage *stage, unsigned index)
{
	player->stage = stage;
	player->index = index;
	rng_init(&player->rng, index);
}

void player_enter(struct player *player)
{
	interrupt_init(&player->interrupt, let_others_go_on, player);
}

void player_leave(struct player *player)
{
	printf("player %u was stopped in %lu calls\n", player->index,
	       player->nr_stops);
	interrupt_end(&player->interrupt);
}

void player_begin_round(struct player *player, uint32_t nr_versions)
{
	player->next_version =
		stage_versions(player->stage, &player->rng, nr_versions);
	memset(&player->counts, 0, sizeof(player->counts));
}

void player_add_counts(const struct player *player, struct zswap_stats *sum)
{
	const uint64_t *from = &player->counts.stored_pages;
	uint64_t *to = &sum->stored_pages;

	for (; from < &player->counts.refused_folios_512 + 1; from++, to++)
		*to += *from;
}
