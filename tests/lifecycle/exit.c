// SPDX-License-Identifier: MIT
/*
 * exit.c - D52, D83: how a process may end while it has a cache
 *
 * usage: exit [MODE]
 *
 * Without a mode it runs itself once for each. A mode is a process with a full
 * cache whose thread waits for pools to end. Either the cache is destroyed late
 * (by an exit handler, by the destructor of a thread's key, after main), and
 * everything comes back; or it is not destroyed at all, while other threads are
 * in the midst of calls, and the process ends none the less: it neither hangs
 * nor dies, and a sanitizer's search finds no leak, for all is still in use.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"
#include "scene.h"

#define NR_WORKERS 3

/* The status of a mode that did what it should; not one of a sanitizer. */
#define GOOD 42

static struct scene scene;
static bool destroyed, destroyed_by_mode;
static atomic_uint nr_calls_made;

/* ---- late destruction -------------------------------------------------- */

static void destroy(void)
{
	scene_check(&scene);
	zswap_destroy(scene.z);
	scene.z = NULL;
	scene_end(&scene);
	destroyed = true;
}

/* The first handler that was registered, and so the last that runs. */
static void expect_destroyed(void)
{
	CHECK(destroyed);
}

/* Runs after main and its handlers, where a mode says so. */
__attribute__((destructor)) static void destroy_after_all(void)
{
	if (destroyed_by_mode && !destroyed)
		destroy();
}

static int destroy_in_handler(void)
{
	CHECK(atexit(expect_destroyed) == 0);
	CHECK(atexit(destroy) == 0);
	return GOOD;
}

static int destroy_in_quick_handler(void)
{
	CHECK(at_quick_exit(expect_destroyed) == 0);
	CHECK(at_quick_exit(destroy) == 0);
	quick_exit(GOOD);
}

static int destroy_in_destructor(void)
{
	destroyed_by_mode = true;
	return GOOD;
}

static int destroy_in_main(void)
{
	destroy();
	return GOOD;
}

static void destroy_by_key(void *unused)
{
	(void)unused;
	destroy();
}

static void set_key(void *key)
{
	CHECK(pthread_setspecific(*(pthread_key_t *)key, &scene) == 0);
}

/* The thread has never called the cache before its end. */
static int destroy_in_key_destructor(void)
{
	struct thread thread;
	pthread_key_t key;

	CHECK(pthread_key_create(&key, destroy_by_key) == 0);
	thread_start(&thread, set_key, &key);
	thread_join(&thread);
	expect_destroyed();
	return GOOD;
}

/* ---- no destruction ---------------------------------------------------- */

static void work_for_ever(void *arg)
{
	zswap_slot_t slot = at(BORDER + 1000 + *(unsigned *)arg);
	uint64_t version = 0, seen;

	for (;;) {
		CHECK(stress_store(scene.z, slot, ++version) == 0);
		CHECK(stress_load(scene.z, slot, version % 2, &seen) == 0);
		CHECK(seen == version);
		atomic_fetch_add(&nr_calls_made, 1);
	}
}

static void begin_working(void)
{
	static struct thread workers[NR_WORKERS];
	static unsigned numbers[NR_WORKERS];
	unsigned i;

	for (i = 0; i < NR_WORKERS; i++) {
		numbers[i] = i;
		thread_start(&workers[i], work_for_ever, &numbers[i]);
	}
	while (atomic_load(&nr_calls_made) < 100)
		usleep(100);
}

static int return_from_main(void)
{
	begin_working();
	return GOOD;
}

static int call_exit(void)
{
	begin_working();
	exit(GOOD);
}

static int call_underscore_exit(void)
{
	begin_working();
	_exit(GOOD);
}

static int call_quick_exit(void)
{
	begin_working();
	quick_exit(GOOD);
}

static void exit_here(void *unused)
{
	(void)unused;
	exit(GOOD);
}

static int exit_in_a_thread(void)
{
	struct thread thread;

	begin_working();
	thread_start(&thread, exit_here, NULL);
	thread_join(&thread); /* waits until it is over */
	return 1;
}

/* The cache's thread is in the middle of a pool's end. */
static void stand_at_gate(void *gate, enum codec_event event)
{
	if (event == CODEC_DESTROY)
		gate_pass(gate);
}

static int exit_while_a_pool_ends(void)
{
	char page[PAGE_BYTES];
	struct gate *gate = &scene.codec.compress.gate;

	scene.codec.event_arg = gate;
	scene.codec.event = stand_at_gate;
	/* The only page of a pool of the test compressor. */
	zswap_invalidate(scene.z, at(0), AREA_SLOTS);
	page_make(page, sizeof(page), PAGE_TEXT, 1);
	CHECK(zswap_store(scene.z, at(0), page) == 0);
	CHECK(zswap_set_compressor(scene.z, "lz4") == 0);
	gate_close(gate);
	CHECK(zswap_load(scene.z, at(0), page) == 0);
	CHECK(gate_wait(gate, 1));
	return GOOD;
}

/* ---- modes ------------------------------------------------------------- */

static const struct mode {
	const char *name;
	int (*run)(void);
	bool default_hooks;
} modes[] = {
	{ "destroy in a handler", destroy_in_handler, false },
	{ "destroy in a quick handler", destroy_in_quick_handler, false },
	{ "destroy in a destructor", destroy_in_destructor, false },
	{ "destroy in main", destroy_in_main, false },
	{ "destroy in a key's destructor", destroy_in_key_destructor, false },
	{ "return", return_from_main, true },
	{ "exit", call_exit, true },
	{ "_exit", call_underscore_exit, true },
	{ "quick_exit", call_quick_exit, true },
	{ "exit in a thread", exit_in_a_thread, true },
	{ "exit while a pool ends", exit_while_a_pool_ends, true },
};

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

static int run_mode(const char *name)
{
	size_t i;

	child_begin();
	for (i = 0; i < NR_MODES; i++)
		if (strcmp(modes[i].name, name) == 0) {
			scene_init(&scene);
			if (modes[i].default_hooks)
				scene.params.hooks = NULL;
			scene_fill(&scene);
			return modes[i].run();
		}
	return 1;
}

int main(int argc, char **argv)
{
	unsigned round;
	size_t i;

	if (argc > 1)
		return run_mode(argv[1]);
	for (round = 0; round < test_rounds(8); round++)
		for (i = 0; i < NR_MODES; i++) {
			if (!round)
				printf("%s\n", modes[i].name);
			wait_for_exit(process_start_again(modes[i].name), GOOD);
		}
	return 0;
}
