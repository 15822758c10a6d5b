/* SPDX-License-Identifier: MIT */
/*
 * entry.h - one stored page: what it is, and every state it and its slot can be
 * in
 *
 * An entry is made by a store, published under a slot, and freed by the last
 * who holds it. This comment is the whole of its life, writeback included,
 * which a later version of the library adds: parts marked [wb] are not in the
 * code yet. Code that changes a slot's word or an entry's references belongs in
 * entry.c, so that it can be read against this.
 *
 *
 * THE SLOT. Its word, guarded by its cluster's lock, is a value and two marks:
 *
 *	value                bit 3    bit 2    bits 1..0
 *	NULL         0       ONSINK   FLIGHT   00   nothing stored here
 *	ENTRY        pointer ONSINK   FLIGHT   00   the entry (16-byte aligned)
 *	SHADOW  [wb] number  ONSINK   FLIGHT   01   written back; the sink has it
 *	BAD     [wb] all 1   -        -        10   no such slot
 *
 * FLIGHT [wb]: some version of this slot has been handed to the sink and the
 * sink has not answered. ONSINK [wb]: the sink holds bytes under this slot,
 * wanted or not. The marks belong to the slot, not to what is stored there: a
 * store that replaces the value, or an invalidation, leaves them as they are.
 * A word counts as used while it is not 0, marks included.
 *
 * The *number* of a shadow comes from a counter of 60 bits that is never set
 * back: two shadows with one number are one shadow. A shadow says that the
 * sink's bytes are wanted. Where the sink can't read, it counts as absent in
 * every call of the cache, and keeps the bytes from being cleaned away (7).
 *
 *
 * THE ENTRY. Fields that never change after publishing: the length, the pool's
 * number, RAW and FILLED, and for a filled page the word in the cell. Fields
 * that do: REFERENCED and FAILED [wb], atomic bits with no meaning for
 * correctness, and:
 *
 *	refs      bits 0..13: *pins*, one for each load or peek that reads it, for
 *	          a flight [wb], and for its builder. Bit 14, SLOT: the reference
 *	          of the slot whose word points to the entry. Bit 15, MOVING:
 *	          compaction is changing the cell this instant
 *	cell      where the object is; changed by compaction only
 *
 *	                 publish              unlink             last unpin
 *	BUILDING  ------------------>  LIVE  -------->  UNLINKED  --------> freed
 *	  |  SLOT + 1 pin, private     SLOT + pins       pins
 *	  |                              |
 *	  +--> freed (store failed)      +--> freed, where there are no pins
 *
 * While it is built an entry has the builder's pin besides the reference that
 * is to be the slot's, so that nothing moves its object while it is filled.
 * SLOT and pins are told apart so that one reader of an unlinked entry is not
 * taken for a slot.
 *
 * State     guarded by              who may do what
 * BUILDING  the storing thread      anything; nobody else knows the entry
 * LIVE      the cluster's lock:     pin, unlink, be put on the LRU
 *           whoever has it and      [wb]. Reading needs a pin, no lock
 *           finds the entry
 * UNLINKED  refs                    holders of pins read, and unpin. Nobody
 *                                   new can come: the word was the only way
 * freed     -                       the one whose unpin took refs to 0, or who
 *                                   unlinked it with no pins, frees it
 *
 * Transitions, each under the cluster's lock (both clusters' locks where a
 * folio crosses from one to the next, so that a folio is one transition), and
 * each with the gauges of the cluster and, last of all, the LRU [wb]:
 *
 * 1. publish: a value -> ENTRY. An older entry is unlinked in the same step, an
 *    older shadow forgotten. The builder's pin goes. Cannot fail: the table is
 *    there (held), the entry complete.
 * 2. unlink by invalidation: ENTRY or SHADOW -> NULL. [wb] Under pressure
 *    likewise an entry that its owner has marked as the copy of a resident
 *    page.
 * 3. unlink by a load that takes: ENTRY -> NULL, if the word still is the very
 *    entry that the load pinned and decompressed; otherwise the load starts
 *    over. A load that fails to decompress unlinks nothing.
 * 4. [wb] launch: an ENTRY on the LRU, without FLIGHT: set FLIGHT, pin. The
 *    entry stays LIVE and loadable. A FILLED one is launched by a drain only, a
 *    FAILED one never.
 * 5. [wb] land, when the sink answers: clear FLIGHT, unpin. If it succeeded set
 *    ONSINK, and if the word still is the very entry that was launched, unlink
 *    it: the word becomes a SHADOW with a new number. If it failed, or the word
 *    is something else, the value stays as it is. If decompression failed
 *    before the sink was asked, and the word still is this entry, set FAILED
 *    and take it off the LRU.
 * 6. [wb] read through: note the SHADOW's number, drop the lock, let the sink
 *    read, take the lock: the page is delivered if the word is the same SHADOW;
 *    a load that takes makes it NULL. Otherwise it starts over.
 * 7. [wb] clean: NULL, ONSINK, no FLIGHT: tell the sink to forget (in runs,
 *    from reclaim), with FLIGHT set meanwhile so that nobody launches; then
 *    clear both. A slot gets there by 2 or 6 only: its bytes are unwanted.
 *
 * Between unlinking and freeing an entry is in no gauge and on no list; its
 * object still counts as held. swapoff unlinks all when no user is left in the
 * area (see swap_table.h), and tells the sink to forget what is ONSINK. Flights
 * count as users [wb], on the shard that the launch took, which the flight
 * remembers: it may land in another thread.
 *
 *
 * WHY NO TRANSITION LOSES A PAGE. A value disappears from a slot only by 1, 2,
 * 3, 5, 6, 7. In 1 and 2 the caller has said so. In 3 and 6 the caller has the
 * bytes, complete, before the word changes. In 5 the sink has confirmed this
 * very version: the pin kept the entry's memory from being used again, so an
 * equal pointer is the same version, no generation needed. 7 finds no value. An
 * object is freed by the last holder only, so nobody reads freed memory: a pin
 * is taken under the lock under which the entry was found in the word, where
 * SLOT is set, and refs never rises from 0. Who unlinks drops the slot's
 * own reference, once, because only one thread can find the entry in the word.
 *
 * WHY NONE BRINGS A PAGE BACK. A word gets a value by 1 (the newest version, at
 * the moment of the store) and by 5 (a SHADOW, in the place of the version the
 * sink has just confirmed). In 5 a newer version in the word, or none, stays.
 * The bytes on the sink are wanted only through a SHADOW; an older version's
 * bytes are not read, because the word is not the shadow any more, and a reader
 * that was on its way finds another number. They can't overwrite newer bytes on
 * the sink, because a slot has one flight at a time: 4 waits for FLIGHT to go,
 * and 7 holds it. So what lands last was launched last.
 *
 * WHY A REPLACED PAGE IS NEVER DELIVERED. A peek delivers the version that was
 * in the word while it held the lock, a moment inside the call. A take delivers
 * a version only if it was still there when it took it. A folio's pages are
 * pinned under all its clusters' locks at once, and taken likewise.
 *
 * COMPACTION may move an entry's object while the class's lock keeps it
 * from being freed: refs exactly SLOT, read with acquire, or leave it (it is
 * pinned: a reader's, or still being built) and count a skip; copy the object;
 * refs from exactly SLOT to SLOT | MOVING by compare-and-swap (acquire; if it
 * fails, leave it); store the new place in the cell; clear MOVING (release). A
 * reader pins first (acquire); if it sees MOVING it waits those two
 * instructions out; then it reads the cell. So a reader that is inside keeps
 * the object where it is, and one that comes later finds it at its new place.
 * Bytes of an object that was published never change, so the copy needs no
 * exclusion.
 *
 * LOCK ORDER: clusters (ascending) before the LRU's lock [wb]; a size class's
 * lock, a slab's and the span's are taken with no cluster's lock held: freeing
 * happens after unlocking. The LRU knows an entry by address and slot; a walk
 * copies both, drops its lock, enters the slot's area as it is now (the slot
 * must be in it), locks the cluster, and goes on only if the word is that
 * address (22.8 of the specification: an address used again for the same slot
 * is a live entry all the same).
 *
 * Origin: the states of Linux mm/zswap.c; there the folio lock and the swap
 * cache exclude load, store and writeback of one slot, and an entry is freed
 * before its write is complete.
 */
#ifndef ZSWAP_ENTRY_H
#define ZSWAP_ENTRY_H

#include "zswap_priv.h"

/*
 * 16 bytes, and 16 more in a cache with checksums. The entry is its object's
 * cell: what the allocator calls a cell is the first field. The upper half of
 * refs is free (for an age and a tier).
 */
struct entry {
	union {
		zs_cell cell;
		uint64_t fill; /* of a FILLED page */
	};
	_Atomic uint32_t info; /* length, pool, flags */
	_Atomic uint32_t refs;
};

/* Where there are checksums: of the payload, never changed once published. */
struct checked_entry {
	struct entry entry;
	uint64_t checksum;
	uint64_t unused; /* entries are aligned to 16 */
};

static_assert(sizeof(struct entry) <= 48, "entries must stay small");

/* info: | flags 6 | pool 8 | length 18 |. A page of 64 KiB, raw, must fit. */
#define ENTRY_LENGTH_BITS 18
#define ENTRY_LENGTH_MASK ((1u << ENTRY_LENGTH_BITS) - 1)
#define ENTRY_POOL_SHIFT ENTRY_LENGTH_BITS
#define ENTRY_POOL_MASK 0xffu
#define ENTRY_RAW (1u << 26)
#define ENTRY_FILLED (1u << 27)
#define ENTRY_REFERENCED (1u << 28) /* for the LRU [wb] */

static_assert(ENTRY_LENGTH_MASK >= 65536, "the largest page's length must fit");

#define ENTRY_PINS_MASK 0x3fffu
#define ENTRY_SLOT 0x4000u
#define ENTRY_MOVING 0x8000u
#define ENTRY_REFS_MASK (ENTRY_SLOT | ENTRY_PINS_MASK)
/* With this many more pins wait: threads that peek at one page at a moment. */
#define ENTRY_MAX_PINS 0x3000u

static inline uint32_t entry_info(struct entry *e)
{
	return atomic_load_explicit(&e->info, memory_order_relaxed);
}

/* ZSWAP_STORED, ZSWAP_FILLED or ZSWAP_RAW. */
static inline enum zswap_state entry_state(struct entry *e)
{
	uint32_t info = entry_info(e);

	if (info & ENTRY_FILLED)
		return ZSWAP_FILLED;
	return info & ENTRY_RAW ? ZSWAP_RAW : ZSWAP_STORED;
}

/* Entries, as the cells of objects that may be moved. */
extern const struct zs_owner entry_owner;

/* ---- making and freeing -------------------------------------------------- */

/* Bytes of an entry in a cache with or without checksums. */
static inline size_t entry_bytes(bool checksum)
{
	return checksum ? sizeof(struct checked_entry) : sizeof(struct entry);
}

/* Allocates n blank entries, or none: 0 or -ENOMEM. */
int entry_alloc_bulk(struct zswap *z, unsigned n, struct entry **out);

/* Complete a blank entry, which nobody else knows yet. */
void entry_set_filled(struct entry *e, uint64_t word);
/*
 * Copies the payload into an object of a pool of which the caller has a
 * reference for it. 0, and the reference is the entry's; or -ENOMEM or -EDQUOT
 * (the limit), and e is still blank.
 */
int entry_set_payload(struct zswap *z, struct pool *pool, struct entry *e,
		      const void *payload, uint32_t len, bool raw);

/* Frees entries that were never published, blank or complete. */
void entry_discard(struct zswap *z, struct entry *const *entries, unsigned n);

/* ---- transitions; the cluster's lock is held ----------------------------- */

/* The entry of a slot, or NULL. */
static inline struct entry *entry_at(struct cluster *cluster, unsigned slot)
{
	return (struct entry *)(uintptr_t)cluster_word(cluster, slot);
}

/*
 * Pins a live entry. False when too many pins are on it already: unlock, wait a
 * moment, start over.
 */
bool entry_pin(struct entry *e);

/*
 * Puts a complete entry in a slot's word, whose table is held. Returns the
 * entry that was there, unlinked, or NULL.
 */
struct entry *entry_publish(struct cluster *cluster, unsigned slot,
			    struct entry *e);

/* Makes a slot absent. Returns the entry that was there, unlinked, or NULL. */
struct entry *entry_unlink(struct cluster *cluster, unsigned slot);

/* ---- without a lock ------------------------------------------------------ */

/* Each drops references, and frees the entry with the last: a pin; */
void entry_unpin(struct zswap *z, struct entry *e);
/* the slot's, of an entry just unlinked; */
void entry_put_unlinked(struct zswap *z, struct entry *e);
/* both, of an entry that its pinner has just unlinked. */
void entry_put_taken(struct zswap *z, struct entry *e);

/* Delivers a pinned entry's page: 0, -EIO or -EDEADLK. */
int entry_read(struct zswap *z, struct entry *e, void *page);

/* Prepares for the freeing of an entry that is going to be read and taken. */
void entry_will_free(struct zswap *z, struct entry *e);

/* Unlinks and frees the entries of a cluster's slots first .. end - 1. */
void entry_drop_slots(struct zswap *z, struct cluster *cluster, unsigned first,
		      unsigned end);

/* ---- a folio's slots ----------------------------------------------------- */

/* Up to ZSWAP_MAX_FOLIO slots: in one cluster, or in two neighbours. */
struct range {
	struct swap_table *table;
	struct area *area;
	uint64_t first;
	unsigned nr;
	unsigned nr_in_first;        /* slots in clusters[0] */
	struct cluster *clusters[2]; /* NULL: not made, all absent; or unused */
};

/* Finds the clusters that were made. */
void range_find(struct swap_table *table, struct area *area, uint64_t first,
		unsigned nr, struct range *range);
/* Makes the clusters and holds their tables: 0 or -ENOMEM. */
int range_hold(struct swap_table *table, struct area *area, uint64_t first,
	       unsigned nr, struct range *range);
/* Drops the holds; the range is locked. */
void range_unhold(struct range *range);

/*
 * Lock and unlock what clusters there are, in order. A cluster that is missing
 * was missing while the other one was already locked. So no folio that lies in
 * both has been published: its store made both before it locked any.
 */
void range_lock(struct range *range);
void range_unlock(struct range *range);

/* The cluster of the range's slot i, or NULL; and the slot's place in it. */
static inline struct cluster *range_cluster(const struct range *range,
					    unsigned i)
{
	return range->clusters[i >= range->nr_in_first];
}

static inline unsigned range_slot(const struct range *range, unsigned i)
{
	return slot_in_cluster(range->first + i);
}

#endif /* ZSWAP_ENTRY_H */
