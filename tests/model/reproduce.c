// SPDX-License-Identifier: MIT
/*
 * reproduce.c - what the programs use that the model driver prints
 */
#include "reproduce.h"

#include <time.h>

#include "entry.h"
#include "zs_priv.h"

#define CANARY_BYTE 0x6b

/* ---- pages --------------------------------------------------------------- */

void io_lay_out(struct io *io, size_t page_size, unsigned nr, int form,
		unsigned turn)
{
	CHECK(nr * page_size <= IO_BYTES);
	if (form != IO_PAGES)
		turn = 0;
	for (unsigned i = 0; i < nr; i++)
		io->pages[i] = io->data + (i + turn) % nr * page_size;
	for (unsigned i = 0; i < nr; i++)
		io->results[i] = IO_UNTOUCHED;
	memset(io->data + nr * page_size, CANARY_BYTE, sizeof(io->canary));
}

/* The palette's pages are written by nobody: the library only reads them. */
void io_fill(struct io *io, size_t page_size, unsigned nr, int form,
	     unsigned start, unsigned stride)
{
	for (unsigned i = 0; i < nr; i++) {
		const void *page =
			palette_at(page_size, io_number(start, stride, i));

		if (form == IO_PALETTE)
			io->pages[i] = (void *)(uintptr_t)page;
		else
			memcpy(io->pages[i], page, page_size);
	}
}

bool io_is(const void *page, size_t page_size, unsigned number)
{
	return !memcmp(page, palette_at(page_size, number), page_size);
}

struct zswap_folio io_folio(struct io *io, zswap_slot_t slot, unsigned nr,
			    int form, bool results)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = slot,
				     .nr_pages = nr };

	if (form == IO_DATA)
		folio.data = io->data;
	else
		folio.pages = io->pages;
	if (results)
		folio.results = io->results;
	return folio;
}

/* ---- the cache ----------------------------------------------------------- */

struct zswap_stats io_stats(struct zswap *z)
{
	struct zswap_stats stats = { .size = sizeof(stats) };

	CHECK(zswap_get_stats(z, &stats) == 0);
	return stats;
}

/*
 * The library gives these numbers out too, and so they are all taken before it
 * starts a thread. The checks of a debug build know who holds a lock by its
 * number: a thread of the same one would seem to take a lock twice.
 */
void io_be_thread(unsigned number)
{
	static unsigned nr_taken;

	CHECK(number < IO_THREADS);
	while (nr_taken < IO_THREADS)
		nr_taken = thread_number_new() + 1;
	thread_number_plus_one = number + 1;
}

static int no_thread(void *ctx, void **thread, void (*run)(void *arg),
		     void *arg)
{
	(void)ctx, (void)thread, (void)run, (void)arg;
	return -1;
}

void io_no_threads(struct faulty *hooks)
{
	hooks->hooks.thread_create = no_thread;
}

void io_linger(void *arg)
{
	const struct timespec moment = { .tv_nsec = 300000 };

	(void)arg;
	nanosleep(&moment, NULL);
}

static struct {
	void (*call)(void *arg);
	void *arg;
} at_create;

/* A thread of the cache comes here as well, but only ends instances. */
static void make_call(void *arg, enum codec_event event)
{
	(void)arg;
	if (event == CODEC_CREATE && at_create.call)
		at_create.call(at_create.arg);
}

void io_codec_init(struct codec *codec, uint32_t batch)
{
	codec_init(codec, batch);
	codec->event = make_call;
}

void io_call_at_create(void (*call)(void *arg), void *arg)
{
	at_create.call = call;
	at_create.arg = arg;
}

/* ---- a look inside ------------------------------------------------------- */

static struct pool *current_pool(struct zswap *z)
{
	return atomic_load(&z->pools.current);
}

size_t inspect_huge_bytes(struct zswap *z)
{
	return zs_arena_huge_bytes(current_pool(z)->zs);
}

bool inspect_is_full(struct zswap *z)
{
	return atomic_load(&z->limit.full);
}

static void inspect_area(struct zswap *z, struct area *area)
{
	struct cluster *cluster;
	uint64_t at = 0;

	while ((cluster = area_next_cluster(area, &at, area->nr_slots))) {
		CHECK(cluster_check(cluster));
		CHECK(!cluster->holds);
		at = (at | (CLUSTER_SLOTS - 1)) + 1;
	}
	area_leave(&z->table, area);
}

static void inspect_table(struct zswap *z)
{
	unsigned type = 0;

	while (swap_table_next_type(&z->table, &type)) {
		struct area *area = area_enter(&z->table, type++);

		if (area)
			inspect_area(z, area);
	}
}

/* Each object is an entry's, and each has a reference. */
static void inspect_refs(const struct pool *pool)
{
	int64_t refs = 0;

	for (unsigned i = 0; i < pool->mem->nr_shards; i++)
		refs += atomic_load(&pool->refs[i].nr);
	for (unsigned i = 0; i < pool->zs->table.nr_classes; i++)
		refs -= (int64_t)pool->zs->classes[i].in_use;
	CHECK(refs == 0);
}

/* Returns the granules that the pools hold, as in mem->held. */
static uint64_t inspect_pools(struct zswap *z)
{
	uint64_t held = 0;

	for (unsigned i = 1; i <= POOLS_MAX; i++) {
		struct pool *pool = pools_at(&z->pools, i);

		if (!pool)
			break;
		if (!pool->zs)
			continue;
		CHECK(zs_arena_check(pool->zs));
		inspect_refs(pool);
		held += atomic_load(&pool->zs->span.counts);
	}
	return held;
}

/* Everything the library took is in its statistics. */
static void inspect_memory(struct zswap *z, struct faulty *hooks,
			   const struct zswap_stats *stats)
{
	struct span_pool *span = &current_pool(z)->zs->span;
	struct faulty_held held = faulty_held(hooks);
	size_t headers = (held.map_blocks - 1) * span->header_granules *
			 span->granule_bytes;

	CHECK(!held.misuse);
	CHECK(stats->metadata_bytes ==
	      held.alloc_bytes + z->mem.os_page + headers);
	CHECK(stats->pool_total_size + headers + z->mem.os_page <=
	      held.map_bytes);
}

bool inspect_is_compact(struct zswap *z)
{
	bool compact = true;

	for (unsigned i = 1; i <= POOLS_MAX && pools_at(&z->pools, i); i++) {
		struct zs_arena *arena = pools_at(&z->pools, i)->zs;

		for (unsigned c = 0; arena && c < arena->table.nr_classes; c++)
			compact &= !zs_freeable(&arena->classes[c]);
	}
	return compact;
}

/* Whether objects could be moved from one zspage to another. */
static bool has_two_to_fill(struct zs_class *class)
{
	unsigned nr = 0;

	for (unsigned g = 1; g < ZS_FULL; g++)
		for (struct list *pos = class->groups[g].next;
		     pos != &class->groups[g]; pos = pos->next)
			nr++;
	return nr > 1;
}

/* Whether its number of objects in use fell, and it should have fewer places.
 */
static bool class_lags(struct zs_class *class, size_t *seen)
{
	bool fell = class->in_use < *seen;

	*seen = class->in_use;
	return fell && class->size.objects > 1 && zs_is_loose(class) &&
	       has_two_to_fill(class);
}

/* Numbers of pools are given out from the lowest. */
#define POOLS_SEEN 32

bool inspect_lags(struct zswap *z)
{
	static size_t seen[POOLS_SEEN][ZS_MAX_CLASSES]; /* objects in use */
	bool lags = false;

	for (unsigned i = 1; i <= POOLS_MAX && pools_at(&z->pools, i); i++) {
		struct zs_arena *arena = pools_at(&z->pools, i)->zs;

		CHECK(i < POOLS_SEEN);
		for (unsigned c = 0; arena && c < arena->table.nr_classes; c++)
			lags |= class_lags(&arena->classes[c], &seen[i][c]);
	}
	return lags;
}

void inspect(struct zswap *z, struct faulty *hooks,
	     const struct zswap_stats *stats)
{
	/* What a thread of the cache has done to pools happened before. */
	lock_take(&z->pools.lock);
	lock_give(&z->pools.lock);
	CHECK(inspect_pools(z) == atomic_load(&z->mem.held));
	inspect_memory(z, hooks, stats);
	inspect_table(z);
	CHECK(slab_cache_check(&z->entries));
	CHECK(slab_nr_objects(&z->entries) == stats->stored_pages);
}
