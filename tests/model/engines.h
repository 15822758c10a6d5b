/* SPDX-License-Identifier: MIT */
/*
 * engines.h - the compressors that a sequence switches between
 *
 * All built-in ones, some at several levels, the test compressor under two
 * specs, which are two pools, and one without state. What a page becomes with
 * each is found out once, by the compressor itself, outside any cache.
 */
#ifndef TEST_ENGINES_H
#define TEST_ENGINES_H

#include <stdint.h>
#include <zswap/compressor.h>

enum engine_kind { ENGINE_BUILTIN, ENGINE_TEST, ENGINE_PLAIN };

struct engine {
	const char *spec; /* in some form */
	const char *canonical;
	enum engine_kind kind;
};

#define MAX_ENGINES 16
#define ENGINES_FAST 5 /* come first */

extern const struct engine engines[];
/* Those that this build of the library has. */
unsigned engines_nr(void);

/* Before the first child. */
void engines_prepare(void);

/*
 * Bytes of a page of the palette, compressed; as much as the page or more where
 * it does not fit.
 */
uint32_t engine_length(unsigned engine, uint32_t page_size, unsigned page);

#endif
