// SPDX-License-Identifier: MIT
/*
 * stress_switch.c - D07, D79, D84, D85: switches as fast as they go, under
 * stores and loads
 *
 * Workers publish, read and take stamped pages; each has slots of its own to
 * write to and reads everybody's. One thread switches without pause between
 * compressors, some of which end slowly, some that can't be made. Another asks
 * for the name of the one in use. When all is over as many instances have ended
 * as were made.
 */
#include "stress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"

#define NR_WORKERS 8
#define NR_SLOTS 256
#define FIRST (BORDER - NR_SLOTS / 2)
#define SLOW_EVERY 64

/* More than any load takes that waits for nothing, on a busy machine. */
#define LONGEST_NS UINT64_C(20000000000)

struct scene {
	struct zswap *z;
	struct codec codec;
	uint64_t deadline;
	atomic_ulong ends, switches;
	char specs[8][32];
	unsigned nr_specs;
};

/* ---- pages ------------------------------------------------------------- */

static uint64_t own_slot(unsigned worker, struct rng *rng)
{
	return FIRST + rng_below(rng, NR_SLOTS / NR_WORKERS) * NR_WORKERS +
	       worker;
}

static void read_one(struct scene *scene, struct rng *rng, uint64_t *seen)
{
	uint32_t i = rng_below(rng, NR_SLOTS);
	uint64_t begin = now_ns(), version;
	int err = stress_load(scene->z, at(FIRST + i), rng_below(rng, 8) != 0,
			      &version);

	CHECK(err == 0 || err == -ENOENT);
	CHECK(now_ns() - begin < LONGEST_NS);
	if (err)
		return;
	/* Each slot has one writer, so what is read only grows. */
	CHECK(version >= seen[i]);
	seen[i] = version;
}

static void work(struct scene *scene, unsigned worker, struct rng *rng)
{
	uint64_t seen[NR_SLOTS] = { 0 }, version = 0;

	while (!deadline_is_over(scene->deadline))
		switch (rng_below(rng, 8)) {
		case 0:
		case 1:
		case 2:
			CHECK(stress_store(scene->z, at(own_slot(worker, rng)),
					   ++version) == 0);
			break;
		case 3:
			zswap_invalidate(scene->z, at(own_slot(worker, rng)),
					 1);
			break;
		default:
			read_one(scene, rng, seen);
			break;
		}
}

/* ---- switches ---------------------------------------------------------- */

static void end_slowly(void *arg, enum codec_event event)
{
	struct scene *scene = arg;

	if (event == CODEC_DESTROY &&
	    atomic_fetch_add(&scene->ends, 1) % SLOW_EVERY == 0)
		usleep(10000);
}

static void switch_to_any(struct scene *scene, struct rng *rng)
{
	int err;

	switch (rng_below(rng, 16)) {
	case 0:
		CHECK(zswap_set_compressor(scene->z, "nope") == -ENOENT);
		break;
	case 1:
		CHECK(zswap_set_compressor(scene->z, "zstd:level=99") ==
		      -ERANGE);
		break;
	case 2:
		atomic_store(&scene->codec.create_error, -EACCES);
		err = zswap_set_compressor(scene->z, scene->codec.spec);
		CHECK(err == 0 || err == -EACCES);
		atomic_store(&scene->codec.create_error, 0);
		break;
	default:
		CHECK(zswap_set_compressor(
			      scene->z,
			      scene->specs[rng_below(rng, scene->nr_specs)]) ==
		      0);
		atomic_fetch_add(&scene->switches, 1);
		break;
	}
}

/* The canonical form of one of those that are switched to. */
static void check_name(struct scene *scene, const char *name)
{
	unsigned i;

	for (i = 0; i < scene->nr_specs; i++)
		if (strcmp(name, scene->specs[i]) == 0)
			return;
	CHECK(strcmp(name, scene->codec.spec) == 0);
}

static void ask(struct scene *scene)
{
	char name[ZSWAP_MAX_SPEC + 1], text[8192], *line;
	struct zswap_stats stats;

	while (!deadline_is_over(scene->deadline)) {
		CHECK(zswap_get_compressor(scene->z, name, sizeof(name)) ==
		      (long)strlen(name));
		check_name(scene, name);
		CHECK(zswap_format_stats(scene->z, ZSWAP_STATS_TEXT, text,
					 sizeof(text)) == (long)strlen(text));
		text[strlen(text) - 1] = '\0';
		line = strstr(text, "\ncompressor ");
		CHECK(line);
		check_name(scene, line + strlen("\ncompressor "));
		stats = stress_stats(scene->z);
		CHECK(stats.pools >= 1 && stats.pools <= 255);
		CHECK(stats.stored_pages <= NR_SLOTS);
	}
}

static void run(unsigned index, void *arg)
{
	struct scene *scene = arg;
	struct rng rng;

	rng_init(&rng, index);
	if (index < NR_WORKERS)
		work(scene, index, &rng);
	else if (index == NR_WORKERS)
		ask(scene);
	else
		while (!deadline_is_over(scene->deadline))
			switch_to_any(scene, &rng);
}

static void name_specs(struct scene *scene)
{
	static const char *const builtin[] = { "lz4", "lz4hc:level=2",
					       "zstd:level=-1",
					       "deflate:level=1" };
	unsigned i;

	for (i = 0; i < 4; i++) {
		snprintf(scene->specs[i], 32, "%s", builtin[i]);
		snprintf(scene->specs[4 + i], 32, "%s,%u", scene->codec.spec,
			 i);
	}
	scene->nr_specs = 8;
}

int main(void)
{
	static struct scene scene;
	static struct faulty hooks;
	struct zswap_params params = { .size = sizeof(params),
				       .nr_compressors = 1 };

	faulty_init(&hooks);
	codec_init(&scene.codec, 4);
	name_specs(&scene);
	scene.codec.event_arg = &scene;
	scene.codec.event = end_slowly;
	params.hooks = &hooks.hooks;
	params.compressors = &scene.codec.vtable_list;
	scene.z = stress_begin_with("switch", &params);
	scene.deadline = deadline_after_ms(2000);
	run_threads(NR_WORKERS + 2, run, &scene);
	printf("%lu switches, %lu pools made\n", atomic_load(&scene.switches),
	       atomic_load(&scene.codec.instances_made));
	CHECK(atomic_load(&scene.switches) > 0);
	stress_end(scene.z);
	CHECK(atomic_load(&scene.codec.instances_made) ==
	      atomic_load(&scene.codec.instances_ended));
	CHECK(codec_end(&scene.codec));
	CHECK(faulty_end(&hooks));
	return 0;
}
