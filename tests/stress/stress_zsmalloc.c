// SPDX-License-Identifier: MIT
/*
 * stress_zsmalloc.c - D51, D54, D57: the allocator alone, in all threads
 *
 * Traders make, write, read and free objects that pass from hand to hand, some
 * of which they keep reading for a while; there are also some that all read.
 * Two others compact meanwhile, and look at the figures. An object's bytes tell
 * whose they are, so that a wrong one is noticed wherever it comes from.
 */
#include "stress.h"

#include <stdatomic.h>
#include <string.h>

#include "backing.h"
#include "objects.h"

#define NR_TRADERS 8
#define NR_OBSERVERS 2
#define NR_PLACES 512
#define NR_COMMON 16
#define NR_KEPT 4 /* by each trader */

/* However slow all is. */
#define FEWEST_ROUNDS 20

/* What there can be at most, with each object in a zspage of its own. */
#define MAX_OBJECTS (NR_PLACES + NR_COMMON + NR_TRADERS * (NR_KEPT + 2))

struct market {
	struct zs_pool *pool;
	size_t page_size;
	uint32_t chain_size;
	uint64_t deadline;
	/* Objects in the places; who takes one has it alone. */
	atomic_uint taken[NR_PLACES];
	struct object places[NR_PLACES];
	struct object common[NR_COMMON];
	atomic_uint_fast64_t made, ended;
	uint64_t moved;
};

/* ---- traders ------------------------------------------------------------- */

/* An object that is being read, and where it was when that began. */
struct kept {
	struct object object;
	const void *payload;
};

struct trader {
	struct market *market;
	struct rng rng;
	struct kept kept[NR_KEPT];
};

/* Few sizes, so that threads meet in their classes, and any. */
static size_t some_bytes(struct trader *t)
{
	static const size_t divisors[] = { 128, 6, 3, 2, 1 };
	size_t page = t->market->page_size;

	if (rng_below(&t->rng, 8) == 0)
		return 1 + rng_below(&t->rng, (uint32_t)page);
	return page / divisors[rng_below(&t->rng, 5)] - rng_below(&t->rng, 16);
}

static void make(struct trader *t, struct object *o)
{
	object_make(t->market->pool, o, some_bytes(t), rng_next(&t->rng));
	atomic_fetch_add_explicit(&t->market->made, 1, memory_order_relaxed);
}

static void end(struct market *m, struct object *o)
{
	if (!o->handle)
		return;
	object_end(m->pool, o);
	atomic_fetch_add_explicit(&m->ended, 1, memory_order_relaxed);
}

static void trade(struct trader *t, struct object *o)
{
	struct zs_pool *pool = t->market->pool;

	if (!o->handle) {
		make(t, o);
		return;
	}
	object_check(pool, o);
	switch (rng_below(&t->rng, 4)) {
	case 0:
		object_fill(pool, o, rng_next(&t->rng));
		break;
	case 1:
		break;
	default:
		end(t->market, o);
	}
}

static void visit_a_place(struct trader *t)
{
	unsigned i = rng_below(&t->rng, NR_PLACES);
	atomic_uint *taken = &t->market->taken[i];

	if (atomic_exchange_explicit(taken, 1, memory_order_acquire))
		return; /* somebody is there */
	trade(t, &t->market->places[i]);
	atomic_store_explicit(taken, 0, memory_order_release);
}

static void let_go(struct trader *t, struct kept *kept)
{
	struct object *o = &kept->object;

	if (!o->handle)
		return;
	CHECK(zs_obj_read_begin(t->market->pool, o->handle) == kept->payload);
	zs_obj_read_end(t->market->pool, o->handle);
	CHECK(object_has(kept->payload, o->bytes, o->tag));
	zs_obj_read_end(t->market->pool, o->handle);
	end(t->market, o);
}

/* Stays where it is, however long it is read. */
static void change_kept(struct trader *t)
{
	struct kept *kept = &t->kept[rng_below(&t->rng, NR_KEPT)];

	let_go(t, kept);
	make(t, &kept->object);
	kept->payload = zs_obj_read_begin(t->market->pool, kept->object.handle);
}

static void run_trader(struct market *m, unsigned index)
{
	struct trader t = { .market = m };
	unsigned rounds = 0, i;

	rng_init(&t.rng, index);
	while (rounds++ < FEWEST_ROUNDS || !deadline_is_over(m->deadline)) {
		for (i = 0; i < 20; i++)
			visit_a_place(&t);
		change_kept(&t);
		object_check(m->pool, &m->common[rng_below(&t.rng, NR_COMMON)]);
	}
	for (i = 0; i < NR_KEPT; i++)
		let_go(&t, &t.kept[i]);
}

/* ---- observers ----------------------------------------------------------- */

static struct zs_pool_stats stats_of(struct zs_pool *pool)
{
	struct zs_pool_stats stats = { .size = sizeof(stats) };

	CHECK(zs_pool_stats(pool, &stats) == 0);
	return stats;
}

static void check_stats(struct market *m, const struct zs_pool_stats *before,
			const struct zs_pool_stats *now)
{
	uint64_t most_pages = MAX_OBJECTS * (uint64_t)m->chain_size;

	CHECK(now->objects <= MAX_OBJECTS);
	CHECK(now->compactable_pages <= now->pages_used);
	CHECK(now->pages_used <= most_pages);
	CHECK(now->held_bytes ==
	      now->pages_used * m->page_size + now->reserve_bytes);
	CHECK(now->pages_compacted >= before->pages_compacted);
	CHECK(now->objects_moved >= before->objects_moved);
	CHECK(now->objects_skipped >= before->objects_skipped);
	CHECK(zs_get_total_pages(m->pool) <= most_pages);
}

static void check_class(const struct zs_class_stats *class)
{
	uint64_t zspages = 0, g;

	for (g = 0; g < ZS_FULLNESS_GROUPS; g++)
		zspages += class->zspages[g];
	/* Compaction may have up to two of them, and what is set aside. */
	CHECK(zspages * class->objects_per_zspage <= class->objects_allocated);
	CHECK(class->objects_used <= class->objects_allocated);
	CHECK(class->objects_allocated <=
	      MAX_OBJECTS * (uint64_t) class->objects_per_zspage);
	CHECK(class->freeable_pages <= class->pages_used);
}

static void run_observer(struct market *m)
{
	struct zs_pool_stats before = stats_of(m->pool), now;
	struct zs_class_stats class = { .size = sizeof(class) };
	unsigned nth = 0;

	while (!deadline_is_over(m->deadline)) {
		long pages = zs_compact(m->pool);

		CHECK(pages >= 0 && pages <= MAX_OBJECTS * 16);
		now = stats_of(m->pool);
		check_stats(m, &before, &now);
		before = now;
		if (zs_class_stats(m->pool, nth++, &class) == 0)
			check_class(&class);
		else
			nth = 0;
	}
}

/* ---- a market ------------------------------------------------------------ */

static void run(unsigned index, void *arg)
{
	if (index < NR_TRADERS)
		run_trader(arg, index);
	else
		run_observer(arg);
}

static void make_common(struct market *m)
{
	unsigned i;

	for (i = 0; i < NR_COMMON; i++)
		object_make(m->pool, &m->common[i], m->page_size / 3, i);
}

/* The count of objects is exact, and all that is there can be given back. */
static void close_market(struct market *m)
{
	struct zs_pool_stats stats = stats_of(m->pool);
	unsigned i;

	CHECK(stats.objects ==
	      atomic_load(&m->made) - atomic_load(&m->ended) + NR_COMMON);
	m->moved = stats.objects_moved;
	zs_compact(m->pool);
	CHECK(stats_of(m->pool).compactable_pages == 0);
	for (i = 0; i < NR_PLACES; i++)
		end(m, &m->places[i]);
	for (i = 0; i < NR_COMMON; i++)
		object_end(m->pool, &m->common[i]);
	stats = stats_of(m->pool);
	CHECK(stats.objects == 0);
	CHECK(stats.held_bytes == 0);
	zs_destroy_pool(m->pool);
}

/* Returns how many objects were moved meanwhile. */
static uint64_t run_with(const struct zs_pool_params *params)
{
	static struct market m;

	memset(&m, 0, sizeof(m));
	CHECK(zs_create_pool(&m.pool, params) == 0);
	m.page_size = params->page_size;
	m.chain_size = params->chain_size;
	make_common(&m);
	m.deadline = deadline_after_ms(300);
	run_threads(NR_TRADERS + NR_OBSERVERS, run, &m);
	close_market(&m);
	return m.moved;
}

int main(void)
{
	static const struct zs_pool_params variants[] = {
		{ .page_size = 4096, .chain_size = 8 },
		{ .page_size = 4096,
		  .chain_size = 8,
		  .class_choice = ZSWAP_CLASSES_ADAPTIVE,
		  .compaction = ZSWAP_COMPACT_AUTO },
		{ .page_size = 16384,
		  .chain_size = 16,
		  .compaction = ZSWAP_COMPACT_AUTO,
		  .memory_flags = ZSWAP_MEM_WIPE },
	};
	struct faulty hooks;
	uint64_t moved = 0;
	size_t i;

	watchdog_start("zsmalloc", 60);
	for (i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		struct zs_pool_params params = variants[i];

		params.size = sizeof(params);
		params.hooks = usual_hooks();
		moved += run_with(&params);
		CHECK(usual_hooks_end());
		/* Memory that was given back reads as rubbish at once. */
		faulty_init(&hooks);
		params.hooks = &hooks.hooks;
		moved += run_with(&params);
		CHECK(faulty_end(&hooks));
	}
	CHECK(moved > 0);
	watchdog_stop();
	return 0;
}
