/* SPDX-License-Identifier: MIT */
/*
 * fill.h - pages that repeat one 64-bit word
 */
#ifndef ZSWAP_FILL_H
#define ZSWAP_FILL_H

#include "base.h"

/* Whether all of a page (a multiple of 16 bytes) repeats *word, set if so. */
bool fill_detect(const void *page, size_t bytes, uint64_t *word);

void fill_page(void *page, size_t bytes, uint64_t word);

#endif /* ZSWAP_FILL_H */
