// SPDX-License-Identifier: MIT
/*
 * threads.c - threads of a test, and how long it may run
 */
#include "threads.h"

#include <sched.h>
#include <stdlib.h>

#include "check.h"
#include "watchdog.h"

static void *thread_main(void *arg)
{
	struct thread *thread = arg;

	thread->run(thread->arg);
	return NULL;
}

void thread_start(struct thread *thread, void (*run)(void *arg), void *arg)
{
	thread->run = run;
	thread->arg = arg;
	CHECK(pthread_create(&thread->id, NULL, thread_main, thread) == 0);
}

void thread_join(struct thread *thread)
{
	CHECK(pthread_join(thread->id, NULL) == 0);
}

struct crew_member {
	pthread_t id;
	pthread_barrier_t *start;
	unsigned index;
	void (*run)(unsigned index, void *arg);
	void *arg;
};

static void *crew_main(void *arg)
{
	struct crew_member *member = arg;

	pthread_barrier_wait(member->start);
	member->run(member->index, member->arg);
	return NULL;
}

void run_threads(unsigned nr, void (*run)(unsigned index, void *arg), void *arg)
{
	struct crew_member *crew = calloc(nr, sizeof(*crew));
	pthread_barrier_t start;
	unsigned i;

	CHECK(crew && pthread_barrier_init(&start, NULL, nr) == 0);
	for (i = 0; i < nr; i++) {
		crew[i].start = &start;
		crew[i].index = i;
		crew[i].run = run;
		crew[i].arg = arg;
		CHECK(pthread_create(&crew[i].id, NULL, crew_main, &crew[i]) ==
		      0);
	}
	for (i = 0; i < nr; i++)
		CHECK(pthread_join(crew[i].id, NULL) == 0);
	pthread_barrier_destroy(&start);
	free(crew);
}

/* ---- meetings ---------------------------------------------------------- */

/* Looks before others on a busy machine get the processor. */
#define MANY_LOOKS 2000

void meeting_init(struct meeting *meeting, unsigned nr)
{
	meeting->nr = nr;
	atomic_init(&meeting->arrived, 0);
	atomic_init(&meeting->round, 0);
}

void meet(struct meeting *meeting)
{
	unsigned round = atomic_load(&meeting->round), looks = 0;

	if (atomic_fetch_add(&meeting->arrived, 1) + 1 == meeting->nr) {
		atomic_store(&meeting->arrived, 0);
		atomic_fetch_add(&meeting->round, 1);
		return;
	}
	while (atomic_load(&meeting->round) == round)
		if (++looks % MANY_LOOKS == 0)
			sched_yield();
}

/* ---- time -------------------------------------------------------------- */

double test_scale(void)
{
	const char *text = getenv("ZSWAP_TEST_SCALE");
	double scale = text ? strtod(text, NULL) : 1;

	return scale > 0 ? scale : 1;
}

unsigned test_rounds(unsigned nr)
{
	if (getenv("ZSWAP_TEST_FEW_VARIANTS"))
		nr = (nr + 7) / 8;
	return (unsigned)(nr * test_scale());
}

uint64_t deadline_after_ms(unsigned ms)
{
	return now_ns() + (uint64_t)(ms * 1e6 * test_scale());
}

bool deadline_is_over(uint64_t deadline)
{
	watchdog_progress();
	return now_ns() >= deadline;
}
