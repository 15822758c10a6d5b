// SPDX-License-Identifier: MIT
/*
 * signals.c - a cache's thread takes no signal from the process
 *
 * Signals that are sent to the process go to any thread that does not block
 * them. The cache's own blocks all that can be; so one that all threads of the
 * program block waits, and one that a single thread takes goes to that.
 */
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"
#include "scene.h"

#define MAX_THREADS 16
#define NR_SIGNALS 200

/* ---- the masks of threads ---------------------------------------------- */

/* The signals that a thread blocks, as the kernel tells it. */
static uint64_t blocked_by(long tid)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	bool found = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/status", tid);
	status = fopen(path, "r");
	CHECK(status);
	while (!found && fgets(line, sizeof(line), status))
		found = sscanf(line, "SigBlk: %llx", &mask) == 1;
	fclose(status);
	CHECK(found);
	return mask;
}

static unsigned list_threads(long tids[MAX_THREADS])
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned nr = 0;

	CHECK(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			CHECK(nr < MAX_THREADS);
			tids[nr++] = atol(entry->d_name);
		}
	closedir(dir);
	return nr;
}

static bool is_among(long tid, const long *tids, unsigned nr)
{
	while (nr--)
		if (tids[nr] == tid)
			return true;
	return false;
}

/* The only thread that is not among those that there were. */
static long new_thread(const long *before, unsigned nr_before)
{
	long tids[MAX_THREADS], found = 0;
	unsigned nr = list_threads(tids), i;

	CHECK(nr == nr_before + 1);
	for (i = 0; i < nr; i++)
		if (!is_among(tids[i], before, nr_before))
			found = tids[i];
	CHECK(found);
	return found;
}

/* All that a thread of the C library can block. */
static uint64_t all_blocked(void)
{
	sigset_t all, old;
	uint64_t mask;

	sigfillset(&all);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &old) == 0);
	mask = blocked_by(syscall(SYS_gettid));
	CHECK(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
	return mask;
}

/* ---- signals to the process -------------------------------------------- */

static _Atomic long taker; /* the thread that the last handler ran in */
static atomic_uint taken;

static void take_signal(int sig)
{
	(void)sig;
	atomic_store(&taker, syscall(SYS_gettid));
	atomic_fetch_add(&taken, 1);
}

static void block(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

/* While all threads of the program block it nobody takes it. */
static void blocked_signals_wait(void)
{
	sigset_t pending;
	unsigned i;

	for (i = 0; i < NR_SIGNALS; i++)
		CHECK(kill(getpid(), SIGUSR1) == 0);
	usleep(20000);
	CHECK(sigpending(&pending) == 0);
	CHECK(sigismember(&pending, SIGUSR1) == 1);
	CHECK(atomic_load(&taken) == 0);
}

static void the_program_takes_them(long helper)
{
	unsigned i, before;

	block(SIG_UNBLOCK, SIGUSR1);
	for (i = 0; i < NR_SIGNALS; i++) {
		before = atomic_load(&taken);
		CHECK(kill(getpid(), SIGUSR1) == 0);
		while (atomic_load(&taken) == before)
			usleep(100);
		CHECK(atomic_load(&taker) == getpid());
		CHECK(atomic_load(&taker) != helper);
		watchdog_progress();
	}
	block(SIG_BLOCK, SIGUSR1);
}

/* The mask of the thread that has made the cache's is as it was. */
static void look_at(bool default_hooks)
{
	static struct scene s;
	long before[MAX_THREADS], helper;
	unsigned nr = list_threads(before);
	uint64_t mask = blocked_by(getpid());

	atomic_store(&taken, 0);
	scene_init(&s);
	if (default_hooks)
		s.params.hooks = NULL;
	scene_fill(&s);
	helper = new_thread(before, nr);
	/* While it starts, the C library blocks its own signals too. */
	CHECK((all_blocked() & ~blocked_by(helper)) == 0);
	CHECK(blocked_by(getpid()) == mask);
	blocked_signals_wait();
	the_program_takes_them(helper);
	scene_check(&s);
	zswap_destroy(s.z);
	scene_end(&s);
	process_wait_for_threads(nr);
}

int main(void)
{
	struct sigaction action;

	/* Threads inherit the mask, the watchdog as well. */
	block(SIG_BLOCK, SIGUSR1);
	watchdog_start("signals", 60);
	memset(&action, 0, sizeof(action));
	action.sa_handler = take_signal;
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	look_at(true);
	look_at(false);
	watchdog_stop();
	return 0;
}
