// SPDX-License-Identifier: MIT
/*
 * test_damage.c - stored bytes that change behind the library's back
 *
 * The memory of pages comes from a hook, so a case can find a payload in it
 * and damage it. A payload is found by a mark: the first bytes of the page, of
 * which coders keep a short literal copy. Without a checksum wrong bytes are
 * allowed; a crash, a write outside the caller's page, or a wrong count never.
 */
#include "fixture.h"

#include <stdlib.h>

#define MARK_BYTES 12
#define TRIALS 3000

struct payload {
	unsigned char *first; /* the mark in it */
	size_t len;           /* from there on */
	unsigned char *saved;
};

/* A text page that begins with a mark found nowhere else. */
static void make_marked(struct fixture *f, void *page, uint64_t seed)
{
	unsigned char mark[MARK_BYTES];
	struct rng rng;

	rng_init(&rng, seed);
	rng_fill(&rng, mark, sizeof(mark));
	page_make(page, f->page_size, PAGE_TEXT, seed);
	memcpy(page, mark, sizeof(mark));
}

/*
 * The only entry with a payload must be the one of @page. A coder puts few
 * bytes before the first literal; they are taken as part of the payload as
 * far as known: none for lz4's, the head for the test compressor's.
 */
static void find_payload(struct fixture *f, const void *page,
			 struct payload *payload)
{
	size_t len = (size_t)stats_of(f->z).compressed_bytes;

	payload->first = faulty_find(&f->hooks, page, MARK_BYTES);
	assert_non_null(payload->first);
	payload->len = len - 10;
	payload->saved = malloc(payload->len);
	assert_non_null(payload->saved);
	memcpy(payload->saved, payload->first, payload->len);
}

static void restore(struct payload *payload)
{
	memcpy(payload->first, payload->saved, payload->len);
}

static void damage(struct fixture *f, struct payload *payload)
{
	struct rng *rng = &f->rng;
	uint32_t len = (uint32_t)payload->len, first = rng_below(rng, len), i;

	switch (rng_below(rng, 4)) {
	case 0: /* one bit */
		payload->first[first] ^=
			(unsigned char)(1 << rng_below(rng, 8));
		break;
	case 1: /* some bytes */
		for (i = first; i < len && i < first + 16; i++)
			payload->first[i] = (unsigned char)rng_next(rng);
		break;
	case 2: /* cut short: nothing but zeros from here on */
		memset(payload->first + first, 0, len - first);
		break;
	default: /* cut short, with lengths as long as can be */
		memset(payload->first + first, 0xff, len - first);
		break;
	}
}

static void D41_damaged_bytes_give_an_error_or_a_page(void **state)
{
	struct fixture *f = *state;
	struct payload payload;
	struct guard guard;
	char *out = guard_at_start(&guard, f->page_size);
	uint64_t failed = 0;
	int i, err;

	make_marked(f, f->page, 1);
	assert_int_equal(zswap_store(f->z, at(3), f->page), 0);
	assert_int_equal(zswap_query(f->z, at(3)), ZSWAP_STORED);
	find_payload(f, f->page, &payload);
	for (i = 0; i < TRIALS; i++) {
		damage(f, &payload);
		err = zswap_peek(f->z, at(3), i % 2 ? out : f->out);
		assert_true(err == 0 || err == -EIO);
		/* The test compressor has a checksum of its own. */
		if (!err && has_codec(f))
			assert_memory_equal(i % 2 ? out : f->out, f->page,
					    f->page_size);
		failed += err != 0;
		assert_int_equal(stats_of(f->z).decompress_fail, failed);
		restore(&payload);
	}
	assert_true(failed > 0);
	assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
	assert_memory_equal(f->out, f->page, f->page_size);
	free(payload.saved);
	guard_free(&guard);
}

static void D41_a_damaged_entry_stays_and_can_be_replaced(void **state)
{
	struct fixture *f = *state;
	struct payload payload;
	int err;

	make_marked(f, f->page, 1);
	assert_int_equal(zswap_store(f->z, at(3), f->page), 0);
	find_payload(f, f->page, &payload);
	memset(payload.first, 0xff, payload.len);
	err = zswap_load(f->z, at(3), f->out);
	assert_int_equal(err, -EIO);
	assert_true(zswap_is_present(f->z, at(3), 1));
	assert_int_equal(zswap_load(f->z, at(3), f->out), -EIO);
	assert_int_equal(zswap_store(f->z, at(3), f->page), 0);
	assert_int_equal(zswap_load(f->z, at(3), f->out), 0);
	assert_memory_equal(f->out, f->page, f->page_size);
	free(payload.saved);
}

static void D42_no_error_leaves_a_mark_on_later_pages(void **state)
{
	struct fixture *f = *state;
	struct payload payload;
	uint64_t length, i;
	int rounds = f->page_size == 4096 ? 3000 : 400;

	make_marked(f, f->page, 1);
	assert_int_equal(zswap_store(f->z, at(3), f->page), 0);
	length = stats_of(f->z).compressed_bytes;
	find_payload(f, f->page, &payload);
	for (i = 0; i < (uint64_t)rounds; i++) {
		/* A broken load, a page that does not compress, a good one. */
		damage(f, &payload);
		zswap_peek(f->z, at(3), f->out);
		restore(&payload);
		store_page(f, at(5), i % 2 ? PAGE_RANDOM : PAGE_HALF, i);
		assert_holds(f, at(5), i % 2 ? PAGE_RANDOM : PAGE_HALF, i);
		zswap_invalidate(f->z, at(5), 1);
		make_marked(f, f->page, 1);
		assert_int_equal(zswap_peek(f->z, at(3), f->out), 0);
		assert_memory_equal(f->out, f->page, f->page_size);
		assert_int_equal(zswap_store(f->z, at(4), f->page), 0);
		assert_int_equal(stats_of(f->z).compressed_bytes, 2 * length);
		assert_int_equal(zswap_load(f->z, at(4), f->out), 0);
		assert_memory_equal(f->out, f->page, f->page_size);
	}
	free(payload.saved);
}

static void D42_failing_compressions_leave_no_mark_either(void **state)
{
	struct fixture *f = *state;
	int32_t length;
	uint64_t i;

	if (!has_codec(f))
		return;
	store_page(f, at(3), PAGE_TEXT, 1);
	length = atomic_load(&f->codec.last_length);
	for (i = 0; i < 500; i++) {
		codec_fail(&f->codec.compress,
			   (enum codec_fault)(1 + i % (CODEC_FAULTS - 1)), 1);
		store_page(f, at(4), PAGE_TEXT, 2);
		codec_fail(&f->codec.decompress,
			   (enum codec_fault)(1 + i % (CODEC_FAULTS - 1)), 1);
		assert_int_equal(zswap_load(f->z, at(3), f->out), -EIO);
		store_page(f, at(3), PAGE_TEXT, 1);
		assert_int_equal(atomic_load(&f->codec.last_length), length);
		assert_holds(f, at(3), PAGE_TEXT, 1);
	}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(D41_damaged_bytes_give_an_error_or_a_page),
		CASE(D41_a_damaged_entry_stays_and_can_be_replaced),
		CASE(D42_no_error_leaves_a_mark_on_later_pages),
		CASE(D42_failing_compressions_leave_no_mark_either),
	};

	return run_variants("damage", cases, sizeof(cases) / sizeof(cases[0]));
}
