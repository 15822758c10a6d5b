// SPDX-License-Identifier: MIT
/*
 * zsmalloc.c - the public calls of the allocator: check, compose, return
 *
 * A handle is the address of a *record*, 16 bytes with the object's cell, so it
 * stays when the object is moved:
 *
 *	zs_handle --> | cell: its place | payload bytes | refs |
 *	                  |
 *	                  +--> object in a zspage
 *
 *	refs      bit 0, LIVE: zs_malloc() has given it, zs_free() has not got it
 *	          back. Bit 1, MOVING: compaction is moving the object. The rest
 *	          are pins, one for each reader and writer
 *
 * Who reads or writes pins the object meanwhile (zs_pin.h). A payload may be
 * written at any time, unlike that of a cache's entry: so MOVING is set before
 * its bytes are copied, and whoever comes then waits for the copy.
 *
 * Every call first asks whether this process owns the pool, as those of
 * zswap.c. In a debug build it then asks whether the handle is one, which looks
 * at nothing but the pool's own slabs.
 */
#include <zswap/zsmalloc.h>

#include "poison.h"
#include "zs_pin.h"

#define REFS_LIVE 1u
#define REFS_MOVING 2u
#define REFS_PIN 4u

struct record {
	zs_cell cell;
	uint32_t bytes;
	_Atomic uint32_t refs;
};

static_assert(sizeof(struct record) == 16, "a handle costs 16 bytes");

struct zs_pool {
	struct mem mem; /* first; see mem_create() */
	struct slab_cache records;
	struct zs_compaction compaction;
	struct zs_arena *arena;
};

/* ---- moving -------------------------------------------------------------- */

static struct record *record_of(zs_cell *cell)
{
	return container_of(cell, struct record, cell);
}

static size_t may_move(zs_cell *cell)
{
	struct record *record = record_of(cell);

	return zs_begin_move(&record->refs, REFS_LIVE, REFS_MOVING) ?
		       record->bytes :
		       0;
}

static bool move(zs_cell *cell, uint64_t place)
{
	zs_end_move(&record_of(cell)->refs, REFS_MOVING, cell, place);
	return true;
}

static const struct zs_owner record_owner = { may_move, move };

/* ---- creation ------------------------------------------------------------ */

static struct zs_params arena_params(struct zs_pool *pool,
				     const struct zs_pool_params *params)
{
	return (struct zs_params){
		.page_bytes =
			params->page_size ? (uint32_t)params->page_size : 4096,
		.chain = params->chain_size ? params->chain_size :
					      ZS_NORMAL_CHAIN,
		.adaptive = params->class_choice == ZSWAP_CLASSES_ADAPTIVE,
		.auto_compact = params->compaction == ZSWAP_COMPACT_AUTO,
		.wipe = params->memory_flags & ZSWAP_MEM_WIPE,
		.owner = &record_owner,
		.compaction = &pool->compaction,
	};
}

static int check_params(const struct zs_pool_params *params)
{
	if (params->size < sizeof(*params) ||
	    !zs_choices_are_known(params->page_size, params->chain_size,
				  params->class_choice, params->compaction,
				  params->memory_flags))
		return -EINVAL;
	return 0;
}

int zs_create_pool(struct zs_pool **out, const struct zs_pool_params *params)
{
	static const struct zs_pool_params defaults = { .size = sizeof(
								defaults) };
	struct zs_params for_arena;
	struct zs_pool *pool;
	void *block;
	int err;

	if (!out)
		return -EINVAL;
	*out = NULL;
	if (!params)
		params = &defaults;
	err = check_params(params);
	if (!err)
		err = mem_create(params->hooks, sizeof(*pool), &block);
	if (err)
		return err;
	pool = block;
	pool->mem.memory_flags = params->memory_flags;
	slab_cache_init(&pool->records, &pool->mem, sizeof(struct record));
	for_arena = arena_params(pool, params);
	err = zs_arena_create(&pool->mem, &for_arena, &pool->arena);
	if (err) {
		zs_destroy_pool(pool); /* accepts a half-built pool */
		return err;
	}
	*out = pool;
	return 0;
}

void zs_destroy_pool(struct zs_pool *pool)
{
	if (!pool || !mem_is_owner(&pool->mem))
		return;
	zs_arena_destroy(pool->arena);
	slab_cache_exit(&pool->records);
	mem_destroy(&pool->mem, sizeof(*pool));
}

/* ---- handles ------------------------------------------------------------- */

static int check_pool(const struct zs_pool *pool)
{
	if (!pool)
		return -EINVAL;
	return mem_is_owner(&pool->mem) ? 0 : -EOWNERDEAD;
}

/* A handle that zs_malloc() of this pool gave, and nobody freed. */
static struct record *record_at(struct zs_pool *pool, zs_handle handle)
{
	struct record *record = (struct record *)handle;

	zswap_assert(slab_is_object(&pool->records, handle) &&
		     !poison_is_forbidden(record) &&
		     atomic_load_explicit(&record->refs, memory_order_relaxed) &
			     REFS_LIVE);
	return record;
}

static void free_record(struct zs_pool *pool, struct record *record)
{
	atomic_store_explicit(&record->refs, 0, memory_order_relaxed);
	slab_free(&pool->records, record);
}

int zs_malloc(struct zs_pool *pool, size_t bytes, zs_handle *out)
{
	int err = check_pool(pool);
	struct record *record;

	if (out)
		*out = 0;
	if (err)
		return err;
	if (!bytes || !out)
		return -EINVAL;
	if (bytes > pool->arena->params.page_bytes)
		return -ENOSPC;
	record = slab_alloc(&pool->records);
	if (!record)
		return -ENOMEM;
	/* It may be moved as soon as it has a place, for all else is there. */
	record->bytes = (uint32_t)bytes;
	atomic_init(&record->refs, REFS_LIVE);
	err = zs_alloc_object(pool->arena, bytes, &record->cell);
	if (err) {
		free_record(pool, record);
		return err;
	}
	*out = (zs_handle)record;
	return 0;
}

void zs_free(struct zs_pool *pool, zs_handle handle)
{
	struct record *record;

	if (check_pool(pool) || !handle)
		return;
	record = record_at(pool, handle);
	zswap_assert(atomic_load(&record->refs) < REFS_PIN);
	zs_free_object(pool->arena, &record->cell, record->bytes);
	free_record(pool, record);
}

size_t zs_obj_bytes(struct zs_pool *pool, zs_handle handle)
{
	if (check_pool(pool) || !handle)
		return 0;
	return record_at(pool, handle)->bytes;
}

/* ---- payloads ------------------------------------------------------------ */

/* Keeps the object where it is, and says where. */
static void *pin(struct record *record)
{
	atomic_fetch_add_explicit(&record->refs, REFS_PIN,
				  memory_order_acquire);
	zs_wait_for_move(&record->refs, REFS_MOVING);
	return zs_payload(&record->cell);
}

static void unpin(struct record *record)
{
	uint32_t refs = atomic_fetch_sub_explicit(&record->refs, REFS_PIN,
						  memory_order_release);

	zswap_assert(refs >= REFS_PIN);
}

const void *zs_obj_read_begin(struct zs_pool *pool, zs_handle handle)
{
	if (check_pool(pool) || !handle)
		return NULL;
	return pin(record_at(pool, handle));
}

void zs_obj_read_end(struct zs_pool *pool, zs_handle handle)
{
	if (check_pool(pool) || !handle)
		return;
	unpin(record_at(pool, handle));
}

int zs_obj_write(struct zs_pool *pool, zs_handle handle, const void *src,
		 size_t bytes)
{
	int err = check_pool(pool);
	struct record *record;

	if (err)
		return err;
	if (!handle || !src)
		return -EINVAL;
	record = record_at(pool, handle);
	if (bytes > record->bytes)
		return -EINVAL;
	memcpy(pin(record), src, bytes);
	unpin(record);
	return 0;
}

/* ---- pages --------------------------------------------------------------- */

long zs_compact(struct zs_pool *pool)
{
	int err = check_pool(pool);

	return err ? err : (long)zs_arena_compact(pool->arena);
}

uint64_t zs_get_total_pages(struct zs_pool *pool)
{
	return check_pool(pool) ? 0 : zs_arena_pages(pool->arena);
}

size_t zs_huge_class_size(struct zs_pool *pool)
{
	return check_pool(pool) ? 0 : zs_arena_huge_bytes(pool->arena);
}

/* ---- figures ------------------------------------------------------------- */

/* A class has the number of the largest size that it serves. */
static unsigned class_index(const struct zs_class_table *table,
			    struct zs_class_size size)
{
	return zs_raw_of_object(table, size.bytes);
}

unsigned zs_lookup_class_index(struct zs_pool *pool, size_t bytes)
{
	const struct zs_class_table *table;
	unsigned class;

	if (check_pool(pool))
		return 0;
	table = &pool->arena->table;
	class = zs_exact_class(table, zs_raw_of_object(table, bytes));
	return class_index(table, table->classes[class]);
}

static uint64_t counter(const _Atomic uint64_t *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

int zs_pool_stats(struct zs_pool *pool, struct zs_pool_stats *stats)
{
	const size_t head = offsetof(struct zs_pool_stats, pages_compacted);
	int err = check_pool(pool);
	struct zs_arena_figures figures;
	struct zs_pool_stats all;
	struct span_held held;

	if (err)
		return err;
	if (!stats || stats->size < head + sizeof(uint64_t))
		return -EINVAL;
	zs_arena_figures(pool->arena, &figures);
	held = span_held(&pool->arena->span);
	all = (struct zs_pool_stats){
		.pages_compacted = counter(&pool->compaction.pages),
		.objects_moved = counter(&pool->compaction.moved),
		.objects_skipped = counter(&pool->compaction.skipped),
		.objects = figures.in_use,
		.pages_used = held.used_granules,
		/* Of a moment before: those pages may have gone by now. */
		.compactable_pages =
			min_size(figures.freeable_pages, held.used_granules),
		.held_bytes = held.bytes,
		.reserve_bytes = held.reserve_bytes,
		.metadata_bytes = atomic_load_explicit(
			&pool->mem.metadata_bytes, memory_order_relaxed),
	};
	copy_figures(stats, &all, head, sizeof(all));
	return 0;
}

int zs_class_stats(struct zs_pool *pool, unsigned nth,
		   struct zs_class_stats *stats)
{
	const size_t head = offsetof(struct zs_class_stats, index);
	int err = check_pool(pool);
	struct zs_class_figures figures;
	struct zs_class_stats all;

	if (err)
		return err;
	if (!stats ||
	    stats->size < offsetof(struct zs_class_stats, objects_allocated))
		return -EINVAL;
	if (nth >= pool->arena->table.nr_classes)
		return -ENOENT;
	zs_class_figures(pool->arena, nth, &figures);
	all = (struct zs_class_stats){
		.index = class_index(&pool->arena->table, figures.size),
		.object_bytes = figures.size.bytes,
		.objects_per_zspage = figures.size.objects,
		.pages_per_zspage = figures.size.pages,
		.objects_allocated = figures.allocated,
		.objects_used = figures.in_use,
		.pages_used = figures.allocated / figures.size.objects *
			      figures.size.pages,
		.freeable_pages = figures.freeable_pages,
	};
	static_assert(ZS_FULLNESS_GROUPS == ZS_NR_GROUPS, "one for each");
	for (unsigned g = 0; g < ZS_NR_GROUPS; g++)
		all.zspages[g] = figures.zspages[g];
	copy_figures(stats, &all, head, sizeof(all));
	return 0;
}
