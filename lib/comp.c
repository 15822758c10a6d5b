// SPDX-License-Identifier: MIT
#include "comp.h"

#include <string.h>

/* How many codec calls the thread is in: more than one where they nest. */
static THREAD_LOCAL unsigned codec_depth;

/*
 * The contexts the thread used last, counted from 1 on; 0: none yet. Numbers
 * mean the same in every set, for each set has as many as it needs.
 */
static THREAD_LOCAL unsigned last_compress, last_decompress;

/* ---- the instance -------------------------------------------------------- */

/*
 * A compressor's memory is counted, so its block remembers nothing and the
 * compressor tells the size again.
 */
static void *env_alloc(void *ctx, size_t bytes)
{
	return mem_alloc(ctx, bytes, 16);
}

static void env_free(void *ctx, void *ptr, size_t bytes)
{
	mem_free(ctx, ptr, bytes, 16);
}

static int create_instance(struct comp *comp, const char *options)
{
	int err = 0;

	if (comp->ops.create)
		err = comp->ops.create(&comp->env, options, &comp->instance);
	else if (*options)
		err = -EINVAL;
	comp->created = !err;
	return err < 0 ? err : err ? -EINVAL : 0;
}

static int set_sizes(struct comp *comp)
{
	size_t unit = comp->unit_size, bound = unit;

	if (comp->ops.bound)
		bound = comp->ops.bound(comp->instance, unit);
	/* What no codec needs: a mistake, which would cost memory unseen. */
	if (bound > 2 * unit + 65536)
		return -EINVAL;
	comp->buffer_bytes =
		(uint32_t)round_up(max_size(bound, unit), CACHE_LINE);
	comp->request_max = comp->ops.batch_size ? comp->ops.batch_size : 1;
	comp->batch = comp->request_max;
	if (comp->batch < COMP_STORE_BATCH)
		comp->batch = COMP_STORE_BATCH;
	return 0;
}

/* ---- contexts ------------------------------------------------------------ */

static size_t context_bytes(const struct comp *comp, bool compress)
{
	return sizeof(struct comp_context) +
	       (compress ? comp->batch : 0) * sizeof(struct zswap_comp_segment);
}

static size_t buffers_bytes(const struct comp *comp)
{
	return (size_t)comp->batch * comp->buffer_bytes;
}

static int context_state(struct comp *comp, bool compress, void **state)
{
	int (*create)(void *, void **) =
		compress ? comp->ops.compress_ctx_create :
			   comp->ops.decompress_ctx_create;
	int err = create ? create(comp->instance, state) : 0;

	return err > 0 ? -EINVAL : err;
}

static void context_free(struct comp *comp, struct comp_context *ctx,
			 bool compress)
{
	mem_free(comp->mem, ctx->buffers, buffers_bytes(comp), CACHE_LINE);
	mem_free(comp->mem, ctx, context_bytes(comp, compress), CACHE_LINE);
}

static void context_destroy(struct comp *comp, struct comp_context *ctx,
			    bool compress)
{
	void (*destroy)(void *, void *) =
		compress ? comp->ops.compress_ctx_destroy :
			   comp->ops.decompress_ctx_destroy;

	if (destroy)
		destroy(comp->instance, ctx->state);
	context_free(comp, ctx, compress);
}

static int context_create(struct comp *comp, bool compress,
			  struct comp_context **out)
{
	struct comp_context *ctx = mem_zalloc(
		comp->mem, context_bytes(comp, compress), CACHE_LINE);
	int err = -ENOMEM;

	if (!ctx)
		return -ENOMEM;
	ctx->set = compress ? &comp->compress : &comp->decompress;
	ctx->buffer_bytes = comp->buffer_bytes;
	if (compress) {
		ctx->buffers =
			mem_alloc(comp->mem, buffers_bytes(comp), CACHE_LINE);
		if (!ctx->buffers)
			goto fail;
	}
	err = context_state(comp, compress, &ctx->state);
	if (err)
		goto fail;
	*out = ctx;
	return 0;
fail:
	context_free(comp, ctx, compress);
	return err;
}

static int contexts_grow(struct comp *comp, struct comp_contexts *set,
			 bool compress)
{
	unsigned nr = atomic_load_explicit(&set->nr, memory_order_relaxed);
	int err, saved_errno = errno;
	struct comp_context *ctx;

	if (nr == set->max)
		return -ENOSPC;
	codec_depth++; /* a store from inside must not wait, as in compress() */
	err = context_create(comp, compress, &ctx);
	codec_depth--;
	errno = saved_errno; /* the codec's function may have changed it */
	if (err)
		return err;
	atomic_store_explicit(&set->all[nr], ctx, memory_order_relaxed);
	atomic_store_explicit(&set->nr, nr + 1, memory_order_release);
	return 0;
}

static int contexts_init(struct comp *comp, struct comp_contexts *set,
			 bool compress, unsigned nr)
{
	int err = 0;

	set->all = mem_zalloc(comp->mem, comp->mem->nr_cpus * sizeof(*set->all),
			      CACHE_LINE);
	if (!set->all)
		return -ENOMEM;
	set->max = comp->mem->nr_cpus;
	while (!err && nr--)
		err = contexts_grow(comp, set, compress);
	return err;
}

static void contexts_exit(struct comp *comp, struct comp_contexts *set,
			  bool compress)
{
	unsigned nr = atomic_load(&set->nr);

	while (nr)
		context_destroy(comp, atomic_load(&set->all[--nr]), compress);
	mem_free(comp->mem, (void *)set->all,
		 comp->mem->nr_cpus * sizeof(*set->all), CACHE_LINE);
}

static struct comp_context *try_claim(struct comp_contexts *set, unsigned *last)
{
	unsigned nr = atomic_load_explicit(&set->nr, memory_order_acquire);
	unsigned first = *last ? *last - 1 : thread_number();

	if (unlikely(first >= nr))
		first %= nr;
	for (unsigned i = 0; i < nr; i++) {
		unsigned at = first + i < nr ? first + i : first + i - nr;
		struct comp_context *ctx = atomic_load_explicit(
			&set->all[at], memory_order_relaxed);

		if (lock_try(&ctx->lock)) {
			*last = at + 1;
			return ctx;
		}
	}
	return NULL;
}

/*
 * Waits until any context is free; NULL inside a codec. A release that comes
 * between the try and the wait changes nr_released, so that the wait ends at
 * once; one that does not see the waiter costs a millisecond.
 */
static struct comp_context *claim_and_wait(struct comp_contexts *set,
					   unsigned *last)
{
	struct comp_context *ctx = NULL;

	if (codec_depth)
		return NULL;
	atomic_fetch_add(&set->waiters, 1);
	while (!ctx) {
		uint32_t seen = atomic_load(&set->nr_released);

		ctx = try_claim(set, last);
		if (!ctx)
			wait_while(&set->nr_released, seen);
	}
	atomic_fetch_sub(&set->waiters, 1);
	return ctx;
}

struct comp_context *comp_claim(struct comp *comp)
{
	struct comp_contexts *set = &comp->compress;
	struct comp_context *ctx = try_claim(set, &last_compress);

	if (likely(ctx))
		return ctx;
	/* One thread adds a context; others need not wait for it. */
	if (atomic_load_explicit(&set->nr, memory_order_relaxed) < set->max &&
	    lock_try(&set->grow)) {
		contexts_grow(comp, set, true);
		lock_give(&set->grow);
		ctx = try_claim(set, &last_compress);
	}
	return ctx ? ctx : claim_and_wait(set, &last_compress);
}

void comp_release(struct comp_context *ctx)
{
	struct comp_contexts *set = ctx->set;

	lock_give(&ctx->lock);
	if (unlikely(atomic_load_explicit(&set->waiters,
					  memory_order_relaxed))) {
		atomic_fetch_add(&set->nr_released, 1);
		wake_one(&set->nr_released);
	}
}

/* ---- making and ending --------------------------------------------------- */

static void comp_init(struct comp *comp, struct mem *mem, uint32_t unit_size,
		      const struct zswap_compressor *ops)
{
	comp->mem = mem;
	comp->ops = *ops;
	memcpy(comp->name, ops->name, strlen(ops->name));
	comp->ops.name = comp->name;
	comp->unit_size = unit_size;
	comp->env = (struct zswap_comp_env){
		.size = sizeof(comp->env),
		.ctx = mem,
		.alloc = env_alloc,
		.free = env_free,
		.unit_size = unit_size,
		.user = ops->user,
	};
}

static int comp_start(struct comp *comp, const char *options)
{
	int err = create_instance(comp, options);

	if (err)
		return err;
	err = set_sizes(comp);
	if (err)
		return err;
	err = contexts_init(comp, &comp->compress, true, 1);
	if (err || !comp->ops.decompress_ctx_create)
		return err;
	return contexts_init(comp, &comp->decompress, false,
			     comp->mem->nr_cpus);
}

int comp_create(struct mem *mem, const struct spec *spec, uint32_t unit_size,
		struct comp **out)
{
	struct comp *comp;
	int err;

	*out = NULL;
	comp = mem_zalloc(mem, sizeof(*comp), CACHE_LINE);
	if (!comp)
		return -ENOMEM;
	comp_init(comp, mem, unit_size,
		  mem->alloc_is_hooked ? spec->hooked_ops : spec->ops);
	err = comp_start(comp, spec->options);
	if (err) {
		comp_destroy(comp); /* accepts a half-built comp */
		return err;
	}
	*out = comp;
	return 0;
}

void comp_destroy(struct comp *comp)
{
	if (!comp)
		return;
	contexts_exit(comp, &comp->compress, true);
	contexts_exit(comp, &comp->decompress, false);
	if (comp->created && comp->ops.destroy)
		comp->ops.destroy(comp->instance);
	mem_free(comp->mem, comp, sizeof(*comp), CACHE_LINE);
}

/* ---- requests ------------------------------------------------------------ */

/* What a codec said, made safe: a length that fits, or a negative errno. */
static int32_t checked(int32_t result, uint32_t dst_len)
{
	if (result == ZSWAP_NOT_DONE || !result)
		return -EIO;
	if (result > 0 && (uint32_t)result > dst_len)
		return -EIO;
	return result;
}

/* Sends nr segments in one request. */
static void compress_request(struct comp *comp, struct comp_context *ctx,
			     struct zswap_comp_segment *segments, unsigned nr)
{
	struct zswap_comp_request req = {
		.size = sizeof(req),
		.segments = segments,
		.nr_segments = nr,
		.unit_size = comp->unit_size,
		.slen = (size_t)nr * comp->unit_size,
	};
	int saved_errno = errno;
	int err;

	codec_depth++;
	err = comp->ops.compress(comp->instance, ctx->state, &req);
	codec_depth--;
	errno = saved_errno;
	for (unsigned i = 0; i < nr; i++)
		segments[i].result =
			err ? -EIO :
			      checked(segments[i].result, comp->buffer_bytes);
}

void comp_compress(struct comp *comp, struct comp_context *ctx,
		   const void *const *pages, unsigned nr)
{
	lock_assert_held(&ctx->lock);
	zswap_assert(nr <= comp->batch);
	for (unsigned i = 0; i < nr; i++)
		ctx->segments[i] = (struct zswap_comp_segment){
			.size = sizeof(ctx->segments[i]),
			.src = pages[i],
			.src_len = comp->unit_size,
			.dst = ctx->buffers + (size_t)i * comp->buffer_bytes,
			.dst_len = comp->buffer_bytes,
			.result = ZSWAP_NOT_DONE,
		};
	for (unsigned i = 0; i < nr; i += comp->request_max)
		compress_request(comp, ctx, &ctx->segments[i],
				 (unsigned)min_size(comp->request_max, nr - i));
}

static int decompress_request(struct comp *comp, void *state, const void *src,
			      uint32_t src_len, void *page)
{
	struct zswap_comp_segment segment = {
		.size = sizeof(segment),
		.src = src,
		.src_len = src_len,
		.dst = page,
		.dst_len = comp->unit_size,
		.result = ZSWAP_NOT_DONE,
	};
	struct zswap_comp_request req = {
		.size = sizeof(req),
		.segments = &segment,
		.nr_segments = 1,
		.unit_size = comp->unit_size,
		.slen = src_len,
	};
	int saved_errno = errno;
	int err;

	codec_depth++;
	err = comp->ops.decompress(comp->instance, state, &req);
	codec_depth--;
	errno = saved_errno;
	return err || segment.result != (int32_t)comp->unit_size ? -EIO : 0;
}

int comp_decompress(struct comp *comp, const void *src, uint32_t src_len,
		    void *page)
{
	struct comp_context *ctx;
	int err;

	if (!comp->decompress.max)
		return decompress_request(comp, NULL, src, src_len, page);
	ctx = try_claim(&comp->decompress, &last_decompress);
	if (!ctx)
		ctx = claim_and_wait(&comp->decompress, &last_decompress);
	if (!ctx)
		return -EDEADLK;
	err = decompress_request(comp, ctx->state, src, src_len, page);
	comp_release(ctx);
	return err;
}
