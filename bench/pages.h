/* SPDX-License-Identifier: MIT */
/*
 * pages.h - corpora: sets of pages to store and load
 *
 * A corpus is a run of pages in touched memory. Its neighbours are neighbours
 * where they come from, so a folio of them is real.
 */
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

#include "bench.h"

#include <string.h>

struct corpus {
	char *name;   /* as in the tables */
	char *origin; /* a sentence for the reader, or NULL */
	unsigned char *pages;
	size_t nr_pages;   /* of PAGE_BYTES; at least 1 */
	size_t room_bytes; /* of the mapping behind pages */
};

struct corpora {
	struct corpus *items;
	size_t count;
};

static inline size_t corpus_bytes(const struct corpus *c)
{
	return c->nr_pages * PAGE_BYTES;
}

/* page_is_filled() - whether a page of PAGE_BYTES repeats one 64-bit word */
static inline bool page_is_filled(const unsigned char *page)
{
	return !memcmp(page, page + sizeof(uint64_t),
		       PAGE_BYTES - sizeof(uint64_t));
}

/**
 * corpora_add_path() - a file, a .zst file, or each file of a folder
 * @max_pages: of each file, from its beginning
 *
 * A tail shorter than a page is dropped. In a folder files shorter than a page
 * and those called README* are passed over. Anything wrong ends the program.
 */
void corpora_add_path(struct corpora *all, const char *path, size_t max_pages);

/* corpora_add() - takes over @c, whose pages come from elsewhere */
void corpora_add(struct corpora *all, struct corpus c);

/* corpus_room() - make @c's room for @max_pages pages, still empty */
void corpus_room(struct corpus *c, size_t max_pages);

/* corpus_trim() - give the room behind the last page back */
void corpus_trim(struct corpus *c);

/**
 * corpus_append_file() - add a plain file's whole pages, as many as fit
 *
 * Return: the pages added; 0 also when the file cannot be read.
 */
size_t corpus_append_file(struct corpus *c, const char *path, size_t max_pages);

/**
 * corpora_cut() - leave whole units of @unit_bytes, a multiple of PAGE_BYTES
 *
 * Corpora without one are left out, which is told; if all are, that ends the
 * program.
 */
void corpora_cut(struct corpora *all, size_t unit_bytes);

void corpora_free(struct corpora *all);

#endif /* BENCH_PAGES_H */
