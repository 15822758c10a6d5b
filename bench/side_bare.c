// SPDX-License-Identifier: MIT
/*
 * side_bare.c - the codec alone: the limit that the cache is compared with
 *
 * The outputs of a folio are packed one after another, and so are the folios:
 *
 *	packed: [f0: p0 p1 p2 ..][f1: p0 p1 p2 ..] ..
 *	         ^ folio_at[0]    ^ folio_at[1]
 *
 * The first packing, which is not timed, touches the buffer and fixes where
 * each folio begins. Later ones write a folio to the same place: the same pages
 * compress to the same lengths, so it fits, in any order of folios.
 *
 * Bare runs the codec on every page, same-filled ones included. It knows no
 * pages that need no codec, just as a user of the codec library would not; on
 * corpora with many such pages the cache may therefore be faster than bare. The
 * table of memory shows how many there were.
 */
#include "side_bare.h"

#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Between folios. A codec may write more bytes than it reports: lz4 copies
 * literals in units of 8, zstd gives up what it has written, up to its bound,
 * when it finds that a page does not compress. None of that must reach the next
 * folio.
 */
static size_t folio_gap_bytes(const struct side_bare *b)
{
	return b->codec.bound_bytes - b->layout.page_bytes + 64;
}

/* Packs a folio from @at on; where it ended. */
static size_t pack_folio(struct side_bare *b, uint32_t folio, size_t at)
{
	uint32_t first = folio_first(&b->layout, folio);
	uint32_t end = first + folio_len(&b->layout, folio);

	for (uint32_t p = first; p < end; p++) {
		const unsigned char *src = layout_page(&b->layout, p);
		size_t len = codec_compress(&b->codec, src, b->packed + at);

		b->pages[p].at = at;
		b->pages[p].len = (uint32_t)len;
		if (!len) {
			len = b->layout.page_bytes;
			memcpy(b->packed + at, src, len);
		}
		at += len;
	}
	return at;
}

static int bare_store(struct side *s, const uint32_t *folios, size_t count)
{
	struct side_bare *b = (struct side_bare *)s;

	for (size_t i = 0; i < count; i++)
		pack_folio(b, folios[i], b->folio_at[folios[i]]);
	return 0;
}

static int bare_load(struct side *s, const uint32_t *pages, size_t count,
		     unsigned char *dst)
{
	struct side_bare *b = (struct side_bare *)s;
	size_t page_bytes = b->layout.page_bytes;

	for (size_t i = 0; i < count; i++, dst += page_bytes) {
		const struct bare_page *p = &b->pages[pages[i]];
		const unsigned char *src = b->packed + p->at;

		if (!p->len)
			memcpy(dst, src, page_bytes);
		else if (!codec_decompress(&b->codec, src, p->len, dst))
			return -EIO;
	}
	return 0;
}

static size_t room_bytes(const struct side_bare *b)
{
	return b->layout.nr_pages * b->codec.bound_bytes +
	       b->layout.nr_folios * folio_gap_bytes(b);
}

void bare_init(struct side_bare *b, const struct layout *layout,
	       const struct codec *codec)
{
	size_t at = 0;

	*b = (struct side_bare){
		.side = { .name = "bare",
			  .store = bare_store,
			  .load = bare_load,
			  .peek = bare_load },
		.layout = *layout,
	};
	codec_open(&b->codec, codec, layout->page_bytes);
	b->packed_bytes = room_bytes(b);
	b->packed = bench_map_touched(b->packed_bytes);
	b->folio_at = bench_alloc(layout->nr_folios, sizeof(*b->folio_at));
	b->pages = bench_alloc(layout->nr_pages, sizeof(*b->pages));
	for (uint32_t f = 0; f < layout->nr_folios; f++) {
		b->folio_at[f] = at;
		at = pack_folio(b, f, at) + folio_gap_bytes(b);
	}
}

void bare_free(struct side_bare *b)
{
	codec_close(&b->codec);
	bench_unmap(b->packed, b->packed_bytes);
	free(b->folio_at);
	free(b->pages);
}
