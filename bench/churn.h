/* SPDX-License-Identifier: MIT */
/*
 * churn.h - the same stores and invalidations for every holder of pages
 *
 *	fill       each slot, in order, with pages of the first corpus
 *	overwrite  slots at random, four times as often as there are slots, with
 *	           pages at random of the next corpus; where there are more, each
 *	           quarter takes them from the next but one
 *	discard    a random half of the slots
 *	compact    what can be given back at one call
 *
 * Each 8th of these operations is followed by a load, of a slot at random,
 * whose page stays. It is compared, and at the end so is all that is left.
 *
 * All is done several times over, each time in a fresh process. Memory is what
 * it was at its worst. Of a call, which is the same one each time, the shortest
 * time counts: an interrupt, another process or a hypervisor delays it once,
 * the holder itself each time.
 *
 * A call's *added time* is what it takes longer than the same call with the
 * same page does when there is nothing to compact: at the end of fill each page
 * is stored, loaded and invalidated in a slot of its own. What remains is
 * compaction, other work of the allocator's, page faults, misses of the
 * processor's caches, and the end of an older page.
 */
#ifndef BENCH_CHURN_H
#define BENCH_CHURN_H

#include "holder.h"
#include "pages.h"

enum { FILL, OVERWRITE, DISCARD, COMPACT, NR_PHASES };
enum { STORE, LOAD, INVALIDATE, NR_CALLS };

#define CHURN_FLOORS 2
#define CHURN_MAX_POINTS 200 /* in a phase, about */

struct churn_job {
	const struct corpora *all;
	const struct codec *codec;
	uint32_t nr_slots;
	uint32_t nr_points; /* samples in a phase, about */
	double floor_bytes[CHURN_FLOORS];
};

/* To the live payload; NAN: there was no moment with enough of it. */
struct over_live {
	double held, rss;
};

struct pause {
	double p999_us;
	double added_us; /* p99.9 of the added time */
};

struct churn_phase {
	double live_bytes; /* at its end */
	struct over_live
		worst[CHURN_FLOORS]; /* with at least floor_bytes live */
	struct over_live end;
	struct pause pauses[NR_CALLS];
	double moves_per_op;
};

struct churn_point {
	double ops; /* stores and invalidations until then */
	double live_bytes;
	struct over_live over;
};

struct churn_result {
	struct churn_phase phases[NR_PHASES];
	struct churn_point points[NR_PHASES * (CHURN_MAX_POINTS + 2)];
	size_t nr_points;
};

/* All calls of a sequence, in their order; each one's shortest time. */
struct churn_call {
	uint32_t page;
	uint8_t phase, call;
	float ns; /* 0: not known yet */
};

struct churn_cost {
	float ns[NR_CALLS];
};

/* In memory that child processes share. */
struct churn_log {
	struct churn_call *calls;
	struct churn_cost *costs; /* by page, with nothing to compact */
	size_t nr_calls;
	size_t calls_bytes, costs_bytes;
};

void churn_log_make(struct churn_log *log, const struct churn_job *job);
void churn_log_free(struct churn_log *log);

/* churn_result_init() - of no repeat yet */
void churn_result_init(struct churn_result *out);

/* churn_slots() - that a holder must have for @job */
static inline uint32_t churn_slots(const struct churn_job *job)
{
	return job->nr_slots + 1;
}

/* churn_ops() - stores and invalidations of a phase */
uint64_t churn_ops(const struct churn_job *job, unsigned phase);

/*
 * churn() - one repeat of all phases, with an empty holder
 *
 * Adds what it finds to @log and @out. The process should do nothing else.
 */
void churn(const struct churn_job *job, struct holder *holder,
	   struct churn_log *log, struct churn_result *out);

/* churn_pauses() - after the last repeat */
void churn_pauses(const struct churn_log *log, struct churn_result *out);

#endif /* BENCH_CHURN_H */
