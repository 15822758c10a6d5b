/* SPDX-License-Identifier: MIT */
/*
 * sysmem.h - how much memory this process may use
 *
 * The base of limits in percent. In a container the machine's memory is the
 * wrong base: a fifth of a large machine is more than all of a small
 * container, and who fills that is killed. So the base is the machine's memory
 * or the smallest limit of a control group (cgroup) that this process is in, if
 * that is less. Every group from the process's own up to the mounted one
 * counts, for the kernel enforces them all.
 *
 *	/proc/self/cgroup      4:memory:/outer/inner
 *	/proc/self/mountinfo   ... /outer /mnt rw - cgroup cgroup rw,memory
 *
 *	/mnt/inner/memory.limit_in_bytes    the process's own group
 *	/mnt/memory.limit_in_bytes          "outer", as far as it is seen
 *
 * What can't be found, read or understood is no limit, so the functions never
 * fail. That includes limits of groups that a namespace hides. A limit above
 * which the kernel only slows a process down (memory.high) is none either.
 *
 * They cost some dozens of system calls and 17 KiB of stack, so ask once. They
 * allocate nothing, keep nothing, leave errno, and are no points of
 * cancellation, though they open files.
 *
 * Origin: the files are those of cgroups(7), proc_pid_mountinfo(5) and the
 * kernel's descriptions of both versions' memory controllers. Linux zswap takes
 * its percentage of all memory of the machine.
 */
#ifndef ZSWAP_SYSMEM_H
#define ZSWAP_SYSMEM_H

#include "base.h"

/*
 * Bytes of memory this process may use: the machine's, or the smallest limit of
 * a control group it is in (v1 or v2), if that is less.
 */
uint64_t sysmem_bytes(void);

/*
 * The same, with every path below this folder ("" for the true ones), for
 * tests. @ram_bytes: the machine's memory.
 */
uint64_t sysmem_limit(const char *root, uint64_t ram_bytes);

#endif /* ZSWAP_SYSMEM_H */
