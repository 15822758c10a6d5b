// SPDX-License-Identifier: MIT
/*
 * stress_affinity.c - D44: threads that change processors, threads that come
 * and go, while the compressor is switched
 *
 * Nothing that a request uses may belong to the processor or the thread it runs
 * on: each page is stored on one and loaded on another.
 */
#include "stress.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define NR_MOVERS 4
#define NR_PAGES 8
#define AT_A_TIME 16

struct scene {
	struct zswap *z;
	uint64_t deadline;
	cpu_set_t all; /* that this process may run on */
	atomic_ulong lives;
};

/* To the next processor after @cpu, which is returned. */
static int move_on(struct scene *scene, int cpu)
{
	cpu_set_t one;

	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &scene->all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	return cpu;
}

/* Stores and loads its own pages, on another processor each time. */
static void move(struct scene *scene, unsigned index)
{
	uint64_t first = 1000 * (index + 1), version = 0, seen, i;
	int cpu = (int)index;

	while (!deadline_is_over(scene->deadline)) {
		version++;
		for (i = 0; i < NR_PAGES; i++) {
			CHECK(stress_store(scene->z, at(first + i), version) ==
			      0);
			cpu = i % 3 ? cpu : move_on(scene, cpu);
			CHECK(stress_load(scene->z, at(first + i), i % 2,
					  &seen) == 0);
			CHECK(seen == version);
		}
	}
}

static void live_shortly(unsigned index, void *arg)
{
	struct scene *scene = arg;
	uint64_t version = atomic_fetch_add(&scene->lives, 1) + 1, seen;
	zswap_slot_t slot = at(BORDER - AT_A_TIME / 2 + index);

	CHECK(stress_store(scene->z, slot, version) == 0);
	CHECK(stress_load(scene->z, slot, index % 2, &seen) == 0);
	CHECK(seen == version);
}

static void switch_on(struct scene *scene)
{
	const char *const *specs = stress_specs(), *const *spec = specs;

	while (!deadline_is_over(scene->deadline)) {
		CHECK(zswap_set_compressor(scene->z, *spec) == 0);
		if (!*++spec)
			spec = specs;
		usleep(500);
	}
}

static void run(unsigned index, void *arg)
{
	struct scene *scene = arg;

	if (index < NR_MOVERS)
		move(scene, index);
	else if (index == NR_MOVERS)
		switch_on(scene);
	else
		while (!deadline_is_over(scene->deadline))
			run_threads(AT_A_TIME, live_shortly, scene);
}

int main(void)
{
	static struct faulty hooks;
	struct zswap_params params = { .size = sizeof(params) };
	struct scene scene = { 0 };

	CHECK(sched_getaffinity(0, sizeof(scene.all), &scene.all) == 0);
	faulty_init(&hooks);
	params.hooks = &hooks.hooks;
	scene.z = stress_begin_with("affinity", &params);
	scene.deadline = deadline_after_ms(1500);
	run_threads(NR_MOVERS + 2, run, &scene);
	CHECK(atomic_load(&scene.lives) > 0);
	stress_end(scene.z);
	CHECK(faulty_end(&hooks));
	return 0;
}
