// SPDX-License-Identifier: MIT
/*
 * checks.c - what must hold after every step
 */
#include "world.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "stats.h"

/* Fields that the model tells; the others are of what memory there is. */
// clang-format off
#define FOR_EACH_TOLD(X) \
	X(stored_pages) \
	X(same_filled_pages) \
	X(stored_incompressible_pages) \
	X(original_bytes) \
	X(compressed_bytes) \
	X(stored_folios) \
	X(refused_folios) \
	X(zswpout) \
	X(same_filled_stored) \
	X(incompressible_stored) \
	X(compress_engine_fail) \
	X(pool_limit_hit) \
	X(reject_disabled) \
	X(reject_limit) \
	X(reject_compress_poor) \
	X(reject_compress_fail) \
	X(reject_alloc_fail) \
	X(reject_kmemcache_fail) \
	X(reject_no_context) \
	X(zswpin) \
	X(load_misses) \
	X(load_errors) \
	X(decompress_fail)
// clang-format on

static void check_told(const struct model *m, const struct zswap_stats *stats)
{
#define CHECK_FIELD(name) CHECK(stats->name == m->counts.name);
	FOR_EACH_TOLD(CHECK_FIELD)
#undef CHECK_FIELD
	CHECK(!memcmp(&stats->stored_folios_1, &m->counts.stored_folios_1,
		      2 * STATS_SIZES * sizeof(uint64_t)));
	CHECK(stats->max_pool_bytes == m->max_bytes);
	CHECK(stats->accept_threshold_bytes == model_threshold_bytes(m));
}

static void say_told(const struct model *m)
{
	say("stats = io_stats(z);");
#define SAY_FIELD(name) \
	say("CHECK(stats." #name " == %" PRIu64 ");", m->counts.name);
	FOR_EACH_TOLD(SAY_FIELD)
#undef SAY_FIELD
	say("inspect(z, &hooks, &stats);");
}

/* What the header says of the fields among each other. */
static void check_sums(const struct model *m, const struct zswap_stats *s)
{
	CHECK(s->stores == s->stored_folios + s->refused_folios);
	CHECK(s->refused_folios ==
	      s->reject_disabled + s->reject_limit + s->reject_compress_poor +
		      s->reject_compress_fail + s->reject_alloc_fail +
		      s->reject_kmemcache_fail + s->reject_no_context);
	CHECK(s->loads == s->zswpin + s->load_misses + s->load_errors);
	CHECK(s->pool_total_size % m->page_size == 0);
	CHECK(s->reserve_bytes % m->page_size == 0);
	CHECK(s->pool_total_size - s->reserve_bytes >= s->compressed_bytes);
	if (!s->compressed_bytes)
		CHECK(!s->pool_total_size && !s->reserve_bytes);
}

/*
 * With a thread that ends pools it is a matter of moments: it may have one in
 * hand that another call would have ended at once. Statistics that are read
 * while it ends the last one may have been read in part before that.
 */
static struct zswap_stats settled_stats(struct world *w)
{
	unsigned expected = model_pools(&w->m);
	struct zswap_stats stats;

	while (io_stats(w->z).pools > expected &&
	       faulty_held(&w->hooks).threads)
		sched_yield();
	stats = io_stats(w->z);
	CHECK(stats.pools >= expected);
	CHECK(stats.pools == expected || w->dead_may_wait);
	return stats;
}

/* Others, says the header, for each object that is freed. */
#define MOVES_PER_FREE UINT64_C(2)

/*
 * How many objects move by themselves. Of how many places may be free there is
 * no exact promise: while a zspage is emptied object by object, others come.
 * But as long as there are too many each object freed moves another, unless
 * those are pinned.
 */
static void check_moves(struct world *w, const struct zswap_stats *now)
{
	bool automatic = w->params.compaction != ZSWAP_COMPACT_MANUAL;
	uint64_t moved = now->objects_moved - w->before.objects_moved;
	uint64_t pages = now->pages_compacted - w->before.pages_compacted;
	uint64_t skipped = now->objects_skipped - w->before.objects_skipped;
	uint64_t most = automatic ? MOVES_PER_FREE * w->m.freed : 0;
	bool lags = inspect_lags(w->z);

	if (w->compacts)
		return;
	if (w->sequence->begun == w->sequence->nr)
		say("CHECK(stats.objects_moved <= %" PRIu64 ");",
		    w->before.objects_moved + most);
	CHECK(moved <= most);
	CHECK(pages <= moved * w->m.chain);
	CHECK(!skipped || (automatic && w->pinned));
	CHECK(moved || !lags || !automatic || w->pinned);
}

static void check_compact(struct world *w)
{
	if (!w->compacts || w->pinned)
		return;
	say("CHECK(inspect_is_compact(z));");
	CHECK(inspect_is_compact(w->z));
}

void check_world(struct world *w)
{
	struct zswap_stats stats = settled_stats(w);

	if (w->sequence->begun == w->sequence->nr)
		say_told(&w->m);
	check_told(&w->m, &stats);
	check_sums(&w->m, &stats);
	inspect(w->z, &w->hooks, &stats);
	check_moves(w, &stats);
	check_compact(w);
	w->before = stats;
}

static void check_page(struct world *w, zswap_slot_t slot,
		       const struct model_slot *expected)
{
	char *page = own_io(w)->data;
	int err;

	say("err = zswap_peek(z, %s, io[0].data);", slot_text(slot));
	err = zswap_peek(w->z, slot, page);
	if (expected->state == ZSWAP_ABSENT) {
		EXPECT(err, -ENOENT);
		w->m.counts.load_misses++;
		return;
	}
	EXPECT(err, 0);
	w->m.counts.zswpin++;
	say("CHECK(io_is(io[0].data, %u, %u));", w->m.page_size,
	    expected->page);
	CHECK(io_is(page, w->m.page_size, expected->page));
}

void check_every_page(struct world *w)
{
	for (unsigned i = 0; i < MODEL_AREAS; i++) {
		struct model_area *a = &w->m.areas[i];

		for (unsigned k = 0; a->on && k < w->m.window; k++)
			check_page(w, zswap_slot(a->type, a->first + k),
				   &a->slots[k]);
	}
}
