/* SPDX-License-Identifier: MIT */
/* live.h - corpora from the memory of running programs */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

#include "pages.h"

#include <stdbool.h>
#include <sys/types.h>

/* live_add_pid() - a process of the caller's choice, which is not stopped */
void live_add_pid(struct corpora *all, pid_t pid, size_t max_pages);

/**
 * live_add_programs() - programs found on this machine, at work
 * @quick: fewer of them, for a shorter time
 *
 * Says on stdout what it took. Adds pages of files where no program's memory
 * can be read. Leaves no process and no file behind, on a signal neither.
 */
void live_add_programs(struct corpora *all, size_t max_pages, bool quick);

#endif /* BENCH_LIVE_H */
