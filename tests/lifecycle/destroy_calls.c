// SPDX-License-Identifier: MIT
/*
 * destroy_calls.c - D52: a cache can be destroyed after any call
 *
 * usage: destroy_calls MAP
 *
 * Each call of the table is the last but one on a full cache, with retired
 * pools and a thread that waits to end them. Everything comes back, wherever
 * the call was made and whoever destroys. MAP is the list of exported names,
 * which the table must have, and no others.
 */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "process.h"
#include "scene.h"

/* ---- the table is complete --------------------------------------------- */

static bool is_in_table(const char *name)
{
	size_t i;

	for (i = 0; i < nr_calls; i++)
		if (strcmp(calls[i].function, name) == 0)
			return true;
	fprintf(stderr, "%s: exported, but in no call of the table\n", name);
	return false;
}

static size_t nr_functions(void)
{
	size_t nr = 0, i, j;

	for (i = 0; i < nr_calls; i++) {
		for (j = 0; j < i; j++)
			if (strcmp(calls[i].function, calls[j].function) == 0)
				break;
		nr += j == i;
	}
	return nr;
}

/* Lines of one name and a semicolon. */
static void check_table(const char *map_path)
{
	FILE *map = fopen(map_path, "r");
	char line[128], name[128];
	size_t nr = 0;

	CHECK(map);
	while (fgets(line, sizeof(line), map)) {
		int end = 0;

		if (sscanf(line, " %120[a-z_];%n", name, &end) == 1 && end) {
			CHECK(is_in_table(name));
			nr++;
		}
	}
	fclose(map);
	CHECK(nr == nr_functions());
}

/* ---- the last call ----------------------------------------------------- */

struct last {
	struct scene scene;
	const struct call *call;
};

static void make_call(void *arg)
{
	struct last *last = arg;

	call_here(last->call, &last->scene);
}

static void destroy(void *arg)
{
	struct last *last = arg;

	zswap_destroy(last->scene.z);
	scene_end_pool(&last->scene);
}

static void in_another_thread(void (*run)(void *arg), void *arg)
{
	struct thread thread;

	thread_start(&thread, run, arg);
	thread_join(&thread);
}

/* In the thread that made the cache, or in two others. */
static void destroy_after(const struct call *call, bool elsewhere)
{
	static struct last last;

	last.call = call;
	scene_begin(&last.scene);
	if (elsewhere) {
		in_another_thread(make_call, &last);
		in_another_thread(destroy, &last);
	} else {
		make_call(&last);
		destroy(&last);
	}
	scene_end(&last.scene);
	watchdog_progress();
}

int main(int argc, char **argv)
{
	struct holdings before;
	size_t i;

	CHECK(argc == 2);
	check_table(argv[1]);
	holdings_prepare();
	watchdog_start("destroy_calls", 60);
	destroy_after(&calls[0], true); /* what is made once, is made here */
	before = holdings_now();
	for (i = 0; i < nr_calls; i++) {
		destroy_after(&calls[i], false);
		destroy_after(&calls[i], true);
	}
	holdings_check_same(&before);
	watchdog_stop();
	return 0;
}
