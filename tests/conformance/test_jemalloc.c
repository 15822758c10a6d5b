// SPDX-License-Identifier: MIT
/*
 * test_jemalloc.c - a cache whose memory comes from arenas of jemalloc
 *
 * Nothing stands between the cache and the arenas, as in an application. What
 * the arenas hold must agree with what the cache says, and be nothing when the
 * cache is gone. They say what they hold in jemalloc's size classes, of which
 * there are four to each doubling: a block takes less than a quarter more than
 * was asked for.
 */
#include "fixture.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jemalloc_hooks.h"

#define ROUNDS 4
#define CHUNK_PAGES 1024 /* in a mapping for pages */
#define MAX_CHUNKS 16

/* The arenas, and what passes between them and the cache. */
struct scene {
	struct fixture *f;
	struct jemalloc_hooks arenas;
	struct zswap_params params;
	size_t os_page;

	/* Of watch() alone. */
	size_t taken_bytes;       /* ever, in size classes */
	char *chunks[MAX_CHUNKS]; /* mappings that the cache has */
	bool gave_a_page;         /* a mapping of one system page came back */
	bool child_has_it;        /* what was written to it then */
};

/* Pages of 4 KiB need a second mapping; larger ones would take long to make. */
static uint32_t many_pages(const struct scene *s)
{
	return s->f->page_size == 4096 ? 4 * CHUNK_PAGES : CHUNK_PAGES / 8;
}

/* It outlives a case that fails, as the case's cache does. */
static struct scene *begin(struct fixture *f)
{
	static struct scene scene;
	struct scene *s = &scene;
	const char *why;

	memset(s, 0, sizeof(*s));
	why = jemalloc_hooks_init(&s->arenas);

	if (why)
		fail_msg("%s", why);
	s->f = f;
	s->os_page = (size_t)sysconf(_SC_PAGESIZE);
	s->params = f->params;
	s->params.hooks = &s->arenas.hooks;
	return s;
}

static void assert_nothing_held(const struct scene *s)
{
	struct jemalloc_held held = jemalloc_hooks_held(&s->arenas);

	assert_int_equal(held.block_bytes, 0);
	assert_int_equal(held.page_bytes, 0);
}

static void end(struct scene *s)
{
	assert_nothing_held(s);
	assert_true(jemalloc_hooks_end(&s->arenas));
}

/*
 * What a cache says it has is what the arenas gave. The page that tells a child
 * and the mappings' headers are metadata too, though they come by map.
 */
static void assert_accounts_agree(const struct scene *s)
{
	struct zswap_stats stats = stats_of(s->f->z);
	struct jemalloc_held held = jemalloc_hooks_held(&s->arenas);
	size_t chunk = CHUNK_PAGES * s->f->page_size;

	assert_true(held.page_bytes >= s->os_page);
	assert_int_equal((held.page_bytes - s->os_page) % chunk, 0);
	assert_true(stats.pool_total_size + s->os_page <= held.page_bytes);
	assert_true(stats.metadata_bytes + stats.pool_total_size <=
		    held.block_bytes + held.page_bytes);
	assert_true(held.block_bytes <=
		    stats.metadata_bytes + stats.metadata_bytes / 4);
}

static void store_many(const struct scene *s, uint64_t first, uint64_t seed)
{
	uint64_t i;

	for (i = 0; i < many_pages(s); i++)
		store_page(s->f, at(first + i), kind_of(seed + i), seed + i);
}

static void every_kind_of_page_comes_back_from_arenas(void **state)
{
	struct scene *s = begin(*state);
	uint32_t nr = many_pages(s);
	int round;

	begin_other(s->f, &s->params);
	for (round = 0; round < ROUNDS; round++) {
		store_many(s, (uint64_t)round * nr / 2, (uint64_t)round);
		assert_accounts_agree(s);
		assert_holds_pages(s->f, at((uint64_t)round * nr / 2), nr,
				   (uint64_t)round);
		zswap_invalidate(s->f->z, at((uint64_t)round * nr / 2), nr / 3);
		assert_accounts_agree(s);
	}
	destroy_other(s->f); /* with pages in it */
	end(s);
}

static void compressors_are_switched_in_arenas(void **state)
{
	const char *const *spec;
	struct scene *s = begin(*state);
	uint64_t first = 0, i;

	begin_other(s->f, &s->params);
	for (spec = builtin_specs(); *spec; spec++, first += 100) {
		assert_int_equal(zswap_set_compressor(s->f->z, *spec), 0);
		store_pages(s->f, at(first), 100, first);
		assert_accounts_agree(s);
	}
	assert_holds_pages(s->f, at(0), (uint32_t)first, 0);
	for (i = 0; i < first; i++)
		assert_int_equal(zswap_load(s->f->z, at(i), s->f->out), 0);
	wait_for_pools(s->f->z, 1);
	end_other(s->f);
	end(s);
}

static void caches_come_and_go_in_the_same_arenas(void **state)
{
	struct scene *s = begin(*state);
	uint64_t i;

	for (i = 0; i < 50; i++) {
		begin_other(s->f, &s->params);
		store_pages(s->f, at(i), (uint32_t)i + 1, i);
		assert_holds_pages(s->f, at(i), (uint32_t)i + 1, i);
		destroy_other(s->f); /* likewise */
		assert_nothing_held(s);
	}
	end(s);
}

/* ---- nothing comes from elsewhere -------------------------------------- */

static void *watch_alloc(void *ctx, size_t bytes, size_t align)
{
	struct scene *s = ctx;
	void *ptr = s->arenas.hooks.alloc(&s->arenas, bytes, align);

	s->taken_bytes += malloc_usable_size(ptr);
	return ptr;
}

static void watch_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	struct scene *s = ctx;

	s->arenas.hooks.free(&s->arenas, ptr, bytes, align);
}

/* Puts a mapping in the place of another; NULL is none. */
static void replace_chunk(struct scene *s, char *old, char *chunk)
{
	int i = 0;

	while (s->chunks[i] != old)
		if (++i == MAX_CHUNKS)
			abort();
	s->chunks[i] = chunk;
}

static void *watch_map(void *ctx, size_t bytes, size_t align)
{
	struct scene *s = ctx;
	void *addr = s->arenas.hooks.map(&s->arenas, bytes, align);

	s->taken_bytes += malloc_usable_size(addr);
	if (bytes > s->os_page)
		replace_chunk(s, NULL, addr);
	return addr;
}

#define MARK 0x5a

static int find_marks(void *arg)
{
	const unsigned char *page = arg;
	long i;

	for (i = 0; i < sysconf(_SC_PAGESIZE); i++)
		CHILD_EXPECT(page[i] == MARK);
	return 0;
}

/* The page that told a child will be used for something else: can it? */
static void watch_unmap(void *ctx, void *addr, size_t bytes)
{
	struct scene *s = ctx;

	if (bytes == s->os_page) {
		s->gave_a_page = true;
		memset(addr, MARK, bytes);
		s->child_has_it = run_child(find_marks, addr) == 0;
	} else {
		replace_chunk(s, addr, NULL);
	}
	s->arenas.hooks.unmap(&s->arenas, addr, bytes);
}

/* The arenas' hooks, seen by the scene. */
static struct zswap_hooks watch(struct scene *s)
{
	struct zswap_hooks hooks = s->arenas.hooks;

	hooks.ctx = s;
	hooks.alloc = watch_alloc;
	hooks.free = watch_free;
	hooks.map = watch_map;
	hooks.unmap = watch_unmap;
	return hooks;
}

static uint64_t ask(const struct scene *s, const char *what)
{
	uint64_t value = 0;
	size_t len = sizeof(value);

	assert_int_equal(
		s->arenas.mallctl("epoch", NULL, NULL, &(uint64_t){ 1 }, 8), 0);
	assert_int_equal(s->arenas.mallctl(what, &value, &len, NULL, 0), 0);
	return value;
}

/* A size in kB that /proc/self/status tells, in bytes; takes no memory. */
static size_t status_bytes(const char *what)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, text, sizeof(text) - 1);
	const char *line;

	close(fd);
	assert_true(len > 0);
	text[len] = '\0';
	line = strstr(text, what);
	assert_non_null(line);
	return strtoul(line + strlen(what), NULL, 10) * 1024;
}

/* Bytes of address space, but for the stack, which grows by itself. */
static size_t address_space(void)
{
	return status_bytes("\nVmSize:") - status_bytes("\nVmStk:");
}

/* Of that, what jemalloc has from the system. */
static size_t jemallocs_space(const struct scene *s)
{
	return ask(s, "stats.mapped") + ask(s, "stats.retained");
}

static void all_memory_comes_from_the_arenas(void **state)
{
	struct scene *s = begin(*state);
	struct zswap_hooks hooks;
	uint64_t malloced;
	size_t elsewhere;

	hooks = watch(s);
	s->params.hooks = &hooks;
	elsewhere = address_space() - jemallocs_space(s);
	malloced = ask(s, "thread.allocated");
	begin_other(s->f, &s->params);
	assert_int_equal(jemalloc_hooks_held(&s->arenas).page_bytes,
			 s->os_page);
	store_many(s, 0, 0);
	assert_holds_pages(s->f, at(0), many_pages(s), 0);
	zswap_invalidate(s->f->z, at(0), many_pages(s) / 2);
	assert_int_equal(ask(s, "thread.allocated"), malloced + s->taken_bytes);
	assert_int_equal(address_space() - jemallocs_space(s), elsewhere);
	end_other(s->f);
	end(s);
}

static size_t resident_bytes(const struct scene *s)
{
	size_t bytes = CHUNK_PAGES * s->f->page_size, nr = bytes / s->os_page;
	unsigned char *resident = malloc(nr);
	size_t found = 0, i, k;

	assert_non_null(resident);
	for (i = 0; i < MAX_CHUNKS; i++) {
		if (!s->chunks[i])
			continue;
		assert_int_equal(mincore(s->chunks[i], bytes, resident), 0);
		for (k = 0; k < nr; k++)
			found += (resident[k] & 1) * s->os_page;
	}
	free(resident);
	return found;
}

static void assert_only_what_is_held_is_resident(const struct scene *s)
{
	struct zswap_stats stats = stats_of(s->f->z);

	assert_true(resident_bytes(s) <=
		    stats.pool_total_size + stats.metadata_bytes);
}

static void what_is_purged_goes_back_to_the_system(void **state)
{
	struct scene *s = begin(*state);
	struct zswap_hooks hooks;
	size_t stored;

	hooks = watch(s);
	s->params.hooks = &hooks;
	begin_other(s->f, &s->params);
	store_many(s, 0, 0);
	assert_only_what_is_held_is_resident(s);
	stored = resident_bytes(s);
	zswap_invalidate(s->f->z, at(0), many_pages(s) - 1);
	assert_only_what_is_held_is_resident(s);
	assert_true(resident_bytes(s) < stored / 4);
	end_other(s->f);
	end(s);
}

/* ---- children ---------------------------------------------------------- */

static size_t parents_space;

/* The page that tells a child is in memory of jemalloc, and is wiped there. */
static int find_nothing_but_what_tells(void *arg)
{
	struct scene *s = arg;
	struct jemalloc_held held = jemalloc_hooks_held(&s->arenas);

	CHILD_EXPECT(zswap_query(s->f->z, at(0)) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_peek(s->f->z, at(0), s->f->out) == -EOWNERDEAD);
	CHILD_EXPECT(held.page_bytes > CHUNK_PAGES * s->f->page_size);
	CHILD_EXPECT(address_space() ==
		     parents_space - (held.page_bytes - s->os_page));
	return 0;
}

static void children_have_arenas_without_the_pages(void **state)
{
	struct scene *s = begin(*state);

	begin_other(s->f, &s->params);
	store_many(s, 0, 0);
	parents_space = address_space();
	assert_good_child(find_nothing_but_what_tells, s);
	assert_holds_pages(s->f, at(0), many_pages(s), 0);
	end_other(s->f);
	end(s);
}

static int use_the_same_arenas(void *arg)
{
	struct scene *s = arg;
	int line = use_an_own_cache(s->f, &s->params);

	return line ? line : use_an_own_cache(s->f, &s->params);
}

/* Beside the parent's cache, and where one was: its memory is used again. */
static void children_may_use_the_same_arenas(void **state)
{
	struct scene *s = begin(*state);

	begin_other(s->f, &s->params);
	store_many(s, 0, 0);
	assert_good_child(use_the_same_arenas, s);
	assert_holds_pages(s->f, at(0), many_pages(s), 0);
	end_other(s->f);
	assert_good_child(use_the_same_arenas, s);
	end(s);
}

static void the_page_that_tells_comes_back_fit_for_use(void **state)
{
	struct scene *s = begin(*state);
	struct zswap_hooks hooks;

	hooks = watch(s);
	s->params.hooks = &hooks;
	begin_other(s->f, &s->params);
	end_other(s->f);
	assert_true(s->gave_a_page);
	assert_true(s->child_has_it);
	end(s);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(every_kind_of_page_comes_back_from_arenas),
		CASE(compressors_are_switched_in_arenas),
		CASE(caches_come_and_go_in_the_same_arenas),
		CASE(all_memory_comes_from_the_arenas),
		CASE(what_is_purged_goes_back_to_the_system),
		CASE(children_have_arenas_without_the_pages),
		CASE(children_may_use_the_same_arenas),
		CASE(the_page_that_tells_comes_back_fit_for_use),
	};

	return run_variants("jemalloc", cases,
			    sizeof(cases) / sizeof(cases[0]));
}
