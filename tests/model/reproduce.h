/* SPDX-License-Identifier: MIT */
/*
 * reproduce.h - what the programs use that the model driver prints
 *
 * The driver itself works with the same things, so that its calls and those of
 * a printed program are one and the same.
 */
#ifndef TEST_REPRODUCE_H
#define TEST_REPRODUCE_H

#include <errno.h>
#include <string.h>
#include <zswap/zswap.h>

#include "check.h"
#include "codec.h"
#include "faulty.h"
#include "palette.h"

#define IO_BYTES (ZSWAP_MAX_FOLIO * 4096u)

/* Where the pages of a folio are, and their results. */
struct io {
	char data[IO_BYTES];
	char canary[64]; /* behind the last page of the longest folio */
	void *pages[ZSWAP_MAX_FOLIO];
	int results[ZSWAP_MAX_FOLIO];
};

/* No result is like this. */
#define IO_UNTOUCHED 77

enum io_form {
	IO_DATA,    /* one after another in data */
	IO_PAGES,   /* the same places, in another order */
	IO_PALETTE, /* stores only: where the palette is, which can't be written
		     */
	NR_IO_FORMS
};

/*
 * Lays nr pages out, all results untouched.
 * @form: an enum io_form
 * @turn: by how much the order is turned
 */
void io_lay_out(struct io *io, size_t page_size, unsigned nr, int form,
		unsigned turn);

/* The number of page i in a folio of the palette's pages. */
static inline unsigned io_number(unsigned start, unsigned stride, unsigned i)
{
	return (start + i * (stride + 1)) % PALETTE_PAGES;
}

/* Puts the palette's pages in: start, start + 1 + stride, ... */
void io_fill(struct io *io, size_t page_size, unsigned nr, int form,
	     unsigned start, unsigned stride);

/* Whether a page is one of the palette's. */
bool io_is(const void *page, size_t page_size, unsigned number);

/* A folio laid out so; with room for results if they are wanted. */
struct zswap_folio io_folio(struct io *io, zswap_slot_t slot, unsigned nr,
			    int form, bool results);

struct zswap_stats io_stats(struct zswap *z);

/* Numbers of threads that no other thread gets: 0 .. IO_THREADS - 1. */
#define IO_THREADS 8

/*
 * The calls to come are made as if by the thread of this number: what the
 * library has in shards it takes from other ones. The first time there must be
 * no other thread yet.
 */
void io_be_thread(unsigned number);

/* Hooks of threads that never start one. */
void io_no_threads(struct faulty *hooks);

/* A compressor's call: stands still for a moment. */
void io_linger(void *arg);

/* A test compressor that can be told to make a call at its create(). */
void io_codec_init(struct codec *codec, uint32_t batch);

/* Has it do so, once it comes to that; NULL: no more. */
void io_call_at_create(void (*call)(void *arg), void *arg);

/*
 * The library's own checks of each of its modules, with no call running; and
 * that all it took from the hooks is in its statistics.
 */
void inspect(struct zswap *z, struct faulty *hooks,
	     const struct zswap_stats *stats);

/* Whether no size class of any pool could give back a zspage. */
bool inspect_is_compact(struct zswap *z);

/*
 * Whether objects were freed, since this was last called, of a size class that
 * has more free places now than it should, and zspages to move objects between.
 */
bool inspect_lags(struct zswap *z);

/* A payload of this many bytes or more is kept raw. */
size_t inspect_huge_bytes(struct zswap *z);

/* Whether the cache waits for its acceptance threshold. */
bool inspect_is_full(struct zswap *z);

#endif
