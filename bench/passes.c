// SPDX-License-Identifier: MIT
/*
 * passes.c - all pages of a corpus, once, through one side; see passes.h
 */
#include "passes.h"

#include <stdlib.h>
#include <string.h>

/*
 * Of a block: enough that reading the clock twice costs nothing, few enough
 * that its buffer stays in the processor's second cache.
 */
#define BLOCK_BYTES (256u * 1024)

/* ---- timed calls ------------------------------------------------------- */

typedef int load_fn(struct side *s, const uint32_t *pages, size_t count,
		    unsigned char *dst);

static void check(const struct passes *p, const struct side *s,
		  const char *what, int err)
{
	if (err)
		broken("%s: %s of the %s failed: %s", p->title, what, s->name,
		       strerror(-err));
}

static void store_sampled(const struct passes *p, struct side *s,
			  const uint32_t *folios, size_t count,
			  struct samples *samples)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t start = now_ns();
		int err = s->store(s, &folios[i], 1);
		uint64_t ns = now_ns() - start;

		check(p, s, "a store", err);
		samples->store_ns[samples->nr_stores++] =
			(double)ns / folio_len(&p->layout, folios[i]);
	}
}

static void load_sampled(const struct passes *p, struct side *s, load_fn *load,
			 const uint32_t *pages, size_t count,
			 struct samples *samples)
{
	for (size_t i = 0; i < count; i++) {
		unsigned char *dst = p->buf + i * p->layout.page_bytes;
		uint64_t start = now_ns();
		int err = load(s, &pages[i], 1, dst);
		uint64_t ns = now_ns() - start;

		check(p, s, "a load", err);
		samples->load_ns[samples->nr_loads++] = (double)ns;
	}
}

static void store_folios(const struct passes *p, struct side *s,
			 const uint32_t *folios, size_t count, struct meter *m)
{
	uint64_t start = now_ns();
	int err;

	if (m->samples) {
		store_sampled(p, s, folios, count, m->samples);
		return;
	}
	err = s->store(s, folios, count);
	m->store_ns += now_ns() - start;
	check(p, s, "a store", err);
}

static void load_pages(const struct passes *p, struct side *s, load_fn *load,
		       const uint32_t *pages, size_t count, struct meter *m)
{
	uint64_t start = now_ns();
	int err;

	if (m->samples) {
		load_sampled(p, s, load, pages, count, m->samples);
		return;
	}
	err = load(s, pages, count, p->buf);
	m->load_ns += now_ns() - start;
	check(p, s, "a load", err);
}

/* ---- verifying --------------------------------------------------------- */

static size_t first_difference(const unsigned char *a, const unsigned char *b,
			       size_t len)
{
	size_t i = 0;

	while (i < len && a[i] == b[i])
		i++;
	return i;
}

/* Not timed. What was loaded is wiped, so that no later load passes by it. */
static void verify(const struct passes *p, const struct side *s,
		   const uint32_t *pages, size_t count)
{
	size_t page_bytes = p->layout.page_bytes;

	for (size_t i = 0; i < count; i++) {
		const unsigned char *got = p->buf + i * page_bytes;
		const unsigned char *want = layout_page(&p->layout, pages[i]);

		if (memcmp(got, want, page_bytes))
			broken("%s: MISMATCH: page %u of the %s came back "
			       "changed at byte %zu",
			       p->title, pages[i], s->name,
			       first_difference(got, want, page_bytes));
	}
	memset(p->buf, 0xa5, count * page_bytes);
}

/* ---- lists and blocks -------------------------------------------------- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void list_in_order(uint32_t *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		items[i] = i;
}

/* All folios, in an order of the seed's. */
static void list_folios(struct passes *p, struct rng *rng)
{
	list_in_order(p->folios, p->layout.nr_folios);
	shuffle(rng, p->folios, p->layout.nr_folios);
}

/* The pages of these folios, in random order; how many. */
static uint32_t list_pages(struct passes *p, const uint32_t *folios,
			   uint32_t count, struct rng *rng)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t first = folio_first(&p->layout, folios[i]);
		uint32_t len = folio_len(&p->layout, folios[i]);

		for (uint32_t n = 0; n < len; n++)
			p->pages[nr++] = first + n;
	}
	shuffle(rng, p->pages, nr);
	return nr;
}

static void load_blocks(struct passes *p, struct side *s, load_fn *load,
			const uint32_t *pages, uint32_t count, struct meter *m)
{
	for (uint32_t at = 0; at < count; at += p->block_pages) {
		uint32_t nr = smaller(count - at, p->block_pages);

		load_pages(p, s, load, pages + at, nr, m);
		verify(p, s, pages + at, nr);
	}
}

/* ---- passes ------------------------------------------------------------ */

void pass_fill(struct passes *p, struct side *s, uint64_t seed, struct meter *m)
{
	(void)seed;
	list_in_order(p->folios, p->layout.nr_folios);
	if (s->before_fill)
		s->before_fill(s);
	store_folios(p, s, p->folios, p->layout.nr_folios, m);
	if (s->after_fill)
		s->after_fill(s);
}

void pass_first(struct passes *p, struct side *s, uint64_t seed,
		struct meter *m)
{
	uint32_t nr_pages = p->layout.nr_pages;
	struct rng rng = { seed };

	pass_fill(p, s, seed, m);
	list_in_order(p->pages, nr_pages);
	shuffle(&rng, p->pages, nr_pages);
	load_blocks(p, s, s->load, p->pages, nr_pages, m);
	if (s->after_loads)
		s->after_loads(s);
}

void pass_warm(struct passes *p, struct side *s, uint64_t seed, struct meter *m)
{
	uint32_t nr_folios = p->layout.nr_folios;
	struct rng rng = { seed };

	list_folios(p, &rng);
	for (uint32_t at = 0; at < nr_folios; at += p->block_folios) {
		uint32_t *folios = p->folios + at;
		uint32_t count = smaller(nr_folios - at, p->block_folios);
		uint32_t nr = list_pages(p, folios, count, &rng);

		load_pages(p, s, s->load, p->pages, nr, m);
		verify(p, s, p->pages, nr);
		store_folios(p, s, folios, count, m);
	}
}

void pass_overwrite(struct passes *p, struct side *s, uint64_t seed,
		    struct meter *m)
{
	struct rng rng = { seed };

	list_folios(p, &rng);
	store_folios(p, s, p->folios, p->layout.nr_folios, m);
}

void pass_peek(struct passes *p, struct side *s, const uint32_t *pages,
	       size_t count, struct meter *m)
{
	load_blocks(p, s, s->peek, pages, (uint32_t)count, m);
}

/* ---- races ------------------------------------------------------------- */

static double mbps(const struct passes *p, uint64_t ns)
{
	return (double)layout_bytes(&p->layout) * 1e3 / (double)(ns ? ns : 1);
}

struct rates passes_race(struct passes *p, pass_fn *pass,
			 struct side *const *sides, unsigned nr_sides,
			 unsigned repeats)
{
	struct rates r = {
		.store = series_make(repeats, nr_sides),
		.load = series_make(repeats, nr_sides),
	};

	for (unsigned i = 0; i < repeats; i++) {
		progress("%s: %u of %u", p->title, i, repeats);
		for (unsigned k = 0; k < nr_sides; k++) {
			unsigned who = turn_of(nr_sides, i, k);
			struct meter m = { 0 };

			pass(p, sides[who], i + 1, &m);
			series_put(&r.store, i, who, mbps(p, m.store_ns));
			series_put(&r.load, i, who, mbps(p, m.load_ns));
		}
	}
	return r;
}

void rates_free(struct rates *r)
{
	series_free(&r->store);
	series_free(&r->load);
}

/* ---- making and ending ------------------------------------------------- */

void passes_init(struct passes *p, const struct layout *layout, char *title)
{
	uint32_t folio_bytes = layout->folio_pages * layout->page_bytes;

	*p = (struct passes){
		.title = title,
		.layout = *layout,
		.block_folios = (BLOCK_BYTES + folio_bytes - 1) / folio_bytes,
	};
	p->block_pages = p->block_folios * layout->folio_pages;
	p->folios = bench_alloc(layout->nr_folios, sizeof(*p->folios));
	p->pages = bench_alloc(layout->nr_pages, sizeof(*p->pages));
	p->buf = bench_map_touched((size_t)p->block_pages * layout->page_bytes);
}

void passes_free(struct passes *p)
{
	bench_unmap(p->buf, (size_t)p->block_pages * p->layout.page_bytes);
	free(p->folios);
	free(p->pages);
	free(p->title);
}
