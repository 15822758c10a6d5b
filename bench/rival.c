// SPDX-License-Identifier: MIT
/*
 * rival.c - other allocators, each loaded as a library of its own
 *
 * A symbol is looked up in the library's own handle, so that it is the
 * library's own, whatever else is called malloc in this process.
 */
#include "rival.h"

#include "bench.h"

#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- room for their thread-local memory -------------------------------- */

/*
 * jemalloc wants some kilobytes at a fixed distance from the thread's pointer.
 * glibc leaves 512 bytes for that, unless a process begins with another wish.
 */
#define TUNABLE "glibc.rtld.optional_static_tls"
#define TUNABLE_BYTES "16384"

void rivals_prepare(char **argv)
{
	const char *now = getenv("GLIBC_TUNABLES");
	char *wish, path[PATH_MAX];
	ssize_t len;

	if (now && strstr(now, TUNABLE))
		return;
	wish = bench_format("%s%s" TUNABLE "=" TUNABLE_BYTES, now ? now : "",
			    now && *now ? ":" : "");
	setenv("GLIBC_TUNABLES", wish, 1);
	free(wish);
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len < 0)
		return;
	path[len] = '\0';
	execv(path, argv);
	/* Failed: then one that finds no room is left out, and that is said. */
}

/* ---- glibc ------------------------------------------------------------- */

/* What malloc_trim() gives back from within the heap is not taken off. */
static size_t glibc_held(const struct rival *r)
{
	struct mallinfo2 info = r->mallinfo2();

	return info.arena + info.hblkhd - r->others;
}

/* What is free in its heap, others have only left to it. */
static size_t glibc_used(const struct rival *r)
{
	struct mallinfo2 info = r->mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void glibc_trim(const struct rival *r)
{
	r->malloc_trim(0);
}

/* ---- jemalloc ---------------------------------------------------------- */

static size_t jemalloc_held(const struct rival *r)
{
	uint64_t epoch = 1; /* counts are of the moment this is written */
	size_t bytes = 0, len = sizeof(bytes);

	r->mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
	r->mallctl("stats.resident", &bytes, &len, NULL, 0);
	return bytes - r->others;
}

/* 4096 stands for all arenas (MALLCTL_ARENAS_ALL). */
static void jemalloc_trim(const struct rival *r)
{
	r->mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
	r->mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}

/* ---- mimalloc ---------------------------------------------------------- */

static void mimalloc_trim(const struct rival *r)
{
	r->mi_collect(true);
}

/* ---- loading ----------------------------------------------------------- */

static const struct {
	struct rival rival;
	const char *file, *malloc, *free;
} all[NR_RIVALS] = {
	[GLIBC] = { { .name = "glibc", .held = glibc_held, .trim = glibc_trim },
		    "libc.so.6",
		    "malloc",
		    "free" },
	[JEMALLOC] = { { .name = "jemalloc",
			 .held = jemalloc_held,
			 .trim = jemalloc_trim },
		       "libjemalloc.so.2",
		       "malloc",
		       "free" },
	[MIMALLOC] = { { .name = "mimalloc", .trim = mimalloc_trim },
		       "libmimalloc.so.2",
		       "mi_malloc",
		       "mi_free" },
};

const char *rival_name(unsigned which)
{
	return all[which].rival.name;
}

/* Looks a function up; a pointer to it is no void pointer in C. */
static bool find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

static bool find_own(struct rival *r, unsigned which, void *library)
{
	switch (which) {
	case GLIBC:
		return find(library, "mallinfo2", &r->mallinfo2) &&
		       find(library, "malloc_trim", &r->malloc_trim);
	case JEMALLOC:
		return find(library, "mallctl", &r->mallctl);
	default:
		return find(library, "mi_collect", &r->mi_collect);
	}
}

/* jemalloc and mimalloc come fresh: what they have is for themselves. */
static size_t others_now(const struct rival *r, unsigned which)
{
	if (which == GLIBC)
		return glibc_used(r);
	return r->held ? r->held(r) : 0;
}

const char *rival_load(struct rival *r, unsigned which)
{
	void *library = dlopen(all[which].file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return dlerror();
	*r = all[which].rival;
	if (!find(library, all[which].malloc, &r->malloc) ||
	    !find(library, all[which].free, &r->free) ||
	    !find_own(r, which, library))
		return dlerror();
	r->others = others_now(r, which);
	return NULL;
}
