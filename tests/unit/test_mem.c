// SPDX-License-Identifier: MIT
/*
 * test_mem.c - hooks are used as their header says; slabs keep their objects
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "random.h"
#include "threads.h"
#include "watchdog.h"

/* More than two slabs of the objects used here. */
#define MANY 1000
#define OBJECT_BYTES 48

/* ---- hooks --------------------------------------------------------------- */

static int init_with(struct zswap_hooks hooks)
{
	struct mem mem;
	int err = mem_init(&mem, &hooks);

	if (!err)
		mem_exit(&mem);
	return err;
}

static void half_a_pair_of_hooks_is_refused(void **state)
{
	struct unit *u = *state;
	struct zswap_hooks good = u->hooks.hooks, bad;

	assert_int_equal(init_with(good), 0);
	bad = good;
	bad.alloc = NULL;
	assert_int_equal(init_with(bad), -EINVAL);
	bad = good;
	bad.free = NULL;
	assert_int_equal(init_with(bad), -EINVAL);
	bad = good;
	bad.map = NULL;
	assert_int_equal(init_with(bad), -EINVAL);
	bad = good;
	bad.unmap = NULL;
	assert_int_equal(init_with(bad), -EINVAL);
	bad = good;
	bad.size = sizeof(bad) - 1;
	assert_int_equal(init_with(bad), -EINVAL);
}

static void whole_pairs_may_be_left_out(void **state)
{
	struct unit *u = *state;
	struct zswap_hooks some = u->hooks.hooks;

	some.alloc = NULL;
	some.free = NULL;
	assert_int_equal(init_with(some), 0);
	some = u->hooks.hooks;
	some.map = NULL;
	some.unmap = NULL;
	some.purge = NULL;
	assert_int_equal(init_with(some), 0);
	some = u->hooks.hooks;
	some.purge = NULL;
	some.size += 8; /* a caller from the future */
	assert_int_equal(init_with(some), 0);
}

static void no_memory_for_the_owner_page_is_reported(void **state)
{
	struct unit *u = *state;
	struct mem mem;

	faulty_fail_nth(&u->hooks, FAULTY_ANY, 1);
	assert_int_equal(mem_init(&mem, &u->hooks.hooks), -ENOMEM);
	faulty_fail_none(&u->hooks);
}

static void metadata_is_counted_by_the_byte(void **state)
{
	struct unit *u = *state;
	size_t before = metadata_bytes(u);
	char *a = mem_alloc(&u->mem, 13, 1);
	char *b = mem_zalloc(&u->mem, 1000, 64);

	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(metadata_bytes(u), before + 1013);
	assert_int_equal(u->hooks.alloc_bytes, 1013);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(b[i], 0);
	mem_free(&u->mem, a, 13, 1);
	assert_int_equal(metadata_bytes(u), before + 1000);
	mem_free(&u->mem, b, 1000, 64);
	mem_free(&u->mem, NULL, 77, 64); /* nothing at all */
	assert_int_equal(metadata_bytes(u), before);
}

static void failing_hooks_count_nothing_and_leave_errno_alone(void **state)
{
	struct unit *u = *state;
	size_t before = metadata_bytes(u);

	faulty_fail_from(&u->hooks, FAULTY_ANY, 1);
	errno = EDOM;
	assert_null(mem_alloc(&u->mem, 100, 16));
	assert_null(mem_zalloc(&u->mem, 100, 16));
	assert_null(mem_map(&u->mem, u->mem.os_page, u->mem.os_page));
	assert_int_equal(errno, EDOM);
	assert_int_equal(faulty_fail_none(&u->hooks), 3);
	assert_int_equal(metadata_bytes(u), before);
}

/* They disturb it also where they do not fail. */
static void hooks_that_work_leave_errno_alone(void **state)
{
	struct unit *u = *state;
	void *map, *block;

	errno = EDOM;
	map = mem_map(&u->mem, u->mem.os_page, u->mem.os_page);
	assert_int_equal(errno, EDOM);
	assert_int_equal(mem_purge(&u->mem, map, u->mem.os_page), 0);
	assert_int_equal(errno, EDOM);
	mem_unmap(&u->mem, map, u->mem.os_page);
	assert_int_equal(errno, EDOM);
	block = mem_zalloc(&u->mem, 100, 16);
	assert_int_equal(errno, EDOM);
	mem_free(&u->mem, block, 100, 16);
	assert_int_equal(errno, EDOM);
}

static void mappings_are_not_metadata(void **state)
{
	struct unit *u = *state;
	size_t before = metadata_bytes(u), bytes = 16 * u->mem.os_page;
	char *map = mem_map(&u->mem, bytes, bytes);

	assert_non_null(map);
	assert_int_equal((uintptr_t)map % bytes, 0);
	assert_int_equal(metadata_bytes(u), before);
	assert_true(mem_can_purge(&u->mem));
	assert_int_equal(mem_purge(&u->mem, map, bytes), 0);
	u->hooks.purge_fails = true;
	assert_int_not_equal(mem_purge(&u->mem, map, bytes), 0);
	mem_unmap(&u->mem, map, bytes);
}

/* ---- the default hooks --------------------------------------------------- */

static void default_blocks_are_aligned(void **state)
{
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	for (size_t align = 1; align <= 16384; align *= 2) {
		void *ptr = mem_zalloc(&mem, align + 1, align);

		assert_non_null(ptr);
		assert_int_equal((uintptr_t)ptr % align, 0);
		mem_free(&mem, ptr, align + 1, align);
	}
	mem_exit(&mem);
	assert_int_equal(atomic_load(&mem.metadata_bytes), 0);
}

static void default_mappings_are_aligned_and_purged_to_zeros(void **state)
{
	const size_t sizes[] = { 4096, 65536, 4u << 20 };
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *map = mem_map(&mem, sizes[i], sizes[i]);

		assert_non_null(map);
		assert_int_equal((uintptr_t)map % sizes[i], 0);
		assert_int_equal(map[0] | map[sizes[i] - 1], 0);
		map[0] = map[sizes[i] - 1] = 1;
		assert_int_equal(mem_purge(&mem, map, sizes[i]), 0);
		assert_int_equal(map[0] | map[sizes[i] - 1], 0);
		mem_unmap(&mem, map, sizes[i]);
	}
	assert_null(mem_map(&mem, SIZE_MAX - 4096, 4096));
	mem_exit(&mem);
}

static void read_byte(void *arg)
{
	volatile const char *at = arg;

	(void)*at;
}

static void default_mappings_are_kept_out_of_children(void **state)
{
	struct mem mem;
	char *map;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	map = mem_map(&mem, 65536, 65536);
	assert_non_null(map);
	map[0] = 1;
	assert_false(unit_dies(read_byte, &mem));
	assert_true(unit_dies(read_byte, map));
	assert_int_equal(map[0], 1);
	mem_unmap(&mem, map, 65536);
	mem_exit(&mem);
}

/* Bytes of this process's address space. */
static size_t address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* With something between them, so that they are seldom aligned by chance. */
static void default_mappings_leave_nothing_around_them(void **state)
{
	const size_t bytes = 4u << 20;
	char *maps[100], *between[ARRAY_SIZE(maps)];
	struct mem mem;
	size_t before;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	before = address_space();
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		maps[i] = mem_map(&mem, bytes, bytes);
		between[i] = mem_map(&mem, mem.os_page, mem.os_page);
		assert_true(maps[i] && between[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		mem_unmap(&mem, maps[i], bytes);
		mem_unmap(&mem, between[i], mem.os_page);
	}
	/* The rest of the process may have grown, but not by so much. */
	assert_true(address_space() < before + ARRAY_SIZE(maps) / 4 * bytes);
	mem_exit(&mem);
}

/* What the kernel was asked for, by the number of the advice. */
static struct {
	_Atomic unsigned calls[128];
	int fails; /* this advice does */
	void *addr;
	size_t bytes;
} advice_given;

/* In place of the C library's. */
int madvise(void *addr, size_t bytes, int advice)
{
	atomic_fetch_add(&advice_given.calls[advice], 1);
	advice_given.addr = addr;
	advice_given.bytes = bytes;
	if (advice == advice_given.fails) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_madvise, addr, bytes, advice);
}

static unsigned calls_with(int advice)
{
	return atomic_load(&advice_given.calls[advice]);
}

/* A mapping with these flags, and which advice it was given. */
static void assert_advice(unsigned flags, unsigned huge, unsigned no_dump)
{
	const size_t bytes = 4u << 20;
	unsigned before[3] = { calls_with(MADV_HUGEPAGE),
			       calls_with(MADV_NOHUGEPAGE),
			       calls_with(MADV_DONTDUMP) };
	struct mem mem;
	char *map;

	assert_int_equal(mem_init(&mem, NULL), 0);
	before[1] = calls_with(MADV_NOHUGEPAGE); /* the owner page is one too */
	mem.memory_flags = flags;
	map = mem_map(&mem, bytes, bytes);
	assert_non_null(map);
	assert_int_equal(calls_with(MADV_HUGEPAGE), before[0] + huge);
	assert_int_equal(calls_with(MADV_NOHUGEPAGE), before[1] + !huge);
	assert_int_equal(calls_with(MADV_DONTDUMP), before[2] + no_dump);
	/* The last advice was for all of it. */
	assert_ptr_equal(advice_given.addr, map);
	assert_int_equal(advice_given.bytes, bytes);
	mem_unmap(&mem, map, bytes);
	mem_exit(&mem);
}

static void default_mappings_are_kept_out_of_huge_pages(void **state)
{
	(void)state;
	assert_advice(0, 0, 0);
	assert_advice(ZSWAP_MEM_WIPE, 0, 0);
}

static void default_mappings_have_what_the_flags_ask_for(void **state)
{
	(void)state;
	assert_advice(ZSWAP_MEM_HUGE_PAGES, 1, 0);
	assert_advice(ZSWAP_MEM_NO_DUMP, 0, 1);
	assert_advice(ZSWAP_MEM_HUGE_PAGES | ZSWAP_MEM_NO_DUMP, 1, 1);
}

/* Huge pages are a matter of speed, and dumps one of secrets. */
static void a_mapping_that_would_be_dumped_is_refused(void **state)
{
	struct mem mem;
	size_t before;
	void *map;

	(void)state;
	assert_int_equal(mem_init(&mem, NULL), 0);
	mem.memory_flags = ZSWAP_MEM_HUGE_PAGES | ZSWAP_MEM_NO_DUMP;
	advice_given.fails = MADV_DONTDUMP;
	before = address_space();
	errno = EDOM;
	for (unsigned i = 0; i < 100; i++)
		assert_null(mem_map(&mem, 4u << 20, 4u << 20));
	assert_int_equal(errno, EDOM);
	assert_true(address_space() < before + (50u << 20));
	advice_given.fails = MADV_HUGEPAGE;
	map = mem_map(&mem, 4u << 20, 4u << 20);
	assert_non_null(map);
	assert_int_equal(errno, EDOM);
	advice_given.fails = -1;
	mem_unmap(&mem, map, 4u << 20);
	mem_exit(&mem);
}

/* A hook that advises nothing itself. */
static void *map_plainly(void *ctx, size_t bytes, size_t align)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)ctx, (void)align;
	return map == MAP_FAILED ? NULL : map;
}

static void unmap_plainly(void *ctx, void *addr, size_t bytes)
{
	(void)ctx;
	munmap(addr, bytes);
}

static void mappings_of_a_hook_are_given_no_advice(void **state)
{
	const struct zswap_hooks hooks = { .size = sizeof(hooks),
					   .map = map_plainly,
					   .unmap = unmap_plainly };
	unsigned huge = calls_with(MADV_HUGEPAGE);
	unsigned no_huge = calls_with(MADV_NOHUGEPAGE);
	unsigned no_dump = calls_with(MADV_DONTDUMP);
	struct mem mem;

	(void)state;
	assert_int_equal(mem_init(&mem, &hooks), 0);
	for (unsigned flags = 0; flags < 4; flags++) {
		void *map;

		mem.memory_flags = flags;
		map = mem_map(&mem, mem.os_page, mem.os_page);
		assert_non_null(map);
		mem_unmap(&mem, map, mem.os_page);
	}
	mem_exit(&mem);
	assert_int_equal(calls_with(MADV_HUGEPAGE), huge);
	assert_int_equal(calls_with(MADV_NOHUGEPAGE), no_huge);
	assert_int_equal(calls_with(MADV_DONTDUMP), no_dump);
}

/* ---- the owner ----------------------------------------------------------- */

static void abort_unless_stranger(void *arg)
{
	if (mem_is_owner(arg))
		abort();
}

static void a_child_is_not_the_owner(void **state)
{
	struct unit *u = *state;
	_Atomic uint32_t *page = u->mem.owner_page;
	struct mem mem;

	assert_int_equal(mem_init(&mem, NULL), 0);
	assert_true(mem_is_owner(&mem));
	assert_false(unit_dies(abort_unless_stranger, &mem));
	mem_exit(&mem);
	/* With mappings of the caller's own, and by getpid(). */
	assert_true(mem_is_owner(&u->mem));
	assert_false(unit_dies(abort_unless_stranger, &u->mem));
	u->mem.owner_page = NULL;
	assert_true(mem_is_owner(&u->mem));
	assert_false(unit_dies(abort_unless_stranger, &u->mem));
	u->mem.owner_page = page;
	assert_true(mem_is_owner(&u->mem));
}

/* Hooks of somebody who lends a page, and has other uses for it later. */
static void *lend_page(void *page, size_t bytes, size_t align)
{
	(void)bytes, (void)align;
	return page;
}

static void take_page_back(void *page, void *addr, size_t bytes)
{
	(void)page, (void)addr, (void)bytes;
}

static void abort_if_wiped(void *page)
{
	if (!*(char *)page)
		abort();
}

static void a_page_given_back_is_wiped_in_no_child(void **state)
{
	struct unit *u = *state;
	char *page = mem_map(&u->mem, u->os_page, u->os_page);
	const struct zswap_hooks hooks = { .size = sizeof(hooks),
					   .ctx = page,
					   .map = lend_page,
					   .unmap = take_page_back };
	struct mem mem;

	assert_non_null(page);
	assert_int_equal(mem_init(&mem, &hooks), 0);
	mem_exit(&mem);
	page[0] = 1;
	assert_false(unit_dies(abort_if_wiped, page));
	mem_unmap(&u->mem, page, u->os_page);
}

/* ---- slabs --------------------------------------------------------------- */

static size_t nr_slabs(struct unit *u)
{
	return u->hooks.alloc_bytes / SLAB_BYTES;
}

static void objects_of_every_size_keep_their_bytes(void **state)
{
	struct unit *u = *state;

	for (size_t bytes = 16; bytes <= 1024; bytes += 16) {
		size_t n = 2 * SLAB_BYTES / bytes;
		struct slab_cache cache;
		unsigned char *objects[2048];

		slab_cache_init(&cache, &u->mem, bytes);
		assert_int_equal(
			slab_alloc_bulk(&cache, (unsigned)n, (void **)objects),
			0);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal((uintptr_t)objects[i] % 16, 0);
			memset(objects[i], (int)(i & 0xff), bytes);
		}
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < bytes; j++)
				assert_int_equal(objects[i][j], i & 0xff);
		assert_int_equal(slab_nr_objects(&cache), n);
		assert_true(slab_cache_check(&cache));
		for (size_t i = 0; i < n; i++)
			slab_free(&cache, objects[i]);
		assert_int_equal(slab_nr_objects(&cache), 0);
		assert_true(slab_cache_check(&cache));
		slab_cache_exit(&cache);
		assert_int_equal(u->hooks.alloc_bytes, 0);
	}
}

static void the_object_freed_last_is_handed_out_first(void **state)
{
	struct unit *u = *state;
	struct slab_cache cache;
	void *a, *b;

	slab_cache_init(&cache, &u->mem, OBJECT_BYTES);
	a = slab_alloc(&cache);
	b = slab_alloc(&cache);
	slab_free(&cache, a);
	slab_free(&cache, b);
	assert_ptr_equal(slab_alloc(&cache), b);
	assert_ptr_equal(slab_alloc(&cache), a);
	slab_cache_exit(&cache);
}

static void a_bulk_is_all_or_nothing(void **state)
{
	struct unit *u = *state;
	struct slab_cache cache;
	void *out[MANY], *one;
	uint64_t k, failed = 1;

	slab_cache_init(&cache, &u->mem, OBJECT_BYTES);
	one = slab_alloc(&cache);
	assert_non_null(one);
	for (k = 1; failed; k++) {
		int err;

		faulty_fail_nth(&u->hooks, FAULTY_ALLOC, k);
		err = slab_alloc_bulk(&cache, MANY, out);
		failed = faulty_fail_none(&u->hooks);
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_int_equal(slab_nr_objects(&cache),
				 failed ? 1 : MANY + 1);
		assert_true(slab_cache_check(&cache));
	}
	assert_true(k > 3); /* there was more than one slab to fail */
	assert_int_equal(slab_alloc_bulk(&cache, 0, out), 0);
	slab_cache_exit(&cache);
}

/* An object, and where it goes back to. */
struct borrowed {
	struct slab_cache *cache;
	void *object;
};

static void give_back(void *arg)
{
	struct borrowed *borrowed = arg;

	slab_free(borrowed->cache, borrowed->object);
}

static void an_object_freed_meanwhile_does_for_a_slab(void **state)
{
	struct unit *u = *state;
	struct slab_cache cache;
	struct borrowed borrowed = { &cache, NULL };

	slab_cache_init(&cache, &u->mem, OBJECT_BYTES);
	for (unsigned i = 0; i < cache.per_slab; i++)
		borrowed.object = slab_alloc(&cache);
	unit_memory_is_out(u, give_back, &borrowed);
	assert_ptr_equal(slab_alloc(&cache), borrowed.object);
	assert_null(slab_alloc(&cache));
	assert_true(unit_memory_is_back(u));
	assert_true(slab_cache_check(&cache));
	slab_cache_exit(&cache);
}

/* Of objects in use and of freed ones; of no other address, mapped or not. */
static void an_address_is_known_as_an_objects(void **state)
{
	struct unit *u = *state;
	struct slab_cache cache, other;
	uintptr_t objects[2], slab;

	slab_cache_init(&cache, &u->mem, OBJECT_BYTES);
	slab_cache_init(&other, &u->mem, OBJECT_BYTES);
	assert_false(slab_is_object(&cache, (uintptr_t)&cache));
	for (unsigned i = 0; i < 2; i++)
		objects[i] = (uintptr_t)slab_alloc(&cache);
	slab = objects[0] & ~(uintptr_t)(SLAB_BYTES - 1);
	slab_free(&cache, (void *)objects[1]);
	for (uintptr_t at = slab; at < slab + SLAB_BYTES; at++)
		assert_int_equal(slab_is_object(&cache, at),
				 at == objects[0] || at == objects[1]);
	assert_false(slab_is_object(&cache, objects[0] + SLAB_BYTES));
	assert_false(slab_is_object(&cache, 0));
	assert_false(slab_is_object(&cache, UINTPTR_MAX));
	assert_false(slab_is_object(&other, objects[0]));
	while (nr_slabs(u) == 1) /* full ones are looked through as well */
		slab_alloc(&cache);
	assert_true(slab_is_object(&cache, objects[0]));
	slab_cache_exit(&cache);
	slab_cache_exit(&other);
}

static void unused_slabs_go_back_but_for_one(void **state)
{
	struct unit *u = *state;
	struct slab_cache cache;
	void *out[MANY];

	slab_cache_init(&cache, &u->mem, OBJECT_BYTES);
	assert_int_equal(nr_slabs(u), 0);
	assert_int_equal(slab_alloc_bulk(&cache, MANY, out), 0);
	assert_int_equal(nr_slabs(u),
			 (MANY + cache.per_slab - 1) / cache.per_slab);
	for (int i = 0; i < MANY; i++) {
		slab_free(&cache, out[i]);
		assert_true(slab_cache_check(&cache));
	}
	assert_int_equal(nr_slabs(u), 1);
	/* One object to and fro needs no hook. */
	u->hooks.allocs = 0;
	slab_free(&cache, slab_alloc(&cache));
	assert_int_equal(u->hooks.allocs, 0);
	slab_cache_exit(&cache);
	assert_int_equal(nr_slabs(u), 0);
}

static void a_cache_that_was_never_made_may_end(void **state)
{
	struct slab_cache cache;

	(void)state;
	memset(&cache, 0, sizeof(cache));
	slab_cache_exit(&cache);
}

struct gift {
	struct slab_cache cache;
	void *objects[MANY];
};

static void free_gift(void *arg)
{
	struct gift *gift = arg;

	for (int i = 0; i < MANY; i++)
		slab_free(&gift->cache, gift->objects[i]);
}

static void objects_may_be_freed_by_another_thread(void **state)
{
	struct unit *u = *state;
	struct gift *gift = calloc(1, sizeof(*gift));
	struct thread thread;
	uintptr_t slab;

	assert_non_null(gift);
	slab_cache_init(&gift->cache, &u->mem, OBJECT_BYTES);
	assert_int_equal(slab_alloc_bulk(&gift->cache, MANY, gift->objects), 0);
	slab = (uintptr_t)gift->objects[0] / SLAB_BYTES;
	thread_start(&thread, free_gift, gift);
	thread_join(&thread);
	assert_true(slab_cache_check(&gift->cache));
	assert_int_equal(slab_nr_objects(&gift->cache), 0);
	assert_int_equal(nr_slabs(u), 1);
	/* They went back to this thread's shard, where the first slab stayed. */
	assert_int_equal((uintptr_t)slab_alloc(&gift->cache) / SLAB_BYTES,
			 slab);
	slab_cache_exit(&gift->cache);
	free(gift);
}

#define NR_THREADS 4
#define NR_PLACES 512

struct market {
	struct slab_cache cache;
	_Atomic(uint64_t *) places[NR_PLACES];
	unsigned rounds;
};

/* Objects change hands in places, so that most are freed by a stranger. */
static void trade(unsigned index, void *arg)
{
	struct market *m = arg;
	struct rng rng;

	rng_init(&rng, index);
	for (unsigned i = 0; i < m->rounds; i++) {
		uint64_t *object = slab_alloc(&m->cache);

		CHECK(object);
		object[0] = (uintptr_t)object;
		object[OBJECT_BYTES / 8 - 1] = ~(uint64_t)(uintptr_t)object;
		object = atomic_exchange(&m->places[rng_below(&rng, NR_PLACES)],
					 object);
		if (!object)
			continue;
		CHECK(object[0] == (uintptr_t)object);
		CHECK(object[OBJECT_BYTES / 8 - 1] ==
		      ~(uint64_t)(uintptr_t)object);
		slab_free(&m->cache, object);
	}
	watchdog_progress();
}

static void threads_may_allocate_and_free_at_once(void **state)
{
	struct market *m = calloc(1, sizeof(*m));
	struct mem mem;
	size_t left = 0;

	(void)state;
	assert_non_null(m);
	assert_int_equal(mem_init(&mem, NULL), 0);
	slab_cache_init(&m->cache, &mem, OBJECT_BYTES);
	m->rounds = 20000;
	run_threads(NR_THREADS, trade, m);
	for (int i = 0; i < NR_PLACES; i++)
		left += m->places[i] != NULL;
	assert_int_equal(slab_nr_objects(&m->cache), left);
	assert_true(slab_cache_check(&m->cache));
	slab_cache_exit(&m->cache);
	mem_exit(&mem);
	assert_int_equal(atomic_load(&mem.metadata_bytes), 0);
	free(m);
}

/* ---- helper threads ------------------------------------------------------ */

struct helper {
	sigset_t mask;
	bool ran;
};

static void note_mask(void *arg)
{
	struct helper *h = arg;

	pthread_sigmask(SIG_SETMASK, NULL, &h->mask);
	h->ran = true;
}

static void a_helper_thread_runs_with_all_signals_blocked(void **state)
{
	struct unit *u = *state;
	struct helper h = { .ran = false };
	sigset_t before, after;
	void *thread;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	errno = EDOM;
	assert_int_equal(mem_thread_create(&u->mem, &thread, note_mask, &h), 0);
	assert_int_equal(errno, EDOM);
	mem_thread_join(&u->mem, thread);
	assert_int_equal(errno, EDOM);
	assert_true(h.ran);
	assert_true(sigismember(&h.mask, SIGTERM));
	assert_true(sigismember(&h.mask, SIGALRM));
	assert_true(sigismember(&h.mask, SIGSEGV));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&before, SIGTERM),
			 sigismember(&after, SIGTERM));
}

static int no_thread(void *ctx, void **thread, void (*run)(void *arg),
		     void *arg)
{
	(void)ctx, (void)thread, (void)run, (void)arg;
	errno = EDOM;
	return 77;
}

static void join_nothing(void *ctx, void *thread)
{
	(void)ctx, (void)thread;
}

static void D48_a_thread_that_can_t_be_made_is_eagain(void **state)
{
	struct unit *u = *state;
	struct zswap_hooks hooks = { .size = sizeof(hooks),
				     .thread_create = no_thread,
				     .thread_join = join_nothing };
	struct mem mem;
	void *thread;

	(void)u;
	assert_int_equal(mem_init(&mem, &hooks), 0);
	errno = 0;
	assert_int_equal(mem_thread_create(&mem, &thread, note_mask, NULL),
			 -EAGAIN);
	assert_int_equal(errno, 0);
	mem_exit(&mem);
	hooks.thread_join = NULL;
	assert_int_equal(mem_init(&mem, &hooks), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		unit_case(half_a_pair_of_hooks_is_refused),
		unit_case(whole_pairs_may_be_left_out),
		unit_case(no_memory_for_the_owner_page_is_reported),
		unit_case(metadata_is_counted_by_the_byte),
		unit_case(failing_hooks_count_nothing_and_leave_errno_alone),
		unit_case(hooks_that_work_leave_errno_alone),
		unit_case(mappings_are_not_metadata),
		cmocka_unit_test(default_blocks_are_aligned),
		cmocka_unit_test(
			default_mappings_are_aligned_and_purged_to_zeros),
		cmocka_unit_test(default_mappings_are_kept_out_of_children),
		cmocka_unit_test(default_mappings_leave_nothing_around_them),
		cmocka_unit_test(default_mappings_are_kept_out_of_huge_pages),
		cmocka_unit_test(default_mappings_have_what_the_flags_ask_for),
		cmocka_unit_test(a_mapping_that_would_be_dumped_is_refused),
		unit_case(mappings_of_a_hook_are_given_no_advice),
		unit_case(a_child_is_not_the_owner),
		unit_case(a_page_given_back_is_wiped_in_no_child),
		unit_case(objects_of_every_size_keep_their_bytes),
		unit_case(the_object_freed_last_is_handed_out_first),
		unit_case(a_bulk_is_all_or_nothing),
		unit_case(an_object_freed_meanwhile_does_for_a_slab),
		unit_case(an_address_is_known_as_an_objects),
		unit_case(unused_slabs_go_back_but_for_one),
		unit_case(a_cache_that_was_never_made_may_end),
		unit_case(objects_may_be_freed_by_another_thread),
		cmocka_unit_test(threads_may_allocate_and_free_at_once),
		unit_case(a_helper_thread_runs_with_all_signals_blocked),
		unit_case(D48_a_thread_that_can_t_be_made_is_eagain),
	};

	advice_given.fails = -1;
	watchdog_start("test_mem", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
