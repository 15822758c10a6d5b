// SPDX-License-Identifier: MIT
#include "mem.h"

#include "poison.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* ---- the default hooks --------------------------------------------------- */

static void *default_alloc(void *ctx, size_t bytes, size_t align)
{
	(void)ctx;
	if (align <= alignof(max_align_t))
		return malloc(bytes);
	return aligned_alloc(align, round_up(bytes, align));
}

static void default_free(void *ctx, void *ptr, size_t bytes, size_t align)
{
	(void)ctx, (void)bytes, (void)align;
	free(ptr);
}

static char *map_anonymous(size_t bytes)
{
	char *addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return addr == MAP_FAILED ? NULL : addr;
}

/* Maps more than asked for, and cuts off what is around the aligned part. */
static char *map_and_cut(size_t bytes, size_t align)
{
	size_t slack = align - (size_t)sysconf(_SC_PAGESIZE);
	char *raw, *addr;

	raw = bytes <= SIZE_MAX - slack ? map_anonymous(bytes + slack) : NULL;
	if (!raw)
		return NULL;
	addr = (char *)round_up((uintptr_t)raw, align);
	if (addr > raw)
		munmap(raw, (size_t)(addr - raw));
	if (raw + slack > addr)
		munmap(addr + bytes, (size_t)(raw + slack - addr));
	return addr;
}

/*
 * Mappings mostly come next to each other, so that one of its own size is
 * aligned if the one before was. A child gets none of it (a fork then copies no
 * page tables for it).
 */
static void *default_map(void *ctx, size_t bytes, size_t align)
{
	char *addr = map_anonymous(bytes);

	(void)ctx;
	if (addr && (uintptr_t)addr % align) {
		munmap(addr, bytes);
		addr = map_and_cut(bytes, align);
	}
	if (addr)
		madvise(addr, bytes, MADV_DONTFORK);
	return addr;
}

static void default_unmap(void *ctx, void *addr, size_t bytes)
{
	(void)ctx;
	munmap(addr, bytes);
}

static int default_purge(void *ctx, void *addr, size_t bytes)
{
	(void)ctx;
	return madvise(addr, bytes, MADV_DONTNEED);
}

static const struct zswap_hooks default_hooks = {
	.size = sizeof(struct zswap_hooks),
	.alloc = default_alloc,
	.free = default_free,
	.map = default_map,
	.unmap = default_unmap,
	.purge = default_purge,
};

static int take_hooks(struct mem *mem, const struct zswap_hooks *hooks)
{
	mem->hooks = default_hooks;
	mem->alloc_is_hooked = hooks && hooks->alloc;
	if (!hooks)
		return 0;
	if (hooks->size < sizeof(*hooks) || !hooks->alloc != !hooks->free ||
	    !hooks->map != !hooks->unmap || (hooks->purge && !hooks->map) ||
	    !hooks->thread_create != !hooks->thread_join)
		return -EINVAL;
	mem->hooks.ctx = hooks->ctx;
	if (hooks->alloc) {
		mem->hooks.alloc = hooks->alloc;
		mem->hooks.free = hooks->free;
	}
	if (hooks->map) {
		mem->hooks.map = hooks->map;
		mem->hooks.unmap = hooks->unmap;
		mem->hooks.purge = hooks->purge;
	}
	if (hooks->thread_create) {
		mem->hooks.thread_create = hooks->thread_create;
		mem->hooks.thread_join = hooks->thread_join;
	}
	return 0;
}

/* ---- blocks, mappings ---------------------------------------------------- */

void *mem_alloc(struct mem *mem, size_t bytes, size_t align)
{
	int saved_errno = errno;
	void *ptr = mem->hooks.alloc(mem->hooks.ctx, bytes, align);

	errno = saved_errno;
	if (ptr)
		atomic_fetch_add_explicit(&mem->metadata_bytes, bytes,
					  memory_order_relaxed);
	return ptr;
}

void *mem_zalloc(struct mem *mem, size_t bytes, size_t align)
{
	void *ptr = mem_alloc(mem, bytes, align);

	return ptr ? memset(ptr, 0, bytes) : NULL;
}

void mem_free(struct mem *mem, void *ptr, size_t bytes, size_t align)
{
	int saved_errno = errno;

	if (!ptr)
		return;
	atomic_fetch_sub_explicit(&mem->metadata_bytes, bytes,
				  memory_order_relaxed);
	mem->hooks.free(mem->hooks.ctx, ptr, bytes, align);
	errno = saved_errno;
}

/*
 * No huge pages unless asked for, because parts are given back; a kernel
 * without them does not matter. That a mapping is dumped does.
 */
static int advise(const struct mem *mem, void *addr, size_t bytes)
{
	bool huge = mem->memory_flags & ZSWAP_MEM_HUGE_PAGES;

	madvise(addr, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (mem->memory_flags & ZSWAP_MEM_NO_DUMP)
		return madvise(addr, bytes, MADV_DONTDUMP);
	return 0;
}

void *mem_map(struct mem *mem, size_t bytes, size_t align)
{
	int saved_errno = errno;
	void *addr = mem->hooks.map(mem->hooks.ctx, bytes, align);

	if (addr && mem->hooks.map == default_map && advise(mem, addr, bytes)) {
		mem->hooks.unmap(mem->hooks.ctx, addr, bytes);
		addr = NULL;
	}
	errno = saved_errno;
	return addr;
}

void mem_unmap(struct mem *mem, void *addr, size_t bytes)
{
	int saved_errno = errno;

	mem->hooks.unmap(mem->hooks.ctx, addr, bytes);
	errno = saved_errno;
}

void mem_populate(struct mem *mem, void *addr, size_t bytes)
{
	int saved_errno = errno;

	if (mem->hooks.map == default_map)
		madvise(addr, bytes, MADV_POPULATE_WRITE);
	errno = saved_errno;
}

bool mem_can_purge(const struct mem *mem)
{
	return mem->hooks.purge;
}

int mem_purge(struct mem *mem, void *addr, size_t bytes)
{
	int saved_errno = errno;
	int err = mem->hooks.purge(mem->hooks.ctx, addr, bytes);

	errno = saved_errno;
	return err;
}

/* ---- threads ------------------------------------------------------------- */

struct pthread {
	pthread_t id;
	void (*run)(void *arg);
	void *arg;
};

static void *pthread_main(void *arg)
{
	struct pthread *thread = arg;

	thread->run(thread->arg);
	return NULL;
}

static int default_thread_create(struct mem *mem, void **out,
				 void (*run)(void *arg), void *arg)
{
	struct pthread *thread = mem_alloc(mem, sizeof(*thread), 16);

	if (!thread)
		return -1;
	thread->run = run;
	thread->arg = arg;
	if (pthread_create(&thread->id, NULL, pthread_main, thread)) {
		mem_free(mem, thread, sizeof(*thread), 16);
		return -1;
	}
	*out = thread;
	return 0;
}

static void default_thread_join(struct mem *mem, void *arg)
{
	struct pthread *thread = arg;

	pthread_join(thread->id, NULL);
	mem_free(mem, thread, sizeof(*thread), 16);
}

/* A thread inherits the mask of the one that makes it. */
int mem_thread_create(struct mem *mem, void **thread, void (*run)(void *arg),
		      void *arg)
{
	int saved_errno = errno, saved_cancel;
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_cancel);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (mem->hooks.thread_create)
		err = mem->hooks.thread_create(mem->hooks.ctx, thread, run,
					       arg);
	else
		err = default_thread_create(mem, thread, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_setcancelstate(saved_cancel, NULL);
	errno = saved_errno;
	return err ? -EAGAIN : 0;
}

/* Joining is a point of cancellation, which no call of the library may be. */
void mem_thread_join(struct mem *mem, void *thread)
{
	int saved_errno = errno, saved_cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_cancel);
	if (mem->hooks.thread_join)
		mem->hooks.thread_join(mem->hooks.ctx, thread);
	else
		default_thread_join(mem, thread);
	pthread_setcancelstate(saved_cancel, NULL);
	errno = saved_errno;
}

/* ---- the owner ----------------------------------------------------------- */

bool mem_is_owner_pid(const struct mem *mem)
{
	return getpid() == mem->owner_pid;
}

/*
 * Has the kernel wipe a page in forked children, or says that it can't. Default
 * mappings are kept out of children; this one must be there.
 */
static bool wipe_on_fork(struct mem *mem, void *page)
{
	if (madvise(page, mem->os_page, MADV_WIPEONFORK))
		return false;
	if (!madvise(page, mem->os_page, MADV_DOFORK))
		return true;
	madvise(page, mem->os_page, MADV_KEEPONFORK);
	return false;
}

/*
 * The mapping may be memory that the caller's hook keeps for other uses, so it
 * must not go on being wiped.
 */
static void owner_page_exit(struct mem *mem)
{
	int saved_errno = errno;

	if (!mem->owner_page)
		return;
	madvise(mem->owner_page, mem->os_page, MADV_KEEPONFORK);
	if (mem->owner_page_is_hooks)
		mem_unmap(mem, (void *)mem->owner_page, mem->os_page);
	else
		munmap((void *)mem->owner_page, mem->os_page);
	atomic_fetch_sub(&mem->metadata_bytes, mem->os_page);
	mem->owner_page = NULL;
	errno = saved_errno;
}

/*
 * A page of the caller's hook may be of a kind that can't be wiped, such as
 * shared memory; then one is mapped without the hook, and where even that can't
 * be wiped (an old kernel) it is left to getpid().
 */
static int owner_page_init(struct mem *mem)
{
	int saved_errno = errno;
	void *page = mem_map(mem, mem->os_page, mem->os_page);

	if (!page)
		return -ENOMEM;
	mem->owner_page_is_hooks = wipe_on_fork(mem, page);
	if (!mem->owner_page_is_hooks) {
		mem_unmap(mem, page, mem->os_page);
		page = map_anonymous(mem->os_page);
		if (page && !wipe_on_fork(mem, page)) {
			munmap(page, mem->os_page);
			page = NULL;
		}
	}
	errno = saved_errno;
	if (!page)
		return 0; /* getpid() it is */
	mem->owner_page = page;
	atomic_store(mem->owner_page, 1);
	atomic_fetch_add(&mem->metadata_bytes, mem->os_page);
	return 0;
}

static unsigned shards_for(unsigned cpus)
{
	unsigned n = 1;

	while (n < cpus && n < MAX_SHARDS)
		n *= 2;
	return n;
}

int mem_init(struct mem *mem, const struct zswap_hooks *hooks)
{
	int saved_errno = errno;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int err = take_hooks(mem, hooks);

	errno = saved_errno;
	if (err)
		return err;
	atomic_init(&mem->metadata_bytes, 0);
	atomic_init(&mem->held, 0);
	atomic_init(&mem->held_max_bytes, UINT64_MAX);
	mem->os_page = (size_t)sysconf(_SC_PAGESIZE);
	mem->nr_cpus = cpus < 1 ? 1 : cpus > 256 ? 256 : (unsigned)cpus;
	/* Two for each processor, so that few threads share one. */
	mem->nr_shards = shards_for(2 * mem->nr_cpus);
	mem->memory_flags = 0;
	mem->owner_page = NULL;
	mem->owner_pid = getpid();
	return owner_page_init(mem);
}

void mem_exit(struct mem *mem)
{
	owner_page_exit(mem);
}

int mem_create(const struct zswap_hooks *hooks, size_t bytes, void **out)
{
	struct mem mem, *block;
	int err = mem_init(&mem, hooks);

	if (err)
		return err;
	block = mem_zalloc(&mem, bytes, CACHE_LINE);
	if (!block) {
		mem_exit(&mem);
		return -ENOMEM;
	}
	*block = mem;
	*out = block;
	return 0;
}

void mem_destroy(struct mem *mem, size_t bytes)
{
	struct mem last = *mem;

	mem_free(&last, mem, bytes, CACHE_LINE);
	mem_exit(&last);
}

/* ---- slabs --------------------------------------------------------------- */

/*
 *	| struct slab | object | object | ... | object |    16 KiB, so aligned
 *	                free -> free -> NULL
 *
 * Objects from `fresh` on were never handed out and are on no list, so that a
 * new slab's memory is touched only as it is used. All that is not in use is
 * forbidden, but for the header; it is allowed and forbidden under the shard's
 * lock (see poison.h).
 *
 * Invariant: in_use + length of the free list + per_slab - fresh == per_slab.
 */
struct slab {
	struct list node;
	struct slab_shard *shard;
	void *free;
	uint32_t in_use;
	uint32_t fresh;
};

#define SLAB_HEADER round_up(sizeof(struct slab), 16)

void slab_cache_init(struct slab_cache *cache, struct mem *mem,
		     size_t object_bytes)
{
	zswap_assert(object_bytes % 16 == 0 && object_bytes <= 1024);
	memset(cache, 0, sizeof(*cache));
	cache->mem = mem;
	cache->object_bytes = (uint32_t)object_bytes;
	cache->per_slab = (uint32_t)((SLAB_BYTES - SLAB_HEADER) / object_bytes);
	for (unsigned i = 0; i < MAX_SHARDS; i++) {
		list_init(&cache->shards[i].partial);
		list_init(&cache->shards[i].full);
	}
}

static void free_slabs(struct slab_cache *cache, struct list *head)
{
	struct list *pos, *tmp;

	list_for_each_safe(pos, tmp, head) {
		struct slab *slab = list_entry(pos, struct slab, node);

		poison_allow_undefined(slab, SLAB_BYTES);
		mem_free(cache->mem, slab, SLAB_BYTES, SLAB_BYTES);
	}
}

void slab_cache_exit(struct slab_cache *cache)
{
	if (!cache->mem)
		return;
	for (unsigned i = 0; i < MAX_SHARDS; i++) {
		free_slabs(cache, &cache->shards[i].partial);
		free_slabs(cache, &cache->shards[i].full);
	}
}

static struct slab *slab_new(struct slab_cache *cache, struct slab_shard *shard)
{
	struct slab *slab = mem_alloc(cache->mem, SLAB_BYTES, SLAB_BYTES);

	if (!slab)
		return NULL;
	zswap_assert((uintptr_t)slab % SLAB_BYTES == 0);
	slab->shard = shard;
	slab->free = NULL;
	slab->in_use = 0;
	slab->fresh = 0;
	poison_forbid((char *)slab + SLAB_HEADER, SLAB_BYTES - SLAB_HEADER);
	return slab;
}

static void *slab_take(struct slab_cache *cache, struct slab *slab)
{
	void *object = slab->free;

	lock_assert_held(&slab->shard->lock);
	if (object)
		poison_read(&slab->free, object, sizeof(slab->free));
	else
		object = (char *)slab + SLAB_HEADER +
			 (size_t)slab->fresh++ * cache->object_bytes;
	if (!slab->in_use++)
		slab->shard->nr_empty--;
	slab->shard->nr_objects++;
	if (slab->in_use == cache->per_slab) {
		list_del(&slab->node);
		list_add(&slab->node, &slab->shard->full);
	}
	poison_allow_undefined(object, cache->object_bytes);
	return object;
}

/* Returns a slab to give back once the lock is dropped, or NULL. */
static struct slab *slab_put(struct slab_cache *cache, struct slab *slab,
			     void *object)
{
	struct slab_shard *shard = slab->shard;

	lock_assert_held(&shard->lock);
	zswap_assert(slab->in_use);
	memcpy(object, &slab->free, sizeof(slab->free));
	poison_forbid(object, cache->object_bytes);
	slab->free = object;
	shard->nr_objects--;
	if (slab->in_use-- == cache->per_slab) {
		list_del(&slab->node);
		list_add(&slab->node, &shard->partial);
	}
	if (slab->in_use)
		return NULL;
	if (!shard->nr_empty) {
		shard->nr_empty = 1; /* stays, for the next allocation */
		return NULL;
	}
	list_del(&slab->node);
	poison_allow_undefined(slab, SLAB_BYTES);
	return slab;
}

static struct slab_shard *own_shard(struct slab_cache *cache)
{
	return &cache->shards[thread_number() & (cache->mem->nr_shards - 1)];
}

/* Adds an empty slab; the lock is dropped and taken again around the hook. */
static bool shard_grow(struct slab_cache *cache, struct slab_shard *shard)
{
	struct slab *slab;

	lock_give(&shard->lock);
	slab = slab_new(cache, shard);
	lock_take(&shard->lock);
	if (!slab)
		return !list_empty(&shard->partial);
	list_add(&slab->node, &shard->partial);
	shard->nr_empty++;
	return true;
}

int slab_alloc_bulk(struct slab_cache *cache, unsigned n, void **out)
{
	struct slab_shard *shard = own_shard(cache);
	unsigned got = 0;

	lock_take(&shard->lock);
	while (got < n) {
		if (list_empty(&shard->partial) && !shard_grow(cache, shard))
			break;
		out[got++] = slab_take(cache, list_entry(shard->partial.next,
							 struct slab, node));
	}
	lock_give(&shard->lock);
	if (got == n)
		return 0;
	while (got)
		slab_free(cache, out[--got]);
	return -ENOMEM;
}

void *slab_alloc(struct slab_cache *cache)
{
	void *object;

	return slab_alloc_bulk(cache, 1, &object) ? NULL : object;
}

void slab_free(struct slab_cache *cache, void *object)
{
	struct slab *slab =
		(void *)((uintptr_t)object & ~(uintptr_t)(SLAB_BYTES - 1));
	struct slab_shard *shard = slab->shard;

	lock_take(&shard->lock);
	slab = slab_put(cache, slab, object);
	lock_give(&shard->lock);
	mem_free(cache->mem, slab, SLAB_BYTES, SLAB_BYTES);
}

static bool is_object_of(struct slab_cache *cache, struct list *slabs,
			 uintptr_t address)
{
	uintptr_t start = address & ~(uintptr_t)(SLAB_BYTES - 1);
	uintptr_t offset = address - start - SLAB_HEADER;
	struct list *pos;

	list_for_each(pos, slabs) {
		struct slab *slab = list_entry(pos, struct slab, node);

		if ((uintptr_t)slab == start)
			return address >= start + SLAB_HEADER &&
			       offset % cache->object_bytes == 0 &&
			       offset / cache->object_bytes < slab->fresh;
	}
	return false;
}

bool slab_is_object(struct slab_cache *cache, uintptr_t address)
{
	bool found = false;

	for (unsigned i = 0; i < cache->mem->nr_shards && !found; i++) {
		struct slab_shard *shard = &cache->shards[i];

		lock_take(&shard->lock);
		found = is_object_of(cache, &shard->partial, address) ||
			is_object_of(cache, &shard->full, address);
		lock_give(&shard->lock);
	}
	return found;
}

size_t slab_nr_objects(struct slab_cache *cache)
{
	size_t n = 0;

	for (unsigned i = 0; i < cache->mem->nr_shards; i++) {
		lock_take(&cache->shards[i].lock);
		n += cache->shards[i].nr_objects;
		lock_give(&cache->shards[i].lock);
	}
	return n;
}

static bool slab_check(struct slab_cache *cache, struct slab *slab)
{
	uint32_t nr_free = 0;

	for (void *p = slab->free; p; poison_read(&p, p, sizeof(p)))
		if (++nr_free > cache->per_slab)
			return false;
	return slab->in_use + nr_free == slab->fresh &&
	       slab->fresh <= cache->per_slab;
}

static bool shard_check(struct slab_cache *cache, struct slab_shard *shard)
{
	unsigned nr_empty = 0;
	size_t nr_objects = 0;
	struct list *pos;

	list_for_each(pos, &shard->partial) {
		struct slab *slab = list_entry(pos, struct slab, node);

		if (!slab_check(cache, slab) || slab->in_use == cache->per_slab)
			return false;
		nr_empty += !slab->in_use;
		nr_objects += slab->in_use;
	}
	list_for_each(pos, &shard->full) {
		struct slab *slab = list_entry(pos, struct slab, node);

		if (!slab_check(cache, slab) || slab->in_use != cache->per_slab)
			return false;
		nr_objects += slab->in_use;
	}
	return nr_empty == shard->nr_empty && nr_objects == shard->nr_objects;
}

bool slab_cache_check(struct slab_cache *cache)
{
	for (unsigned i = 0; i < MAX_SHARDS; i++)
		if (!shard_check(cache, &cache->shards[i]))
			return false;
	return true;
}
