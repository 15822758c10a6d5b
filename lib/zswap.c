// SPDX-License-Identifier: MIT
/*
 * zswap.c - the public calls: check, compose, return
 *
 * Every call first asks whether this process owns the cache, before it looks at
 * anything else of it: in a forked child a lock may be taken for ever. Then
 * come the arguments, then the area, which stays for as long as the call is its
 * user.
 */
#include <zswap/zswap.h>

#include "checksum.h"
#include "entry.h"
#include "sysmem.h"

#include <string.h>

#define NORMAL_POOL_PERCENT 20

/* ---- creation ------------------------------------------------------------ */

static int check_params(const struct zswap_params *params)
{
	if (params->size < sizeof(*params))
		return -EINVAL;
	if (params->nr_compressors > 64 ||
	    (params->nr_compressors && !params->compressors))
		return -EINVAL;
	if (params->max_pool_percent > 100 ||
	    params->accept_threshold_percent > 100 ||
	    params->raw_policy > ZSWAP_RAW_REFUSE || params->checksum > 1)
		return -EINVAL;
	if (!zs_choices_are_known(params->page_size, params->chain_size,
				  params->class_choice, params->compaction,
				  params->memory_flags))
		return -EINVAL;
	return params->checksum && !CHECKSUM_AVAILABLE ? -EOPNOTSUPP : 0;
}

static void set_limits(struct zswap *z, const struct zswap_params *params)
{
	unsigned percent = params->max_pool_percent;
	unsigned threshold = params->accept_threshold_percent;

	limit_init(&z->limit, &z->mem, z->page_size);
	if (threshold)
		limit_set_threshold(&z->limit, threshold);
	if (params->max_pool_bytes)
		limit_set_bytes(&z->limit, params->max_pool_bytes);
	else
		limit_set_percent(&z->limit,
				  percent ? percent : NORMAL_POOL_PERCENT,
				  sysmem_bytes());
}

static struct zs_params arena_params(struct zswap *z,
				     const struct zswap_params *params)
{
	return (struct zs_params){
		.page_bytes = z->page_size,
		.chain = params->chain_size ? params->chain_size :
					      ZS_NORMAL_CHAIN,
		.adaptive = params->class_choice != ZSWAP_CLASSES_EXACT,
		.auto_compact = params->compaction != ZSWAP_COMPACT_MANUAL,
		.wipe = params->memory_flags & ZSWAP_MEM_WIPE,
		.owner = &entry_owner,
		.compaction = &z->compaction,
	};
}

static int create_parts(struct zswap *z, const struct zswap_params *params)
{
	const struct comp_list own = { params->compressors,
				       params->nr_compressors };
	const char *spec = params->compressor ? params->compressor : "lz4";
	struct zs_params zs;

	z->page_size = params->page_size ? (uint32_t)params->page_size : 4096;
	z->raw_policy = (enum zswap_raw_policy)params->raw_policy;
	z->checksum = params->checksum;
	atomic_init(&z->enabled, true);
	set_limits(z, params);
	swap_table_init(&z->table, &z->mem);
	slab_cache_init(&z->entries, &z->mem, entry_bytes(z->checksum));
	stats_init(&z->stats, &z->mem);
	z->mem.memory_flags = params->memory_flags;
	zs = arena_params(z, params);
	return pools_init(&z->pools, &z->mem, &zs, &own, spec);
}

int zswap_create(struct zswap **out, const struct zswap_params *params)
{
	static const struct zswap_params defaults = { .size = sizeof(
							      defaults) };
	int err, saved_errno = errno;
	void *block;
	struct zswap *z;

	if (!out)
		return -EINVAL;
	*out = NULL;
	if (!params)
		params = &defaults;
	err = check_params(params);
	if (!err)
		err = mem_create(params->hooks, sizeof(*z), &block);
	if (err)
		return err;
	z = block;
	err = create_parts(z, params);
	errno = saved_errno; /* the compressor's functions may change it */
	if (err) {
		zswap_destroy(z); /* accepts a half-built cache */
		return err;
	}
	*out = z;
	return 0;
}

/* What all goes need not be moved together before. */
static void settle_pools(struct zswap *z)
{
	for (unsigned i = 1; i <= POOLS_MAX; i++) {
		struct pool *pool = pools_hold_at(&z->pools, i);

		if (!pool)
			continue;
		zs_arena_settle(pool->zs);
		pools_put(&z->pools, pool, 1);
	}
}

static void drop_cluster(void *arg, struct cluster *cluster)
{
	entry_drop_slots(arg, cluster, 0, CLUSTER_SLOTS);
}

void zswap_destroy(struct zswap *z)
{
	int saved_errno = errno;
	unsigned type = 0;

	if (!z || !mem_is_owner(&z->mem))
		return;
	swap_table_close(&z->table);
	settle_pools(z);
	while (swap_table_next_type(&z->table, &type))
		swap_table_off(&z->table, type++, drop_cluster, z);
	/* Its compressor's functions may still call the cache, now empty. */
	pools_exit(&z->pools);
	swap_table_exit(&z->table);
	slab_cache_exit(&z->entries);
	mem_destroy(&z->mem, sizeof(*z));
	errno = saved_errno;
}

size_t zswap_page_size(const struct zswap *z)
{
	return z ? z->page_size : 0;
}

/* ---- areas --------------------------------------------------------------- */

static int check_cache(const struct zswap *z)
{
	if (!z)
		return -EINVAL;
	return mem_is_owner(&z->mem) ? 0 : -EOWNERDEAD;
}

int zswap_swapon(struct zswap *z, unsigned type, uint64_t nr_slots)
{
	int err = check_cache(z);

	if (err)
		return err;
	/* ZSWAP_SLOT_NONE, the last slot of the last type, must stay outside. */
	if (type >= ZSWAP_MAX_TYPES || !nr_slots ||
	    nr_slots > ZSWAP_MAX_SLOTS - (type == ZSWAP_MAX_TYPES - 1))
		return -EINVAL;
	return swap_table_on(&z->table, type, nr_slots);
}

int zswap_swapoff(struct zswap *z, unsigned type)
{
	int err = check_cache(z);

	if (err)
		return err;
	if (type >= ZSWAP_MAX_TYPES)
		return -ENXIO;
	err = swap_table_off(&z->table, type, drop_cluster, z);
	pools_reap(&z->pools);
	return err;
}

/*
 * Becomes a user of the area that holds all of nr slots from slot on. NULL when
 * there is none.
 */
static struct area *enter(struct zswap *z, zswap_slot_t slot, uint64_t nr)
{
	struct area *area = area_enter(&z->table, zswap_slot_type(slot));
	uint64_t offset = zswap_slot_offset(slot);

	if (!area)
		return NULL;
	if (offset < area->nr_slots && nr <= area->nr_slots - offset)
		return area;
	area_leave(&z->table, area);
	return NULL;
}

/* ---- pages --------------------------------------------------------------- */

static int check_folio(const struct zswap *z, const struct zswap_folio *folio)
{
	int err = check_cache(z);

	if (err)
		return err;
	if (!folio || folio->size < sizeof(*folio) || folio->flags ||
	    folio->group || !folio->nr_pages ||
	    folio->nr_pages > ZSWAP_MAX_FOLIO || !folio->data == !folio->pages)
		return -EINVAL;
	for (uint32_t i = 0; folio->pages && i < folio->nr_pages; i++)
		if (!folio->pages[i])
			return -EINVAL;
	return 0;
}

int zswap_store_folio(struct zswap *z, const struct zswap_folio *folio)
{
	int err = check_folio(z, folio);
	struct area *area;

	if (err)
		return err;
	area = enter(z, folio->slot, folio->nr_pages);
	if (!area)
		return -ENXIO;
	err = store_folio(z, area, folio);
	area_leave(&z->table, area);
	pools_reap(&z->pools);
	return err;
}

int zswap_store(struct zswap *z, zswap_slot_t slot, const void *page)
{
	/* A store only reads the pages. */
	const struct zswap_folio folio = { .size = sizeof(folio),
					   .slot = slot,
					   .nr_pages = 1,
					   .data = (void *)(uintptr_t)page };

	return zswap_store_folio(z, &folio);
}

static int load(struct zswap *z, zswap_slot_t slot, void *page, bool keep)
{
	int err = check_cache(z);
	struct area *area;

	if (err)
		return err;
	if (!page)
		return -EINVAL;
	area = enter(z, slot, 1);
	if (!area)
		return -ENXIO;
	err = load_page(z, area, zswap_slot_offset(slot), page, keep);
	area_leave(&z->table, area);
	pools_reap_later(&z->pools);
	return err;
}

int zswap_load(struct zswap *z, zswap_slot_t slot, void *page)
{
	return load(z, slot, page, false);
}

int zswap_peek(struct zswap *z, zswap_slot_t slot, void *page)
{
	return load(z, slot, page, true);
}

int zswap_load_folio(struct zswap *z, const struct zswap_folio *folio,
		     unsigned flags)
{
	int err = check_folio(z, folio);
	struct area *area;

	if (err)
		return err;
	if (flags & ~(ZSWAP_LOAD_KEEP | ZSWAP_LOAD_PARTIAL))
		return -EINVAL;
	area = enter(z, folio->slot, folio->nr_pages);
	if (!area)
		return -ENXIO;
	err = load_folio(z, area, folio, flags);
	area_leave(&z->table, area);
	pools_reap_later(&z->pools);
	return err;
}

/* ---- without data -------------------------------------------------------- */

/* The end of a range of slots, cut to the area. */
static uint64_t end_of(const struct area *area, uint64_t first, uint64_t nr)
{
	return nr < area->nr_slots - first ? first + nr : area->nr_slots;
}

void zswap_invalidate(struct zswap *z, zswap_slot_t slot, uint64_t nr_slots)
{
	uint64_t first = zswap_slot_offset(slot);
	struct area *area;

	if (check_cache(z) || !nr_slots)
		return;
	area = enter(z, slot, 1);
	if (!area)
		return;
	invalidate_range(z, area, first, end_of(area, first, nr_slots));
	area_leave(&z->table, area);
	pools_reap(&z->pools);
}

/* The first slot from *offset on, before end, that holds a page. */
static bool next_present(struct area *area, uint64_t *offset, uint64_t end)
{
	struct cluster *cluster;

	while ((cluster = area_next_cluster(area, offset, end))) {
		uint64_t next = (*offset | (CLUSTER_SLOTS - 1)) + 1;
		bool found = false;

		lock_take(&cluster->lock);
		while (!found && *offset < next && *offset < end) {
			found = entry_at(cluster, slot_in_cluster(*offset));
			*offset += !found;
		}
		lock_give(&cluster->lock);
		if (found)
			return true;
	}
	return false;
}

bool zswap_is_present(struct zswap *z, zswap_slot_t slot, uint64_t nr_slots)
{
	uint64_t first = zswap_slot_offset(slot);
	struct area *area;
	bool found;

	if (check_cache(z) || !nr_slots)
		return false;
	area = enter(z, slot, 1);
	if (!area)
		return false;
	found = next_present(area, &first, end_of(area, first, nr_slots));
	area_leave(&z->table, area);
	return found;
}

bool zswap_next_present(struct zswap *z, zswap_slot_t *slot)
{
	struct area *area;
	uint64_t offset;
	bool found;

	if (check_cache(z) || !slot)
		return false;
	area = enter(z, *slot, 1);
	if (!area)
		return false;
	offset = zswap_slot_offset(*slot);
	found = next_present(area, &offset, area->nr_slots);
	area_leave(&z->table, area);
	if (found)
		*slot = zswap_slot(zswap_slot_type(*slot), offset);
	return found;
}

int zswap_query(struct zswap *z, zswap_slot_t slot)
{
	uint64_t offset = zswap_slot_offset(slot);
	int state = check_cache(z);
	struct cluster *cluster;
	struct area *area;

	if (state)
		return state;
	area = enter(z, slot, 1);
	if (!area)
		return -ENXIO;
	cluster = area_cluster(area, offset);
	if (cluster) {
		struct entry *e;

		lock_take(&cluster->lock);
		e = entry_at(cluster, slot_in_cluster(offset));
		state = e ? (int)entry_state(e) : ZSWAP_ABSENT;
		lock_give(&cluster->lock);
	}
	area_leave(&z->table, area);
	return state;
}

/* ---- settings ------------------------------------------------------------ */

int zswap_spec_check(const char *spec, const char **where)
{
	static const struct comp_list nobody = { NULL, 0 };
	struct spec resolved;

	if (spec)
		return spec_resolve(&nobody, spec, &resolved, where);
	if (where)
		*where = NULL;
	return -EINVAL;
}

int zswap_set_compressor(struct zswap *z, const char *spec)
{
	int err = check_cache(z), saved_errno = errno;

	if (err)
		return err;
	if (!spec)
		return -EINVAL;
	err = pools_switch(&z->pools, spec);
	errno = saved_errno; /* the compressor's functions may change it */
	return err;
}

long zswap_get_compressor(struct zswap *z, char *buf, size_t len)
{
	int err = check_cache(z);

	if (err)
		return err;
	if (len && !buf)
		return -EINVAL;
	return (long)pools_spec(&z->pools, buf, len);
}

int zswap_set_max_pool_bytes(struct zswap *z, uint64_t bytes)
{
	int err = check_cache(z);

	if (!err)
		limit_set_bytes(&z->limit, bytes);
	return err;
}

int zswap_set_max_pool_percent(struct zswap *z, unsigned percent)
{
	int err = check_cache(z);

	if (err)
		return err;
	if (percent > 100)
		return -EINVAL;
	limit_set_percent(&z->limit, percent, sysmem_bytes());
	return 0;
}

int zswap_set_accept_threshold_percent(struct zswap *z, unsigned percent)
{
	int err = check_cache(z);

	if (err)
		return err;
	if (percent > 100)
		return -EINVAL;
	limit_set_threshold(&z->limit, percent);
	return 0;
}

int zswap_set_enabled(struct zswap *z, bool on)
{
	int err = check_cache(z);

	if (!err)
		atomic_store_explicit(&z->enabled, on, memory_order_relaxed);
	return err;
}

/* ---- compaction ---------------------------------------------------------- */

long zswap_compact(struct zswap *z)
{
	int err = check_cache(z);
	uint64_t pages = 0;

	if (err)
		return err;
	for (unsigned i = 1; i <= POOLS_MAX; i++) {
		struct pool *pool = pools_hold_at(&z->pools, i);

		if (!pool)
			continue;
		pages += zs_arena_compact(pool->zs);
		pools_put(&z->pools, pool, 1);
	}
	pools_reap(&z->pools);
	return (long)(pages * z->page_size);
}

/* ---- statistics ---------------------------------------------------------- */

static void add_area_gauges(struct area *area, struct zswap_stats *sum)
{
	struct cluster *cluster;
	uint64_t offset = 0;

	while ((cluster = area_next_cluster(area, &offset, area->nr_slots))) {
		struct cluster_gauges gauges;

		lock_take(&cluster->lock);
		gauges = cluster->gauges;
		lock_give(&cluster->lock);
		sum->stored_pages += gauges.stored;
		sum->same_filled_pages += gauges.filled;
		sum->stored_incompressible_pages += gauges.raw;
		sum->compressed_bytes += gauges.bytes;
		offset = (offset | (CLUSTER_SLOTS - 1)) + 1;
	}
}

static void read_page_gauges(struct zswap *z, struct zswap_stats *sum)
{
	unsigned type = 0;

	while (swap_table_next_type(&z->table, &type)) {
		struct area *area = area_enter(&z->table, type++);

		if (!area)
			continue;
		add_area_gauges(area, sum);
		area_leave(&z->table, area);
	}
	sum->original_bytes =
		(sum->stored_pages - sum->same_filled_pages) * z->page_size;
}

static void read_stats(struct zswap *z, struct zswap_stats *out)
{
	struct mem_held held = mem_held(&z->mem);
	struct limit_values limit = limit_values(&z->limit);

	memset(out, 0, sizeof(*out));
	read_page_gauges(z, out);
	stats_read_counters(&z->stats, out);
	out->reserve_bytes = held.reserve_granules * z->page_size;
	out->pool_total_size =
		held.used_granules * z->page_size + out->reserve_bytes;
	out->metadata_bytes = atomic_load_explicit(&z->mem.metadata_bytes,
						   memory_order_relaxed);
	out->max_pool_bytes = limit.max_bytes;
	out->accept_threshold_bytes = limit.threshold_bytes;
	out->pools = atomic_load_explicit(&z->pools.nr, memory_order_relaxed);
	out->pages_compacted = atomic_load_explicit(&z->compaction.pages,
						    memory_order_relaxed);
	out->objects_moved = atomic_load_explicit(&z->compaction.moved,
						  memory_order_relaxed);
	out->objects_skipped = atomic_load_explicit(&z->compaction.skipped,
						    memory_order_relaxed);
}

int zswap_get_stats(struct zswap *z, struct zswap_stats *stats)
{
	/* Where size_t is short there may be a gap before the first field. */
	const size_t head = offsetof(struct zswap_stats, stored_pages);
	int err = check_cache(z);
	struct zswap_stats all;

	if (err)
		return err;
	if (!stats || stats->size < head + sizeof(uint64_t))
		return -EINVAL;
	read_stats(z, &all);
	copy_figures(stats, &all, head, sizeof(all));
	return 0;
}

long zswap_format_stats(struct zswap *z, enum zswap_stats_format format,
			char *buf, size_t len)
{
	int err = check_cache(z);
	char spec[ZSWAP_MAX_SPEC + 1];
	struct zswap_stats all;

	if (err)
		return err;
	if (format != ZSWAP_STATS_TEXT || (len && !buf))
		return -EINVAL;
	read_stats(z, &all);
	pools_spec(&z->pools, spec, sizeof(spec));
	return stats_format_text(&all, spec, buf, len);
}
