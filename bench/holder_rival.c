// SPDX-License-Identifier: MIT
/*
 * holder_rival.c - the bare codec and another allocator as a holder of pages
 */
#include "holder.h"

#include "bench.h"
#include "pages.h"
#include "rival.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct place {
	void *block;   /* NULL: absent, or filled */
	uint64_t word; /* of a filled page */
	uint32_t len;  /* of the block; a whole page is as it came */
	bool is_filled;
};

struct rival_holder {
	struct holder holder;
	struct rival rival;
	struct codec_ctx codec;
	struct place *places; /* by slot */
	unsigned char *packed;
	uint64_t live;
};

static void drop(struct rival_holder *r, struct place *place)
{
	if (!place->block)
		return;
	r->rival.free(place->block);
	r->live -= place->len;
}

/* The older block goes last, so that a failed store could leave it. */
static int store(struct holder *h, uint32_t slot, const void *page)
{
	struct rival_holder *r = (struct rival_holder *)h;
	struct place next = { .is_filled = page_is_filled(page) };
	const void *payload = r->packed;

	if (next.is_filled) {
		memcpy(&next.word, page, sizeof(next.word));
	} else {
		size_t len = codec_compress(&r->codec, page, r->packed);

		if (!len || len >= PAGE_BYTES) {
			len = PAGE_BYTES;
			payload = page;
		}
		next.len = (uint32_t)len;
		next.block = r->rival.malloc(len);
		if (!next.block)
			return -ENOMEM;
		memcpy(next.block, payload, len);
		r->live += len;
	}
	drop(r, &r->places[slot]);
	r->places[slot] = next;
	return 0;
}

static void fill(uint64_t word, unsigned char *page)
{
	for (size_t at = 0; at < PAGE_BYTES; at += sizeof(word))
		memcpy(page + at, &word, sizeof(word));
}

static int peek(struct holder *h, uint32_t slot, void *page)
{
	struct rival_holder *r = (struct rival_holder *)h;
	const struct place *place = &r->places[slot];

	if (place->is_filled)
		fill(place->word, page);
	else if (!place->block)
		return -ENOENT;
	else if (place->len == PAGE_BYTES)
		memcpy(page, place->block, PAGE_BYTES);
	else if (!codec_decompress(&r->codec, place->block, place->len, page))
		return -EIO;
	return 0;
}

static void invalidate(struct holder *h, uint32_t slot)
{
	struct rival_holder *r = (struct rival_holder *)h;

	drop(r, &r->places[slot]);
	r->places[slot] = (struct place){ 0 };
}

static void compact(struct holder *h)
{
	struct rival_holder *r = (struct rival_holder *)h;

	r->rival.trim(&r->rival);
}

static struct usage usage(struct holder *h)
{
	struct rival_holder *r = (struct rival_holder *)h;
	struct usage u = {
		.live = (double)r->live,
		.held = r->rival.held ? (double)r->rival.held(&r->rival) : NAN,
		.moves = NAN,
	};

	return u;
}

/* What a codec allocates, some of it not before the first page. */
static void prepare_codec(struct rival_holder *r, const struct codec *codec)
{
	unsigned char *page = bench_map_touched(PAGE_BYTES);

	codec_open(&r->codec, codec, PAGE_BYTES);
	r->packed = bench_map_touched(r->codec.bound_bytes);
	codec_decompress(&r->codec, r->packed,
			 codec_compress(&r->codec, page, r->packed), page);
	bench_unmap(page, PAGE_BYTES);
}

struct holder *holder_rival(const struct codec *codec, uint32_t nr_slots,
			    unsigned which, const char **why)
{
	struct rival_holder *r = bench_alloc(1, sizeof(*r));

	prepare_codec(r, codec); /* before the allocator counts */
	*why = rival_load(&r->rival, which);
	if (*why)
		return NULL;
	r->holder = (struct holder){
		.store = store,
		.peek = peek,
		.invalidate = invalidate,
		.compact = compact,
		.usage = usage,
	};
	r->places = bench_map_touched(nr_slots * sizeof(*r->places));
	return &r->holder;
}
