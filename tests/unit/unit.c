// SPDX-License-Identifier: MIT
/*
 * unit.c - what the unit tests begin with: memory that keeps accounts
 */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watchdog.h"

int unit_setup(void **state)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (!u)
		return -1;
	faulty_init(&u->hooks);
	*state = u;
	if (mem_init(&u->mem, &u->hooks.hooks))
		return -1;
	u->os_page = u->mem.os_page;
	return 0;
}

int unit_teardown(void **state)
{
	struct unit *u = *state;
	size_t left;
	bool good;

	u->mem.os_page = u->os_page;
	mem_exit(&u->mem);
	left = metadata_bytes(u);
	if (left)
		print_error("%zu bytes of metadata left\n", left);
	good = faulty_end(&u->hooks) && !left;
	free(u);
	return good ? 0 : -1;
}

static struct {
	void (*meanwhile)(void *arg); /* NULL once it was called */
	void *arg;
} out_of_memory;

static void *give_nothing(void *ctx, size_t bytes, size_t align)
{
	void (*meanwhile)(void *arg) = out_of_memory.meanwhile;

	(void)ctx, (void)bytes, (void)align;
	out_of_memory.meanwhile = NULL;
	if (meanwhile)
		meanwhile(out_of_memory.arg);
	return NULL;
}

void unit_memory_is_out(struct unit *u, void (*meanwhile)(void *arg), void *arg)
{
	out_of_memory.meanwhile = meanwhile;
	out_of_memory.arg = arg;
	u->mem.hooks.alloc = give_nothing;
	u->mem.hooks.map = give_nothing;
}

bool unit_memory_is_back(struct unit *u)
{
	u->mem.hooks.alloc = u->hooks.hooks.alloc;
	u->mem.hooks.map = u->hooks.hooks.map;
	return !out_of_memory.meanwhile;
}

int unit_group_end(void **state)
{
	(void)state;
	watchdog_stop();
	return 0;
}

/* A sanitizer would report what is expected here. */
static void child(void (*call)(void *arg), void *arg)
{
	signal(SIGILL, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	call(arg);
	_exit(0);
}

bool unit_dies(void (*call)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		child(call, arg);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status);
}
