// SPDX-License-Identifier: MIT
/*
 * cache_model.c - what a cache must hold and count, as plain arrays
 */
#include "cache_model.h"

#include <errno.h>
#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "check.h"
#include "runlength.h"

/* The checksum and length before the test codec's output. */
#define CODEC_HEAD_BYTES 8

static size_t zstd_length(const void *page, size_t bytes, void *buf,
			  size_t room)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t len;

	CHECK(zstd);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, 0);
	len = ZSTD_compress2(zstd, buf, room, page, bytes);
	ZSTD_freeCCtx(zstd);
	return len;
}

static size_t compressed_length(const struct model *m, const void *page)
{
	static unsigned char buf[4 * 65536];

	switch (m->engine) {
	case ENGINE_LZ4:
		return (size_t)LZ4_compress_default(
			page, (char *)buf, (int)m->page_size, sizeof(buf));
	case ENGINE_ZSTD:
		return zstd_length(page, m->page_size, buf, sizeof(buf));
	default:
		return CODEC_HEAD_BYTES +
		       runlength_pack(buf, sizeof(buf), page, m->page_size);
	}
}

struct model_slot model_page(const struct model *m, const void *page,
			     enum page_kind kind, uint64_t seed)
{
	struct model_slot slot = { .engine = m->engine,
				   .kind = kind,
				   .seed = seed };
	size_t len;

	if (page_is_filled(page, m->page_size)) {
		slot.state = ZSWAP_FILLED;
		return slot;
	}
	len = m->engine_fails ? m->page_size : compressed_length(m, page);
	slot.state = len < m->huge_bytes ? ZSWAP_STORED : ZSWAP_RAW;
	slot.bytes = (uint32_t)(len < m->huge_bytes ? len : m->page_size);
	return slot;
}

/* The first batch with a page that is refused ends the store. */
int model_verdict(const struct model *m, const struct model_slot *made,
		  unsigned nr, int *results)
{
	int fault = m->engine_fails ? -EIO : -E2BIG;
	unsigned in_batch = 0;
	bool refused = false;

	for (unsigned i = 0; i < nr; i++)
		results[i] = -ECANCELED;
	for (unsigned i = 0; i < nr && !m->keeps_raw; i++) {
		if (made[i].state == ZSWAP_FILLED)
			continue;
		if (in_batch == m->batch && refused)
			break;
		in_batch = in_batch == m->batch ? 1 : in_batch + 1;
		if (made[i].state != ZSWAP_RAW)
			continue;
		results[i] = fault;
		refused = true;
	}
	if (refused)
		return fault;
	memset(results, 0, nr * sizeof(*results));
	return 0;
}

unsigned model_pools(const struct model *m)
{
	bool has[NR_ENGINES] = { false };
	unsigned n = 0;

	has[m->engine] = true;
	for (int a = 0; a < MODEL_AREAS; a++)
		for (unsigned i = 0; i < MODEL_WINDOW; i++)
			if (m->areas[a].slots[i].bytes)
				has[m->areas[a].slots[i].engine] = true;
	for (int e = 0; e < NR_ENGINES; e++)
		n += has[e];
	return n;
}

unsigned model_present(const struct model_area *a, unsigned first, unsigned nr)
{
	unsigned n = 0;

	for (unsigned i = first; i < first + nr; i++)
		n += a->slots[i].state != ZSWAP_ABSENT;
	return n;
}

bool model_readable(const struct model *m, const struct model_slot *slot)
{
	return slot->state != ZSWAP_ABSENT &&
	       !(m->engine_damaged && slot->state == ZSWAP_STORED &&
		 slot->engine == ENGINE_TEST);
}

void model_clear(struct model_area *a, unsigned first, unsigned nr)
{
	memset(&a->slots[first], 0, nr * sizeof(a->slots[0]));
}

/* The gauges that follow from the slots. */
static struct zswap_stats sum(const struct model *m)
{
	struct zswap_stats all = { 0 };

	for (int a = 0; a < MODEL_AREAS; a++)
		for (unsigned i = 0; i < MODEL_WINDOW; i++) {
			const struct model_slot *slot = &m->areas[a].slots[i];

			all.stored_pages += slot->state != ZSWAP_ABSENT;
			all.same_filled_pages += slot->state == ZSWAP_FILLED;
			all.stored_incompressible_pages +=
				slot->state == ZSWAP_RAW;
			all.compressed_bytes += slot->bytes;
		}
	return all;
}

void model_check_stats(const struct model *m, const struct zswap_stats *stats)
{
	struct zswap_stats all = sum(m);

	CHECK(stats->stored_pages == all.stored_pages);
	CHECK(stats->same_filled_pages == all.same_filled_pages);
	CHECK(stats->stored_incompressible_pages ==
	      all.stored_incompressible_pages);
	CHECK(stats->compressed_bytes == all.compressed_bytes);
	CHECK(stats->original_bytes ==
	      (all.stored_pages - all.same_filled_pages) * m->page_size);
	CHECK(stats->max_pool_bytes == (m->limit_zero ? 0 : ZSWAP_UNLIMITED));
	CHECK(stats->pool_total_size % m->page_size == 0);
	CHECK(stats->reserve_bytes % m->page_size == 0);
	CHECK(stats->pool_total_size - stats->reserve_bytes >=
	      all.compressed_bytes);
	if (!all.compressed_bytes)
		CHECK(!stats->pool_total_size && !stats->reserve_bytes);
#define CHECK_COUNTER(name) CHECK(stats->name == m->counts.name)
	CHECK_COUNTER(zswpout);
	CHECK_COUNTER(zswpin);
	CHECK_COUNTER(load_misses);
	CHECK_COUNTER(decompress_fail);
	CHECK_COUNTER(same_filled_stored);
	CHECK_COUNTER(incompressible_stored);
	CHECK_COUNTER(compress_engine_fail);
	CHECK_COUNTER(reject_alloc_fail);
	CHECK_COUNTER(reject_kmemcache_fail);
	CHECK_COUNTER(reject_disabled);
	CHECK_COUNTER(reject_limit);
	CHECK_COUNTER(pool_limit_hit);
	CHECK_COUNTER(reject_compress_poor);
	CHECK_COUNTER(reject_compress_fail);
	CHECK_COUNTER(load_errors);
	CHECK_COUNTER(stored_folios);
	CHECK_COUNTER(refused_folios);
#undef CHECK_COUNTER
	CHECK(!memcmp(&stats->stored_folios_1, &m->counts.stored_folios_1,
		      20 * sizeof(uint64_t)));
	CHECK(stats->stores == stats->stored_folios + stats->refused_folios);
	CHECK(stats->refused_folios ==
	      stats->reject_disabled + stats->reject_limit +
		      stats->reject_compress_poor +
		      stats->reject_compress_fail + stats->reject_alloc_fail +
		      stats->reject_kmemcache_fail + stats->reject_no_context);
	CHECK(stats->loads ==
	      stats->zswpin + stats->load_misses + stats->load_errors);
}
