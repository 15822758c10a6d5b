// SPDX-License-Identifier: MIT
/*
 * test_damage.c - stored bytes that change behind the library's back
 *
 * The memory of pages comes from a hook, so a case can find a payload in it
 * and damage it. Without a checksum wrong bytes are allowed; a crash, a write
 * outside the caller's page, or a wrong count never. With one nothing but an
 * error is; see test_checksum.c for more of that.
 */
#include "fixture.h"

#include <stdlib.h>

#include "payload.h"

#define TRIALS 3000

struct payload {
	unsigned char *first;
	size_t len;
	unsigned char *saved;
};

/* Whether damage at @copy is damage to slot 3. */
static bool belongs_to_slot_3(struct fixture *f, unsigned char *copy,
			      const struct payload *payload)
{
	bool belongs;

	memset(copy, 0xff, payload->len);
	belongs = zswap_peek(f->z, at(3), f->out) != 0;
	memcpy(copy, payload->saved, payload->len);
	return belongs;
}

/*
 * Stores text in slot 3 of an empty cache and finds its payload, by the help of
 * the same page elsewhere. The counter of failures moves by one meanwhile.
 */
static void store_and_find(struct fixture *f, struct payload *payload)
{
	unsigned char *copies[PAYLOAD_MAX_COPIES];

	store_page(f, at(3), PAGE_TEXT, 1);
	assert_int_equal(zswap_query(f->z, at(3)), ZSWAP_STORED);
	payload->len = (size_t)stats_of(f->z).compressed_bytes;
	store_page(f, at(700), PAGE_TEXT, 1);
	assert_int_equal(payload_find_copies(&f->hooks, payload->len, copies),
			 2);
	payload->saved = malloc(payload->len);
	assert_non_null(payload->saved);
	memcpy(payload->saved, copies[0], payload->len);
	payload->first = copies[0];
	if (!belongs_to_slot_3(f, copies[0], payload)) {
		payload->first = copies[1];
		assert_true(belongs_to_slot_3(f, copies[1], payload));
	}
	zswap_invalidate(f->z, at(700), 1);
	page_make(f->page, f->page_size, PAGE_TEXT, 1);
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

static void D33_D41_damaged_bytes_give_an_error_or_a_page(void **state)
{
	struct fixture *f = *state;
	struct payload payload;
	struct guard guard;
	char *out = guard_at_start(&guard, f->page_size);
	uint64_t failed, before, takes;
	int i, err;

	store_and_find(f, &payload);
	before = failed = stats_of(f->z).decompress_fail;
	takes = faulty_takes(&f->hooks);
	for (i = 0; i < TRIALS; i++) {
		damage(f, &payload);
		err = zswap_peek(f->z, at(3), i % 2 ? out : f->out);
		assert_true(err == 0 || err == -EIO);
		/* The test compressor has a checksum of its own. */
		if (!err && (has_codec(f) || f->variant->checksum))
			assert_memory_equal(i % 2 ? out : f->out, f->page,
					    f->page_size);
		failed += err != 0;
		assert_int_equal(stats_of(f->z).decompress_fail, failed);
		restore(&payload);
	}
	assert_true(failed > before);
	/* D33: no load takes memory, least of all one of damaged bytes. */
	assert_int_equal(faulty_takes(&f->hooks), takes);
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

	store_and_find(f, &payload);
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

	store_and_find(f, &payload);
	length = payload.len;
	for (i = 0; i < (uint64_t)rounds; i++) {
		/* A broken load, a page that does not compress, a good one. */
		damage(f, &payload);
		zswap_peek(f->z, at(3), f->out);
		restore(&payload);
		store_page(f, at(5), i % 2 ? PAGE_RANDOM : PAGE_HALF, i);
		assert_holds(f, at(5), i % 2 ? PAGE_RANDOM : PAGE_HALF, i);
		zswap_invalidate(f->z, at(5), 1);
		page_make(f->page, f->page_size, PAGE_TEXT, 1);
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
		CASE(D33_D41_damaged_bytes_give_an_error_or_a_page),
		CASE(D41_a_damaged_entry_stays_and_can_be_replaced),
		CASE(D42_no_error_leaves_a_mark_on_later_pages),
	};
	static const struct CMUnitTest codec_cases[] = {
		CASE(D42_failing_compressions_leave_no_mark_either),
	};

	return run_all_variants("damage", cases,
				sizeof(cases) / sizeof(cases[0])) +
	       run_codec_variants("damage", codec_cases,
				  sizeof(codec_cases) / sizeof(codec_cases[0]));
}
