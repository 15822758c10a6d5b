// SPDX-License-Identifier: MIT
/*
 * world.c - a cache, the model of it, and all that surrounds both
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include "child.h"

/* ---- choices ------------------------------------------------------------- */

/*
 * A choice is kept as what it came to, so that the driver can lower it. The
 * range may depend on what was chosen before.
 */
uint32_t choose(struct world *w, uint32_t n)
{
	uint32_t *choice = &w->step->choices[w->next_choice];

	if (w->next_choice == STEP_CHOICES || !n)
		return 0;
	w->step->nr_used = (uint8_t)++w->next_choice;
	*choice %= n;
	return *choice;
}

bool one_in(struct world *w, uint32_t n)
{
	return choose(w, n) == n - 1;
}

struct io *own_io(struct world *w)
{
	return &w->io[w->depth];
}

void expect_result(const char *file, int line, long result, long expected)
{
	say("CHECK(err == %ld);", expected);
	if (result != expected)
		fprintf(stderr, "the result is %ld, not %ld\n", result,
			expected);
	if (result != expected)
		check_failed(file, line, "a call's result");
}

unsigned max_folio(const struct world *w)
{
	unsigned nr = IO_BYTES / w->m.page_size;

	return nr < w->m.window + 3 ? nr : w->m.window + 3;
}

static void choose_place(struct world *w, struct target *t)
{
	if (w->depth && w->outer.nr && !one_in(w, 4)) {
		t->area = w->outer.area;
		t->first = w->outer.first + choose(w, w->outer.nr);
		t->first %= w->m.window;
		return;
	}
	t->area = &w->m.areas[choose(w, MODEL_AREAS)];
	t->first = choose(w, w->m.window);
}

/* Few pages as a rule, and now and then as many as may be. */
static unsigned choose_nr(struct world *w, unsigned max)
{
	unsigned nr = 1 + choose(w, one_in(w, 4) ? max : 10);

	return nr > max || one_in(w, 16) ? max : nr;
}

struct target choose_target(struct world *w, unsigned max)
{
	struct target t;
	uint64_t offset;

	choose_place(w, &t);
	t.nr = choose_nr(w, max);
	offset = t.area->first + t.first;
	t.slot = zswap_slot(t.area->type, offset);
	t.valid = t.area->on && offset + t.nr <= t.area->nr_slots;
	if (t.valid && t.first + t.nr > w->m.window)
		t.nr = w->m.window - t.first;
	if (!w->depth)
		w->outer = t;
	return t;
}

/* ---- compressors --------------------------------------------------------- */

/* Pages of a batch, says the header, unless the compressor likes more. */
#define USUAL_BATCH 8

void set_engine(struct world *w, unsigned engine)
{
	uint32_t likes = w->codec.vtable.batch_size;
	bool is_test = engines[engine].kind == ENGINE_TEST;

	w->m.engine = engine;
	w->m.request = is_test ? likes : 1;
	w->m.batch = is_test && likes > USUAL_BATCH ? likes : USUAL_BATCH;
}

static void disarm(struct world *w)
{
	w->codec.compress.call = w->codec.decompress.call = NULL;
	io_call_at_create(NULL, NULL);
	w->nested_armed = false;
}

static void nested_call(void *arg)
{
	struct world *w = arg;

	disarm(w);
	w->depth++;
	w->nr_came++;
	program_function(w->nested_number);
	calls[w->nested_call].run(w);
	program_function_end();
	w->depth--;
}

static void arm(struct world *w, const char *what, void (*call)(void *arg),
		void *arg)
{
	w->nested_armed = true;
	w->codec.compress.call = w->codec.decompress.call = call;
	w->codec.compress.call_arg = w->codec.decompress.call_arg = arg;
	say("codec.compress.call = codec.decompress.call = %s;", what);
	io_call_at_create(call, arg);
	say("io_call_at_create(%s, NULL);", what);
}

static unsigned choose_nesting_call(struct world *w)
{
	unsigned call = choose(w, nr_calls);

	while (!calls[call].nests)
		call = (call + 1) % nr_calls;
	return call;
}

void choose_nested(struct world *w)
{
	char name[32];

	if (w->depth || w->step->failure || !one_in(w, 12))
		return;
	if (one_in(w, 3)) {
		arm(w, "io_linger", io_linger, NULL);
		return;
	}
	w->nested_call = choose_nesting_call(w);
	w->nested_number = w->nr_nested++;
	snprintf(name, sizeof(name), "call_%u", w->nested_number);
	arm(w, name, nested_call, w);
}

void end_nested(struct world *w)
{
	if (w->depth)
		return;
	if (w->nested_armed && w->codec.compress.call == nested_call) {
		/* Nobody came: the program has the function all the same. */
		program_function(w->nested_number);
		program_function_end();
	}
	if (w->nested_armed) {
		say("codec.compress.call = codec.decompress.call = NULL;");
		say("io_call_at_create(NULL, NULL);");
	}
	disarm(w);
}

/* ---- failures of the hooks ----------------------------------------------- */

static void fail(struct world *w, const char *how, unsigned kinds)
{
	unsigned k = w->step->failure_at;

	if (w->step->failure == FAIL_FROM)
		faulty_fail_from(&w->hooks, kinds, k);
	else
		faulty_fail_nth(&w->hooks, kinds, k);
	say("faulty_fail_%s(&hooks, %s, %u);", how,
	    kinds == FAULTY_THREAD ? "FAULTY_THREAD" : "FAULTY_ANY", k);
}

void plan_failure(struct world *w)
{
	w->hooks.failed = 0;
	switch (w->step->failure) {
	case FAIL_NTH:
		fail(w, "nth", FAULTY_ANY);
		break;
	case FAIL_FROM:
		fail(w, "from", FAULTY_ANY);
		break;
	case FAIL_THREAD:
		fail(w, "nth", FAULTY_THREAD);
		break;
	default:
		break;
	}
}

void end_failure(struct world *w)
{
	if (w->step->failure)
		say("faulty_fail_none(&hooks);");
	faulty_fail_none(&w->hooks);
}

/* ---- steps --------------------------------------------------------------- */

static void be_thread(struct world *w, unsigned thread)
{
	if (thread == w->thread)
		return;
	say("io_be_thread(%u);", thread);
	io_be_thread(thread);
	w->thread = thread;
}

static void run_step(struct world *w, struct step *step)
{
	const struct call *call = &calls[step->call];
	uint64_t takes = faulty_takes(&w->hooks);
	unsigned nr_came = w->nr_came;

	w->step = step;
	w->next_choice = 0;
	step->nr_used = 0;
	w->m.freed = 0;
	w->pinned = w->compacts = false;
	be_thread(w, step->thread);
	plan_failure(w);
	call->run(w);
	w->pinned |= w->nr_came != nr_came;
	if (step->failure && !w->hooks.failed)
		w->sequence->in_vain++;
	end_failure(w);
	if (!call->takes_memory && w->nr_came == nr_came)
		CHECK(faulty_takes(&w->hooks) == takes);
	check_world(w);
}

/* Everything is taken away, and then nothing must be left. */
static void end(struct world *w)
{
	for (unsigned i = 0; i < MODEL_AREAS; i++) {
		struct model_area *a = &w->m.areas[i];

		say("zswap_invalidate(z, %s, UINT64_MAX);",
		    slot_text(zswap_slot(a->type, 0)));
		zswap_invalidate(w->z, zswap_slot(a->type, 0), UINT64_MAX);
		model_clear(&w->m, a, 0, w->m.window);
	}
	w->dead_may_wait = false;
	check_world(w);
	destroy_cache(w);
}

void world_prepare(void)
{
	palette_prepare();
	engines_prepare();
}

void world_run(struct sequence *sequence)
{
	static struct step simplest;
	static struct world world;
	struct world *w = &world;

	w->sequence = sequence;
	w->io = calloc(2, sizeof(*w->io));
	CHECK(w->io);
	w->step = &simplest;
	io_be_thread(w->thread);
	create_cache(w);
	check_world(w);
	for (unsigned i = 0; i < sequence->nr; i++) {
		sequence->begun = i + 1;
		if (i % 64 == 0)
			child_progress();
		run_step(w, &sequence->steps[i]);
	}
	child_progress();
	w->step = &simplest;
	w->pinned = w->compacts = false;
	end(w);
	free(w->io);
}
