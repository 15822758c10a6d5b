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
 * Page buffers need no alignment.
 *
 * Stack. zswap_store_folio() and zswap_load_folio() need up to 48 KiB of the
 * caller's stack, beside what a compressor of the caller's own takes.
 *
 * Fork. A cache belongs to the process that created it. In a forked child
 * every call on it returns -EOWNERDEAD at once (a bool call false, a void call
 * does nothing; zswap_page_size() answers), and the pages are not in the
 * child's memory at all, unless a map hook of the caller's own puts them there.
 * The child may create caches of its own.
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
 *         power of two, a multiple of the system's page size); NULL when there
 *         is none
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
 * huge pages, and give memory back by MADV_DONTNEED). A @purge of NULL beside a
 * @map of the caller's own means that memory goes back by whole mappings only;
 * a @purge without a @map is refused.
 *
 * Mappings are of 1024 pages, which hold their own description too, and one of
 * a system page, for telling a forked child, made by zswap_create(); where the
 * kernel can't wipe that page in a child (it is shared memory, say), it is
 * given back, and one is mapped without the hook. The page's advice about forks
 * is left at MADV_DOFORK. What @alloc gives must stay in the memory of a forked
 * child.
 *
 * Hooks are called by whatever thread is in a call of the cache, several at
 * once, and must not call the cache. @alloc and @map are called by
 * zswap_create(), zswap_swapon() and stores alone. The struct is copied.
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

/**
 * struct zswap_params - how a cache is made
 * @size:           sizeof(struct zswap_params)
 * @page_size:      bytes in a page: 4096 (0 means this), 16384 or 65536
 * @compressor:     the compressor's name, a colon and options where it has
 *                  any; NULL means "lz4". Built in: "lz4", without options
 * @hooks:          NULL means malloc and mmap
 * @compressors:    @nr_compressors compressors of the caller's own, which
 *                  @compressor may name; one named like a built-in one hides
 *                  it, the first of several of one name the others. All are
 *                  checked. See <zswap/compressor.h>. Copied; what their
 *                  members point to must stay until zswap_destroy() has
 *                  returned
 * @nr_compressors: 0..64
 */
struct zswap_params {
	size_t size;
	size_t page_size;
	const char *compressor;
	const struct zswap_hooks *hooks;
	const struct zswap_compressor *const *compressors;
	size_t nr_compressors;
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
 *                     of the three, half a pair of hooks, a malformed
 *                     compressor spec or option, a compressor without a member
 *                     it needs
 *            -ENOENT  no compressor of that name
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
 * none. All memory goes back through the hooks before it returns.
 */
ZSWAP_API void zswap_destroy(struct zswap *z);

/* zswap_page_size() - bytes of a page in this cache; 0 when @z is NULL */
ZSWAP_API size_t zswap_page_size(const struct zswap *z);

/* ---- areas ------------------------------------------------------------- */

/**
 * zswap_swapon() - add an area: slots 0 .. @nr_slots - 1 of @type, all absent
 * @nr_slots: 1 .. 2^48 (2^48 - 1 for type 65535)
 *
 * An area costs up to a kilobyte, more on more processors, then 4 KiB for
 * each 512 consecutive slots that hold pages, and 16 KiB for each 2^17
 * consecutive slots that were ever stored to, with an index above them for
 * larger areas: an area of 2^48 slots with pages in one place, or in two far
 * apart, costs under 64 KiB. Only the tables of 4 KiB go when their pages do;
 * the rest stays until zswap_swapoff(). So slots are best used from 0 on, or in
 * ranges, and not as hashes.
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
 * Context: any thread, but not a function of a compressor that a store or a
 *          load has called: that would wait for the call it is in.
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
 * one that does not compress into less than a page's room is kept as it is.
 * Each other page is compressed once.
 *
 * Pages that change during the call are stored as some mixture, or load as
 * -EIO; no other page is harmed.
 *
 * Ownership: the pages are copied and not read after the call. They may be in
 *            read-only memory.
 * Results:   0 for a page that was stored; when the call fails, the error for
 *            the pages that caused it and -ECANCELED for the others.
 * Context:   any thread; runs the compressor in it.
 * Return:    0, or
 *            -EINVAL  a NULL, no pages or too many, a flag, a group: nothing
 *                     has changed
 *            -ENXIO   no such area, or not all slots lie in it: likewise
 *            -EOWNERDEAD  the cache is another process's: likewise
 *            -EPERM   the cache is disabled: every slot of the folio is absent
 *            -ENOMEM  no memory for the pages or their entries: likewise
 *            -EDEADLK called by a compressor, and no context is free: likewise
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

/* ---- statistics -------------------------------------------------------- */

/*
 * The counters and gauges of a cache, with one line on each. X(name, what it
 * means). A *gauge* is what is held now; a *counter* only grows.
 *
 * The three page gauges and compressed_bytes belong together: they are read
 * cluster by cluster (512 slots), each cluster at one moment, so that in every
 * snapshot same_filled + stored_incompressible <= stored, and they never exceed
 * what the slots can hold. pool_total_size and reserve_bytes belong together
 * too, read at a moment of their own.
 * Counters are each exact at rest, when no call is running.
 */
#define ZSWAP_STATS(X)                                                         \
	X(stored_pages, "gauge, pages: in the cache, of every kind")           \
	X(same_filled_pages, "gauge, pages: of these, one repeated word")      \
	X(stored_incompressible_pages, "gauge, pages: of these, kept raw")     \
	X(compressed_bytes, "gauge, bytes: payload; a raw page counts whole,"  \
			    " a same-filled one nothing")                      \
	X(pool_total_size, "gauge, bytes: zspages really held, reserve"        \
			   " included")                                        \
	X(reserve_bytes, "gauge, bytes: of these, kept empty for reuse")       \
	X(metadata_bytes, "gauge, bytes: entries, slot tables, descriptors,"   \
			  " contexts, and the cache itself")                   \
	X(zswpout, "counter, pages: stored, in folios that were stored whole") \
	X(zswpin, "counter, pages: delivered by loads and peeks")              \
	X(load_misses, "counter, pages: asked of loads and peeks, absent")     \
	X(decompress_fail, "counter, pages: that did not decompress")          \
	X(same_filled_stored, "counter, pages: of zswpout, one repeated word") \
	X(incompressible_stored, "counter, pages: of zswpout, kept raw")       \
	X(compress_engine_fail, "counter, pages: the compressor failed")       \
	X(reject_alloc_fail, "counter, folios: refused, no memory for pages"   \
			     " or slot tables")                                \
	X(reject_kmemcache_fail, "counter, folios: refused, no memory for"     \
				 " entries")                                   \
	X(reject_disabled, "counter, folios: refused, the cache was disabled")

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
	ZSWAP_STATS_TEXT = 0, /* a line "name value" for each field, in order */
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
