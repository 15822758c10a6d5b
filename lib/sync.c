// SPDX-License-Identifier: MIT
/*
 * sync.c - where a thread waits for a lock, and where it gets its number
 */
#include "sync.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Critical sections last tens of nanoseconds, so a hundred pauses (a few
 * microseconds) outlast any holder that is running; longer only burns the time
 * of a holder that was preempted.
 */
#define SPINS 100
#define SLEEP_NS 1000000

THREAD_LOCAL unsigned thread_number_plus_one;

unsigned thread_number_new(void)
{
	static _Atomic unsigned last;
	unsigned n = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed);

	/*
	 * After 2^32 threads numbers repeat: two threads may then share a
	 * shard, and a debug build may take one for the other.
	 */
	thread_number_plus_one = n + 1 ? n + 1 : 1;
	return thread_number_plus_one - 1;
}

static void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("yield");
#endif
}

/* The time as the system call takes it, whatever the C library's time_t is. */
#ifdef SYS_futex
struct futex_time {
	long sec, nsec;
};
#else
#define SYS_futex SYS_futex_time64
struct futex_time {
	int64_t sec, nsec;
};
#endif

/* Through syscall(), which is no point of cancellation. */
static void futex(_Atomic uint32_t *word, int op, uint32_t value, long nsec)
{
	const struct futex_time limit = { 0, nsec };
	int saved_errno = errno;

	syscall(SYS_futex, word, op, value, &limit, NULL, 0);
	errno = saved_errno;
}

void wait_while(_Atomic uint32_t *word, uint32_t seen)
{
	futex(word, FUTEX_WAIT_PRIVATE, seen, SLEEP_NS);
}

void wake_one(_Atomic uint32_t *word)
{
	futex(word, FUTEX_WAKE_PRIVATE, 1, 0);
}

void lock_wait(struct lock *lock)
{
	for (int i = 0; i < SPINS; i++) {
		cpu_pause();
		if (!atomic_load_explicit(&lock->word, memory_order_relaxed) &&
		    lock_try(lock))
			return;
	}
	atomic_fetch_add_explicit(&lock->waiters, 1, memory_order_relaxed);
	while (!lock_try(lock))
		wait_while(&lock->word, 1);
	atomic_fetch_sub_explicit(&lock->waiters, 1, memory_order_relaxed);
}

void lock_wake(struct lock *lock)
{
	wake_one(&lock->word);
}

void wait_a_moment(unsigned *round)
{
	_Atomic uint32_t nobody = 0;
	long nsec = 20000;

	for (unsigned i = 0; i < *round && nsec < SLEEP_NS; i++)
		nsec *= 2;
	++*round;
	futex(&nobody, FUTEX_WAIT_PRIVATE, 0, nsec);
}
