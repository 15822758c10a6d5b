// SPDX-License-Identifier: MIT
/*
 * live_files.c - pages of files, where no program's memory can be read
 *
 * Machine code and everything else make two corpora, for they compress quite
 * differently. No file gives more than an eighth of its corpus.
 */
#include "live_files.h"

#include "bench.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

/* Each list becomes one corpus. */
static const char *const library_folders[] = {
	"/usr/lib64", "/usr/lib", "/lib", "/usr/local/lib", NULL,
};
static const char *const other_folders[] = {
	"/usr/include", "/usr/share", "/usr/lib/python3", "/etc", NULL,
};

/* nftw() has no argument for its callback. */
static struct {
	struct corpus *corpus;
	size_t files;
	char *first;
	bool binaries;
} walk;

static void take_file(const char *path, size_t max_pages)
{
	if (!corpus_append_file(walk.corpus, path, max_pages))
		return;
	walk.files++;
	if (!walk.first)
		walk.first = bench_format("%s", path);
}

static bool is_binary_name(const char *path)
{
	return strstr(path, ".so") || strstr(path, "/bin/");
}

static int walk_file(const char *path, const struct stat *st, int kind,
		     struct FTW *where)
{
	struct corpus *c = walk.corpus;
	size_t each = c->room_bytes / PAGE_BYTES / 8 + 1;

	(void)where;
	if (kind != FTW_F || st->st_size < (off_t)PAGE_BYTES ||
	    !S_ISREG(st->st_mode) || is_binary_name(path) != walk.binaries)
		return 0;
	take_file(path, each); /* many files rather than one long one */
	return c->nr_pages >= c->room_bytes / PAGE_BYTES;
}

static void add_files(struct corpora *all, const char *name, bool binaries,
		      size_t max_pages)
{
	const char *const *folder = binaries ? library_folders : other_folders;
	struct corpus c = { 0 };

	corpus_room(&c, max_pages);
	walk.corpus = &c;
	walk.binaries = binaries;
	walk.files = 0;
	walk.first = NULL;
	for (; *folder; folder++)
		if (nftw(*folder, walk_file, 16, FTW_PHYS) > 0)
			break; /* full */
	if (!c.nr_pages && binaries) /* at least there is this program */
		take_file((const char *)getauxval(AT_EXECFN), max_pages);
	corpus_trim(&c);
	if (!c.nr_pages)
		return;
	c.name = bench_format("%s", name);
	c.origin = bench_format("%zu pages of %zu files, the first is %s",
				c.nr_pages, walk.files, walk.first);
	free(walk.first);
	corpora_add(all, c);
}

void live_add_files(struct corpora *all, size_t max_pages)
{
	add_files(all, "libraries", true, max_pages);
	add_files(all, "files", false, max_pages);
}
