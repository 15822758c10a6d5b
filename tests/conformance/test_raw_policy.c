// SPDX-License-Identifier: MIT
/*
 * test_raw_policy.c - what becomes of a page that does not compress
 *
 * Three outcomes: compressed, poor, failed; three policies: keep, kernel (like
 * refuse, as nothing is written back yet), refuse. A page of these cases says
 * in its first bytes what its compression shall come to, so that pages of one
 * batch can differ.
 */
#include "fixture.h"

#include <stdlib.h>

/* ---- pages that say what they come to ---------------------------------- */

#define ORDER_MAGIC UINT64_C(0x7265736f6f686321)
#define NO_LENGTH INT32_MAX /* the length that comes of itself */
#define ROOM_PLUS_1 (INT32_MAX - 1)
#define HUGE_LENGTH (INT32_MAX - 2)

struct order {
	uint64_t magic;
	int32_t result;
	uint32_t seed;
};

/* The judge of a segment: gives the order's result, and writes as much. */
static int32_t follow_order(void *arg, const struct zswap_comp_segment *seg,
			    int32_t result)
{
	struct order order;

	(void)arg;
	memcpy(&order, seg->src, sizeof(order));
	if (order.magic != ORDER_MAGIC || order.result == NO_LENGTH)
		return result;
	if (order.result == ROOM_PLUS_1)
		return (int32_t)seg->dst_len + 1;
	if (order.result == HUGE_LENGTH)
		return INT32_MAX;
	if (order.result > result && order.result <= (int32_t)seg->dst_len)
		memset((char *)seg->dst + result, 0x77,
		       (size_t)(order.result - result));
	return order.result;
}

static void make_ordered(void *page, size_t page_size, int32_t result,
			 uint32_t seed)
{
	struct order order = { ORDER_MAGIC, result, seed };

	page_make(page, page_size, PAGE_TEXT, seed);
	memcpy(page, &order, sizeof(order));
}

static int store_ordered(struct fixture *f, zswap_slot_t slot, int32_t result,
			 uint32_t seed)
{
	make_ordered(f->page, f->page_size, result, seed);
	return zswap_store(f->z, slot, f->page);
}

static void assert_holds_ordered(struct fixture *f, zswap_slot_t slot,
				 int32_t result, uint32_t seed)
{
	make_ordered(f->page, f->page_size, result, seed);
	assert_int_equal(zswap_peek(f->z, slot, f->out), 0);
	assert_memory_equal(f->out, f->page, f->page_size);
}

/* ---- a cache of a policy ----------------------------------------------- */

static const enum zswap_raw_policy refusing[] = { ZSWAP_RAW_KERNEL,
						  ZSWAP_RAW_REFUSE };

static void begin_policy(struct fixture *f, enum zswap_raw_policy policy)
{
	struct zswap_params params = f->params;

	params.raw_policy = policy;
	f->codec.compress.judge = follow_order;
	begin_other(f, &params);
}

/* ---- outcomes ---------------------------------------------------------- */

struct outcome {
	int32_t result;
	int err; /* of the store, when it is refused */
};

static const struct outcome failures[] = {
	{ 0, -EIO },       { -EIO, -EIO },          { -EINVAL, -EIO },
	{ -ENOMEM, -EIO }, { ROOM_PLUS_1, -EIO },   { HUGE_LENGTH, -EIO },
	{ -E2BIG, -EIO },  { INT32_MIN + 1, -EIO }, { ZSWAP_NOT_DONE, -EIO },
};

#define NR_FAILURES (sizeof(failures) / sizeof(failures[0]))

static void D36_a_failed_page_is_refused_as_failed(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint32_t i;
	int p;

	for (p = 0; p < 2; p++) {
		begin_policy(f, refusing[p]);
		for (i = 0; i < NR_FAILURES; i++) {
			store_page(f, at(3), i % 2 ? PAGE_WORD : PAGE_TEXT, i);
			assert_int_equal(
				store_ordered(f, at(3), failures[i].result, i),
				failures[i].err);
			assert_absent(f, at(3), 1);
			stats = stats_of(f->z);
			assert_int_equal(stats.compress_engine_fail, i + 1);
			assert_int_equal(stats.reject_compress_fail, i + 1);
			assert_int_equal(stats.reject_compress_poor, 0);
			/* The next page is none the worse for it. */
			assert_int_equal(store_ordered(f, at(4), NO_LENGTH, i),
					 0);
			assert_holds_ordered(f, at(4), NO_LENGTH, i);
		}
		end_other(f);
	}
}

static void D36_a_failed_page_is_kept_as_failed(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	uint32_t i;

	begin_policy(f, ZSWAP_RAW_KEEP);
	for (i = 0; i < NR_FAILURES; i++) {
		assert_int_equal(store_ordered(f, at(i), failures[i].result, i),
				 0);
		assert_int_equal(zswap_query(f->z, at(i)), ZSWAP_RAW);
		assert_holds_ordered(f, at(i), failures[i].result, i);
		stats = stats_of(f->z);
		assert_int_equal(stats.compress_engine_fail, i + 1);
		assert_int_equal(stats.incompressible_stored, i + 1);
		assert_int_equal(stats.reject_compress_fail, 0);
	}
	/* A raw page loads by a copy. */
	assert_int_equal(atomic_load(&f->codec.decompress.requests), 0);
	end_other(f);
}

static void D36_a_poor_page_is_refused_as_poor(void **state)
{
	struct fixture *f = *state;
	int32_t unit = (int32_t)f->page_size;
	int32_t results[] = { -ENOSPC, unit - 1, unit, unit + 1, unit + 16 };
	struct zswap_stats stats;
	uint32_t i;
	int p;

	for (p = 0; p < 2; p++) {
		begin_policy(f, refusing[p]);
		for (i = 0; i < 5; i++) {
			store_page(f, at(3), PAGE_TEXT, i);
			assert_int_equal(store_ordered(f, at(3), results[i], i),
					 -E2BIG);
			assert_absent(f, at(3), 1);
			stats = stats_of(f->z);
			assert_int_equal(stats.reject_compress_poor, i + 1);
		}
		assert_int_equal(stats.compress_engine_fail, 0);
		assert_int_equal(stats.reject_compress_fail, 0);
		end_other(f);
	}
}

static void D47_a_poor_page_is_kept_as_it_is(void **state)
{
	struct fixture *f = *state;
	int32_t unit = (int32_t)f->page_size;
	int32_t results[] = { -ENOSPC, unit - 1, unit, unit + 1, unit + 16 };
	struct zswap_stats stats;
	uint32_t i;

	begin_policy(f, ZSWAP_RAW_KEEP);
	for (i = 0; i < 5; i++) {
		assert_int_equal(store_ordered(f, at(i), results[i], i), 0);
		assert_int_equal(zswap_query(f->z, at(i)), ZSWAP_RAW);
		assert_holds_ordered(f, at(i), results[i], i);
	}
	stats = stats_of(f->z);
	assert_int_equal(stats.incompressible_stored, 5);
	assert_int_equal(stats.stored_incompressible_pages, 5);
	assert_int_equal(stats.compressed_bytes, 5 * f->page_size);
	assert_int_equal(stats.pool_total_size, 5 * f->page_size);
	assert_int_equal(stats.compress_engine_fail, 0);
	assert_int_equal(atomic_load(&f->codec.decompress.requests), 0);
	end_other(f);
}

static void D26_random_pages_are_refused_with_their_own_reason(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	int p;

	for (p = 0; p < 2; p++) {
		begin_policy(f, refusing[p]);
		store_page(f, at(3), PAGE_TEXT, 1);
		page_make(f->page, f->page_size, PAGE_RANDOM, 1);
		assert_int_equal(zswap_store(f->z, at(3), f->page), -E2BIG);
		assert_absent(f, at(3), 1);
		stats = stats_of(f->z);
		assert_int_equal(stats.reject_compress_poor, 1);
		assert_int_equal(stats.refused_folios, 1);
		assert_int_equal(stats.incompressible_stored, 0);
		assert_int_equal(stats.compress_engine_fail, 0);
		end_other(f);
	}
}

static void a_request_error_fails_all_its_pages(void **state)
{
	struct fixture *f = *state;
	char *data = malloc(4 * f->page_size);
	struct zswap_folio folio = folio_of_data(at(500), 4, data);
	int results[4], i;

	begin_policy(f, ZSWAP_RAW_REFUSE);
	assert_non_null(data);
	for (i = 0; i < 4; i++)
		page_make(data + (size_t)i * f->page_size, f->page_size,
			  PAGE_TEXT, (uint64_t)i);
	folio.results = results;
	codec_fail(&f->codec.compress, CODEC_REQUEST_ERROR, CODEC_FOR_EVER);
	assert_int_equal(zswap_store_folio(f->z, &folio), -EIO);
	for (i = 0; i < 4; i++)
		assert_int_equal(results[i], -EIO);
	assert_int_equal(stats_of(f->z).compress_engine_fail, 4);
	assert_int_equal(stats_of(f->z).reject_compress_fail, 1);
	codec_behave(&f->codec.compress);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	end_other(f);
	free(data);
}

/* ---- from which length on ---------------------------------------------- */

/* What a result of @len bytes becomes under KEEP. */
static int state_of_length(struct fixture *f, int32_t len)
{
	assert_int_equal(store_ordered(f, at(9), len, 1), 0);
	return zswap_query(f->z, at(9));
}

/* The shortest result that is kept raw. */
static int32_t raw_from(struct fixture *f)
{
	int32_t low = (int32_t)f->page_size / 2, high = (int32_t)f->page_size;

	while (high - low > 1) {
		int32_t middle = (low + high) / 2;

		if (state_of_length(f, middle) == ZSWAP_RAW)
			high = middle;
		else
			low = middle;
	}
	zswap_invalidate(f->z, at(9), 1);
	return high;
}

static void D37_results_that_would_fill_a_page_are_raw(void **state)
{
	struct fixture *f = *state;
	int32_t unit = (int32_t)f->page_size, from, len;
	struct zswap_stats stats;

	begin_policy(f, ZSWAP_RAW_KEEP);
	from = raw_from(f);
	if (unit == 4096)
		assert_int_equal(from, 3625);
	for (len = unit / 2; len <= unit;
	     len += len > from - 9 && len < from + 9 ? 1 : unit / 512) {
		assert_int_equal(state_of_length(f, len),
				 len < from ? ZSWAP_STORED : ZSWAP_RAW);
		assert_holds_ordered(f, at(9), len, 1);
		stats = stats_of(f->z);
		assert_int_equal(stats.compressed_bytes,
				 len < from ? len : unit);
		assert_true(len < from ||
			    stats.pool_total_size == (uint64_t)unit);
	}
	end_other(f);
}

static void D37_no_length_costs_more_than_a_page_each(void **state)
{
	struct fixture *f = *state;
	int32_t unit = (int32_t)f->page_size, len;
	uint64_t nr = unit == 4096 ? 840 : 64, i; /* whole zspages of most */

	begin_policy(f, ZSWAP_RAW_KEEP);
	for (len = unit / 2; len <= unit; len += unit / 16 - 3) {
		for (i = 0; i < nr; i++)
			assert_int_equal(store_ordered(f, at(i), len, 1), 0);
		/* The last zspage, of up to 8 pages, may be begun. */
		assert_true(stats_of(f->z).pool_total_size <=
			    (nr + 7) * f->page_size);
		zswap_invalidate(f->z, at(0), nr);
	}
	end_other(f);
}

static void D37_what_would_fill_a_page_is_poor(void **state)
{
	struct fixture *f = *state;
	int32_t from, len;
	int p;

	begin_policy(f, ZSWAP_RAW_KEEP);
	from = raw_from(f);
	end_other(f);
	for (p = 0; p < 2; p++) {
		begin_policy(f, refusing[p]);
		for (len = from - 20; len < from + 20; len++) {
			assert_int_equal(store_ordered(f, at(9), len, 1),
					 len < from ? 0 : -E2BIG);
			assert_int_equal(zswap_query(f->z, at(9)),
					 len < from ? ZSWAP_STORED :
						      ZSWAP_ABSENT);
			if (len < from)
				assert_holds_ordered(f, at(9), len, 1);
		}
		assert_int_equal(stats_of(f->z).reject_compress_poor, 20);
		end_other(f);
	}
}

/* ---- several culprits -------------------------------------------------- */

#define NR_PAGES 30

/* The pages of a folio: what they come to, 0 being a failure. */
struct plan {
	struct fixture *f;
	char *data;
	int32_t results[NR_PAGES]; /* ordered */
	int got[NR_PAGES];
	struct zswap_folio folio;
};

static void plan_begin(struct plan *plan, struct fixture *f)
{
	uint32_t i;

	plan->f = f;
	plan->data = malloc(NR_PAGES * f->page_size);
	assert_non_null(plan->data);
	for (i = 0; i < NR_PAGES; i++) {
		plan->results[i] = NO_LENGTH;
		plan->got[i] = 777;
	}
	plan->folio = folio_of_data(at(500), NR_PAGES, plan->data);
	plan->folio.results = plan->got;
}

static int plan_store(struct plan *plan)
{
	size_t page_size = plan->f->page_size;
	uint32_t i;

	for (i = 0; i < NR_PAGES; i++)
		make_ordered(plan->data + i * page_size, page_size,
			     plan->results[i], i);
	return zswap_store_folio(plan->f->z, &plan->folio);
}

static void plan_end(struct plan *plan)
{
	free(plan->data);
}

static void assert_plan_is_held(struct plan *plan)
{
	uint32_t i;

	for (i = 0; i < NR_PAGES; i++)
		assert_holds_ordered(plan->f, at(500 + i), plan->results[i], i);
}

static void store_older_pages(struct fixture *f)
{
	uint32_t i;

	for (i = 0; i < NR_PAGES; i++)
		store_page(f, at(500 + i), i % 2 ? PAGE_WORD : PAGE_TEXT, i);
}

/* Pages of the first batch alone: each that was at fault is told. */
static void culprits_of_a_batch_have_their_own_errors(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	struct plan plan;
	uint32_t i;

	begin_policy(f, ZSWAP_RAW_REFUSE);
	plan_begin(&plan, f);
	plan.results[1] = -ENOSPC;
	plan.results[3] = -EIO;
	plan.results[4] = (int32_t)f->page_size;
	plan.results[6] = 0;
	store_older_pages(f);
	assert_int_equal(plan_store(&plan), -E2BIG); /* the first one's */
	for (i = 0; i < NR_PAGES; i++)
		assert_int_equal(plan.got[i], i == 1 || i == 4 ? -E2BIG :
					      i == 3 || i == 6 ? -EIO :
								 -ECANCELED);
	assert_absent(f, at(500), NR_PAGES);
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_compress_poor, 1);
	assert_int_equal(stats.reject_compress_fail, 0);
	assert_int_equal(stats.compress_engine_fail, 2);
	assert_int_equal(stats.stored_pages, 0);
	assert_int_equal(stats.pool_total_size, 0);
	plan_end(&plan);
	end_other(f);
}

static void the_first_culprit_is_the_reason(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	struct plan plan;

	begin_policy(f, ZSWAP_RAW_KERNEL);
	plan_begin(&plan, f);
	plan.results[2] = -EIO;
	plan.results[5] = -ENOSPC;
	assert_int_equal(plan_store(&plan), -EIO);
	assert_int_equal(plan.got[2], -EIO);
	assert_int_equal(plan.got[5], -E2BIG);
	stats = stats_of(f->z);
	assert_int_equal(stats.reject_compress_poor, 0);
	assert_int_equal(stats.reject_compress_fail, 1);
	assert_int_equal(stats.refused_folios_32, 1);
	plan_end(&plan);
	end_other(f);
}

/* Wherever the culprit is, the others of its folio are canceled and gone. */
static void D49_a_culprit_anywhere_refuses_the_folio(void **state)
{
	static const int32_t bad[] = { -ENOSPC, -EIO };
	struct fixture *f = *state;
	struct plan plan;
	uint32_t culprit, i;
	int err;

	begin_policy(f, ZSWAP_RAW_REFUSE);
	plan_begin(&plan, f);
	for (culprit = 0; culprit < NR_PAGES; culprit++) {
		plan.results[culprit] = bad[culprit % 2];
		err = culprit % 2 ? -EIO : -E2BIG;
		store_older_pages(f);
		assert_int_equal(plan_store(&plan), err);
		for (i = 0; i < NR_PAGES; i++)
			assert_int_equal(plan.got[i],
					 i == culprit ? err : -ECANCELED);
		assert_absent(f, at(500), NR_PAGES);
		assert_empty(f->z);
		plan.results[culprit] = NO_LENGTH;
	}
	/* No context, no memory, no lock was kept. */
	assert_int_equal(plan_store(&plan), 0);
	assert_plan_is_held(&plan);
	plan_end(&plan);
	end_other(f);
}

static void with_keep_no_culprit_refuses_anything(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats stats;
	struct plan plan;
	uint32_t i;

	begin_policy(f, ZSWAP_RAW_KEEP);
	plan_begin(&plan, f);
	for (i = 0; i < NR_PAGES; i += 3)
		plan.results[i] = i % 2 ? -ENOSPC : -EIO;
	assert_int_equal(plan_store(&plan), 0);
	for (i = 0; i < NR_PAGES; i++) {
		assert_int_equal(plan.got[i], 0);
		assert_int_equal(zswap_query(f->z, at(500 + i)),
				 i % 3 ? ZSWAP_STORED : ZSWAP_RAW);
	}
	assert_plan_is_held(&plan);
	stats = stats_of(f->z);
	assert_int_equal(stats.stored_incompressible_pages, 10);
	assert_int_equal(stats.incompressible_stored, 10);
	assert_int_equal(stats.compress_engine_fail, 5);
	plan_end(&plan);
	end_other(f);
}

static void pages_of_one_word_meet_no_policy(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	begin_policy(f, ZSWAP_RAW_REFUSE);
	codec_fail(&f->codec.compress, CODEC_ERROR, CODEC_FOR_EVER);
	for (i = 0; i < 20; i++)
		store_page(f, at(i), i % 2 ? PAGE_WORD : PAGE_ZERO, i);
	assert_int_equal(atomic_load(&f->codec.compress.segments), 0);
	codec_behave(&f->codec.compress);
	end_other(f);
}

static void D38_a_refused_page_was_compressed_once(void **state)
{
	struct fixture *f = *state;
	uint32_t i;

	begin_policy(f, ZSWAP_RAW_REFUSE);
	for (i = 0; i < 20; i++) {
		assert_int_equal(
			store_ordered(f, at(i), i % 2 ? -EIO : -ENOSPC, i),
			i % 2 ? -EIO : -E2BIG);
		assert_int_equal(atomic_load(&f->codec.compress.segments),
				 i + 1);
	}
	end_other(f);
}

/* ---- the parameter ----------------------------------------------------- */

static void an_unknown_policy_is_einval(void **state)
{
	static const uint32_t wrong[] = { 3, 4, 255, 65536, UINT32_MAX };
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	int i;

	for (i = 0; i < 5; i++) {
		params.raw_policy = wrong[i];
		assert_int_equal(create_error(&params), -EINVAL);
	}
}

/* A pool that a switch makes follows the cache's policy like the first. */
static void a_policy_outlives_a_switch(void **state)
{
	struct fixture *f = *state;
	const char *const *spec;

	begin_policy(f, ZSWAP_RAW_REFUSE);
	for (spec = builtin_specs(); *spec; spec++) {
		assert_int_equal(zswap_set_compressor(f->z, *spec), 0);
		page_make(f->page, f->page_size, PAGE_RANDOM, 1);
		assert_int_equal(zswap_store(f->z, at(3), f->page), -E2BIG);
		store_page(f, at(3), PAGE_TEXT, 1);
		assert_holds(f, at(3), PAGE_TEXT, 1);
	}
	end_other(f);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(D36_a_failed_page_is_refused_as_failed),
		CASE(D36_a_failed_page_is_kept_as_failed),
		CASE(D36_a_poor_page_is_refused_as_poor),
		CASE(D47_a_poor_page_is_kept_as_it_is),
		CASE(D26_random_pages_are_refused_with_their_own_reason),
		CASE(a_request_error_fails_all_its_pages),
		CASE(D37_results_that_would_fill_a_page_are_raw),
		CASE(D37_no_length_costs_more_than_a_page_each),
		CASE(D37_what_would_fill_a_page_is_poor),
		CASE(culprits_of_a_batch_have_their_own_errors),
		CASE(the_first_culprit_is_the_reason),
		CASE(D49_a_culprit_anywhere_refuses_the_folio),
		CASE(with_keep_no_culprit_refuses_anything),
		CASE(pages_of_one_word_meet_no_policy),
		CASE(D38_a_refused_page_was_compressed_once),
		CASE(an_unknown_policy_is_einval),
		CASE(a_policy_outlives_a_switch),
	};

	return run_codec_variants("raw_policy", cases,
				  sizeof(cases) / sizeof(cases[0]));
}
