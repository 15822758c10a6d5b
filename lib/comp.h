/* SPDX-License-Identifier: MIT */
/*
 * comp.h - compressors by name, and requests to them
 *
 * A *comp* is one instance of one compressor with certain options. Built-in
 * compressors and the caller's own come through the same public vtable,
 * <zswap/compressor.h>.
 *
 * Compressing needs a *context*: the codec's state, an output buffer for each
 * page of a store batch, and the segments of the requests. A thread claims the
 * context it used last, whose tables the processor's cache may still hold, or
 * any other free one, and has it to itself until the release. What a thread
 * remembers is a number, so that nothing is left of it when it ends; a new
 * thread begins with its own number. The first context is made with the comp;
 * a store that finds none free adds one, up to one for each processor, and
 * after that (or without memory) waits for the first that is released.
 *
 * Decompressing needs a context only where the compressor has decompression
 * state; then one for each processor is made with the comp, none later, and a
 * load that finds none free waits for one call of the codec.
 *
 * Requests. A compressor without ZSWAP_COMP_SEGMENTS sees one unit at a time;
 * others up to their batch_size. The choice is made by the number of units, so
 * that one unit is the same request for all. Every segment is filled in anew
 * and "not done" before a request, whatever a codec did to it in the last one,
 * and no result is believed unchecked.
 *
 * Locking: a context's lock is held from claim to release, over the codec. It
 * guards nothing but the context. A codec may call the cache, and so claim a
 * context while it has one; such a claim never waits, for two threads could
 * wait for each other's: it fails when no context is free.
 */
#ifndef ZSWAP_COMP_H
#define ZSWAP_COMP_H

#include "mem.h"
#include "spec.h"

/* Pages of a store that are compressed before they are placed. */
#define COMP_STORE_BATCH 8

struct comp_context {
	struct lock lock;
	struct comp_contexts *set; /* that it belongs to */
	void *state;
	char *buffers; /* comp->batch of them, buffer_bytes each */
	uint32_t buffer_bytes;
	struct zswap_comp_segment segments[]; /* comp->batch */
};

struct comp_contexts {
	_Atomic unsigned nr;
	unsigned max;
	struct lock grow;
	_Atomic uint32_t nr_released; /* what claims wait for: any release */
	_Atomic uint32_t waiters;
	struct comp_context *_Atomic *all; /* max; the first nr are set */
};

struct comp {
	struct mem *mem;
	struct zswap_compressor ops;
	char name[SPEC_MAX_NAME + 1];
	struct zswap_comp_env env;
	void *instance;
	bool created;
	uint32_t unit_size;
	uint32_t buffer_bytes; /* room for one unit's output */
	uint32_t batch;        /* units a context has buffers for */
	uint32_t request_max;  /* units in one request */
	struct comp_contexts compress, decompress;
};

/**
 * comp_create() - make an instance
 *
 * Return: 0, or with *out NULL -EINVAL (a bound that no codec needs), -ENOMEM,
 *         or what the compressor's functions returned.
 */
int comp_create(struct mem *mem, const struct spec *spec, uint32_t unit_size,
		struct comp **out);
/* NULL is fine. */
void comp_destroy(struct comp *comp);

/*
 * Claims a compression context; may add one. NULL only inside a codec's call,
 * when none is free.
 */
struct comp_context *comp_claim(struct comp *comp);
void comp_release(struct comp_context *ctx);

/**
 * comp_compress() - compress up to comp->batch pages
 *
 * Afterwards comp_result() of each is the bytes in its comp_buffer(), or
 * -ENOSPC (does not fit, which is no failure), or another negative errno.
 */
void comp_compress(struct comp *comp, struct comp_context *ctx,
		   const void *const *pages, unsigned nr);

static inline int comp_result(const struct comp_context *ctx, unsigned i)
{
	return ctx->segments[i].result;
}

static inline const void *comp_buffer(const struct comp_context *ctx,
				      unsigned i)
{
	return ctx->buffers + (size_t)i * ctx->buffer_bytes;
}

/*
 * Decompresses one page. 0, or -EIO unless exactly a page came out, or
 * -EDEADLK inside a codec's call, when no context is free.
 */
int comp_decompress(struct comp *comp, const void *src, uint32_t src_len,
		    void *page);

#endif /* ZSWAP_COMP_H */
