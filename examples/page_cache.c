// SPDX-License-Identifier: MIT
/*
 * page_cache.c - a cache of a file's pages that holds more than its memory
 *
 *	cc page_cache.c -o page_cache $(pkg-config --cflags --libs libzswap)
 *	./page_cache FILE
 *
 * A read looks for its page in three places, each slower than the one before:
 *
 *	a frame      one of a few resident pages, ready to use
 *	the cache    the page compressed, in libzswap: a few microseconds
 *	the file     a system call, and where the disk is asked much more
 *
 * A page that comes from the file goes into libzswap at once, under its number
 * in the file as its slot. Frames can then be dropped without a word: file
 * pages don't change, so the compressed copy stays (zswap_peek keeps it).
 *
 * The program reads random pages of FILE through the cache, compares each with
 * the file itself, and says where they came from.
 */
#include <zswap/zswap.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
#define NR_FRAMES 16 /* a page's number, modulo this, is its frame */
#define NR_READS 20000

struct frame {
	uint64_t number;
	int used;
	unsigned char bytes[PAGE];
};

struct page_cache {
	int fd;
	struct zswap *zswap;
	struct frame frames[NR_FRAMES];
	unsigned long from_frames, from_zswap, from_file;
};

/* Reads a page of the file itself; what lies past its end is zero. */
static int read_file(int fd, uint64_t number, void *page)
{
	ssize_t n = pread(fd, page, PAGE, (off_t)(number * PAGE));

	if (n < 0)
		return -1;
	memset((char *)page + n, 0, PAGE - (size_t)n);
	return 0;
}

/* Fills a frame; 0, or -1 when the file can't be read. */
static int fill_frame(struct page_cache *cache, struct frame *frame,
		      uint64_t number)
{
	zswap_slot_t slot = zswap_slot(0, number);

	frame->used = 0;
	if (zswap_peek(cache->zswap, slot, frame->bytes) == 0) {
		cache->from_zswap++;
	} else {
		if (read_file(cache->fd, number, frame->bytes))
			return -1;
		cache->from_file++;
		/*
		 * A store that fails leaves the slot absent: the page comes from
		 * the file again next time, and nothing is lost.
		 */
		zswap_store(cache->zswap, slot, frame->bytes);
	}
	frame->number = number;
	frame->used = 1;
	return 0;
}

/* The page, valid until the next call; NULL when the file can't be read. */
static const void *page_cache_get(struct page_cache *cache, uint64_t number)
{
	struct frame *frame = &cache->frames[number % NR_FRAMES];

	if (frame->used && frame->number == number)
		cache->from_frames++;
	else if (fill_frame(cache, frame, number))
		return NULL;
	return frame->bytes;
}

static int page_cache_open(struct page_cache *cache, const char *path,
			   uint64_t *nr_pages)
{
	struct stat st;
	int err;

	memset(cache, 0, sizeof(*cache));
	cache->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (cache->fd < 0 || fstat(cache->fd, &st)) {
		perror(path);
		return -1;
	}
	*nr_pages = ((uint64_t)st.st_size + PAGE - 1) / PAGE;
	if (!*nr_pages) {
		fprintf(stderr, "%s: empty\n", path);
		return -1;
	}
	err = zswap_create(&cache->zswap, NULL);
	if (!err)
		err = zswap_swapon(cache->zswap, 0, *nr_pages);
	if (err)
		fprintf(stderr, "zswap: %s\n", strerror(-err));
	return err;
}

static void page_cache_close(struct page_cache *cache)
{
	zswap_destroy(cache->zswap);
	if (cache->fd >= 0)
		close(cache->fd);
}

/* Half of the reads go to an eighth of the file, as reads do. */
static uint64_t random_page(uint64_t nr_pages)
{
	uint64_t hot = nr_pages / 8 + 1;

	return (uint64_t)rand() % (rand() % 2 ? hot : nr_pages);
}

static int read_at_random(struct page_cache *cache, uint64_t nr_pages)
{
	unsigned char expected[PAGE];

	for (int i = 0; i < NR_READS; i++) {
		uint64_t number = random_page(nr_pages);
		const void *page = page_cache_get(cache, number);

		if (!page || read_file(cache->fd, number, expected)) {
			perror("read");
			return -1;
		}
		if (memcmp(page, expected, PAGE)) {
			fprintf(stderr, "page %llu is wrong\n",
				(unsigned long long)number);
			return -1;
		}
	}
	return 0;
}

static void report(struct page_cache *cache)
{
	struct zswap_stats stats = { .size = sizeof(stats) };

	zswap_get_stats(cache->zswap, &stats);
	printf("%d reads, all right: %lu from %d frames, %lu from libzswap, "
	       "%lu from the file\n",
	       NR_READS, cache->from_frames, NR_FRAMES, cache->from_zswap,
	       cache->from_file);
	printf("libzswap keeps %llu pages (%llu KiB) in %llu KiB, and needs "
	       "%llu KiB besides\n",
	       (unsigned long long)stats.stored_pages,
	       (unsigned long long)stats.stored_pages * PAGE / 1024,
	       (unsigned long long)stats.pool_total_size / 1024,
	       (unsigned long long)stats.metadata_bytes / 1024);
}

int main(int argc, char **argv)
{
	struct page_cache cache;
	uint64_t nr_pages;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	err = page_cache_open(&cache, argv[1], &nr_pages);
	if (!err)
		err = read_at_random(&cache, nr_pages);
	if (!err)
		report(&cache);
	page_cache_close(&cache);
	return err ? 1 : 0;
}
