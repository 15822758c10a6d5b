/* SPDX-License-Identifier: MIT */
/*
 * zswap/zsmalloc.h - an allocator for compressed pages, with the space of Linux
 * zsmalloc
 *
 * For who keeps many objects smaller than a page, reads and writes them whole,
 * and cares for the memory they take: a compressed disk in memory, or a cache
 * of another kind than <zswap/zswap.h>, which is built on it.
 *
 *	struct zs_pool *pool;
 *	zs_handle handle;
 *
 *	zs_create_pool(&pool, NULL);
 *	zs_malloc(pool, len, &handle);
 *	zs_obj_write(pool, handle, bytes, len);
 *	copy = zs_obj_read_begin(pool, handle);
 *	...
 *	zs_obj_read_end(pool, handle);
 *	zs_free(pool, handle);
 *	zs_destroy_pool(pool);
 *
 * Words. An *object* is what one zs_malloc() gets, and its *handle* its name,
 * never 0: the object may be moved while nobody reads or writes it, its handle
 * stays. Objects of one *size class* share *zspages*, runs of pages that are
 * used as one array of equal objects. A *page* is page_size bytes. The
 * *payload* is the bytes asked for.
 *
 * Where objects go. In a zspage that is neither full nor empty of their class,
 * the fullest there is (by tenths, and of several the one that came to that
 * tenth last), there in the place that was freed last. A zspage that becomes
 * empty is given back at once. So after many calls to zs_free() zspages are
 * left partly empty; *compaction* moves objects together: zs_compact() until
 * each class has less free places than a zspage has, zs_free() bit by bit,
 * where that was asked for (ZSWAP_COMPACT_AUTO).
 *
 * Memory. Zspages are cut from mappings of 1024 pages. Of those given back a
 * few wait for reuse: one page in 32 that are used, but no more than 256 KiB,
 * or one in 128 where that is more. The rest has gone back to the system when
 * the call returns.
 *
 * Results. Every function that can fail returns 0 (or a count) or a negative
 * errno value; errno itself is not touched. The library prints nothing and
 * never ends the process; a build with debug_checks stops it (SIGILL) on a
 * handle that zs_malloc() did not give or that was freed, which elsewhere is
 * undefined.
 *
 * Threads. Any function may be called by any thread at any time, except that
 * zs_destroy_pool() must be the last call on its pool, and zs_free() the last
 * one on its handle. Who writes an object while others read or write it gives a
 * mixture. zs_obj_read_begin() and zs_obj_write() wait while their object is
 * being moved, for as long as it takes to copy; no call waits for a read or a
 * write of another. No call is a point of cancellation.
 *
 * Fork. A pool belongs to the process that created it. In a forked child every
 * call on it does nothing, and returns -EOWNERDEAD, NULL or 0. The mappings are
 * not in the child, unless a map hook of the caller's own puts them there. The
 * child may create pools of its own.
 *
 * Structs begin with `size`, as in <zswap/zswap.h>.
 *
 * Origin: Linux mm/zsmalloc.c, the names too, and the numbers: with the default
 * parameters, the same sequence of calls takes the same pages. What differs:
 * zs_malloc() returns an errno value beside the handle, the allocator remembers
 * each object's length, zspages are contiguous so that an object is always in
 * one piece, and there is no node to choose.
 */
#ifndef ZSWAP_ZSMALLOC_H
#define ZSWAP_ZSMALLOC_H

#include <zswap/zswap.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zs_pool;

/* An object's name. 0 is none. */
typedef uintptr_t zs_handle;

/**
 * struct zs_pool_params - how a pool is made
 * @size:          sizeof(struct zs_pool_params)
 * @page_size:     bytes in a page, the most in an object: 4096 (0 means this),
 *                 16384 or 65536
 * @chain_size:    the most pages in a zspage, 1..16; 0 means 8. Longer ones
 *                 waste less at their end, and more while partly empty
 * @class_choice:  an enum zswap_class_choice; 0 means ZSWAP_CLASSES_EXACT
 * @compaction:    an enum zswap_compaction; 0 means ZSWAP_COMPACT_MANUAL
 * @memory_flags:  ZSWAP_MEM_HUGE_PAGES, ZSWAP_MEM_NO_DUMP, ZSWAP_MEM_WIPE
 * @hooks:         NULL means malloc and mmap; no thread is started
 */
struct zs_pool_params {
	size_t size;
	size_t page_size;
	uint32_t chain_size;
	uint32_t class_choice;
	uint32_t compaction;
	uint32_t memory_flags;
	const struct zswap_hooks *hooks;
};

/**
 * zs_create_pool() - make an empty pool
 * @out:    receives the pool; set to NULL on every error
 * @params: NULL means all defaults; read during the call only
 *
 * A pool has no memory for objects until there are some.
 *
 * Ownership: the caller's, until zs_destroy_pool().
 * Return:    0, or with nothing left behind
 *            -EINVAL  @out is NULL, or a field of @params has no such value
 *            -ENOMEM  no memory
 */
ZSWAP_API int zs_create_pool(struct zs_pool **out,
			     const struct zs_pool_params *params);

/**
 * zs_destroy_pool() - give back a pool, and all objects that are left in it
 * @pool: the pool, or NULL
 *
 * No other call may be running on @pool, and none may follow. With
 * ZSWAP_MEM_WIPE what is left is overwritten too. (Linux leaks the objects.)
 */
ZSWAP_API void zs_destroy_pool(struct zs_pool *pool);

/**
 * zs_malloc() - allocate an object
 * @bytes: of payload, 1 .. a page
 * @out:   receives the handle; 0 on every error
 *
 * The payload's contents are undefined.
 *
 * Ownership: the caller's, until zs_free().
 * Return:    0, or with nothing changed, but for some 16 KiB of metadata that
 *            the next calls use:
 *            -EINVAL  @bytes is 0, or an argument is NULL
 *            -ENOSPC  @bytes is more than a page
 *            -ENOMEM  no memory
 *            -EOWNERDEAD, looked for before all but a NULL @pool
 */
ZSWAP_API int zs_malloc(struct zs_pool *pool, size_t bytes, zs_handle *out);

/* zs_free() - free an object, which nobody reads; 0 does nothing */
ZSWAP_API void zs_free(struct zs_pool *pool, zs_handle handle);

/**
 * zs_obj_read_begin() - keep an object where it is, and read it there
 *
 * As many threads as like may do so at once, one thread several times, and
 * hold it as long as they like: compaction passes the object over meanwhile.
 *
 * Return: the payload, contiguous, as many bytes as were asked of zs_malloc();
 *         aligned to 8. Valid until zs_obj_read_end(). NULL in a forked child,
 *         and for a handle of 0.
 */
ZSWAP_API const void *zs_obj_read_begin(struct zs_pool *pool, zs_handle handle);

/* zs_obj_read_end() - let it be moved again; once for each begin */
ZSWAP_API void zs_obj_read_end(struct zs_pool *pool, zs_handle handle);

/**
 * zs_obj_write() - copy bytes to the start of an object's payload
 *
 * What lies behind them in the payload stays.
 *
 * May be called for an object that is being read, by the same thread too.
 *
 * Return: 0; -EINVAL when the payload has fewer bytes, @handle is 0 or an
 *         argument NULL, with nothing written; or -EOWNERDEAD
 */
ZSWAP_API int zs_obj_write(struct zs_pool *pool, zs_handle handle,
			   const void *src, size_t bytes);

/* zs_obj_bytes() - the bytes that were asked for; 0 for a handle of 0 */
ZSWAP_API size_t zs_obj_bytes(struct zs_pool *pool, zs_handle handle);

/**
 * zs_compact() - move objects together, and give back what becomes empty
 *
 * Classes are compacted one after the other, the largest first. In each,
 * objects of the emptiest zspage go to the fullest that is not full, until the
 * class has fewer free places than a zspage. Objects that are being read or
 * written are looked at once and passed over (objects_skipped), then more may
 * be left. Others may call anything meanwhile; a call that finds another
 * compacting returns 0. Needs no memory.
 *
 * Return: the pages of the zspages given back; or -EINVAL (NULL), -EOWNERDEAD
 */
ZSWAP_API long zs_compact(struct zs_pool *pool);

/* zs_get_total_pages() - pages of all zspages; 0 for NULL, in a child */
ZSWAP_API uint64_t zs_get_total_pages(struct zs_pool *pool);

/**
 * zs_huge_class_size() - payloads from this many bytes on have a page each
 *
 * 3625 with the default parameters. It depends on @page_size and @chain_size
 * alone. (Linux ignores the pool.) 0 for NULL, and in a child.
 */
ZSWAP_API size_t zs_huge_class_size(struct zs_pool *pool);

/**
 * zs_lookup_class_index() - the number of the class with room for these bytes
 *
 * As in Linux, the answer is for objects of @bytes in all: a payload's class is
 * that of 8 bytes more. A class's number is ceil((object_bytes - 32) / (a
 * page's 256th)), and at most that of the class of a whole page, which also is
 * the answer for more. Of an adaptive pool it is the exact choice. 0 for NULL,
 * and in a child.
 */
ZSWAP_API unsigned zs_lookup_class_index(struct zs_pool *pool, size_t bytes);

/**
 * struct zs_pool_stats - a pool's figures
 * @size:              sizeof(struct zs_pool_stats), set by the caller
 * @pages_compacted:   counter, pages: given back by compaction of either kind
 * @objects_moved:     counter, objects: moved by compaction
 * @objects_skipped:   counter, times that compaction passed over an object
 *                     which was being read or written
 * @objects:           gauge, objects
 * @pages_used:        gauge, pages: of all zspages, as zs_get_total_pages()
 * @compactable_pages: gauge, pages: that zs_compact() would give back
 * @held_bytes:        gauge, bytes: memory behind zspages, the reserve included
 * @reserve_bytes:     gauge, bytes: of these, kept empty for reuse
 * @metadata_bytes:    gauge, bytes: handles, descriptors, the pool itself
 *
 * Each is of one moment, pages_used, held_bytes and reserve_bytes of the same
 * one; compactable_pages is never more than pages_used.
 */
struct zs_pool_stats {
	size_t size;
	uint64_t pages_compacted;
	uint64_t objects_moved;
	uint64_t objects_skipped;
	uint64_t objects;
	uint64_t pages_used;
	uint64_t compactable_pages;
	uint64_t held_bytes;
	uint64_t reserve_bytes;
	uint64_t metadata_bytes;
};

/**
 * zs_pool_stats() - read a pool's figures
 *
 * Return: 0, or -EINVAL (NULL, or @stats->size below 16), or -EOWNERDEAD
 */
ZSWAP_API int zs_pool_stats(struct zs_pool *pool, struct zs_pool_stats *stats);

#define ZS_FULLNESS_GROUPS 12

/**
 * struct zs_class_stats - a size class's figures, all of one moment
 * @size:              sizeof(struct zs_class_stats), set by the caller
 * @index:             its number, as of zs_lookup_class_index()
 * @object_bytes:      bytes of one object: payload, 8 bytes, and what is over
 * @objects_per_zspage: objects in a zspage
 * @pages_per_zspage:  pages of a zspage
 * @objects_allocated: places in all its zspages
 * @objects_used:      of these, with an object
 * @pages_used:        of all its zspages
 * @freeable_pages:    that compaction would give back
 * @zspages:           zspages by fullness: [0] empty, [11] full, and between
 *                     them [g] from 10 (g - 1) percent on to below 10 g.
 *                     While the class is being compacted some are in none
 */
struct zs_class_stats {
	size_t size;
	uint32_t index;
	uint32_t object_bytes;
	uint32_t objects_per_zspage;
	uint32_t pages_per_zspage;
	uint64_t objects_allocated;
	uint64_t objects_used;
	uint64_t pages_used;
	uint64_t freeable_pages;
	uint64_t zspages[ZS_FULLNESS_GROUPS];
};

/**
 * zs_class_stats() - read a class's figures
 * @nth: which class, from 0, by size of object and then pages of a zspage
 *
 * Return: 0; -ENOENT when there are not so many classes; -EINVAL (NULL, or
 *         @stats->size below 24); or -EOWNERDEAD
 */
ZSWAP_API int zs_class_stats(struct zs_pool *pool, unsigned nth,
			     struct zs_class_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* ZSWAP_ZSMALLOC_H */
