// SPDX-License-Identifier: MIT
/*
 * payload.c - where in its memory a cache keeps a compressed page
 *
 * The search is in copies of the mappings, as most of them may not be read.
 */
#include "payload.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "peek.h"

/* Fewer different bytes than this: a table of pointers, say. */
#define VARIED 24

#define MAX_MAPPINGS 16

struct mapping {
	unsigned char *copy, *addr;
	size_t bytes;
};

/* A place in a copy where a block may begin. */
struct place {
	uint64_t word; /* that it begins with, by which places are sorted */
	unsigned char *addr;
	size_t room; /* from there to the end of the copy */
};

struct places {
	struct place *all;
	size_t nr, max;
	struct mapping mappings[MAX_MAPPINGS];
	size_t nr_mappings;
};

static void add_place(struct places *p, unsigned char *addr, size_t room)
{
	uint64_t word;

	memcpy(&word, addr, sizeof(word));
	if (!word)
		return;
	if (p->nr == p->max) {
		p->max = p->max ? 2 * p->max : 4096;
		p->all = realloc(p->all, p->max * sizeof(*p->all));
		CHECK(p->all);
	}
	p->all[p->nr++] = (struct place){ word, addr, room };
}

static void add_mapping(void *arg, void *addr, size_t bytes)
{
	struct places *p = arg;
	unsigned char *copy = peek_mapping(addr, bytes);
	size_t at;

	CHECK(p->nr_mappings < MAX_MAPPINGS);
	p->mappings[p->nr_mappings++] = (struct mapping){ copy, addr, bytes };
	for (at = 0; at < bytes; at += 8)
		add_place(p, copy + at, bytes - at);
}

/* The place in the mapping of what was found in its copy. */
static unsigned char *original(const struct places *p, unsigned char *at)
{
	const struct mapping *m = p->mappings;

	while (at < m->copy || at >= m->copy + m->bytes)
		m++;
	return m->addr + (at - m->copy);
}

static void free_places(struct places *p)
{
	size_t i;

	for (i = 0; i < p->nr_mappings; i++)
		free(p->mappings[i].copy);
	free(p->all);
}

static int by_word(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->word != y->word)
		return x->word < y->word ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool is_varied(const unsigned char *block, size_t len)
{
	bool seen[256] = { false };
	int nr = 0;
	size_t i;

	for (i = 0; i < len && nr < VARIED; i++) {
		nr += !seen[block[i]];
		seen[block[i]] = true;
	}
	return nr == VARIED;
}

/* The copies of the block at place @i among those with the same first word. */
static int copies_of(const struct places *p, size_t i, size_t len,
		     unsigned char **copies)
{
	const struct place *one = &p->all[i], *other;
	int nr = 1;

	copies[0] = one->addr;
	for (other = one + 1;
	     other < p->all + p->nr && other->word == one->word; other++)
		if (nr < PAYLOAD_MAX_COPIES && other->room >= len &&
		    memcmp(one->addr, other->addr, len) == 0)
			copies[nr++] = other->addr;
	return nr;
}

/*
 * What follows a payload may be the same for both, zeros for example, so that
 * they match from further on as well. What comes before never is: the object's
 * header, which tells its owner.
 */
static void go_to_start(unsigned char **copies, int nr)
{
	int i;

	for (;;) {
		for (i = 1; i < nr; i++)
			if (memcmp(copies[0] - 8, copies[i] - 8, 8) != 0)
				return;
		for (i = 0; i < nr; i++)
			copies[i] -= 8;
	}
}

int payload_find_copies(struct faulty *f, size_t len,
			unsigned char *copies[PAYLOAD_MAX_COPIES])
{
	struct places places = { 0 };
	int nr = 0, c;
	size_t i;

	faulty_each_map(f, add_mapping, &places);
	if (places.nr)
		qsort(places.all, places.nr, sizeof(*places.all), by_word);
	for (i = 0; nr < 2 && i < places.nr; i++)
		if (places.all[i].room >= len &&
		    is_varied(places.all[i].addr, len))
			nr = copies_of(&places, i, len, copies);
	if (nr < 2)
		nr = 0;
	if (nr)
		go_to_start(copies, nr);
	for (c = 0; c < nr; c++)
		copies[c] = original(&places, copies[c]);
	free_places(&places);
	return nr;
}
