// SPDX-License-Identifier: MIT
/*
 * hooks.c - where the caches of a run take their memory from
 *
 * jemalloc comes by LD_PRELOAD, and then is the malloc of all of this program:
 * of its tables, and of the contexts that a bare codec has. No side takes
 * memory from malloc while it is timed, but for liblz4 from level 10 of lz4hc
 * on, which does so in the cache and bare alike. Corpora, bare's payloads and
 * what is loaded lie in mappings of the bench's own. So bare is the same limit
 * as in a run without jemalloc.
 */
#include "hooks.h"

#include "../tests/helpers/jemalloc_hooks.h"
#include "bench.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

static bool is_jemalloc;
static struct jemalloc_hooks jemalloc;

void hooks_choose(const char *name)
{
	const char *why;

	is_jemalloc = !strcmp(name, "jemalloc");
	if (!is_jemalloc && strcmp(name, "default") != 0)
		bad_input("--hooks: '%s' is not default or jemalloc", name);
	why = is_jemalloc ? jemalloc_hooks_init(&jemalloc) : NULL;
	if (why)
		bad_input("--hooks jemalloc: %s", why);
}

const struct zswap_hooks *hooks_of_caches(void)
{
	return is_jemalloc ? &jemalloc.hooks : NULL;
}

const char *hooks_name(void)
{
	return is_jemalloc ? "jemalloc" : "default";
}

/* A version's end, from its first dash on, is a commit. */
void hooks_say(void)
{
	const char *version;

	if (!is_jemalloc) {
		printf("hooks: default, malloc and mmap\n");
		return;
	}
	version = jemalloc_hooks_version(&jemalloc);
	printf("hooks: arenas of jemalloc %.*s; it is the bench's own malloc "
	       "too\n",
	       (int)strcspn(version, "-"), version);
}

void hooks_trim(void)
{
	if (is_jemalloc)
		jemalloc_hooks_trim(&jemalloc);
#ifdef __GLIBC__
	else
		malloc_trim(0);
#endif
}

void hooks_finish(void)
{
	if (is_jemalloc && !jemalloc_hooks_end(&jemalloc))
		broken("the caches have left something in jemalloc's arenas");
}
