/* SPDX-License-Identifier: MIT */
/*
 * base.h - what every module uses: small macros and debug checks
 *
 * zswap_assert() states an invariant. It costs nothing and checks nothing
 * unless the library is built with -Ddebug_checks=true, for the library never
 * ends its user's process; a debug build traps.
 */
#ifndef ZSWAP_BASE_H
#define ZSWAP_BASE_H

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CACHE_LINE 64

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/*
 * A thread's own variable, there from the thread's start: other models may
 * allocate it when the thread first touches it.
 */
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#ifdef ZSWAP_DEBUG_CHECKS
#define zswap_assert(x) ((x) ? (void)0 : __builtin_trap())
#else
#define zswap_assert(x) ((void)sizeof(x))
#endif

static inline size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Rounds up to a multiple of align, a power of two. */
static inline size_t round_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/*
 * Copies figures into a struct that begins with its size: from its first field,
 * at `head`, on, in units of 8 bytes, those that lie wholly in both structs.
 */
static inline void copy_figures(void *to, const void *from, size_t head,
				size_t from_bytes)
{
	size_t bytes = min_size(*(const size_t *)to, from_bytes);

	memcpy((char *)to + head, (const char *)from + head,
	       (bytes - head) / 8 * 8);
}

#endif /* ZSWAP_BASE_H */
