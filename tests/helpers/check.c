// SPDX-License-Identifier: MIT
/*
 * check.c - assertions that may fail in any thread
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "random.h"

void check_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
	random_print_seed();
	abort();
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
