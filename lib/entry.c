// SPDX-License-Identifier: MIT
#include "entry.h"

#include "checksum.h"
#include "fill.h"
#include "zs_pin.h"

#include <string.h>

/* ---- making and freeing -------------------------------------------------- */

static uint32_t length_of(uint32_t info)
{
	return info & ENTRY_LENGTH_MASK;
}

/* The pool an entry was stored in, which it keeps alive. */
static struct pool *pool_of(struct zswap *z, uint32_t info)
{
	return pools_at(&z->pools, info >> ENTRY_POOL_SHIFT & ENTRY_POOL_MASK);
}

int entry_alloc_bulk(struct zswap *z, unsigned n, struct entry **out)
{
	int err = slab_alloc_bulk(&z->entries, n, (void **)out);

	for (unsigned i = 0; !err && i < n; i++) {
		atomic_init(&out[i]->info, 0);
		atomic_init(&out[i]->refs, ENTRY_SLOT + 1);
	}
	return err;
}

void entry_set_filled(struct entry *e, uint64_t word)
{
	e->fill = word;
	atomic_store_explicit(&e->info, ENTRY_FILLED | ENTRY_REFERENCED,
			      memory_order_relaxed);
}

static void set_checksum(struct entry *e, const void *payload, uint32_t len)
{
	((struct checked_entry *)e)->checksum = checksum(payload, len);
}

static bool has_checksum(struct entry *e, const void *payload, uint32_t len)
{
	return ((struct checked_entry *)e)->checksum == checksum(payload, len);
}

int entry_set_payload(struct zswap *z, struct pool *pool, struct entry *e,
		      const void *payload, uint32_t len, bool raw)
{
	int err = zs_alloc_object(pool->zs, len, &e->cell);
	void *object;

	if (err)
		return err;
	object = zs_payload(&e->cell);
	memcpy(object, payload, len);
	/* Of the copy: the caller may be changing a raw page this instant. */
	if (z->checksum)
		set_checksum(e, object, len);
	atomic_store_explicit(&e->info,
			      len | pool->number << ENTRY_POOL_SHIFT |
				      ENTRY_REFERENCED | (raw ? ENTRY_RAW : 0),
			      memory_order_relaxed);
	return 0;
}

static void free_entry(struct zswap *z, struct entry *e)
{
	uint32_t info = entry_info(e);

	if (length_of(info)) {
		struct pool *pool = pool_of(z, info);

		zs_free_object(pool->zs, &e->cell, length_of(info));
		pools_put(&z->pools, pool, 1);
	}
	slab_free(&z->entries, e);
}

void entry_discard(struct zswap *z, struct entry *const *entries, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free_entry(z, entries[i]);
}

/* ---- transitions --------------------------------------------------------- */

/* Adds an entry to its cluster's gauges, or with sign -1 takes it from them. */
static void account(struct cluster *cluster, struct entry *e, int sign)
{
	struct cluster_gauges *gauges = &cluster->gauges;
	uint32_t info = entry_info(e);

	lock_assert_held(&cluster->lock);
	gauges->stored = (uint16_t)(gauges->stored + sign);
	if (info & ENTRY_FILLED)
		gauges->filled = (uint16_t)(gauges->filled + sign);
	if (info & ENTRY_RAW)
		gauges->raw = (uint16_t)(gauges->raw + sign);
	gauges->bytes += (uint32_t)sign * length_of(info);
}

bool entry_pin(struct entry *e)
{
	uint32_t refs = atomic_load_explicit(&e->refs, memory_order_relaxed);

	zswap_assert(refs & ENTRY_SLOT);
	if (unlikely((refs & ENTRY_PINS_MASK) >= ENTRY_MAX_PINS))
		return false;
	atomic_fetch_add_explicit(&e->refs, 1, memory_order_acquire);
	return true;
}

struct entry *entry_publish(struct cluster *cluster, unsigned slot,
			    struct entry *e)
{
	struct entry *old = entry_at(cluster, slot);

	/* The builder's pin goes; who sees that sees what it has built. */
	atomic_store_explicit(&e->refs, ENTRY_SLOT, memory_order_release);
	cluster_set_word(cluster, slot, (uintptr_t)e);
	account(cluster, e, 1);
	if (old)
		account(cluster, old, -1);
	return old;
}

struct entry *entry_unlink(struct cluster *cluster, unsigned slot)
{
	struct entry *e = entry_at(cluster, slot);

	if (!e)
		return NULL;
	cluster_set_word(cluster, slot, 0);
	account(cluster, e, -1);
	return e;
}

/* ---- moving -------------------------------------------------------------- */

static struct entry *entry_of(zs_cell *cell)
{
	return container_of(cell, struct entry, cell);
}

/* Seen without a pin, the entry is complete, by the release of publishing. */
static size_t may_move(zs_cell *cell)
{
	struct entry *e = entry_of(cell);

	if (atomic_load_explicit(&e->refs, memory_order_acquire) != ENTRY_SLOT)
		return 0;
	return length_of(entry_info(e));
}

static bool move(zs_cell *cell, uint64_t place)
{
	struct entry *e = entry_of(cell);

	if (!zs_begin_move(&e->refs, ENTRY_SLOT, ENTRY_MOVING))
		return false;
	zs_end_move(&e->refs, ENTRY_MOVING, cell, place);
	return true;
}

const struct zs_owner entry_owner = { may_move, move };

/* Of a pinned entry: no longer than two instructions of the mover. */
static void wait_for_move(struct entry *e)
{
	zs_wait_for_move(&e->refs, ENTRY_MOVING);
}

/* ---- without a lock ------------------------------------------------------ */

/* Drops references, and frees the entry if they were the last. */
static void drop_refs(struct zswap *z, struct entry *e, uint32_t n)
{
	uint32_t refs;

	/*
	 * If all references are the caller's, the entry is unlinked and no
	 * other thread can reach it. Then there is nothing to agree about, and
	 * the acquire below sees what the last reader did before it let go.
	 */
	refs = atomic_load_explicit(&e->refs, memory_order_acquire);
	if (likely((refs & ENTRY_REFS_MASK) == n)) {
		free_entry(z, e);
		return;
	}
	refs = atomic_fetch_sub_explicit(&e->refs, n, memory_order_acq_rel);
	zswap_assert((refs & ENTRY_REFS_MASK) >= n);
	if ((refs & ENTRY_REFS_MASK) == n)
		free_entry(z, e);
}

void entry_unpin(struct zswap *z, struct entry *e)
{
	drop_refs(z, e, 1);
}

void entry_put_unlinked(struct zswap *z, struct entry *e)
{
	drop_refs(z, e, ENTRY_SLOT);
}

void entry_put_taken(struct zswap *z, struct entry *e)
{
	drop_refs(z, e, ENTRY_SLOT + 1);
}

/*
 * The first lines of a payload, which the codec asks for one after the other
 * until the processor sees a stream: asking for them at once takes the waiting
 * for most of them away. More lines than this fill the queue of the misses.
 */
#define PREFETCH_BYTES 1024

static void prefetch_payload(const char *payload, uint32_t len)
{
	for (uint32_t i = 0; i < len && i < PREFETCH_BYTES; i += CACHE_LINE)
		__builtin_prefetch(payload + i);
}

/*
 * The checksum comes last, when the payload is in the processor's cache: before
 * the codec it would wait for memory that the codec fetches while it works. The
 * codec is safe with damaged bytes, and a page of an -EIO is no page.
 */
int entry_read(struct zswap *z, struct entry *e, void *page)
{
	uint32_t info = entry_info(e);
	uint32_t len = length_of(info);
	const void *payload;
	struct pool *pool;
	int err = 0;

	if (info & ENTRY_FILLED) {
		fill_page(page, z->page_size, e->fill);
		return 0;
	}
	pool = pool_of(z, info);
	wait_for_move(e);
	payload = zs_payload(&e->cell);
	prefetch_payload(payload, len);
	if (info & ENTRY_RAW)
		memcpy(page, payload, len);
	else
		err = comp_decompress(pool->comp, payload, len, page);
	if (!err && z->checksum && unlikely(!has_checksum(e, payload, len)))
		return -EIO;
	return err;
}

void entry_will_free(struct zswap *z, struct entry *e)
{
	uint32_t info = entry_info(e);

	if (length_of(info)) {
		wait_for_move(e);
		zs_will_free(pool_of(z, info)->zs, &e->cell);
	}
}

/*
 * Entries are unlinked a few at a time, and freed without the lock: bounds the
 * stack, and how long others wait.
 */
#define DROP_BATCH 32

void entry_drop_slots(struct zswap *z, struct cluster *cluster, unsigned first,
		      unsigned end)
{
	struct entry *dropped[DROP_BATCH];

	while (first < end) {
		unsigned n = 0;

		lock_take(&cluster->lock);
		if (!cluster->nr_words)
			first = end;
		for (; first < end && n < DROP_BATCH; first++) {
			struct entry *e = entry_unlink(cluster, first);

			if (e)
				dropped[n++] = e;
		}
		cluster_unlock(&z->table, cluster);
		while (n)
			entry_put_unlinked(z, dropped[--n]);
	}
}

/* ---- ranges -------------------------------------------------------------- */

static void range_init(struct swap_table *table, struct area *area,
		       uint64_t first, unsigned nr, struct range *range)
{
	range->table = table;
	range->area = area;
	range->first = first;
	range->nr = nr;
	range->nr_in_first =
		(unsigned)min_size(nr, CLUSTER_SLOTS - slot_in_cluster(first));
	range->clusters[0] = range->clusters[1] = NULL;
}

/* Looks for clusters that were missing; whether one has come. */
static bool find_missing(struct range *range)
{
	unsigned nr_clusters = 1 + (range->nr_in_first < range->nr);
	bool found = false;

	for (unsigned c = 0; c < nr_clusters; c++) {
		uint64_t offset = range->first + (c ? range->nr_in_first : 0);

		if (likely(range->clusters[c]))
			continue;
		range->clusters[c] = area_cluster(range->area, offset);
		found |= range->clusters[c] != NULL;
	}
	return found;
}

void range_find(struct swap_table *table, struct area *area, uint64_t first,
		unsigned nr, struct range *range)
{
	range_init(table, area, first, nr, range);
	find_missing(range);
}

static int hold_one(struct swap_table *table, struct area *area,
		    uint64_t offset, struct cluster **out)
{
	struct cluster *cluster = area_make_cluster(table, area, offset);

	if (!cluster || cluster_hold(table, cluster))
		return -ENOMEM;
	*out = cluster;
	return 0;
}

int range_hold(struct swap_table *table, struct area *area, uint64_t first,
	       unsigned nr, struct range *range)
{
	int err;

	range_init(table, area, first, nr, range);
	err = hold_one(table, area, first, &range->clusters[0]);
	if (!err && range->nr_in_first < nr)
		err = hold_one(table, area, first + range->nr_in_first,
			       &range->clusters[1]);
	if (err && range->clusters[0]) {
		lock_take(&range->clusters[0]->lock);
		cluster_unhold(range->clusters[0]);
		cluster_unlock(table, range->clusters[0]);
	}
	return err;
}

void range_unhold(struct range *range)
{
	for (unsigned c = 0; c < 2; c++)
		if (range->clusters[c])
			cluster_unhold(range->clusters[c]);
}

static void lock_clusters(struct cluster *const *clusters)
{
	for (unsigned c = 0; c < 2; c++)
		if (clusters[c])
			lock_take(&clusters[c]->lock);
}

static void unlock_clusters(struct swap_table *table,
			    struct cluster *const *clusters)
{
	for (unsigned c = 0; c < 2; c++)
		if (clusters[c])
			cluster_unlock(table, clusters[c]);
}

void range_lock(struct range *range)
{
	struct cluster *locked[2];

	for (;;) {
		memcpy(locked, range->clusters, sizeof(locked));
		lock_clusters(locked);
		if (likely(!find_missing(range)))
			break;
		unlock_clusters(range->table, locked);
	}
}

void range_unlock(struct range *range)
{
	unlock_clusters(range->table, range->clusters);
}
