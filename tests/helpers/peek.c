// SPDX-License-Identifier: MIT
/*
 * peek.c - reads memory of a cache that is not the test's to read
 *
 * ASan does not look into a function that asks to be left out, as long as that
 * calls no memcpy(): hence the volatile words, of which no compiler makes one.
 */
#include "peek.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef HAVE_VALGRIND
#include <valgrind/memcheck.h>
#endif

#include "check.h"

__attribute__((no_sanitize_address, noinline)) static void
copy_words(uint64_t *to, const volatile uint64_t *from, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		to[i] = from[i];
}

void peek(void *to, const void *from, size_t bytes)
{
	CHECK(((uintptr_t)to | (uintptr_t)from | bytes) % 8 == 0);
#ifdef HAVE_VALGRIND
	VALGRIND_DISABLE_ERROR_REPORTING;
#endif
	copy_words(to, from, bytes / 8);
#ifdef HAVE_VALGRIND
	VALGRIND_ENABLE_ERROR_REPORTING;
	VALGRIND_MAKE_MEM_DEFINED(to, bytes);
#endif
}

void *peek_mapping(void *addr, size_t bytes)
{
	size_t os_page = (size_t)sysconf(_SC_PAGESIZE), nr = bytes / os_page;
	unsigned char *resident = malloc(nr);
	char *copy = calloc(nr, os_page);
	size_t i, at;

	CHECK(resident && copy && mincore(addr, bytes, resident) == 0);
	for (i = 0, at = 0; i < nr; i++, at += os_page)
		if (resident[i] & 1)
			peek(copy + at, (char *)addr + at, os_page);
	free(resident);
	return copy;
}
