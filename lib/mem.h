/* SPDX-License-Identifier: MIT */
/*
 * mem.h - what the library takes from the system, through the caller's hooks
 *
 * Everything passes through here and is counted: metadata by the byte, and the
 * memory behind pages by the *granule*, the cache's page (span.c counts each
 * pool's, and here is the sum of all, with its limit). Parts:
 *
 * - mem_alloc() and friends: blocks of metadata of any size.
 * - mem_map() and friends: memory for pages.
 * - mem_thread_create(): a helper thread.
 * - A *slab cache*: objects of one small size, cut from slabs of 16 KiB that
 *   are aligned to their size, so that an object finds its slab by masking its
 *   address. The slabs are dealt to shards; a thread allocates from the shard
 *   of its number, and an object goes back to the slab it came from, so that
 *   two threads seldom meet on a lock. A slab whose objects are all free is
 *   given back, but for one per shard.
 * - The owner check: a page whose contents the kernel wipes in a forked child
 *   (MADV_WIPEONFORK) tells parent and child apart for the price of reading one
 *   word; where the kernel can't, by getpid().
 *
 * Locking: the shard's lock guards its slabs. It is a leaf.
 */
#ifndef ZSWAP_MEM_H
#define ZSWAP_MEM_H

#include "list.h"
#include "sync.h"

#include <sys/types.h>
#include <zswap/zswap.h>

#define SLAB_BYTES 16384
/* Of what a span uses, this part may wait empty for reuse; see span.h. */
#define MEM_RESERVE_SHARE 32
#define MAX_SHARDS 16

struct mem {
	struct zswap_hooks hooks;
	bool alloc_is_hooked; /* by the caller: then nothing else may be used */
	_Atomic size_t metadata_bytes;
	/*
	 * The granules that all spans hold, at one moment: used in the upper
	 * half, reserve in the lower; 2^32 granules are 16 TiB.
	 */
	_Atomic uint64_t held;
	_Atomic uint64_t held_max_bytes; /* the limit; see limit.h */
	unsigned
		memory_flags; /* ZSWAP_MEM_..., for mappings made from now on */
	size_t os_page;
	unsigned nr_shards; /* a power of two, two per processor or 16 */
	unsigned nr_cpus; /* online, 256 at most: contexts are made for each */
	_Atomic uint32_t *owner_page; /* its first word is 1 in the owner */
	bool owner_page_is_hooks;     /* and not mapped without the hook */
	pid_t owner_pid;              /* checked when owner_page is NULL */
};

/**
 * mem_init() - take over the caller's hooks
 * @hooks: NULL for malloc and mmap; checked, then copied
 *
 * Return: 0, -EINVAL (half a pair of hooks), -ENOMEM.
 */
int mem_init(struct mem *mem, const struct zswap_hooks *hooks);
void mem_exit(struct mem *mem);

/* Whether this process is the one that called mem_init(). */
bool mem_is_owner_pid(const struct mem *mem);
static inline bool mem_is_owner(const struct mem *mem)
{
	if (likely(mem->owner_page))
		return atomic_load_explicit(mem->owner_page,
					    memory_order_relaxed);
	return mem_is_owner_pid(mem);
}

/*
 * What a caller creates is one block that begins with its struct mem: makes one,
 * with zeros behind that, and gives it back. Errors as mem_init().
 */
int mem_create(const struct zswap_hooks *hooks, size_t bytes, void **out);
void mem_destroy(struct mem *mem, size_t bytes);

void *mem_alloc(struct mem *mem, size_t bytes, size_t align);
void *mem_zalloc(struct mem *mem, size_t bytes, size_t align);
void mem_free(struct mem *mem, void *ptr, size_t bytes, size_t align);

/* Zero-filled pages; not counted. NULL when there are none. */
void *mem_map(struct mem *mem, size_t bytes, size_t align);
void mem_unmap(struct mem *mem, void *addr, size_t bytes);
/* Memory is going to be written, so that it may as well be there at once. */
void mem_populate(struct mem *mem, void *addr, size_t bytes);
/* Whether parts of a mapping can be given back. */
bool mem_can_purge(const struct mem *mem);
/* Gives back whole system pages; 0 when they are really gone. */
int mem_purge(struct mem *mem, void *addr, size_t bytes);

/* Starts a thread, with all signals blocked: 0, or -EAGAIN. */
int mem_thread_create(struct mem *mem, void **thread, void (*run)(void *arg),
		      void *arg);
void mem_thread_join(struct mem *mem, void *thread);

struct mem_held {
	uint64_t used_granules;
	uint64_t reserve_granules;
};

static inline struct mem_held mem_held(const struct mem *mem)
{
	uint64_t held = atomic_load_explicit(&mem->held, memory_order_relaxed);

	return (struct mem_held){ held >> 32, held & UINT32_MAX };
}

/*
 * What counts against the limit: all that is held, except that a reserve beyond
 * the share is memory that can't go back in parts, and is used again before
 * any other. To refuse pages because of it would help nobody.
 */
static inline uint64_t mem_limited_granules(struct mem_held held)
{
	uint64_t share = held.used_granules / MEM_RESERVE_SHARE;

	return held.used_granules +
	       (held.reserve_granules < share ? held.reserve_granules : share);
}

struct slab_shard {
	alignas(CACHE_LINE) struct lock lock;
	struct list partial; /* slabs with a free object, empty ones too */
	struct list full;
	unsigned nr_empty;
	size_t nr_objects; /* in use */
};

struct slab_cache {
	struct mem *mem;
	uint32_t object_bytes;
	uint32_t per_slab;
	struct slab_shard shards[MAX_SHARDS];
};

/* object_bytes: a multiple of 16, at most 1024 */
void slab_cache_init(struct slab_cache *cache, struct mem *mem,
		     size_t object_bytes);
/* Gives back all slabs, whatever objects are still in use. */
void slab_cache_exit(struct slab_cache *cache);

/* Allocates n objects into out[], or none. 0 or -ENOMEM. */
int slab_alloc_bulk(struct slab_cache *cache, unsigned n, void **out);
void *slab_alloc(struct slab_cache *cache);
void slab_free(struct slab_cache *cache, void *object);

/*
 * Whether an object was ever handed out at this address: any address, which is
 * not looked at. Takes long; for debug builds.
 */
bool slab_is_object(struct slab_cache *cache, uintptr_t address);

/* Objects in use: exact when no call is running. */
size_t slab_nr_objects(struct slab_cache *cache);
/* Whether the invariants hold; for tests, with no call running. */
bool slab_cache_check(struct slab_cache *cache);

#endif /* ZSWAP_MEM_H */
