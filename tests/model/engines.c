// SPDX-License-Identifier: MIT
/*
 * engines.c - the compressors that a sequence switches between
 */
#include "engines.h"

#include <zswap/zswap.h>

#include "check.h"
#include "child.h"
#include "coding.h"
#include "comp.h"
#include "palette.h"

/* What may be missing comes last; the fast ones first. */
const struct engine engines[] = {
	{ "lz4", "lz4", ENGINE_BUILTIN },
	{ "test:0", "test:0", ENGINE_TEST },
	{ "zstd:level=+1", "zstd:level=1", ENGINE_BUILTIN },
	{ " test:0,red\n", "test:0,red", ENGINE_TEST },
	{ "plain ", "plain", ENGINE_PLAIN },
	{ "zstd:level=-05", "zstd:level=-5", ENGINE_BUILTIN },
	{ "zstd", "zstd:level=3", ENGINE_BUILTIN },
	{ "deflate:level=1", "deflate:level=1", ENGINE_BUILTIN },
	{ "lz4hc:level=3", "lz4hc:level=3", ENGINE_BUILTIN },
	{ "deflate", "deflate:level=6", ENGINE_BUILTIN },
	{ "lz4hc", "lz4hc:level=9", ENGINE_BUILTIN },
	{ "lzo", "lzo", ENGINE_BUILTIN },
};

_Static_assert(ARRAY_SIZE(engines) <= MAX_ENGINES, "room for each");

/* Shared with the children: what one finds out all know. 0: not known. */
static uint32_t (*lengths)[65536 / 4096 + 1][PALETTE_PAGES];

unsigned engines_nr(void)
{
	return ARRAY_SIZE(engines) - (zswap_spec_check("lzo", NULL) != 0);
}

void engines_prepare(void)
{
	lengths = child_shared_memory(MAX_ENGINES * sizeof(*lengths));
}

static uint32_t length_by_test_codec(const void *page, uint32_t page_size)
{
	static char room[4 * 65536];
	struct zswap_comp_segment seg = { .size = sizeof(seg),
					  .src = page,
					  .src_len = page_size,
					  .dst = room,
					  .dst_len = sizeof(room) };
	int32_t len = coding_encode(&seg);

	CHECK(len > 0);
	return (uint32_t)len;
}

static uint32_t length_by_library(const char *text, const void *page,
				  uint32_t page_size)
{
	static const struct comp_list nobody;
	struct comp_context *ctx;
	struct spec spec;
	struct comp *comp;
	struct mem mem;
	int result;

	CHECK(mem_init(&mem, NULL) == 0);
	mem.alloc_is_hooked = true; /* as in the caches to come */
	CHECK(spec_resolve(&nobody, text, &spec, NULL) == 0);
	CHECK(comp_create(&mem, &spec, page_size, &comp) == 0);
	ctx = comp_claim(comp);
	comp_compress(comp, ctx, &page, 1);
	result = comp_result(ctx, 0);
	comp_release(ctx);
	comp_destroy(comp);
	mem_exit(&mem);
	CHECK(result > 0 || result == -ENOSPC);
	return result > 0 ? (uint32_t)result : page_size;
}

uint32_t engine_length(unsigned engine, uint32_t page_size, unsigned page)
{
	uint32_t *known = &lengths[engine][page_size / 4096][page];
	const void *data = palette_at(page_size, page);

	if (*known)
		return *known;
	*known = engines[engine].kind == ENGINE_BUILTIN ?
			 length_by_library(engines[engine].canonical, data,
					   page_size) :
			 length_by_test_codec(data, page_size);
	return *known;
}
