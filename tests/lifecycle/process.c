// SPDX-License-Identifier: MIT
/*
 * process.c - what this process holds, and processes it starts
 */
#include "process.h"

#include <dirent.h>
#include <malloc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define PATIENCE_NS UINT64_C(60000000000)

/* Longer than any child takes under a sanitizer on a busy machine. */
#define CHILD_S 100

static const char self[] = "/proc/self/exe";

/* ---- what is held ------------------------------------------------------ */

static size_t entries_of(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t nr = 0;

	CHECK(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

size_t process_threads(void)
{
	return entries_of("/proc/self/task");
}

size_t process_files(void)
{
	return entries_of("/proc/self/fd");
}

size_t process_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	size_t nr = 0;
	int c;

	CHECK(maps);
	while ((c = getc(maps)) != EOF)
		nr += c == '\n';
	fclose(maps);
	return nr;
}

/* The first two numbers of statm are all pages, and those in memory. */
static size_t statm_bytes(int which)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	size_t pages[2];

	CHECK(statm && fscanf(statm, "%zu %zu", &pages[0], &pages[1]) == 2);
	fclose(statm);
	return pages[which] * (size_t)sysconf(_SC_PAGESIZE);
}

size_t process_mapped_bytes(void)
{
	return statm_bytes(0);
}

size_t process_resident_bytes(void)
{
	return statm_bytes(1);
}

void process_wait_for_threads(size_t nr)
{
	uint64_t deadline = now_ns() + PATIENCE_NS;

	while (process_threads() > nr && now_ns() < deadline)
		usleep(200);
	CHECK(process_threads() == nr);
}

void holdings_prepare(void)
{
	mallopt(M_ARENA_MAX, 1);
}

struct holdings holdings_now(void)
{
	return (struct holdings){ process_threads(), process_files(),
				  process_resident_bytes() };
}

void holdings_check_growth(const struct holdings *before, size_t bytes)
{
	CHECK(SANITIZER_KEEPS_NOTES ||
	      process_resident_bytes() < before->resident_bytes + bytes);
}

void holdings_check_same(const struct holdings *before)
{
	process_wait_for_threads(before->threads);
	CHECK(process_files() == before->files);
	holdings_check_growth(before, PROCESS_SLACK_BYTES);
}

/* ---- children ---------------------------------------------------------- */

void child_begin(void)
{
	alarm(CHILD_S);
}

int child_status(void (*run)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		child_begin();
		run(arg);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

void child_must_succeed(void (*run)(void *arg), void *arg)
{
	int status = child_status(run, arg);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void wait_for_exit(pid_t pid, int code)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == code);
}

pid_t process_start_again(const char *mode)
{
	char *const argv[] = { (char *)self, (char *)mode, NULL };
	pid_t pid;

	fflush(stdout);
	CHECK(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0);
	return pid;
}

_Noreturn void process_become(const char *mode)
{
	execl(self, self, mode, (char *)NULL);
	_exit(127);
}
