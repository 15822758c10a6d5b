// SPDX-License-Identifier: MIT
/*
 * palette.c - some pages of every kind, made once
 */
#include "palette.h"

#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "pagegen.h"

static const size_t sizes[] = { 4096, 16384, 65536 };

#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static char *pages[NR_SIZES];

/* Of 8 pages 2 are partly random: by 1/24, 2/24 ... of their length. */
static void make_part(void *page, size_t page_size, unsigned number)
{
	size_t nth = number / 8 * 2 + number % 8 / 4 + 1;
	size_t part = page_size * nth / (PALETTE_PAGES / 4);

	page_make_part(page, page_size, part, number);
}

static void make_page(void *page, size_t page_size, unsigned number)
{
	static const enum page_kind kinds[8] = { PAGE_TEXT,   PAGE_KINDS,
						 PAGE_RANDOM, PAGE_ZERO,
						 PAGE_KINDS,  PAGE_HALF,
						 PAGE_ALMOST, PAGE_WORD };
	enum page_kind kind = kinds[number % 8];

	if (kind == PAGE_KINDS)
		make_part(page, page_size, number);
	else
		page_make(page, page_size, kind, number);
}

static void prepare(unsigned size)
{
	size_t bytes = PALETTE_PAGES * sizes[size];

	pages[size] = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages[size] != MAP_FAILED);
	for (unsigned i = 0; i < PALETTE_PAGES; i++) {
		char *page = pages[size] + i * sizes[size];

		make_page(page, sizes[size], i);
		CHECK(page_is_filled(page, sizes[size]) ==
		      palette_is_filled(i));
	}
	CHECK(mprotect(pages[size], bytes, PROT_READ) == 0);
}

void palette_prepare(void)
{
	for (unsigned size = 0; size < NR_SIZES; size++)
		if (!pages[size])
			prepare(size);
}

bool palette_is_filled(unsigned number)
{
	return number % 8 == 3 || number % 8 == 7;
}

const void *palette_at(size_t page_size, unsigned number)
{
	unsigned size = 0;

	palette_prepare();
	while (sizes[size] != page_size)
		size++;
	return pages[size] + number % PALETTE_PAGES * page_size;
}
