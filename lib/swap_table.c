// SPDX-License-Identifier: MIT
#include "swap_table.h"

#include <string.h>

#define TABLE_BYTES (CLUSTER_SLOTS * sizeof(uint64_t))

static_assert(sizeof(struct cluster) == CACHE_LINE,
	      "clusters must not share cache lines");

struct node {
	void *_Atomic below[NODE_SIZE];
};

/*
 * Which clusters have a table, so that a walk passes over the others. Bit i is
 * set before cluster i gets its table and cleared after it has lost it, both
 * under the cluster's lock.
 */
struct leaf {
	alignas(CACHE_LINE) _Atomic uint64_t with_table[NODE_SIZE / 64];
	struct cluster clusters[NODE_SIZE];
};

static struct leaf *leaf_of(struct cluster *cluster)
{
	return container_of(cluster - cluster->index, struct leaf, clusters);
}

static_assert(
	4 * sizeof(struct node) + sizeof(struct leaf) + TABLE_BYTES < 48 * 1024,
	"an area of 2^48 slots must cost under 64 KiB while nearly empty");

void swap_table_init(struct swap_table *table, struct mem *mem)
{
	memset(table, 0, sizeof(*table));
	table->mem = mem;
}

/* ---- areas --------------------------------------------------------------- */

static size_t area_bytes(const struct swap_table *table)
{
	return sizeof(struct area) +
	       table->mem->nr_shards * sizeof(struct area_users);
}

static struct area *find_area(struct swap_table *table, unsigned type)
{
	struct area_block *block = atomic_load_explicit(
		&table->blocks[type / 256], memory_order_acquire);

	return block ? atomic_load_explicit(&block->areas[type % 256],
					    memory_order_acquire) :
		       NULL;
}

static struct area *make_area(struct swap_table *table, unsigned type)
{
	struct area *area = find_area(table, type);
	struct area_block *block = atomic_load(&table->blocks[type / 256]);

	lock_assert_held(&table->lock);
	if (area)
		return area;
	if (!block) {
		block = mem_zalloc(table->mem, sizeof(*block), CACHE_LINE);
		if (!block)
			return NULL;
		atomic_store_explicit(&table->blocks[type / 256], block,
				      memory_order_release);
	}
	area = mem_zalloc(table->mem, area_bytes(table), CACHE_LINE);
	if (area)
		atomic_store_explicit(&block->areas[type % 256], area,
				      memory_order_release);
	return area;
}

/* Levels of index nodes for an area of this size. */
static unsigned depth_for(uint64_t nr_slots)
{
	uint64_t leaves = ((nr_slots - 1) >> (CLUSTER_SHIFT + NODE_SHIFT)) + 1;
	unsigned depth = 0;

	while (leaves > 1) {
		leaves = (leaves + NODE_SIZE - 1) >> NODE_SHIFT;
		depth++;
	}
	return depth;
}

void swap_table_close(struct swap_table *table)
{
	lock_take(&table->lock);
	table->closed = true;
	lock_give(&table->lock);
}

int swap_table_on(struct swap_table *table, unsigned type, uint64_t nr_slots)
{
	struct area *area;
	int err = 0;

	lock_take(&table->lock);
	area = table->closed ? NULL : make_area(table, type);
	if (table->closed) {
		err = -EINVAL;
	} else if (!area) {
		err = -ENOMEM;
	} else if (atomic_load(&area->state) != AREA_OFF) {
		err = -EEXIST;
	} else {
		area->nr_slots = nr_slots;
		area->depth = depth_for(nr_slots);
		atomic_store(&area->state, AREA_ON);
	}
	lock_give(&table->lock);
	return err;
}

bool swap_table_next_type(struct swap_table *table, unsigned *type)
{
	while (*type < ZSWAP_MAX_TYPES) {
		if (!atomic_load_explicit(&table->blocks[*type / 256],
					  memory_order_acquire))
			*type = (*type / 256 + 1) * 256;
		else if (!find_area(table, *type))
			++*type;
		else
			return true;
	}
	return false;
}

static struct area_users *own_users(struct swap_table *table, struct area *area)
{
	return &area->users[thread_number() & (table->mem->nr_shards - 1)];
}

struct area *area_enter(struct swap_table *table, unsigned type)
{
	struct area *area = find_area(table, type);

	if (!area)
		return NULL;
	atomic_fetch_add(&own_users(table, area)->nr, 1);
	if (likely(atomic_load(&area->state) == AREA_ON))
		return area;
	area_leave(table, area);
	return NULL;
}

void area_leave(struct swap_table *table, struct area *area)
{
	atomic_fetch_sub_explicit(&own_users(table, area)->nr, 1,
				  memory_order_release);
}

static void wait_for_users(struct swap_table *table, struct area *area)
{
	unsigned round = 0;

	for (unsigned i = 0; i < table->mem->nr_shards; i++)
		while (atomic_load(&area->users[i].nr))
			wait_a_moment(&round);
}

static void free_leaf(struct swap_table *table, struct leaf *leaf)
{
	for (unsigned i = 0; i < NODE_SIZE; i++)
		mem_free(table->mem, atomic_load(&leaf->clusters[i].words),
			 TABLE_BYTES, CACHE_LINE);
	mem_free(table->mem, leaf, sizeof(*leaf), CACHE_LINE);
}

/* Frees a node with all that is below it; as deep as the area, so four. */
static void free_nodes(struct swap_table *table, void *node, unsigned depth)
{
	struct node *index = node;

	if (!node)
		return;
	if (!depth) {
		free_leaf(table, node);
		return;
	}
	for (unsigned i = 0; i < NODE_SIZE; i++)
		free_nodes(table, atomic_load(&index->below[i]), depth - 1);
	mem_free(table->mem, index, sizeof(*index), CACHE_LINE);
}

int swap_table_off(struct swap_table *table, unsigned type,
		   void (*drop)(void *arg, struct cluster *cluster), void *arg)
{
	struct area *area;
	struct cluster *cluster;
	uint64_t offset = 0;
	int on = AREA_ON;

	lock_take(&table->lock);
	area = find_area(table, type);
	if (!area ||
	    !atomic_compare_exchange_strong(&area->state, &on, AREA_GOING)) {
		lock_give(&table->lock);
		return -ENXIO;
	}
	lock_give(&table->lock);
	wait_for_users(table, area);
	/* From here on the area is this thread's alone. */
	while ((cluster = area_next_cluster(area, &offset, area->nr_slots))) {
		drop(arg, cluster);
		offset = (offset | (CLUSTER_SLOTS - 1)) + 1;
	}
	free_nodes(table, atomic_load(&area->root), area->depth);
	atomic_store(&area->root, NULL);
	atomic_store(&area->state, AREA_OFF);
	return 0;
}

void swap_table_exit(struct swap_table *table)
{
	for (unsigned i = 0; i < ARRAY_SIZE(table->blocks); i++) {
		struct area_block *block = atomic_load(&table->blocks[i]);

		for (unsigned j = 0; block && j < 256; j++)
			mem_free(table->mem, atomic_load(&block->areas[j]),
				 area_bytes(table), CACHE_LINE);
		mem_free(table->mem, block, sizeof(*block), CACHE_LINE);
	}
}

/* ---- the directory ------------------------------------------------------- */

/* Which child of a node `depth` levels above the leaves the slot is under. */
static unsigned child_of(uint64_t offset, unsigned depth)
{
	return (unsigned)(offset >> (CLUSTER_SHIFT + depth * NODE_SHIFT)) &
	       (NODE_SIZE - 1);
}

struct cluster *area_cluster(struct area *area, uint64_t offset)
{
	void *node = atomic_load_explicit(&area->root, memory_order_acquire);

	zswap_assert(offset < area->nr_slots);
	for (unsigned depth = area->depth; depth && node; depth--)
		node = atomic_load_explicit(
			&((struct node *)node)->below[child_of(offset, depth)],
			memory_order_acquire);
	return node ? &((struct leaf *)node)->clusters[child_of(offset, 0)] :
		      NULL;
}

/* Links what was made, or frees it where another thread was faster. */
static void *link_node(struct swap_table *table, void *_Atomic *link,
		       void *made, size_t bytes)
{
	void *node = NULL;

	if (!made || atomic_compare_exchange_strong(link, &node, made))
		return made;
	mem_free(table->mem, made, bytes, CACHE_LINE);
	return node;
}

/* The index node that a link points to, made if there is none; or NULL. */
static struct node *make_node(struct swap_table *table, void *_Atomic *link)
{
	struct node *node = atomic_load_explicit(link, memory_order_acquire);

	if (likely(node))
		return node;
	node = mem_zalloc(table->mem, sizeof(*node), CACHE_LINE);
	return link_node(table, link, node, sizeof(*node));
}

static struct leaf *make_leaf(struct swap_table *table, void *_Atomic *link)
{
	struct leaf *leaf = atomic_load_explicit(link, memory_order_acquire);

	if (likely(leaf))
		return leaf;
	leaf = mem_zalloc(table->mem, sizeof(*leaf), CACHE_LINE);
	for (unsigned i = 0; leaf && i < NODE_SIZE; i++)
		leaf->clusters[i].index = (uint8_t)i;
	return link_node(table, link, leaf, sizeof(*leaf));
}

struct cluster *area_make_cluster(struct swap_table *table, struct area *area,
				  uint64_t offset)
{
	void *_Atomic *link = &area->root;
	struct node *node;
	struct leaf *leaf;

	for (unsigned depth = area->depth; depth; depth--) {
		node = make_node(table, link);
		if (!node)
			return NULL;
		link = &node->below[child_of(offset, depth)];
	}
	leaf = make_leaf(table, link);
	return leaf ? &leaf->clusters[child_of(offset, 0)] : NULL;
}

/* The offset after all slots under a node at this depth; may wrap to 0. */
static uint64_t next_subtree(uint64_t offset, unsigned depth)
{
	unsigned shift = CLUSTER_SHIFT + (depth + 1) * NODE_SHIFT;

	return ((offset >> shift) + 1) << shift;
}

/* The first cluster with a table from the i-th on; NODE_SIZE: there is none. */
static unsigned next_with_table(struct leaf *leaf, unsigned i)
{
	while (i < NODE_SIZE) {
		uint64_t bits = atomic_load_explicit(&leaf->with_table[i / 64],
						     memory_order_acquire);

		bits >>= i % 64;
		if (bits)
			return i + (unsigned)__builtin_ctzll(bits);
		i = (i / 64 + 1) * 64;
	}
	return i;
}

static struct cluster *next_in_leaf(struct leaf *leaf, uint64_t *offset,
				    uint64_t end)
{
	unsigned first = child_of(*offset, 0);
	unsigned i = next_with_table(leaf, first);

	if (i > first)
		*offset = ((*offset >> CLUSTER_SHIFT) + (i - first))
			  << CLUSTER_SHIFT;
	return i < NODE_SIZE && *offset < end ? &leaf->clusters[i] : NULL;
}

/*
 * Goes down as far as there are nodes. A missing node is passed over with all
 * slots under it, a leaf without a match likewise.
 */
struct cluster *area_next_cluster(struct area *area, uint64_t *offset,
				  uint64_t end)
{
	while (*offset < end) {
		void *node =
			atomic_load_explicit(&area->root, memory_order_acquire);
		unsigned depth = area->depth;
		struct cluster *cluster;

		while (node && depth) {
			node = atomic_load_explicit(
				&((struct node *)node)
					 ->below[child_of(*offset, depth)],
				memory_order_acquire);
			depth--;
		}
		if (node) {
			cluster = next_in_leaf(node, offset, end);
			if (cluster)
				return cluster;
			continue;
		}
		*offset = next_subtree(*offset, depth);
	}
	return NULL;
}

/* ---- tables -------------------------------------------------------------- */

static void set_table(struct cluster *cluster, uint64_t *words)
{
	_Atomic uint64_t *bits =
		&leaf_of(cluster)->with_table[cluster->index / 64];
	uint64_t bit = UINT64_C(1) << (cluster->index % 64);

	lock_assert_held(&cluster->lock);
	if (words)
		atomic_fetch_or(bits, bit);
	atomic_store_explicit(&cluster->words, words, memory_order_release);
	if (!words)
		atomic_fetch_and(bits, ~bit);
}

int cluster_hold(struct swap_table *table, struct cluster *cluster)
{
	uint64_t *made = NULL;

	lock_take(&cluster->lock);
	while (!atomic_load_explicit(&cluster->words, memory_order_relaxed)) {
		if (made) {
			set_table(cluster, made);
			made = NULL;
			break;
		}
		lock_give(&cluster->lock);
		made = mem_zalloc(table->mem, TABLE_BYTES, CACHE_LINE);
		if (!made)
			return -ENOMEM;
		lock_take(&cluster->lock);
	}
	cluster->holds++;
	lock_give(&cluster->lock);
	mem_free(table->mem, made, TABLE_BYTES, CACHE_LINE);
	return 0;
}

void cluster_unlock(struct swap_table *table, struct cluster *cluster)
{
	uint64_t *unused = NULL;

	lock_assert_held(&cluster->lock);
	if (unlikely(!cluster->nr_words && !cluster->holds)) {
		unused = atomic_load_explicit(&cluster->words,
					      memory_order_relaxed);
		if (unused)
			set_table(cluster, NULL);
	}
	lock_give(&cluster->lock);
	mem_free(table->mem, unused, TABLE_BYTES, CACHE_LINE);
}

bool cluster_check(struct cluster *cluster)
{
	uint64_t *words = atomic_load(&cluster->words);
	unsigned nr = 0;

	for (unsigned i = 0; words && i < CLUSTER_SLOTS; i++)
		nr += words[i] != 0;
	return nr == cluster->nr_words && (!words || nr || cluster->holds) &&
	       cluster->gauges.filled + cluster->gauges.raw <=
		       cluster->gauges.stored &&
	       cluster->gauges.stored <= nr;
}
