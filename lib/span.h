/* SPDX-License-Identifier: MIT */
/*
 * span.h - runs of pages for zspages
 *
 * A *granule* is the cache's page (4, 16 or 64 KiB). A *run* is 1 to 16
 * neighbouring granules, contiguous in virtual memory. Runs are cut from
 * *chunks*, mappings of 1024 granules that are aligned to their size, so that
 * any address in a run finds its chunk by masking and there its run's owner:
 *
 *	chunk | header: free bits, owner of each granule | run | run | free |
 *
 * A granule is in one of three states:
 *
 *	used      part of a run that was handed out
 *	waiting   part of a run that came back, its memory still there; such runs
 *	          wait in lists by length for the next request of that length
 *	free      a bit in the header; as a rule without memory behind it
 *
 * *Held* is the memory that is really there: what is used, and the *reserve*,
 * which is what waits. The reserve saves page faults (about 2 us each, as much
 * as loading a page) where runs come and go. It is kept within 1/32 of what is
 * used, and where that is more than 256 KiB within these, or 1/128; the oldest
 * is given back first, so that an empty pool holds nothing. A larger share would
 * hold more and save little: steady churn needs only the runs of a few
 * operations.
 *
 * Memory goes back inside a chunk by the purge hook, never by unmapping parts,
 * and outside the lock. A chunk without used granules is unmapped, but for one
 * spare. Where memory can't go back in parts (no purge hook, or a purge that
 * fails, or a system page larger than a granule, at the ends of a run), free
 * granules keep their memory. They are *resident*, a second bit, and count as
 * reserve, beyond the 1/32, until they are used or their chunk is empty.
 *
 * No run is handed out that makes all the spans of a cache hold more than the
 * cache's limit and this span's slack. Runs that wait are held already.
 *
 * Locking: span->lock guards all lists and bits; a leaf. The owner of a used
 * run's granules is constant while the run is used, and read without the lock.
 */
#ifndef ZSWAP_SPAN_H
#define ZSWAP_SPAN_H

#include "mem.h"

#define SPAN_MAX_RUN 16
#define SPAN_CHUNK_GRANULES 1024
/* What may wait: MEM_RESERVE_SHARE, and from these bytes on this share. */
#define SPAN_RESERVE_BYTES ((size_t)256 * 1024)
#define SPAN_RESERVE_SHARE 128
/*
 * A run of no more bytes gets its memory as a whole, which takes a fifth less
 * time than a fault for each page; a longer one would delay one call too much.
 */
#define SPAN_POPULATE_BYTES ((size_t)32 * 1024)
/*
 * Addresses have fewer bits than this, so that a word has room for more: what
 * is above, which a system maps only if asked to, is not used.
 */
#define SPAN_ADDRESS_BITS 48

struct chunk;

/*
 * The start of every chunk: the owner of each granule, NULL unless it is used.
 */
struct span_owners {
	void *owner[SPAN_CHUNK_GRANULES];
};

struct span_pool {
	struct mem *mem;
	size_t granule_bytes;
	unsigned granule_shift;
	size_t chunk_bytes;
	unsigned header_granules;
	struct lock lock;
	/* Chunks by an upper bound of their longest free run, capped at 16. */
	struct list chunks[SPAN_MAX_RUN + 1];
	struct list waiting; /* all waiting runs, newest first */
	struct list waiting_by_length[SPAN_MAX_RUN + 1];
	size_t nr_waiting;   /* granules */
	struct chunk *spare; /* empty and purged, on no list */
	size_t nr_used;      /* granules */
	size_t nr_reserve; /* granules: waiting, or resident without being used */
	/*
	 * Both, as of the last unlocking, for readers without the lock: as in
	 * mem->held, which is the sum of these of all spans.
	 */
	_Atomic uint64_t counts;
	uint64_t slack_bytes; /* how far all that is held may pass the limit */
};

/* granule_bytes: a power of two, at least 4096 */
void span_init(struct span_pool *span, struct mem *mem, size_t granule_bytes);
/* Unmaps everything, whatever is still in use. */
void span_exit(struct span_pool *span);

/**
 * span_alloc() - hand out a run
 * @nr:    granules, 1 .. SPAN_MAX_RUN
 * @owner: what span_owner() is to return for addresses in the run
 *
 * @out:   receives the run, with undefined contents; NULL on an error
 *
 * Return: 0, -ENOMEM, or -EDQUOT (no room within the limit).
 */
int span_alloc(struct span_pool *span, unsigned nr, void *owner, void **out);

/* Takes a run back. Its memory stays in the reserve or goes to the system. */
void span_free(struct span_pool *span, void *run, unsigned nr);

/* The owner of the run in which addr lies, which must be used. */
static inline void *span_owner(const struct span_pool *span, const void *addr)
{
	uintptr_t at = (uintptr_t)addr;
	const struct span_owners *owners =
		(const void *)(at & ~(uintptr_t)(span->chunk_bytes - 1));

	return owners
		->owner[(at & (span->chunk_bytes - 1)) >> span->granule_shift];
}

struct span_held {
	size_t used_granules;
	size_t bytes;         /* the memory behind all runs, and of this: */
	size_t reserve_bytes; /* behind those that are not used */
};

/* What is held, at one moment. */
static inline struct span_held span_held(const struct span_pool *span)
{
	uint64_t counts =
		atomic_load_explicit(&span->counts, memory_order_relaxed);
	size_t used = (size_t)(counts >> 32);
	size_t reserve = (size_t)(counts & UINT32_MAX);

	return (struct span_held){
		.used_granules = used,
		.bytes = (used + reserve) * span->granule_bytes,
		.reserve_bytes = reserve * span->granule_bytes,
	};
}

/* Whether the invariants hold; for tests, with no call running. */
bool span_check(struct span_pool *span);

#endif /* ZSWAP_SPAN_H */
