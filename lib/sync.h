/* SPDX-License-Identifier: MIT */
/*
 * sync.h - a four-byte lock, and a number that spreads threads over shards
 *
 * The lock is taken with one atomic instruction and given back with a plain
 * store; a pthread mutex is ten times the size and needs an atomic instruction
 * for each. That matters here: a load takes four locks in about two
 * microseconds.
 *
 * A waiter spins a little, then sleeps in the kernel on the lock's word. The
 * store that unlocks is not ordered against the following look at `waiters`, so
 * a waiter that is just going to sleep can be missed. It therefore never sleeps
 * longer than a millisecond: a missed wake-up costs that, never a hang. The
 * holder can always run meanwhile, whatever the threads' priorities.
 *
 * In a debug build a lock knows its owner, lock_assert_held() checks it, and
 * taking a lock twice traps.
 */
#ifndef ZSWAP_SYNC_H
#define ZSWAP_SYNC_H

#include "base.h"

struct lock {
	_Atomic uint32_t word; /* 0 free, 1 taken */
#ifdef ZSWAP_DEBUG_CHECKS
	_Atomic uint32_t owner; /* thread_number() + 1 of the holder, or 0 */
#endif
	_Atomic uint32_t waiters;
};

/* The slow halves, in sync.c. */
void lock_wait(struct lock *lock);
void lock_wake(struct lock *lock);

/*
 * Sleeps while *word is what was seen, until wake_one() or for a millisecond.
 * None of the waits here is a point of cancellation: a thread that is cancelled
 * in the middle of a call would leave half its work.
 */
void wait_while(_Atomic uint32_t *word, uint32_t seen);
void wake_one(_Atomic uint32_t *word);

/* Sleeps for a moment that grows with *round: for waits on rare events. */
void wait_a_moment(unsigned *round);

/*
 * The number of the calling thread, from 0 on. Threads that never call the
 * library get none.
 */
extern THREAD_LOCAL unsigned thread_number_plus_one;
unsigned thread_number_new(void);

static inline unsigned thread_number(void)
{
	unsigned n = thread_number_plus_one;

	return likely(n) ? n - 1 : thread_number_new();
}

static inline bool lock_try(struct lock *lock)
{
	uint32_t free_word = 0;

	if (!atomic_compare_exchange_strong_explicit(&lock->word, &free_word, 1,
						     memory_order_acquire,
						     memory_order_relaxed))
		return false;
#ifdef ZSWAP_DEBUG_CHECKS
	atomic_store_explicit(&lock->owner, thread_number() + 1,
			      memory_order_relaxed);
#endif
	return true;
}

static inline void lock_assert_held(struct lock *lock)
{
#ifdef ZSWAP_DEBUG_CHECKS
	zswap_assert(atomic_load_explicit(&lock->owner, memory_order_relaxed) ==
		     thread_number() + 1);
#else
	(void)lock;
#endif
}

static inline void lock_take(struct lock *lock)
{
#ifdef ZSWAP_DEBUG_CHECKS
	zswap_assert(atomic_load_explicit(&lock->owner, memory_order_relaxed) !=
		     thread_number() + 1);
#endif
	if (unlikely(!lock_try(lock)))
		lock_wait(lock);
}

static inline void lock_give(struct lock *lock)
{
#ifdef ZSWAP_DEBUG_CHECKS
	lock_assert_held(lock);
	atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
#endif
	atomic_store_explicit(&lock->word, 0, memory_order_release);
	if (unlikely(
		    atomic_load_explicit(&lock->waiters, memory_order_relaxed)))
		lock_wake(lock);
}

#endif /* ZSWAP_SYNC_H */
