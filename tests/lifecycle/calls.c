// SPDX-License-Identifier: MIT
/*
 * calls.c - every public function, with good arguments and with bad ones
 */
#include "calls.h"

#include <stdio.h>
#include <string.h>

#include "scene.h"

#define ERRNO_BEFORE 12345

/* ---- the table --------------------------------------------------------- */

static long make_and_destroy(const struct zswap_params *params)
{
	struct zswap *z;
	int err = zswap_create(&z, params);

	zswap_destroy(z);
	return err;
}

static long make_from(const char *compressor)
{
	struct zswap_params params = { .size = sizeof(params),
				       .compressor = compressor };

	return make_and_destroy(&params);
}

static const struct zswap_params too_small = { .size = 1 };
static const struct zs_pool_params pool_too_small = { .size = 1 };

/* All pages that calls are made on, and a slot that none has. */
#define HERE c->z, c->slot, CALLS_PAGES
#define EMPTY at(SCENE_FIRST - 1)
#define NOWHERE zswap_slot(7, 0)

/* An object of the caller's, and how many bytes it has. */
#define OBJECT c->pool, c->object
#define OBJECT_BYTES 100

/* X(function, how, rule, result, the arguments, with a struct caller *c) */
#define QUESTIONS(X)                                                           \
	X(zswap_page_size, good, ANYWHERE, PAGE_BYTES, (c->z))                 \
	X(zswap_page_size, null, ANYWHERE, 0, (NULL))                          \
	X(zswap_create, null, ANYWHERE, -EINVAL, (NULL, NULL))                 \
	X(zswap_create, small, ANYWHERE, -EINVAL, (&c->made, &too_small))      \
	X(zswap_spec_check, good, ANYWHERE, 0, ("zstd", &c->where))            \
	X(zswap_spec_check, unknown, ANYWHERE, -ENOENT, ("no", NULL))          \
	X(zswap_spec_check, null, ANYWHERE, -EINVAL, (NULL, NULL))             \
	X(zswap_set_compressor, made, ERRNO, 0, (c->z, "deflate"))             \
	X(zswap_set_compressor, retired, ERRNO, 0, (c->z, "lz4"))              \
	X(zswap_set_compressor, unknown, ERRNO, -ENOENT, (c->z, "no"))         \
	X(zswap_set_compressor, range, ERRNO, -ERANGE,                         \
	  (c->z, "lz4hc:level=99"))                                            \
	X(zswap_set_compressor, null_spec, ERRNO, -EINVAL, (c->z, NULL))       \
	X(zswap_set_compressor, null, ANYWHERE, -EINVAL, (NULL, "lz4"))        \
	X(zswap_get_compressor, good, ERRNO, CALL_POSITIVE,                    \
	  (c->z, c->text, sizeof(c->text)))                                    \
	X(zswap_get_compressor, length, ERRNO, CALL_POSITIVE, (c->z, NULL, 0)) \
	X(zswap_get_compressor, no_buffer, ERRNO, -EINVAL, (c->z, NULL, 8))    \
	X(zswap_get_compressor, null, ANYWHERE, -EINVAL, (NULL, NULL, 0))      \
	X(zswap_swapon, good, ERRNO, 0, (c->z, 2, 10))                         \
	X(zswap_swapon, there, ERRNO, -EEXIST, (c->z, 0, 10))                  \
	X(zswap_swapon, no_slots, ERRNO, -EINVAL, (c->z, 3, 0))                \
	X(zswap_swapon, null, ANYWHERE, -EINVAL, (NULL, 3, 10))                \
	X(zswap_swapoff, good, ERRNO, 0, (c->z, 1))                            \
	X(zswap_swapoff, nowhere, ERRNO, -ENXIO, (c->z, 7))                    \
	X(zswap_swapoff, null, ANYWHERE, -EINVAL, (NULL, 0))                   \
	X(zswap_store, good, ERRNO, 0, (c->z, c->slot, c->in))                 \
	X(zswap_store, new, ERRNO, 0, (c->z, EMPTY, c->in))                    \
	X(zswap_store, nowhere, ERRNO, -ENXIO, (c->z, NOWHERE, c->in))         \
	X(zswap_store, no_page, ERRNO, -EINVAL, (c->z, c->slot, NULL))         \
	X(zswap_store, null, ANYWHERE, -EINVAL, (NULL, c->slot, c->in))        \
	X(zswap_store_folio, good, ERRNO, 0, (c->z, &c->from))                 \
	X(zswap_store_folio, no_folio, ERRNO, -EINVAL, (c->z, NULL))           \
	X(zswap_store_folio, null, ANYWHERE, -EINVAL, (NULL, &c->from))        \
	X(zswap_load, good, ERRNO, 0, (c->z, c->slot, c->out))                 \
	X(zswap_load, absent, ERRNO, -ENOENT, (c->z, EMPTY, c->out))           \
	X(zswap_load, nowhere, ERRNO, -ENXIO, (c->z, NOWHERE, c->out))         \
	X(zswap_load, no_page, ERRNO, -EINVAL, (c->z, c->slot, NULL))          \
	X(zswap_load, null, ANYWHERE, -EINVAL, (NULL, c->slot, c->out))        \
	X(zswap_peek, good, ERRNO, 0, (c->z, c->slot, c->out))                 \
	X(zswap_peek, absent, ERRNO, -ENOENT, (c->z, EMPTY, c->out))           \
	X(zswap_peek, nowhere, ERRNO, -ENXIO, (c->z, NOWHERE, c->out))         \
	X(zswap_peek, no_page, ERRNO, -EINVAL, (c->z, c->slot, NULL))          \
	X(zswap_peek, null, ANYWHERE, -EINVAL, (NULL, c->slot, c->out))        \
	X(zswap_load_folio, good, ERRNO, 0, (c->z, &c->to, 0))                 \
	X(zswap_load_folio, keep, ERRNO, 0, (c->z, &c->to, ZSWAP_LOAD_KEEP))   \
	X(zswap_load_folio, partial, ERRNO, CALLS_PAGES,                       \
	  (c->z, &c->to, ZSWAP_LOAD_PARTIAL))                                  \
	X(zswap_load_folio, flag, ERRNO, -EINVAL, (c->z, &c->to, 4))           \
	X(zswap_load_folio, no_folio, ERRNO, -EINVAL, (c->z, NULL, 0))         \
	X(zswap_load_folio, null, ANYWHERE, -EINVAL, (NULL, &c->to, 0))        \
	X(zswap_is_present, good, SILENT, 1, (HERE))                           \
	X(zswap_is_present, nowhere, SILENT, 0, (c->z, NOWHERE, 1))            \
	X(zswap_is_present, null, ANYWHERE, 0, (NULL, c->slot, 1))             \
	X(zswap_query, good, ERRNO, ZSWAP_STORED, (c->z, c->slot))             \
	X(zswap_query, absent, ERRNO, ZSWAP_ABSENT, (c->z, EMPTY))             \
	X(zswap_query, nowhere, ERRNO, -ENXIO, (c->z, NOWHERE))                \
	X(zswap_query, null, ANYWHERE, -EINVAL, (NULL, c->slot))               \
	X(zswap_next_present, good, SILENT, 1, (c->z, &c->next))               \
	X(zswap_next_present, no_slot, SILENT, 0, (c->z, NULL))                \
	X(zswap_next_present, null, ANYWHERE, 0, (NULL, &c->next))             \
	X(zswap_set_enabled, off, ERRNO, 0, (c->z, false))                     \
	X(zswap_set_enabled, null, ANYWHERE, -EINVAL, (NULL, true))            \
	X(zswap_set_max_pool_bytes, zero, ERRNO, 0, (c->z, 0))                 \
	X(zswap_set_max_pool_bytes, null, ANYWHERE, -EINVAL, (NULL, 0))        \
	X(zswap_set_max_pool_percent, good, ERRNO, 0, (c->z, 50))              \
	X(zswap_set_max_pool_percent, above, ERRNO, -EINVAL, (c->z, 101))      \
	X(zswap_set_max_pool_percent, null, ANYWHERE, -EINVAL, (NULL, 50))     \
	X(zswap_set_accept_threshold_percent, good, ERRNO, 0, (c->z, 50))      \
	X(zswap_set_accept_threshold_percent, above, ERRNO, -EINVAL,           \
	  (c->z, 101))                                                         \
	X(zswap_set_accept_threshold_percent, null, ANYWHERE, -EINVAL,         \
	  (NULL, 50))                                                          \
	X(zswap_compact, good, ERRNO, CALL_COUNT, (c->z))                      \
	X(zswap_compact, null, ANYWHERE, -EINVAL, (NULL))                      \
	X(zswap_get_stats, good, ERRNO, 0, (c->z, &c->stats))                  \
	X(zswap_get_stats, no_stats, ERRNO, -EINVAL, (c->z, NULL))             \
	X(zswap_get_stats, null, ANYWHERE, -EINVAL, (NULL, &c->stats))         \
	X(zswap_format_stats, good, ERRNO, CALL_POSITIVE,                      \
	  (c->z, ZSWAP_STATS_TEXT, c->text, sizeof(c->text)))                  \
	X(zswap_format_stats, length, ERRNO, CALL_POSITIVE,                    \
	  (c->z, ZSWAP_STATS_TEXT, NULL, 0))                                   \
	X(zswap_format_stats, unknown, ERRNO, -EINVAL,                         \
	  (c->z, (enum zswap_stats_format)99, c->text, sizeof(c->text)))       \
	X(zswap_format_stats, null, ANYWHERE, -EINVAL,                         \
	  (NULL, ZSWAP_STATS_TEXT, NULL, 0))                                   \
	X(zs_create_pool, null, ANYWHERE, -EINVAL, (NULL, NULL))               \
	X(zs_create_pool, small, ANYWHERE, -EINVAL,                            \
	  (&c->made_pool, &pool_too_small))                                    \
	X(zs_malloc, good, ERRNO, 0, (c->pool, 10, &c->made_object))           \
	X(zs_malloc, nothing, ERRNO, -EINVAL, (c->pool, 0, &c->made_object))   \
	X(zs_malloc, much, ERRNO, -ENOSPC,                                     \
	  (c->pool, PAGE_BYTES + 1, &c->made_object))                          \
	X(zs_malloc, no_handle, ERRNO, -EINVAL, (c->pool, 10, NULL))           \
	X(zs_malloc, null, ANYWHERE, -EINVAL, (NULL, 10, &c->made_object))     \
	X(zs_obj_read_begin, good, SILENT, CALL_POSITIVE, (OBJECT))            \
	X(zs_obj_read_begin, none, SILENT, 0, (c->pool, 0))                    \
	X(zs_obj_read_begin, null, ANYWHERE, 0, (NULL, c->object))             \
	X(zs_obj_write, good, ERRNO, 0, (OBJECT, c->in, OBJECT_BYTES))         \
	X(zs_obj_write, much, ERRNO, -EINVAL,                                  \
	  (OBJECT, c->in, OBJECT_BYTES + 1))                                   \
	X(zs_obj_write, no_bytes, ERRNO, -EINVAL, (OBJECT, NULL, 1))           \
	X(zs_obj_write, none, ERRNO, -EINVAL, (c->pool, 0, c->in, 1))          \
	X(zs_obj_write, null, ANYWHERE, -EINVAL, (NULL, c->object, c->in, 1))  \
	X(zs_obj_bytes, good, SILENT, OBJECT_BYTES, (OBJECT))                  \
	X(zs_obj_bytes, none, SILENT, 0, (c->pool, 0))                         \
	X(zs_obj_bytes, null, ANYWHERE, 0, (NULL, c->object))                  \
	X(zs_compact, good, ERRNO, CALL_COUNT, (c->pool))                      \
	X(zs_compact, null, ANYWHERE, -EINVAL, (NULL))                         \
	X(zs_get_total_pages, good, SILENT, CALL_POSITIVE, (c->pool))          \
	X(zs_get_total_pages, null, ANYWHERE, 0, (NULL))                       \
	X(zs_huge_class_size, good, SILENT, CALL_POSITIVE, (c->pool))          \
	X(zs_huge_class_size, null, ANYWHERE, 0, (NULL))                       \
	X(zs_lookup_class_index, good, SILENT, CALL_POSITIVE,                  \
	  (c->pool, OBJECT_BYTES))                                             \
	X(zs_lookup_class_index, null, ANYWHERE, 0, (NULL, OBJECT_BYTES))      \
	X(zs_pool_stats, good, ERRNO, 0, (c->pool, &c->pool_stats))            \
	X(zs_pool_stats, no_stats, ERRNO, -EINVAL, (c->pool, NULL))            \
	X(zs_pool_stats, null, ANYWHERE, -EINVAL, (NULL, &c->pool_stats))      \
	X(zs_class_stats, good, ERRNO, 0, (c->pool, 0, &c->class_stats))       \
	X(zs_class_stats, beyond, ERRNO, -ENOENT,                              \
	  (c->pool, 1000, &c->class_stats))                                    \
	X(zs_class_stats, no_stats, ERRNO, -EINVAL, (c->pool, 0, NULL))        \
	X(zs_class_stats, null, ANYWHERE, -EINVAL, (NULL, 0, &c->class_stats))

/* Those that return nothing. */
#define ORDERS(X)                                                      \
	X(zswap_invalidate, good, SILENT, 0, (HERE))                   \
	X(zswap_invalidate, none, SILENT, 0, (c->z, c->slot, 0))       \
	X(zswap_invalidate, nowhere, SILENT, 0, (c->z, NOWHERE, 1000)) \
	X(zswap_invalidate, null, ANYWHERE, 0, (NULL, c->slot, 1))     \
	X(zswap_destroy, null, ANYWHERE, 0, (NULL))                    \
	X(zswap_destroy, good, ENDS, 0, (c->z))                        \
	X(zs_free, good, SILENT, 0, (OBJECT))                          \
	X(zs_free, none, SILENT, 0, (c->pool, 0))                      \
	X(zs_free, null, ANYWHERE, 0, (NULL, c->object))               \
	X(zs_obj_read_end, good, SILENT, 0, (c->pool, c->read))        \
	X(zs_obj_read_end, none, SILENT, 0, (c->pool, 0))              \
	X(zs_obj_read_end, null, ANYWHERE, 0, (NULL, c->read))         \
	X(zs_destroy_pool, null, ANYWHERE, 0, (NULL))                  \
	X(zs_destroy_pool, good, ENDS_POOL, 0, (c->pool))

#define DEFINE_QUESTION(function, how, rule, result, arguments) \
	static long call_##function##_##how(struct caller *c)   \
	{                                                       \
		(void)c;                                        \
		return (long)function arguments;                \
	}
#define DEFINE_ORDER(function, how, rule, result, arguments)  \
	static long call_##function##_##how(struct caller *c) \
	{                                                     \
		(void)c;                                      \
		function arguments;                           \
		return 0;                                     \
	}
QUESTIONS(DEFINE_QUESTION)
ORDERS(DEFINE_ORDER)

static long call_make_default(struct caller *c)
{
	(void)c;
	return make_and_destroy(NULL);
}

static long call_make_unknown(struct caller *c)
{
	(void)c;
	return make_from("no");
}

static long call_make_pool(struct caller *c)
{
	struct zs_pool *pool;
	int err = zs_create_pool(&pool, NULL);

	(void)c;
	zs_destroy_pool(pool);
	return err;
}

#define ROW(function, how, rule, result, arguments) \
	{ #function, #how, CALL_##rule, result, call_##function##_##how },
const struct call calls[] = {
	QUESTIONS(ROW) ORDERS(ROW){ "zswap_create", "default", CALL_MAKES, 0,
				    call_make_default },
	{ "zswap_create", "unknown", CALL_MAKES, -ENOENT, call_make_unknown },
	{ "zs_create_pool", "default", CALL_MAKES, 0, call_make_pool },
};
const size_t nr_calls = sizeof(calls) / sizeof(calls[0]);

/* ---- calling ----------------------------------------------------------- */

static struct zswap_folio folio_of(struct caller *c, char *data)
{
	return (struct zswap_folio){ .size = sizeof(struct zswap_folio),
				     .slot = c->slot,
				     .nr_pages = CALLS_PAGES,
				     .data = data,
				     .results = c->results };
}

/* In a child the parent's are there, and must not be touched. */
static zs_handle object_for(const struct scene *s)
{
	zs_handle object;
	int err = zs_malloc(s->pool, OBJECT_BYTES, &object);

	CHECK(err == 0 || err == -EOWNERDEAD);
	return err ? s->objects[0] : object;
}

void caller_init(struct caller *c, const struct scene *s)
{
	uint64_t i;

	memset(c, 0x3c, sizeof(*c));
	c->z = s->z;
	c->pool = s->pool;
	c->object = object_for(s);
	c->read = object_for(s);
	zs_obj_read_begin(c->pool, c->read);
	c->made_object = 0;
	c->pool_stats.size = sizeof(c->pool_stats);
	c->class_stats.size = sizeof(c->class_stats);
	c->slot = at(CALLS_FIRST);
	c->next = c->slot;
	c->stats.size = sizeof(c->stats);
	for (i = 0; i < CALLS_PAGES; i++)
		page_stamp(c->in + i * PAGE_BYTES, PAGE_BYTES, CALLS_FIRST + i,
			   i);
	c->from = folio_of(c, c->in);
	c->to = folio_of(c, c->out);
}

static bool is_as_expected(long result, long expected)
{
	switch (expected) {
	case CALL_POSITIVE:
		return result > 0;
	case CALL_COUNT:
		return result >= 0;
	default:
		return result == expected;
	}
}

/* Makes the call, which leaves errno alone. */
static void expect_result(const struct call *call, struct caller *c,
			  long expected)
{
	long result;

	errno = ERRNO_BEFORE;
	result = call->run(c);
	if (errno != ERRNO_BEFORE || !is_as_expected(result, expected))
		fprintf(stderr, "%s, %s: %ld instead of %ld, errno %d\n",
			call->function, call->how, result, expected, errno);
	CHECK(errno == ERRNO_BEFORE);
	CHECK(is_as_expected(result, expected));
}

void call_expect(const struct call *call, const struct scene *s, long expected)
{
	struct caller c;

	caller_init(&c, s);
	expect_result(call, &c, expected);
}

void call_here(const struct call *call, struct scene *s)
{
	call_expect(call, s, call->result);
	if (call->rule == CALL_ENDS)
		s->z = NULL;
	if (call->rule == CALL_ENDS_POOL)
		s->pool = NULL;
}

static long result_elsewhere(const struct call *call)
{
	switch (call->rule) {
	case CALL_ERRNO:
		return -EOWNERDEAD;
	case CALL_SILENT:
	case CALL_ENDS:
	case CALL_ENDS_POOL:
		return 0;
	default:
		return call->result;
	}
}

/* CALL_ANYWHERE may set what its arguments point to, as everywhere. */
static void call_elsewhere(const struct call *call, const struct scene *s)
{
	struct caller c, before;

	caller_init(&c, s);
	memcpy(&before, &c, sizeof(c)); /* the gaps as well */
	expect_result(call, &c, result_elsewhere(call));
	CHECK(call->rule == CALL_ANYWHERE ||
	      memcmp(&before, &c, sizeof(c)) == 0);
}

void call_all_elsewhere(struct scene *s, bool may_allocate)
{
	struct scene before;
	size_t i;

	memcpy(&before, s, sizeof(before));
	for (i = 0; i < nr_calls; i++)
		if (calls[i].rule != CALL_MAKES || may_allocate)
			call_elsewhere(&calls[i], s);
	CHECK(memcmp(&before, s, sizeof(before)) == 0);
}
