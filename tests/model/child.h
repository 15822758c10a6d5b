/* SPDX-License-Identifier: MIT */
/*
 * child.h - a sequence run in a process of its own
 */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include "driver.h"

/* How a run ended. Two runs that say the same have found the same fault. */
struct verdict {
	bool failed;
	bool hung;
	unsigned steps; /* begun */
	char what[200]; /* "" unless it failed */
};

/* For 64 steps, on a slow machine, in a slow build. */
#define CHILD_HANG_S 60

/* Memory for @bytes that children write and their parent reads. */
void *child_shared_memory(size_t bytes);

/* @hang_s: seconds for some steps, after which the child is ended */
struct verdict child_run(struct sequence *sequence, unsigned hang_s);

/* Prints what the last child said. */
void child_print_log(void);

/* Called by a child with each step: it is alive. */
void child_progress(void);

#endif
