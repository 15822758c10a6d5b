// SPDX-License-Identifier: MIT
/*
 * test_params.c - compressors and hooks as zswap_create() takes them
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- compressor specs -------------------------------------------------- */

static void a_malformed_spec_is_refused(void **state)
{
	static const char *const specs[] = {
		"",         ":",        "lz4:level=1", "LZ4",     "l z4",
		"lz4 x",    "nope",     "lz4,zstd",    "lz4;",    "\n",
		"lz4\n:",   "nope:x=1", "%s%n",        "lz4::",   ":lz4",
		"lz4:a:b=", "lz4:nope", "../lz4",      "lz4hc4x", "lz",
	};
	char very_long[5000];
	struct zswap_params params = params_of(NULL);
	size_t i;
	int err;

	(void)state;
	memset(very_long, 'a', sizeof(very_long) - 1);
	very_long[sizeof(very_long) - 1] = '\0';
	params.compressor = very_long;
	err = create_error(&params);
	assert_true(err == -EINVAL || err == -ENOENT);
	memcpy(very_long, "lz4:", 4);
	assert_int_equal(create_error(&params), -EINVAL);
	for (i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		params.compressor = specs[i];
		err = create_error(&params);
		assert_true(err == -EINVAL || err == -ENOENT);
	}
}

static void an_unknown_compressor_is_enoent(void **state)
{
	struct zswap_params params = params_of("nope");

	(void)state;
	assert_int_equal(create_error(&params), -ENOENT);
	params.compressor = "lz4x";
	assert_int_equal(create_error(&params), -ENOENT);
}

static void lz4_takes_no_options(void **state)
{
	struct zswap_params params = params_of("lz4:level=1");

	(void)state;
	assert_int_equal(create_error(&params), -EINVAL);
}

/* ---- compressors of the caller's own ----------------------------------- */

/* Tries the plain compressor with one change; params point to the change. */
struct own {
	struct zswap_compressor vtable;
	const struct zswap_compressor *list;
	struct zswap_params params;
};

static void own_init(struct own *own)
{
	own->vtable = codec_plain;
	own->list = &own->vtable;
	own->params = params_of("plain");
	own->params.compressors = &own->list;
	own->params.nr_compressors = 1;
}

static void a_compressor_needs_only_two_functions(void **state)
{
	struct own own;

	(void)state;
	own_init(&own);
	assert_creates(&own.params);
}

static void a_compressor_without_a_needed_member_is_einval(void **state)
{
	struct own own;

	(void)state;
	own_init(&own);
	own.vtable.compress = NULL;
	assert_int_equal(create_error(&own.params), -EINVAL);
	own_init(&own);
	own.vtable.decompress = NULL;
	assert_int_equal(create_error(&own.params), -EINVAL);
	own_init(&own);
	own.vtable.name = NULL;
	assert_int_equal(create_error(&own.params), -EINVAL);
	own_init(&own);
	own.list = NULL;
	assert_int_equal(create_error(&own.params), -EINVAL);
	own_init(&own);
	own.params.compressors = NULL;
	assert_int_equal(create_error(&own.params), -EINVAL);
}

static void a_compressor_smaller_than_version_0_1_is_einval(void **state)
{
	struct own own;

	(void)state;
	own_init(&own);
	own.vtable.size = 0;
	assert_int_equal(create_error(&own.params), -EINVAL);
	own.vtable.size = offsetof(struct zswap_compressor, decompress);
	assert_int_equal(create_error(&own.params), -EINVAL);
}

static void a_compressor_larger_than_known_is_fine(void **state)
{
	struct {
		struct zswap_compressor vtable;
		uint64_t later[4];
	} larger;
	struct own own;

	(void)state;
	own_init(&own);
	memset(&larger, 0xff, sizeof(larger));
	larger.vtable = codec_plain;
	larger.vtable.size = sizeof(larger);
	own.list = &larger.vtable;
	assert_creates(&own.params);
}

static void a_compressors_name_has_1_to_31_plain_characters(void **state)
{
	static const char *const wrong[] = {
		"",
		"Plain",
		"pl ain",
		"plain!",
		"pl:ain",
		"pl\xc3\xa4in",
		"a2345678901234567890123456789012",
	};
	static const char *const right[] = {
		"a", "0", "_-", "z9", "a234567890123456789012345678901",
	};
	struct own own;
	size_t i;

	(void)state;
	own_init(&own);
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		own.vtable.name = own.params.compressor = right[i];
		assert_creates(&own.params);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int err;

		own.vtable.name = own.params.compressor = wrong[i];
		err = create_error(&own.params);
		assert_true(err == -EINVAL || err == -ENOENT);
	}
}

static void a_batch_size_is_at_most_64_and_needs_segments(void **state)
{
	struct own own;

	(void)state;
	own_init(&own);
	own.vtable.batch_size = 1;
	assert_creates(&own.params);
	own.vtable.batch_size = 2;
	assert_int_equal(create_error(&own.params), -EINVAL);
	own.vtable.flags = ZSWAP_COMP_SEGMENTS;
	assert_creates(&own.params);
	own.vtable.batch_size = ZSWAP_COMP_MAX_BATCH;
	assert_creates(&own.params);
	own.vtable.batch_size = ZSWAP_COMP_MAX_BATCH + 1;
	assert_int_equal(create_error(&own.params), -EINVAL);
	own.vtable.batch_size = 1000000;
	assert_int_equal(create_error(&own.params), -EINVAL);
}

static void an_unknown_compressor_flag_is_einval(void **state)
{
	struct own own;

	(void)state;
	own_init(&own);
	own.vtable.flags = ZSWAP_COMP_SEGMENTS << 1;
	assert_int_equal(create_error(&own.params), -EINVAL);
}

static void at_most_64_compressors_may_be_given(void **state)
{
	const struct zswap_compressor *list[65];
	struct zswap_compressor vtables[65];
	struct zswap_params params = params_of("c64");
	char names[65][8];
	int i;

	(void)state;
	for (i = 0; i < 65; i++) {
		snprintf(names[i], sizeof(names[i]), "c%d", i + 1);
		vtables[i] = codec_plain;
		vtables[i].name = names[i];
		list[i] = &vtables[i];
	}
	params.compressors = list;
	params.nr_compressors = 64;
	assert_creates(&params);
	params.compressor = "c1";
	assert_creates(&params);
	params.compressor = NULL;
	assert_creates(&params);
	params.nr_compressors = 65;
	assert_int_equal(create_error(&params), -EINVAL);
	params.nr_compressors = SIZE_MAX;
	assert_int_equal(create_error(&params), -EINVAL);
}

static void a_compressor_named_like_a_built_in_one_hides_it(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params;
	struct zswap *z;
	char spec[16];

	f->codec.vtable.name = "lz4";
	snprintf(spec, sizeof(spec), "lz4:%d", f->codec.number);
	fixture_params(f, &params);
	params.compressor = spec;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 1), 0);
	page_make(f->page, f->page_size, PAGE_TEXT, 1);
	assert_int_equal(zswap_store(z, at(0), f->page), 0);
	assert_int_equal(atomic_load(&f->codec.compress.segments), 1);
	zswap_destroy(z);
}

static char seen_options[64];
static int create_result;

static int noting_create(const struct zswap_comp_env *env, const char *options,
			 void **instance)
{
	(void)env;
	snprintf(seen_options, sizeof(seen_options), "%s", options);
	*instance = NULL;
	return create_result;
}

static void options_are_what_follows_the_colon(void **state)
{
	struct own own;

	(void)state;
	own_init(&own);
	create_result = 0;
	own.vtable.create = noting_create;
	own.params.compressor = "plain:level=3,x=a:b c";
	assert_creates(&own.params);
	assert_string_equal(seen_options, "level=3,x=a:b c");
	own.params.compressor = "plain";
	assert_creates(&own.params);
	assert_string_equal(seen_options, "");
}

static void options_without_a_create_are_einval(void **state)
{
	struct own own;

	(void)state;
	own_init(&own);
	own.params.compressor = "plain:level=3";
	assert_int_equal(create_error(&own.params), -EINVAL);
}

static void create_returns_what_the_compressors_create_returned(void **state)
{
	static const int errors[] = { -EINVAL, -ENOMEM, -EACCES, -EILSEQ };
	struct own own;
	size_t i;

	(void)state;
	own_init(&own);
	own.vtable.create = noting_create;
	for (i = 0; i < 4; i++) {
		create_result = errors[i];
		assert_int_equal(create_error(&own.params), errors[i]);
	}
}

static void a_failing_context_fails_create_and_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	size_t bytes = f->hooks.alloc_bytes;
	struct zswap_params params;

	fixture_params(f, &params);
	params.compressor = f->codec.spec;
	atomic_store(&f->codec.decompress_ctx_error, -ENOMEM);
	assert_int_equal(create_error(&params), -ENOMEM);
	assert_int_equal(f->hooks.alloc_bytes, bytes);
}

static size_t chosen_bound;

static size_t bound_as_chosen(void *instance, size_t unit_size)
{
	(void)instance;
	(void)unit_size;
	return chosen_bound;
}

static void a_bound_above_two_units_and_65536_is_refused(void **state)
{
	struct own own;
	size_t i, most;

	(void)state;
	own_init(&own);
	own.vtable.bound = bound_as_chosen;
	for (i = 0; i < 3; i++) {
		own.params.page_size = all_page_sizes[i];
		most = 2 * all_page_sizes[i] + 65536;
		chosen_bound = most;
		assert_creates(&own.params);
		chosen_bound = most + 1;
		assert_int_equal(create_error(&own.params), -EINVAL);
		chosen_bound = SIZE_MAX;
		assert_int_equal(create_error(&own.params), -EINVAL);
	}
}

/* ---- hooks as parameters ----------------------------------------------- */

static void half_a_pair_of_hooks_is_einval(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks;
	struct zswap_params params = params_of(NULL);

	params.hooks = &hooks;
	hooks = f->hooks.hooks;
	hooks.alloc = NULL;
	assert_int_equal(create_error(&params), -EINVAL);
	hooks = f->hooks.hooks;
	hooks.free = NULL;
	assert_int_equal(create_error(&params), -EINVAL);
	hooks = f->hooks.hooks;
	hooks.map = NULL;
	assert_int_equal(create_error(&params), -EINVAL);
	hooks = f->hooks.hooks;
	hooks.unmap = NULL;
	assert_int_equal(create_error(&params), -EINVAL);
}

static void hooks_smaller_than_version_0_1_are_einval(void **state)
{
	struct fixture *f = *state;
	struct zswap_hooks hooks = f->hooks.hooks;
	struct zswap_params params = params_of(NULL);

	params.hooks = &hooks;
	hooks.size = 0;
	assert_int_equal(create_error(&params), -EINVAL);
	hooks.size = offsetof(struct zswap_hooks, purge);
	assert_int_equal(create_error(&params), -EINVAL);
}

static void hooks_may_be_set_in_pairs_or_larger_than_known(void **state)
{
	struct fixture *f = *state;
	struct {
		struct zswap_hooks hooks;
		uint64_t later[4];
	} larger;
	struct zswap_params params = params_of(NULL);

	params.hooks = &larger.hooks;
	memset(&larger, 0xff, sizeof(larger));
	larger.hooks = f->hooks.hooks;
	larger.hooks.size = sizeof(larger);
	assert_creates(&params);
	larger.hooks.map = NULL;
	larger.hooks.unmap = NULL;
	larger.hooks.purge = NULL;
	assert_creates(&params);
	larger.hooks = f->hooks.hooks;
	larger.hooks.alloc = NULL;
	larger.hooks.free = NULL;
	assert_creates(&params);
	larger.hooks.map = NULL;
	larger.hooks.unmap = NULL;
	larger.hooks.purge = NULL;
	assert_creates(&params);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		BARE_CASE(a_malformed_spec_is_refused),
		BARE_CASE(an_unknown_compressor_is_enoent),
		BARE_CASE(lz4_takes_no_options),
		BARE_CASE(a_compressor_needs_only_two_functions),
		BARE_CASE(a_compressor_without_a_needed_member_is_einval),
		BARE_CASE(a_compressor_smaller_than_version_0_1_is_einval),
		BARE_CASE(a_compressor_larger_than_known_is_fine),
		BARE_CASE(a_compressors_name_has_1_to_31_plain_characters),
		BARE_CASE(a_batch_size_is_at_most_64_and_needs_segments),
		BARE_CASE(an_unknown_compressor_flag_is_einval),
		BARE_CASE(at_most_64_compressors_may_be_given),
		CASE(a_compressor_named_like_a_built_in_one_hides_it),
		BARE_CASE(options_are_what_follows_the_colon),
		BARE_CASE(options_without_a_create_are_einval),
		BARE_CASE(create_returns_what_the_compressors_create_returned),
		CASE(a_failing_context_fails_create_and_leaves_nothing),
		BARE_CASE(a_bound_above_two_units_and_65536_is_refused),
		CASE(half_a_pair_of_hooks_is_einval),
		CASE(hooks_smaller_than_version_0_1_are_einval),
		CASE(hooks_may_be_set_in_pairs_or_larger_than_known),
	};

	return run_cases("params", cases, sizeof(cases) / sizeof(cases[0]));
}
