// SPDX-License-Identifier: MIT
/*
 * test_compact.c - zswap_compact(), the parameters of compaction and of the
 * memory of pages
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "peek.h"
#include "threads.h"

/* ---- pages of all sizes ------------------------------------------------ */

#define NR_PAGES 400u
#define MOST_PAGES 5000u

/* Pages of page_spread() in slots 0 .. nr - 1; a seed of 0 is an absent one. */
struct crowd {
	uint32_t nr;
	uint64_t seeds[MOST_PAGES];
};

static void make_one(struct fixture *f, void *page, uint64_t seed)
{
	page_make_part(page, f->page_size, page_spread(f->page_size, seed),
		       seed);
}

static void put_one(struct fixture *f, struct crowd *c, uint32_t i)
{
	c->seeds[i] = 1 + rng_next(&f->rng) % UINT32_MAX;
	make_one(f, f->page, c->seeds[i]);
	assert_int_equal(zswap_store(f->z, at(i), f->page), 0);
}

static void drop_one(struct fixture *f, struct crowd *c, uint32_t i)
{
	zswap_invalidate(f->z, at(i), 1);
	c->seeds[i] = 0;
}

static struct crowd *put_crowd(struct fixture *f, uint32_t nr)
{
	struct crowd *c = calloc(1, sizeof(*c));
	uint32_t i;

	assert_non_null(c);
	assert_true(nr <= MOST_PAGES);
	c->nr = nr;
	for (i = 0; i < nr; i++)
		put_one(f, c, i);
	return c;
}

/* Drops each page but one in @one_of, at random. */
static void thin_out(struct fixture *f, struct crowd *c, uint32_t one_of)
{
	uint32_t i;

	for (i = 0; i < c->nr; i++)
		if (rng_below(&f->rng, one_of))
			drop_one(f, c, i);
}

static void assert_crowd(struct fixture *f, const struct crowd *c)
{
	uint32_t i;

	for (i = 0; i < c->nr; i++) {
		int err = zswap_peek(f->z, at(i), f->out);

		assert_int_equal(err, c->seeds[i] ? 0 : -ENOENT);
		if (err)
			continue;
		make_one(f, f->page, c->seeds[i]);
		assert_memory_equal(f->page, f->out, f->page_size);
	}
}

/* ---- caches ------------------------------------------------------------ */

static void begin_with(struct fixture *f, uint32_t compaction, uint32_t flags)
{
	struct zswap_params params = f->params;

	params.compaction = compaction;
	params.memory_flags = flags;
	begin_other(f, &params);
}

static uint64_t used_bytes(struct zswap *z)
{
	struct zswap_stats stats = stats_of(z);

	return stats.pool_total_size - stats.reserve_bytes;
}

/* Compacts and returns the bytes; what the header says of all results. */
static uint64_t compact(struct fixture *f)
{
	struct zswap_stats before = stats_of(f->z), after;
	uint64_t used = used_bytes(f->z);
	long bytes = zswap_compact(f->z);

	after = stats_of(f->z);
	assert_true(bytes >= 0);
	assert_int_equal(bytes, used - used_bytes(f->z));
	assert_int_equal(bytes,
			 (after.pages_compacted - before.pages_compacted) *
				 f->page_size);
	return (uint64_t)bytes;
}

/* ---- zswap_compact() --------------------------------------------------- */

static void compacting_no_cache_is_einval(void **state)
{
	(void)state;
	assert_int_equal(zswap_compact(NULL), -EINVAL);
}

static void an_empty_cache_has_nothing_to_give_back(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(compact(f), 0);
	store_page(f, at(7), PAGE_TEXT, 1);
	assert_int_equal(compact(f), 0);
	assert_int_equal(stats_of(f->z).objects_moved, 0);
}

static void D55_compaction_returns_what_is_given_back(void **state)
{
	struct fixture *f = *state;
	uint64_t sum = 0;
	struct crowd *c;
	int round;

	begin_with(f, ZSWAP_COMPACT_MANUAL, 0);
	c = put_crowd(f, NR_PAGES);
	for (round = 0; round < 2; round++) {
		uint64_t bytes;

		thin_out(f, c, 3);
		bytes = compact(f);
		assert_true(bytes > 0);
		sum += bytes;
		assert_crowd(f, c);
		free(c);
		c = put_crowd(f, NR_PAGES);
	}
	assert_int_equal(stats_of(f->z).pages_compacted * f->page_size, sum);
	free(c);
	end_other(f);
}

static void a_second_call_finds_nothing_to_do(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;
	struct crowd *c;

	begin_with(f, ZSWAP_COMPACT_MANUAL, 0);
	c = put_crowd(f, NR_PAGES);
	thin_out(f, c, 3);
	compact(f);
	before = stats_of(f->z);
	assert_true(before.objects_moved > 0);
	assert_int_equal(before.objects_skipped, 0);
	assert_int_equal(zswap_compact(f->z), 0);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	free(c);
	end_other(f);
}

/* Statistics, but for what is held and what compaction counts. */
static void assert_same_pages(const struct zswap_stats *a,
			      const struct zswap_stats *b)
{
	struct zswap_stats same = *b;

	same.pool_total_size = a->pool_total_size;
	same.reserve_bytes = a->reserve_bytes;
	same.metadata_bytes = a->metadata_bytes;
	same.pages_compacted = a->pages_compacted;
	same.objects_moved = a->objects_moved;
	assert_same_stats(a, &same);
}

static void D61_compaction_changes_nothing_but_the_place(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;
	int states[NR_PAGES];
	struct crowd *c;
	uint32_t i;

	begin_with(f, ZSWAP_COMPACT_MANUAL, 0);
	c = put_crowd(f, NR_PAGES);
	thin_out(f, c, 2);
	for (i = 0; i < NR_PAGES; i++)
		states[i] = zswap_query(f->z, at(i));
	before = stats_of(f->z);
	assert_true(compact(f) > 0);
	after = stats_of(f->z);
	assert_same_pages(&before, &after);
	for (i = 0; i < NR_PAGES; i++)
		assert_int_equal(zswap_query(f->z, at(i)), states[i]);
	assert_crowd(f, c);
	free(c);
	end_other(f);
}

static void compaction_takes_no_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t takes;
	struct crowd *c;

	begin_with(f, ZSWAP_COMPACT_MANUAL, 0);
	c = put_crowd(f, NR_PAGES);
	thin_out(f, c, 2);
	takes = faulty_takes(&f->hooks);
	faulty_fail_from(&f->hooks, FAULTY_ANY, 1);
	assert_true(compact(f) > 0);
	assert_int_equal(faulty_fail_none(&f->hooks), 0);
	assert_int_equal(faulty_takes(&f->hooks), takes);
	free(c);
	end_other(f);
}

static void retired_pools_are_compacted_too(void **state)
{
	struct fixture *f = *state;
	struct crowd *c;

	begin_with(f, ZSWAP_COMPACT_MANUAL, 0);
	c = put_crowd(f, NR_PAGES);
	assert_int_equal(zswap_set_compressor(f->z, "zstd:level=1"), 0);
	thin_out(f, c, 3);
	assert_true(compact(f) > 0);
	assert_int_equal(stats_of(f->z).pools, 2);
	assert_crowd(f, c);
	free(c);
	end_other(f);
}

static void compaction_makes_room_in_a_full_cache(void **state)
{
	struct fixture *f = *state;
	struct crowd *c;

	begin_with(f, ZSWAP_COMPACT_MANUAL, 0);
	c = put_crowd(f, NR_PAGES);
	thin_out(f, c, 3);
	assert_int_equal(zswap_set_accept_threshold_percent(f->z, 100), 0);
	assert_int_equal(
		zswap_set_max_pool_bytes(f->z, used_bytes(f->z) * 9 / 10), 0);
	make_one(f, f->page, 1);
	assert_int_equal(zswap_store(f->z, at(NR_PAGES), f->page), -ENOSPC);
	assert_true(compact(f) > 0);
	assert_int_equal(zswap_store(f->z, at(NR_PAGES), f->page), 0);
	free(c);
	end_other(f);
}

/* ---- D56: pages that are being loaded ---------------------------------- */

/* The page that is being loaded has this many slots around it free. */
#define HELD 300u
#define AROUND 60u
#define CALLS 20

struct reader {
	struct fixture *f;
	int result;
};

static void take_held(void *arg)
{
	struct reader *reader = arg;

	reader->result = zswap_load(reader->f->z, at(HELD), reader->f->out);
}

/* The object of the page that is held is alone among free places. */
static struct crowd *put_lonely(struct fixture *f)
{
	struct crowd *c = put_crowd(f, NR_PAGES);
	uint32_t i;

	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	for (i = HELD - AROUND; i < HELD + AROUND; i++)
		assert_int_equal(zswap_store(f->z, at(i), f->page), 0);
	for (i = HELD - AROUND; i < HELD + AROUND; i++)
		if (i != HELD)
			drop_one(f, c, i);
	return c;
}

/*
 * Nothing is asserted while the load stands, or the case's end would wait for
 * it.
 */
struct calls {
	long bytes[CALLS];
	uint64_t skipped[CALLS]; /* after each call */
	uint64_t used;           /* in the end */
};

static void compact_during_the_load(struct fixture *f, struct calls *calls)
{
	struct reader reader = { f, 1 };
	struct thread thread;
	unsigned i;

	gate_close(&f->codec.decompress.gate);
	thread_start(&thread, take_held, &reader);
	if (gate_wait(&f->codec.decompress.gate, 1))
		for (i = 0; i < CALLS; i++) {
			calls->bytes[i] = zswap_compact(f->z);
			calls->skipped[i] = stats_of(f->z).objects_skipped;
		}
	calls->used = used_bytes(f->z);
	gate_open(&f->codec.decompress.gate);
	thread_join(&thread);
	assert_int_equal(reader.result, 0);
	assert_true(page_is(f->out, f->page_size, PAGE_TEXT, 1));
}

static void
D56_a_page_that_is_being_loaded_stays_and_all_others_go(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	struct calls calls;
	struct crowd *c;
	unsigned i;

	params.compaction = ZSWAP_COMPACT_MANUAL;
	params.class_choice = ZSWAP_CLASSES_EXACT;
	begin_other(f, &params);
	c = put_lonely(f);
	for (i = 0; i < HELD - AROUND; i++)
		if (i % 3)
			drop_one(f, c, i);
	compact_during_the_load(f, &calls);
	c->seeds[HELD] = 0;
	for (i = 0; i < CALLS; i++) {
		assert_true((calls.bytes[i] > 0) == (i == 0));
		/* Where only its zspage has free places none is looked at. */
		assert_in_range(calls.skipped[i], 1, i + 1);
	}
	/* All that it kept is the zspage that it was in. */
	assert_in_range(calls.used - used_bytes(f->z), f->page_size,
			8 * f->page_size);
	assert_int_equal(compact(f), 0);
	assert_crowd(f, c);
	free(c);
	end_other(f);
}

/* ---- by itself, or when told to ---------------------------------------- */

static void nothing_moves_by_itself_where_that_is_not_wanted(void **state)
{
	struct fixture *f = *state;
	struct crowd *c;

	begin_with(f, ZSWAP_COMPACT_MANUAL, 0);
	c = put_crowd(f, NR_PAGES);
	thin_out(f, c, 10);
	assert_int_equal(stats_of(f->z).objects_moved, 0);
	assert_int_equal(stats_of(f->z).pages_compacted, 0);
	assert_true(compact(f) > 0);
	free(c);
	end_other(f);
}

/* Objects that have moved since @before, of a call that has freed one. */
static uint64_t moved_since(struct fixture *f, const struct zswap_stats *before)
{
	struct zswap_stats now = stats_of(f->z);

	assert_int_equal(now.objects_skipped, before->objects_skipped);
	return now.objects_moved - before->objects_moved;
}

static void a_call_that_frees_an_object_moves_up_to_two_others(void **state)
{
	struct fixture *f = *state;
	uint64_t all = 0;
	struct crowd *c;
	uint32_t i;

	begin_with(f, ZSWAP_COMPACT_AUTO, 0);
	c = put_crowd(f, NR_PAGES);
	assert_int_equal(stats_of(f->z).objects_moved, 0);
	for (i = 0; i < NR_PAGES; i++) {
		struct zswap_stats before = stats_of(f->z);
		uint32_t way = rng_below(&f->rng, 8);
		uint64_t moved;

		if (way == 0)
			put_one(f, c, i);
		else if (way <= 2)
			assert_int_equal(zswap_load(f->z, at(i), f->out), 0);
		else if (way <= 6)
			drop_one(f, c, i);
		c->seeds[i] = way == 1 || way == 2 ? 0 : c->seeds[i];
		moved = moved_since(f, &before);
		assert_in_range(moved, 0, way == 7 ? 0 : 2);
		all += moved;
	}
	assert_true(all > 0);
	assert_crowd(f, c);
	assert_true(stats_of(f->z).pages_compacted > 0);
	free(c);
	end_other(f);
}

/* Pages whose payloads are of one length. */
#define ALIKE 120u

static void put_alike(struct fixture *f, size_t part)
{
	uint32_t i;

	for (i = 0; i < ALIKE; i++) {
		page_make_part(f->page, f->page_size, part, i);
		assert_int_equal(zswap_store(f->z, at(i), f->page), 0);
	}
}

static void drop_some_alike(struct fixture *f, bool *present)
{
	uint32_t i;

	for (i = 0; i < ALIKE; i++) {
		present[i] = rng_below(&f->rng, 5) < 3;
		if (!present[i])
			zswap_invalidate(f->z, at(i), 1);
	}
}

/* Their zspages have several pages each, of which one object takes most. */
static void pages_are_counted_where_zspages_go_one_by_one(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	uint64_t zspage_pages, pages;
	bool present[ALIKE];

	params.class_choice = ZSWAP_CLASSES_EXACT;
	begin_other(f, &params);
	page_make_part(f->page, f->page_size, f->page_size * 5 / 8, 0);
	assert_int_equal(zswap_store(f->z, at(0), f->page), 0);
	zspage_pages = used_bytes(f->z) / f->page_size;
	assert_true(zspage_pages > 1);
	put_alike(f, f->page_size * 5 / 8);
	drop_some_alike(f, present);
	pages = stats_of(f->z).pages_compacted;
	assert_true(pages > 0);
	assert_int_equal(pages % zspage_pages, 0);
	end_other(f);
}

/* Fill, write over all with others, drop half: what is held at the end. */
static uint64_t held_after_churn(struct fixture *f,
				 const struct zswap_params *params,
				 uint64_t *payload)
{
	uint64_t held;
	struct crowd *c;
	uint32_t i;

	begin_other(f, params);
	c = put_crowd(f, MOST_PAGES);
	for (i = 0; i < MOST_PAGES; i++)
		put_one(f, c, rng_below(&f->rng, MOST_PAGES));
	thin_out(f, c, 2);
	held = stats_of(f->z).pool_total_size;
	*payload = stats_of(f->z).compressed_bytes;
	free(c);
	end_other(f);
	return held;
}

static void what_is_held_stays_near_what_is_needed_by_itself(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	uint64_t automatic, manual, payload;

	params.compaction = ZSWAP_COMPACT_AUTO;
	automatic = held_after_churn(f, &params, &payload);
	printf("churned, half dropped: %.3f of the payload by itself, ",
	       (double)automatic / (double)payload);
	params.compaction = ZSWAP_COMPACT_MANUAL;
	manual = held_after_churn(f, &params, &payload);
	printf("%.3f without compaction\n", (double)manual / (double)payload);
	assert_true(automatic < manual);
}

/* ---- size classes ------------------------------------------------------ */

static void a_zspage_has_no_more_pages_than_the_chain(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	size_t step = f->page_size / 32, part;

	for (params.chain_size = 0; params.chain_size <= 16;
	     params.chain_size++) {
		uint32_t chain = params.chain_size ? params.chain_size : 8;

		begin_other(f, &params);
		for (part = step; part <= f->page_size; part += step) {
			page_make_part(f->page, f->page_size, part, part);
			assert_int_equal(zswap_store(f->z, at(1), f->page), 0);
			assert_in_range(used_bytes(f->z), f->page_size,
					chain * f->page_size);
			zswap_invalidate(f->z, at(1), 1);
		}
		end_other(f);
	}
}

/* Held bytes of so many pages, in hundredths of the payload. */
static uint64_t percent_held(struct fixture *f, uint32_t class_choice,
			     uint32_t nr)
{
	struct zswap_params params = f->params;
	struct zswap_stats stats;
	struct crowd *c;

	params.class_choice = class_choice;
	begin_other(f, &params);
	rng_init(&f->rng, nr);
	c = put_crowd(f, nr);
	stats = stats_of(f->z);
	free(c);
	end_other(f);
	/* Rounded up. */
	return (stats.pool_total_size * 100 + stats.compressed_bytes - 1) /
	       stats.compressed_bytes;
}

static void small_pools_hold_little_more_than_their_payload(void **state)
{
	static const struct {
		uint32_t nr, percent;
	} most[] = { { 1000, 135 }, { 5000, 115 } };
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < 2; i++) {
		uint64_t adaptive =
			percent_held(f, ZSWAP_CLASSES_ADAPTIVE, most[i].nr);
		uint64_t exact =
			percent_held(f, ZSWAP_CLASSES_EXACT, most[i].nr);

		printf("%u pages: %lu %% of the payload, by exact classes "
		       "%lu %%\n",
		       most[i].nr, (unsigned long)adaptive,
		       (unsigned long)exact);
		assert_in_range(adaptive, 100, most[i].percent);
		assert_true(adaptive < exact);
	}
}

static void zero_means_the_documented_defaults(void **state)
{
	struct fixture *f = *state;
	struct zswap_params named = f->params;
	struct zswap_stats stats[2];
	int i;

	named.chain_size = 8;
	named.class_choice = ZSWAP_CLASSES_ADAPTIVE;
	named.compaction = ZSWAP_COMPACT_AUTO;
	for (i = 0; i < 2; i++) {
		struct crowd *c;

		begin_other(f, i ? &named : &f->params);
		rng_init(&f->rng, 1);
		c = put_crowd(f, NR_PAGES);
		thin_out(f, c, 4);
		stats[i] = stats_of(f->z);
		assert_true(stats[i].objects_moved > 0);
		free(c);
		end_other(f);
	}
	assert_same_stats(&stats[0], &stats[1]);
}

/* ---- memory flags ------------------------------------------------------ */

/* A block of a page's random part, which compressors leave as it is. */
#define NEEDLE 32u

/* What is in the memory for pages, but for system pages that are all zeros. */
struct memory {
	char *bytes;
	size_t nr;
};

static void add_mapping(void *arg, void *addr, size_t bytes)
{
	static const char zeros[4096];
	struct memory *memory = arg;
	char *copy = peek_mapping(addr, bytes);
	size_t from;

	memory->bytes = realloc(memory->bytes, memory->nr + bytes);
	assert_non_null(memory->bytes);
	for (from = 0; from < bytes; from += sizeof(zeros)) {
		if (memcmp(copy + from, zeros, sizeof(zeros)) == 0)
			continue;
		memcpy(memory->bytes + memory->nr, copy + from, sizeof(zeros));
		memory->nr += sizeof(zeros);
	}
	free(copy);
}

static struct memory memory_now(struct fixture *f)
{
	struct memory memory = { NULL, 0 };

	faulty_each_map(&f->hooks, add_mapping, &memory);
	return memory;
}

/* How often a part of a page is there. */
static unsigned times_in(const struct memory *memory, const char *needle)
{
	const char *from = memory->bytes, *end = from + memory->nr;
	unsigned nr = 0;

	while ((from = memmem(from, (size_t)(end - from), needle, NEEDLE))) {
		nr++;
		from += NEEDLE;
	}
	return nr;
}

static bool is_in_memory(struct fixture *f, const char *needle)
{
	struct memory memory = memory_now(f);
	bool is = times_in(&memory, needle) > 0;

	free(memory.bytes);
	return is;
}

/* Of the first page's payload: its beginning, middle and end. */
#define SECRET_PART(f) ((f)->page_size / 2)

static void store_secret(struct fixture *f)
{
	page_make_part(f->page, f->page_size, SECRET_PART(f), 77);
	assert_int_equal(zswap_store(f->z, at(0), f->page), 0);
}

static unsigned secrets_in_memory(struct fixture *f)
{
	const size_t places[] = { NEEDLE, SECRET_PART(f) / 2,
				  SECRET_PART(f) - 2 * NEEDLE };
	char *page = malloc(f->page_size);
	struct memory memory = memory_now(f);
	unsigned nr = 0, i;

	assert_non_null(page);
	page_make_part(page, f->page_size, SECRET_PART(f), 77);
	for (i = 0; i < 3; i++)
		nr += times_in(&memory, page + places[i]) > 0;
	free(memory.bytes);
	free(page);
	return nr;
}

static void lose_by_invalidating(struct fixture *f)
{
	zswap_invalidate(f->z, at(0), 1);
}

static void lose_by_taking(struct fixture *f)
{
	assert_int_equal(zswap_load(f->z, at(0), f->out), 0);
}

static void lose_by_replacing(struct fixture *f)
{
	store_page(f, at(0), PAGE_TEXT, 2);
}

static void lose_by_swapoff(struct fixture *f)
{
	assert_int_equal(zswap_swapoff(f->z, 0), 0);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
}

static void lose_by_a_refused_store(struct fixture *f)
{
	assert_int_equal(zswap_set_enabled(f->z, false), 0);
	assert_int_equal(zswap_store(f->z, at(0), f->page), -EPERM);
	assert_int_equal(zswap_set_enabled(f->z, true), 0);
}

static void payloads_are_wiped_when_they_are_freed(void **state)
{
	static void (*const ways[])(struct fixture *
				    f) = { lose_by_invalidating, lose_by_taking,
					   lose_by_replacing, lose_by_swapoff,
					   lose_by_a_refused_store };
	struct fixture *f = *state;
	size_t i;

	begin_with(f, 0, ZSWAP_MEM_WIPE);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		store_secret(f);
		/* So that the zspage stays. */
		page_make_part(f->page, f->page_size, SECRET_PART(f), 78);
		assert_int_equal(zswap_store(f->z, at(1), f->page), 0);
		assert_int_equal(secrets_in_memory(f), 3);
		ways[i](f);
		assert_int_equal(secrets_in_memory(f), 0);
	}
	end_other(f);
}

static void raw_pages_are_wiped_too(void **state)
{
	struct fixture *f = *state;

	begin_with(f, 0, ZSWAP_MEM_WIPE);
	store_page(f, at(0), PAGE_RANDOM, 1);
	assert_int_equal(zswap_query(f->z, at(0)), ZSWAP_RAW);
	assert_true(is_in_memory(f, f->page));
	assert_true(is_in_memory(f, (char *)f->page + f->page_size - NEEDLE));
	zswap_invalidate(f->z, at(0), 1);
	assert_false(is_in_memory(f, f->page));
	assert_false(is_in_memory(f, (char *)f->page + f->page_size - NEEDLE));
	end_other(f);
}

/* Zspages are emptied bit by bit, so that some are half empty at the end. */
static void payloads_are_wiped_where_they_are_moved_away(void **state)
{
	struct fixture *f = *state;
	bool present[ALIKE];
	struct memory memory;
	uint32_t i;

	begin_with(f, ZSWAP_COMPACT_AUTO, ZSWAP_MEM_WIPE);
	put_alike(f, f->page_size / 8);
	drop_some_alike(f, present);
	assert_true(stats_of(f->z).objects_moved > 0);
	memory = memory_now(f);
	for (i = 0; i < ALIKE; i++) {
		page_make_part(f->page, f->page_size, f->page_size / 8, i);
		assert_int_equal(times_in(&memory, (char *)f->page + NEEDLE),
				 present[i]);
	}
	free(memory.bytes);
	end_other(f);
}

/* What the kernel says of the mappings that stay out of children. */
struct advice {
	unsigned nr, no_dump, huge, no_huge;
};

static struct advice advice_now(void)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	struct advice advice = { 0 };
	char line[512];

	assert_non_null(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (strncmp(line, "VmFlags:", 8) != 0 || !strstr(line, " dc"))
			continue;
		advice.nr++;
		advice.no_dump += strstr(line, " dd") != NULL;
		advice.huge += strstr(line, " hg") != NULL;
		advice.no_huge += strstr(line, " nh") != NULL;
	}
	fclose(smaps);
	return advice;
}

static void flags_are_for_the_librarys_own_mappings(void **state)
{
	struct zswap_params params = { .size = sizeof(params) };
	char page[4096];
	uint32_t flags;

	(void)state;
	page_make(page, sizeof(page), PAGE_TEXT, 1);
	assert_int_equal(advice_now().nr, 0);
	for (flags = 0; flags < 8; flags++) {
		bool huge = flags & ZSWAP_MEM_HUGE_PAGES;
		struct advice advice;
		struct zswap *z;

		params.memory_flags = flags;
		assert_int_equal(zswap_create(&z, &params), 0);
		assert_int_equal(zswap_swapon(z, 0, 10), 0);
		assert_int_equal(zswap_store(z, at(0), page), 0);
		advice = advice_now();
		assert_true(advice.nr > 0);
		assert_int_equal(advice.no_dump,
				 flags & ZSWAP_MEM_NO_DUMP ? advice.nr : 0);
		/* A kernel without huge pages has neither. */
		assert_true(advice.huge == (huge ? advice.nr : 0) ||
			    advice.huge + advice.no_huge == 0);
		assert_true(advice.no_huge == (huge ? 0 : advice.nr) ||
			    advice.huge + advice.no_huge == 0);
		zswap_destroy(z);
	}
}

/* ---- parameters that are refused --------------------------------------- */

static void unknown_values_are_einval_and_leave_nothing(void **state)
{
	struct fixture *f = *state;
	uint32_t bits =
		ZSWAP_MEM_HUGE_PAGES | ZSWAP_MEM_NO_DUMP | ZSWAP_MEM_WIPE;
	uint64_t calls = faulty_calls(&f->hooks);
	struct zswap_params params = f->params;
	uint32_t bit;

#define REFUSED(field, value)                                     \
	do {                                                      \
		params = f->params;                               \
		params.field = value;                             \
		assert_int_equal(create_error(&params), -EINVAL); \
	} while (0)
	REFUSED(chain_size, 17);
	REFUSED(chain_size, UINT32_MAX);
	REFUSED(class_choice, ZSWAP_CLASSES_ADAPTIVE + 1);
	REFUSED(class_choice, UINT32_MAX);
	REFUSED(compaction, ZSWAP_COMPACT_MANUAL + 1);
	REFUSED(compaction, UINT32_MAX);
	for (bit = 1; bit; bit <<= 1)
		if (!(bits & bit))
			REFUSED(memory_flags, bit | bits);
#undef REFUSED
	assert_int_equal(faulty_calls(&f->hooks), calls);
}

static void known_values_are_taken(void **state)
{
	struct zswap_params params = params_of("lz4");

	(void)state;
	for (params.chain_size = 0; params.chain_size <= 16;
	     params.chain_size++)
		assert_creates(&params);
	params.chain_size = 0;
	for (params.class_choice = 0;
	     params.class_choice <= ZSWAP_CLASSES_ADAPTIVE;
	     params.class_choice++)
		for (params.compaction = 0;
		     params.compaction <= ZSWAP_COMPACT_MANUAL;
		     params.compaction++)
			assert_creates(&params);
}

int main(void)
{
	static const struct CMUnitTest bare[] = {
		BARE_CASE(compacting_no_cache_is_einval),
		BARE_CASE(flags_are_for_the_librarys_own_mappings),
		BARE_CASE(known_values_are_taken),
		CASE(unknown_values_are_einval_and_leave_nothing),
		CASE(what_is_held_stays_near_what_is_needed_by_itself),
		CASE(small_pools_hold_little_more_than_their_payload),
	};
	static const struct CMUnitTest cases[] = {
		CASE(an_empty_cache_has_nothing_to_give_back),
		CASE(D55_compaction_returns_what_is_given_back),
		CASE(a_second_call_finds_nothing_to_do),
		CASE(D61_compaction_changes_nothing_but_the_place),
		CASE(compaction_takes_no_memory),
		CASE(retired_pools_are_compacted_too),
		CASE(compaction_makes_room_in_a_full_cache),
		CASE(nothing_moves_by_itself_where_that_is_not_wanted),
		CASE(a_call_that_frees_an_object_moves_up_to_two_others),
		CASE(pages_are_counted_where_zspages_go_one_by_one),
		CASE(a_zspage_has_no_more_pages_than_the_chain),
		CASE(zero_means_the_documented_defaults),
		CASE(payloads_are_wiped_when_they_are_freed),
		CASE(raw_pages_are_wiped_too),
		CASE(payloads_are_wiped_where_they_are_moved_away),
	};
	static const struct CMUnitTest blocked[] = {
		CASE(D56_a_page_that_is_being_loaded_stays_and_all_others_go),
	};
	int failed = run_cases("compact", bare, sizeof(bare) / sizeof(bare[0]));

	failed += run_variants("compact", cases,
			       sizeof(cases) / sizeof(cases[0]));
	return failed +
	       run_codec_variants("compact", blocked,
				  sizeof(blocked) / sizeof(blocked[0]));
}
