// SPDX-License-Identifier: MIT
/*
 * zram.c - a compressed block device of the kernel's, added for this run
 *
 *	bench             keeper
 *	zram_add()  --->  adds the device      a session of its own, deaf to
 *	number     <----                       the signals that end programs
 *	...               reads the leash
 *	ends, anyhow      end of file: removes the device
 *
 * The leash is a pipe that nobody writes to. The system closes it when the
 * bench is gone, whatever ended it. Removing fails as long as somebody has the
 * device open: the bench for a moment, or a daemon that looks at new devices.
 */
#include "zram.h"

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOT_ADD "/sys/class/zram-control/hot_add"
#define HOT_REMOVE "/sys/class/zram-control/hot_remove"
#define WRITE_BYTES 65536u /* by one call */
#define BUSY_ROUNDS 6000   /* of 10 ms */

struct zram {
	int number; /* negative: not there */
	int fd;     /* of the device; negative: not open */
	int leash;
	pid_t keeper;
};

/* One is enough; the exit handler has to find it. */
static struct zram device = { .number = -1, .fd = -1 };

/* ---- small files ------------------------------------------------------- */

/* Up to the first newline; a negative errno. */
static int get(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;
	int err;

	if (fd < 0)
		return -errno;
	len = read(fd, buf, size - 1);
	err = len < 0 ? -errno : 0;
	close(fd);
	buf[len > 0 ? len : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return err;
}

static int put_once(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Waits while somebody has the device open. */
static int put(const char *path, const char *text)
{
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	int err = put_once(path, text);

	for (int i = 0; i < BUSY_ROUNDS && err == -EBUSY; i++) {
		nanosleep(&pause, NULL);
		err = put_once(path, text);
	}
	return err;
}

static char *attribute(const struct zram *z, const char *name)
{
	return bench_format("/sys/block/zram%d/%s", z->number, name);
}

static void get_attribute(const struct zram *z, const char *name, char *buf,
			  size_t size)
{
	char *path = attribute(z, name);
	int err = get(path, buf, size);

	if (err)
		bad_input("%s: %s", path, strerror(-err));
	free(path);
}

static void set_attribute(const struct zram *z, const char *name,
			  const char *text)
{
	char *path = attribute(z, name);
	int err = put(path, text);

	if (err)
		bad_input("%s: '%s': %s", path, text, strerror(-err));
	free(path);
}

/* ---- the keeper -------------------------------------------------------- */

/* Reading hot_add is what adds a device; it gives its number. */
static int add_device(void)
{
	char text[32];
	int err = get(HOT_ADD, text, sizeof(text));

	return err ? err : atoi(text);
}

static int remove_device(int number)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", number);
	return put(HOT_REMOVE, text);
}

/* In a session of its own: no terminal's signal comes here either. */
_Noreturn static void be_keeper(int leash, int answer)
{
	static const int deaf_to[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGPIPE };
	char nothing;
	int number;

	setsid();
	for (size_t i = 0; i < sizeof(deaf_to) / sizeof(*deaf_to); i++)
		signal(deaf_to[i], SIG_IGN);
	number = add_device();
	if (write(answer, &number, sizeof(number)) < 0 && number < 0)
		_exit(1);
	close(answer);
	if (number < 0)
		_exit(1);
	while (read(leash, &nothing, 1) < 0 && errno == EINTR)
		;
	_exit(remove_device(number) ? 1 : 0);
}

/* ---- the device -------------------------------------------------------- */

/* Past the page cache, so that each write reaches the device as it is. */
static void open_device(struct zram *z)
{
	char *path = bench_format("/dev/zram%d", z->number);

	z->fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (z->fd < 0)
		skipped("no zram device: %s: %s", path, strerror(errno));
	free(path);
}

/* An open device can be neither reset nor removed. */
static void close_device(struct zram *z)
{
	if (z->fd >= 0)
		close(z->fd);
	z->fd = -1;
}

/* ---- adding and removing ----------------------------------------------- */

const char *zram_why_not(void)
{
	if (sysconf(_SC_PAGESIZE) != PAGE_BYTES)
		return "this kernel's pages are not of 4096 bytes";
	/* First what is needed to remove a device. */
	if (!access(HOT_REMOVE, W_OK) && !access(HOT_ADD, R_OK))
		return NULL;
	if (errno == ENOENT)
		return "this kernel has no zram (is its module loaded?)";
	if (errno == EROFS)
		return "/sys is read-only, as in a container";
	return "only root may add a zram device";
}

static void remove_at_exit(void)
{
	zram_remove(&device);
}

static void start_keeper(struct zram *z, int leash[2], int answer[2])
{
	if (pipe2(leash, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
		bad_input("pipe: %s", strerror(errno));
	fflush(stdout);
	z->keeper = fork();
	if (z->keeper < 0)
		bad_input("fork: %s", strerror(errno));
	if (!z->keeper) {
		close(leash[1]);
		close(answer[0]);
		be_keeper(leash[0], answer[1]);
	}
	close(leash[0]);
	close(answer[1]);
	z->leash = leash[1];
}

struct zram *zram_add(void)
{
	const char *why = zram_why_not();
	int leash[2], answer[2], number = -EIO;

	if (why)
		skipped("no zram device: %s", why);
	start_keeper(&device, leash, answer);
	while (read(answer[0], &number, sizeof(number)) < 0 && errno == EINTR)
		;
	close(answer[0]);
	if (number < 0)
		skipped("no zram device: %s", strerror(-number));
	device.number = number;
	atexit(remove_at_exit);
	return &device;
}

/* Also in the middle of a measurement: the program may be ending. */
void zram_remove(struct zram *z)
{
	int status = 0;

	if (z->number < 0)
		return;
	close_device(z);
	close(z->leash);
	while (waitpid(z->keeper, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		fprintf(stderr, "zswap-bench: zram%d could not be removed\n",
			z->number);
	z->number = -1;
}

/* ---- codecs ------------------------------------------------------------ */

/* At these levels the kernel's code and the library's do the same. */
static const struct {
	const char *codec, *algorithm;
	int level;
} algorithms[] = {
	{ "lz4", "lz4", 0 },
	{ "zstd", "zstd", 3 },
	{ "lzo", "lzo-rle", 0 },
};

static bool has_algorithm(const struct zram *z, const char *name)
{
	char known[512], *rest = known, *word;

	get_attribute(z, "comp_algorithm", known, sizeof(known));
	while ((word = strtok_r(rest, " []", &rest)))
		if (!strcmp(word, name))
			return true;
	return false;
}

const char *zram_algorithm(const struct zram *z, const struct codec *codec)
{
	for (size_t i = 0; i < sizeof(algorithms) / sizeof(*algorithms); i++)
		if (!strcmp(algorithms[i].codec, codec->ops->name) &&
		    algorithms[i].level == codec->level &&
		    has_algorithm(z, algorithms[i].algorithm))
			return algorithms[i].algorithm;
	return NULL;
}

/* ---- measuring --------------------------------------------------------- */

static void write_pages(int fd, const unsigned char *pages, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		size_t left = bytes - at;
		ssize_t got = pwrite(fd, pages + at,
				     left < WRITE_BYTES ? left : WRITE_BYTES,
				     (off_t)at);

		if (got <= 0 && errno != EINTR)
			bad_input("zram: a write failed: %s", strerror(errno));
		at += got > 0 ? (size_t)got : 0;
	}
}

static void check_pages(int fd, const unsigned char *pages, size_t bytes)
{
	unsigned char *page = bench_map(PAGE_BYTES);

	for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
		if (pread(fd, page, PAGE_BYTES, (off_t)at) != PAGE_BYTES)
			bad_input("zram: a read failed: %s", strerror(errno));
		if (memcmp(page, pages + at, PAGE_BYTES))
			broken("zram: MISMATCH: page %zu came back changed",
			       at / PAGE_BYTES);
	}
	bench_unmap(page, PAGE_BYTES);
}

static struct zram_stat read_stat(const struct zram *z)
{
	unsigned long long orig, compr, used;
	struct zram_stat stat;
	char text[512];

	get_attribute(z, "mm_stat", text, sizeof(text));
	if (sscanf(text, "%llu %llu %llu", &orig, &compr, &used) != 3)
		bad_input("zram: mm_stat is not understood: '%s'", text);
	stat = (struct zram_stat){ orig, compr, used };
	return stat;
}

struct zram_stat zram_measure(struct zram *z, const struct codec *codec,
			      const unsigned char *pages, size_t nr_pages)
{
	size_t bytes = nr_pages * PAGE_BYTES;
	char size[32];
	struct zram_stat stat;

	snprintf(size, sizeof(size), "%zu", bytes);
	set_attribute(z, "reset", "1");
	set_attribute(z, "comp_algorithm", zram_algorithm(z, codec));
	set_attribute(z, "disksize", size);
	open_device(z);
	write_pages(z->fd, pages, bytes);
	stat = read_stat(z);
	check_pages(z->fd, pages, bytes);
	close_device(z);
	return stat;
}
