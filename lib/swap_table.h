/* SPDX-License-Identifier: MIT */
/*
 * swap_table.h - from a slot to its word
 *
 * An *area* is a sparse directory of *clusters* of 512 consecutive slots:
 *
 *	area -> [index node] -> ... -> [leaf: 256 clusters] -> table: 512 words
 *
 * A small area (2^17 slots, 512 MiB of 4 KiB pages) has only a leaf; each level
 * of index nodes above it multiplies that by 256, so that 2^48 slots need four.
 * Index nodes and leaves are made when a store first needs them and stay until
 * the area goes; a cluster's table of 4 KiB goes as soon as its last word does.
 * A cluster, its lock included, is therefore at one address for as long as the
 * area lives, and a lock can be taken without a further look.
 *
 * What a word means is not known here (see entry.h), except that 0 is an absent
 * slot. With its words a cluster keeps gauges of what they stand for, guarded
 * by the same lock, which makes them exact at every moment.
 *
 * Area lifetime. Who works on an area counts as its user, on the shard of the
 * thread's number. swap_table_off() first marks the area as going, so that
 * nobody can enter, then waits until no user is left: after that nobody has a
 * pointer into it. The struct itself stays, for the next area of its type.
 *
 * This is safe because: 1. A user counts itself, then looks at the mark; off
 * sets the mark, then looks at the counts; both in one total order (seq_cst).
 * So either the user sees the mark and leaves, or off sees the user. 2. A user
 * leaves on the shard it entered on, so each shard's count, once seen at zero
 * after the mark, stands for no user that does not see the mark.
 *
 * Locking: cluster->lock guards a cluster's fields and its words. Several are
 * taken in ascending order of slots, of one area only. table->lock guards the
 * coming and going of areas and is taken before any other lock.
 */
#ifndef ZSWAP_SWAP_TABLE_H
#define ZSWAP_SWAP_TABLE_H

#include "mem.h"

#define CLUSTER_SHIFT 9
#define CLUSTER_SLOTS (1u << CLUSTER_SHIFT)
#define NODE_SHIFT 8
#define NODE_SIZE (1u << NODE_SHIFT)

/* What the words of a cluster stand for; kept by who writes the words. */
struct cluster_gauges {
	uint16_t stored;
	uint16_t filled;
	uint16_t raw;
	uint32_t bytes; /* 512 x 64 KiB at most */
};

struct cluster {
	alignas(CACHE_LINE) struct lock lock;
	uint32_t holds;    /* stores that need the table to stay */
	uint16_t nr_words; /* that are not 0 */
	uint8_t index;     /* in its leaf; never changes */
	struct cluster_gauges gauges;
	/* NULL when there is none; written under the lock. */
	_Atomic(uint64_t *) words;
};

struct area_users {
	alignas(CACHE_LINE) _Atomic uint64_t nr;
};

enum area_state { AREA_OFF, AREA_ON, AREA_GOING };

struct area {
	_Atomic int state; /* enum area_state */
	unsigned depth;    /* levels of index nodes above the leaves */
	uint64_t nr_slots;
	void *_Atomic root;        /* an index node, or the leaf at depth 0 */
	struct area_users users[]; /* mem->nr_shards */
};

struct area_block {
	struct area *_Atomic areas[256];
};

struct swap_table {
	struct mem *mem;
	struct lock lock;
	bool closed; /* guarded by lock */
	struct area_block *_Atomic blocks[256];
};

void swap_table_init(struct swap_table *table, struct mem *mem);
/* Frees everything; all areas must be off, and nobody at work. */
void swap_table_exit(struct swap_table *table);

/* From here on no area can come. */
void swap_table_close(struct swap_table *table);

/*
 * Return: 0, -EEXIST (the area is there, or just going), -ENOMEM, -EINVAL
 * (closed).
 */
int swap_table_on(struct swap_table *table, unsigned type, uint64_t nr_slots);

/**
 * swap_table_off() - end an area
 * @drop: called with @arg for each cluster with words, when no user is left; it
 *        must make all words 0
 *
 * Return: 0, or -ENXIO (no such area).
 */
int swap_table_off(struct swap_table *table, unsigned type,
		   void (*drop)(void *arg, struct cluster *cluster), void *arg);

/*
 * Moves *type to the first type from it on that ever had an area; false when
 * there is none.
 */
bool swap_table_next_type(struct swap_table *table, unsigned *type);

/* ---- users --------------------------------------------------------------- */

/* The area of a type that is on, or NULL. Pair with area_leave(). */
struct area *area_enter(struct swap_table *table, unsigned type);
void area_leave(struct swap_table *table, struct area *area);

/* ---- clusters ------------------------------------------------------------ */

static inline unsigned slot_in_cluster(uint64_t offset)
{
	return (unsigned)(offset & (CLUSTER_SLOTS - 1));
}

/* The cluster of a slot, or NULL when its leaf was never made. */
struct cluster *area_cluster(struct area *area, uint64_t offset);

/* Like area_cluster(), but makes what is missing; NULL: no memory. */
struct cluster *area_make_cluster(struct swap_table *table, struct area *area,
				  uint64_t offset);

/*
 * The first cluster with a table from *offset on, before `end`, with *offset
 * moved to its first slot (or left where it is, within that cluster). NULL when
 * there is none. A cluster that gets its table meanwhile may be missed. end: at
 * most the area's nr_slots.
 */
struct cluster *area_next_cluster(struct area *area, uint64_t *offset,
				  uint64_t end);

/*
 * Makes sure that the cluster has a table, which stays until cluster_unhold().
 * 0 or -ENOMEM. Takes the cluster's lock.
 */
int cluster_hold(struct swap_table *table, struct cluster *cluster);

/*
 * Gives the lock back, and the table if nothing needs it any more: call it in
 * place of lock_give() after words may have become 0.
 */
void cluster_unlock(struct swap_table *table, struct cluster *cluster);

/* Drops a hold; cluster->lock must be held. */
static inline void cluster_unhold(struct cluster *cluster)
{
	lock_assert_held(&cluster->lock);
	zswap_assert(cluster->holds);
	cluster->holds--;
}

static inline uint64_t cluster_word(struct cluster *cluster, unsigned i)
{
	uint64_t *words;

	lock_assert_held(&cluster->lock);
	words = atomic_load_explicit(&cluster->words, memory_order_relaxed);
	return words ? words[i] : 0;
}

/* Sets a word; unless it is 0, the table must be there. */
static inline void cluster_set_word(struct cluster *cluster, unsigned i,
				    uint64_t word)
{
	uint64_t *words;

	lock_assert_held(&cluster->lock);
	words = atomic_load_explicit(&cluster->words, memory_order_relaxed);
	zswap_assert(words);
	cluster->nr_words += !!word - !!words[i];
	words[i] = word;
}

/* Whether nr_words is right, and the table there only if needed. */
bool cluster_check(struct cluster *cluster);

#endif /* ZSWAP_SWAP_TABLE_H */
