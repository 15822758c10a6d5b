// SPDX-License-Identifier: MIT
/*
 * procmem.c - anonymous pages of a process
 *
 * /proc/PID/maps names the mappings: private, writable, of no file.
 * /proc/PID/pagemap tells which of their pages are resident; a page that never
 * was would read as zeros, and there may be gigabytes of those. /proc/PID/mem
 * gives the bytes. Where pagemap is closed, a page counts as resident when it
 * is not all zeros.
 *
 * What is taken are *groups*: 64 KiB aligned neighbours, all resident, so that
 * a folio of 16 pages is one that a kernel could have swapped out. First they
 * are counted, then every n-th is read: the sample reaches over the whole heap.
 */
#include "procmem.h"

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUP_BYTES (16u * PAGE_BYTES)
/* Larger mappings are tables of sanitizers, empty but for some pages. */
#define MAX_RANGE_BYTES (UINT64_C(64) << 30)

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_OF_FILE (UINT64_C(1) << 61) /* or shared */

struct range {
	uint64_t start, end;
};

struct proc {
	int mem, pagemap; /* file descriptors; pagemap -1 when closed to us */
	size_t os_page;
	struct range *ranges;
	size_t nr_ranges;
	uint64_t *units; /* addresses of what can be taken, unit_bytes each */
	size_t nr_units, units_room;
	size_t unit_bytes;
	size_t resident; /* in PAGE_BYTES */
};

/* ---- mappings ---------------------------------------------------------- */

/* Heap, stack, named or nameless anonymous memory; not [vvar] and the like. */
static bool is_memory(const char *name)
{
	return !*name || !strcmp(name, "[heap]") ||
	       !strncmp(name, "[stack", 6) || !strncmp(name, "[anon:", 6);
}

static void add_range(struct proc *p, const char *line)
{
	unsigned long long start, end, inode;
	char perms[8];
	int name_at = 0;
	struct range r;

	if (sscanf(line, "%llx-%llx %7s %*s %*s %llu %n", &start, &end, perms,
		   &inode, &name_at) < 4)
		return;
	if (inode || strncmp(perms, "rw", 2) || perms[3] != 'p' ||
	    !is_memory(line + name_at) || end - start > MAX_RANGE_BYTES)
		return;
	r = (struct range){ start, end };
	p->ranges = bench_grow(p->ranges, p->nr_ranges + 1, sizeof(r));
	p->ranges[p->nr_ranges++] = r;
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

static int read_maps(struct proc *p, pid_t pid)
{
	FILE *file = open_maps(pid);
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return -errno;
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		add_range(p, line);
	}
	free(line);
	fclose(file);
	return 0;
}

/* ---- residence --------------------------------------------------------- */

static bool is_zero(const unsigned char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE_BYTES - 1);
}

static bool looks_used(const struct proc *p, uint64_t addr)
{
	unsigned char page[PAGE_BYTES];

	return pread(p->mem, page, sizeof(page), (off_t)addr) ==
		       (ssize_t)sizeof(page) &&
	       !is_zero(page);
}

/* How many pages of the group at @addr are resident: counted in ours. */
static size_t resident_in(const struct proc *p, uint64_t addr, bool *bits)
{
	size_t per_os = p->os_page / PAGE_BYTES, count = 0;
	uint64_t entries[GROUP_BYTES / PAGE_BYTES] = { 0 };
	size_t bytes = GROUP_BYTES / p->os_page * sizeof(*entries);
	off_t at = (off_t)(addr / p->os_page * sizeof(*entries));
	bool known = p->pagemap >= 0 && pread(p->pagemap, entries, bytes, at) ==
						(ssize_t)bytes;

	for (size_t i = 0; i < GROUP_BYTES / PAGE_BYTES; i++) {
		uint64_t entry = entries[i / per_os];

		if (known)
			bits[i] = (entry & PAGEMAP_PRESENT) &&
				  !(entry & PAGEMAP_OF_FILE);
		else
			bits[i] = looks_used(p, addr + i * PAGE_BYTES);
		count += bits[i];
	}
	return count;
}

static void add_unit(struct proc *p, uint64_t addr)
{
	if (p->nr_units == p->units_room) {
		p->units_room = p->units_room ? 2 * p->units_room : 1024;
		p->units = bench_grow(p->units, p->units_room,
				      sizeof(*p->units));
	}
	p->units[p->nr_units++] = addr;
}

static void add_single_pages(struct proc *p, const struct range *r,
			     uint64_t group, const bool *bits)
{
	for (size_t i = 0; i < GROUP_BYTES / PAGE_BYTES; i++) {
		uint64_t addr = group + i * PAGE_BYTES;

		if (bits[i] && addr >= r->start && addr < r->end)
			add_unit(p, addr);
	}
}

/* Lists the range's full groups, or its pages when units are single pages. */
static void scan_range(struct proc *p, const struct range *r)
{
	uint64_t mask = ~(uint64_t)(GROUP_BYTES - 1);
	bool bits[GROUP_BYTES / PAGE_BYTES];

	for (uint64_t at = r->start & mask; at < r->end; at += GROUP_BYTES) {
		size_t count = resident_in(p, at, bits);
		bool inside = at >= r->start && at + GROUP_BYTES <= r->end;

		if (p->unit_bytes == PAGE_BYTES)
			add_single_pages(p, r, at, bits);
		else if (inside && count == GROUP_BYTES / PAGE_BYTES)
			add_unit(p, at);
		if (inside)
			p->resident += count;
	}
}

static void scan(struct proc *p, size_t unit_bytes)
{
	p->unit_bytes = unit_bytes;
	p->nr_units = 0;
	p->resident = 0;
	for (size_t i = 0; i < p->nr_ranges; i++)
		scan_range(p, &p->ranges[i]);
	if (unit_bytes == PAGE_BYTES)
		p->resident = p->nr_units;
}

/* ---- reading ----------------------------------------------------------- */

/* Units that vanished since (the process runs on) are left out. */
static int copy_units(struct proc *p, size_t max_pages, struct corpus *c)
{
	size_t pages_each = p->unit_bytes / PAGE_BYTES;
	size_t wanted = max_pages / pages_each;
	int err = -ENODATA;

	if (!wanted)
		wanted = 1;
	if (wanted > p->nr_units)
		wanted = p->nr_units;
	if (!wanted)
		return err;
	corpus_room(c, wanted * pages_each);
	for (size_t i = 0; i < wanted; i++) {
		uint64_t addr = p->units[i * p->nr_units / wanted];
		ssize_t got = pread(p->mem, c->pages + c->nr_pages * PAGE_BYTES,
				    p->unit_bytes, (off_t)addr);

		if (got == (ssize_t)p->unit_bytes)
			c->nr_pages += pages_each;
		else if (got < 0)
			err = -errno;
	}
	if (c->nr_pages > max_pages)
		c->nr_pages = max_pages;
	corpus_trim(c);
	return c->nr_pages ? 0 : err;
}

static int open_proc(struct proc *p, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	p->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	p->mem = open(path, O_RDONLY | O_CLOEXEC);
	return p->mem < 0 ? -errno : 0;
}

static void close_proc(struct proc *p)
{
	if (p->mem >= 0)
		close(p->mem);
	if (p->pagemap >= 0)
		close(p->pagemap);
	free(p->ranges);
	free(p->units);
}

int procmem_read(pid_t pid, size_t max_pages, struct corpus *c,
		 size_t *resident)
{
	struct proc p = { .mem = -1, .pagemap = -1 };
	int err;

	*resident = 0;
	p.os_page = (size_t)sysconf(_SC_PAGESIZE);
	if (p.os_page < PAGE_BYTES || p.os_page > GROUP_BYTES)
		return -ENOTSUP;
	err = read_maps(&p, pid);
	if (!err)
		err = open_proc(&p, pid);
	if (!err) {
		scan(&p, GROUP_BYTES);
		if (!p.nr_units)
			scan(&p, PAGE_BYTES);
		*resident = p.resident;
		err = copy_units(&p, max_pages, c);
	}
	close_proc(&p);
	return err;
}

size_t procmem_anon_bytes(pid_t pid)
{
	unsigned long long resident, shared;
	char path[64];
	FILE *file;
	int got;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	got = fscanf(file, "%*s %llu %llu", &resident, &shared);
	fclose(file);
	if (got != 2 || shared > resident)
		return 0;
	return (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}
