/* SPDX-License-Identifier: MIT */
/*
 * world.h - a cache, the model of it, and all that surrounds both
 *
 * A call's code (calls_*.c) makes its choices, says in C what it does, calls
 * the library, looks at what came back and changes the model. What must hold
 * after every step is checked once, in checks.c.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include "cache_model.h"
#include "driver.h"
#include "program.h"
#include "reproduce.h"

/* Engines that one sequence switches between. */
#define NR_PICKS 4

/* Some slots of an area. */
struct target {
	struct model_area *area;
	unsigned first, nr; /* in the window */
	zswap_slot_t slot;
	bool valid; /* all of it lies in an area that is on */
};

struct world {
	struct sequence *sequence;
	struct step *step;
	unsigned next_choice;
	unsigned thread; /* that makes the calls */

	struct faulty hooks;
	struct codec codec;
	struct zswap_params params;
	const struct zswap_compressor *own[2];
	struct zswap *z;

	struct model m;
	unsigned picks[NR_PICKS];
	struct zswap_stats before; /* as the last step left them */
	/*
	 * A load may have taken a pool's last page; a pool is then ended by a
	 * thread or, without one, by the next call that is no load.
	 */
	bool dead_may_wait;
	/* In this step: objects were freed while others could not be moved, */
	bool pinned;
	bool compacts; /* and zswap_compact() was called. */

	/* What the test compressor is to do meanwhile. */
	unsigned depth; /* 1 in a call that the compressor makes */
	unsigned nested_call;
	unsigned nr_nested; /* planned, and those that came */
	unsigned nr_came;
	unsigned nested_number; /* of the function in the program */
	bool nested_armed;
	struct target outer; /* of the call around it */
	struct io *io;       /* one for each depth */
};

/* 0 .. n - 1: the step's next choice, 0 when there are none left. */
uint32_t choose(struct world *w, uint32_t n);

/* True one time in n; false is the simplest. */
bool one_in(struct world *w, uint32_t n);

struct io *own_io(struct world *w);

/* The result of a call must be this; the program checks it too. */
void expect_result(const char *file, int line, long result, long expected);
#define EXPECT(result, expected) \
	expect_result(__FILE__, __LINE__, result, expected)

/* ---- targets ------------------------------------------------------------- */

/* In a call that a compressor makes mostly slots of the call around it. */
struct target choose_target(struct world *w, unsigned max);

/* The most pages of a folio of this cache here. */
unsigned max_folio(const struct world *w);

static inline struct model_slot *slots_of(const struct target *t)
{
	return &t->area->slots[t->first];
}

/* ---- compressors --------------------------------------------------------- */

/* What a batch and a request of the engine are; also for the current one. */
void set_engine(struct world *w, unsigned engine);

/*
 * Now and then the test compressor makes a call in the middle of the next
 * request, or stands still. end_nested() ends that, if nothing came.
 */
void choose_nested(struct world *w);
void end_nested(struct world *w);

/* ---- the cache itself ---------------------------------------------------- */

/* What the hooks do from now on, as the step says; and no failures any more. */
void plan_failure(struct world *w);
void end_failure(struct world *w);

void destroy_cache(struct world *w);
void create_cache(struct world *w);

/* What holds after a step. */
void check_world(struct world *w);
void check_every_page(struct world *w);

/* ---- calls: see model.c -------------------------------------------------- */

void call_create(struct world *w);
void call_store(struct world *w);
void call_load(struct world *w);
void call_load_folio(struct world *w);
void call_invalidate(struct world *w);
void call_ask(struct world *w);
void call_swap(struct world *w);
void call_set_enabled(struct world *w);
void call_set_limit(struct world *w);
void call_set_compressor(struct world *w);
void call_get_stats(struct world *w);
void call_wrong(struct world *w);
void call_read_all(struct world *w);
void call_purge_fails(struct world *w);
void call_compact(struct world *w);

#endif
