// SPDX-License-Identifier: MIT
/*
 * test_arguments.c - what is refused leaves everything as it was
 */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- zswap_slot() ------------------------------------------------------ */

static void a_slot_is_its_type_and_its_offset(void **state)
{
	static const unsigned types[] = { 0, 1, 255, 256, 65535 };
	static const uint64_t offsets[] = { 0, 1, UINT32_MAX, UINT64_C(1) << 32,
					    ZSWAP_MAX_SLOTS - 2 };
	int i, j;

	(void)state;
	for (i = 0; i < 5; i++)
		for (j = 0; j < 5; j++) {
			zswap_slot_t slot = zswap_slot(types[i], offsets[j]);

			assert_int_equal(zswap_slot_type(slot), types[i]);
			assert_int_equal(zswap_slot_offset(slot), offsets[j]);
			assert_int_equal(slot.val,
					 (uint64_t)types[i] << 48 | offsets[j]);
		}
}

static void D14_a_type_or_offset_too_large_names_no_slot(void **state)
{
	(void)state;
	assert_true(zswap_slot(65536, 0).val == ZSWAP_SLOT_NONE);
	assert_true(zswap_slot(UINT32_MAX, 0).val == ZSWAP_SLOT_NONE);
	assert_true(zswap_slot(0, ZSWAP_MAX_SLOTS).val == ZSWAP_SLOT_NONE);
	assert_true(zswap_slot(0, UINT64_MAX).val == ZSWAP_SLOT_NONE);
	assert_true(zswap_slot(65536, UINT64_MAX).val == ZSWAP_SLOT_NONE);
}

/* ---- refused calls ----------------------------------------------------- */

/*
 * A cache with pages in slots 0 .. 9 and a copy of its statistics. Whatever is
 * refused must find both unchanged.
 */
#define NR_BEFORE 10

struct refusal {
	struct fixture *f;
	struct zswap_stats before;
	int results[ZSWAP_MAX_FOLIO];
	char *pages; /* two */
	void *pointers[ZSWAP_MAX_FOLIO];
};

static void refusal_begin(struct refusal *r, struct fixture *f)
{
	int i;

	r->f = f;
	store_pages(f, at(0), NR_BEFORE, 1);
	r->pages = malloc(2 * f->page_size);
	assert_non_null(r->pages);
	memset(r->pages, 0x3c, 2 * f->page_size);
	for (i = 0; i < (int)ZSWAP_MAX_FOLIO; i++) {
		r->results[i] = 12345;
		r->pointers[i] = r->pages;
	}
	r->before = stats_of(f->z);
}

static void assert_nothing_changed(struct refusal *r)
{
	struct zswap_stats after = stats_of(r->f->z);
	size_t i;

	assert_same_stats(&r->before, &after);
	for (i = 0; i < ZSWAP_MAX_FOLIO; i++)
		assert_int_equal(r->results[i], 12345);
	for (i = 0; i < 2 * r->f->page_size; i++)
		assert_int_equal(r->pages[i], 0x3c);
}

static void refusal_end(struct refusal *r)
{
	assert_nothing_changed(r);
	assert_holds_pages(r->f, at(0), NR_BEFORE, 1);
	free(r->pages);
}

/* Both directions refuse the folio with this error. */
static void assert_folio_refused(struct refusal *r, struct zswap_folio *folio,
				 int err)
{
	struct zswap *z = r->f->z;

	folio->results = r->results;
	assert_int_equal(zswap_store_folio(z, folio), err);
	assert_int_equal(zswap_load_folio(z, folio, 0), err);
	assert_int_equal(zswap_load_folio(z, folio, ZSWAP_LOAD_KEEP), err);
	assert_int_equal(zswap_load_folio(z, folio, ZSWAP_LOAD_PARTIAL), err);
	assert_nothing_changed(r);
}

static void null_arguments_are_einval_and_change_nothing(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;
	zswap_slot_t slot = at(0);

	refusal_begin(&r, f);
	folio = folio_of_data(at(0), 2, r.pages);
	assert_int_equal(zswap_store(NULL, at(0), r.pages), -EINVAL);
	assert_int_equal(zswap_store(f->z, at(0), NULL), -EINVAL);
	assert_int_equal(zswap_load(NULL, at(0), r.pages), -EINVAL);
	assert_int_equal(zswap_load(f->z, at(0), NULL), -EINVAL);
	assert_int_equal(zswap_peek(NULL, at(0), r.pages), -EINVAL);
	assert_int_equal(zswap_peek(f->z, at(0), NULL), -EINVAL);
	assert_int_equal(zswap_store_folio(NULL, &folio), -EINVAL);
	assert_int_equal(zswap_store_folio(f->z, NULL), -EINVAL);
	assert_int_equal(zswap_load_folio(NULL, &folio, 0), -EINVAL);
	assert_int_equal(zswap_load_folio(f->z, NULL, 0), -EINVAL);
	assert_int_equal(zswap_query(NULL, at(0)), -EINVAL);
	assert_int_equal(zswap_set_enabled(NULL, false), -EINVAL);
	assert_false(zswap_is_present(NULL, at(0), 1));
	assert_false(zswap_next_present(NULL, &slot));
	assert_false(zswap_next_present(f->z, NULL));
	zswap_invalidate(NULL, at(0), 1);
	refusal_end(&r);
}

static void folio_needs_either_data_or_pages(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;

	refusal_begin(&r, f);
	folio = folio_of_data(at(0), 2, NULL);
	assert_folio_refused(&r, &folio, -EINVAL);
	folio = folio_of_data(at(0), 2, r.pages);
	folio.pages = r.pointers;
	assert_folio_refused(&r, &folio, -EINVAL);
	refusal_end(&r);
}

static void a_null_among_the_pages_of_a_folio_is_einval(void **state)
{
	static const uint32_t positions[] = { 0, 1, 8, 511 };
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;
	int i;

	refusal_begin(&r, f);
	for (i = 0; i < 4; i++) {
		r.pointers[positions[i]] = NULL;
		folio = folio_of_pages(at(0), 512, r.pointers);
		assert_folio_refused(&r, &folio, -EINVAL);
		r.pointers[positions[i]] = r.pages;
	}
	refusal_end(&r);
}

static void D14_a_folio_has_1_to_512_pages(void **state)
{
	static const uint32_t wrong[] = { 0, 513, 1 << 20, UINT32_MAX };
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;
	int i;

	refusal_begin(&r, f);
	for (i = 0; i < 4; i++) {
		folio = folio_of_data(at(0), wrong[i], r.pages);
		assert_folio_refused(&r, &folio, -EINVAL);
		folio = folio_of_pages(at(0), wrong[i], r.pointers);
		assert_folio_refused(&r, &folio, -EINVAL);
	}
	refusal_end(&r);
}

static void an_unknown_folio_flag_is_einval(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;
	int bit;

	refusal_begin(&r, f);
	for (bit = 0; bit < 32; bit++) {
		folio = folio_of_data(at(0), 2, r.pages);
		folio.flags = UINT32_C(1) << bit;
		assert_folio_refused(&r, &folio, -EINVAL);
	}
	refusal_end(&r);
}

static void an_unknown_load_flag_is_einval(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;
	int bit;

	refusal_begin(&r, f);
	folio = folio_of_data(at(0), 2, r.pages);
	folio.results = r.results;
	for (bit = 2; bit < 32; bit++)
		assert_int_equal(
			zswap_load_folio(f->z, &folio,
					 UINT32_C(1) << bit | ZSWAP_LOAD_KEEP),
			-EINVAL);
	refusal_end(&r);
}

static void a_group_is_einval_as_none_can_be_made(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;

	refusal_begin(&r, f);
	folio = folio_of_data(at(0), 2, r.pages);
	folio.group = (struct zswap_group *)r.pages;
	assert_folio_refused(&r, &folio, -EINVAL);
	refusal_end(&r);
}

static void a_folio_smaller_than_version_0_1_is_einval(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;

	refusal_begin(&r, f);
	folio = folio_of_data(at(0), 2, r.pages);
	folio.size = 0;
	assert_folio_refused(&r, &folio, -EINVAL);
	folio.size = offsetof(struct zswap_folio, results);
	assert_folio_refused(&r, &folio, -EINVAL);
	folio.size = sizeof(folio) - 1;
	assert_folio_refused(&r, &folio, -EINVAL);
	refusal_end(&r);
}

static void a_folio_larger_than_known_is_fine(void **state)
{
	struct fixture *f = *state;
	struct {
		struct zswap_folio folio;
		uint64_t later[4];
	} larger;

	memset(&larger, 0xff, sizeof(larger));
	larger.folio = folio_of_data(at(5), 1, f->page);
	larger.folio.size = sizeof(larger);
	page_make(f->page, f->page_size, PAGE_TEXT, 3);
	assert_int_equal(zswap_store_folio(f->z, &larger.folio), 0);
	larger.folio.data = f->out;
	assert_int_equal(zswap_load_folio(f->z, &larger.folio, 0), 0);
	assert_memory_equal(f->page, f->out, f->page_size);
}

static void the_node_hint_has_no_wrong_value(void **state)
{
	static const int32_t nids[] = { -1, 1, 1000, INT32_MIN, INT32_MAX };
	struct fixture *f = *state;
	struct zswap_folio folio;
	int i;

	for (i = 0; i < 5; i++) {
		page_make(f->page, f->page_size, PAGE_TEXT, 3);
		folio = folio_of_data(at(5), 1, f->page);
		folio.nid = nids[i];
		assert_int_equal(zswap_store_folio(f->z, &folio), 0);
		assert_int_equal(zswap_load_folio(f->z, &folio, 0), 0);
	}
}

/* A single page and a folio at a slot that is not in an area. */
static void assert_slot_refused(struct refusal *r, zswap_slot_t slot)
{
	struct zswap *z = r->f->z;
	struct zswap_folio folio = folio_of_data(slot, 2, r->pages);
	zswap_slot_t next = slot;

	assert_int_equal(zswap_store(z, slot, r->pages), -ENXIO);
	assert_int_equal(zswap_load(z, slot, r->pages), -ENXIO);
	assert_int_equal(zswap_peek(z, slot, r->pages), -ENXIO);
	assert_int_equal(zswap_query(z, slot), -ENXIO);
	assert_false(zswap_is_present(z, slot, 1));
	assert_false(zswap_next_present(z, &next));
	assert_true(next.val == slot.val);
	zswap_invalidate(z, slot, 1);
	assert_folio_refused(r, &folio, -ENXIO);
}

static void D14_slots_outside_their_area_are_enxio(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	zswap_slot_t none = { ZSWAP_SLOT_NONE };

	refusal_begin(&r, f);
	assert_slot_refused(&r, at(AREA_SLOTS));
	assert_slot_refused(&r, at(AREA_SLOTS + 1));
	assert_slot_refused(&r, at(ZSWAP_MAX_SLOTS - 1));
	assert_slot_refused(&r, zswap_slot(1, 0));
	assert_slot_refused(&r, zswap_slot(1, 5));
	assert_slot_refused(&r, zswap_slot(65535, 0));
	assert_slot_refused(&r, zswap_slot(65535, ZSWAP_MAX_SLOTS - 2));
	assert_slot_refused(&r, zswap_slot(65536, 0));
	assert_slot_refused(&r, at(ZSWAP_MAX_SLOTS));
	assert_slot_refused(&r, none);
	refusal_end(&r);
}

static void D14_a_folio_that_leaves_its_area_is_enxio(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;

	assert_int_equal(zswap_swapon(f->z, 1, AREA_SLOTS), 0);
	assert_int_equal(zswap_swapon(f->z, 2, ZSWAP_MAX_SLOTS), 0);
	assert_int_equal(zswap_swapon(f->z, 3, ZSWAP_MAX_SLOTS), 0);
	assert_int_equal(zswap_swapon(f->z, 65535, ZSWAP_MAX_SLOTS - 1), 0);
	refusal_begin(&r, f);
	folio = folio_of_pages(at(AREA_SLOTS - 1), 2, r.pointers);
	assert_folio_refused(&r, &folio, -ENXIO);
	folio = folio_of_pages(at(AREA_SLOTS - 511), 512, r.pointers);
	assert_folio_refused(&r, &folio, -ENXIO);
	/* The next slot in numbers belongs to another area. */
	folio = folio_of_pages(zswap_slot(2, ZSWAP_MAX_SLOTS - 1), 2,
			       r.pointers);
	assert_folio_refused(&r, &folio, -ENXIO);
	folio = folio_of_pages(zswap_slot(65535, ZSWAP_MAX_SLOTS - 2), 2,
			       r.pointers);
	assert_folio_refused(&r, &folio, -ENXIO);
	folio = folio_of_pages(zswap_slot(65535, ZSWAP_MAX_SLOTS - 2), 512,
			       r.pointers);
	assert_folio_refused(&r, &folio, -ENXIO);
	refusal_end(&r);
}

static void a_folio_may_end_with_its_area(void **state)
{
	struct fixture *f = *state;
	zswap_slot_t slot = zswap_slot(1, ZSWAP_MAX_SLOTS - 40);

	assert_int_equal(zswap_swapon(f->z, 1, ZSWAP_MAX_SLOTS), 0);
	store_pages(f, at(AREA_SLOTS - 40), 40, 1);
	assert_holds_pages(f, at(AREA_SLOTS - 40), 40, 1);
	store_pages(f, slot, 40, 2);
	assert_holds_pages(f, slot, 40, 2);
	assert_int_equal(zswap_swapoff(f->z, 1), 0);
}

static void a_bad_argument_counts_before_a_bad_slot_or_not(void **state)
{
	struct fixture *f = *state;
	struct refusal r;
	struct zswap_folio folio;
	int err;

	/* Both are wrong; either answer is right, and nothing may change. */
	refusal_begin(&r, f);
	folio = folio_of_data(at(AREA_SLOTS), 0, NULL);
	folio.results = r.results;
	err = zswap_store_folio(f->z, &folio);
	assert_true(err == -EINVAL || err == -ENXIO);
	err = zswap_load_folio(f->z, &folio, 0);
	assert_true(err == -EINVAL || err == -ENXIO);
	refusal_end(&r);
}

/* ---- errno and silence ------------------------------------------------- */

/* Switches, with pages to load through a retired pool, and settings. */
static void switch_and_set(struct fixture *f)
{
	const char *where;
	char buf[8];

	zswap_spec_check("zstd:level=99", &where);
	zswap_store(f->z, at(700), f->page);
	zswap_set_compressor(f->z, "zstd:level=99");
	zswap_set_compressor(f->z, "nope");
	zswap_set_compressor(f->z, "zstd");
	zswap_get_compressor(f->z, buf, sizeof(buf));
	zswap_load(f->z, at(700), f->out);
	zswap_set_compressor(f->z, "deflate");
	zswap_set_compressor(f->z, f->params.compressor);
	zswap_set_max_pool_percent(f->z, 101);
	zswap_set_accept_threshold_percent(f->z, 50);
	zswap_set_max_pool_bytes(f->z, 0);
	zswap_store(f->z, at(700), f->page);
	zswap_set_max_pool_percent(f->z, 20);
}

/* Calls of every function, good ones and bad ones. */
static void call_everything(struct fixture *f)
{
	struct zswap_stats stats = { .size = sizeof(stats) };
	struct zswap_folio folio = folio_of_data(at(600), 1, f->page);
	struct zswap_params params = f->params;
	zswap_slot_t slot = at(0);
	struct zswap *z;
	char text[4096];
	int kind;

	zswap_swapon(f->z, 1, 100);
	zswap_swapon(f->z, 1, 100);
	zswap_swapon(f->z, 2, 0);
	for (kind = 0; kind < PAGE_KINDS; kind++) {
		page_make(f->page, f->page_size, (enum page_kind)kind, 1);
		zswap_store(f->z, at((uint64_t)kind), f->page);
		zswap_peek(f->z, at((uint64_t)kind), f->out);
		zswap_load(f->z, at((uint64_t)kind), f->out);
		zswap_load(f->z, at((uint64_t)kind), f->out);
	}
	zswap_store(f->z, at(AREA_SLOTS), f->page);
	zswap_store_folio(f->z, &folio);
	zswap_load_folio(f->z, &folio, ZSWAP_LOAD_KEEP);
	zswap_load_folio(f->z, &folio, 0);
	zswap_load_folio(f->z, &folio, 0);
	zswap_load_folio(f->z, NULL, 0);
	zswap_set_enabled(f->z, false);
	zswap_store(f->z, at(5), f->page);
	zswap_set_enabled(f->z, true);
	zswap_query(f->z, at(5));
	zswap_query(f->z, zswap_slot(9, 0));
	zswap_is_present(f->z, at(5), 10);
	zswap_next_present(f->z, &slot);
	zswap_invalidate(f->z, at(5), 10);
	zswap_get_stats(f->z, &stats);
	zswap_get_stats(f->z, NULL);
	zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text, sizeof(text));
	zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text, 3);
	zswap_format_stats(f->z, (enum zswap_stats_format)99, text, 3);
	switch_and_set(f);
	zswap_swapoff(f->z, 1);
	zswap_swapoff(f->z, 1);
	zswap_page_size(f->z);
	if (zswap_create(&z, &params) == 0)
		zswap_destroy(z);
	params.hooks = NULL;
	if (zswap_create(&z, &params) == 0) {
		zswap_swapon(z, 0, 10);
		zswap_store(z, at(0), f->page);
		zswap_destroy(z);
	}
	params.compressor = "nope";
	zswap_create(&z, &params);
	zswap_destroy(NULL);
}

static void no_call_touches_errno(void **state)
{
	struct fixture *f = *state;
	struct zswap_folio folio = folio_of_data(at(600), 1, f->page);
	struct zswap_params params = f->params;
	struct zswap *z;
	uint64_t k;

	errno = 12345;
	call_everything(f);
	assert_int_equal(errno, 12345);
	/* Nor those that find no memory, whose malloc() does set it. */
	for (k = 1; k < 20; k++) {
		faulty_fail_nth(&f->hooks, FAULTY_ANY, k);
		errno = 12345;
		zswap_store_folio(f->z, &folio);
		assert_int_equal(errno, 12345);
		faulty_fail_nth(&f->hooks, FAULTY_ANY, k);
		zswap_set_compressor(f->z, k % 2 ? "zstd" : "lz4hc");
		assert_int_equal(errno, 12345);
		faulty_fail_nth(&f->hooks, FAULTY_ANY, k);
		if (zswap_create(&z, &params) == 0)
			zswap_destroy(z);
		assert_int_equal(errno, 12345);
	}
	faulty_fail_none(&f->hooks);
}

static int redirect(int fd, int to)
{
	int saved = dup(fd);

	assert_true(saved >= 0);
	assert_int_equal(dup2(to, fd), fd);
	return saved;
}

static void D78_no_call_prints_anything(void **state)
{
	struct fixture *f = *state;
	FILE *file = tmpfile();
	struct stat status;
	int out, err, i;

	assert_non_null(file);
	fflush(stdout);
	fflush(stderr);
	out = redirect(1, fileno(file));
	err = redirect(2, fileno(file));
	for (i = 0; i < 10; i++)
		call_everything(f);
	for (i = 0; i < 10000; i++)
		zswap_store(f->z, at(AREA_SLOTS), f->page);
	zswap_set_enabled(f->z, false);
	for (i = 0; i < 10000; i++)
		zswap_store(f->z, at(0), f->page);
	zswap_set_enabled(f->z, true);
	fflush(stdout);
	fflush(stderr);
	dup2(out, 1);
	dup2(err, 2);
	close(out);
	close(err);
	assert_int_equal(fstat(fileno(file), &status), 0);
	assert_int_equal(status.st_size, 0);
	fclose(file);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		BARE_CASE(a_slot_is_its_type_and_its_offset),
		BARE_CASE(D14_a_type_or_offset_too_large_names_no_slot),
		CASE(null_arguments_are_einval_and_change_nothing),
		CASE(folio_needs_either_data_or_pages),
		CASE(a_null_among_the_pages_of_a_folio_is_einval),
		CASE(D14_a_folio_has_1_to_512_pages),
		CASE(an_unknown_folio_flag_is_einval),
		CASE(an_unknown_load_flag_is_einval),
		CASE(a_group_is_einval_as_none_can_be_made),
		CASE(a_folio_smaller_than_version_0_1_is_einval),
		CASE(a_folio_larger_than_known_is_fine),
		CASE(the_node_hint_has_no_wrong_value),
		CASE(D14_slots_outside_their_area_are_enxio),
		CASE(D14_a_folio_that_leaves_its_area_is_enxio),
		CASE(a_folio_may_end_with_its_area),
		CASE(a_bad_argument_counts_before_a_bad_slot_or_not),
		CASE(no_call_touches_errno),
		CASE(D78_no_call_prints_anything),
	};

	return run_variants("arguments", cases,
			    sizeof(cases) / sizeof(cases[0]));
}
