// SPDX-License-Identifier: MIT
/*
 * driver.c - draws sequences, runs them, and reports the first that fails
 *
 *	model steps N [STREAM]      sequences of random lengths, N steps in all
 *	model failures N [STREAM]   every request of memory fails once, in N
 *	                            random sequences for each call that makes
 *	                            any
 *
 * ZSWAP_TEST_SHARE: the share of N that is done, in builds that are slow.
 */
#include "driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "child.h"
#include "program.h"
#include "shrink.h"

/* Most sequences are long, for what takes a while; some are short. */
#define SHORT_STEPS 60
#define LONG_STEPS 3000

/* More requests than any call makes. */
#define MAX_FAILURE_AT 5000

static struct sequence *sequence;

/* ---- drawing ------------------------------------------------------------- */

static uint16_t draw_call(struct rng *rng)
{
	unsigned sum = 0;
	uint16_t call = 0;
	uint32_t at;

	for (unsigned i = 0; i < nr_calls; i++)
		sum += calls[i].weight;
	at = rng_below(rng, sum);
	while (at >= calls[call].weight)
		at -= calls[call++].weight;
	return call;
}

static void draw_choices(struct rng *rng, struct step *step)
{
	for (unsigned i = 0; i < STEP_CHOICES; i++)
		step->choices[i] = (uint32_t)rng_next(rng);
}

static void draw_failure(struct rng *rng, struct step *step)
{
	if (!calls[step->call].takes_memory || rng_below(rng, 6))
		return;
	step->failure = (uint8_t)rng_below(rng, NR_FAILURES);
	step->failure_at = 1 + rng_below(rng, rng_below(rng, 2) ? 4 : 40);
}

static void draw_step(struct rng *rng, struct step *step)
{
	memset(step, 0, sizeof(*step));
	step->call = draw_call(rng);
	step->thread = rng_below(rng, NR_THREADS);
	draw_choices(rng, step);
}

/* ---- reporting ----------------------------------------------------------- */

static void print_program(const struct verdict *verdict)
{
	program_start();
	child_run(sequence, shrink_hang_s(verdict));
	printf("/* ---- a program that fails likewise: ---- */\n");
	program_print();
	printf("/* ---- end of the program ---- */\n");
	child_print_log();
}

static _Noreturn void report(const char *mode, uint64_t stream,
			     const struct verdict *verdict)
{
	fprintf(stderr, "model: %s, stream %" PRIu64 ", step %u: %s\n", mode,
		stream, verdict->steps, verdict->what);
	child_print_log();
	random_print_seed();
	if (shrink(sequence, verdict)) {
		fprintf(stderr, "model: %u steps are enough:\n", sequence->nr);
		print_program(verdict);
	} else {
		fprintf(stderr, "model: it does not fail again\n");
	}
	exit(1);
}

static void run(const char *mode, uint64_t stream)
{
	struct verdict verdict = child_run(sequence, CHILD_HANG_S);

	if (verdict.failed)
		report(mode, stream, &verdict);
}

/* ---- modes --------------------------------------------------------------- */

static void draw_sequence(struct rng *rng, unsigned nr)
{
	sequence->nr = nr;
	for (unsigned i = 0; i < nr; i++) {
		draw_step(rng, &sequence->steps[i]);
		draw_failure(rng, &sequence->steps[i]);
	}
}

static void run_steps(uint64_t nr, uint64_t stream)
{
	uint64_t done = 0, runs = 0;
	struct rng rng;

	for (; done < nr; runs++, stream++) {
		rng_init(&rng, stream);
		draw_sequence(&rng, 1 + rng_below(&rng, rng_below(&rng, 4) ?
								LONG_STEPS :
								SHORT_STEPS));
		run("steps", stream);
		done += sequence->nr;
	}
	printf("%" PRIu64 " steps in %" PRIu64 " sequences\n", done, runs);
}

/*
 * The last step but some fails at its k-th request, for k = 1, 2, ... until it
 * makes fewer; those after it show that nothing stayed broken.
 */
static uint64_t fail_each(uint64_t stream, struct step *step, unsigned failure)
{
	uint64_t runs = 0;

	step->failure = (uint8_t)failure;
	for (step->failure_at = 1; step->failure_at < MAX_FAILURE_AT;
	     step->failure_at++, runs++) {
		run("failures", stream);
		if (sequence->in_vain)
			break;
	}
	CHECK(step->failure_at < MAX_FAILURE_AT);
	return runs;
}

static uint64_t run_failures_of(uint16_t call, uint64_t stream)
{
	unsigned before, after;
	struct rng rng;
	struct step *step;

	rng_init(&rng, stream);
	before = rng_below(&rng, SHORT_STEPS);
	after = rng_below(&rng, SHORT_STEPS / 4);
	sequence->nr = before + 1 + after;
	for (unsigned i = 0; i < sequence->nr; i++)
		draw_step(&rng, &sequence->steps[i]);
	step = &sequence->steps[before];
	step->call = call;
	return fail_each(stream, step, FAIL_NTH) +
	       fail_each(stream, step, FAIL_FROM) +
	       fail_each(stream, step, FAIL_THREAD);
}

static void run_failures(uint64_t nr, uint64_t stream)
{
	uint64_t failures = 0;

	for (uint16_t call = 0; call < nr_calls; call++)
		for (uint64_t i = 0; i < nr && calls[call].takes_memory; i++)
			failures += run_failures_of(call, stream++);
	CHECK(failures > nr);
	printf("%" PRIu64 " requests failed\n", failures);
}

/* At least one, if any. */
static uint64_t share_of(uint64_t nr)
{
	const char *text = getenv("ZSWAP_TEST_SHARE");
	double share = text ? strtod(text, NULL) : 1;

	CHECK(share > 0 && share <= 1);
	return nr ? (uint64_t)((double)(nr - 1) * share) + 1 : 0;
}

int driver_main(int argc, char **argv)
{
	uint64_t nr = share_of(argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
	uint64_t stream = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sequence = child_shared_memory(sizeof(*sequence));
	world_prepare();
	if (nr && argc <= 4 && !strcmp(argv[1], "steps")) {
		run_steps(nr, stream);
	} else if (nr && argc <= 4 && !strcmp(argv[1], "failures")) {
		run_failures(nr, stream);
	} else {
		fprintf(stderr, "usage: %s steps|failures N [STREAM]\n",
			argv[0]);
		return 2;
	}
	return 0;
}
