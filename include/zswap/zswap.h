/* SPDX-License-Identifier: MIT */
/*
 * zswap/zswap.h - a compressed page cache with the semantics of Linux zswap
 *
 * Pages go in compressed, under a name the caller chooses, and come out exact.
 *
 *	struct zswap *z;
 *
 *	zswap_create(&z, NULL);
 *	zswap_swapon(z, 0, 1 << 20);
 *	zswap_store(z, zswap_slot(0, 7), page);
 *	zswap_load(z, zswap_slot(0, 7), page);
 *	zswap_destroy(z);
 *
 * Words. A *page* is zswap_page_size() bytes. A *slot* is a page's name: the
 * number of an *area* (its type) and an offset in it. A *folio* is a run of
 * consecutive pages going to consecutive slots. An *entry* is one stored page.
 *
 * Results. Every function that can fail returns 0 (or a count) or a negative
 * errno value; errno itself is not touched. The library prints nothing and
 * never ends the process. Each function lists its errors with the state they
 * leave; -EOWNERDEAD, -EINVAL and -ENXIO always leave everything as it was,
 * and are looked for in this order.
 *
 * Threads. Any function may be called by any thread at any time, except that
 * zswap_destroy() must be the last call on its cache. Calls are linearizable
 * per slot: each acts on a slot at one moment between its start and its
 * return. A folio is stored, and loaded, as one: nobody sees half of it (only
 * of a failed store, which makes its slots absent one by one). No lock of a
 * slot is held while a compressor runs. Store and load callers may come and
 * go: nothing is kept for a thread. No call is a point of cancellation. A
 * signal handler may call the library only if it did not interrupt a call.
 *
 * Memory. Load, peek, invalidate, query and the statistics allocate nothing.
 * Page buffers need no alignment. What the pages take is limited: by default to
 * a fifth of the memory that this process may use.
 *
 * Stack. zswap_store_folio() and zswap_load_folio() need up to 48 KiB of the
 * caller's stack, beside what a compressor of the caller's own takes.
 *
 * Fork. A cache belongs to the process that created it. In a forked child
 * every call on it returns -EOWNERDEAD at once (a bool call false, a void call
 * does nothing; zswap_page_size() answers), and the memory for pages is not in
 * the child, unless a map hook of the caller's own puts it there. The metadata
 * is: with it go the words of same-filled pages, and what the compressors'
 * contexts keep of the pages they compressed last. The child may create caches
 * of its own.
 *
 * Unloading. A process may end while it has caches, and calls are running. But
 * before the shared library is unloaded (dlclose()) each cache must have been
 * destroyed, for its thread runs in there. Threads that used one may live on.
 *
 * Structs begin with `size`, which the caller sets to sizeof the struct; a
 * later version can then add fields at the end. A `size` too small to hold
 * the fields of version 0.1 is -EINVAL, a larger one than the library knows is
 * fine. In a struct of parameters a zero field means its documented default.
 */
#ifndef ZSWAP_ZSWAP_H
#define ZSWAP_ZSWAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ZSWAP_API
#define ZSWAP_API __attribute__((visibility("default")))
#endif

struct zswap;
struct zswap_group;
struct zswap_compressor;

/* ---- slots ------------------------------------------------------------- */

/* A page's name: val is the type in the high 16 bits, the offset below. */
typedef struct {
	uint64_t val;
} zswap_slot_t;

#define ZSWAP_MAX_TYPES 65536u              /* areas in one cache */
#define ZSWAP_MAX_SLOTS (UINT64_C(1) << 48) /* slots in one area */
#define ZSWAP_MAX_FOLIO 512u                /* pages in one folio */

/* No area contains this slot: area 65535 may have one slot less than others. */
#define ZSWAP_SLOT_NONE UINT64_MAX

/* A limit in bytes that is none. */
#define ZSWAP_UNLIMITED UINT64_MAX

/**
 * zswap_slot() - the slot of an area's type and an offset in it
 *
 * A type above 65535 or an offset from 2^48 on gives ZSWAP_SLOT_NONE, so that
 * a number too large never names another page: every call refuses it.
 */
static inline zswap_slot_t zswap_slot(unsigned type, uint64_t offset)
{
	zswap_slot_t slot = { ZSWAP_SLOT_NONE };

	if (type < ZSWAP_MAX_TYPES && offset < ZSWAP_MAX_SLOTS)
		slot.val = ((uint64_t)type << 48) | offset;
	return slot;
}

static inline unsigned zswap_slot_type(zswap_slot_t slot)
{
	return (unsigned)(slot.val >> 48);
}

static inline uint64_t zswap_slot_offset(zswap_slot_t slot)
{
	return slot.val & (ZSWAP_MAX_SLOTS - 1);
}

/* ---- a cache ----------------------------------------------------------- */

/**
 * struct zswap_hooks - what the library takes from the system
 * @size:  sizeof(struct zswap_hooks)
 * @ctx:   passed to each hook
 * @alloc: @bytes of memory for metadata, aligned to @align (a power of two, at
 *         most 16384), any contents; NULL when there is none
 * @free:  takes back what @alloc gave, with the same @bytes and @align
 * @map:   @bytes of zero-filled private memory for pages, aligned to @align (a
 *         power of two, a multiple of the system's page size), below address
 *         2^48: what is above goes back at once, and counts as none. NULL when
 *         there is none
 * @unmap: takes back the whole of what @map gave
 * @purge: lets the contents of whole system pages go, inside what @map gave;
 *         their next reader may find anything. 0, or non-zero when nothing was
 *         given back
 * @thread_create: starts a thread that calls @run(@arg), and puts in *@thread
 *         what @thread_join needs. 0, or non-zero when there is none
 * @thread_join: waits until that thread has ended
 *
 * @alloc and @free are set together or not at all (malloc), @map and @unmap
 * likewise (anonymous private mappings that stay out of forked children, out of
 * huge pages, and give memory back by MADV_DONTNEED), and so are @thread_create
 * and @thread_join (POSIX threads). A @purge of NULL beside a @map of the
 * caller's own means that memory goes back by whole mappings only; a @purge
 * without a @map is refused.
 *
 * Mappings are of 1024 pages, which hold their own description too, and one of
 * a system page, for telling a forked child, made by zswap_create(); where the
 * kernel can't wipe that page in a child (it is shared memory, say), it is
 * given back, and one is mapped without the hook. The page's advice about forks
 * is left at MADV_DOFORK. What @alloc gives must stay in the memory of a forked
 * child.
 *
 * A thread is started by zswap_set_compressor() alone, at most one for a cache;
 * all signals are blocked while it is, for it to inherit that. It sleeps but
 * when there is a pool to end, and is gone when zswap_destroy() returns.
 * Without it the cache works as well.
 *
 * Hooks are called by whatever thread is in a call of the cache, several at
 * once, and must not call the cache. @alloc and @map are called by
 * zswap_create(), zswap_swapon(), zswap_set_compressor() and stores alone. The
 * struct is copied.
 *
 * Everything that the library takes while @alloc is set comes through it, with
 * two exceptions. A POSIX thread takes a stack from the system and some bytes
 * from calloc(), where @thread_create is not set. And at the levels of lz4hc
 * from 10 on liblz4 takes 64 KiB from malloc() during a page's compression, for
 * it knows no other way; where there are none, the compressor has failed. For
 * such a reason "deflate" is by zlib where @alloc is set, also in a library
 * built with libdeflate, which is two to three times as fast, and takes its
 * contexts from malloc(), uncounted.
 */
struct zswap_hooks {
	size_t size;
	void *ctx;
	void *(*alloc)(void *ctx, size_t bytes, size_t align);
	void (*free)(void *ctx, void *ptr, size_t bytes, size_t align);
	void *(*map)(void *ctx, size_t bytes, size_t align);
	void (*unmap)(void *ctx, void *addr, size_t bytes);
	int (*purge)(void *ctx, void *addr, size_t bytes);
	int (*thread_create)(void *ctx, void **thread, void (*run)(void *arg),
			     void *arg);
	void (*thread_join)(void *ctx, void *thread);
};

/*
 * What becomes of a page that does not compress into less than a page's room,
 * or whose compression fails.
 */
enum zswap_raw_policy {
	/* It is stored uncompressed. */
	ZSWAP_RAW_KEEP = 0,
	/*
	 * It is stored uncompressed where it could be written back, and refused
	 * elsewhere, as Linux zswap does. No cache writes back yet: refused.
	 */
	ZSWAP_RAW_KERNEL = 1,
	/* The store is refused. */
	ZSWAP_RAW_REFUSE = 2,
};

/* How the size class of a compressed page is chosen. */
enum zswap_class_choice {
	/* By its size alone, as Linux zsmalloc does. */
	ZSWAP_CLASSES_EXACT = 1,
	/*
	 * By how many others there are of like size as well: where they are
	 * few, zspages of fewer pages, or a free place of a larger class. What
	 * has grown to some thousand pages, or fewer, holds less than by EXACT,
	 * and as much, within a percent, from some ten thousand on. What has
	 * shrunk to so few from many holds as much as by EXACT: each class
	 * keeps a zspage that is partly empty.
	 */
	ZSWAP_CLASSES_ADAPTIVE = 2,
};

/* When objects are moved together, so that zspages can be given back. */
enum zswap_compaction {
	/*
	 * Bit by bit: a call that frees an object moves up to two others of its
	 * size class, while of that at least half a zspage and a 128th of all
	 * places, taken together, are free. A move takes about a microsecond
	 * with pages of 4 KiB.
	 */
	ZSWAP_COMPACT_AUTO = 1,
	/* When told to: by zswap_compact(), or zs_compact(). */
	ZSWAP_COMPACT_MANUAL = 2,
};

/*
 * What is done with the memory of pages; or-ed together. The first two are for
 * the library's own mappings, not for those of a map hook.
 */
/* Mappings may have huge pages: fewer TLB misses, and memory goes back in
 * larger pieces or later. */
#define ZSWAP_MEM_HUGE_PAGES 1u
/* Mappings are left out of core dumps (MADV_DONTDUMP). Metadata is not: the
 * words of same-filled pages, and what contexts keep of the last pages. */
#define ZSWAP_MEM_NO_DUMP 2u
/* Payloads are overwritten with zeroes when they are freed or moved away. */
#define ZSWAP_MEM_WIPE 4u

/**
 * struct zswap_params - how a cache is made
 * @size:           sizeof(struct zswap_params)
 * @page_size:      bytes in a page: 4096 (0 means this), 16384 or 65536.
 *                  Larger pages compress better, and cost more to load a part
 * @compressor:     a spec, see below; NULL means "lz4"
 * @hooks:          NULL means malloc and mmap
 * @compressors:    @nr_compressors compressors of the caller's own, which
 *                  @compressor may name; one named like a built-in one hides
 *                  it, the first of several of one name the others. All are
 *                  checked. See <zswap/compressor.h>. Copied; what their
 *                  members point to must stay until zswap_destroy() has
 *                  returned
 * @nr_compressors: 0..64
 * @max_pool_bytes: limit of the bytes held for pages (pool_total_size), or
 *                  ZSWAP_UNLIMITED; 0 means that @max_pool_percent says
 * @max_pool_percent: the limit as 1..100 percent of the memory this process may
 *                  use; 0 means 20. See zswap_set_max_pool_percent()
 * @accept_threshold_percent: 1..100; 0 means 90. See
 *                  zswap_set_accept_threshold_percent()
 * @raw_policy:     an enum zswap_raw_policy
 * @checksum:       1: an entry carries a checksum (XXH3, 64 bits) of its stored
 *                  bytes, which every reading of it verifies, so that a page
 *                  whose bytes have changed is -EIO and never a wrong page. It
 *                  costs 16 bytes of metadata per page and some percent of a
 *                  load. 0: damaged bytes may load as a wrong page
 * @chain_size:     the most pages in a zspage, 1..16; 0 means 8
 * @class_choice:   an enum zswap_class_choice; 0 means ADAPTIVE
 * @compaction:     an enum zswap_compaction; 0 means AUTO: invalidations, loads
 *                  and stores that replace pages move others together, so that
 *                  what is held stays near what is needed
 * @memory_flags:   ZSWAP_MEM_HUGE_PAGES, ZSWAP_MEM_NO_DUMP, ZSWAP_MEM_WIPE
 */
struct zswap_params {
	size_t size;
	size_t page_size;
	const char *compressor;
	const struct zswap_hooks *hooks;
	const struct zswap_compressor *const *compressors;
	size_t nr_compressors;
	uint64_t max_pool_bytes;
	uint32_t max_pool_percent;
	uint32_t accept_threshold_percent;
	uint32_t raw_policy;
	uint32_t checksum;
	uint32_t chain_size;
	uint32_t class_choice;
	uint32_t compaction;
	uint32_t memory_flags;
};

/**
 * zswap_create() - make an empty, enabled cache without areas
 * @out:    receives the cache; set to NULL on every error
 * @params: NULL means all defaults; read during the call only
 *
 * A cache has no memory for pages until pages are stored.
 *
 * Ownership: the caller's, until zswap_destroy().
 * Return:    0, or one of these, after each of which nothing is left behind:
 *            -EINVAL  @out is NULL, a size is too small, the page size is none
 *                     of the three, half a pair of hooks, a percentage above
 *                     100, an unknown policy, a @checksum above 1, a malformed
 *                     spec or unknown option, a compressor without a member it
 *                     needs
 *            -ERANGE  the spec has an option whose number is out of range
 *            -ENOENT  no compressor of that name
 *            -EOPNOTSUPP  a checksum is asked for, and the library was built
 *                     without libxxhash
 *            -ENOMEM  no memory
 *            or what the compressor's own functions returned
 */
ZSWAP_API int zswap_create(struct zswap **out,
			   const struct zswap_params *params);

/**
 * zswap_destroy() - drop all pages and the cache
 * @z: the cache, or NULL
 *
 * No other call may be running on @z, and none may follow; only a compressor's
 * functions that it calls may call the cache, which then has no areas and gets
 * none, nor another compressor (-EINVAL). All memory goes back through the
 * hooks, and the cache's thread has ended, before it returns.
 */
ZSWAP_API void zswap_destroy(struct zswap *z);

/* zswap_page_size() - bytes of a page in this cache; 0 when @z is NULL */
ZSWAP_API size_t zswap_page_size(const struct zswap *z);

/* ---- compressors ------------------------------------------------------- */

/*
 * A *spec* names a compressor and its options:
 *
 *	name                        zstd
 *	name:option=value,...       zstd:level=-1
 *
 * White space around it does not matter. Its *canonical form* has each option
 * of the compressor, in a fixed order, and numbers without superfluous digits:
 * "zstd" and " zstd:level=+03" are both "zstd:level=3". Built in:
 *
 *	lz4       no option. LZ4 blocks
 *	lz4hc     level=1..12 (9). LZ4 blocks, read as fast, made slowly. From
 *	          10 on liblz4 may call malloc() for each page
 *	zstd      level=-131072..22 (3), as the library found allows; 0 is the
 *	          default. Zstandard frames without content size, checksum and
 *	          dictionary number. -1 lies between lz4 and 1 in every respect
 *	deflate   level=1..9 (6). Raw deflate (RFC 1951), by libdeflate, or by
 *	          zlib where hooked, or built without libdeflate
 *	lzo       no option. LZO1X-1; only where built with liblzo2, see README
 *
 * A compressor of the caller's own takes what follows the colon as it is, and
 * its canonical form is the spec itself.
 */
#define ZSWAP_MAX_SPEC 255 /* bytes of a spec, and of its canonical form */

/**
 * zswap_spec_check() - whether a spec names a built-in compressor properly
 * @spec:  the spec
 * @where: NULL, or receives the place in @spec of what is wrong: the name, the
 *         option's name, or its value. NULL when nothing is, or @spec is NULL
 *
 * These are the errors with which zswap_create() and zswap_set_compressor()
 * refuse such a spec, too.
 *
 * Context: any thread; needs no cache.
 * Return:  0, or
 *          -ENOENT  no built-in compressor of that name; @where is the name
 *          -EINVAL  not the form above, or too long: @where is the first thing
 *                   that does not fit it. An option that the compressor does
 *                   not have, that comes twice or without a value: @where is
 *                   its name. A value that is no number: @where is the value.
 *                   Or @spec is NULL
 *          -ERANGE  a number out of the option's range; @where is the number
 */
ZSWAP_API int zswap_spec_check(const char *spec, const char **where);

/**
 * zswap_set_compressor() - compress new pages with another compressor
 * @spec: see above; it may name one of the caller's own compressors
 *
 * What is stored stays as it is, and loads through the compressor it was stored
 * with. A compressor with all its entries (but same-filled pages, which need
 * none) is a *pool*: the switch makes a new one the current pool, and retires
 * the old one, which ends with its last entry. A retired pool that still has
 * entries is taken back into use if its canonical spec is asked for; the
 * current pool's own spec changes nothing. Stores that are running go on with
 * the pool they have begun with. There are at most 255 pools at a time: the
 * current one, and those that have entries. Beside its compressor's contexts a
 * pool costs about 100 KiB of metadata, and its size classes are its own: the
 * fewer pages are left in it, the more it holds for each.
 *
 * A retired pool is ended by the call that drops its last entry, when that is
 * done with everything else; where that is a load or a peek, by a thread of the
 * cache's own, so that no load waits for a compressor's destroy(). If that
 * thread could not be started, it is left to the next store, invalidation,
 * swapoff or switch whose arguments are good.
 *
 * Context: any thread, a compressor's functions as well. No lock that another
 *          call needs is held while the compressor's functions run.
 * Return:  0, or, with everything as it was but for some hundred bytes of
 *          metadata that the next new pool uses:
 *          -EINVAL  @z or @spec is NULL, or as zswap_spec_check()
 *          -ERANGE  as zswap_spec_check()
 *          -ENOENT  no compressor of that name
 *          -EBUSY   there are 255 pools, counting those that are just being
 *                   made or ended; it works again once a retired one is gone
 *          -ENOMEM  no memory
 *          -EOWNERDEAD  the cache is another process's
 *          or what the compressor's own functions returned
 * Origin:  the parameter `compressor` of Linux zswap; there a pool that can't
 *          be made is always -EINVAL.
 */
ZSWAP_API int zswap_set_compressor(struct zswap *z, const char *spec);

/**
 * zswap_get_compressor() - the canonical spec of the compressor in use
 * @buf: receives it and a NUL, cut to fit; NULL when @len is 0
 * @len: bytes of @buf; ZSWAP_MAX_SPEC + 1 is always enough
 *
 * Return: its bytes without the NUL, so that a result of @len or more means
 *         that it was cut; or -EINVAL, -EOWNERDEAD.
 */
ZSWAP_API long zswap_get_compressor(struct zswap *z, char *buf, size_t len);

/* ---- areas ------------------------------------------------------------- */

/**
 * zswap_swapon() - add an area: slots 0 .. @nr_slots - 1 of @type, all absent
 * @nr_slots: 1 .. 2^48 (2^48 - 1 for type 65535)
 *
 * An area costs up to a kilobyte, more on more processors, and the first one
 * of types 0 .. 255, of 256 .. 511 and so on 2 KiB besides; then 4 KiB for each
 * 512 consecutive slots that hold pages, and 16 KiB for each 2^17 consecutive
 * slots that were ever stored to, with an index above them for larger areas: an
 * area of 2^48 slots with pages in one place, or in two far apart, costs under
 * 64 KiB. Only the tables of 4 KiB go when their pages do; the rest stays until
 * zswap_swapoff(). So slots are best used from 0 on, or in ranges, and not as
 * hashes.
 *
 * Context: any thread.
 * Return:  0, or, with the area unchanged:
 *          -EINVAL  @z is NULL, @type or @nr_slots out of range
 *          -EEXIST  the area exists, or its zswap_swapoff() is still running
 *          -ENOMEM  no memory for its description
 * Origin:  zswap_swapon(), Linux mm/zswap.c.
 */
ZSWAP_API int zswap_swapon(struct zswap *z, unsigned type, uint64_t nr_slots);

/**
 * zswap_swapoff() - drop an area and every page in it
 *
 * From the start of the call on, other calls find no such area. Waits for calls
 * that are already at work on the area. The same type can be added again; the
 * area's own description, some hundred bytes, is kept for that.
 *
 * Context: any thread, but not inside a function of a compressor that a store
 *          or a load has called: that would wait for the call it is in.
 * Return:  0, or with nothing changed:
 *          -EINVAL  @z is NULL
 *          -ENXIO   no such area
 * Origin:  zswap_swapoff(), Linux mm/zswap.c, which expects an empty area.
 */
ZSWAP_API int zswap_swapoff(struct zswap *z, unsigned type);

/* ---- pages in ---------------------------------------------------------- */

/**
 * struct zswap_folio - consecutive pages for consecutive slots
 * @size:     sizeof(struct zswap_folio)
 * @slot:     the first page's slot; needs no alignment
 * @nr_pages: 1 .. ZSWAP_MAX_FOLIO
 * @flags:    0; no flag is defined yet
 * @nid:      the memory node the pages would like to be near; a hint, unused
 *            yet
 * @data:     all pages, one after another; NULL when @pages is set
 * @pages:    one pointer per page; NULL when @data is set
 * @group:    NULL, the root group; no other can be made yet
 * @results:  NULL, or room for @nr_pages errno values, one per page
 *
 * A store reads the pages, a load writes them; @results is written by both,
 * and left alone when the call returns -EINVAL, -ENXIO or -EOWNERDEAD. Exactly
 * one of @data and @pages is set.
 */
struct zswap_folio {
	size_t size;
	zswap_slot_t slot;
	uint32_t nr_pages;
	uint32_t flags;
	int32_t nid;
	void *data;
	void *const *pages;
	struct zswap_group *group;
	int *results;
};

/**
 * zswap_store_folio() - compress pages and keep them under their slots
 * @folio: where the pages are and where they go; see struct zswap_folio
 *
 * All or nothing, and at one moment: until then loads find the older pages,
 * from then on the new ones. Older pages under the slots are replaced. A page
 * that repeats one 64-bit word is recognised and takes no room for its bytes;
 * one that does not compress into less than a page's room is kept as it is, or
 * refused: see enum zswap_raw_policy. Each other page is compressed once.
 *
 * Pages that change during the call are stored as some mixture, or load as
 * -EIO; no other page is harmed.
 *
 * Ownership: the pages are copied and not read after the call. They may be in
 *            read-only memory.
 * The limit is looked at before every batch of pages (8, or the compressor's
 * batch_size); same-filled pages pass any limit but 0.
 *
 * Results:   0 for a page that was stored; when the call fails, for each page
 *            that caused it its own error, and -ECANCELED for the others, or
 *            the call's error for all where no page in particular caused it.
 * Context:   any thread; runs the compressor in it.
 * Return:    0, or
 *            -EINVAL  a NULL, no pages or too many, a flag, a group: nothing
 *                     has changed
 *            -ENXIO   no such area, or not all slots lie in it: likewise
 *            -EOWNERDEAD  the cache is another process's: likewise
 *            -EPERM   the cache is disabled: every slot of the folio is absent
 *            -ENOSPC  the cache is full, see zswap_set_max_pool_bytes():
 *                     likewise
 *            -E2BIG   a page does not compress, and is not to be kept raw:
 *                     likewise
 *            -EIO     the compressor failed at a page, which is not to be kept
 *                     raw: likewise
 *            -ENOMEM  no memory for the pages or their entries: likewise
 *            -EDEADLK called by a compressor, and no context is free: likewise
 *            If several pages are at fault the first one's error is returned.
 * Origin:    zswap_store(), Linux mm/zswap.c. There a folio appears page by
 *            page, and one that fails half way is visible for a while. That a
 *            failed store removes the older pages is the kernel's rule: a
 *            later load must never return what the caller has replaced.
 */
ZSWAP_API int zswap_store_folio(struct zswap *z,
				const struct zswap_folio *folio);

/**
 * zswap_store() - compress one page and keep it under a slot
 * @page: exactly zswap_page_size(z) bytes, read during the call only
 *
 * Like zswap_store_folio() with a folio of one page.
 */
ZSWAP_API int zswap_store(struct zswap *z, zswap_slot_t slot, const void *page);

/* ---- pages out --------------------------------------------------------- */

/**
 * zswap_load() - take a page out of the cache
 * @page: receives zswap_page_size(z) bytes
 *
 * The page is delivered, then its entry is gone. Of two loads racing for one
 * page one gets it.
 *
 * Context: any thread; runs the compressor in it; allocates nothing.
 * Return:  0, or
 *          -ENOENT  nothing is stored there; the slot stays absent
 *          -EIO     the entry does not decompress: it stays, until it is
 *                   invalidated or replaced
 *          -EINVAL  @z or @page is NULL: nothing has changed
 *          -ENXIO   no such area, or a slot outside it: likewise
 *          -EOWNERDEAD  the cache is another process's: likewise
 *          -EDEADLK  called by a compressor, and no context is free: likewise
 *          After -ENOENT, -EIO and -EDEADLK the contents of @page are
 *          undefined.
 * Origin:  zswap_load(), Linux mm/zswap.c, whose loads take as well.
 */
ZSWAP_API int zswap_load(struct zswap *z, zswap_slot_t slot, void *page);

/* zswap_peek() - like zswap_load(), but the entry stays. Peeks of one page run
 * at the same time. Origin: none; the kernel has no such call.
 */
ZSWAP_API int zswap_peek(struct zswap *z, zswap_slot_t slot, void *page);

#define ZSWAP_LOAD_KEEP 0x1u    /* peek: the entries stay */
#define ZSWAP_LOAD_PARTIAL 0x2u /* deliver what is there */

/**
 * zswap_load_folio() - take, or peek at, several pages at once
 * @folio: the slots and where their pages go; see struct zswap_folio
 * @flags: ZSWAP_LOAD_KEEP, ZSWAP_LOAD_PARTIAL, or both, or 0
 *
 * The pages delivered were all in the cache together, at one moment; a load
 * that takes them removes them together. When a slot changes meanwhile, its
 * page is read anew. Without PARTIAL it is all pages or nothing; with PARTIAL
 * pages that are absent or do not decompress are left out.
 *
 * Results: 0 for a page that was delivered or, when the call fails, for one
 *          that is present; -ENOENT for an absent one; -EIO for one that was
 *          found not to decompress.
 * Context: any thread; runs the compressor in it; allocates nothing. It takes
 *          as long as other threads go on replacing these very pages faster
 *          than they decompress.
 * Return:  without PARTIAL 0, with PARTIAL the number of pages delivered, from
 *          0 to nr_pages; or, without PARTIAL, and with nothing taken:
 *          -ENOENT  no page is present
 *          -EBUSY   some are, some are not
 *          -EIO     all are present, and at least one does not decompress
 *          or, with nothing changed:
 *          -EINVAL  a NULL, no pages or too many, an unknown flag, a group
 *          -ENXIO   no such area, or not all slots lie in it
 *          -EOWNERDEAD  the cache is another process's
 *          -EDEADLK  called by a compressor, and no context is free
 *          The buffers of pages that were not delivered are undefined after
 *          any return but -EINVAL, -ENXIO and -EOWNERDEAD.
 * Origin:  the kernel refuses loads of several pages.
 */
ZSWAP_API int zswap_load_folio(struct zswap *z, const struct zswap_folio *folio,
			       unsigned flags);

/* ---- without data ------------------------------------------------------ */

/**
 * zswap_invalidate() - forget pages
 * @slot:     the first
 * @nr_slots: how many, any number; slots outside the area are passed over
 *
 * Idempotent, never waits for a load of the same page, allocates nothing. Acts
 * on each slot by itself. Long ranges cost what is in them: absent slots are
 * passed over by the 2^17 where none was ever stored to.
 *
 * Origin: zswap_invalidate(), Linux mm/zswap.c.
 */
ZSWAP_API void zswap_invalidate(struct zswap *z, zswap_slot_t slot,
				uint64_t nr_slots);

/**
 * zswap_is_present() - whether any of these slots holds a page
 *
 * Like zswap_invalidate() in its arguments; false for slots that do not exist.
 * Origin: zswap_is_present(), Linux mm/zswap.c.
 */
ZSWAP_API bool zswap_is_present(struct zswap *z, zswap_slot_t slot,
				uint64_t nr_slots);

/* What a slot holds. Later versions may add values at the end. */
enum zswap_state {
	ZSWAP_ABSENT = 0, /* nothing */
	ZSWAP_STORED = 1, /* a compressed page */
	ZSWAP_FILLED = 2, /* a page that repeats one 64-bit word */
	ZSWAP_RAW = 3,    /* a page that is kept uncompressed */
};

/**
 * zswap_query() - what a slot holds
 *
 * Return: an enum zswap_state, or -EINVAL, -ENXIO, -EOWNERDEAD as zswap_load().
 */
ZSWAP_API int zswap_query(struct zswap *z, zswap_slot_t slot);

/**
 * zswap_next_present() - find the next slot of an area that holds a page
 * @slot: where to begin, itself included; receives the slot found, and is left
 *        alone when there is none
 *
 * Walks an area in order, and stays in it; pages stored or taken meanwhile may
 * or may not be met. A walk of area 3, whose last slot may be followed by the
 * first of area 4:
 *
 *	zswap_slot_t s = zswap_slot(3, 0);
 *
 *	for (; zswap_next_present(z, &s) && zswap_slot_type(s) == 3; s.val++)
 *		...
 *
 * Return: true, or false when no page follows, @slot lies in no area, or an
 *         argument is NULL.
 */
ZSWAP_API bool zswap_next_present(struct zswap *z, zswap_slot_t *slot);

/* ---- settings ---------------------------------------------------------- */

/**
 * zswap_set_enabled() - allow or refuse new stores
 *
 * A new cache is enabled. Disabling drops nothing: loads, peeks and
 * invalidations go on. A store into a disabled cache returns -EPERM and, like
 * any failed store, leaves its slots absent. Stores that are running when it is
 * disabled may still succeed.
 *
 * Return: 0, or -EINVAL when @z is NULL, or -EOWNERDEAD.
 * Origin: the parameter `enabled` of Linux zswap.
 */
ZSWAP_API int zswap_set_enabled(struct zswap *z, bool on);

/**
 * zswap_set_max_pool_bytes() - limit the memory for pages
 * @bytes: of pool_total_size; 0 stores nothing, ZSWAP_UNLIMITED is no limit
 *
 * The cache is *full* when a store finds that it holds as many bytes as its
 * limit or more, and then stays full until one finds that it holds no more than
 * the acceptance threshold, a share of the limit (after a change, of the new
 * one). Every store looks anew, and nobody else does. A store into a full cache
 * returns -ENOSPC and, like any failed store, leaves its slots absent. What is
 * there stays when the limit is lowered below it.
 *
 * What is held can pass the limit by the bytes of one batch of pages for each
 * store that is running, zspages included, and by no more. Where memory can't
 * go back in parts (see the hook @purge), what is free and waits to be used
 * again counts only up to a 32nd of what is used. The metadata is outside the
 * limit.
 *
 * Of this call and zswap_set_max_pool_percent() the last one counts.
 *
 * Context: any thread, at any moment.
 * Return:  0, or -EINVAL when @z is NULL, or -EOWNERDEAD.
 * Origin:  the check of Linux mm/zswap.c, which looks once for each folio.
 */
ZSWAP_API int zswap_set_max_pool_bytes(struct zswap *z, uint64_t bytes);

/**
 * zswap_set_max_pool_percent() - limit the memory for pages to a share
 * @percent: 0..100 of the memory that this process may use; 0 stores nothing
 *
 * That memory is the machine's, or the smallest limit of a control group (v1 or
 * v2) that the process is in, if that is less. It is found out now, and by
 * zswap_create(), but not again when a control group's limit changes: call this
 * again. The limit is rounded down to whole pages.
 *
 * Return: 0, or -EINVAL when @z is NULL or @percent above 100, or -EOWNERDEAD.
 * Origin: the parameter `max_pool_percent` of Linux zswap, a share of all RAM.
 */
ZSWAP_API int zswap_set_max_pool_percent(struct zswap *z, unsigned percent);

/**
 * zswap_set_accept_threshold_percent() - where a full cache accepts again
 * @percent: 0..100 of the limit, rounded down; 100: as soon as it is below
 *           the limit, 0: when it is empty
 *
 * Return: 0, or -EINVAL when @z is NULL or @percent above 100, or -EOWNERDEAD.
 * Origin: the parameter `accept_threshold_percent` of Linux zswap.
 */
ZSWAP_API int zswap_set_accept_threshold_percent(struct zswap *z,
						 unsigned percent);

/**
 * zswap_compact() - move objects together, and give back what becomes empty
 *
 * Of all pools, as zs_compact() in <zswap/zsmalloc.h> does it: until no class
 * could give back a zspage. Pages that are being loaded stay where they are
 * (objects_skipped). Other calls go on meanwhile; none waits for longer than a
 * zspage takes to fill. A pool that another thread is compacting is left to it.
 *
 * Context: any thread.
 * Return:  bytes of zspages given back: by so much falls pool_total_size less
 *          reserve_bytes, as a part of them may wait for reuse; or -EINVAL when
 *          @z is NULL, or -EOWNERDEAD.
 * Origin:  zram's `compact`; Linux zswap never compacts.
 */
ZSWAP_API long zswap_compact(struct zswap *z);

/* ---- statistics -------------------------------------------------------- */

/*
 * The counters and gauges of a cache, with one line on each. X(name, what it
 * means). A *gauge* is what is held now; a *counter* only grows. Each folio
 * given to a store, and each page asked of a load or a peek, counts when that
 * call is done, if its arguments passed the checks.
 *
 * The page gauges, original_bytes and compressed_bytes belong together: they
 * are read cluster by cluster (512 slots), each cluster at one moment, so that
 * in every snapshot same_filled + stored_incompressible <= stored, and they
 * never exceed what the slots can hold. pool_total_size and reserve_bytes
 * belong together too, read at a moment of their own, and so do the two
 * limits. Counters are each exact at rest, when no call is running; then
 *
 *	stores == stored_folios + refused_folios
 *	stored_folios == the sum of stored_folios_1 .. stored_folios_512
 *	refused_folios == the sum of refused_folios_1 .. refused_folios_512
 *	               == the sum of all reject_...
 *	loads == zswpin + load_misses + load_errors
 *
 * The compression ratio of what is compressed or raw is original_bytes /
 * compressed_bytes, and with all that is held original_bytes /
 * (pool_total_size + metadata_bytes); when original_bytes is 0 there is none.
 */
#define ZSWAP_STATS(X)                                                         \
	X(stored_pages, "gauge, pages: in the cache, of every kind")           \
	X(same_filled_pages, "gauge, pages: of these, one repeated word")      \
	X(stored_incompressible_pages, "gauge, pages: of these, kept raw")     \
	X(original_bytes, "gauge, bytes: uncompressed, of all pages but the"   \
			  " same-filled ones")                                 \
	X(compressed_bytes, "gauge, bytes: payload of the same pages; a raw"   \
			    " page counts whole")                              \
	X(pool_total_size, "gauge, bytes: zspages really held, reserve"        \
			   " included, of all pools")                          \
	X(reserve_bytes, "gauge, bytes: of these, kept empty for reuse")       \
	X(metadata_bytes, "gauge, bytes: entries, slot tables, descriptors,"   \
			  " contexts, and the cache itself")                   \
	X(max_pool_bytes, "gauge, bytes: the limit of pool_total_size;"        \
			  " 2^64 - 1 is none")                                 \
	X(accept_threshold_bytes, "gauge, bytes: a full cache accepts again"   \
				  " at this pool_total_size; 2^64 - 1 where"   \
				  " there is no limit")                        \
	X(pools, "gauge, pools: the current one and those that have entries,"  \
		 " or are being ended")                                        \
	X(stores, "counter, folios: given to stores")                          \
	X(stored_folios, "counter, folios: stored")                            \
	X(refused_folios, "counter, folios: refused")                          \
	X(zswpout, "counter, pages: stored, in folios that were stored whole") \
	X(same_filled_stored, "counter, pages: of zswpout, one repeated word") \
	X(incompressible_stored, "counter, pages: of zswpout, kept raw")       \
	X(compress_engine_fail,                                                \
	  "counter, pages: the compressor failed, whether"                     \
	  " kept raw or refused")                                              \
	X(pool_limit_hit, "counter, folios: found the limit reached, not only" \
			  " the cache still full")                             \
	X(reject_disabled, "counter, folios: refused, the cache was disabled") \
	X(reject_limit, "counter, folios: refused, the cache was full")        \
	X(reject_compress_poor, "counter, folios: refused, a page did not"     \
				" compress")                                   \
	X(reject_compress_fail, "counter, folios: refused, the compressor"     \
				" failed")                                     \
	X(reject_alloc_fail, "counter, folios: refused, no memory for pages"   \
			     " or slot tables")                                \
	X(reject_kmemcache_fail, "counter, folios: refused, no memory for"     \
				 " entries")                                   \
	X(reject_no_context, "counter, folios: refused, stored by a"           \
			     " compressor while no context was free")          \
	X(loads, "counter, pages: asked of loads and peeks")                   \
	X(zswpin, "counter, pages: delivered by loads and peeks")              \
	X(load_misses, "counter, pages: asked of loads and peeks, absent")     \
	X(load_errors, "counter, pages: asked of loads and peeks, present and" \
		       " not delivered: they, or others of their folio")       \
	X(decompress_fail, "counter, attempts: pages that did not decompress") \
	X(pages_compacted, "counter, pages: of zspages given back by"          \
			   " compaction, by itself or by zswap_compact()")     \
	X(objects_moved, "counter, objects: moved by compaction")              \
	X(objects_skipped, "counter, times that compaction passed over an"     \
			   " object in use")                                   \
	ZSWAP_STATS_BY_SIZE_(X, stored_folios, "stored")                       \
	ZSWAP_STATS_BY_SIZE_(X, refused_folios, "refused")

/* Folios by their pages, in powers of two: _4 counts those of 3 and 4. */
#define ZSWAP_STATS_BY_SIZE_(X, name, what)                             \
	X(name##_1, "counter, folios: " what ", of 1 page")             \
	X(name##_2, "counter, folios: " what ", of 2 pages")            \
	X(name##_4, "counter, folios: " what ", of 3 to 4 pages")       \
	X(name##_8, "counter, folios: " what ", of 5 to 8 pages")       \
	X(name##_16, "counter, folios: " what ", of 9 to 16 pages")     \
	X(name##_32, "counter, folios: " what ", of 17 to 32 pages")    \
	X(name##_64, "counter, folios: " what ", of 33 to 64 pages")    \
	X(name##_128, "counter, folios: " what ", of 65 to 128 pages")  \
	X(name##_256, "counter, folios: " what ", of 129 to 256 pages") \
	X(name##_512, "counter, folios: " what ", of 257 to 512 pages")

/**
 * struct zswap_stats - see ZSWAP_STATS for what each field means
 * @size: sizeof(struct zswap_stats), set by the caller; at least 16
 *
 * All fields are uint64_t, in the order of ZSWAP_STATS. The fields that lie
 * wholly within @size are filled.
 */
struct zswap_stats {
	size_t size;
#define ZSWAP_STATS_FIELD_(name, text) uint64_t name;
	ZSWAP_STATS(ZSWAP_STATS_FIELD_)
#undef ZSWAP_STATS_FIELD_
};

/**
 * zswap_get_stats() - read the statistics
 *
 * Allocates nothing. Looks at each 512 slots that hold pages, so it takes about
 * a millisecond for ten million pages side by side.
 * Return: 0, or -EINVAL when an argument is NULL or @stats->size below 16, or
 *         -EOWNERDEAD.
 */
ZSWAP_API int zswap_get_stats(struct zswap *z, struct zswap_stats *stats);

/* Forms of the statistics as text. Later versions may add some at the end. */
enum zswap_stats_format {
	/*
	 * A line "name value" for each field, in order, and last the line
	 * "compressor spec", with the canonical spec of the current one.
	 */
	ZSWAP_STATS_TEXT = 0,
};

/**
 * zswap_format_stats() - the statistics as text
 * @format: ZSWAP_STATS_TEXT
 * @buf:    receives the text and a NUL, cut to fit; NULL when @len is 0
 * @len:    bytes of @buf
 *
 * Return: the bytes of the whole text without the NUL, so that a result of @len
 *         or more means that it was cut; or -EINVAL, -EOWNERDEAD.
 */
ZSWAP_API long zswap_format_stats(struct zswap *z,
				  enum zswap_stats_format format, char *buf,
				  size_t len);

#ifdef __cplusplus
}
#endif

#endif /* ZSWAP_ZSWAP_H */
