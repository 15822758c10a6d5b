/* SPDX-License-Identifier: MIT */
/*
 * poison.h - tells ASan or valgrind what of the library's memory is in use
 *
 * A sanitizer knows the blocks of malloc(), and nothing of what the library
 * cuts from its blocks and mappings: to it a read of a freed entry, of a freed
 * object, or past a payload's end is like any other. So whoever hands memory
 * out *allows* it, and whoever takes it back *forbids* it:
 *
 *	slab    mem.c   free objects, those never handed out, what is left over
 *	span    span.c  free granules, and a waiting run but for its list nodes
 *	zspage  zs.c    free objects, those never handed out, what is left over,
 *	                and of an object in use all behind its payload
 *
 * A free object's link and a waiting run's nodes lie in the forbidden memory.
 * The links are allowed for the moment in which they are read; the nodes stay
 * allowed, as their neighbours in the lists write to them.
 *
 * Who forbade memory allows it again before a hook gets it: it is the hook's.
 *
 * Exactness: valgrind keeps a state for each byte. ASan keeps for each 8 bytes
 * how many of them, counted from the first, are allowed. What is handed out
 * begins at a multiple of 8, and what is forbidden ends at one (all sizes of
 * entries and objects are multiples of 16): so here both are exact to the byte.
 * ASan sees accesses of code that was built with it, and of memcpy() and the
 * like; valgrind also those of the codecs' libraries.
 *
 * Locking: none here. Only who owns the memory at that moment changes its
 * state: under the lock that hands it out and takes it back, or where nobody
 * else knows of it. No 8 bytes are shared by two owners.
 *
 * In a build for neither (see the option `valgrind`) all of this is nothing.
 */
#ifndef ZSWAP_POISON_H
#define ZSWAP_POISON_H

#include "base.h"

#include <string.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define POISON_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define POISON_ASAN
#endif

#if defined(POISON_ASAN)
#include <sanitizer/asan_interface.h>
#elif defined(HAVE_VALGRIND)
#include <valgrind/memcheck.h>
#endif

/* Not to be read or written from now on. */
static inline void poison_forbid(void *addr, size_t bytes)
{
#if defined(POISON_ASAN)
	__asan_poison_memory_region(addr, bytes);
#elif defined(HAVE_VALGRIND)
	VALGRIND_MAKE_MEM_NOACCESS(addr, bytes);
#else
	(void)addr, (void)bytes;
#endif
}

/* To be written before it is read: memory that is handed out. */
static inline void poison_allow_undefined(void *addr, size_t bytes)
{
#if defined(POISON_ASAN)
	__asan_unpoison_memory_region(addr, bytes);
#elif defined(HAVE_VALGRIND)
	VALGRIND_MAKE_MEM_UNDEFINED(addr, bytes);
#else
	(void)addr, (void)bytes;
#endif
}

/* With what it holds, which was written before it was forbidden. */
static inline void poison_allow_defined(void *addr, size_t bytes)
{
#if defined(POISON_ASAN)
	__asan_unpoison_memory_region(addr, bytes);
#elif defined(HAVE_VALGRIND)
	VALGRIND_MAKE_MEM_DEFINED(addr, bytes);
#else
	(void)addr, (void)bytes;
#endif
}

/* Whether this byte is forbidden; false where nobody keeps account. */
static inline bool poison_is_forbidden(const void *addr)
{
#if defined(POISON_ASAN)
	return __asan_address_is_poisoned(addr);
#elif defined(HAVE_VALGRIND)
	unsigned char vbits;

	/* 3: not addressable. (Other questions would report an error.) */
	return VALGRIND_GET_VBITS(addr, &vbits, 1) == 3;
#else
	(void)addr;
	return false;
#endif
}

/*
 * Reads what was written before it was forbidden, a free slot's link say, and
 * leaves it as it was. What is forbidden is so in all of its bytes.
 */
static inline void poison_read(void *to, void *from, size_t bytes)
{
	bool forbidden = poison_is_forbidden(from);

	if (forbidden)
		poison_allow_defined(from, bytes);
	memcpy(to, from, bytes);
	if (forbidden)
		poison_forbid(from, bytes);
}

#endif /* ZSWAP_POISON_H */
