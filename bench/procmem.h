/* SPDX-License-Identifier: MIT */
/* procmem.h - anonymous pages of a process */
#ifndef BENCH_PROCMEM_H
#define BENCH_PROCMEM_H

#include "pages.h"

#include <sys/types.h>

/**
 * procmem_read() - copy anonymous pages of a process
 * @max_pages: at most so many, spread evenly over what it has
 * @c:         receives the pages; its name and origin are left alone
 * @resident:  receives how many there were
 *
 * Pages come in groups of 16 neighbours, 64 KiB aligned, all of them resident.
 * A process that holds no such group gives single pages. The process may run
 * on meanwhile; then some pages are of a later moment than others.
 *
 * Return: 0; -ENODATA when it has no anonymous pages; or the negative errno
 *         with which the system refused. Without pages @c has no memory.
 */
int procmem_read(pid_t pid, size_t max_pages, struct corpus *c,
		 size_t *resident);

/* procmem_anon_bytes() - roughly what there is to read; 0 if unknown */
size_t procmem_anon_bytes(pid_t pid);

#endif /* BENCH_PROCMEM_H */
