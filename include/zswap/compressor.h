/* SPDX-License-Identifier: MIT */
/*
 * zswap/compressor.h - for people who write a compressor
 *
 * A compressor is a struct of functions that is handed to zswap_create(). It
 * gets *requests*: a source cut into *units* of one page each, and for each
 * unit one destination *segment*. Compression has a page as its source and a
 * buffer as its destination, decompression the other way round:
 *
 *	source       | unit 0   | unit 1   | unit 2   |      slen bytes
 *	                 |          |          |
 *	segments     [src, dst] [src, dst] [src, dst]        one per unit
 *	                 |          |          |
 *	result         1301       -EIO       4096            length or -errno
 *
 * A compressor that takes many units at once (a hardware engine, a pool of
 * threads) sets ZSWAP_COMP_SEGMENTS and the batch_size it likes. Any other
 * compressor sees requests of one segment. The same functions serve both.
 *
 * Two kinds of object carry a compressor's state. An *instance* is made for
 * each use of the compressor with certain options, and may be used by many
 * threads at once. A *context* is what one request needs for itself: the
 * library never uses one for two requests at a time. A compressor without
 * state leaves those functions NULL.
 *
 * What a compressor must not do: end the process, leave a function otherwise
 * than by returning, return in a child that it forked, keep a pointer it was
 * given past its return (but for env), write outside a segment's room or in its
 * source. Its segments' fields it may change at will.
 *
 * Its functions run in callers' threads, several at once, with no lock of the
 * library held, but for the context they were given. They may call the cache,
 * from the thread they were called in: then a store (or a load, where there are
 * decompression contexts) returns -EDEADLK when no context is free, rather than
 * wait. Other threads on which they wait must not store, load or swapoff an
 * area, and none of the functions that a store or a load runs (compress(),
 * decompress(), compress_ctx_create()) may swapoff an area; nor may any other
 * that comes to be run inside these, as destroy() does when they drop the last
 * page of a retired compressor. No function may destroy the cache.
 * After a switch of compressors an instance and its contexts may be ended in a
 * thread of the cache's own, with all signals blocked.
 *
 * Origin: the acomp interface of the Linux crypto layer, and the list series
 * "Batched zswap_store() with compression batching", whose units and segments
 * these are.
 */
#ifndef ZSWAP_COMPRESSOR_H
#define ZSWAP_COMPRESSOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZSWAP_COMP_MAX_BATCH 64u /* units in one request, at most */

/* Result of a segment before a request: the compressor has not come to it. */
#define ZSWAP_NOT_DONE INT32_MIN

/**
 * struct zswap_comp_segment - one unit of a request
 * @size:    bytes from this segment to the next; step by
 *           zswap_comp_segment_at(), for a later version may have longer ones
 * @src:     what to read
 * @src_len: bytes of it
 * @dst:     where to write
 * @dst_len: bytes of room there
 * @result:  set by the compressor: bytes written (1 .. dst_len), or a negative
 *           errno; -ENOSPC says that the unit does not fit in dst_len, which
 *           is no failure. Is ZSWAP_NOT_DONE before the request
 *
 * When compressing, src_len is the request's unit_size and dst_len at least the
 * larger of the unit_size and the compressor's bound(). When decompressing,
 * dst_len is the unit_size, and a result of anything else is an error. A
 * result of 0, above dst_len, or still ZSWAP_NOT_DONE counts as a failure.
 */
struct zswap_comp_segment {
	size_t size;
	const void *src;
	void *dst;
	uint32_t src_len;
	uint32_t dst_len;
	int32_t result;
};

/**
 * struct zswap_comp_request - units to compress or decompress
 * @size:        sizeof(struct zswap_comp_request) of the library
 * @segments:    the first segment
 * @nr_segments: 1, or with ZSWAP_COMP_SEGMENTS up to the batch_size
 * @unit_size:   bytes of an uncompressed unit
 * @slen:        bytes of the whole source, the sum of the src_len
 */
struct zswap_comp_request {
	size_t size;
	struct zswap_comp_segment *segments;
	uint32_t nr_segments;
	uint32_t unit_size;
	size_t slen;
};

/* zswap_comp_segment_at() - segment @i of a request */
static inline struct zswap_comp_segment *
zswap_comp_segment_at(const struct zswap_comp_request *req, uint32_t i)
{
	return (struct zswap_comp_segment *)((char *)req->segments +
					     i * req->segments->size);
}

/**
 * struct zswap_comp_env - what an instance is made with
 * @size:      sizeof(struct zswap_comp_env) of the library
 * @ctx:       to be passed to @alloc and @free
 * @alloc:     @bytes of memory, aligned to 16; NULL when there is none. It is
 *             counted in the cache's metadata_bytes
 * @free:      takes it back, with the same @bytes
 * @unit_size: bytes of the units to come
 * @user:      of the struct zswap_compressor
 *
 * Stays valid until the instance's destroy() has returned.
 */
struct zswap_comp_env {
	size_t size;
	void *ctx;
	void *(*alloc)(void *ctx, size_t bytes);
	void (*free)(void *ctx, void *ptr, size_t bytes);
	uint32_t unit_size;
	void *user;
};

/* Requests may have more than one segment. */
#define ZSWAP_COMP_SEGMENTS 0x1u

/**
 * struct zswap_compressor - a compressor
 * @size:       sizeof(struct zswap_compressor)
 * @name:       1 to 31 of a-z, 0-9, '_' and '-'
 * @flags:      ZSWAP_COMP_SEGMENTS or 0
 * @batch_size: units it likes in one request, 1 .. ZSWAP_COMP_MAX_BATCH; 0
 *              means 1. More than 1 needs ZSWAP_COMP_SEGMENTS
 * @user:       the caller's own, handed to create() in its env
 * @create:     makes an instance. @options is what follows the colon of the
 *              spec, "" when there is none; an option it does not know is
 *              -EINVAL. 0 or a negative errno. NULL: instances are NULL, and
 *              options -EINVAL
 * @destroy:    ends an instance, whose contexts are gone. NULL: nothing to do.
 *              (Without create, and likewise below, it is given NULL)
 * @bound:      the longest result compress() may give for a unit of @unit_size
 *              bytes. NULL: no more than the unit_size. More than 2 x unit_size
 *              + 65536 is refused by zswap_create()
 * @compress_ctx_create, @decompress_ctx_create: make a context. 0 or a negative
 *              errno. NULL: contexts are NULL. A store that can't have one
 *              more waits for one that is there
 * @compress_ctx_destroy, @decompress_ctx_destroy: end it. NULL: nothing to do
 * @compress:   compresses each segment of @req, and returns 0; or returns a
 *              negative errno, which voids all segments' results
 * @decompress: the same the other way. The source may be damaged: it must
 *              neither read past src_len nor write past dst_len
 *
 * A page whose compression fails is counted (compress_engine_fail), and kept
 * raw or refused; so is one that does not fit or whose result saves no room,
 * uncounted: see enum zswap_raw_policy. A context may be used again after any
 * failure: leave it fit for that.
 */
struct zswap_compressor {
	size_t size;
	const char *name;
	uint32_t flags;
	uint32_t batch_size;
	void *user;
	int (*create)(const struct zswap_comp_env *env, const char *options,
		      void **instance);
	void (*destroy)(void *instance);
	size_t (*bound)(void *instance, size_t unit_size);
	int (*compress_ctx_create)(void *instance, void **ctx);
	void (*compress_ctx_destroy)(void *instance, void *ctx);
	int (*decompress_ctx_create)(void *instance, void **ctx);
	void (*decompress_ctx_destroy)(void *instance, void *ctx);
	int (*compress)(void *instance, void *ctx,
			struct zswap_comp_request *req);
	int (*decompress)(void *instance, void *ctx,
			  struct zswap_comp_request *req);
};

#ifdef __cplusplus
}
#endif

#endif /* ZSWAP_COMPRESSOR_H */
