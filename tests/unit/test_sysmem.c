// SPDX-License-Identifier: MIT
/*
 * test_sysmem.c - the memory a process may use: the machine's, or its groups'
 *
 * Each case gets a folder that stands for "/", puts the files in it that a
 * system would show, and asks what a process there may use.
 *
 * One case can put a child into a true group. It does so only where it is told,
 * for the groups of a machine belong to who administers it: ZSWAP_TEST_CGROUP
 * names the folder of a group with the memory controller in which it may make
 * one more, such as /sys/fs/cgroup (v2) or /sys/fs/cgroup/memory (v1), as root.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sysmem.h"
#include "threads.h"
#include "watchdog.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define RAM (64 * GIB)

/* Mounts as they are usual. */
#define V2                                                                  \
	"30 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 " \
	"rw\n"
#define V1                                                          \
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:16 " \
	"- cgroup cgroup rw,memory\n"
#define OTHERS                                                             \
	"23 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"          \
	"28 1 8:1 / / rw shared:1 master:2 - ext4 /dev/sda1 rw,errors=x\n" \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"

/* ---- a folder that stands for "/" ---------------------------------------- */

struct tree {
	char root[128];
};

static int tree_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return -1;
	if (!tmp || strlen(tmp) > 64)
		tmp = "/tmp";
	snprintf(tree->root, sizeof(tree->root), "%s/zswap-sysmem-XXXXXX", tmp);
	*state = tree;
	return mkdtemp(tree->root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static int tree_teardown(void **state)
{
	struct tree *tree = *state;
	int err = nftw(tree->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(tree);
	return err;
}

/* The true path of a name in the tree, with the folders above it made. */
static const char *place(struct tree *tree, const char *name)
{
	static char path[PATH_MAX];
	char *slash;

	snprintf(path, sizeof(path), "%s%s", tree->root, name);
	slash = path + strlen(tree->root);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		assert_true(!mkdir(path, 0700) || errno == EEXIST);
		*slash = '/';
	}
	return path;
}

static FILE *create(struct tree *tree, const char *name)
{
	FILE *file = fopen(place(tree, name), "w");

	assert_non_null(file);
	return file;
}

static void put(struct tree *tree, const char *name, const char *text)
{
	FILE *file = create(tree, name);

	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void put_number(struct tree *tree, const char *name, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)n);
	put(tree, name, text);
}

static void put_proc(struct tree *tree, const char *cgroup, const char *mounts)
{
	put(tree, "/proc/self/cgroup", cgroup);
	put(tree, "/proc/self/mountinfo", mounts);
}

static unsigned nr_open(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static uint64_t limit_of(struct tree *tree)
{
	unsigned nr = nr_open();
	uint64_t limit;

	errno = EDOM;
	limit = sysmem_limit(tree->root, RAM);
	assert_int_equal(errno, EDOM);
	assert_int_equal(nr_open(), nr);
	return limit;
}

#define tree_case(name) \
	cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

/* ---- the base of percentages --------------------------------------------- */

static void D74_the_base_is_the_machine_where_nothing_is_told(void **state)
{
	struct tree *tree = *state;

	assert_int_equal(limit_of(tree), RAM);
	assert_int_equal(sysmem_limit("/nowhere/at/all", 12345), 12345);
}

static void D74_the_base_is_the_smaller_of_machine_and_group(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a\n", OTHERS V2);
	put_number(tree, "/sys/fs/cgroup/a/memory.max", RAM - 1);
	assert_int_equal(limit_of(tree), RAM - 1);
	put_number(tree, "/sys/fs/cgroup/a/memory.max", RAM + 1);
	assert_int_equal(limit_of(tree), RAM);
	/* What v1 says where there is none. */
	put_proc(tree, "4:memory:/a\n", OTHERS V1);
	put_number(tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
		   UINT64_C(9223372036854771712));
	assert_int_equal(limit_of(tree), RAM);
}

static void D74_this_process_may_use_no_more_than_the_machine_has(void **state)
{
	uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) *
		       (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	errno = EDOM;
	assert_true(sysmem_bytes() <= ram);
	assert_int_equal(sysmem_bytes(), sysmem_limit("", ram));
	assert_int_equal(errno, EDOM);
}

/* ---- version 2 ----------------------------------------------------------- */

static void D96_v2_the_top_of_a_namespace_limits(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/\n", OTHERS V2);
	assert_int_equal(limit_of(tree), RAM);
	put_number(tree, "/sys/fs/cgroup/memory.max", 300 * MIB);
	assert_int_equal(limit_of(tree), 300 * MIB);
}

static void D96_v2_the_tightest_of_all_groups_above_limits(void **state)
{
	static const char *const levels[] = {
		"/sys/fs/cgroup/memory.max",
		"/sys/fs/cgroup/a/memory.max",
		"/sys/fs/cgroup/a/b/memory.max",
		"/sys/fs/cgroup/a/b/c/memory.max",
	};
	struct tree *tree = *state;

	put_proc(tree, "0::/a/b/c\n", OTHERS V2);
	for (size_t tight = 0; tight < ARRAY_SIZE(levels); tight++) {
		for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
			put_number(tree, levels[i], (2 + i) * GIB);
		put_number(tree, levels[tight], GIB);
		assert_int_equal(limit_of(tree), GIB);
	}
}

static void D96_v2_groups_beside_and_below_do_not_count(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a/b\n", OTHERS V2);
	put_number(tree, "/sys/fs/cgroup/a/b/c/memory.max", MIB);
	put_number(tree, "/sys/fs/cgroup/a/bb/memory.max", MIB);
	put_number(tree, "/sys/fs/cgroup/b/memory.max", MIB);
	put_number(tree, "/sys/fs/memory.max", MIB);
	put_number(tree, "/memory.max", MIB);
	assert_int_equal(limit_of(tree), RAM);
}

static void D96_v2_high_is_no_limit(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a\n", OTHERS V2);
	put_number(tree, "/sys/fs/cgroup/a/memory.high", MIB);
	put(tree, "/sys/fs/cgroup/a/memory.max", "max\n");
	assert_int_equal(limit_of(tree), RAM);
}

/* ---- version 1, and both ------------------------------------------------- */

static void D96_v1_the_group_of_the_memory_controller_limits(void **state)
{
	static const char *const lists[] = {
		"5:cpu:/other\n4:memory:/a/b\n1:name=memory:/other\n",
		"9:name=systemd:/other\n4:hugetlb,memory,pids:/a/b\n0::/other",
		"4:memory,hugetlb:/a/b\n3:memoryless:/other\n2:xmemory:/other",
	};
	struct tree *tree = *state;

	put_number(tree, "/sys/fs/cgroup/memory/other/memory.limit_in_bytes",
		   MIB);
	put_number(tree, "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
		   2 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		put_proc(tree, lists[i], OTHERS V1);
		assert_int_equal(limit_of(tree), 2 * MIB);
	}
}

static void D96_v1_a_parent_limits(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "4:memory:/a/b\n", OTHERS V1);
	put_number(tree, "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
		   3 * MIB);
	put_number(tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
		   2 * MIB);
	assert_int_equal(limit_of(tree), 2 * MIB);
}

static void D96_v1_mounts_of_other_controllers_do_not_count(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "4:memory:/a\n",
		 "31 1 0:31 / /c/memory rw,memory - cgroup memory rw,cpu\n"
		 "32 1 0:32 / /c/x rw - cgroup cgroup rw,memory2,xmemory\n"
		 "33 1 0:33 / /c/t rw - tmpfs cgroup rw,memory\n"
		 "34 1 0:34 / /c/v2 rw - cgroup2 cgroup rw,memory\n");
	put_number(tree, "/c/memory/a/memory.limit_in_bytes", MIB);
	put_number(tree, "/c/x/a/memory.limit_in_bytes", MIB);
	put_number(tree, "/c/t/a/memory.limit_in_bytes", MIB);
	put_number(tree, "/c/v2/a/memory.limit_in_bytes", MIB);
	assert_int_equal(limit_of(tree), RAM);
}

static void D96_of_both_versions_the_tighter_one_limits(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "4:memory:/a\n0::/b\n",
		 OTHERS V1 "41 31 0:38 / /sys/fs/cgroup/unified rw "
			   "- cgroup2 cgroup2 rw\n");
	put_number(tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
		   2 * MIB);
	assert_int_equal(limit_of(tree), 2 * MIB);
	put_number(tree, "/sys/fs/cgroup/unified/b/memory.max", 3 * MIB);
	assert_int_equal(limit_of(tree), 2 * MIB);
	put_number(tree, "/sys/fs/cgroup/unified/b/memory.max", MIB);
	assert_int_equal(limit_of(tree), MIB);
	/* Neither has the other's files. */
	put_number(tree, "/sys/fs/cgroup/unified/b/memory.limit_in_bytes", 1);
	put_number(tree, "/sys/fs/cgroup/memory/a/memory.max", 1);
	assert_int_equal(limit_of(tree), MIB);
}

/* ---- mounts -------------------------------------------------------------- */

static void D96_a_mount_may_show_a_part_of_the_hierarchy(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "4:memory:/docker/abc/inner\n",
		 OTHERS "35 31 0:32 /docker/abc /m ro - cgroup x ro,memory\n");
	put_number(tree, "/m/memory.limit_in_bytes", 5 * MIB);
	assert_int_equal(limit_of(tree), 5 * MIB);
	put_number(tree, "/m/inner/memory.limit_in_bytes", 4 * MIB);
	put_number(tree, "/m/docker/abc/inner/memory.limit_in_bytes", MIB);
	assert_int_equal(limit_of(tree), 4 * MIB);
	put(tree, "/proc/self/cgroup", "4:memory:/docker/abc\n");
	assert_int_equal(limit_of(tree), 5 * MIB);
}

static void D96_a_group_outside_a_mount_is_seen_at_its_point(void **state)
{
	static const char *const paths[] = {
		"0::/docker/xyz\n", "0::/docker/abcd\n",   "0::/docker\n",
		"0::/\n",           "0::/docker/abc/..\n", "0::/../docker/abc\n"
	};
	struct tree *tree = *state;

	put(tree, "/proc/self/mountinfo",
	    OTHERS "30 23 0:28 /docker/abc /m rw - cgroup2 cgroup2 rw\n");
	put_number(tree, "/m/memory.max", 5 * MIB);
	put_number(tree, "/memory.max", MIB);
	put_number(tree, "/m/d/memory.max", MIB);
	put_number(tree, "/m/xyz/memory.max", MIB);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		put(tree, "/proc/self/cgroup", paths[i]);
		assert_int_equal(limit_of(tree), 5 * MIB);
	}
}

static void D96_a_path_never_climbs_out_of_a_mount(void **state)
{
	static const char *const outside[] = { "0::/..\n", "0::/../s\n",
					       "0::/../../s/t\n",
					       "0::/a/../../s\n" };
	struct tree *tree = *state;

	put(tree, "/proc/self/mountinfo",
	    OTHERS "30 23 0:28 / /m/n rw - cgroup2 cgroup2 rw\n");
	put_number(tree, "/m/n/memory.max", 5 * MIB);
	put_number(tree, "/m/n/a/memory.max", 3 * MIB);
	put_number(tree, "/m/memory.max", MIB);
	put_number(tree, "/m/s/memory.max", MIB);
	put_number(tree, "/s/t/memory.max", MIB);
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		put(tree, "/proc/self/cgroup", outside[i]);
		assert_int_equal(limit_of(tree), 5 * MIB);
	}
	/* Names that only look like it, and a root that climbs as well. */
	put(tree, "/proc/self/cgroup", "0::/a/..b/...\n");
	put_number(tree, "/m/n/a/..b/.../memory.max", 2 * MIB);
	assert_int_equal(limit_of(tree), 2 * MIB);
	put_proc(tree, "0::/../s\n",
		 OTHERS "30 23 0:28 /.. /m rw - cgroup2 cgroup2 rw\n");
	put(tree, "/m/memory.max", "max\n");
	put_number(tree, "/m/s/memory.max", 7 * MIB);
	assert_int_equal(limit_of(tree), 7 * MIB);
}

static void D96_of_several_mounts_all_count(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a/b\n",
		 "30 23 0:28 /a/b /one rw - cgroup2 cgroup2 rw\n" OTHERS
		 "31 23 0:28 /a /two rw - cgroup2 cgroup2 rw\n" V2);
	put_number(tree, "/one/memory.max", 8 * MIB);
	assert_int_equal(limit_of(tree), 8 * MIB);
	put_number(tree, "/sys/fs/cgroup/memory.max", 7 * MIB);
	assert_int_equal(limit_of(tree), 7 * MIB);
	put_number(tree, "/two/memory.max", 6 * MIB);
	assert_int_equal(limit_of(tree), 6 * MIB);
}

/* Groups' names are escaped in the list of mounts, and nowhere else. */
static void D96_escaped_mounts_are_understood(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a b\\040c/d:e\n",
		 "30 23 0:28 /a\\040b\\134040c /m\\011n\\1349\\12\\400 rw "
		 "- cgroup2 x rw\n");
	put_number(tree, "/m\tn\\9\\12\\400/d:e/memory.max", 5 * MIB);
	assert_int_equal(limit_of(tree), 5 * MIB);
}

static void D96_optional_fields_and_empty_sources_are_understood(void **state)
{
	static const char *const mounts[] = {
		"30 23 0:28 / /m rw - cgroup2 cgroup2 rw\n",
		"30 23 0:28 / /m rw shared:1 master:2 - cgroup2 x rw\n",
		"30 23 0:28 / /m rw,a=-b -- -x - cgroup2  rw,nsdelegate\n",
		"30 23 0:28 / /m rw - cgroup2 - rw more words - cgroup x y\n",
	};
	struct tree *tree = *state;

	put(tree, "/proc/self/cgroup", "0::/a\n");
	put_number(tree, "/m/a/memory.max", 5 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		put(tree, "/proc/self/mountinfo", mounts[i]);
		assert_int_equal(limit_of(tree), 5 * MIB);
	}
}

/* ---- files that are not as they should be -------------------------------- */

static void limits_that_are_no_numbers_are_none(void **state)
{
	static const char *const texts[] = {
		"max\n",
		"max",
		"",
		"\n",
		"\n5\n",
		"-1\n",
		"+1\n",
		" 5\n",
		"5 \n",
		"5\n\n",
		"5\n6\n",
		"0x10\n",
		"12k\n",
		"5.0\n",
		"garbage\n",
		"18446744073709551615\n",
		"18446744073709551616\n",
		"18446744073709551621\n",
		"99999999999999999999\n",
		"184467440737095516160000000000\n",
		"100000000000000000000000000000000000000000000000\n",
		/* Where a buffer might end, what stands before is small. */
		"0000000000000000000000000000000000000000000000000000000000001",
	};
	struct tree *tree = *state;

	put_proc(tree, "0::/a\n", V2);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put(tree, "/sys/fs/cgroup/a/memory.max", texts[i]);
		assert_int_equal(limit_of(tree), RAM);
	}
}

static void numbers_are_taken_to_the_byte(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a\n", V2);
	put(tree, "/sys/fs/cgroup/a/memory.max", "12345678901");
	assert_int_equal(limit_of(tree), UINT64_C(12345678901));
	put(tree, "/sys/fs/cgroup/a/memory.max", "007\n");
	assert_int_equal(limit_of(tree), 7);
	put(tree, "/sys/fs/cgroup/a/memory.max", "18446744073709551609\n");
	assert_int_equal(sysmem_limit(tree->root, UINT64_MAX),
			 UINT64_C(18446744073709551609));
}

static void a_limit_of_0_is_a_limit_of_0(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a\n", V2);
	put(tree, "/sys/fs/cgroup/a/memory.max", "0\n");
	assert_int_equal(limit_of(tree), 0);
}

static void what_cannot_be_read_hides_no_other_limit(void **state)
{
	struct tree *tree = *state;

	put_proc(tree, "0::/a/gone/b\n", V2);
	put_number(tree, "/sys/fs/cgroup/a/memory.max/is/a/folder", MIB);
	assert_int_equal(limit_of(tree), RAM);
	put_number(tree, "/sys/fs/cgroup/memory.max", 5 * MIB);
	assert_int_equal(limit_of(tree), 5 * MIB);
}

static void without_mounts_there_are_no_groups(void **state)
{
	struct tree *tree = *state;

	put(tree, "/proc/self/cgroup", "4:memory:/a\n0::/a\n");
	put_number(tree, "/sys/fs/cgroup/a/memory.max", MIB);
	put_number(tree, "/a/memory.max", MIB);
	assert_int_equal(limit_of(tree), RAM);
	put(tree, "/proc/self/mountinfo", "");
	assert_int_equal(limit_of(tree), RAM);
	put(tree, "/proc/self/mountinfo", OTHERS);
	assert_int_equal(limit_of(tree), RAM);
}

static void a_group_that_is_not_told_is_at_the_mount_point(void **state)
{
	static const char *const lists[] = { "",     "\n",  "0\n",
					     "0:\n", ":\n", "0::/cut/off" };
	struct tree *tree = *state;

	put(tree, "/proc/self/mountinfo", V2);
	put_number(tree, "/sys/fs/cgroup/memory.max", 5 * MIB);
	put_number(tree, "/sys/fs/cgroup/cut/memory.max", MIB);
	assert_int_equal(limit_of(tree), 5 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		put(tree, "/proc/self/cgroup", lists[i]);
		assert_int_equal(limit_of(tree), 5 * MIB);
	}
}

static void mounts_that_are_not_whole_are_left_out(void **state)
{
	static const char *const mounts[] = {
		"\n",
		" \n",
		"    -    \n",
		"30\n",
		"30 23 0:28 /\n",
		"30 23 0:28 / /m\n",
		"30 23 0:28 / /m rw\n",
		"30 23 0:28 / /m rw shared:1\n",
		"30 23 0:28 / /m rw -\n",
		"30 23 0:28 / /m rw - cgroup2\n",
		"30 23 0:28 / /m rw - cgroup2 cgroup2\n",
		"30 23 0:28 / /m rw - cgroup2 cgroup2 rw",
	};
	struct tree *tree = *state;

	put(tree, "/proc/self/cgroup", "0::/\n");
	put_number(tree, "/m/memory.max", MIB);
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		put(tree, "/proc/self/mountinfo", mounts[i]);
		assert_int_equal(limit_of(tree), RAM);
	}
}

/* ---- long ones ----------------------------------------------------------- */

static void put_junk(FILE *file, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		putc(i % 10 ? 'x' : ' ', file);
}

/* A list of mounts: one too long line, whose end looks like one, and V2. */
static void put_long_line(struct tree *tree, size_t bytes)
{
	FILE *file = create(tree, "/proc/self/mountinfo");

	put_junk(file, bytes);
	fputs("30 23 0:28 / /evil rw - cgroup2 cgroup2 rw\n", file);
	fputs(V2, file);
	assert_int_equal(fclose(file), 0);
}

static void lines_of_any_length_are_told_from_the_next(void **state)
{
	struct tree *tree = *state;

	put(tree, "/proc/self/cgroup", "0::/\n");
	put_number(tree, "/evil/memory.max", MIB);
	put_number(tree, "/sys/fs/cgroup/memory.max", 5 * MIB);
	for (size_t bytes = 8100; bytes < 8300; bytes++) {
		put_long_line(tree, bytes);
		assert_int_equal(limit_of(tree), 5 * MIB);
		put_long_line(tree, 8192 + bytes);
		assert_int_equal(limit_of(tree), 5 * MIB);
	}
	put_long_line(tree, MIB);
	assert_int_equal(limit_of(tree), 5 * MIB);
}

static void a_mount_with_long_options_is_read(void **state)
{
	struct tree *tree = *state;
	FILE *file = create(tree, "/proc/self/mountinfo");

	put(tree, "/proc/self/cgroup", "4:memory:/\n");
	put_number(tree, "/m/memory.limit_in_bytes", 5 * MIB);
	fputs("35 31 0:32 / /m rw - cgroup cgroup rw,", file);
	for (int i = 0; i < 8000; i++)
		putc('o', file);
	fputs(",memory\n", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(limit_of(tree), 5 * MIB);
}

static void a_long_list_of_mounts_is_read_to_its_end(void **state)
{
	struct tree *tree = *state;
	FILE *file;

	put(tree, "/proc/self/cgroup", "0::/\n");
	put_number(tree, "/sys/fs/cgroup/memory.max", 5 * MIB);
	for (unsigned shift = 0; shift < 60; shift++) {
		file = create(tree, "/proc/self/mountinfo");
		fprintf(file, "%.*s\n", (int)shift,
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			"xxxxxx");
		for (unsigned i = 0; i < 1000; i++)
			fprintf(file, "%u 1 8:%u / /m/%u rw - ext4 d rw\n",
				100 + i, i, i);
		fputs(V2, file);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(limit_of(tree), 5 * MIB);
	}
}

/* The group "/a/x/x...", in all of this many bytes. */
static void put_long_group(struct tree *tree, size_t bytes)
{
	FILE *file = create(tree, "/proc/self/cgroup");

	fputs("0::/a", file);
	for (size_t i = 2; i < bytes; i++)
		putc(i % 2 ? 'x' : '/', file);
	putc('\n', file);
	assert_int_equal(fclose(file), 0);
}

/* The group is deeper than a path can be; what is above it limits anyway. */
static void a_group_of_a_too_long_path_leaves_its_parents(void **state)
{
	struct tree *tree = *state;

	put(tree, "/proc/self/mountinfo", V2);
	put_number(tree, "/sys/fs/cgroup/memory.max", 6 * MIB);
	put_number(tree, "/sys/fs/cgroup/a/memory.max", 5 * MIB);
	put_long_group(tree, 4000);
	assert_int_equal(limit_of(tree), 5 * MIB);
	put_long_group(tree, PATH_MAX - 1);
	assert_int_equal(limit_of(tree), 5 * MIB);
	/* Longer than any path: as if it were not told. */
	put_long_group(tree, PATH_MAX);
	assert_int_equal(limit_of(tree), 6 * MIB);
	put_long_group(tree, 3 * PATH_MAX);
	assert_int_equal(limit_of(tree), 6 * MIB);
}

static void roots_that_are_too_long_hold_nothing(void **state)
{
	struct tree *tree = *state;
	char root[2 * PATH_MAX];
	size_t len = strlen(tree->root);

	put_proc(tree, "0::/\n", V2);
	put_number(tree, "/sys/fs/cgroup/memory.max", 5 * MIB);
	memset(root, '/', sizeof(root));
	memcpy(root, tree->root, len);
	root[PATH_MAX - 100] = '\0';
	assert_int_equal(sysmem_limit(root, RAM), 5 * MIB);
	for (size_t i = PATH_MAX - 99; i < sizeof(root); i++) {
		root[i - 1] = '/';
		root[i] = '\0';
		assert_true(sysmem_limit(root, RAM) <= RAM);
	}
	assert_int_equal(sysmem_limit(root, RAM), RAM);
}

/* ---- what it does to its caller ------------------------------------------ */

static void without_a_free_descriptor_it_is_the_machine(void **state)
{
	struct tree *tree = *state;
	struct rlimit was, none;
	uint64_t limit;

	put_proc(tree, "0::/\n", V2);
	put_number(tree, "/sys/fs/cgroup/memory.max", 5 * MIB);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	errno = EDOM;
	limit = sysmem_limit(tree->root, RAM);
	assert_int_equal(errno, EDOM);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(limit, RAM);
	assert_int_equal(limit_of(tree), 5 * MIB);
}

static atomic_uint nr_signals;

static void note_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&nr_signals, 1);
}

/* Writes a number after a while in which both open() and read() wait. */
static _Noreturn void write_late(const char *path)
{
	int fd;

	alarm(30);
	usleep(50000);
	fd = open(path, O_WRONLY);
	usleep(50000);
	_exit(fd >= 0 && write(fd, "5242880\n", 8) == 8 ? 0 : 1);
}

static void signals_make_no_limit_be_missed(void **state)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = note_signal };
	struct sigaction ignored = { .sa_handler = SIG_IGN };
	struct tree *tree = *state;
	const char *pipe = place(tree, "/sys/fs/cgroup/memory.max");
	uint64_t limit;
	int status;
	pid_t pid;

	assert_int_equal(mkfifo(pipe, 0600), 0);
	pid = fork();
	if (!pid)
		write_late(pipe);
	assert_true(pid > 0);
	put_proc(tree, "0::/\n", V2);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	limit = sysmem_limit(tree->root, RAM);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	/* The last one may still be on its way. */
	assert_int_equal(sigaction(SIGALRM, &ignored, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(atomic_load(&nr_signals) > 1);
	assert_int_equal(limit, 5 * MIB);
}

struct cancelled {
	const char *root;
	uint64_t limit;
};

static void *ask_when_cancelled(void *arg)
{
	struct cancelled *c = arg;

	pthread_cancel(pthread_self());
	c->limit = sysmem_limit(c->root, RAM);
	pthread_testcancel();
	return NULL;
}

static void a_cancelled_thread_comes_back_first(void **state)
{
	struct tree *tree = *state;
	struct cancelled c = { tree->root, 0 };
	pthread_t thread;
	void *end;

	put_proc(tree, "0::/\n", V2);
	put_number(tree, "/sys/fs/cgroup/memory.max", 5 * MIB);
	assert_int_equal(pthread_create(&thread, NULL, ask_when_cancelled, &c),
			 0);
	assert_int_equal(pthread_join(thread, &end), 0);
	assert_int_equal(c.limit, 5 * MIB);
	assert_ptr_equal(end, PTHREAD_CANCELED);
}

/* ---- a true group -------------------------------------------------------- */

static bool write_to(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	bool good;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	good = fd >= 0 &&
	       write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return good;
}

/* In the child; returns 0, or the line that failed. */
static int ask_inside(const char *group)
{
	uint64_t before = sysmem_bytes();

	if (!write_to(group, "memory.max", "268435456") &&
	    !write_to(group, "memory.limit_in_bytes", "268435456"))
		return __LINE__;
	if (sysmem_bytes() != before)
		return __LINE__;
	if (!write_to(group, "cgroup.procs", "0"))
		return __LINE__;
	return sysmem_bytes() == 256 * MIB ? 0 : __LINE__;
}

static int ask_in_child(const char *group)
{
	int ends[2], line = -1;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(30);
		line = ask_inside(group);
		_exit(write(ends[1], &line, sizeof(line)) < 0);
	}
	close(ends[1]);
	if (read(ends[0], &line, sizeof(line)) != sizeof(line))
		line = -1;
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return line;
}

static void ask_in_group_below(const char *folder)
{
	char group[PATH_MAX];
	int line;

	snprintf(group, sizeof(group), "%s/zswap-sysmem-%d", folder, getpid());
	assert_int_equal(mkdir(group, 0700), 0);
	line = ask_in_child(group);
	assert_int_equal(rmdir(group), 0);
	if (line)
		print_error("child failed at line %d\n", line);
	assert_int_equal(line, 0);
}

static void D96_a_container_of_256_MiB_on_a_large_machine(void **state)
{
	struct tree *tree = *state;
	const char *folder = getenv("ZSWAP_TEST_CGROUP");

	put_proc(tree, "0::/\n",
		 "612 611 0:60 / / rw - overlay overlay rw,lowerdir=/a:/b\n"
		 "617 614 0:28 /../../../docker-1.scope /sys/fs/cgroup ro "
		 "- cgroup2 cgroup rw,nsdelegate\n");
	put(tree, "/sys/fs/cgroup/memory.max", "268435456\n");
	assert_int_equal(limit_of(tree), 256 * MIB);
	if (folder)
		ask_in_group_below(folder);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		tree_case(D74_the_base_is_the_machine_where_nothing_is_told),
		tree_case(D74_the_base_is_the_smaller_of_machine_and_group),
		cmocka_unit_test(
			D74_this_process_may_use_no_more_than_the_machine_has),
		tree_case(D96_v2_the_top_of_a_namespace_limits),
		tree_case(D96_v2_the_tightest_of_all_groups_above_limits),
		tree_case(D96_v2_groups_beside_and_below_do_not_count),
		tree_case(D96_v2_high_is_no_limit),
		tree_case(D96_v1_the_group_of_the_memory_controller_limits),
		tree_case(D96_v1_a_parent_limits),
		tree_case(D96_v1_mounts_of_other_controllers_do_not_count),
		tree_case(D96_of_both_versions_the_tighter_one_limits),
		tree_case(D96_a_mount_may_show_a_part_of_the_hierarchy),
		tree_case(D96_a_group_outside_a_mount_is_seen_at_its_point),
		tree_case(D96_a_path_never_climbs_out_of_a_mount),
		tree_case(D96_of_several_mounts_all_count),
		tree_case(D96_escaped_mounts_are_understood),
		tree_case(D96_optional_fields_and_empty_sources_are_understood),
		tree_case(limits_that_are_no_numbers_are_none),
		tree_case(numbers_are_taken_to_the_byte),
		tree_case(a_limit_of_0_is_a_limit_of_0),
		tree_case(what_cannot_be_read_hides_no_other_limit),
		tree_case(without_mounts_there_are_no_groups),
		tree_case(a_group_that_is_not_told_is_at_the_mount_point),
		tree_case(mounts_that_are_not_whole_are_left_out),
		tree_case(lines_of_any_length_are_told_from_the_next),
		tree_case(a_mount_with_long_options_is_read),
		tree_case(a_long_list_of_mounts_is_read_to_its_end),
		tree_case(a_group_of_a_too_long_path_leaves_its_parents),
		tree_case(roots_that_are_too_long_hold_nothing),
		tree_case(without_a_free_descriptor_it_is_the_machine),
		tree_case(signals_make_no_limit_be_missed),
		tree_case(a_cancelled_thread_comes_back_first),
		tree_case(D96_a_container_of_256_MiB_on_a_large_machine),
	};

	watchdog_start("test_sysmem", 60);
	return cmocka_run_group_tests(cases, NULL, unit_group_end);
}
