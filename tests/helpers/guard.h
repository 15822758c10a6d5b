/* SPDX-License-Identifier: MIT */
/*
 * guard.h - buffers that nobody can leave unnoticed
 *
 *	| no access | slack | buffer | no access |     guard_at_end()
 *	| no access | buffer | slack | no access |     guard_at_start()
 *
 * The buffer touches an inaccessible page on one side; on the other there is
 * up to a page of slack with a known pattern, which guard_free() looks at.
 */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

#include <stddef.h>

struct guard {
	void *data; /* the buffer */
	size_t len_bytes;
	void *map; /* all of it, both inaccessible pages included */
	size_t map_bytes;
};

/* All return the buffer, and end the program when there is no memory. */
void *guard_at_end(struct guard *guard, size_t len_bytes);
void *guard_at_start(struct guard *guard, size_t len_bytes);

/* Let the buffer be read only, not even read, or written again. */
void guard_allow_reading(struct guard *guard);
void guard_allow_nothing(struct guard *guard);
void guard_allow_writing(struct guard *guard);

void guard_free(struct guard *guard);

#endif
