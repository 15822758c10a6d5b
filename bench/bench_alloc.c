// SPDX-License-Identifier: MIT
/*
 * bench_alloc.c - the allocator by itself, beside others
 *
 * Objects of the sizes that a codec makes of the corpora's pages; same-filled
 * pages have none. Each measurement is in a process of its own, for each heap
 * to be as fresh; they take turns, repeat by repeat. See objects.h.
 */
#include "topics.h"

#include "child.h"
#include "json.h"
#include "objects.h"
#include "rival.h"
#include "series.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define OBJECTS 100000u /* while times are taken */
#define QUICK_OBJECTS 5000u
#define REPEATS 11
#define QUICK_REPEATS 3
#define NR_FILLS 4
#define QUICK_FILLS 2

static const uint32_t fills[NR_FILLS] = { 1000, 10000, 100000, 1000000 };

/* The library's own pools come first, then the rivals. */
static const struct {
	const char *name;
	struct zs_pool_params params;
} pools[] = {
	{ .name = "zsmalloc" },
	{ .name = "adaptive",
	  .params = { .class_choice = ZSWAP_CLASSES_ADAPTIVE,
		      .compaction = ZSWAP_COMPACT_AUTO } },
};

#define NR_POOLS (sizeof(pools) / sizeof(*pools))
#define NR_ENTRANTS (NR_POOLS + NR_RIVALS)
#define STANDARD (NR_POOLS + JEMALLOC) /* what ratios are to */

/* What a child process is asked for, and where it answers. */
struct entrant {
	unsigned number;
	const struct sizes *sizes;
	uint32_t nr_objects;
	size_t nr_fills;
	uint64_t seed;
	char why_not[160]; /* empty when it is there */
	struct object_times times;
	struct object_space spaces[NR_FILLS];
};

/* Of one codec. */
struct trial {
	const struct codec *codec;
	struct sizes sizes;
	unsigned repeats;
	struct entrant *entrants; /* shared with children */
	struct series ns[NR_STATES][NR_WORKS];
};

/* A state of one heap, or one of its fills. */
struct alloc_row {
	const struct codec *codec;
	const char *name;
	unsigned state, repeats;
	uint32_t nr_objects;
	bool is_fill;
	struct summary ns[NR_WORKS], ratios[NR_WORKS];
	double live_bytes, held_bytes;
};

struct rows {
	struct alloc_row *items;
	size_t count;
};

static const char *const state_names[NR_STATES] = { "cold", "warm" };
static const char *const work_names[NR_WORKS] = { "write", "read", "free" };

static const char *name_of(unsigned number)
{
	return number < NR_POOLS ? pools[number].name :
				   rival_name(number - NR_POOLS);
}

/* ---- sizes ------------------------------------------------------------- */

static void add_sizes(struct sizes *s, const struct corpus *c,
		      const struct codec *codec)
{
	struct codec_ctx ctx;
	unsigned char *packed;

	codec_open(&ctx, codec, PAGE_BYTES);
	packed = bench_alloc(1, ctx.bound_bytes);
	for (size_t i = 0; i < c->nr_pages; i++) {
		const unsigned char *page = c->pages + i * PAGE_BYTES;
		size_t len;

		if (page_is_filled(page))
			continue;
		len = codec_compress(&ctx, page, packed);
		if (!len || len > PAGE_BYTES)
			len = PAGE_BYTES;
		s->bytes[s->count++] = (uint16_t)len;
	}
	free(packed);
	codec_close(&ctx);
}

static struct sizes sizes_of(const struct corpora *all,
			     const struct codec *codec)
{
	struct sizes s = { 0 };
	size_t nr_pages = 0;

	for (size_t i = 0; i < all->count; i++)
		nr_pages += all->items[i].nr_pages;
	s.bytes = bench_alloc(nr_pages, sizeof(*s.bytes));
	for (size_t i = 0; i < all->count; i++)
		add_sizes(&s, &all->items[i], codec);
	if (!s.count)
		bad_input("all pages are same-filled: no objects");
	return s;
}

/* ---- measuring, in processes of their own ------------------------------ */

static struct heap *heap_of(struct entrant *e)
{
	struct heap *heap;
	const char *why;

	if (e->number < NR_POOLS)
		return heap_zs(&pools[e->number].params);
	heap = heap_rival(e->number - NR_POOLS, &why);
	if (!heap)
		snprintf(e->why_not, sizeof(e->why_not), "%s", why);
	return heap;
}

static void take_times(void *arg)
{
	struct entrant *e = arg;
	struct heap *heap = heap_of(e);

	if (heap)
		e->times = objects_time(heap, e->sizes, e->nr_objects, e->seed);
}

static void take_spaces(void *arg)
{
	struct entrant *e = arg;
	struct heap *heap = heap_of(e);

	if (heap)
		objects_fill(heap, e->sizes, fills, e->nr_fills, e->spaces);
}

static void run_repeat(struct trial *t, unsigned repeat)
{
	progress("alloc, %s: %u of %u", t->codec->spec, repeat, t->repeats);
	for (unsigned i = 0; i < NR_ENTRANTS; i++) {
		unsigned who = turn_of(NR_ENTRANTS, repeat, i);
		struct entrant *e = &t->entrants[who];

		e->seed = repeat + 1;
		if (!*e->why_not)
			child_run(take_times, e);
		for (int state = 0; state < NR_STATES; state++)
			for (int work = 0; work < NR_WORKS; work++)
				series_put(&t->ns[state][work], repeat, who,
					   *e->why_not ?
						   NAN :
						   e->times.ns[state][work]);
	}
}

/* ---- rows -------------------------------------------------------------- */

static struct alloc_row *add_row(struct rows *rows, const struct trial *t,
				 unsigned number)
{
	struct alloc_row *row;

	rows->items = bench_grow(rows->items, rows->count + 1, sizeof(*row));
	row = &rows->items[rows->count++];
	*row = (struct alloc_row){
		.codec = t->codec,
		.name = name_of(number),
		.repeats = t->repeats,
	};
	return row;
}

static void put_state(const struct alloc_row *row)
{
	put_format("%-12s %-9s %-5s", row->codec->label, row->name,
		   state_names[row->state]);
	for (int work = 0; work < NR_WORKS; work++) {
		put(7, 0, row->ns[work].median);
		put_format(" ");
		put_ratio(&row->ratios[work]);
	}
	table_end();
}

static void add_state(struct rows *rows, const struct trial *t, unsigned number,
		      unsigned state)
{
	struct alloc_row *row = add_row(rows, t, number);

	row->state = state;
	row->nr_objects = t->entrants->nr_objects;
	for (int work = 0; work < NR_WORKS; work++) {
		const struct series *s = &t->ns[state][work];

		row->ns[work] = series_of(s, number);
		row->ratios[work] = series_ratio(s, number, STANDARD);
	}
	put_state(row);
}

static void add_fill(struct rows *rows, const struct trial *t, unsigned number,
		     size_t fill)
{
	const struct object_space *space = &t->entrants[number].spaces[fill];
	struct alloc_row *row = add_row(rows, t, number);

	row->is_fill = true;
	row->nr_objects = fills[fill];
	row->live_bytes = space->live_bytes;
	row->held_bytes = space->held_bytes;
}

/* ---- tables ------------------------------------------------------------ */

static void print_times(struct rows *rows, const struct trial *t)
{
	put_format("%-12s %-9s %-5s", "", "", "");
	for (int work = 0; work < NR_WORKS; work++)
		put_format(" %6s, ns %8s", work_names[work], "");
	table_end();
	put_format("%-12s %-9s %-5s", "codec", "heap", "");
	for (int work = 0; work < NR_WORKS; work++)
		put_format(" %6s %-11s", "time", "of jemalloc");
	table_end();
	for (unsigned state = 0; state < NR_STATES; state++)
		for (unsigned i = 0; i < NR_ENTRANTS; i++)
			if (!*t->entrants[i].why_not)
				add_state(rows, t, i, state);
}

/* The rows of fills, which are not printed each by itself. */
static void print_spaces(struct rows *rows, const struct trial *t)
{
	table_end();
	put_format("%-12s %-9s held / live at", "codec", "heap");
	for (size_t i = 0; i < t->entrants->nr_fills; i++)
		put_format(" %8u", fills[i]);
	put_format(" objects");
	table_end();
	for (unsigned i = 0; i < NR_ENTRANTS; i++) {
		const struct entrant *e = &t->entrants[i];

		if (*e->why_not)
			continue;
		put_format("%-12s %-9s %14s", t->codec->label, name_of(i), "");
		for (size_t k = 0; k < e->nr_fills; k++) {
			add_fill(rows, t, i, k);
			put(9, 2,
			    e->spaces[k].held_bytes / e->spaces[k].live_bytes);
		}
		table_end();
	}
	table_end();
}

static void print_missing(const struct trial *t)
{
	for (unsigned i = 0; i < NR_ENTRANTS; i++)
		if (*t->entrants[i].why_not)
			printf("%s: left out: %s\n", name_of(i),
			       t->entrants[i].why_not);
}

static void print_legend(const struct trial *t)
{
	printf("heap     zsmalloc: a pool with default parameters; adaptive: "
	       "as in a cache, ZSWAP_CLASSES_ADAPTIVE and\n"
	       "         ZSWAP_COMPACT_AUTO\n"
	       "cold     a process's first %u objects: all are allocated and "
	       "written, read in random order, freed in another\n"
	       "warm     as many objects all the time: some at random are "
	       "read, "
	       "freed, and others allocated and written\n"
	       "ns       of one call, a write with its allocation, a read of "
	       "all bytes: median of %u repeats; of jemalloc: of\n"
	       "         the ratios of each repeat, with the spread p75 - p25\n"
	       "held     zsmalloc: held_bytes; glibc: mallinfo2's arena + "
	       "hblkhd; jemalloc: stats.resident; mimalloc, which\n"
	       "         does not tell: RSS; without what the bench itself has "
	       "of it\n",
	       t->entrants->nr_objects, t->repeats);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_state(struct json *json, const struct alloc_row *row)
{
	char key[64];

	json_text(json, "state", state_names[row->state]);
	json_count(json, "repeats", row->repeats);
	for (int work = 0; work < NR_WORKS; work++) {
		snprintf(key, sizeof(key), "%s_ns", work_names[work]);
		json_summary(json, key, &row->ns[work]);
		snprintf(key, sizeof(key), "%s_vs_jemalloc", work_names[work]);
		json_summary(json, key, &row->ratios[work]);
	}
}

static void json_fill(struct json *json, const struct alloc_row *row)
{
	json_text(json, "state", "fill");
	json_real(json, "live_bytes", row->live_bytes);
	json_real(json, "held_bytes", row->held_bytes);
	json_real(json, "held_over_live", row->held_bytes / row->live_bytes);
}

static void json_one(struct json *json, const void *arg)
{
	const struct alloc_row *row = arg;

	json_row(json, "alloc");
	json_text(json, "allocator", row->name);
	json_text(json, "codec", row->codec->spec);
	json_count(json, "page_bytes", PAGE_BYTES);
	json_count(json, "threads", 1);
	json_count(json, "objects", row->nr_objects);
	if (row->is_fill)
		json_fill(json, row);
	else
		json_state(json, row);
}

/* ---- the whole --------------------------------------------------------- */

static void trial_init(struct trial *t, const struct args *a,
		       const struct corpora *all, const struct codec *codec)
{
	t->codec = codec;
	t->sizes = sizes_of(all, codec);
	t->repeats = a->repeats ? a->repeats :
		     a->quick   ? QUICK_REPEATS :
				  REPEATS;
	t->entrants = child_room(NR_ENTRANTS * sizeof(*t->entrants));
	for (unsigned i = 0; i < NR_ENTRANTS; i++) {
		t->entrants[i].number = i;
		t->entrants[i].sizes = &t->sizes;
		t->entrants[i].nr_objects = a->quick ? QUICK_OBJECTS : OBJECTS;
		t->entrants[i].nr_fills = a->quick ? QUICK_FILLS : NR_FILLS;
	}
	for (int state = 0; state < NR_STATES; state++)
		for (int work = 0; work < NR_WORKS; work++)
			t->ns[state][work] =
				series_make(t->repeats, NR_ENTRANTS);
}

static void trial_free(struct trial *t)
{
	for (int state = 0; state < NR_STATES; state++)
		for (int work = 0; work < NR_WORKS; work++)
			series_free(&t->ns[state][work]);
	munmap(t->entrants, NR_ENTRANTS * sizeof(*t->entrants));
	free(t->sizes.bytes);
}

static void run_trial(struct trial *t, struct rows *rows)
{
	for (unsigned i = 0; i < t->repeats; i++)
		run_repeat(t, i);
	for (unsigned i = 0; i < NR_ENTRANTS; i++)
		if (!*t->entrants[i].why_not)
			child_run(take_spaces, &t->entrants[i]);
	print_times(rows, t);
	print_spaces(rows, t);
}

void topic_alloc(const struct args *a, const struct corpora *all)
{
	struct rows rows = { 0 };

	for (size_t i = 0; i < a->nr_codecs; i++) {
		struct trial t;

		trial_init(&t, a, all, &a->codecs[i]);
		run_trial(&t, &rows);
		if (i + 1 == a->nr_codecs) {
			print_missing(&t);
			print_legend(&t);
		}
		trial_free(&t);
	}
	json_write(a->json, rows.items, rows.count, sizeof(*rows.items),
		   json_one);
	free(rows.items);
}
