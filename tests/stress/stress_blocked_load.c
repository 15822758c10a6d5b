// SPDX-License-Identifier: MIT
/*
 * stress_blocked_load.c - D08: a page is replaced while its load stands in the
 * decompressor
 *
 * The test compressor's gate makes the window certain; what happens in it is
 * drawn. The older page is freed in the window and its room most likely used
 * again, by a page of the same size.
 */
#include "stress.h"

#include "codec.h"

struct window {
	struct zswap *z;
	bool keep;
	int result;
	uint64_t version;
};

/* Text pages: of the four kinds of versions the one that is decompressed. */
static uint64_t text_version(uint64_t n)
{
	return 4 * n;
}

static void load(void *arg)
{
	struct window *window = arg;

	window->result = stress_load(window->z, at(BORDER), window->keep,
				     &window->version);
}

static void store_elsewhere(struct zswap *z, struct rng *rng, uint64_t version)
{
	uint32_t i, n = rng_below(rng, 4);

	for (i = 0; i < n; i++)
		CHECK(stress_store(z,
				   at(rng_below(rng, 2) ? BORDER + 1 + i :
							  BORDER - 1 - i),
				   version) == 0);
}

/* What the version in the slot is after the load, 0 for none. */
static void check_outcome(struct window *window, uint64_t before,
			  uint64_t after)
{
	uint64_t version, expected = after;
	int err;

	CHECK(window->result == 0 || window->result == -ENOENT);
	if (!window->result) {
		CHECK(window->version == before || window->version == after);
		if (!window->keep && window->version == after)
			expected = 0;
	}
	err = stress_load(window->z, at(BORDER), false, &version);
	if (expected)
		CHECK(err == 0 && version == expected);
	else
		CHECK(err == -ENOENT);
}

static void one_window(struct zswap *z, struct codec *codec, struct rng *rng,
		       uint64_t round)
{
	struct window window = { z, rng_below(rng, 2), 777, 0 };
	uint64_t before = text_version(2 * round + 1), after = 0;
	struct thread thread;

	CHECK(stress_store(z, at(BORDER), before) == 0);
	gate_close(&codec->decompress.gate);
	thread_start(&thread, load, &window);
	CHECK(gate_wait(&codec->decompress.gate, 1));
	if (rng_below(rng, 2))
		zswap_invalidate(z, at(BORDER), 1);
	store_elsewhere(z, rng, text_version(2 * round + 2));
	if (rng_below(rng, 4)) {
		after = text_version(2 * round + 2);
		CHECK(stress_store(z, at(BORDER), after) == 0);
	} else {
		zswap_invalidate(z, at(BORDER), 1);
	}
	gate_open(&codec->decompress.gate);
	thread_join(&thread);
	check_outcome(&window, before, after);
}

int main(void)
{
	uint64_t deadline = deadline_after_ms(1000), round;
	struct zswap_params params = { .size = sizeof(params) };
	struct codec codec;
	struct zswap *z;
	struct rng rng;

	codec_init(&codec, 1);
	params.compressor = codec.spec;
	params.compressors = &codec.vtable_list;
	params.nr_compressors = 1;
	rng_init(&rng, 1);
	z = stress_begin_with("blocked_load", &params);
	for (round = 0; !deadline_is_over(deadline); round++)
		one_window(z, &codec, &rng, round);
	stress_end(z);
	CHECK(codec_end(&codec));
	return 0;
}
