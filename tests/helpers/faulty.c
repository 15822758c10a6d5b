// SPDX-License-Identifier: MIT
/*
 * faulty.c - hooks that keep accounts, and fail when told to
 *
 * One lock around everything: hooks are called by many threads, seldom.
 */
#include "faulty.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "peek.h"

#define RED_ZONE_BYTES 64
#define RED_ZONE_BYTE 0xed
#define RUBBISH_BYTE 0xa5
#define DEAD_BYTE 0xdb

struct faulty_block {
	struct faulty_block *next;
	char *addr;
	size_t bytes;
	size_t align;
	unsigned kind;
};

static size_t os_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct faulty_block **bucket_of(struct faulty *f, const void *addr)
{
	return &f->buckets[((uintptr_t)addr >> 4) % FAULTY_BUCKETS];
}

static void expect(struct faulty *f, bool good, const char *what)
{
	if (!good && !f->misuse)
		f->misuse = what;
}

/*
 * How each hook ends: what it leaves in errno is for the library to put right.
 * So do malloc() and mmap() where they fail, and free() may where it does not.
 */
static void hook_ends(struct faulty *f)
{
	pthread_mutex_unlock(&f->lock);
	errno = ENOMEM;
}

static bool is_power_of_two(size_t x)
{
	return x && (x & (x - 1)) == 0;
}

/* Follows the plan; called with the lock held. */
static bool may_take(struct faulty *f, unsigned kind)
{
	if (!(f->fail_kinds & kind))
		return true;
	if (f->pass) {
		f->pass--;
		return true;
	}
	if (!f->fail)
		return true;
	f->fail--;
	f->failed++;
	return false;
}

static void remember(struct faulty *f, void *addr, size_t bytes, size_t align,
		     unsigned kind)
{
	struct faulty_block **bucket = bucket_of(f, addr);
	struct faulty_block *block = malloc(sizeof(*block));

	CHECK(block);
	block->next = *bucket;
	block->addr = addr;
	block->bytes = bytes;
	block->align = align;
	block->kind = kind;
	*bucket = block;
}

/* Takes the record of a block out, or returns false. */
static bool forget(struct faulty *f, void *addr, unsigned kind,
		   struct faulty_block *out)
{
	struct faulty_block **at, *block;

	for (at = bucket_of(f, addr); (block = *at); at = &block->next)
		if (block->addr == addr && block->kind == kind) {
			*out = *block;
			*at = block->next;
			free(block);
			return true;
		}
	return false;
}

/* With the red zone, which is longer where that fills up the alignment. */
static size_t room_for(size_t bytes, size_t align)
{
	return (bytes + RED_ZONE_BYTES + align - 1) / align * align;
}

static void *hook_alloc(void *ctx, size_t bytes, size_t align)
{
	struct faulty *f = ctx;
	const struct zswap_hooks *backing = &f->backing.hooks;
	size_t room = room_for(bytes, align);
	char *addr = NULL;

	pthread_mutex_lock(&f->lock);
	f->allocs++;
	expect(f, bytes > 0, "alloc of no bytes");
	expect(f, is_power_of_two(align) && align <= 16384,
	       "alloc with a wrong alignment");
	if (may_take(f, FAULTY_ALLOC)) {
		addr = backing->alloc(backing->ctx, room, align);
		CHECK(addr);
		memset(addr, RUBBISH_BYTE, bytes);
		memset(addr + bytes, RED_ZONE_BYTE, room - bytes);
		remember(f, addr, bytes, align, FAULTY_ALLOC);
		f->alloc_blocks++;
		f->alloc_bytes += bytes;
	}
	hook_ends(f);
	return addr;
}

static void check_red_zone(struct faulty *f, const struct faulty_block *block)
{
	const unsigned char *end = (unsigned char *)block->addr + block->bytes;
	int i;

	for (i = 0; i < RED_ZONE_BYTES; i++)
		expect(f, end[i] == RED_ZONE_BYTE, "write past a block");
}

static void hook_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	struct faulty *f = ctx;
	const struct zswap_hooks *backing = &f->backing.hooks;
	struct faulty_block block;

	pthread_mutex_lock(&f->lock);
	f->frees++;
	if (forget(f, ptr, FAULTY_ALLOC, &block)) {
		expect(f, block.bytes == bytes, "free with another size");
		expect(f, block.align == align, "free with another alignment");
		check_red_zone(f, &block);
		memset(ptr, DEAD_BYTE, block.bytes);
		f->alloc_blocks--;
		f->alloc_bytes -= block.bytes;
		backing->free(backing->ctx, ptr,
			      room_for(block.bytes, block.align), block.align);
	} else {
		expect(f, false, "free of what was not allocated");
	}
	hook_ends(f);
}

static void *hook_map(void *ctx, size_t bytes, size_t align)
{
	struct faulty *f = ctx;
	const struct zswap_hooks *backing = &f->backing.hooks;
	void *addr = NULL;

	pthread_mutex_lock(&f->lock);
	f->maps++;
	expect(f, bytes > 0 && bytes % os_page_bytes() == 0,
	       "map of a part of a system page");
	expect(f, is_power_of_two(align) && align % os_page_bytes() == 0,
	       "map with a wrong alignment");
	if (may_take(f, FAULTY_MAP)) {
		addr = backing->map(backing->ctx, bytes, align);
		/* Some cases end a child by what they do to it there. */
		CHECK(addr && !madvise(addr, bytes, MADV_DOFORK));
		remember(f, addr, bytes, align, FAULTY_MAP);
		f->map_blocks++;
		f->map_bytes += bytes;
	}
	hook_ends(f);
	return addr;
}

static void hook_unmap(void *ctx, void *addr, size_t bytes)
{
	struct faulty *f = ctx;
	const struct zswap_hooks *backing = &f->backing.hooks;
	struct faulty_block block;

	pthread_mutex_lock(&f->lock);
	f->unmaps++;
	if (forget(f, addr, FAULTY_MAP, &block)) {
		expect(f, block.bytes == bytes, "unmap with another size");
		f->map_blocks--;
		f->map_bytes -= block.bytes;
		backing->unmap(backing->ctx, addr, block.bytes);
	} else {
		expect(f, false, "unmap of what was not mapped");
	}
	hook_ends(f);
}

static bool is_mapped(struct faulty *f, const char *addr, size_t bytes)
{
	struct faulty_block *block;
	int i;

	for (i = 0; i < FAULTY_BUCKETS; i++)
		for (block = f->buckets[i]; block; block = block->next)
			if (block->kind == FAULTY_MAP && addr >= block->addr &&
			    addr + bytes <= block->addr + block->bytes)
				return true;
	return false;
}

/*
 * The memory is kept, so that a reader finds rubbish rather than zeros. Pages
 * that were never touched stay so: there may be very many.
 */
static void spoil(char *addr, size_t bytes)
{
	size_t os_page = os_page_bytes(), nr = bytes / os_page, i;
	unsigned char *resident = malloc(nr);

	CHECK(resident && mincore(addr, bytes, resident) == 0);
	for (i = 0; i < nr; i++)
		if (resident[i] & 1)
			memset(addr + i * os_page, RUBBISH_BYTE, os_page);
	free(resident);
}

static int hook_purge(void *ctx, void *addr, size_t bytes)
{
	struct faulty *f = ctx;
	int result = 1;

	pthread_mutex_lock(&f->lock);
	f->purges++;
	expect(f,
	       bytes > 0 && bytes % os_page_bytes() == 0 &&
		       (uintptr_t)addr % os_page_bytes() == 0,
	       "purge of a part of a system page");
	if (!is_mapped(f, addr, bytes)) {
		expect(f, false, "purge of what is not mapped");
	} else if (!f->purge_fails) {
		spoil(addr, bytes);
		f->purged_bytes += bytes;
		result = 0;
	}
	hook_ends(f);
	return result;
}

/* ---- threads ----------------------------------------------------------- */

struct faulty_thread {
	pthread_t id;
	void (*run)(void *arg);
	void *arg;
};

static void *thread_main(void *arg)
{
	struct faulty_thread *thread = arg;

	thread->run(thread->arg);
	return NULL;
}

static bool may_start(struct faulty *f)
{
	bool may;

	pthread_mutex_lock(&f->lock);
	f->thread_creates++;
	may = may_take(f, FAULTY_THREAD);
	if (may && ++f->threads > f->most_threads)
		f->most_threads = f->threads;
	hook_ends(f);
	return may;
}

static int hook_thread_create(void *ctx, void **out, void (*run)(void *arg),
			      void *arg)
{
	struct faulty_thread *thread;

	if (!may_start(ctx))
		return EAGAIN;
	thread = malloc(sizeof(*thread));
	CHECK(thread);
	thread->run = run;
	thread->arg = arg;
	CHECK(pthread_create(&thread->id, NULL, thread_main, thread) == 0);
	*out = thread;
	return 0;
}

static void hook_thread_join(void *ctx, void *arg)
{
	struct faulty_thread *thread = arg;
	struct faulty *f = ctx;

	CHECK(pthread_join(thread->id, NULL) == 0);
	free(thread);
	pthread_mutex_lock(&f->lock);
	f->threads--;
	hook_ends(f);
}

void faulty_init(struct faulty *f)
{
	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	backing_init(&f->backing);
	f->hooks.size = sizeof(f->hooks);
	f->hooks.ctx = f;
	f->hooks.alloc = hook_alloc;
	f->hooks.free = hook_free;
	f->hooks.map = hook_map;
	f->hooks.unmap = hook_unmap;
	f->hooks.purge = hook_purge;
	f->hooks.thread_create = hook_thread_create;
	f->hooks.thread_join = hook_thread_join;
}

static void make_plan(struct faulty *f, unsigned kinds, uint64_t k,
		      uint64_t nr_failures)
{
	CHECK(k > 0);
	pthread_mutex_lock(&f->lock);
	f->fail_kinds = kinds;
	f->pass = k - 1;
	f->fail = nr_failures;
	f->failed = 0;
	pthread_mutex_unlock(&f->lock);
}

void faulty_fail_nth(struct faulty *f, unsigned kinds, uint64_t k)
{
	make_plan(f, kinds, k, 1);
}

void faulty_fail_from(struct faulty *f, unsigned kinds, uint64_t k)
{
	make_plan(f, kinds, k, UINT64_MAX);
}

uint64_t faulty_fail_none(struct faulty *f)
{
	uint64_t failed;

	pthread_mutex_lock(&f->lock);
	f->fail_kinds = 0;
	failed = f->failed;
	pthread_mutex_unlock(&f->lock);
	return failed;
}

struct faulty_held faulty_held(struct faulty *f)
{
	struct faulty_held held;

	pthread_mutex_lock(&f->lock);
	held = (struct faulty_held){
		.alloc_blocks = f->alloc_blocks,
		.alloc_bytes = f->alloc_bytes,
		.map_blocks = f->map_blocks,
		.map_bytes = f->map_bytes,
		.threads = f->threads,
		.misuse = f->misuse,
	};
	pthread_mutex_unlock(&f->lock);
	return held;
}

uint64_t faulty_takes(struct faulty *f)
{
	uint64_t calls;

	pthread_mutex_lock(&f->lock);
	calls = f->allocs + f->maps;
	pthread_mutex_unlock(&f->lock);
	return calls;
}

uint64_t faulty_calls(struct faulty *f)
{
	uint64_t calls;

	pthread_mutex_lock(&f->lock);
	calls = f->allocs + f->maps + f->frees + f->unmaps + f->purges;
	pthread_mutex_unlock(&f->lock);
	return calls;
}

void faulty_each_map(struct faulty *f,
		     void (*visit)(void *arg, void *addr, size_t bytes),
		     void *arg)
{
	struct faulty_block *block;
	int i;

	pthread_mutex_lock(&f->lock);
	for (i = 0; i < FAULTY_BUCKETS; i++)
		for (block = f->buckets[i]; block; block = block->next)
			if (block->kind == FAULTY_MAP)
				visit(arg, block->addr, block->bytes);
	pthread_mutex_unlock(&f->lock);
}

struct needle {
	const void *what;
	size_t bytes;
	void *found;
};

static void look_in(void *arg, void *addr, size_t bytes)
{
	struct needle *needle = arg;
	char *copy, *found;

	if (needle->found)
		return;
	copy = peek_mapping(addr, bytes);
	found = memmem(copy, bytes, needle->what, needle->bytes);
	if (found)
		needle->found = (char *)addr + (found - copy);
	free(copy);
}

void *faulty_find(struct faulty *f, const void *what, size_t bytes)
{
	struct needle needle = { what, bytes, NULL };

	faulty_each_map(f, look_in, &needle);
	return needle.found;
}

bool faulty_end(struct faulty *f)
{
	bool good =
		!f->misuse && !f->alloc_blocks && !f->map_blocks && !f->threads;

	if (!good)
		fprintf(stderr,
			"hooks: %s; %zu bytes allocated, %zu mapped, "
			"%zu threads\n",
			f->misuse ? f->misuse : "no misuse", f->alloc_bytes,
			f->map_bytes, f->threads);
	pthread_mutex_destroy(&f->lock);
	return backing_end(&f->backing) && good;
}
