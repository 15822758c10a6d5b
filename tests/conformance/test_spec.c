// SPDX-License-Identifier: MIT
/*
 * test_spec.c - specs of compressors: what is refused where, canonical forms
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what is wrong, and where ------------------------------------------ */

struct wrong {
	const char *spec;
	int err;
	size_t where; /* bytes from its start */
};

static void assert_wrong(const struct wrong *w)
{
	const char *where = "";
	int err = zswap_spec_check(w->spec, &where);

	if (err != w->err || where != w->spec + w->where)
		print_error("\"%s\": %d at \"%s\"\n", w->spec, err,
			    where ? where : "NULL");
	assert_int_equal(err, w->err);
	assert_ptr_equal(where, w->spec + w->where);
	assert_int_equal(zswap_spec_check(w->spec, NULL), w->err);
}

static void assert_all_wrong(const struct wrong *all, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		assert_wrong(&all[i]);
}

#define ALL_WRONG(all) assert_all_wrong(all, sizeof(all) / sizeof((all)[0]))

static void a_good_spec_is_0_and_nothing_is_wrong_in_it(void **state)
{
	static const char *const good[] = {
		"lz4",
		"lz4hc",
		"zstd",
		"deflate",
		"lz4hc:level=1",
		"lz4hc:level=12",
		"deflate:level=1",
		"deflate:level=9",
		"zstd:level=22",
		"zstd:level=-131072",
	};
	const char *where;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		where = good[i];
		assert_int_equal(zswap_spec_check(good[i], &where), 0);
		assert_null(where);
		assert_int_equal(zswap_spec_check(good[i], NULL), 0);
	}
}

static void a_spec_of_null_is_einval_and_nowhere(void **state)
{
	const char *where = "somewhere";

	(void)state;
	assert_int_equal(zswap_spec_check(NULL, &where), -EINVAL);
	assert_null(where);
	assert_int_equal(zswap_spec_check(NULL, NULL), -EINVAL);
}

static void an_unknown_name_is_enoent_at_the_name(void **state)
{
	static const struct wrong all[] = {
		{ "nope", -ENOENT, 0 },
		{ "  nope", -ENOENT, 2 },
		{ "\t\nnope ", -ENOENT, 2 },
		{ "nope:level=1", -ENOENT, 0 },
		{ " nope:level=1", -ENOENT, 1 },
		{ "lz", -ENOENT, 0 },
		{ "lz4x", -ENOENT, 0 },
		{ "lz4hcx", -ENOENT, 0 },
		{ "zst", -ENOENT, 0 },
		{ "zstd-1", -ENOENT, 0 },
		{ "test", -ENOENT, 0 },
		{ "a234567890123456789012345678901", -ENOENT, 0 },
	};

	(void)state;
	ALL_WRONG(all);
}

static void what_does_not_fit_the_form_is_einval_there(void **state)
{
	static const struct wrong all[] = {
		{ "", -EINVAL, 0 },
		{ ":", -EINVAL, 0 },
		{ ":level=1", -EINVAL, 0 },
		{ " :level=1", -EINVAL, 1 },
		{ "=", -EINVAL, 0 },
		{ ",", -EINVAL, 0 },
		{ "lz4;", -EINVAL, 3 },
		{ "lz4 hc", -EINVAL, 3 },
		{ "zstd,level=1", -EINVAL, 4 },
		{ "zstd=1", -EINVAL, 4 },
		{ "zstd :level=1", -EINVAL, 4 },
		{ "zstd:", -EINVAL, 5 },
		{ " zstd: ", -EINVAL, 6 },
		{ "lz4:", -EINVAL, 4 },
		{ "zstd::level=1", -EINVAL, 5 },
		{ "zstd:=1", -EINVAL, 5 },
		{ "zstd:,level=1", -EINVAL, 5 },
		{ "zstd: level=1", -EINVAL, 5 },
		{ "zstd:level=1,", -EINVAL, 13 },
		{ "zstd:level=1, ", -EINVAL, 13 },
		{ "zstd:level=1,,", -EINVAL, 13 },
	};

	(void)state;
	ALL_WRONG(all);
}

static void an_option_that_is_not_known_is_einval_at_its_name(void **state)
{
	static const struct wrong all[] = {
		{ "lz4:level=1", -EINVAL, 4 },
		{ " lz4:level=1", -EINVAL, 5 },
		{ "zstd:nope=1", -EINVAL, 5 },
		{ "zstd:levels=1", -EINVAL, 5 },
		{ "zstd:leve=1", -EINVAL, 5 },
		{ "zstd:level=1,nope=2", -EINVAL, 13 },
		{ "deflate:strategy=1", -EINVAL, 8 },
		{ "lz4hc:dict=1", -EINVAL, 6 },
	};

	(void)state;
	ALL_WRONG(all);
}

static void an_option_that_comes_twice_is_einval_at_its_second(void **state)
{
	static const struct wrong all[] = {
		{ "zstd:level=1,level=2", -EINVAL, 13 },
		{ "zstd:level=1,level=1", -EINVAL, 13 },
		{ " deflate:level=6,level=6", -EINVAL, 17 },
		{ "lz4hc:level=3,level=4,level=5", -EINVAL, 14 },
	};

	(void)state;
	ALL_WRONG(all);
}

static void a_value_that_is_no_number_is_einval_at_the_value(void **state)
{
	static const struct wrong all[] = {
		{ "zstd:level=", -EINVAL, 11 },
		{ "zstd:level= ", -EINVAL, 11 },
		{ "zstd:level=x", -EINVAL, 11 },
		{ "zstd:level=1x", -EINVAL, 11 },
		{ "zstd:level=0x3", -EINVAL, 11 },
		{ "zstd:level=1.5", -EINVAL, 11 },
		{ "zstd:level=1e1", -EINVAL, 11 },
		{ "zstd:level= 1", -EINVAL, 11 },
		{ "zstd:level=1 1", -EINVAL, 11 },
		{ "zstd:level=-", -EINVAL, 11 },
		{ "zstd:level=+", -EINVAL, 11 },
		{ "zstd:level=--1", -EINVAL, 11 },
		{ "zstd:level=+-1", -EINVAL, 11 },
		{ "zstd:level=1-", -EINVAL, 11 },
		{ "zstd:level=auto", -EINVAL, 11 },
		{ "zstd:level=,level=1", -EINVAL, 11 },
		{ "deflate:level=best", -EINVAL, 14 },
		{ " lz4hc:level=9a", -EINVAL, 13 },
	};

	(void)state;
	ALL_WRONG(all);
}

static void a_number_out_of_range_is_erange_at_the_number(void **state)
{
	static const struct wrong all[] = {
		{ "zstd:level=23", -ERANGE, 11 },
		{ "zstd:level=+23", -ERANGE, 11 },
		{ "zstd:level=-131073", -ERANGE, 11 },
		{ "zstd:level=00023", -ERANGE, 11 },
		{ "zstd:level=2147483647", -ERANGE, 11 },
		{ "zstd:level=2147483648", -ERANGE, 11 },
		{ "zstd:level=-2147483649", -ERANGE, 11 },
		{ "zstd:level=4294967297", -ERANGE, 11 },
		{ "zstd:level=9223372036854775808", -ERANGE, 11 },
		{ "zstd:level=18446744073709551617", -ERANGE, 11 },
		{ "zstd:level=-99999999999999999999999999", -ERANGE, 11 },
		{ "lz4hc:level=0", -ERANGE, 12 },
		{ "lz4hc:level=13", -ERANGE, 12 },
		{ "lz4hc:level=-1", -ERANGE, 12 },
		{ "deflate:level=0", -ERANGE, 14 },
		{ "deflate:level=10", -ERANGE, 14 },
		{ "\tdeflate:level=10", -ERANGE, 15 },
	};

	(void)state;
	ALL_WRONG(all);
}

static void specs_of_any_bytes_give_an_error_within_them(void **state)
{
	static const char alphabet[] = "lz4hcstdeflav:=,+-0123 \n\xc3\x7f_";
	struct rng rng;
	const char *where;
	char spec[24];
	uint32_t i, at, len;
	int err;

	(void)state;
	rng_init(&rng, 7);
	for (i = 0; i < 20000; i++) {
		len = rng_below(&rng, sizeof(spec));
		for (at = 0; at < len; at++)
			spec[at] =
				alphabet[rng_below(&rng, sizeof(alphabet) - 1)];
		if (i % 2 && len > 12)
			memcpy(spec, "zstd:level=", 11);
		spec[len] = '\0';
		err = zswap_spec_check(spec, &where);
		assert_true(err == 0 || err == -ENOENT || err == -EINVAL ||
			    err == -ERANGE);
		assert_int_equal(err == 0, where == NULL);
		assert_true(!err || (where >= spec && where <= spec + len));
	}
}

/* ---- length ------------------------------------------------------------ */

/* "zstd:level=000...3", of @len bytes. */
static void make_long_spec(char *spec, size_t len)
{
	memset(spec, '0', len);
	memcpy(spec, "zstd:level=", 11);
	spec[len - 1] = '3';
	spec[len] = '\0';
}

static void a_spec_has_at_most_255_bytes(void **state)
{
	char spec[1001];
	const char *where;

	(void)state;
	make_long_spec(spec, ZSWAP_MAX_SPEC);
	assert_int_equal(zswap_spec_check(spec, &where), 0);
	assert_null(where);
	make_long_spec(spec, ZSWAP_MAX_SPEC + 1);
	assert_int_equal(zswap_spec_check(spec, &where), -EINVAL);
	assert_ptr_equal(where, spec + ZSWAP_MAX_SPEC);
	make_long_spec(spec, 1000);
	assert_int_equal(zswap_spec_check(spec, &where), -EINVAL);
	assert_ptr_equal(where, spec + ZSWAP_MAX_SPEC);
}

static void a_name_may_be_too_long_for_any_compressor(void **state)
{
	char spec[201];
	const char *where;

	(void)state;
	memset(spec, 'a', 200);
	spec[200] = '\0';
	assert_int_equal(zswap_spec_check(spec, &where), -EINVAL);
	assert_ptr_equal(where, spec + 31);
	spec[32] = '\0'; /* one more than a name may have */
	assert_int_equal(zswap_spec_check(spec, &where), -EINVAL);
	assert_ptr_equal(where, spec + 31);
	spec[31] = '\0';
	assert_int_equal(zswap_spec_check(spec, &where), -ENOENT);
	assert_ptr_equal(where, spec);
}

static void white_space_around_a_spec_does_not_matter(void **state)
{
	static const char *const good[] = {
		" zstd",   "zstd ",
		"zstd\n",  "\tzstd\t",
		"\r\nlz4", "  zstd:level=3  ",
		"lz4\v\f", " deflate:level=1\n",
	};
	char spec[1001];
	const char *where;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(zswap_spec_check(good[i], NULL), 0);
	/* Nor does how much there is. */
	memset(spec, ' ', 1000);
	spec[1000] = '\0';
	memcpy(spec + 500, "lz4", 3);
	assert_int_equal(zswap_spec_check(spec, NULL), 0);
	memcpy(spec + 500, "   ", 3);
	assert_int_equal(zswap_spec_check(spec, &where), -EINVAL);
	assert_ptr_equal(where, spec + 1000);
}

static void lzo_is_there_or_not_known(void **state)
{
	const char *where;
	int err = zswap_spec_check("lzo", &where);

	(void)state;
	assert_true(err == 0 || err == -ENOENT);
	if (!err)
		assert_int_equal(zswap_spec_check("lzo:level=1", &where),
				 -EINVAL);
}

/* ---- canonical forms --------------------------------------------------- */

static void assert_in_use(struct zswap *z, const char *spec)
{
	char buf[ZSWAP_MAX_SPEC + 1];

	assert_int_equal(zswap_get_compressor(z, buf, sizeof(buf)),
			 strlen(spec));
	assert_string_equal(buf, spec);
}

static const char *const canonical[][2] = {
	{ "lz4", "lz4" },
	{ " lz4\n", "lz4" },
	{ "lz4hc", "lz4hc:level=9" },
	{ "lz4hc:level=9", "lz4hc:level=9" },
	{ "lz4hc:level=012", "lz4hc:level=12" },
	{ "lz4hc:level=+1", "lz4hc:level=1" },
	{ "zstd", "zstd:level=3" },
	{ " zstd:level=+03", "zstd:level=3" },
	{ "zstd:level=0", "zstd:level=3" }, /* 0 means the default */
	{ "zstd:level=-0", "zstd:level=3" },
	{ "zstd:level=-1", "zstd:level=-1" },
	{ "zstd:level=-0001\t", "zstd:level=-1" },
	{ "zstd:level=-131072", "zstd:level=-131072" },
	{ "zstd:level=22", "zstd:level=22" },
	{ "deflate", "deflate:level=6" },
	{ "deflate:level=1", "deflate:level=1" },
	{ "\r\ndeflate:level=09 ", "deflate:level=9" },
};

#define NR_CANONICAL (sizeof(canonical) / sizeof(canonical[0]))

static void a_cache_is_made_with_the_canonical_form(void **state)
{
	struct zswap_params params = params_of(NULL);
	struct zswap *z;
	size_t i;

	(void)state;
	for (i = 0; i < NR_CANONICAL; i++) {
		params.compressor = canonical[i][0];
		assert_int_equal(zswap_create(&z, &params), 0);
		assert_in_use(z, canonical[i][1]);
		zswap_destroy(z);
	}
	params.compressor = NULL;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_in_use(z, "lz4");
	zswap_destroy(z);
}

static void a_switch_is_to_the_canonical_form(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < NR_CANONICAL; i++) {
		assert_int_equal(zswap_set_compressor(f->z, canonical[i][0]),
				 0);
		assert_in_use(f->z, canonical[i][1]);
		/* And a canonical form is its own. */
		assert_int_equal(zswap_set_compressor(f->z, canonical[i][1]),
				 0);
		assert_in_use(f->z, canonical[i][1]);
	}
}

static void every_level_stores_and_is_named(void **state)
{
	static const struct {
		const char *name;
		int first, last;
	} ranges[] = { { "lz4hc", 1, 12 },
		       { "deflate", 1, 9 },
		       { "zstd", 1, 22 },
		       { "zstd", -7, -1 } };
	struct fixture *f = *state;
	char spec[64];
	int level, i;

	for (i = 0; i < 4; i++)
		for (level = ranges[i].first; level <= ranges[i].last;
		     level++) {
			snprintf(spec, sizeof(spec), "%s:level=%d",
				 ranges[i].name, level);
			assert_int_equal(zswap_set_compressor(f->z, spec), 0);
			assert_in_use(f->z, spec);
			store_pages(f, at(500), 12, 3);
			assert_int_equal(zswap_query(f->z, at(500 + 3)),
					 expected_state(kind_of(6)));
			assert_holds_pages(f, at(500), 12, 3);
		}
}

static void zstd_takes_levels_far_below_0(void **state)
{
	static const int levels[] = { -131072, -131071, -65536, -10000,
				      -1000,   -100,    -22,    -8 };
	struct fixture *f = *state;
	char spec[64];
	int i;

	for (i = 0; i < 8; i++) {
		snprintf(spec, sizeof(spec), "zstd:level=%d", levels[i]);
		assert_int_equal(zswap_set_compressor(f->z, spec), 0);
		assert_in_use(f->z, spec);
		store_pages(f, at(500), 12, 3);
		assert_holds_pages(f, at(500), 12, 3);
	}
}

/* ---- compressors of the caller's own ----------------------------------- */

static void an_own_compressors_canonical_form_is_the_spec_itself(void **state)
{
	struct fixture *f = *state;
	char spec[64], padded[80];

	snprintf(spec, sizeof(spec), "%s,level=+03, Red", f->codec.spec);
	snprintf(padded, sizeof(padded), " \t%s\n", spec);
	assert_int_equal(zswap_set_compressor(f->z, padded), 0);
	assert_in_use(f->z, spec);
	/* A built-in compressor's rules are not its own. */
	assert_int_equal(zswap_spec_check(spec, NULL), -ENOENT);
	assert_int_equal(zswap_set_compressor(f->z, f->codec.spec), 0);
	assert_in_use(f->z, f->codec.spec);
}

static void an_own_compressors_spec_has_at_most_255_bytes_too(void **state)
{
	struct fixture *f = *state;
	char spec[ZSWAP_MAX_SPEC + 2];

	memset(spec, 'x', sizeof(spec));
	snprintf(spec, sizeof(spec), "%s", f->codec.spec);
	spec[strlen(f->codec.spec)] = ',';
	spec[ZSWAP_MAX_SPEC] = '\0';
	assert_int_equal(zswap_set_compressor(f->z, spec), 0);
	assert_in_use(f->z, spec);
	spec[ZSWAP_MAX_SPEC] = 'x';
	spec[ZSWAP_MAX_SPEC + 1] = '\0';
	assert_int_equal(zswap_set_compressor(f->z, spec), -EINVAL);
	f->params.compressor = spec;
	assert_int_equal(create_error(&f->params), -EINVAL);
	spec[ZSWAP_MAX_SPEC] = '\0';
	assert_in_use(f->z, spec);
}

/* Of a hidden built-in compressor nothing but the name is left. */
static void a_hidden_compressors_options_are_the_own_ones(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	char spec[32];

	f->codec.vtable.name = "zstd";
	snprintf(spec, sizeof(spec), "zstd:%d", f->codec.number);
	params.compressor = spec;
	begin_other(f, &params);
	assert_in_use(f->z, spec);
	assert_int_equal(zswap_set_compressor(f->z, "zstd:level=3"), -EINVAL);
	assert_int_equal(zswap_set_compressor(f->z, "zstd:level=99"), -EINVAL);
	assert_in_use(f->z, spec);
	assert_int_equal(zswap_spec_check("zstd:level=3", NULL), 0);
	assert_int_equal(zswap_spec_check(spec, NULL), -EINVAL);
	end_other(f);
}

/* ---- create and switch refuse alike ------------------------------------ */

static void D46_create_and_switch_refuse_what_the_check_refuses(void **state)
{
	static const char *const specs[] = {
		"",
		"nope",
		" nope:x=1",
		"LZ4",
		"lz4;",
		"lz4:",
		"lz4:level=1",
		"zstd:level",
		"zstd:level=",
		"zstd:level=1,level=1",
		"zstd:level=1x",
		"zstd:level=23",
		"zstd:level=-131073",
		"deflate:level=0",
		"lz4hc:level=13",
	};
	struct fixture *f = *state;
	struct zswap_params params = params_of(NULL);
	struct zswap_stats before = stats_of(f->z), after;
	size_t i;
	int err;

	for (i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		err = zswap_spec_check(specs[i], NULL);
		assert_true(err < 0);
		params.compressor = specs[i];
		assert_int_equal(create_error(&params), err);
		assert_int_equal(zswap_set_compressor(f->z, specs[i]), err);
		assert_in_use(f->z, "lz4");
	}
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	store_page(f, at(0), PAGE_TEXT, 1);
	assert_holds(f, at(0), PAGE_TEXT, 1);
}

static void a_spec_is_read_during_the_call_only(void **state)
{
	struct fixture *f = *state;
	char spec[] = " zstd:level=+03";

	assert_int_equal(zswap_set_compressor(f->z, spec), 0);
	memset(spec, 'x', sizeof(spec) - 1);
	assert_in_use(f->z, "zstd:level=3");
}

/* ---- zswap_get_compressor() -------------------------------------------- */

static void the_canonical_form_is_cut_to_fit(void **state)
{
	static const char whole[] = "zstd:level=-131072";
	struct fixture *f = *state;
	struct guard guard;
	size_t len;
	char *buf;

	assert_int_equal(zswap_set_compressor(f->z, whole), 0);
	assert_int_equal(zswap_get_compressor(f->z, NULL, 0), strlen(whole));
	for (len = 1; len < sizeof(whole) + 3; len++) {
		buf = guard_at_end(&guard, len);
		memset(buf, 'x', len);
		assert_int_equal(zswap_get_compressor(f->z, buf, len),
				 strlen(whole));
		assert_int_equal(strnlen(buf, len),
				 len < sizeof(whole) ? len - 1 : strlen(whole));
		assert_memory_equal(buf, whole, strlen(buf));
		guard_free(&guard);
	}
	/* With no room at all not even the NUL is written. */
	buf = guard_at_end(&guard, 1);
	*buf = 'x';
	assert_int_equal(zswap_get_compressor(f->z, buf, 0), strlen(whole));
	assert_int_equal(*buf, 'x');
	guard_free(&guard);
}

static void null_arguments_are_einval(void **state)
{
	struct fixture *f = *state;
	char buf[8] = "x";

	assert_int_equal(zswap_get_compressor(NULL, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(zswap_get_compressor(f->z, NULL, 8), -EINVAL);
	assert_string_equal(buf, "x");
	assert_int_equal(zswap_set_compressor(NULL, "lz4"), -EINVAL);
	assert_int_equal(zswap_set_compressor(f->z, NULL), -EINVAL);
	assert_in_use(f->z, "lz4");
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		BARE_CASE(a_good_spec_is_0_and_nothing_is_wrong_in_it),
		BARE_CASE(a_spec_of_null_is_einval_and_nowhere),
		BARE_CASE(an_unknown_name_is_enoent_at_the_name),
		BARE_CASE(what_does_not_fit_the_form_is_einval_there),
		BARE_CASE(an_option_that_is_not_known_is_einval_at_its_name),
		BARE_CASE(an_option_that_comes_twice_is_einval_at_its_second),
		BARE_CASE(a_value_that_is_no_number_is_einval_at_the_value),
		BARE_CASE(a_number_out_of_range_is_erange_at_the_number),
		BARE_CASE(specs_of_any_bytes_give_an_error_within_them),
		BARE_CASE(a_spec_has_at_most_255_bytes),
		BARE_CASE(a_name_may_be_too_long_for_any_compressor),
		BARE_CASE(white_space_around_a_spec_does_not_matter),
		BARE_CASE(lzo_is_there_or_not_known),
		BARE_CASE(a_cache_is_made_with_the_canonical_form),
		CASE(a_switch_is_to_the_canonical_form),
		CASE(every_level_stores_and_is_named),
		CASE(zstd_takes_levels_far_below_0),
		CASE(an_own_compressors_canonical_form_is_the_spec_itself),
		CASE(an_own_compressors_spec_has_at_most_255_bytes_too),
		CASE(a_hidden_compressors_options_are_the_own_ones),
		CASE(D46_create_and_switch_refuse_what_the_check_refuses),
		CASE(a_spec_is_read_during_the_call_only),
		CASE(the_canonical_form_is_cut_to_fit),
		CASE(null_arguments_are_einval),
	};

	return run_cases("spec", cases, sizeof(cases) / sizeof(cases[0]));
}
