/* SPDX-License-Identifier: MIT */
/*
 * shrink.h - a shorter and simpler sequence that fails in the same way
 */
#ifndef TEST_SHRINK_H
#define TEST_SHRINK_H

#include "child.h"

/*
 * Changes the sequence in place, until nothing can be left out or a time is
 * over. @verdict: how it fails. False when it does not fail again.
 */
bool shrink(struct sequence *sequence, const struct verdict *verdict);

/* How long to wait for it: what hung once will hang again, and sooner. */
unsigned shrink_hang_s(const struct verdict *verdict);

#endif
