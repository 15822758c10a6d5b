// SPDX-License-Identifier: MIT
/*
 * codec.c - a compressor that does what a test tells it, and notes what it sees
 */
#include "codec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coding.h"

#define MAX_CODECS 8

struct instance {
	struct codec *codec;
	const struct zswap_comp_env *env; /* stays valid, says the header */
	atomic_long contexts;
};

struct context {
	struct instance *instance;
	atomic_flag busy; /* one request at a time */
};

static struct codec *codecs[MAX_CODECS];
static pthread_mutex_t codecs_lock = PTHREAD_MUTEX_INITIALIZER;

/* Lengthens a result; the padding is written, to find a dst that is short. */
static int32_t pad(const struct zswap_comp_segment *seg, int32_t len,
		   uint32_t pad_to)
{
	if (len < 0 || pad_to <= (uint32_t)len || pad_to > seg->dst_len)
		return len;
	memset((char *)seg->dst + len, 0x77, pad_to - (uint32_t)len);
	return (int32_t)pad_to;
}

/* ---- faults ------------------------------------------------------------ */

static enum codec_fault next_fault(struct codec_side *side)
{
	int32_t left = atomic_load(&side->nr_faults);

	do {
		if (left <= 0)
			return CODEC_GOOD;
		if (left == CODEC_FOR_EVER)
			break;
	} while (!atomic_compare_exchange_weak(&side->nr_faults, &left,
					       left - 1));
	return (enum codec_fault)atomic_load(&side->fault);
}

static int32_t wrong_result(enum codec_fault fault,
			    const struct zswap_comp_request *req,
			    const struct zswap_comp_segment *seg)
{
	switch (fault) {
	case CODEC_ZERO:
		return 0;
	case CODEC_UNIT_LESS_1:
		return (int32_t)req->unit_size - 1;
	case CODEC_UNIT_PLUS_1:
		return (int32_t)req->unit_size + 1;
	case CODEC_DST_PLUS_1:
		return (int32_t)seg->dst_len + 1;
	case CODEC_HUGE:
		return INT32_MAX;
	case CODEC_NO_ROOM:
		return -ENOSPC;
	case CODEC_VERY_LOW:
		return INT32_MIN + 1;
	case CODEC_NOT_DONE:
		return ZSWAP_NOT_DONE;
	default:
		return -EIO;
	}
}

/* ---- requests ---------------------------------------------------------- */

static void expect(struct codec *codec, bool good, const char *rule)
{
	const char *none = NULL;

	if (!good)
		atomic_compare_exchange_strong(&codec->violation, &none, rule);
}

/* A function leaves anything in errno; the library has to put it right. */
static void disturb_errno(void)
{
	errno = ERANGE;
}

static void check_segment(struct codec *codec, bool compressing,
			  const struct zswap_comp_request *req,
			  const struct zswap_comp_segment *seg)
{
	size_t room = req->unit_size;

	if (compressing && codec->vtable.bound &&
	    room < codec_bound(codec, req->unit_size))
		room = codec_bound(codec, req->unit_size);
	expect(codec, seg->size >= sizeof(*seg), "a segment's size");
	expect(codec, seg->src && seg->dst, "a segment without a buffer");
	expect(codec, seg->result == ZSWAP_NOT_DONE,
	       "segments are not done before the request");
	if (compressing) {
		expect(codec, seg->src_len == req->unit_size,
		       "src_len is the unit_size");
		expect(codec, seg->dst_len >= room,
		       "dst_len is at least unit_size and bound");
	} else {
		expect(codec, seg->dst_len == req->unit_size,
		       "dst_len is the unit_size");
		expect(codec, seg->src_len > 0, "an empty source");
	}
}

static void check_request(struct codec *codec, bool compressing,
			  const struct zswap_comp_request *req)
{
	uint32_t batch = codec->vtable.batch_size, i;
	size_t slen = 0;

	if (!(codec->vtable.flags & ZSWAP_COMP_SEGMENTS) || !batch)
		batch = 1;
	expect(codec, req->size >= sizeof(*req), "a request's size");
	expect(codec, req->nr_segments >= 1, "a request without segments");
	expect(codec, req->nr_segments <= batch,
	       "no more segments than the batch_size");
	for (i = 0; i < req->nr_segments; i++) {
		check_segment(codec, compressing, req,
			      zswap_comp_segment_at(req, i));
		slen += zswap_comp_segment_at(req, i)->src_len;
	}
	expect(codec, req->slen == slen, "slen is the sum of the src_len");
}

static void count_request(struct codec_side *side,
			  const struct zswap_comp_request *req)
{
	unsigned long longest = atomic_load(&side->longest);

	atomic_fetch_add(&side->requests, 1);
	atomic_fetch_add(&side->segments, req->nr_segments);
	while (req->nr_segments > longest &&
	       !atomic_compare_exchange_weak(&side->longest, &longest,
					     req->nr_segments))
		;
}

/* How a request begins: notes it, stands at the gate, calls whom it is told. */
static void begin(struct codec *codec, struct context *context,
		  bool compressing, const struct zswap_comp_request *req)
{
	struct codec_side *side =
		compressing ? &codec->compress : &codec->decompress;

	expect(codec, !atomic_flag_test_and_set(&context->busy),
	       "a context serves one request at a time");
	check_request(codec, compressing, req);
	count_request(side, req);
	gate_pass(&side->gate);
	if (side->call)
		side->call(side->call_arg);
	disturb_errno();
}

static int run_segments(struct codec *codec, struct codec_side *side,
			const struct zswap_comp_request *req)
{
	bool compressing = side == &codec->compress;
	enum codec_fault fault;
	int result = 0;
	uint32_t i;

	for (i = 0; i < req->nr_segments; i++) {
		struct zswap_comp_segment *seg = zswap_comp_segment_at(req, i);

		seg->result = compressing ? pad(seg, coding_encode(seg),
						atomic_load(&codec->pad_to)) :
					    coding_decode(seg);
		if (side->judge)
			seg->result =
				side->judge(side->judge_arg, seg, seg->result);
		if (compressing)
			atomic_store(&codec->last_length, seg->result);
		fault = next_fault(side);
		if (fault == CODEC_REQUEST_ERROR)
			result = -EIO;
		else if (fault != CODEC_GOOD)
			seg->result = wrong_result(fault, req, seg);
	}
	return result;
}

static int compress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct codec *codec = ((struct instance *)instance)->codec;
	struct context *context = ctx;
	int err;

	begin(codec, context, true, req);
	err = run_segments(codec, &codec->compress, req);
	atomic_flag_clear(&context->busy);
	return err;
}

static int decompress(void *instance, void *ctx, struct zswap_comp_request *req)
{
	struct codec *codec = ((struct instance *)instance)->codec;
	struct context *context = ctx;
	int err;

	begin(codec, context, false, req);
	err = run_segments(codec, &codec->decompress, req);
	atomic_flag_clear(&context->busy);
	return err;
}

/* ---- instances and contexts -------------------------------------------- */

static void *env_alloc(struct codec *codec, const struct zswap_comp_env *env,
		       size_t bytes)
{
	void *ptr = env->alloc(env->ctx, bytes);

	expect(codec, (uintptr_t)ptr % 16 == 0,
	       "memory of the environment is aligned to 16");
	if (ptr)
		atomic_fetch_add(&codec->env_bytes, bytes);
	return ptr;
}

static void env_free(struct codec *codec, const struct zswap_comp_env *env,
		     void *ptr, size_t bytes)
{
	atomic_fetch_sub(&codec->env_bytes, bytes);
	env->free(env->ctx, ptr, bytes);
}

static struct codec *codec_of_options(const char *options)
{
	char *end;
	unsigned long i = strtoul(options, &end, 10);

	if (end == options || (*end && *end != ',') || i >= MAX_CODECS)
		return NULL;
	return codecs[i];
}

static void tell(struct codec *codec, enum codec_event event)
{
	if (codec->event)
		codec->event(codec->event_arg, event);
	disturb_errno();
}

static int create(const struct zswap_comp_env *env, const char *options,
		  void **out)
{
	struct codec *codec = codec_of_options(options);
	struct instance *instance;
	int err;

	if (!codec)
		return -EINVAL;
	expect(codec, env->size >= sizeof(*env), "the environment's size");
	tell(codec, CODEC_CREATE);
	err = atomic_exchange(&codec->create_error, 0);
	if (err)
		return err;
	instance = env_alloc(codec, env, sizeof(*instance));
	if (!instance)
		return -ENOMEM;
	instance->codec = codec;
	instance->env = env;
	atomic_init(&instance->contexts, 0);
	atomic_fetch_add(&codec->instances, 1);
	atomic_fetch_add(&codec->instances_made, 1);
	*out = instance;
	return 0;
}

static void destroy(void *arg)
{
	struct instance *instance = arg;
	struct codec *codec = instance->codec;

	expect(codec, atomic_load(&instance->contexts) == 0,
	       "an instance ends after its contexts");
	tell(codec, CODEC_DESTROY);
	env_free(codec, instance->env, instance, sizeof(*instance));
	atomic_fetch_add(&codec->instances_ended, 1);
	atomic_fetch_sub(&codec->instances, 1);
}

static int make_context(struct instance *instance, _Atomic int *error,
			void **out)
{
	struct codec *codec = instance->codec;
	struct context *context;
	int err;

	tell(codec, CODEC_CTX_CREATE);
	err = atomic_exchange(error, 0);
	if (err)
		return err;
	context = env_alloc(codec, instance->env, sizeof(*context));
	if (!context)
		return -ENOMEM;
	context->instance = instance;
	atomic_flag_clear(&context->busy);
	atomic_fetch_add(&instance->contexts, 1);
	atomic_fetch_add(&codec->contexts, 1);
	atomic_fetch_add(&codec->contexts_made, 1);
	*out = context;
	return 0;
}

static int compress_ctx_create(void *arg, void **out)
{
	struct instance *instance = arg;

	return make_context(instance, &instance->codec->compress_ctx_error,
			    out);
}

static int decompress_ctx_create(void *arg, void **out)
{
	struct instance *instance = arg;

	return make_context(instance, &instance->codec->decompress_ctx_error,
			    out);
}

static void ctx_destroy(void *arg, void *ctx)
{
	struct instance *instance = arg;
	struct codec *codec = instance->codec;
	struct context *context = ctx;

	expect(codec, context->instance == instance,
	       "a context ends with its own instance");
	expect(codec, !atomic_flag_test_and_set(&context->busy),
	       "a context ends after its requests");
	tell(codec, CODEC_CTX_DESTROY);
	atomic_fetch_sub(&instance->contexts, 1);
	atomic_fetch_sub(&codec->contexts, 1);
	env_free(codec, instance->env, context, sizeof(*context));
}

static size_t bound(void *arg, size_t unit_size)
{
	struct instance *instance = arg;

	disturb_errno();
	return codec_bound(instance->codec, unit_size);
}

/* ---- for tests --------------------------------------------------------- */

uint32_t codec_bound(const struct codec *codec, size_t unit_size)
{
	return (uint32_t)coding_bound(unit_size) + codec->extra_bound;
}

void codec_init(struct codec *codec, uint32_t batch)
{
	static const struct zswap_compressor good = {
		.size = sizeof(good),
		.name = "test",
		.create = create,
		.destroy = destroy,
		.bound = bound,
		.compress_ctx_create = compress_ctx_create,
		.compress_ctx_destroy = ctx_destroy,
		.decompress_ctx_create = decompress_ctx_create,
		.decompress_ctx_destroy = ctx_destroy,
		.compress = compress,
		.decompress = decompress,
	};
	int i;

	memset(codec, 0, sizeof(*codec));
	codec->vtable = good;
	codec->vtable.batch_size = batch;
	codec->vtable.flags = batch > 1 ? ZSWAP_COMP_SEGMENTS : 0;
	codec->vtable_list = &codec->vtable;
	gate_init(&codec->compress.gate);
	gate_init(&codec->decompress.gate);
	pthread_mutex_lock(&codecs_lock);
	for (i = 0; i < MAX_CODECS && codecs[i]; i++)
		;
	CHECK(i < MAX_CODECS);
	codecs[i] = codec;
	pthread_mutex_unlock(&codecs_lock);
	codec->number = i;
	snprintf(codec->spec, sizeof(codec->spec), "test:%d", i);
}

bool codec_end(struct codec *codec)
{
	const char *violation = atomic_load(&codec->violation);
	long alive =
		atomic_load(&codec->instances) + atomic_load(&codec->contexts);
	bool good = !violation && !alive;

	if (!good)
		fprintf(stderr, "codec: %s; %ld instances and contexts left\n",
			violation ? violation : "no rule broken", alive);
	pthread_mutex_lock(&codecs_lock);
	codecs[codec->number] = NULL;
	pthread_mutex_unlock(&codecs_lock);
	gate_end(&codec->compress.gate);
	gate_end(&codec->decompress.gate);
	return good;
}

void codec_fail(struct codec_side *side, enum codec_fault fault, int32_t nr)
{
	atomic_store(&side->fault, (int)fault);
	atomic_store(&side->nr_faults, nr);
}

void codec_behave(struct codec_side *side)
{
	codec_fail(side, CODEC_GOOD, 0);
}
