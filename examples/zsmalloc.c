// SPDX-License-Identifier: MIT
/*
 * zsmalloc.c - a compressed disk in memory, on the allocator alone
 *
 *	cc zsmalloc.c -o zsmalloc $(pkg-config --cflags --libs libzswap liblz4)
 *	./zsmalloc FILE
 *
 * What zram is in the kernel: a table with one handle for each block of the
 * disk. A write compresses the block, and puts the result into an object of
 * just that size; a block that does not compress is an object of a whole block.
 * A read decompresses straight out of the object, which stays where it is
 * meanwhile. Who discards blocks leaves gaps behind, which compaction closes:
 * the handles stay as they are.
 *
 * The program copies FILE to the disk, discards some of the blocks, compacts,
 * and compares what is left with FILE.
 */
#include <zswap/zsmalloc.h>

#include <fcntl.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096

struct disk {
	struct zs_pool *pool;
	uint64_t nr_blocks;
	zs_handle *blocks; /* 0: all zeros */
};

static int disk_open(struct disk *disk, uint64_t nr_blocks)
{
	/* Exact classes, the default, waste more while there are few blocks. */
	const struct zs_pool_params params = {
		.size = sizeof(params),
		.class_choice = ZSWAP_CLASSES_ADAPTIVE,
	};

	disk->pool = NULL;
	disk->nr_blocks = nr_blocks;
	disk->blocks = calloc(nr_blocks, sizeof(*disk->blocks));
	if (!disk->blocks)
		return -1;
	return zs_create_pool(&disk->pool, &params);
}

static void disk_close(struct disk *disk)
{
	zs_destroy_pool(disk->pool); /* with all objects */
	free(disk->blocks);
}

static void disk_discard(struct disk *disk, uint64_t number)
{
	zs_free(disk->pool, disk->blocks[number]);
	disk->blocks[number] = 0;
}

/* 0, or an error, and the block is as it was. */
static int disk_write(struct disk *disk, uint64_t number, const void *block)
{
	int most = (int)zs_huge_class_size(disk->pool) - 1;
	char packed[BLOCK];
	int len = LZ4_compress_default(block, packed, BLOCK, most);
	zs_handle handle;
	int err;

	/* From the huge class on an object takes a page anyway. */
	err = zs_malloc(disk->pool, len > 0 ? (size_t)len : BLOCK, &handle);
	if (err)
		return err;
	if (len > 0)
		zs_obj_write(disk->pool, handle, packed, (size_t)len);
	else
		zs_obj_write(disk->pool, handle, block, BLOCK);
	disk_discard(disk, number);
	disk->blocks[number] = handle;
	return 0;
}

/* 0, or -1 when the block's bytes are damaged. */
static int disk_read(struct disk *disk, uint64_t number, void *block)
{
	zs_handle handle = disk->blocks[number];
	int len = (int)zs_obj_bytes(disk->pool, handle), got = BLOCK;
	const void *bytes = zs_obj_read_begin(disk->pool, handle);

	if (!bytes)
		memset(block, 0, BLOCK);
	else if (len == BLOCK)
		memcpy(block, bytes, BLOCK);
	else
		got = LZ4_decompress_safe(bytes, block, len, BLOCK);
	zs_obj_read_end(disk->pool, handle);
	return got == BLOCK ? 0 : -1;
}

static void report(struct disk *disk, const char *when)
{
	struct zs_pool_stats stats = { .size = sizeof(stats) };

	zs_pool_stats(disk->pool, &stats);
	printf("%s: %llu blocks (%llu KiB) in %llu KiB, of which compaction "
	       "would give back %llu\n",
	       when, (unsigned long long)stats.objects,
	       (unsigned long long)stats.objects * BLOCK / 1024,
	       (unsigned long long)stats.pages_used * BLOCK / 1024,
	       (unsigned long long)stats.compactable_pages * BLOCK / 1024);
}

/* Reads a block of the file; what lies past its end is zero. */
static int read_file(int fd, uint64_t number, char *block)
{
	ssize_t n = pread(fd, block, BLOCK, (off_t)(number * BLOCK));

	if (n < 0)
		return -1;
	memset(block + n, 0, BLOCK - (size_t)n);
	return 0;
}

static int copy_to_disk(struct disk *disk, int fd)
{
	char block[BLOCK];

	for (uint64_t i = 0; i < disk->nr_blocks; i++)
		if (read_file(fd, i, block) || disk_write(disk, i, block)) {
			perror("copy");
			return -1;
		}
	return 0;
}

/* Of three blocks each one stays. */
static int is_discarded(uint64_t number)
{
	return number % 3 != 0;
}

static int compare(struct disk *disk, int fd)
{
	char expected[BLOCK], block[BLOCK];

	for (uint64_t i = 0; i < disk->nr_blocks; i++) {
		if (is_discarded(i))
			memset(expected, 0, BLOCK);
		else if (read_file(fd, i, expected))
			return -1;
		if (disk_read(disk, i, block) ||
		    memcmp(block, expected, BLOCK)) {
			fprintf(stderr, "block %llu is wrong\n",
				(unsigned long long)i);
			return -1;
		}
	}
	return 0;
}

static int run(struct disk *disk, int fd)
{
	if (copy_to_disk(disk, fd))
		return -1;
	report(disk, "copied");
	for (uint64_t i = 0; i < disk->nr_blocks; i++)
		if (is_discarded(i))
			disk_discard(disk, i);
	report(disk, "discarded");
	zs_compact(disk->pool);
	report(disk, "compacted");
	return compare(disk, fd);
}

int main(int argc, char **argv)
{
	struct disk disk;
	struct stat st;
	int fd, err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st)) {
		perror(argv[1]);
		return 1;
	}
	err = disk_open(&disk, ((uint64_t)st.st_size + BLOCK - 1) / BLOCK);
	if (!err)
		err = run(&disk, fd);
	disk_close(&disk);
	close(fd);
	return err ? 1 : 0;
}
