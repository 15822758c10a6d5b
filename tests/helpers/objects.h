/* SPDX-License-Identifier: MIT */
/*
 * objects.h - objects of a pool whose bytes can be told from all others'
 *
 * An object's bytes follow from its tag, which therefore is all that a test has
 * to remember. Its functions may be called by any thread.
 */
#ifndef TEST_OBJECTS_H
#define TEST_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <zswap/zsmalloc.h>

#include "check.h"
#include "random.h"

#define OBJECT_MAX_BYTES 65536

struct object {
	zs_handle handle; /* 0: there is none */
	size_t bytes;
	uint64_t tag;
};

/* Each word depends on its place too. */
static inline uint64_t object_word(uint64_t tag, size_t i)
{
	return random_mix(tag + i / 8);
}

static inline bool object_has(const void *payload, size_t bytes, uint64_t tag)
{
	const char *at = payload;
	uint64_t word;
	size_t i;

	for (i = 0; i < bytes; i += 8) {
		word = object_word(tag, i);
		if (memcmp(at + i, &word, bytes - i < 8 ? bytes - i : 8))
			return false;
	}
	return true;
}

static inline void object_fill(struct zs_pool *pool, struct object *o,
			       uint64_t tag)
{
	static _Thread_local uint64_t words[OBJECT_MAX_BYTES / 8];
	size_t i;

	for (i = 0; i < o->bytes; i += 8)
		words[i / 8] = object_word(tag, i);
	CHECK(zs_obj_write(pool, o->handle, words, o->bytes) == 0);
	o->tag = tag;
}

static inline void object_make(struct zs_pool *pool, struct object *o,
			       size_t bytes, uint64_t tag)
{
	CHECK(zs_malloc(pool, bytes, &o->handle) == 0 && o->handle);
	o->bytes = bytes;
	object_fill(pool, o, tag);
}

static inline void object_check(struct zs_pool *pool, const struct object *o)
{
	const void *payload = zs_obj_read_begin(pool, o->handle);

	CHECK(payload && (uintptr_t)payload % 8 == 0);
	CHECK(object_has(payload, o->bytes, o->tag));
	zs_obj_read_end(pool, o->handle);
	CHECK(zs_obj_bytes(pool, o->handle) == o->bytes);
}

static inline void object_end(struct zs_pool *pool, struct object *o)
{
	if (!o->handle)
		return;
	object_check(pool, o);
	zs_free(pool, o->handle);
	o->handle = 0;
}

#endif
