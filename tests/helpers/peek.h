/* SPDX-License-Identifier: MIT */
/*
 * peek.h - reads memory of a cache that is not the test's to read
 *
 * The library tells ASan and valgrind which of its memory is in use, and they
 * report who reads the rest. A test that searches a cache's mappings looks at a
 * copy instead, which is made here, behind their backs.
 */
#ifndef TEST_PEEK_H
#define TEST_PEEK_H

#include <stddef.h>

/* Copies whole words, at multiples of 8; all of the copy counts as written. */
void peek(void *to, const void *from, size_t bytes);

/*
 * A copy of a mapping, for free(). Pages that were never touched are zeros in
 * both: mappings are large and mostly empty.
 */
void *peek_mapping(void *addr, size_t bytes);

#endif
