// SPDX-License-Identifier: MIT
/*
 * bench.c - clock, order, numbers, ends; see bench.h
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- ends -------------------------------------------------------------- */

static void complain(const char *fmt, va_list args)
{
	progress_clear();
	fflush(stdout); /* what was said before stays before */
	fputs("zswap-bench: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void bad_input(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
	exit(EXIT_BAD_INPUT);
}

void broken(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
	exit(EXIT_BROKEN);
}

void skipped(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
	exit(EXIT_SKIPPED);
}

/*
 * Opening for appending leaves an older file as it is; a new one goes again. So
 * a run that fails leaves no half a result.
 */
void check_output(const char *path)
{
	struct stat st;
	bool is_new; /* a link is there, if only a link */
	int fd;

	if (!path)
		return;
	is_new = lstat(path, &st) != 0;
	/* A pipe without a reader is an error rather than a wait. */
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK,
		  0666);
	if (fd < 0)
		bad_input("%s: %s", path, strerror(errno));
	close(fd);
	if (is_new)
		unlink(path);
}

/* ---- memory ------------------------------------------------------------ */

void *bench_alloc(size_t count, size_t bytes)
{
	void *ptr = calloc(count ? count : 1, bytes);

	if (!ptr)
		bad_input("out of memory");
	return ptr;
}

void *bench_grow(void *old, size_t count, size_t bytes)
{
	void *ptr = reallocarray(old, count, bytes);

	if (!ptr)
		bad_input("out of memory");
	return ptr;
}

char *bench_format(const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		bad_input("out of memory");
	return text;
}

void *bench_map(size_t bytes)
{
	void *addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		bad_input("no memory for %zu MiB of pages", bytes >> 20);
	return addr;
}

void *bench_map_touched(size_t bytes)
{
	volatile unsigned char *addr = bench_map(bytes);

	for (size_t at = 0; at < bytes; at += PAGE_BYTES)
		addr[at] = 0; /* reading would map the shared zero page */
	return (void *)addr;
}

void bench_unmap(void *addr, size_t bytes)
{
	if (addr)
		munmap(addr, bytes);
}

/* Text of a small file under /proc; empty when it cannot be read. */
static void read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = -1;

	if (fd >= 0) {
		len = read(fd, buf, size - 1);
		close(fd);
	}
	buf[len > 0 ? len : 0] = '\0';
}

/*
 * smaps_rollup walks the page tables and is exact. statm reads counters that
 * newer kernels keep per CPU and that lag by some pages: second choice.
 */
size_t bench_rss_bytes(void)
{
	char buf[4096];
	unsigned long long value = 0;
	const char *line;

	read_text("/proc/self/smaps_rollup", buf, sizeof(buf));
	line = strstr(buf, "\nRss:");
	if (line && sscanf(line, "\nRss: %llu kB", &value) == 1)
		return value * 1024;

	read_text("/proc/self/statm", buf, sizeof(buf));
	if (sscanf(buf, "%*s %llu", &value) == 1)
		return value * (size_t)sysconf(_SC_PAGESIZE);
	return 0;
}

/* ---- time -------------------------------------------------------------- */

double clock_cost_ns(void)
{
	enum { ROUNDS = 10000 };
	uint64_t start = now_ns(), end = start;

	for (int i = 0; i < ROUNDS; i++)
		end = now_ns();
	return (double)(end - start) / ROUNDS;
}

/* ---- order ------------------------------------------------------------- */

/* splitmix64: short, and any seed is a good one. */
uint64_t rng_next(struct rng *rng)
{
	uint64_t x = rng->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void shuffle(struct rng *rng, uint32_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = rng_next(rng) % i;
		uint32_t item = items[i - 1];

		items[i - 1] = items[j];
		items[j] = item;
	}
}

/* ---- numbers ----------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Between two neighbours of a sorted set, in proportion. */
static double quantile(const double *sorted, size_t count, double q)
{
	double at = q * (double)(count - 1);
	size_t low = (size_t)at;
	size_t high = low + 1 < count ? low + 1 : low;

	return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct summary summarize(double *values, size_t count)
{
	struct summary s = { NAN, NAN };

	if (!count)
		return s;
	qsort(values, count, sizeof(*values), compare);
	s.median = quantile(values, count, 0.5);
	s.spread = quantile(values, count, 0.75) -
		   quantile(values, count, 0.25);
	return s;
}

double median_across(const double *first, size_t count, size_t stride_bytes)
{
	double *values = bench_alloc(count, sizeof(*values)), median;

	for (size_t i = 0; i < count; i++)
		values[i] = *(const double *)(const void *)(
			(const char *)first + i * stride_bytes);
	median = summarize(values, count).median;
	free(values);
	return median;
}

struct latency latency_of(double *ns, size_t count)
{
	struct latency l = { NAN, NAN, NAN };

	if (!count)
		return l;
	qsort(ns, count, sizeof(*ns), compare);
	l.p50_us = quantile(ns, count, 0.5) / 1000;
	l.p99_us = quantile(ns, count, 0.99) / 1000;
	l.p999_us = quantile(ns, count, 0.999) / 1000;
	return l;
}

/* ---- progress ---------------------------------------------------------- */

static bool progress_shown;

void progress(const char *fmt, ...)
{
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	fputc('\r', stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("\033[K", stderr);
	fflush(stderr);
	progress_shown = true;
}

void progress_clear(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}
