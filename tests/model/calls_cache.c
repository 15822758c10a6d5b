// SPDX-License-Identifier: MIT
/*
 * calls_cache.c - calls on the cache as a whole: make it, set it, end it
 */
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysmem.h"

/* ---- making -------------------------------------------------------------- */

/* The first is what the cache begins with: a fast one. */
static void choose_picks(struct world *w)
{
	for (unsigned i = 0; i < NR_PICKS; i++)
		w->picks[i] = (i + choose(w, i ? engines_nr() : ENGINES_FAST)) %
			      engines_nr();
}

static void choose_hooks(struct world *w)
{
	faulty_init(&w->hooks);
	say("faulty_init(&hooks);");
	if (one_in(w, 4)) {
		w->hooks.hooks.purge = NULL;
		say("hooks.hooks.purge = NULL;");
	}
	if (!one_in(w, 3)) {
		io_no_threads(&w->hooks);
		say("io_no_threads(&hooks);");
	}
}

static void choose_codec(struct world *w)
{
	static const uint32_t batches[] = { 1, 8, 3, 64 };
	uint32_t batch = batches[choose(w, 4)];

	io_codec_init(&w->codec, batch);
	CHECK(w->codec.number == 0); /* as in the engines' specs */
	w->own[0] = &w->codec.vtable;
	w->own[1] = &codec_plain;
	say("io_codec_init(&codec, %u);", batch);
	say("own[0] = &codec.vtable;");
	say("own[1] = &codec_plain;");
}

/* Bytes of the machine that percentages are of; does not change. */
static uint64_t base_bytes(void)
{
	static uint64_t bytes;

	if (!bytes)
		bytes = sysmem_bytes();
	return bytes;
}

static uint64_t bytes_of_percent(const struct model *m, unsigned percent)
{
	return model_percent_of(base_bytes() / m->page_size, percent) *
	       m->page_size;
}

/* None, or some pages' worth, not always whole ones. */
static uint64_t choose_limit(struct world *w)
{
	uint64_t bytes;

	if (!one_in(w, 3))
		return ZSWAP_UNLIMITED;
	bytes = (uint64_t)choose(w, 200) * w->m.page_size;
	return one_in(w, 4) ? bytes + choose(w, w->m.page_size) : bytes;
}

static void choose_limits(struct world *w)
{
	uint64_t bytes = choose_limit(w);
	unsigned percent = one_in(w, 4) ? 1 + choose(w, 100) : 0;
	unsigned threshold = one_in(w, 2) ? 1 + choose(w, 100) : 0;

	w->params.max_pool_bytes = bytes;
	w->params.max_pool_percent = percent;
	w->params.accept_threshold_percent = threshold;
	say("params.max_pool_bytes = %" PRIu64 "u;", bytes);
	say("params.max_pool_percent = %u;", percent);
	say("params.accept_threshold_percent = %u;", threshold);
	/* In params 0 is a default: 20 and 90 percent. */
	w->m.max_bytes =
		bytes ? bytes : bytes_of_percent(&w->m, percent ? percent : 20);
	w->m.threshold_percent = threshold ? threshold : 90;
}

static void choose_compaction(struct world *w)
{
	w->params.chain_size = choose(w, 17);
	w->params.class_choice = choose(w, 3);
	w->params.compaction = choose(w, 3);
	w->params.memory_flags = choose(w, 8);
	w->m.chain = w->params.chain_size ? w->params.chain_size : 8;
	say("params.chain_size = %u;", w->params.chain_size);
	say("params.class_choice = %u;", w->params.class_choice);
	say("params.compaction = %u;", w->params.compaction);
	say("params.memory_flags = %u;", w->params.memory_flags);
}

static void choose_params(struct world *w)
{
	static const uint32_t page_sizes[] = { 4096, 4096, 4096,  4096,
					       4096, 4096, 16384, 65536 };
	static const unsigned windows[] = { 40, 40, 100, MODEL_MAX_WINDOW };

	model_reset(&w->m, windows[choose(w, 4)]);
	w->m.page_size = page_sizes[choose(w, 8)];
	memset(&w->params, 0, sizeof(w->params));
	w->params.size = sizeof(w->params);
	w->params.page_size = w->m.page_size;
	w->params.hooks = &w->hooks.hooks;
	w->params.compressors = w->own;
	w->params.nr_compressors = 2;
	w->params.compressor = engines[w->picks[0]].spec;
	w->params.raw_policy = one_in(w, 3) ? 1 + choose(w, 2) : 0;
	w->m.keeps_raw = w->params.raw_policy == ZSWAP_RAW_KEEP;
#ifdef HAVE_XXHASH
	w->params.checksum = one_in(w, 3);
#endif
	say("params = (struct zswap_params){ .size = sizeof(params) };");
	say("params.page_size = %u;", w->m.page_size);
	say("params.hooks = &hooks.hooks;");
	say("params.compressors = own;");
	say("params.nr_compressors = 2;");
	say("params.compressor = %s;", string_text(w->params.compressor));
	say("params.raw_policy = %u;", w->params.raw_policy);
	say("params.checksum = %u;", w->params.checksum);
	choose_compaction(w);
	choose_limits(w);
}

static void say_create(const char *expected)
{
	say("err = zswap_create(&z, &params);");
	say("CHECK(err == %s);", expected);
}

static void swap_on(struct world *w, struct model_area *a)
{
	int err;

	say("err = zswap_swapon(z, %u, %" PRIu64 "u);", a->type, a->nr_slots);
	err = zswap_swapon(w->z, a->type, a->nr_slots);
	EXPECT(err, 0);
	a->on = true;
}

void create_cache(struct world *w)
{
	int err;

	choose_picks(w);
	choose_hooks(w);
	choose_codec(w);
	choose_params(w);
	plan_failure(w);
	err = zswap_create(&w->z, &w->params);
	if (err) {
		say_create("-ENOMEM");
		CHECK(err == -ENOMEM && w->hooks.failed && !w->z);
		CHECK(!faulty_held(&w->hooks).alloc_blocks);
		CHECK(!faulty_held(&w->hooks).map_blocks);
		end_failure(w);
		err = zswap_create(&w->z, &w->params);
	}
	say_create("0");
	CHECK(!err);
	end_failure(w);
	w->m.huge_bytes = inspect_huge_bytes(w->z);
	set_engine(w, w->picks[0]);
	for (unsigned i = 0; i < MODEL_AREAS; i++)
		swap_on(w, &w->m.areas[i]);
	memset(&w->before, 0, sizeof(w->before));
	w->dead_may_wait = false;
}

void destroy_cache(struct world *w)
{
	say("zswap_destroy(z);");
	zswap_destroy(w->z);
	say("CHECK(faulty_end(&hooks));");
	CHECK(faulty_end(&w->hooks));
	say("CHECK(codec_end(&codec));");
	CHECK(codec_end(&w->codec));
}

void call_create(struct world *w)
{
	end_failure(w);
	destroy_cache(w);
	create_cache(w);
}

/* ---- areas --------------------------------------------------------------- */

static void swap_off(struct world *w, struct model_area *a)
{
	int err;

	say("err = zswap_swapoff(z, %u);", a->type);
	err = zswap_swapoff(w->z, a->type);
	EXPECT(err, a->on ? 0 : -ENXIO);
	if (!a->on)
		return;
	model_clear(&w->m, a, 0, w->m.window);
	a->on = false;
	w->dead_may_wait = false;
}

static void try_swap_on(struct world *w, struct model_area *a)
{
	int err;

	say("err = zswap_swapon(z, %u, %" PRIu64 "u);", a->type, a->nr_slots);
	err = zswap_swapon(w->z, a->type, a->nr_slots);
	if (!a->on && w->hooks.failed && err) {
		EXPECT(err, -ENOMEM);
		return;
	}
	EXPECT(err, a->on ? -EEXIST : 0);
	a->on = true;
}

void call_swap(struct world *w)
{
	struct model_area *a = &w->m.areas[choose(w, MODEL_AREAS)];

	if (a->on == one_in(w, 8))
		swap_off(w, a);
	else
		try_swap_on(w, a);
}

/* ---- settings ------------------------------------------------------------ */

void call_set_enabled(struct world *w)
{
	int err;

	w->m.enabled = !one_in(w, 4);
	say("err = zswap_set_enabled(z, %d);", w->m.enabled);
	err = zswap_set_enabled(w->z, w->m.enabled);
	EXPECT(err, 0);
}

static void set_limit_percent(struct world *w)
{
	unsigned percent = choose(w, 101);
	int err;

	w->m.max_bytes = bytes_of_percent(&w->m, percent);
	say("err = zswap_set_max_pool_percent(z, %u);", percent);
	err = zswap_set_max_pool_percent(w->z, percent);
	EXPECT(err, 0);
}

static void set_limit_bytes(struct world *w)
{
	int err;

	w->m.max_bytes = choose_limit(w);
	say("err = zswap_set_max_pool_bytes(z, %" PRIu64 "u);", w->m.max_bytes);
	err = zswap_set_max_pool_bytes(w->z, w->m.max_bytes);
	EXPECT(err, 0);
}

static void set_threshold(struct world *w)
{
	int err;

	w->m.threshold_percent = choose(w, 101);
	say("err = zswap_set_accept_threshold_percent(z, %u);",
	    w->m.threshold_percent);
	err = zswap_set_accept_threshold_percent(w->z, w->m.threshold_percent);
	EXPECT(err, 0);
}

void call_set_limit(struct world *w)
{
	switch (choose(w, 5)) {
	case 4:
		set_limit_percent(w);
		break;
	case 3:
		set_threshold(w);
		break;
	default:
		set_limit_bytes(w);
		break;
	}
}

/* What is refused, and by what error. */
static void set_wrong_compressor(struct world *w)
{
	static const struct {
		const char *spec;
		int err;
	} wrong[] = { { "nope", -ENOENT },         { "zstd:level=23", -ERANGE },
		      { "lz4:level=1", -EINVAL },  { "", -EINVAL },
		      { "test:9", -EINVAL },       { "plain:x", -EINVAL },
		      { "zstd:level=", -EINVAL },  { "lz4hc:level=0", -ERANGE },
		      { "deflate level", -EINVAL } };
	unsigned i = choose(w, sizeof(wrong) / sizeof(wrong[0]));
	int err;

	say("err = zswap_set_compressor(z, \"%s\");", wrong[i].spec);
	err = zswap_set_compressor(w->z, wrong[i].spec);
	/* Before a compressor of the caller's own is asked memory is needed. */
	if (err == -ENOMEM && w->hooks.failed)
		return;
	EXPECT(err, wrong[i].err);
}

/* Whether one of the test compressor's own functions fails once. */
static bool choose_create_error(struct world *w)
{
	static const char *const names[] = { "create_error",
					     "compress_ctx_error",
					     "decompress_ctx_error" };
	_Atomic int *const errors[] = { &w->codec.create_error,
					&w->codec.compress_ctx_error,
					&w->codec.decompress_ctx_error };
	unsigned i;

	if (!one_in(w, 8))
		return false;
	i = choose(w, 3);
	atomic_store(errors[i], -EPROTO);
	say("codec.%s = -EPROTO;", names[i]);
	return true;
}

/* Whether an error that was planned is still there; it is not any more. */
static bool error_is_left(struct codec *codec)
{
	bool left = false;

	left |= atomic_exchange(&codec->create_error, 0) != 0;
	left |= atomic_exchange(&codec->compress_ctx_error, 0) != 0;
	left |= atomic_exchange(&codec->decompress_ctx_error, 0) != 0;
	return left;
}

static void forget_errors(struct world *w)
{
	say("codec.create_error = codec.compress_ctx_error = 0;");
	say("codec.decompress_ctx_error = 0;");
	error_is_left(&w->codec);
}

static void set_right_compressor(struct world *w)
{
	unsigned engine = w->picks[choose(w, NR_PICKS)];
	const char *spec = engines[engine].spec;
	int err;

	if (!choose_create_error(w))
		choose_nested(w);
	say("err = zswap_set_compressor(z, %s);", string_text(spec));
	err = zswap_set_compressor(w->z, spec);
	end_nested(w);
	if (err == -EPROTO) {
		CHECK(engines[engine].kind == ENGINE_TEST);
		CHECK(!error_is_left(&w->codec));
		EXPECT(err, -EPROTO);
	} else if (err == -ENOMEM) {
		CHECK(w->hooks.failed);
		EXPECT(err, -ENOMEM);
	} else {
		EXPECT(err, 0);
		set_engine(w, engine);
		if (!w->depth)
			w->dead_may_wait = false;
	}
	forget_errors(w);
}

static void get_compressor(struct world *w)
{
	const char *expected = engines[w->m.engine].canonical;
	char text[ZSWAP_MAX_SPEC + 1];
	size_t len = choose(w, 3) ? choose(w, 20) : sizeof(text);
	long err;

	memset(text, '#', sizeof(text));
	say("err = zswap_get_compressor(z, text, %zu);", len);
	err = zswap_get_compressor(w->z, text, len);
	EXPECT(err, (long)strlen(expected));
	if (!len) {
		CHECK(text[0] == '#');
		return;
	}
	CHECK(!strncmp(text, expected, len - 1));
	CHECK(strlen(text) ==
	      (strlen(expected) < len ? strlen(expected) : len - 1));
}

void call_set_compressor(struct world *w)
{
	if (one_in(w, 4))
		set_wrong_compressor(w);
	else
		set_right_compressor(w);
	get_compressor(w);
}

void call_purge_fails(struct world *w)
{
	w->hooks.purge_fails = one_in(w, 4);
	say("hooks.purge_fails = %d;", w->hooks.purge_fails);
}

/* ---- compaction ---------------------------------------------------------- */

static uint64_t used_bytes(const struct zswap_stats *stats)
{
	return stats->pool_total_size - stats->reserve_bytes;
}

/* Compacts; returns what the counters say of it. */
static struct zswap_stats compact_once(struct world *w)
{
	struct zswap_stats before = io_stats(w->z), after;
	long bytes;

	say("err = zswap_compact(z);");
	bytes = zswap_compact(w->z);
	after = io_stats(w->z);
	EXPECT(bytes, (long)(used_bytes(&before) - used_bytes(&after)));
	after.pages_compacted -= before.pages_compacted;
	after.objects_moved -= before.objects_moved;
	after.objects_skipped -= before.objects_skipped;
	CHECK(after.pages_compacted * w->m.page_size == (uint64_t)bytes);
	CHECK(!bytes || after.objects_moved);
	return after;
}

/* In a call that a compressor makes the pages of the call around it stay. */
void call_compact(struct world *w)
{
	struct zswap_stats did = compact_once(w);

	w->compacts = true;
	if (w->depth)
		return;
	w->dead_may_wait = false;
	CHECK(!did.objects_skipped);
	did = compact_once(w);
	CHECK(!did.pages_compacted && !did.objects_moved);
	CHECK(!did.objects_skipped);
}
