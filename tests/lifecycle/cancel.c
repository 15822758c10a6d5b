// SPDX-License-Identifier: MIT
/*
 * cancel.c - no call is a point of cancellation
 *
 * A thread that was cancelled before its call, with cancellation deferred,
 * comes back from it with the usual result, and ends at the next point of its
 * own. So it is with each call of the table, after which the cache is whole;
 * and with many such threads at once, which wait for each other in there.
 */
#include <stdatomic.h>

#include "calls.h"
#include "process.h"
#include "scene.h"

#define NR_CANCELLED 8

struct cancelled {
	struct scene *scene;
	const struct call *call;
	bool came_back;
};

static void *call_when_cancelled(void *arg)
{
	struct cancelled *c = arg;

	CHECK(pthread_cancel(pthread_self()) == 0);
	call_here(c->call, c->scene);
	c->came_back = true;
	pthread_testcancel();
	return NULL;
}

static void join_cancelled(pthread_t thread)
{
	void *result;

	CHECK(pthread_join(thread, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
}

/* What the call has left, and that the cache goes on working. */
static void check_whole(struct scene *s)
{
	uint64_t version;

	scene_check(s);
	stress_check_sums(s->z);
	CHECK(zswap_set_enabled(s->z, true) == 0);
	CHECK(zswap_set_max_pool_bytes(s->z, ZSWAP_UNLIMITED) == 0);
	CHECK(stress_store(s->z, at(CALLS_FIRST), 7) == 0);
	CHECK(stress_load(s->z, at(CALLS_FIRST), false, &version) == 0);
	CHECK(version == 7);
}

/* With the default hooks as well, whose system calls are the library's. */
static void cancel_during(const struct call *call, bool default_hooks)
{
	static struct scene s;
	struct cancelled c = { &s, call, false };
	pthread_t thread;

	scene_init(&s);
	if (default_hooks)
		s.params.hooks = NULL;
	scene_fill(&s);
	CHECK(pthread_create(&thread, NULL, call_when_cancelled, &c) == 0);
	join_cancelled(thread);
	CHECK(c.came_back);
	if (s.z) {
		check_whole(&s);
		zswap_destroy(s.z);
	}
	scene_end(&s);
	watchdog_progress();
}

/* ---- many at once ------------------------------------------------------ */

struct crowd {
	struct scene scene;
	atomic_uint came_back;
	unsigned rounds;
};

/* Not on the stack, which a thread that is cancelled leaves unclean. */
struct member {
	struct crowd *crowd;
	struct caller caller;
};

static void *call_all_when_cancelled(void *arg)
{
	struct member *member = arg;
	struct crowd *crowd = member->crowd;
	unsigned round;
	size_t i;

	CHECK(pthread_cancel(pthread_self()) == 0);
	for (round = 0; round < crowd->rounds; round++)
		for (i = 0; i < nr_calls; i++) {
			caller_init(&member->caller, &crowd->scene);
			if (!call_ends_something(calls[i].rule))
				calls[i].run(&member->caller);
		}
	atomic_fetch_add(&crowd->came_back, 1);
	pthread_testcancel();
	return NULL;
}

static void cancel_a_crowd(void)
{
	static struct member members[NR_CANCELLED];
	static struct crowd crowd;
	pthread_t threads[NR_CANCELLED];
	unsigned i;

	crowd.rounds = test_rounds(30);
	scene_begin(&crowd.scene);
	for (i = 0; i < NR_CANCELLED; i++) {
		members[i].crowd = &crowd;
		CHECK(pthread_create(&threads[i], NULL, call_all_when_cancelled,
				     &members[i]) == 0);
	}
	for (i = 0; i < NR_CANCELLED; i++)
		join_cancelled(threads[i]);
	CHECK(atomic_load(&crowd.came_back) == NR_CANCELLED);
	check_whole(&crowd.scene);
	zswap_destroy(crowd.scene.z);
	scene_end(&crowd.scene);
}

int main(void)
{
	size_t i;

	watchdog_start("cancel", 60);
	for (i = 0; i < nr_calls; i++) {
		cancel_during(&calls[i], false);
		cancel_during(&calls[i], true);
	}
	cancel_a_crowd();
	watchdog_stop();
	return 0;
}
