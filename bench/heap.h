/* SPDX-License-Identifier: MIT */
/*
 * heap.h - who gives memory for objects: the library's allocator, or a rival
 *
 * A heap lives as long as the process.
 */
#ifndef BENCH_HEAP_H
#define BENCH_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include <zswap/zsmalloc.h>

struct heap {
	/* A new object with these bytes; 0 when there is no memory. */
	uintptr_t (*put)(struct heap *h, const void *src, size_t len);

	/* All bytes of an object. */
	void (*get)(struct heap *h, uintptr_t object, void *dst, size_t len);

	void (*drop)(struct heap *h, uintptr_t object);

	/* Bytes from the system; NAN when it can't be asked. */
	double (*held)(struct heap *h);
};

/* heap_zs() - a pool of the library's */
struct heap *heap_zs(const struct zs_pool_params *params);

/*
 * heap_rival() - an allocator of enum GLIBC .. MIMALLOC
 * @why: receives a text when there is no such allocator
 *
 * Return: NULL when there is none.
 */
struct heap *heap_rival(unsigned which, const char **why);

#endif /* BENCH_HEAP_H */
