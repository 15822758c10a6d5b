// SPDX-License-Identifier: MIT
/*
 * objects.c - the same objects for every heap; see objects.h
 *
 * An object's bytes come from a place in a buffer of noise that its size's
 * number tells, so that another object's bytes, or an older one's, are noticed.
 */
#include "objects.h"

#include "bench.h"
#include "passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64u
#define PLACES 256u /* in the noise */
#define NOISE_BYTES (PAGE_BYTES + PLACES * sizeof(uint64_t))

struct objects {
	struct heap *heap;
	const struct sizes *sizes;
	uint32_t count;
	uintptr_t *handles;
	uint32_t *size_of; /* which of the sizes */
	uint32_t *order;
	unsigned char *noise;
	unsigned char *buf; /* BLOCK pages */
	struct rng rng;
};

/* ---- objects ----------------------------------------------------------- */

static size_t bytes_of(const struct objects *o, uint32_t object)
{
	return o->sizes->bytes[o->size_of[object]];
}

static const unsigned char *noise_of(const struct objects *o, uint32_t object)
{
	return o->noise + o->size_of[object] % PLACES * sizeof(uint64_t);
}

static void put(struct objects *o, uint32_t object)
{
	o->handles[object] =
		o->heap->put(o->heap, noise_of(o, object), bytes_of(o, object));
	if (!o->handles[object])
		bad_input("alloc: no memory for %u objects", o->count);
}

/* ---- calls of one kind ------------------------------------------------- */

typedef uint64_t block_fn(struct objects *o, const uint32_t *list,
			  size_t count);

static uint64_t write_block(struct objects *o, const uint32_t *list,
			    size_t count)
{
	uint64_t start = now_ns();

	for (size_t i = 0; i < count; i++)
		put(o, list[i]);
	return now_ns() - start;
}

static uint64_t free_block(struct objects *o, const uint32_t *list,
			   size_t count)
{
	uint64_t start = now_ns();

	for (size_t i = 0; i < count; i++)
		o->heap->drop(o->heap, o->handles[list[i]]);
	return now_ns() - start;
}

/* Not timed. What was read is wiped, so that no later read passes by it. */
static void verify(struct objects *o, const uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(o->buf + i * PAGE_BYTES, noise_of(o, list[i]),
			   bytes_of(o, list[i])))
			broken("alloc: MISMATCH: object %u has changed",
			       list[i]);
	memset(o->buf, 0xa5, count * PAGE_BYTES);
}

static uint64_t read_block(struct objects *o, const uint32_t *list,
			   size_t count)
{
	uint64_t start = now_ns(), ns;

	for (size_t i = 0; i < count; i++)
		o->heap->get(o->heap, o->handles[list[i]],
			     o->buf + i * PAGE_BYTES, bytes_of(o, list[i]));
	ns = now_ns() - start;
	verify(o, list, count);
	return ns;
}

/* ---- passes ------------------------------------------------------------ */

static size_t block_at(const struct objects *o, uint32_t at)
{
	return o->count - at < BLOCK ? o->count - at : BLOCK;
}

/* All objects, in the order that the list has; ns of one. */
static double pass(struct objects *o, block_fn *work)
{
	uint64_t ns = 0;

	for (uint32_t at = 0; at < o->count; at += BLOCK)
		ns += work(o, o->order + at, block_at(o, at));
	return (double)ns / o->count;
}

static void renew_sizes(struct objects *o, const uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		o->size_of[list[i]] =
			(uint32_t)(rng_next(&o->rng) % o->sizes->count);
}

static void warm_pass(struct objects *o, double *ns)
{
	uint64_t sum[NR_WORKS] = { 0 };

	shuffle(&o->rng, o->order, o->count);
	for (uint32_t at = 0; at < o->count; at += BLOCK) {
		const uint32_t *list = o->order + at;
		size_t count = block_at(o, at);

		sum[READ] += read_block(o, list, count);
		sum[FREE] += free_block(o, list, count);
		renew_sizes(o, list, count);
		sum[WRITE] += write_block(o, list, count);
	}
	for (int i = 0; i < NR_WORKS; i++)
		ns[i] = (double)sum[i] / o->count;
}

static void cold_pass(struct objects *o, double *ns)
{
	ns[WRITE] = pass(o, write_block);
	shuffle(&o->rng, o->order, o->count);
	ns[READ] = pass(o, read_block);
	shuffle(&o->rng, o->order, o->count);
	ns[FREE] = pass(o, free_block);
}

/* ---- the whole --------------------------------------------------------- */

/* All that is used later is touched now. */
static struct objects objects_make(struct heap *heap, const struct sizes *sizes,
				   uint32_t count, uint64_t seed)
{
	struct objects o = {
		.heap = heap,
		.sizes = sizes,
		.count = count,
		.handles = bench_map_touched(count * sizeof(*o.handles)),
		.size_of = bench_map_touched(count * sizeof(*o.size_of)),
		.order = bench_map_touched(count * sizeof(*o.order)),
		.noise = bench_map_touched(NOISE_BYTES),
		.buf = bench_map_touched(BLOCK * PAGE_BYTES),
		.rng = { seed },
	};

	for (size_t at = 0; at < NOISE_BYTES; at += sizeof(uint64_t)) {
		uint64_t word = rng_next(&o.rng);

		memcpy(o.noise + at, &word, sizeof(word));
	}
	for (uint32_t i = 0; i < count; i++)
		o.size_of[i] = (uint32_t)(i % sizes->count);
	list_in_order(o.order, count);
	return o;
}

struct object_times objects_time(struct heap *heap, const struct sizes *sizes,
				 uint32_t count, uint64_t seed)
{
	struct objects o = objects_make(heap, sizes, count, seed);
	struct object_times times;

	cold_pass(&o, times.ns[COLD]);
	list_in_order(o.order, count);
	pass(&o, write_block);
	warm_pass(&o, times.ns[WARM]); /* not yet */
	warm_pass(&o, times.ns[WARM]);
	return times;
}

void objects_fill(struct heap *heap, const struct sizes *sizes,
		  const uint32_t *counts, size_t nr_counts,
		  struct object_space *out)
{
	struct objects o = objects_make(heap, sizes, counts[nr_counts - 1], 1);
	double rss = (double)bench_rss_bytes(), live = 0;
	uint32_t i = 0;

	for (size_t k = 0; k < nr_counts; k++) {
		double held;

		for (; i < counts[k]; i++) {
			put(&o, i);
			live += (double)bytes_of(&o, i);
		}
		held = heap->held(heap);
		out[k].live_bytes = live;
		out[k].held_bytes =
			isnan(held) ? (double)bench_rss_bytes() - rss : held;
	}
}
