// SPDX-License-Identifier: MIT
/*
 * calls_load.c - pages out, and questions
 *
 * While the test compressor decompresses it may make another call. A load that
 * takes acts when it ends, so that it must agree with the model as that call
 * has left it; one that keeps acts when it begins.
 */
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- damage -------------------------------------------------------------- */

/* How many pages of the test compressor do not decompress in the next call. */
static unsigned choose_damage(struct world *w)
{
	static const enum codec_fault faults[] = {
		CODEC_ERROR,       CODEC_ZERO,     CODEC_UNIT_LESS_1,
		CODEC_UNIT_PLUS_1, CODEC_NOT_DONE, CODEC_REQUEST_ERROR,
		CODEC_HUGE,        CODEC_NO_ROOM,  CODEC_VERY_LOW,
		CODEC_DST_PLUS_1,
	};
	enum codec_fault fault;
	unsigned nr;

	if (w->depth || !one_in(w, 8))
		return 0;
	fault = faults[choose(w, sizeof(faults) / sizeof(faults[0]))];
	nr = 1 + choose(w, one_in(w, 2) ? ZSWAP_MAX_FOLIO : 3);
	codec_fail(&w->codec.decompress, fault, (int32_t)nr);
	say("codec_fail(&codec.decompress, %d, %u);", fault, nr);
	return nr;
}

static void end_damage(struct world *w, unsigned nr)
{
	if (!nr)
		return;
	codec_behave(&w->codec.decompress);
	say("codec_behave(&codec.decompress);");
}

/* Marks the pages that do not decompress: the first so many of the kind. */
static void mark_damage(const struct model_slot *slots, unsigned nr,
			unsigned nr_damaged, bool *damaged)
{
	for (unsigned i = 0; i < nr; i++) {
		damaged[i] = nr_damaged && slots[i].state == ZSWAP_STORED &&
			     engines[slots[i].engine].kind == ENGINE_TEST;
		nr_damaged -= damaged[i];
	}
}

/* ---- one page ------------------------------------------------------------ */

static int expected_load(struct world *w, const struct model_slot *slot,
			 bool damaged)
{
	struct zswap_stats *counts = &w->m.counts;

	if (slot->state == ZSWAP_ABSENT) {
		counts->load_misses++;
		return -ENOENT;
	}
	if (damaged) {
		counts->decompress_fail++;
		counts->load_errors++;
		return -EIO;
	}
	counts->zswpin++;
	return 0;
}

static int do_load(struct world *w, const struct target *t, bool keep)
{
	char *page = own_io(w)->data;

	say("err = zswap_%s(z, %s, io[%u].data);", keep ? "peek" : "load",
	    slot_text(t->slot), w->depth);
	return keep ? zswap_peek(w->z, t->slot, page) :
		      zswap_load(w->z, t->slot, page);
}

void call_load(struct world *w)
{
	struct target t = choose_target(w, 1);
	bool keep = one_in(w, 3), damaged;
	unsigned damage = choose_damage(w);
	struct model_slot slot = *slots_of(&t);
	int err;

	if (!damage)
		choose_nested(w);
	io_lay_out(own_io(w), w->m.page_size, 1, IO_DATA, 0);
	err = do_load(w, &t, keep);
	end_nested(w);
	end_damage(w, damage);
	w->dead_may_wait = true;
	if (!keep)
		slot = *slots_of(&t);
	if (!t.valid) {
		EXPECT(err, -ENXIO);
		return;
	}
	if (err == -EDEADLK && w->depth) {
		w->m.counts.load_errors++;
		return;
	}
	mark_damage(&slot, 1, damage, &damaged);
	EXPECT(err, expected_load(w, &slot, damaged));
	if (err)
		return;
	say("CHECK(io_is(io[%u].data, %u, %u));", w->depth, w->m.page_size,
	    slot.page);
	CHECK(io_is(own_io(w)->data, w->m.page_size, slot.page));
	if (!keep)
		model_clear(&w->m, t.area, t.first, 1);
}

/* ---- a folio ------------------------------------------------------------- */

struct expected {
	struct model_slot slots[ZSWAP_MAX_FOLIO];
	bool damaged[ZSWAP_MAX_FOLIO];
	unsigned present, readable;
	int err; /* or the number delivered */
};

static void expect_folio(struct world *w, struct expected *e, unsigned nr,
			 unsigned damage, unsigned flags)
{
	struct zswap_stats *counts = &w->m.counts;

	mark_damage(e->slots, nr, damage, e->damaged);
	e->present = model_present(e->slots, nr);
	e->readable = e->present;
	for (unsigned i = 0; i < nr; i++)
		e->readable -= e->damaged[i];
	e->err = 0;
	if (!(flags & ZSWAP_LOAD_PARTIAL))
		e->err = !e->present              ? -ENOENT :
			 e->present < nr          ? -EBUSY :
			 e->readable < e->present ? -EIO :
						    0;
	counts->load_misses += nr - e->present;
	/* After -ENOENT and -EBUSY nothing was read. */
	if (!e->err || e->err == -EIO)
		counts->decompress_fail += e->present - e->readable;
	counts->load_errors += e->present - (e->err ? 0 : e->readable);
	counts->zswpin += e->err ? 0 : e->readable;
	if (!e->err && flags & ZSWAP_LOAD_PARTIAL)
		e->err = (int)e->readable;
}

static int expected_result(const struct expected *e, unsigned i)
{
	if (e->slots[i].state == ZSWAP_ABSENT)
		return -ENOENT;
	return e->damaged[i] && e->err != -EBUSY ? -EIO : 0;
}

static void check_delivered(struct world *w, const struct target *t,
			    const struct expected *e, bool results, bool keep)
{
	struct io *io = own_io(w);

	for (unsigned i = 0; i < t->nr; i++) {
		int result = expected_result(e, i);

		if (results)
			say("CHECK(io[%u].results[%u] == %d);", w->depth, i,
			    result);
		CHECK(io->results[i] == (results ? result : IO_UNTOUCHED));
		if (e->err < 0 || result)
			continue;
		say("CHECK(io_is(io[%u].pages[%u], %u, %u));", w->depth, i,
		    w->m.page_size, e->slots[i].page);
		CHECK(io_is(io->pages[i], w->m.page_size, e->slots[i].page));
		if (!keep)
			model_clear(&w->m, t->area, t->first + i, 1);
	}
}

static int do_load_folio(struct world *w, const struct target *t, int form,
			 bool results, unsigned flags)
{
	struct zswap_folio folio =
		io_folio(own_io(w), t->slot, t->nr, form, results);

	say("folio = io_folio(&io[%u], %s, %u, %d, %d);", w->depth,
	    slot_text(t->slot), t->nr, form, results);
	say("err = zswap_load_folio(z, &folio, %u);", flags);
	return zswap_load_folio(w->z, &folio, flags);
}

static bool canary_is_well(const struct world *w, const struct io *io,
			   unsigned nr)
{
	const char *canary = io->data + nr * w->m.page_size;

	for (size_t i = 1; i < sizeof(io->canary); i++)
		if (canary[i] != canary[0])
			return false;
	return true;
}

/* No context was free for a call that a compressor made. */
static void count_deadlock(struct world *w, const struct target *t)
{
	unsigned present = model_present(slots_of(t), t->nr);

	w->m.counts.load_misses += t->nr - present;
	w->m.counts.load_errors += present;
}

void call_load_folio(struct world *w)
{
	struct target t = choose_target(w, max_folio(w));
	int form = (int)choose(w, IO_PALETTE);
	unsigned turn = choose(w, t.nr), flags = choose(w, 4);
	bool results = !one_in(w, 2), keep = flags & ZSWAP_LOAD_KEEP;
	unsigned damage = choose_damage(w);
	struct expected e;
	int err;

	if (!damage)
		choose_nested(w);
	if (t.valid)
		memcpy(e.slots, slots_of(&t), t.nr * sizeof(e.slots[0]));
	say("io_lay_out(&io[%u], %u, %u, %d, %u);", w->depth, w->m.page_size,
	    t.nr, form, turn);
	io_lay_out(own_io(w), w->m.page_size, t.nr, form, turn);
	err = do_load_folio(w, &t, form, results, flags);
	end_nested(w);
	end_damage(w, damage);
	w->dead_may_wait = true;
	w->pinned = true; /* the pages it takes go one by one */
	CHECK(canary_is_well(w, own_io(w), t.nr));
	if (!t.valid) {
		EXPECT(err, -ENXIO);
		CHECK(own_io(w)->results[0] == IO_UNTOUCHED);
		return;
	}
	if (err == -EDEADLK && w->depth) {
		count_deadlock(w, &t);
		return;
	}
	if (!keep)
		memcpy(e.slots, slots_of(&t), t.nr * sizeof(e.slots[0]));
	expect_folio(w, &e, t.nr, damage, flags);
	EXPECT(err, e.err);
	check_delivered(w, &t, &e, results, keep);
}

/* ---- without data -------------------------------------------------------- */

/* How much of a range, which may leave the window, lies in the window. */
static unsigned in_window(const struct world *w, const struct target *t,
			  uint64_t nr)
{
	unsigned left = w->m.window - t->first;

	return nr < left ? (unsigned)nr : left;
}

static uint64_t choose_length(struct world *w)
{
	switch (choose(w, 4)) {
	case 3:
		return one_in(w, 2) ? UINT64_MAX : UINT64_C(1) << choose(w, 64);
	case 2:
		return choose(w, 1500);
	default:
		return choose(w, 20);
	}
}

void call_invalidate(struct world *w)
{
	struct target t = choose_target(w, 1);
	uint64_t nr = choose_length(w);

	say("zswap_invalidate(z, %s, %" PRIu64 "u);", slot_text(t.slot), nr);
	zswap_invalidate(w->z, t.slot, nr);
	if (!t.valid)
		return;
	if (nr && !w->depth)
		w->dead_may_wait = false;
	model_clear(&w->m, t.area, t.first, in_window(w, &t, nr));
}

static void check_next(struct world *w, const struct target *t)
{
	zswap_slot_t next = t->slot;
	unsigned i = t->first;
	bool found;

	while (t->valid && i < w->m.window && !t->area->slots[i].state)
		i++;
	say("slot = %s;", slot_text(t->slot));
	say("err = zswap_next_present(z, &slot);");
	found = zswap_next_present(w->z, &next);
	EXPECT(found, t->valid && i < w->m.window);
	say("CHECK(slot.val == %s.val);", slot_text(next));
	CHECK(next.val == t->slot.val + (found ? i - t->first : 0));
}

void call_ask(struct world *w)
{
	struct target t = choose_target(w, 1);
	uint64_t nr = choose_length(w);
	bool present =
		t.valid && model_present(slots_of(&t), in_window(w, &t, nr));
	long err;

	say("err = zswap_query(z, %s);", slot_text(t.slot));
	err = zswap_query(w->z, t.slot);
	EXPECT(err, t.valid ? (int)slots_of(&t)->state : -ENXIO);
	say("err = zswap_is_present(z, %s, %" PRIu64 "u);", slot_text(t.slot),
	    nr);
	err = zswap_is_present(w->z, t.slot, nr);
	EXPECT(err, present);
	check_next(w, &t);
}

/* ---- statistics ---------------------------------------------------------- */

static void check_text(struct world *w, const struct zswap_stats *stats)
{
	char text[8192], line[64];
	long len;

	say("err = zswap_format_stats(z, ZSWAP_STATS_TEXT, text, "
	    "sizeof(text));");
	len = zswap_format_stats(w->z, ZSWAP_STATS_TEXT, text, sizeof(text));
	CHECK(len > 0 && (size_t)len == strlen(text));
	/* Each line begins after another but the first. */
	snprintf(line, sizeof(line), "stored_pages %" PRIu64 "\n",
		 stats->stored_pages);
	CHECK(!strncmp(text, line, strlen(line)));
#define CHECK_LINE(name, what)                                    \
	snprintf(line, sizeof(line), "\n" #name " %" PRIu64 "\n", \
		 stats->name);                                    \
	CHECK(&stats->name == &stats->stored_pages || strstr(text, line));
	ZSWAP_STATS(CHECK_LINE)
#undef CHECK_LINE
	snprintf(line, sizeof(line), "\ncompressor %s\n",
		 engines[w->m.engine].canonical);
	CHECK(strstr(text, line));
}

/* In a call that a compressor makes, the call around it is half counted. */
static void check_nested_stats(struct world *w)
{
	struct zswap_stats stats = io_stats(w->z);

	say("stats = io_stats(z);");
	say("CHECK(stats.stored_pages == %" PRIu64 ");",
	    w->m.counts.stored_pages);
	CHECK(stats.stored_pages == w->m.counts.stored_pages);
	CHECK(stats.compressed_bytes == w->m.counts.compressed_bytes);
}

void call_get_stats(struct world *w)
{
	struct zswap_stats stats = w->before, part;
	size_t size = 8 * choose(w, sizeof(part) / 8 + 1);
	int err;

	if (w->depth) {
		check_nested_stats(w);
		return;
	}
	/* Nothing was called since, and no thread ends a pool meanwhile. */
	if (!w->dead_may_wait)
		check_text(w, &stats);
	memset(&part, 0x5a, sizeof(part));
	part.size = size;
	say("stats.size = %zu;", size);
	say("err = zswap_get_stats(z, &stats);");
	err = zswap_get_stats(w->z, &part);
	EXPECT(err, size < 16 ? -EINVAL : 0);
	CHECK(part.size == size);
	for (size_t at = 8; at + 8 <= sizeof(part); at += 8) {
		uint64_t value;

		memcpy(&value, (char *)&part + at, sizeof(value));
		if (size < 16 || at >= size)
			CHECK(value == UINT64_C(0x5a5a5a5a5a5a5a5a));
		else if (!w->dead_may_wait)
			CHECK(!memcmp(&value, (char *)&stats + at, 8));
	}
}

void call_read_all(struct world *w)
{
	check_every_page(w);
	w->dead_may_wait = true;
}
