// SPDX-License-Identifier: MIT
/*
 * child.c - work in a process of its own; see child.h
 */
#include "child.h"

#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *child_room(size_t bytes)
{
	void *addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		bad_input("out of memory");
	return addr;
}

/* Dies with its parent. What ends the program ends it here as well. */
_Noreturn static void be_child(pid_t parent, void (*work)(void *arg), void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_BAD_INPUT);
	work(arg);
	_exit(0);
}

void child_run(void (*work)(void *arg), void *arg)
{
	pid_t parent = getpid(), child;
	int status;

	fflush(stdout); /* or the child would have it too */
	child = fork();
	if (child < 0)
		bad_input("fork: %s", strerror(errno));
	if (!child)
		be_child(parent, work, arg);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			bad_input("waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status))
		broken("a process of the bench's was ended by signal %d (%s)",
		       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		exit(WEXITSTATUS(status));
}
