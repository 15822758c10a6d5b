// SPDX-License-Identifier: MIT
/*
 * test_sync.c - the lock excludes, waits and wakes; threads have numbers
 */
#include "unit.h"

#include <errno.h>

#include "check.h"
#include "sync.h"
#include "threads.h"
#include "watchdog.h"

#define NR_THREADS 4

static void a_lock_is_taken_once(void **state)
{
	struct lock lock = { 0 };

	(void)state;
	assert_true(lock_try(&lock));
	assert_false(lock_try(&lock));
	lock_give(&lock);
	assert_true(lock_try(&lock));
	lock_give(&lock);
}

struct counter {
	struct lock lock;
	unsigned long count; /* guarded by nothing but the lock */
	unsigned long rounds;
};

static void count(unsigned index, void *arg)
{
	struct counter *c = arg;

	for (unsigned long i = 0; i < c->rounds; i++) {
		lock_take(&c->lock);
		lock_assert_held(&c->lock);
		c->count++;
		lock_give(&c->lock);
		/* Try as well as take, for they share little code. */
		if (i % NR_THREADS == index && lock_try(&c->lock))
			lock_give(&c->lock);
	}
	watchdog_progress();
}

static void threads_under_a_lock_exclude_each_other(void **state)
{
	struct counter c = { .rounds = 50000 };

	(void)state;
	run_threads(NR_THREADS, count, &c);
	assert_int_equal(c.count, NR_THREADS * c.rounds);
	assert_int_equal(c.lock.waiters, 0);
}

static void take_and_give(void *arg)
{
	struct lock *lock = arg;

	errno = EDOM;
	lock_take(lock);
	CHECK(errno == EDOM);
	lock_give(lock);
	CHECK(errno == EDOM);
}

/* Takes the lock, and returns when a thread sleeps for it. */
static void let_one_wait(struct lock *lock, struct thread *thread)
{
	unsigned round = 0;

	lock_take(lock);
	thread_start(thread, take_and_give, lock);
	while (!atomic_load(&lock->waiters))
		wait_a_moment(&round);
}

static void a_waiter_gets_the_lock_and_keeps_its_errno(void **state)
{
	struct lock lock = { 0 };
	struct thread thread;

	(void)state;
	let_one_wait(&lock, &thread);
	assert_false(lock_try(&lock));
	errno = ERANGE;
	lock_give(&lock);
	assert_int_equal(errno, ERANGE);
	thread_join(&thread);
	assert_int_equal(lock.waiters, 0);
	assert_true(lock_try(&lock));
	lock_give(&lock);
}

/* What happens when lock_give() does not see the waiter. */
static void a_missed_wake_up_is_made_good(void **state)
{
	struct lock lock = { 0 };
	struct thread thread;

	(void)state;
	for (int i = 0; i < 20; i++) {
		let_one_wait(&lock, &thread);
#ifdef ZSWAP_DEBUG_CHECKS
		atomic_store(&lock.owner, 0);
#endif
		atomic_store(&lock.word, 0);
		thread_join(&thread); /* or the watchdog barks */
	}
}

static void waiting_a_moment_keeps_errno(void **state)
{
	unsigned round = 0;

	(void)state;
	errno = ERANGE;
	for (int i = 0; i < 10; i++)
		wait_a_moment(&round);
	assert_int_equal(round, 10);
	assert_int_equal(errno, ERANGE);
}

static void note_number(unsigned index, void *arg)
{
	unsigned *numbers = arg;

	numbers[index] = thread_number();
	for (int i = 0; i < 1000; i++)
		CHECK(thread_number() == numbers[index]);
}

static void every_thread_has_its_own_number(void **state)
{
	unsigned numbers[17];

	(void)state;
	numbers[16] = thread_number();
	run_threads(8, note_number, numbers);
	run_threads(8, note_number, numbers + 8);
	assert_int_equal(thread_number(), numbers[16]);
	for (int i = 0; i < 17; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(numbers[i], numbers[j]);
}

static void take_twice(void *arg)
{
	lock_take(arg);
	lock_take(arg);
}

static void give_what_is_not_held(void *arg)
{
	lock_give(arg);
}

static void assert_held(void *arg)
{
	lock_assert_held(arg);
}

static void a_debug_build_knows_the_owner(void **state)
{
#ifdef ZSWAP_DEBUG_CHECKS
	struct lock lock = { 0 };

	(void)state;
	assert_true(unit_dies(take_twice, &lock));
	assert_true(unit_dies(give_what_is_not_held, &lock));
	assert_true(unit_dies(assert_held, &lock));
	lock_take(&lock);
	assert_false(unit_dies(assert_held, &lock));
	lock_give(&lock);
#else
	(void)state, (void)take_twice, (void)give_what_is_not_held;
	(void)assert_held;
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_lock_is_taken_once),
		cmocka_unit_test(threads_under_a_lock_exclude_each_other),
		cmocka_unit_test(a_waiter_gets_the_lock_and_keeps_its_errno),
		cmocka_unit_test(a_missed_wake_up_is_made_good),
		cmocka_unit_test(waiting_a_moment_keeps_errno),
		cmocka_unit_test(every_thread_has_its_own_number),
		cmocka_unit_test(a_debug_build_knows_the_owner),
	};

	watchdog_start("test_sync", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
