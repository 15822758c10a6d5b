// SPDX-License-Identifier: MIT
/*
 * test_fill.c - pages that repeat one word are told from all others
 */
#include "unit.h"

#include <string.h>

#include "fill.h"
#include "guard.h"
#include "pagegen.h"
#include "random.h"

#define PAGE 4096u

static const size_t page_sizes[] = { 4096, 16384, 65536 };

/* A buffer that nobody can read or write past, filled with a word. */
static char *guarded_page(struct guard *guard, size_t bytes, uint64_t word)
{
	char *page = guard_at_end(guard, bytes);

	for (size_t i = 0; i < bytes; i += sizeof(word))
		memcpy(page + i, &word, sizeof(word));
	return page;
}

static void assert_round_trip(uint64_t word)
{
	struct guard in, out;
	const char *page = guarded_page(&in, PAGE, word);
	char *copy = guard_at_start(&out, PAGE);
	uint64_t found = ~word;

	assert_true(fill_detect(page, PAGE, &found));
	assert_int_equal(found, word);
	fill_page(copy, PAGE, found);
	assert_memory_equal(copy, page, PAGE);
	guard_free(&in);
	guard_free(&out);
}

static void D13_every_repeated_byte_round_trips(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 256; byte++)
		assert_round_trip(byte * UINT64_C(0x0101010101010101));
}

static void D13_repeated_words_round_trip(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 13);
	for (int i = 0; i < 1000; i++)
		assert_round_trip(rng_next(&rng));
}

static void D13_one_bit_makes_a_difference_at_every_byte(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 14);
	for (size_t s = 0; s < ARRAY_SIZE(page_sizes); s++) {
		size_t bytes = page_sizes[s];
		struct guard guard;
		char *page = guarded_page(&guard, bytes, rng_next(&rng));
		uint64_t word = 77;

		for (size_t i = 0; i < bytes; i += bytes / PAGE) {
			char bit = (char)(1 << rng_below(&rng, 8));

			page[i] ^= bit;
			assert_false(fill_detect(page, bytes, &word));
			page[i] ^= bit;
		}
		assert_int_equal(word, 77);
		assert_true(fill_detect(page, bytes, &word));
		guard_free(&guard);
	}
}

static void pages_of_other_periods_are_not_filled(void **state)
{
	static const size_t periods[] = { 3, 5, 7, 9, 12, 16, 24, 2048 };
	char page[PAGE];
	uint64_t word;

	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(periods); p++) {
		for (size_t i = 0; i < PAGE; i++)
			page[i] = (char)(i % periods[p]);
		assert_false(fill_detect(page, PAGE, &word));
	}
	/* Equal at both ends, and not between. */
	memset(page, 0, PAGE);
	page[PAGE / 2] = 1;
	assert_false(fill_detect(page, PAGE, &word));
}

static void buffers_need_no_alignment(void **state)
{
	char buffer[PAGE + 16];
	uint64_t word;

	(void)state;
	for (size_t shift = 0; shift < 16; shift++) {
		memset(buffer, 0x55, sizeof(buffer));
		fill_page(buffer + shift, PAGE, UINT64_C(0x0123456789abcdef));
		assert_true(fill_detect(buffer + shift, PAGE, &word));
		assert_int_equal(word, UINT64_C(0x0123456789abcdef));
		for (size_t i = 0; i < shift; i++)
			assert_int_equal(buffer[i], 0x55);
		for (size_t i = shift + PAGE; i < sizeof(buffer); i++)
			assert_int_equal(buffer[i], 0x55);
	}
}

static void generated_pages_are_judged_as_by_comparing_words(void **state)
{
	static char page[65536];
	uint64_t word;

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(page_sizes); s++)
		for (int kind = 0; kind < PAGE_KINDS; kind++)
			for (uint64_t seed = 0; seed < 10; seed++) {
				page_make(page, page_sizes[s],
					  (enum page_kind)kind, seed);
				assert_int_equal(
					fill_detect(page, page_sizes[s], &word),
					page_is_filled(page, page_sizes[s]));
			}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(D13_every_repeated_byte_round_trips),
		cmocka_unit_test(D13_repeated_words_round_trip),
		cmocka_unit_test(D13_one_bit_makes_a_difference_at_every_byte),
		cmocka_unit_test(pages_of_other_periods_are_not_filled),
		cmocka_unit_test(buffers_need_no_alignment),
		cmocka_unit_test(
			generated_pages_are_judged_as_by_comparing_words),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
