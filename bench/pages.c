// SPDX-License-Identifier: MIT
/*
 * pages.c - corpora from files
 *
 * A file is read into room for max_pages pages and no further, so that a huge
 * file costs no more than the part that is used. What is a folder and what is
 * compressed is told by stat() and by the name.
 */
#include "pages.h"

#include "bench.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

void corpora_add(struct corpora *all, struct corpus c)
{
	all->items = bench_grow(all->items, all->count + 1, sizeof(c));
	all->items[all->count++] = c;
}

static void corpus_free(struct corpus *c)
{
	bench_unmap(c->pages, c->room_bytes);
	free(c->name);
	free(c->origin);
}

void corpora_free(struct corpora *all)
{
	for (size_t i = 0; i < all->count; i++)
		corpus_free(&all->items[i]);
	free(all->items);
	*all = (struct corpora){ 0 };
}

void corpora_cut(struct corpora *all, size_t unit_bytes)
{
	size_t unit_pages = unit_bytes / PAGE_BYTES, kept = 0;

	for (size_t i = 0; i < all->count; i++) {
		struct corpus *c = &all->items[i];

		c->nr_pages -= c->nr_pages % unit_pages;
		if (c->nr_pages) {
			all->items[kept++] = *c;
			continue;
		}
		printf("  %s: left out, holds less than %zu bytes\n", c->name,
		       unit_bytes);
		corpus_free(c);
	}
	all->count = kept;
	if (!kept)
		bad_input("no pages of %zu bytes to store", unit_bytes);
}

void corpus_room(struct corpus *c, size_t max_pages)
{
	c->room_bytes = max_pages * PAGE_BYTES;
	c->pages = bench_map(c->room_bytes);
	c->nr_pages = 0;
}

/* A system page may hold several of ours: what it holds stays. */
void corpus_trim(struct corpus *c)
{
	size_t os_page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = c->nr_pages * PAGE_BYTES;

	used = (used + os_page - 1) / os_page * os_page;
	if (used >= c->room_bytes)
		return;
	bench_unmap(c->pages + used, c->room_bytes - used);
	c->room_bytes = used;
}

/* ---- plain files ------------------------------------------------------- */

/* Up to @len bytes, fewer only at the end; -1 with errno set. */
static ssize_t read_full(int fd, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got = read(fd, (char *)buf + done, len - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

size_t corpus_append_file(struct corpus *c, const char *path, size_t max_pages)
{
	size_t room = c->room_bytes / PAGE_BYTES - c->nr_pages;
	unsigned char *dst = c->pages + c->nr_pages * PAGE_BYTES;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len;

	if (fd < 0)
		return 0;
	if (room > max_pages)
		room = max_pages;
	len = read_full(fd, dst, room * PAGE_BYTES);
	close(fd);
	if (len < 0)
		return 0;
	c->nr_pages += (size_t)len / PAGE_BYTES;
	return (size_t)len / PAGE_BYTES;
}

static size_t read_plain(const char *path, void *dst, size_t room_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		bad_input("%s: %s", path, strerror(errno));
	len = read_full(fd, dst, room_bytes);
	if (len < 0)
		bad_input("%s: %s", path, strerror(errno));
	close(fd);
	return (size_t)len;
}

/* ---- .zst -------------------------------------------------------------- */

/* Decompresses until @out is full or the file ends. */
static void unzst(ZSTD_DStream *stream, const char *path, FILE *file,
		  ZSTD_outBuffer *out)
{
	static unsigned char chunk[1 << 17];
	size_t pending = 0; /* 0: at the end of a frame, where a file may end */
	bool any = false;
	size_t len;

	while (out->pos < out->size &&
	       (len = fread(chunk, 1, sizeof(chunk), file)) > 0) {
		ZSTD_inBuffer in = { chunk, len, 0 };

		any = true;
		while (in.pos < in.size && out->pos < out->size) {
			pending = ZSTD_decompressStream(stream, out, &in);
			if (ZSTD_isError(pending))
				bad_input("%s: not a valid .zst file: %s", path,
					  ZSTD_getErrorName(pending));
		}
	}
	if (ferror(file))
		bad_input("%s: %s", path, strerror(errno));
	if (out->pos < out->size && (pending || !any))
		bad_input("%s: not a valid .zst file: it ends too early", path);
}

static size_t read_zst(const char *path, void *dst, size_t room_bytes)
{
	ZSTD_outBuffer out = { dst, room_bytes, 0 };
	ZSTD_DStream *stream = ZSTD_createDStream();
	FILE *file = fopen(path, "rbe");

	if (!file)
		bad_input("%s: %s", path, strerror(errno));
	if (!stream)
		bad_input("out of memory");
	unzst(stream, path, file, &out);
	fclose(file);
	ZSTD_freeDStream(stream);
	return out.pos;
}

/* ---- any file ---------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

/* The base name without .zst and .pages. */
static char *corpus_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = bench_format("%s", slash && slash[1] ? slash + 1 : path);

	if (ends_with(name, ".zst"))
		name[strlen(name) - 4] = '\0';
	if (ends_with(name, ".pages"))
		name[strlen(name) - 6] = '\0';
	return name;
}

/* Pages the file may fill: a plain file has no more than its size. */
static size_t room_for(const struct stat *st, bool zst, size_t max_pages)
{
	size_t pages = (size_t)st->st_size / PAGE_BYTES;

	if (zst || !S_ISREG(st->st_mode) || pages > max_pages)
		return max_pages;
	return pages ? pages : 1;
}

/* Adds the file's pages; a file without a whole page is not added. */
static bool add_file(struct corpora *all, const char *path,
		     const struct stat *st, size_t max_pages)
{
	bool zst = ends_with(path, ".zst");
	struct corpus c = { 0 };
	size_t bytes;

	corpus_room(&c, room_for(st, zst, max_pages));
	bytes = zst ? read_zst(path, c.pages, c.room_bytes) :
		      read_plain(path, c.pages, c.room_bytes);
	c.nr_pages = bytes / PAGE_BYTES;
	corpus_trim(&c);
	if (!c.nr_pages)
		return false;
	c.name = corpus_name(path);
	corpora_add(all, c);
	return true;
}

/* ---- folders ----------------------------------------------------------- */

static int wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strncmp(entry->d_name, "README", 6);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* in any locale the same */
}

static void add_folder(struct corpora *all, const char *path, size_t max_pages)
{
	size_t before = all->count;
	struct dirent **names;
	int count = scandir(path, &names, wanted, by_bytes);

	if (count < 0)
		bad_input("%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		char *file = bench_format("%s/%s", path, names[i]->d_name);
		struct stat st;

		if (!stat(file, &st) && S_ISREG(st.st_mode))
			add_file(all, file, &st, max_pages);
		free(file);
		free(names[i]);
	}
	free(names);
	if (all->count == before)
		bad_input("%s: no file of at least one page (%u bytes) in it",
			  path, PAGE_BYTES);
}

void corpora_add_path(struct corpora *all, const char *path, size_t max_pages)
{
	struct stat st;

	if (stat(path, &st))
		bad_input("%s: %s", path, strerror(errno));
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		bad_input("%s: neither a file nor a folder", path);
	if (S_ISDIR(st.st_mode))
		add_folder(all, path, max_pages);
	else if (!add_file(all, path, &st, max_pages))
		bad_input("%s: holds less than one page (%u bytes)", path,
			  PAGE_BYTES);
}
