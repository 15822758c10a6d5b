/* SPDX-License-Identifier: MIT */
/*
 * objects.h - the same objects for every heap: how long it takes, what is held
 *
 *	cold   a process's first objects: all are allocated and written in order,
 *	       read in random order, and freed in another
 *	warm   a heap that stays full: 64 objects at random are read, freed, and
 *	       as many of other sizes allocated and written; so on until each
 *	       object has had its turn
 *
 * What is timed are the 64 calls of one kind. A read copies all bytes to a
 * buffer of 256 KiB; they are compared before the next calls.
 */
#ifndef BENCH_OBJECTS_H
#define BENCH_OBJECTS_H

#include "heap.h"

enum { COLD, WARM, NR_STATES };
enum { WRITE, READ, FREE, NR_WORKS };

/* Payload sizes, again and again in this order. */
struct sizes {
	uint16_t *bytes;
	size_t count;
};

/* ns of one call. */
struct object_times {
	double ns[NR_STATES][NR_WORKS];
};

/*
 * objects_time() - @count objects, in both states
 * @seed: of all random orders
 *
 * To be called in a fresh process, with a heap of which nobody has had memory.
 */
struct object_times objects_time(struct heap *heap, const struct sizes *sizes,
				 uint32_t count, uint64_t seed);

/* What a heap has for so many objects. */
struct object_space {
	double live_bytes, held_bytes;
};

/*
 * objects_fill() - look at a heap at some numbers of objects on the way
 * @counts: ascending
 *
 * Likewise. Where the heap can't be asked, the growth of the process is taken.
 */
void objects_fill(struct heap *heap, const struct sizes *sizes,
		  const uint32_t *counts, size_t nr_counts,
		  struct object_space *out);

#endif /* BENCH_OBJECTS_H */
