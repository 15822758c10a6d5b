// SPDX-License-Identifier: MIT
#include "fill.h"

#include <string.h>

/*
 * A page repeats its first word when it equals itself moved by one word. Most
 * pages that do not differ early, and many that begin alike differ at the end;
 * so the last word is looked at first, then memcmp() stops at the first
 * difference.
 */
bool fill_detect(const void *page, size_t bytes, uint64_t *word)
{
	const char *p = page;
	uint64_t first, last;

	memcpy(&first, p, sizeof(first));
	memcpy(&last, p + bytes - sizeof(last), sizeof(last));
	if (first != last ||
	    memcmp(p, p + sizeof(first), bytes - sizeof(first)))
		return false;
	*word = first;
	return true;
}

void fill_page(void *page, size_t bytes, uint64_t word)
{
	char *p = page;

	for (size_t i = 0; i < bytes; i += sizeof(word))
		memcpy(p + i, &word, sizeof(word));
}
