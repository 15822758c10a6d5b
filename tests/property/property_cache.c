// SPDX-License-Identifier: MIT
/*
 * property_cache.c - the whole cache against an array of pages
 *
 * All public calls, in random order and with random arguments, wrong ones among
 * them; hooks and the compressor fail now and then. After each call the gauges
 * and counters must be the model's, and the library's own checks hold.
 */
#include "property.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache_model.h"
#include "codec.h"
#include "entry.h"
#include "faulty.h"

#define BUFFER_BYTES (ZSWAP_MAX_FOLIO * 4096u)

struct run {
	struct faulty hooks;
	struct codec codec;
	struct zswap *z;
	struct model m;
	struct rng *rng;
	char buffer[BUFFER_BYTES];
	void *pages[ZSWAP_MAX_FOLIO];
	int results[ZSWAP_MAX_FOLIO];
	bool dead_may_wait; /* since a load, which does not end pools */
};

static struct pool *pool_of(struct zswap *z)
{
	return atomic_load(&z->pools.current);
}

static uint32_t below(struct run *r, uint32_t n)
{
	return rng_below(r->rng, n);
}

static char *page_at(struct run *r, unsigned i)
{
	return r->buffer + i * r->m.page_size;
}

static unsigned max_folio(struct run *r)
{
	return (unsigned)(BUFFER_BYTES / r->m.page_size);
}

static struct zswap_stats stats_of(struct run *r)
{
	struct zswap_stats stats = { .size = sizeof(stats) };

	CHECK(zswap_get_stats(r->z, &stats) == 0);
	return stats;
}

/* ---- a target: some slots of an area ------------------------------------- */

struct target {
	struct model_area *area;
	unsigned first, nr; /* in the window */
	zswap_slot_t slot;
	bool valid; /* all of it lies in an area that is on */
};

static struct target some_target(struct run *r, unsigned max)
{
	struct target t = { .area = &r->m.areas[below(r, MODEL_AREAS)] };
	uint64_t offset;

	t.nr = below(r, 4) ? 1 + below(r, 10) : 1 + below(r, max);
	if (t.nr > max)
		t.nr = max;
	t.first = below(r, MODEL_WINDOW);
	offset = t.area->first + t.first;
	t.slot = zswap_slot(t.area->type, offset);
	t.valid = t.area->on && offset + t.nr <= t.area->nr_slots;
	if (t.valid && t.first + t.nr > MODEL_WINDOW)
		t.nr = MODEL_WINDOW - t.first;
	return t;
}

static struct model_slot *slot_at(const struct target *t, unsigned i)
{
	return &t->area->slots[t->first + i];
}

/* One buffer for all pages, or a pointer to each, in any order. */
static struct zswap_folio folio_for(struct run *r, const struct target *t)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = t->slot,
				     .nr_pages = t->nr,
				     .nid = (int32_t)below(r, 3) - 1 };
	unsigned turn = below(r, t->nr);

	if (below(r, 2))
		folio.results = r->results;
	for (unsigned i = 0; i < t->nr; i++)
		r->pages[i] = page_at(r, i);
	if (below(r, 2)) {
		folio.data = r->buffer;
		return folio;
	}
	for (unsigned i = 0; i < t->nr; i++)
		r->pages[i] = page_at(r, (i + turn) % t->nr);
	folio.pages = r->pages;
	return folio;
}

static void mark_results(struct run *r)
{
	for (unsigned i = 0; i < ZSWAP_MAX_FOLIO; i++)
		r->results[i] = 77;
}

/* ---- stores -------------------------------------------------------------- */

static void plan_failures(struct run *r)
{
	uint64_t k = 1 + below(r, below(r, 2) ? 4 : 40);

	if (below(r, 6))
		return;
	if (below(r, 2))
		faulty_fail_nth(&r->hooks, FAULTY_ANY, k);
	else
		faulty_fail_from(&r->hooks, FAULTY_ANY, k);
}

static void plan_bad_engine(struct run *r)
{
	static const enum codec_fault faults[] = {
		CODEC_ZERO,  CODEC_DST_PLUS_1, CODEC_HUGE,
		CODEC_ERROR, CODEC_NOT_DONE,   CODEC_REQUEST_ERROR,
	};

	r->m.engine_fails = r->m.engine == ENGINE_TEST && below(r, 10) == 0;
	if (r->m.engine_fails)
		codec_fail(&r->codec.compress,
			   faults[below(r, ARRAY_SIZE(faults))],
			   CODEC_FOR_EVER);
}

/*
 * The counters that a store may have moved that ran out of memory: one reject,
 * some of the engine.
 */
static void count_no_memory(struct run *r, unsigned nr)
{
	struct zswap_stats *m = &r->m.counts, now = stats_of(r);

	CHECK(now.reject_alloc_fail + now.reject_kmemcache_fail ==
	      m->reject_alloc_fail + m->reject_kmemcache_fail + 1);
	CHECK(now.compress_engine_fail >= m->compress_engine_fail);
	CHECK(now.compress_engine_fail <=
	      m->compress_engine_fail + (r->m.engine_fails ? nr : 0));
	m->reject_alloc_fail = now.reject_alloc_fail;
	m->reject_kmemcache_fail = now.reject_kmemcache_fail;
	m->compress_engine_fail = now.compress_engine_fail;
}

static void count_store(struct run *r, const struct target *t)
{
	struct zswap_stats *m = &r->m.counts;

	for (unsigned i = 0; i < t->nr; i++) {
		struct model_slot *slot = slot_at(t, i);

		m->same_filled_stored += slot->state == ZSWAP_FILLED;
		m->incompressible_stored += slot->state == ZSWAP_RAW;
		if (r->m.engine_fails)
			m->compress_engine_fail += slot->state == ZSWAP_RAW;
	}
	m->zswpout += t->nr;
}

static void check_store_results(struct run *r, const struct target *t, int err)
{
	unsigned nr_causes = 0;

	for (unsigned i = 0; i < t->nr; i++) {
		CHECK(r->results[i] == err ||
		      (err == -ENOMEM && r->results[i] == -ECANCELED));
		nr_causes += r->results[i] == err;
	}
	CHECK(nr_causes);
}

/* Refused for what its pages are: exactly those are named. */
static void check_verdict(struct run *r, const struct target *t,
			  const int *verdict)
{
	for (unsigned i = 0; i < t->nr; i++) {
		CHECK(r->results[0] == 77 || r->results[i] == verdict[i]);
		if (verdict[i] == -EIO)
			r->m.counts.compress_engine_fail++;
	}
}

/* The row of counters by size in which a folio of nr pages is. */
static void count_size(uint64_t *row, unsigned nr)
{
	row[stats_size(nr)]++;
}

/* A store that was refused; the reason is the first of these that holds. */
static void after_refusal(struct run *r, const struct target *t,
			  const struct model_slot *made, int err)
{
	static int verdict[ZSWAP_MAX_FOLIO];
	struct zswap_stats *m = &r->m.counts;
	int refused = model_verdict(&r->m, made, t->nr, verdict);

	if (!r->m.enabled) {
		CHECK(err == -EPERM);
		m->reject_disabled++;
	} else if (r->m.limit_zero) {
		CHECK(err == -ENOSPC);
		m->reject_limit++;
		m->pool_limit_hit++;
	} else if (err == -ENOMEM) {
		CHECK(r->hooks.failed);
		count_no_memory(r, t->nr);
	} else {
		CHECK(refused && err == refused);
		check_verdict(r, t, verdict);
		m->reject_compress_fail += err == -EIO;
		m->reject_compress_poor += err == -E2BIG;
		return;
	}
	if (r->results[0] != 77)
		check_store_results(r, t, err);
}

static void after_store(struct run *r, const struct target *t,
			const struct model_slot *made, int err)
{
	struct zswap_stats *m = &r->m.counts;

	if (!t->valid) {
		CHECK(err == -ENXIO && r->results[0] == 77);
		return;
	}
	r->dead_may_wait = false;
	if (err) {
		after_refusal(r, t, made, err);
		model_clear(t->area, t->first, t->nr);
		m->refused_folios++;
		count_size(&m->refused_folios_1, t->nr);
		return;
	}
	CHECK(r->m.enabled && !r->m.limit_zero);
	memcpy(slot_at(t, 0), made, t->nr * sizeof(*made));
	count_store(r, t);
	m->stored_folios++;
	count_size(&m->stored_folios_1, t->nr);
	if (r->results[0] != 77)
		check_store_results(r, t, 0);
}

static void do_store(struct run *r)
{
	static struct model_slot made[ZSWAP_MAX_FOLIO];
	struct target t = some_target(r, max_folio(r));
	struct zswap_folio folio = folio_for(r, &t);
	int err;

	plan_bad_engine(r);
	for (unsigned i = 0; i < t.nr; i++) {
		enum page_kind kind = (enum page_kind)below(r, PAGE_KINDS);
		uint64_t seed = rng_next(r->rng);

		page_make(r->pages[i], r->m.page_size, kind, seed);
		made[i] = model_page(&r->m, r->pages[i], kind, seed);
	}
	mark_results(r);
	r->hooks.failed = 0;
	plan_failures(r);
	if (t.nr == 1 && below(r, 2))
		err = zswap_store(r->z, t.slot, r->pages[0]);
	else
		err = zswap_store_folio(r->z, &folio);
	faulty_fail_none(&r->hooks);
	after_store(r, &t, made, err);
	r->m.engine_fails = false;
	codec_behave(&r->codec.compress);
}

/* ---- loads --------------------------------------------------------------- */

static void plan_damage(struct run *r)
{
	static const enum codec_fault faults[] = {
		CODEC_ZERO,  CODEC_UNIT_LESS_1, CODEC_UNIT_PLUS_1,
		CODEC_ERROR, CODEC_NOT_DONE,    CODEC_REQUEST_ERROR,
	};

	r->m.engine_damaged = below(r, 10) == 0;
	if (r->m.engine_damaged)
		codec_fail(&r->codec.decompress,
			   faults[below(r, ARRAY_SIZE(faults))],
			   CODEC_FOR_EVER);
}

static void end_damage(struct run *r)
{
	r->m.engine_damaged = false;
	codec_behave(&r->codec.decompress);
}

static void check_page(struct run *r, const void *page,
		       const struct model_slot *slot)
{
	CHECK(page_is(page, r->m.page_size, slot->kind, slot->seed));
}

static int expected_load(struct run *r, const struct target *t)
{
	struct zswap_stats *m = &r->m.counts;

	if (!t->valid)
		return -ENXIO;
	if (slot_at(t, 0)->state == ZSWAP_ABSENT) {
		m->load_misses++;
		return -ENOENT;
	}
	if (!model_readable(&r->m, slot_at(t, 0))) {
		m->decompress_fail++;
		m->load_errors++;
		return -EIO;
	}
	m->zswpin++;
	return 0;
}

static void do_load(struct run *r)
{
	struct target t = some_target(r, 1);
	bool keep = below(r, 3) == 0;
	int err;

	plan_damage(r);
	err = keep ? zswap_peek(r->z, t.slot, r->buffer) :
		     zswap_load(r->z, t.slot, r->buffer);
	CHECK(err == expected_load(r, &t));
	if (!err) {
		check_page(r, r->buffer, slot_at(&t, 0));
		if (!keep)
			model_clear(t.area, t.first, 1);
	}
	end_damage(r);
}

static unsigned nr_readable(struct run *r, const struct target *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->nr; i++)
		n += model_readable(&r->m, slot_at(t, i));
	return n;
}

static int expected_load_folio(struct run *r, const struct target *t,
			       unsigned flags)
{
	unsigned present, readable;
	struct zswap_stats *m = &r->m.counts;
	int err = 0;

	if (!t->valid)
		return -ENXIO;
	present = model_present(t->area, t->first, t->nr);
	readable = nr_readable(r, t);
	m->load_misses += t->nr - present;
	if (!(flags & ZSWAP_LOAD_PARTIAL))
		err = !present           ? -ENOENT :
		      present < t->nr    ? -EBUSY :
		      readable < present ? -EIO :
					   0;
	if (!err || err == -EIO)
		m->decompress_fail += present - readable;
	m->load_errors += present - (err ? 0 : readable);
	if (err)
		return err;
	m->zswpin += readable;
	return flags & ZSWAP_LOAD_PARTIAL ? (int)readable : 0;
}

/* After -EBUSY and -ENOENT nothing was read, so that nobody knows of damage. */
static int expected_result(struct run *r, const struct model_slot *slot,
			   int err)
{
	if (slot->state == ZSWAP_ABSENT)
		return -ENOENT;
	return err == -EBUSY || model_readable(&r->m, slot) ? 0 : -EIO;
}

static void after_load_folio(struct run *r, const struct target *t,
			     unsigned flags, int err)
{
	for (unsigned i = 0; i < t->nr; i++) {
		struct model_slot *slot = slot_at(t, i);
		int result = expected_result(r, slot, err);

		CHECK(r->results[0] == 77 || r->results[i] == result);
		if (err < 0 || result)
			continue;
		check_page(r, r->pages[i], slot);
		if (!(flags & ZSWAP_LOAD_KEEP))
			model_clear(t->area, t->first + i, 1);
	}
}

static void do_load_folio(struct run *r)
{
	struct target t = some_target(r, max_folio(r));
	struct zswap_folio folio = folio_for(r, &t);
	unsigned flags = below(r, 4);
	int err;

	plan_damage(r);
	mark_results(r);
	err = zswap_load_folio(r->z, &folio, flags);
	CHECK(err == expected_load_folio(r, &t, flags));
	if (t.valid)
		after_load_folio(r, &t, flags, err);
	else
		CHECK(r->results[0] == 77);
	end_damage(r);
}

/* ---- without data -------------------------------------------------------- */

/* How much of a range, which may leave the window, lies in the window. */
static unsigned in_window(const struct target *t, uint64_t nr)
{
	return nr < MODEL_WINDOW - t->first ? (unsigned)nr :
					      MODEL_WINDOW - t->first;
}

static uint64_t some_length(struct run *r)
{
	switch (below(r, 4)) {
	case 0:
		return below(r, 2) ? UINT64_MAX : UINT64_C(1) << below(r, 64);
	case 1:
		return below(r, 1500);
	default:
		return below(r, 20);
	}
}

static void do_invalidate(struct run *r)
{
	struct target t = some_target(r, 1);
	uint64_t nr = some_length(r);

	zswap_invalidate(r->z, t.slot, nr);
	if (!t.valid)
		return;
	if (nr)
		r->dead_may_wait = false;
	model_clear(t.area, t.first, in_window(&t, nr));
}

static void do_ask(struct run *r)
{
	struct target t = some_target(r, 1);
	uint64_t nr = some_length(r);
	zswap_slot_t next = t.slot;
	unsigned i = t.first;
	bool found;

	CHECK(zswap_query(r->z, t.slot) ==
	      (t.valid ? (int)slot_at(&t, 0)->state : -ENXIO));
	CHECK(zswap_is_present(r->z, t.slot, nr) ==
	      (t.valid && model_present(t.area, t.first, in_window(&t, nr))));
	found = zswap_next_present(r->z, &next);
	while (t.valid && i < MODEL_WINDOW && !t.area->slots[i].state)
		i++;
	CHECK(found == (t.valid && i < MODEL_WINDOW));
	CHECK(next.val == t.slot.val + (found ? i - t.first : 0));
}

static void do_switch_area(struct run *r)
{
	struct model_area *a = &r->m.areas[below(r, MODEL_AREAS)];
	int err;

	if (a->on && below(r, 8)) {
		CHECK(zswap_swapon(r->z, a->type, a->nr_slots) == -EEXIST);
	} else if (a->on) {
		CHECK(zswap_swapoff(r->z, a->type) == 0);
		model_clear(a, 0, MODEL_WINDOW);
		a->on = false;
		r->dead_may_wait = false;
	} else {
		CHECK(zswap_swapoff(r->z, a->type) == -ENXIO);
		r->hooks.failed = 0;
		plan_failures(r);
		err = zswap_swapon(r->z, a->type, a->nr_slots);
		faulty_fail_none(&r->hooks);
		CHECK(!err || (err == -ENOMEM && r->hooks.failed));
		a->on = !err;
	}
}

static void do_switch_enabled(struct run *r)
{
	r->m.enabled = below(r, 4) != 0;
	CHECK(zswap_set_enabled(r->z, r->m.enabled) == 0);
}

static void do_set_limit(struct run *r)
{
	r->m.limit_zero = below(r, 3) == 0;
	CHECK(zswap_set_max_pool_bytes(
		      r->z, r->m.limit_zero ? 0 : ZSWAP_UNLIMITED) == 0);
}

/* What a batch is with an engine: 8, or what the codec likes. */
static unsigned batch_of(struct run *r, enum model_engine engine)
{
	uint32_t likes = r->codec.vtable.batch_size;

	return engine == ENGINE_TEST && likes > 8 ? likes : 8;
}

static void do_switch_engine(struct run *r)
{
	const char *const specs[] = { r->codec.spec, " lz4\n",
				      "zstd:level=+1" };
	enum model_engine engine = (enum model_engine)below(r, NR_ENGINES);
	int err;

	CHECK(zswap_set_compressor(r->z, "nope") == -ENOENT);
	CHECK(zswap_set_compressor(r->z, "zstd:level=23") == -ERANGE);
	r->hooks.failed = 0;
	plan_failures(r);
	err = zswap_set_compressor(r->z, specs[engine]);
	faulty_fail_none(&r->hooks);
	CHECK(!err || (err == -ENOMEM && r->hooks.failed));
	if (err)
		return;
	r->dead_may_wait = false;
	r->m.engine = engine;
	r->m.batch = batch_of(r, engine);
}

/* Arguments that are refused, and change nothing. */
static void do_wrong(struct run *r)
{
	struct target t = some_target(r, 1);
	struct zswap_folio folio = folio_for(r, &t);
	zswap_slot_t none = { ZSWAP_SLOT_NONE };

	folio.nr_pages = below(r, 2) ? 0 : ZSWAP_MAX_FOLIO + 1;
	CHECK(zswap_store_folio(r->z, &folio) == -EINVAL);
	CHECK(zswap_load_folio(r->z, &folio, 0) == -EINVAL);
	folio.nr_pages = 1;
	CHECK(zswap_load_folio(r->z, &folio, 4) == -EINVAL);
	folio.flags = 1;
	CHECK(zswap_store_folio(r->z, &folio) == -EINVAL);
	CHECK(zswap_store(r->z, t.slot, NULL) == -EINVAL);
	CHECK(zswap_load(r->z, t.slot, NULL) == -EINVAL);
	CHECK(zswap_store(r->z, none, r->buffer) == -ENXIO);
	CHECK(zswap_peek(r->z, none, r->buffer) == -ENXIO);
	CHECK(zswap_swapon(r->z, ZSWAP_MAX_TYPES, 1) == -EINVAL);
	CHECK(zswap_set_max_pool_percent(r->z, 101) == -EINVAL);
	CHECK(zswap_set_accept_threshold_percent(r->z, 101) == -EINVAL);
	zswap_invalidate(r->z, none, UINT64_MAX);
}

/* ---- checks -------------------------------------------------------------- */

static void check_clusters(struct run *r)
{
	for (int i = 0; i < MODEL_AREAS; i++) {
		struct model_area *a = &r->m.areas[i];
		struct area *area = area_enter(&r->z->table, a->type);
		struct cluster *cluster;
		uint64_t at = 0;

		CHECK(!area == !a->on);
		if (!area)
			continue;
		for (; (cluster = area_next_cluster(area, &at, area->nr_slots));
		     at = (at | (CLUSTER_SLOTS - 1)) + 1) {
			CHECK(cluster_check(cluster));
			CHECK(!cluster->holds);
		}
		area_leave(&r->z->table, area);
	}
}

/* Everything the library took is in its statistics. */
static void check_memory(struct run *r, const struct zswap_stats *stats)
{
	struct span_pool *span = &pool_of(r->z)->zs->span;
	size_t headers = (r->hooks.map_blocks - 1) * span->header_granules *
			 span->granule_bytes;

	CHECK(!r->hooks.misuse);
	CHECK(stats->metadata_bytes ==
	      r->hooks.alloc_bytes + r->z->mem.os_page + headers);
	CHECK(stats->pool_total_size + headers + r->z->mem.os_page <=
	      r->hooks.map_bytes);
}

/*
 * No thread can be made in these runs, so that a pool whose last entry was
 * loaded waits for the next call that is no load.
 */
static void check_pools(struct run *r, const struct zswap_stats *stats)
{
	unsigned expected = model_pools(&r->m);

	CHECK(stats->pools >= expected);
	CHECK(stats->pools == expected || r->dead_may_wait);
	for (unsigned i = 1; i <= POOLS_MAX; i++) {
		struct pool *pool = pools_at(&r->z->pools, i);

		CHECK(!pool || !pool->zs || zs_pool_check(pool->zs));
	}
}

static void check(struct run *r)
{
	struct zswap_stats stats = stats_of(r);

	model_check_stats(&r->m, &stats);
	check_pools(r, &stats);
	check_memory(r, &stats);
	check_clusters(r);
	CHECK(slab_cache_check(&r->z->entries));
	CHECK(slab_nr_objects(&r->z->entries) == stats.stored_pages);
}

static void check_every_slot(struct run *r)
{
	for (int i = 0; i < MODEL_AREAS; i++) {
		struct model_area *a = &r->m.areas[i];

		for (unsigned k = 0; a->on && k < MODEL_WINDOW; k++)
			CHECK(zswap_query(r->z,
					  zswap_slot(a->type, a->first + k)) ==
			      (int)a->slots[k].state);
	}
}

/* ---- runs ---------------------------------------------------------------- */

static void step(struct run *r)
{
	unsigned what = below(r, 104);

	r->dead_may_wait |= what >= 35 && what < 72;
	if (what < 35)
		do_store(r);
	else if (what < 55)
		do_load(r);
	else if (what < 72)
		do_load_folio(r);
	else if (what < 80)
		do_invalidate(r);
	else if (what < 92)
		do_ask(r);
	else if (what < 96)
		do_switch_area(r);
	else if (what < 98)
		do_switch_enabled(r);
	else if (what < 99)
		do_set_limit(r);
	else if (what < 102)
		do_switch_engine(r);
	else
		do_wrong(r);
	if (below(r, 50) == 0)
		r->hooks.purge_fails = below(r, 4) == 0;
}

/* Windows: at an area's end, over a border of leaves, at the very last slot. */
static void place_windows(struct model *m)
{
	static const struct model_area areas[MODEL_AREAS] = {
		{ .type = 0, .nr_slots = 3000, .first = 3000 - MODEL_WINDOW },
		{ .type = 257,
		  .nr_slots = UINT64_C(1) << 48,
		  .first = (UINT64_C(1) << 33) - 600 },
		{ .type = 65535,
		  .nr_slots = (UINT64_C(1) << 48) - 1,
		  .first = (UINT64_C(1) << 48) - 1 - MODEL_WINDOW },
	};

	memcpy(m->areas, areas, sizeof(areas));
}

static int no_thread(void *ctx, void **thread, void (*run)(void *arg),
		     void *arg)
{
	(void)ctx, (void)thread, (void)run, (void)arg;
	return -1;
}

static void join_nothing(void *ctx, void *thread)
{
	(void)ctx, (void)thread;
}

static void start(struct run *r, struct rng *rng)
{
	static const uint32_t batches[] = { 1, 3, 8, 64 };
	static const size_t page_sizes[] = { 4096, 4096, 16384, 65536 };
	struct zswap_params params = { .size = sizeof(params) };

	memset(r, 0, sizeof(*r));
	r->rng = rng;
	faulty_init(&r->hooks);
	if (below(r, 4) == 0)
		r->hooks.hooks.purge = NULL;
	codec_init(&r->codec, batches[below(r, 4)]);
	r->m.page_size = page_sizes[below(r, 4)];
	r->m.engine = (enum model_engine)below(r, 2);
	r->m.batch = batch_of(r, r->m.engine);
	r->m.enabled = true;
	r->m.keeps_raw = below(r, 3) != 0;
	place_windows(&r->m);
	params.page_size = r->m.page_size;
	params.hooks = &r->hooks.hooks;
	params.compressor = r->m.engine == ENGINE_LZ4 ? "lz4" : r->codec.spec;
	params.compressors = &r->codec.vtable_list;
	params.nr_compressors = 1;
	params.max_pool_bytes = ZSWAP_UNLIMITED;
	params.raw_policy = r->m.keeps_raw ? ZSWAP_RAW_KEEP : 1 + below(r, 2);
#ifdef HAVE_XXHASH
	params.checksum = below(r, 2);
#endif
	r->hooks.hooks.thread_create = no_thread;
	r->hooks.hooks.thread_join = join_nothing;
	CHECK(zswap_create(&r->z, &params) == 0);
	r->m.huge_bytes = zs_huge_class_size(pool_of(r->z)->zs);
}

static void end(struct run *r)
{
	for (int i = 0; i < MODEL_AREAS; i++) {
		struct model_area *a = &r->m.areas[i];

		zswap_invalidate(r->z, zswap_slot(a->type, 0), UINT64_MAX);
		model_clear(a, 0, MODEL_WINDOW);
	}
	check(r);
	zswap_destroy(r->z);
	CHECK(faulty_end(&r->hooks));
	CHECK(codec_end(&r->codec));
}

void property_run(struct rng *rng, unsigned steps)
{
	static struct run r;

	start(&r, rng);
	for (unsigned i = 0; i < steps; i++) {
		step(&r);
		check(&r);
		if (i % 64 == 0)
			check_every_slot(&r);
	}
	end(&r);
}
