// SPDX-License-Identifier: MIT
/*
 * child.c - a sequence run in a process of its own
 *
 * The child's error output goes to a file, for most of the runs on the way to
 * the shortest sequence fail and nobody wants to read of them. It leaves by
 * exit(), so that a leak check at exit is part of the run.
 */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int log_fd = -1;
static unsigned child_hang_s;

void *child_shared_memory(size_t bytes)
{
	void *addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(addr != MAP_FAILED);
	return addr;
}

static void open_log(void)
{
	if (log_fd < 0)
		log_fd = memfd_create("log", 0);
	CHECK(log_fd >= 0);
	CHECK(ftruncate(log_fd, 0) == 0 && lseek(log_fd, 0, SEEK_SET) == 0);
}

extern const char __executable_start[]; /* the linker's */

/*
 * The library's checks trap. On return the signal comes again and ends the
 * child. A thread of the cache has it blocked, and ends the child at once.
 */
static void tell_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	dprintf(STDERR_FILENO, "trap at %#tx of the program (addr2line -i)\n",
		(const char *)info->si_addr - __executable_start);
}

/* Unless a sanitizer does, which says more. */
static void watch_trap(int signal)
{
	const struct sigaction watch = { .sa_sigaction = tell_trap,
					 .sa_flags =
						 SA_SIGINFO | SA_RESETHAND };
	struct sigaction now;

	CHECK(sigaction(signal, NULL, &now) == 0);
	if (now.sa_handler == SIG_DFL)
		CHECK(sigaction(signal, &watch, NULL) == 0);
}

void child_progress(void)
{
	alarm(child_hang_s);
}

static _Noreturn void run_child(struct sequence *sequence, unsigned hang_s)
{
	CHECK(dup2(log_fd, STDERR_FILENO) == STDERR_FILENO);
	child_hang_s = hang_s;
	watch_trap(SIGILL);
	watch_trap(SIGTRAP); /* on some processors */
	child_progress();
	world_run(sequence);
	exit(0);
}

/* Lines that say what was found: of check.c and of the sanitizers. */
static bool tells(const char *line)
{
	return strstr(line, "check failed") || strstr(line, "ERROR: ") ||
	       strstr(line, "WARNING: ") || strstr(line, "runtime error");
}

/* Numbers of many digits, addresses and processes, differ from run to run. */
static void make_comparable(char *line)
{
	char *from = line, *to = line;

	while (*from && *from != '\n') {
		size_t digits = strspn(from, "0123456789abcdefx");

		if (digits < 5 || *from > '9')
			*to++ = *from++;
		else
			from += digits;
	}
	*to = '\0';
}

static void describe(struct verdict *verdict, int status)
{
	char line[sizeof(verdict->what)];
	FILE *log = fdopen(dup(log_fd), "r");

	CHECK(log && fseek(log, 0, SEEK_SET) == 0);
	if (WIFSIGNALED(status))
		snprintf(verdict->what, sizeof(verdict->what), "signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(verdict->what, sizeof(verdict->what), "exit status %d",
			 WEXITSTATUS(status));
	while (fgets(line, sizeof(line), log))
		if (tells(line)) {
			make_comparable(line);
			memcpy(verdict->what, line, sizeof(line));
			break;
		}
	fclose(log);
}

struct verdict child_run(struct sequence *sequence, unsigned hang_s)
{
	struct verdict verdict = { 0 };
	int status;
	pid_t pid;

	open_log();
	fflush(NULL);
	sequence->begun = 0;
	sequence->in_vain = 0;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		run_child(sequence, hang_s);
	CHECK(waitpid(pid, &status, 0) == pid);
	verdict.steps = sequence->begun;
	verdict.failed = status != 0;
	verdict.hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
	if (verdict.failed)
		describe(&verdict, status);
	return verdict;
}

void child_print_log(void)
{
	char buf[4096];
	ssize_t n;

	CHECK(lseek(log_fd, 0, SEEK_SET) == 0);
	while ((n = read(log_fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stderr);
}
