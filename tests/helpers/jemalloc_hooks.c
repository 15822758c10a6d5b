// SPDX-License-Identifier: MIT
/*
 * jemalloc_hooks.c - hooks that are served from arenas of jemalloc
 *
 * Every call names its arena and goes past the caches of the threads: what is
 * given back is back at once, and no thread keeps any of it when it ends.
 *
 * Blocks and pages have an arena each, because the kernel is told things about
 * the memory of pages that other memory must not suffer from. They can't all be
 * taken back: nothing undoes MADV_NOHUGEPAGE (MADV_HUGEPAGE asks for the
 * opposite). It need not be: what an arena has had it keeps for itself, and
 * when it ends its mappings end with it.
 */
#include "jemalloc_hooks.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#ifdef HAVE_JEMALLOC
#include <jemalloc/jemalloc.h>
static const bool have_header = true;
#else
/* jemalloc_hooks_init() refuses: nobody uses them. */
#define MALLOCX_ARENA(arena) ((int)(arena))
#define MALLOCX_ALIGN(align) ((int)(align))
#define MALLOCX_TCACHE_NONE 0
#define MALLOCX_ZERO 0
static const bool have_header = false;
#endif

static int flags_of(unsigned arena, size_t align)
{
	return MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE |
	       MALLOCX_ALIGN(align);
}

/* ---- the hooks --------------------------------------------------------- */

static void *hook_alloc(void *ctx, size_t bytes, size_t align)
{
	struct jemalloc_hooks *j = ctx;

	return j->mallocx(bytes, flags_of(j->blocks, align));
}

static void hook_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	struct jemalloc_hooks *j = ctx;

	j->sdallocx(ptr, bytes, flags_of(j->blocks, align));
}

/*
 * Out of huge pages, because parts are given back. Out of children, so that a
 * fork copies no page tables for it.
 */
static void *hook_map(void *ctx, size_t bytes, size_t align)
{
	struct jemalloc_hooks *j = ctx;
	void *addr =
		j->mallocx(bytes, flags_of(j->pages, align) | MALLOCX_ZERO);

	if (addr) {
		madvise(addr, bytes, MADV_NOHUGEPAGE);
		madvise(addr, bytes, MADV_DONTFORK);
	}
	return addr;
}

/*
 * A child has a copy of the arenas, and may make a cache with these hooks: what
 * is free in them must be there. Memory that can't be put right (there may be
 * no room for another mapping's record) must not go back; it is then missing
 * until jemalloc_hooks_end(), which tells.
 */
static void hook_unmap(void *ctx, void *addr, size_t bytes)
{
	struct jemalloc_hooks *j = ctx;

	if (!madvise(addr, bytes, MADV_DOFORK))
		j->dallocx(addr, MALLOCX_TCACHE_NONE);
}

/*
 * This is safe because: 1. jemalloc's memory is private and anonymous, so that
 * its next reader finds zeros, no other's data. 2. Until it is given back all
 * of it is the cache's: jemalloc keeps nothing of its own inside an allocation.
 * 3. Nor does it rely on what it finds there when that comes back.
 */
static int hook_purge(void *ctx, void *addr, size_t bytes)
{
	(void)ctx;
	return madvise(addr, bytes, MADV_DONTNEED);
}

/* ---- arenas ------------------------------------------------------------ */

/* Does something to an arena that neither takes nor gives a value. */
static void tell_arena(const struct jemalloc_hooks *j, unsigned arena,
		       const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "arena.%u.%s", arena, what);
	j->mallctl(name, NULL, NULL, NULL, 0);
}

static bool make_arena(const struct jemalloc_hooks *j, unsigned *arena)
{
	size_t len = sizeof(*arena);

	return !j->mallctl("arenas.create", arena, &len, NULL, 0);
}

/* What can't be read counts as something left. */
static size_t count(const struct jemalloc_hooks *j, unsigned arena,
		    const char *what)
{
	size_t bytes, len = sizeof(bytes);
	char name[64];

	snprintf(name, sizeof(name), "stats.arenas.%u.%s.allocated", arena,
		 what);
	return j->mallctl(name, &bytes, &len, NULL, 0) ? SIZE_MAX / 4 : bytes;
}

static size_t held_in(const struct jemalloc_hooks *j, unsigned arena)
{
	return count(j, arena, "small") + count(j, arena, "large");
}

struct jemalloc_held jemalloc_hooks_held(const struct jemalloc_hooks *j)
{
	uint64_t epoch = 1; /* counts are of the moment this is written */
	struct jemalloc_held held;

	j->mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
	held.block_bytes = held_in(j, j->blocks);
	held.page_bytes = held_in(j, j->pages);
	return held;
}

void jemalloc_hooks_trim(const struct jemalloc_hooks *j)
{
	tell_arena(j, j->blocks, "purge");
	tell_arena(j, j->pages, "purge");
}

/* ---- the whole --------------------------------------------------------- */

/* Looks a function up; a pointer to it is no void pointer in C. */
static bool find(const char *name, void *function)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

static bool has_counts(const struct jemalloc_hooks *j)
{
	bool has = false;
	size_t len = sizeof(has);

	return !j->mallctl("config.stats", &has, &len, NULL, 0) && has;
}

const char *jemalloc_hooks_init(struct jemalloc_hooks *j)
{
	memset(j, 0, sizeof(*j));
	if (!have_header)
		return "this was built without jemalloc's header";
	if (!find("mallocx", &j->mallocx) || !find("sdallocx", &j->sdallocx) ||
	    !find("dallocx", &j->dallocx) || !find("mallctl", &j->mallctl))
		return "jemalloc is not in this process; "
		       "start it with LD_PRELOAD=libjemalloc.so.2";
	if (!has_counts(j))
		return "this jemalloc was built without statistics";
	if (!make_arena(j, &j->blocks))
		return "jemalloc has no arena left";
	if (!make_arena(j, &j->pages)) {
		tell_arena(j, j->blocks, "destroy");
		return "jemalloc has no arena left";
	}
	j->hooks = (struct zswap_hooks){
		.size = sizeof(j->hooks),
		.ctx = j,
		.alloc = hook_alloc,
		.free = hook_free,
		.map = hook_map,
		.unmap = hook_unmap,
		.purge = hook_purge,
	};
	return NULL;
}

bool jemalloc_hooks_end(struct jemalloc_hooks *j)
{
	struct jemalloc_held held = jemalloc_hooks_held(j);

	tell_arena(j, j->blocks, "destroy");
	tell_arena(j, j->pages, "destroy");
	return !held.block_bytes && !held.page_bytes;
}

const char *jemalloc_hooks_version(const struct jemalloc_hooks *j)
{
	const char *version = "";
	size_t len = sizeof(version);

	j->mallctl("version", &version, &len, NULL, 0);
	return version;
}
