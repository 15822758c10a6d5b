/* SPDX-License-Identifier: MIT */
/*
 * palette.h - some pages of every kind, made once
 *
 * A model remembers a page by its number here. Making pages anew for each store
 * and each comparison would take longer than all calls.
 */
#ifndef TEST_PALETTE_H
#define TEST_PALETTE_H

#include <stdbool.h>
#include <stddef.h>

#define PALETTE_PAGES 96

/*
 * Page @number of the palette for a page size; read-only memory. Besides the
 * kinds of pagegen.h there are pages whose random part is of every length, for
 * payloads of all lengths.
 */
const void *palette_at(size_t page_size, unsigned number);

/* Whether it repeats one word. */
bool palette_is_filled(unsigned number);

/* Makes all of them; otherwise the first use does. */
void palette_prepare(void);

#endif
