/* SPDX-License-Identifier: MIT */
/*
 * property.h - random operations against a model, for so many steps
 *
 * A property is a function that does one run; main() gives it a stream of the
 * process's seed and the number of steps. A failure says the seed; the same
 * seed and steps fail again.
 */
#ifndef TEST_PROPERTY_H
#define TEST_PROPERTY_H

#include "check.h"
#include "random.h"

/* One run from a fresh start. */
void property_run(struct rng *rng, unsigned steps);

#endif
