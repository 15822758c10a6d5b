// SPDX-License-Identifier: MIT
/*
 * property.c - runs a property so many times, each time from another stream
 */
#include "property.h"

#include <stdio.h>
#include <stdlib.h>

#include "watchdog.h"

int main(int argc, char **argv)
{
	unsigned steps = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
	struct rng rng;

	if (!steps || argc > 3) {
		fprintf(stderr, "usage: %s STEPS [RUNS]\n", argv[0]);
		return 2;
	}
	random_print_seed();
	watchdog_start(argv[0], 120);
	for (unsigned run = 0; run < runs; run++) {
		rng_init(&rng, run);
		property_run(&rng, steps);
		watchdog_progress();
	}
	watchdog_stop();
	return 0;
}
