// SPDX-License-Identifier: MIT
/*
 * test_checksum.c - with checksums a page whose bytes changed is never wrong
 *
 * A case finds a page's stored bytes in the mappings, changes them and puts
 * them back. Coders without a checksum of their own make a wrong page of most
 * damage, and the test compressor takes no notice of its padding: what finds
 * these is the cache's checksum alone.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "payload.h"

/* ---- without the library ----------------------------------------------- */

static void checksums_need_libxxhash(void **state)
{
	struct zswap_params params = params_of(NULL);

	(void)state;
	params.checksum = 1;
	if (with_checksum)
		assert_creates(&params);
	else
		assert_int_equal(create_error(&params), -EOPNOTSUPP);
	params.checksum = 0;
	assert_creates(&params);
}

static void a_checksum_is_0_or_1(void **state)
{
	static const uint32_t wrong[] = { 2, 3, 256, UINT32_MAX };
	struct zswap_params params = params_of(NULL);
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		params.checksum = wrong[i];
		assert_int_equal(create_error(&params), -EINVAL);
	}
}

/* ---- finding stored bytes ---------------------------------------------- */

#define SLOT 500

/* The stored bytes of the page in slot SLOT. */
struct target {
	unsigned char *bytes;
	size_t len;
};

/* Whether damage at @copy is damage to slot SLOT. */
static bool belongs_to_slot(struct fixture *f, unsigned char *copy, size_t len)
{
	unsigned char *saved = malloc(len);
	bool belongs;

	assert_non_null(saved);
	memcpy(saved, copy, len);
	memset(copy, 0xff, len);
	belongs = zswap_peek(f->z, at(SLOT), f->out) == -EIO;
	memcpy(copy, saved, len);
	free(saved);
	return belongs;
}

/* Stores text in SLOT of an empty cache, and finds what became of it. */
static void find_compressed(struct fixture *f, struct target *t)
{
	unsigned char *copies[PAYLOAD_MAX_COPIES];

	store_page(f, at(SLOT), PAGE_TEXT, 1);
	t->len = (size_t)stats_of(f->z).compressed_bytes;
	store_page(f, at(9), PAGE_TEXT, 1);
	assert_int_equal(payload_find_copies(&f->hooks, t->len, copies), 2);
	t->bytes = copies[!belongs_to_slot(f, copies[0], t->len)];
	assert_true(belongs_to_slot(f, t->bytes, t->len));
	assert_holds(f, at(9), PAGE_TEXT, 1);
	zswap_invalidate(f->z, at(9), 1);
	assert_int_equal(zswap_query(f->z, at(SLOT)), ZSWAP_STORED);
	assert_holds(f, at(SLOT), PAGE_TEXT, 1);
}

static void find_raw(struct fixture *f, struct target *t)
{
	store_page(f, at(SLOT), PAGE_RANDOM, 1);
	t->len = f->page_size;
	t->bytes = faulty_find(&f->hooks, f->page, t->len);
	assert_non_null(t->bytes);
	assert_int_equal(zswap_query(f->z, at(SLOT)), ZSWAP_RAW);
}

/* ---- round trips ------------------------------------------------------- */

static void pages_of_all_kinds_load_exactly(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	for (i = 0; i < 60; i++)
		store_page(f, at(i), kind_of(i), i);
	store_pages(f, at(490), 60, 100);
	assert_holds_pages(f, at(0), 60, 0);
	assert_holds_pages(f, at(490), 60, 100);
	for (i = 0; i < 60; i++) {
		assert_int_equal(zswap_load(f->z, at(i), f->out), 0);
		assert_true(page_is(f->out, f->page_size, kind_of(i), i));
	}
	assert_int_equal(stats_of(f->z).decompress_fail, 0);
}

static void replaced_pages_have_new_checksums(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	for (i = 0; i < 60; i++) {
		store_page(f, at(4), kind_of(i * i), i);
		assert_holds(f, at(4), kind_of(i * i), i);
	}
	assert_int_equal(stats_of(f->z).decompress_fail, 0);
}

/* ---- damage ------------------------------------------------------------ */

/* Every reading finds it, and the entry stays as it is. */
static void assert_damaged(struct fixture *f)
{
	struct zswap_folio folio = folio_of_data(at(SLOT), 1, f->out);
	uint64_t failed = stats_of(f->z).decompress_fail;
	int result = 777;

	folio.results = &result;
	assert_int_equal(zswap_peek(f->z, at(SLOT), f->out), -EIO);
	assert_int_equal(zswap_load(f->z, at(SLOT), f->out), -EIO);
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -EIO);
	assert_int_equal(result, -EIO);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL), 0);
	assert_int_equal(result, -EIO);
	assert_int_equal(stats_of(f->z).decompress_fail, failed + 4);
	assert_true(zswap_is_present(f->z, at(SLOT), 1));
	assert_int_equal(stats_of(f->z).stored_pages, 1);
}

/* One bit at a time, at both ends and in a sample of the bytes between. */
static void flip_bits(struct fixture *f, const struct target *t)
{
	size_t step = t->len / 97 + 1, i;

	for (i = 0; i < t->len; i += i < 16 || i + 17 > t->len ? 1 : step) {
		t->bytes[i] ^= (unsigned char)(1 << i % 8);
		assert_int_equal(zswap_peek(f->z, at(SLOT), f->out), -EIO);
		t->bytes[i] ^= (unsigned char)(1 << i % 8);
	}
	t->bytes[t->len - 1] ^= 0x80;
	assert_damaged(f);
	t->bytes[t->len - 1] ^= 0x80;
}

static void D41_a_flipped_bit_is_eio(void **state)
{
	struct fixture *f = *state;
	struct target t;

	find_compressed(f, &t);
	flip_bits(f, &t);
	assert_holds(f, at(SLOT), PAGE_TEXT, 1);
}

static void D41_a_flipped_bit_of_a_raw_page_is_eio(void **state)
{
	struct fixture *f = *state;
	struct target t;

	find_raw(f, &t);
	flip_bits(f, &t);
	assert_holds(f, at(SLOT), PAGE_RANDOM, 1);
}

/* What the test compressor does not look at, the checksum does. */
static void D41_a_flipped_bit_of_padding_is_eio(void **state)
{
	struct fixture *f = *state;
	struct target t;
	size_t i;

	if (!has_codec(f))
		return;
	atomic_store(&f->codec.pad_to, (uint32_t)f->page_size * 3 / 4);
	find_compressed(f, &t);
	for (i = t.len - 1; i > t.len - 40; i--) {
		t.bytes[i] ^= 1;
		assert_int_equal(zswap_peek(f->z, at(SLOT), f->out), -EIO);
		t.bytes[i] ^= 1;
	}
	assert_holds(f, at(SLOT), PAGE_TEXT, 1);
}

static void change_some(struct fixture *f, unsigned char *bytes, size_t len)
{
	uint32_t first = rng_below(&f->rng, (uint32_t)len), i;

	switch (rng_below(&f->rng, 4)) {
	case 0:
		for (i = first; i < len && i < first + 16; i++)
			bytes[i] = (unsigned char)rng_next(&f->rng);
		break;
	case 1: /* cut short */
		memset(bytes + first, 0, len - first);
		break;
	case 2:
		memset(bytes + first, 0xff, len - first);
		break;
	default: /* moved by a byte */
		memmove(bytes, bytes + 1, len - 1);
		break;
	}
}

static void D41_damage_of_any_sort_is_never_a_wrong_page(void **state)
{
	struct fixture *f = *state;
	int trials = f->page_size == 4096 ? 1000 : 200, i, err, found = 0;
	unsigned char *saved;
	struct target t;
	bool same;

	find_compressed(f, &t);
	saved = malloc(t.len);
	assert_non_null(saved);
	memcpy(saved, t.bytes, t.len);
	for (i = 0; i < trials; i++) {
		change_some(f, t.bytes, t.len);
		same = memcmp(t.bytes, saved, t.len) == 0;
		err = zswap_peek(f->z, at(SLOT), f->out);
		assert_int_equal(err, same ? 0 : -EIO);
		found += !same;
		memcpy(t.bytes, saved, t.len);
	}
	assert_true(found > trials / 2);
	assert_int_equal(stats_of(f->z).decompress_fail - (uint64_t)found <= 2,
			 1);
	assert_int_equal(zswap_load(f->z, at(SLOT), f->out), 0);
	assert_true(page_is(f->out, f->page_size, PAGE_TEXT, 1));
	free(saved);
}

static void D40_a_damaged_entry_can_be_forgotten_or_replaced(void **state)
{
	struct fixture *f = *state;
	struct target t;
	int round;

	for (round = 0; round < 2; round++) {
		find_raw(f, &t);
		t.bytes[7] ^= 4;
		assert_damaged(f);
		if (round)
			zswap_invalidate(f->z, at(SLOT), 1);
		else
			store_page(f, at(SLOT), PAGE_TEXT, 2);
		assert_int_equal(zswap_query(f->z, at(SLOT)),
				 round ? ZSWAP_ABSENT : ZSWAP_STORED);
		zswap_invalidate(f->z, at(SLOT), 1);
		assert_empty(f->z);
	}
}

/* ---- neighbours -------------------------------------------------------- */

static void neighbours_of_a_damaged_page_load(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(21 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(SLOT - 10), 21, data);
	int results[21];
	struct target t;
	uint32_t i;

	assert_non_null(data);
	find_compressed(f, &t);
	for (i = 0; i < 21; i++)
		if (i != 10)
			store_page(f, at(SLOT - 10 + i), kind_of(i), i);
	t.bytes[t.len / 2] ^= 0x10;
	folio.results = results;
	assert_int_equal(zswap_load_folio(f->z, &folio, 0), -EIO);
	for (i = 0; i < 21; i++)
		assert_int_equal(results[i], i == 10 ? -EIO : 0);
	assert_int_equal(stats_of(f->z).stored_pages, 21);
	assert_int_equal(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL),
			 20);
	for (i = 0; i < 21; i++) {
		assert_int_equal(results[i], i == 10 ? -EIO : 0);
		if (i != 10)
			assert_true(page_is(data + i * f->page_size,
					    f->page_size, kind_of(i), i));
	}
	assert_int_equal(stats_of(f->z).stored_pages, 1);
	t.bytes[t.len / 2] ^= 0x10;
	assert_holds(f, at(SLOT), PAGE_TEXT, 1);
	free(data);
}

/* ---- what it costs ----------------------------------------------------- */

static uint64_t metadata_of(struct fixture *f, uint32_t checksum, uint64_t nr)
{
	struct zswap_params params = f->params;
	uint64_t bytes, i;

	params.checksum = checksum;
	begin_other(f, &params);
	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	for (i = 0; i < nr; i++)
		assert_int_equal(zswap_store(f->z, at(i), f->page), 0);
	bytes = stats_of(f->z).metadata_bytes;
	end_other(f);
	return bytes;
}

static void a_checksum_costs_16_bytes_of_metadata(void **state)
{
	struct fixture *f = *state;
	const uint64_t nr = 4000;
	uint64_t with = metadata_of(f, with_checksum, nr);
	uint64_t without = metadata_of(f, 0, nr);

	if (!with_checksum)
		return;
	/* Entries come by slabs, so it is exact only in the long run. */
	assert_in_range(with - without, 12 * nr, 20 * nr);
}

static void checksums_outlive_a_switch(void **state)
{
	struct fixture *f = *state;
	struct target t;

	find_compressed(f, &t);
	assert_int_equal(zswap_set_compressor(f->z, "zstd:level=7"), 0);
	t.bytes[0] ^= 1;
	assert_damaged(f);
	t.bytes[0] ^= 1;
	assert_holds(f, at(SLOT), PAGE_TEXT, 1);
	assert_int_equal(zswap_load(f->z, at(SLOT), f->out), 0);
	/* The old pool takes its mapping along, with what is left there. */
	wait_for_pools(f->z, 1);
	find_compressed(f, &t);
	flip_bits(f, &t);
}

/* Every compressor with every page size, all with checksums. */
static int run_with_checksums(const struct CMUnitTest *cases, size_t nr)
{
	/* A payload stays where it was found, to be damaged and mended. */
	struct variant variant = { .checksum = 1,
				   .compaction = ZSWAP_COMPACT_MANUAL };
	const char *const *spec;
	char name[64];
	int failed = 0, i;

	variant.name = name;
	for (i = 0; i < 3; i++) {
		variant.page_size = all_page_sizes[i];
		for (spec = builtin_specs(); *spec; spec++) {
			variant.compressor = *spec;
			snprintf(name, sizeof(name), "%zu %s",
				 variant.page_size, *spec);
			failed += run_variant("checksum", &variant, cases, nr);
		}
		variant.compressor = NULL;
		variant.batch = 1u << (3 * i);
		snprintf(name, sizeof(name), "%zu test by %u",
			 variant.page_size, variant.batch);
		failed += run_variant("checksum", &variant, cases, nr);
		variant.batch = 0;
	}
	return failed;
}

int main(void)
{
	static const struct CMUnitTest any[] = {
		BARE_CASE(checksums_need_libxxhash),
		BARE_CASE(a_checksum_is_0_or_1),
		CASE(a_checksum_costs_16_bytes_of_metadata),
	};
	static const struct CMUnitTest with[] = {
		CASE(pages_of_all_kinds_load_exactly),
		CASE(replaced_pages_have_new_checksums),
		CASE(D41_a_flipped_bit_is_eio),
		CASE(D41_a_flipped_bit_of_a_raw_page_is_eio),
		CASE(D41_a_flipped_bit_of_padding_is_eio),
		CASE(D41_damage_of_any_sort_is_never_a_wrong_page),
		CASE(D40_a_damaged_entry_can_be_forgotten_or_replaced),
		CASE(neighbours_of_a_damaged_page_load),
		CASE(checksums_outlive_a_switch),
	};
	int failed = run_cases("checksum", any, sizeof(any) / sizeof(any[0]));

	if (with_checksum)
		failed += run_with_checksums(with,
					     sizeof(with) / sizeof(with[0]));
	return failed;
}
