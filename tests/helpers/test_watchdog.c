// SPDX-License-Identifier: MIT
/*
 * test_watchdog.c - the watchdog barks when nothing moves, and only then
 *
 * A watchdog that can't bark would let every hang pass for a slow test until
 * the test runner's own time is up, without a word about where. Each case is a
 * child process, since a bark ends it.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"
#include "watchdog.h"

#define NAME "the name of a test"
#define DOING "what it does"

/* What the watchdog is told; whole seconds, so that it takes no longer. */
#define HANG_S 1

/* For the child that moves: long enough for a busy machine. */
#define PATIENCE_S 4

/* A child that is still there then has not been ended by its watchdog. */
#define GIVE_UP_S 60

/* ---- children ---------------------------------------------------------- */

static void stand_still(void)
{
	watchdog_start(NAME, HANG_S);
	check_context(DOING);
	for (;;)
		pause();
}

/* Busy, but without progress, as in a lock that is never given back. */
static void turn_in_circles(void)
{
	volatile unsigned turns = 0;

	watchdog_start(NAME, HANG_S);
	check_context(DOING);
	for (;;)
		turns++;
}

static void hang_later(void)
{
	uint64_t until = now_ns() + HANG_S * UINT64_C(500000000);

	watchdog_start(NAME, HANG_S);
	check_context(DOING);
	while (!deadline_is_over(until))
		usleep(1000);
	for (;;)
		pause();
}

/* For longer than the watchdog's patience, in all. */
static void move(void)
{
	uint64_t until = now_ns() + (PATIENCE_S + 1) * UINT64_C(1000000000);

	watchdog_start(NAME, PATIENCE_S);
	while (now_ns() < until) {
		watchdog_progress();
		usleep(1000);
	}
	watchdog_stop();
}

/* Stopped it is silent, and it can be started again. */
static void stop_and_hang(void)
{
	watchdog_start(NAME, HANG_S);
	watchdog_stop();
	usleep(2 * HANG_S * 1000000);
	watchdog_start(NAME, PATIENCE_S);
	watchdog_stop();
}

/* ---- parents ----------------------------------------------------------- */

struct child {
	pid_t id;
	int from; /* its error output */
};

static struct child begin(void (*run)(void))
{
	const struct rlimit no_core = { 0, 0 };
	struct child child;
	int ends[2];

	CHECK(pipe(ends) == 0);
	child.id = fork();
	CHECK(child.id >= 0);
	child.from = ends[0];
	if (child.id) {
		close(ends[1]);
		return child;
	}
	CHECK(dup2(ends[1], STDERR_FILENO) >= 0);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGABRT, SIG_DFL);
	alarm(GIVE_UP_S);
	run();
	_exit(0);
}

/* Reads what it has said, to the end. */
static void read_all(int from, char *text, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(from, text + len, room - 1 - len)) > 0)
		len += (size_t)n;
	CHECK(n == 0);
	text[len] = '\0';
	close(from);
}

static int end(struct child child, char *text, size_t room)
{
	int status;

	read_all(child.from, text, room);
	CHECK(waitpid(child.id, &status, 0) == child.id);
	return status;
}

/* The abort() leaves a core; the words say who, for how long, where, why. */
static void expect_bark(struct child child)
{
	char text[4096], expected[256];
	int status = end(child, text, sizeof(text));

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	snprintf(expected, sizeof(expected), "%s: no progress for %d s\n", NAME,
		 HANG_S);
	CHECK(strstr(text, expected));
	CHECK(strstr(text, DOING));
	CHECK(strstr(text, "ZSWAP_TEST_SEED="));
}

static void expect_silence(struct child child)
{
	char text[4096];
	int status = end(child, text, sizeof(text));

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(!strstr(text, "no progress"));
}

int main(void)
{
	static void (*const hangs[])(void) = { stand_still, turn_in_circles,
					       hang_later };
	static void (*const moves[])(void) = { move, stop_and_hang };
	struct child hanging[3], moving[2];
	unsigned i;

	/* All at once: they do little but wait. */
	for (i = 0; i < 3; i++)
		hanging[i] = begin(hangs[i]);
	for (i = 0; i < 2; i++)
		moving[i] = begin(moves[i]);
	for (i = 0; i < 3; i++)
		expect_bark(hanging[i]);
	for (i = 0; i < 2; i++)
		expect_silence(moving[i]);
	return 0;
}
