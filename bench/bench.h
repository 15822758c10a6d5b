/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what every part of zswap-bench shares
 *
 * Clock, random order, medians and spreads, the two ways to give up, and the
 * progress line. Nothing here knows about pages or caches.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PAGE_BYTES 4096u

/* What zswap-bench returns beside 0. */
enum {
	EXIT_BROKEN = 1,    /* the library gave wrong bytes, or an error */
	EXIT_BAD_INPUT = 2, /* the caller's arguments, files, machine */
	EXIT_SKIPPED = 77,  /* this machine can't do what was asked for */
};

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* One line on stderr, then the end of the program. */
_Noreturn void bad_input(const char *fmt, ...) PRINTF_LIKE(1, 2);
_Noreturn void broken(const char *fmt, ...) PRINTF_LIKE(1, 2);
_Noreturn void skipped(const char *fmt, ...) PRINTF_LIKE(1, 2);

/*
 * check_output() - end the program now when @path could not be written later
 * @path: NULL is fine
 */
void check_output(const char *path);

/* ---- memory: zeroed, never NULL ---------------------------------------- */

void *bench_alloc(size_t count, size_t bytes);
void *bench_grow(void *old, size_t count, size_t bytes);
char *bench_format(const char *fmt, ...) PRINTF_LIKE(1, 2);

void *bench_map(size_t bytes);

/* bench_map_touched() - like bench_map(), but using it faults no more */
void *bench_map_touched(size_t bytes);
void bench_unmap(void *addr, size_t bytes);

/* bench_rss_bytes() - resident bytes of this process; 0 when unknown */
size_t bench_rss_bytes(void);

/* ---- time -------------------------------------------------------------- */

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* clock_cost_ns() - what one now_ns() costs, part of each percentile */
double clock_cost_ns(void);

/* ---- order ------------------------------------------------------------- */

/* The same seed gives the same order, so both sides of a repeat agree. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *rng);
void shuffle(struct rng *rng, uint32_t *items, size_t count);

/* ---- numbers ----------------------------------------------------------- */

struct summary {
	double median;
	double spread; /* p75 - p25 */
};

struct latency {
	double p50_us;
	double p99_us;
	double p999_us;
};

/* Both sort what they are given. An empty set gives NAN. */
struct summary summarize(double *values, size_t count);
struct latency latency_of(double *ns, size_t count);

/*
 * median_across() - of one field of @count structs
 * @first:        the first one's field
 * @stride_bytes: from one to the next
 */
double median_across(const double *first, size_t count, size_t stride_bytes);

/* ---- progress ---------------------------------------------------------- */

/* A line on stderr that the next one replaces; nothing off a terminal. */
void progress(const char *fmt, ...) PRINTF_LIKE(1, 2);
void progress_clear(void);

#endif /* BENCH_BENCH_H */
