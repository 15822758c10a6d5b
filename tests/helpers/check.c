// SPDX-License-Identifier: MIT
/*
 * check.c - assertions that may fail in any thread
 */
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "random.h"

static _Atomic(const char *) context;

void check_context(const char *doing)
{
	atomic_store(&context, doing);
}

void check_print_context(void)
{
	const char *doing = atomic_load(&context);

	if (doing)
		fprintf(stderr, "in: %s\n", doing);
	random_print_seed();
}

void check_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
	check_print_context();
	abort();
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
