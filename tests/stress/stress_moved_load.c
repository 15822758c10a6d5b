// SPDX-License-Identifier: MIT
/*
 * stress_moved_load.c - D51, D53, D57: a load begins while its object is being
 * moved
 *
 * One thread compacts and is stopped anywhere in that. Pages are large, so that
 * it is mostly copying then; the others load its pages, and the decompressor
 * takes its time before it looks at a payload: by then the stopped thread has
 * gone on. Who read the object at its older place would find it wiped.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec.h"
#include "interrupt.h"
#include "stress.h"

#define NR_READERS 3
#define LARGE_BYTES 65536

/* Three objects of this length have two pages, four zspages in all. */
#define PART 40000
#define NR_SLOTS 12
#define NR_LEFT 6

/* Compactions that are not stopped, to learn how long one takes. */
#define MEASURES 20

#define LINGER_NS 100000
#define LONGEST_STOP_NS 1000000

struct scene {
	struct zswap *z;
	struct codec codec;
	struct rng rng;
	struct interrupt interrupt;
	atomic_bool in_call;
	atomic_bool over;
	atomic_ulong loads; /* that have begun */
	char pages[NR_SLOTS][LARGE_BYTES];
};

/* ---- loads --------------------------------------------------------------- */

static void linger(void *arg)
{
	const struct timespec moment = { .tv_nsec = LINGER_NS };
	struct scene *s = arg;

	atomic_fetch_add(&s->loads, 1);
	nanosleep(&moment, NULL);
}

static void read_all(struct scene *s, unsigned index)
{
	char *page = malloc(LARGE_BYTES);
	struct rng rng;

	CHECK(page);
	rng_init(&rng, index);
	while (!atomic_load(&s->over)) {
		unsigned i = rng_below(&rng, NR_SLOTS);
		int err = zswap_peek(s->z, at(i), page);

		CHECK(err == 0 || err == -ENOENT);
		CHECK(err || memcmp(page, s->pages[i], LARGE_BYTES) == 0);
	}
	free(page);
}

/* ---- compaction ---------------------------------------------------------- */

/* Until each reader has begun a load or two. */
static void let_readers_begin(void *arg)
{
	struct scene *s = arg;
	unsigned long before = atomic_load(&s->loads);
	uint64_t end = now_ns() + LONGEST_STOP_NS;

	if (!atomic_load(&s->in_call))
		return;
	while (atomic_load(&s->loads) < before + 2 * NR_READERS &&
	       now_ns() < end)
		;
}

static void scatter(struct scene *s)
{
	unsigned left = NR_SLOTS, i;

	for (i = 0; i < NR_SLOTS; i++)
		if (!zswap_is_present(s->z, at(i), 1))
			CHECK(zswap_store(s->z, at(i), s->pages[i]) == 0);
	while (left > NR_LEFT) {
		i = rng_below(&s->rng, NR_SLOTS);
		left -= zswap_is_present(s->z, at(i), 1);
		zswap_invalidate(s->z, at(i), 1);
	}
}

static void compact_and_be_stopped(struct scene *s, uint32_t within_ns)
{
	scatter(s);
	if (within_ns)
		interrupt_after_ns(&s->interrupt,
				   rng_below(&s->rng, within_ns));
	atomic_store(&s->in_call, true);
	CHECK(zswap_compact(s->z) >= 0);
	atomic_store(&s->in_call, false);
}

static uint32_t measure(struct scene *s)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < MEASURES; i++) {
		uint64_t begin;

		scatter(s);
		begin = now_ns();
		CHECK(zswap_compact(s->z) >= 0);
		sum += now_ns() - begin;
	}
	return (uint32_t)(sum / MEASURES);
}

static void compact_all(struct scene *s)
{
	uint64_t deadline = deadline_after_ms(2000);
	uint32_t usual_ns;

	interrupt_init(&s->interrupt, let_readers_begin, s);
	usual_ns = measure(s);
	while (!deadline_is_over(deadline))
		compact_and_be_stopped(s, usual_ns);
	interrupt_end(&s->interrupt);
	atomic_store(&s->over, true);
}

static void run(unsigned index, void *arg)
{
	if (index == 0)
		compact_all(arg);
	else
		read_all(arg, index);
}

int main(void)
{
	static struct scene s;
	struct zswap_params params = { .size = sizeof(params),
				       .page_size = LARGE_BYTES,
				       .nr_compressors = 1,
				       .class_choice = ZSWAP_CLASSES_EXACT,
				       .compaction = ZSWAP_COMPACT_MANUAL,
				       .memory_flags = ZSWAP_MEM_WIPE };
	struct zswap_stats stats;
	unsigned i;

	codec_init(&s.codec, 1);
	s.codec.decompress.call = linger;
	s.codec.decompress.call_arg = &s;
	params.compressor = s.codec.spec;
	params.compressors = &s.codec.vtable_list;
	rng_init(&s.rng, 0);
	for (i = 0; i < NR_SLOTS; i++)
		page_make_part(s.pages[i], LARGE_BYTES, PART, i);
	s.z = stress_begin_with("moved_load", &params);
	run_threads(1 + NR_READERS, run, &s);
	stats = stress_stats(s.z);
	printf("%lu objects moved, %lu skipped\n",
	       (unsigned long)stats.objects_moved,
	       (unsigned long)stats.objects_skipped);
	CHECK(stats.objects_moved && stats.objects_skipped);
	stress_end(s.z);
	CHECK(codec_end(&s.codec));
	return 0;
}
