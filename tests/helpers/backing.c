// SPDX-License-Identifier: MIT
/*
 * backing.c - where the memory behind the hooks of tests comes from
 */
#include "backing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

/* ---- from the system --------------------------------------------------- */

static void *system_alloc(void *ctx, size_t bytes, size_t align)
{
	void *addr = NULL;

	(void)ctx;
	CHECK(posix_memalign(&addr, align < 16 ? 16 : align, bytes) == 0);
	return addr;
}

static void system_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	(void)ctx, (void)bytes, (void)align;
	free(ptr);
}

/* Maps more than is needed and cuts off what is not aligned. */
static void *system_map(void *ctx, size_t bytes, size_t align)
{
	char *all = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	(void)ctx;
	CHECK(all != MAP_FAILED);
	before = (align - (uintptr_t)all % align) % align;
	if (before)
		munmap(all, before);
	munmap(all + before + bytes, align - before);
	return all + before;
}

static void system_unmap(void *ctx, void *addr, size_t bytes)
{
	(void)ctx;
	munmap(addr, bytes);
}

/* ---- from jemalloc ----------------------------------------------------- */

_Noreturn static void give_up(const char *what, const char *why)
{
	fprintf(stderr, "ZSWAP_TEST_HOOKS=%s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void jemalloc_init(struct backing *b)
{
	const char *why = jemalloc_hooks_init(&b->jemalloc);

	if (why)
		give_up("jemalloc", why);
	b->hooks = b->jemalloc.hooks;
	b->is_jemalloc = true;
}

static bool jemalloc_end(struct backing *b)
{
	struct jemalloc_held held = jemalloc_hooks_held(&b->jemalloc);
	bool good = jemalloc_hooks_end(&b->jemalloc);

	if (!good)
		fprintf(stderr,
			"jemalloc: %zu bytes of blocks and %zu of pages are "
			"left\n",
			held.block_bytes, held.page_bytes);
	return good;
}

/* ---- one of both ------------------------------------------------------- */

static bool wants_jemalloc(void)
{
	const char *what = getenv("ZSWAP_TEST_HOOKS");

	if (!what)
		return false;
	if (strcmp(what, "jemalloc") != 0)
		give_up(what, "nothing of that name");
	return true;
}

void backing_init(struct backing *b)
{
	memset(b, 0, sizeof(*b));
	if (wants_jemalloc()) {
		jemalloc_init(b);
		return;
	}
	b->hooks.size = sizeof(b->hooks);
	b->hooks.alloc = system_alloc;
	b->hooks.free = system_free;
	b->hooks.map = system_map;
	b->hooks.unmap = system_unmap;
}

bool backing_end(struct backing *b)
{
	return !b->is_jemalloc || jemalloc_end(b);
}

/* ---- of caches without hooks ------------------------------------------- */

static struct backing usual;

const struct zswap_hooks *usual_hooks(void)
{
	if (!wants_jemalloc())
		return NULL;
	if (!usual.is_jemalloc)
		backing_init(&usual);
	return &usual.hooks;
}

bool usual_hooks_end(void)
{
	bool good = backing_end(&usual);

	usual.is_jemalloc = false;
	return good;
}
