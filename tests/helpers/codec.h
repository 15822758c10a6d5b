/* SPDX-License-Identifier: MIT */
/*
 * codec.h - a compressor that does what a test tells it, and notes what it sees
 *
 * Left alone it is a correct run-length coder whose output carries a checksum,
 * so that damaged input is an error and never wrong bytes. Told otherwise, it
 * gives wrong lengths, errors, longer output, stands still or calls somebody.
 * It checks each request against <zswap/compressor.h> and keeps the first
 * sentence that was broken in @violation.
 *
 * A vtable has no room for a pointer to its test, so the spec's option says
 * which struct codec an instance belongs to:
 *
 *	struct codec c;
 *
 *	codec_init(&c, 8);			batches of 8 units
 *	params.compressor = c.spec;		"test:0"
 *	params.compressors = &c.vtable_list;
 *	params.nr_compressors = 1;
 *
 * What follows a comma in the option makes specs, and so pools, of one codec
 * differ and means nothing: "test:0,red", "test:0,blue".
 */
#ifndef TEST_CODEC_H
#define TEST_CODEC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zswap/compressor.h>

#include "coding.h"
#include "gate.h"

enum codec_fault {
	CODEC_GOOD,
	/* Results of a segment. */
	CODEC_ZERO,        /* 0 */
	CODEC_UNIT_LESS_1, /* unit_size - 1, when decompressing */
	CODEC_UNIT_PLUS_1, /* unit_size + 1, when decompressing */
	CODEC_DST_PLUS_1,  /* dst_len + 1 */
	CODEC_HUGE,        /* INT32_MAX */
	CODEC_ERROR,       /* -EIO */
	CODEC_NO_ROOM,     /* -ENOSPC */
	CODEC_VERY_LOW,    /* INT32_MIN + 1, no errno at all */
	CODEC_NOT_DONE,    /* left as it was */
	/* The request returns -EIO though each segment looks well. */
	CODEC_REQUEST_ERROR,
	CODEC_FAULTS
};

#define CODEC_FOR_EVER INT32_MAX

/* What an instance or a context goes through. */
enum codec_event {
	CODEC_CREATE,
	CODEC_DESTROY,
	CODEC_CTX_CREATE,
	CODEC_CTX_DESTROY,
	CODEC_EVENTS
};

/* One direction: what to do, and what was done. */
struct codec_side {
	_Atomic int fault;         /* enum codec_fault */
	_Atomic int32_t nr_faults; /* segments, or requests, it is done to */
	struct gate gate;          /* passed by each request */
	void (*call)(void *arg);   /* called by each request, if set */
	void *call_arg;
	/* What becomes of a segment's result, if set; before any fault. */
	int32_t (*judge)(void *arg, const struct zswap_comp_segment *seg,
			 int32_t result);
	void *judge_arg;

	atomic_ulong requests;
	atomic_ulong segments;
	atomic_ulong longest; /* segments of the longest request */
};

struct codec {
	/* Hand these to zswap_create(); may be changed before. */
	struct zswap_compressor vtable;
	const struct zswap_compressor *vtable_list;
	char spec[16];

	struct codec_side compress;
	struct codec_side decompress;

	/* Called at the start of each, if set. */
	void (*event)(void *arg, enum codec_event event);
	void *event_arg;

	/* Bytes to lengthen results to, within dst_len; 0 means not at all. */
	_Atomic uint32_t pad_to;
	/* Bytes that bound() gives beside what coding needs. */
	uint32_t extra_bound;
	/* Errors of the functions that make something, once each. */
	_Atomic int create_error;
	_Atomic int compress_ctx_error;
	_Atomic int decompress_ctx_error;

	_Atomic int32_t last_length; /* of the last good result */
	atomic_long instances;       /* alive */
	atomic_long contexts;        /* alive */
	atomic_ulong instances_made;
	atomic_ulong instances_ended;
	atomic_ulong contexts_made;
	atomic_ulong
		env_bytes; /* taken from the environment and not returned */
	_Atomic(const char *) violation;
	int number; /* in the table of all */
};

/* @batch: what the vtable declares; above 1 with ZSWAP_COMP_SEGMENTS. */
void codec_init(struct codec *codec, uint32_t batch);

/* Whether no rule was broken and nothing is alive; says what, if not. */
bool codec_end(struct codec *codec);

/* What its bound() gives. */
uint32_t codec_bound(const struct codec *codec, size_t unit_size);

/* The next @nr segments (or requests) of a side fail like this. */
void codec_fail(struct codec_side *side, enum codec_fault fault, int32_t nr);
void codec_behave(struct codec_side *side);

#endif
