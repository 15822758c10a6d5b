/* SPDX-License-Identifier: MIT */
/*
 * shrink.h - a shorter and simpler sequence that fails in the same way
 */
#ifndef TEST_SHRINK_H
#define TEST_SHRINK_H

#include "child.h"

/*
 * Changes the sequence in place, until nothing can be left out or a number of
 * runs is used up. @verdict: how it fails. False when it does not fail again.
 */
bool shrink(struct sequence *sequence, const struct verdict *verdict);

#endif
