// SPDX-License-Identifier: MIT
/*
 * test_fork.c - a cache belongs to the process that created it
 *
 * What a child finds it tells by its exit status: 0, or the line that failed.
 */
#include "fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sanitizer.h"

#define CHILD_EXPECT(condition)          \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

/* Exit statuses have eight bits; line numbers go through a pipe. */
static void assert_good_child(struct fixture *f, int (*child)(struct fixture *))
{
	int pipe_ends[2], line = -1, status;
	pid_t pid;

	assert_int_equal(pipe(pipe_ends), 0);
	fflush(stdout);
	fflush(stderr);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(30); /* a child that hangs dies of SIGALRM */
		line = child(f);
		if (write(pipe_ends[1], &line, sizeof(line)) < 0)
			_exit(2);
		_exit(0);
	}
	close(pipe_ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(read(pipe_ends[0], &line, sizeof(line)), sizeof(line));
	close(pipe_ends[0]);
	if (line)
		print_error("child failed at line %d\n", line);
	assert_int_equal(line, 0);
}

static int call_everything(struct fixture *f)
{
	struct zswap_folio folio = folio_of_data(at(505), 1, f->page);
	struct zswap_stats stats, untouched;
	zswap_slot_t slot = at(505);
	char text[64] = "x";
	int result = 777;

	folio.results = &result;
	CHILD_EXPECT(zswap_store(f->z, at(505), f->page) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_store_folio(f->z, &folio) == -EOWNERDEAD);
	memset(f->out, 0x3c, f->page_size);
	CHILD_EXPECT(zswap_load(f->z, at(505), f->out) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_peek(f->z, at(505), f->out) == -EOWNERDEAD);
	folio.data = f->out;
	CHILD_EXPECT(zswap_load_folio(f->z, &folio, 0) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_KEEP) ==
		     -EOWNERDEAD);
	CHILD_EXPECT(zswap_load_folio(f->z, &folio, ZSWAP_LOAD_PARTIAL) ==
		     -EOWNERDEAD);
	/* "-EOWNERDEAD always leaves everything as it was." */
	CHILD_EXPECT(result == 777);
	CHILD_EXPECT(*(char *)f->out == 0x3c);
	zswap_invalidate(f->z, at(505), 10);
	CHILD_EXPECT(!zswap_is_present(f->z, at(505), 10));
	CHILD_EXPECT(zswap_query(f->z, at(505)) == -EOWNERDEAD);
	CHILD_EXPECT(!zswap_next_present(f->z, &slot));
	CHILD_EXPECT(slot.val == at(505).val);
	CHILD_EXPECT(zswap_swapon(f->z, 3, 10) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_swapoff(f->z, 0) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_set_enabled(f->z, false) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_set_max_pool_bytes(f->z, 0) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_set_max_pool_percent(f->z, 1) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_set_accept_threshold_percent(f->z, 1) ==
		     -EOWNERDEAD);
	CHILD_EXPECT(zswap_set_compressor(f->z, "zstd") == -EOWNERDEAD);
	CHILD_EXPECT(zswap_get_compressor(f->z, text, sizeof(text)) ==
		     -EOWNERDEAD);
	/* This is looked for before what is wrong with the arguments. */
	CHILD_EXPECT(zswap_set_compressor(f->z, NULL) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_get_compressor(f->z, NULL, 8) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_set_max_pool_percent(f->z, 101) == -EOWNERDEAD);
	CHILD_EXPECT(zswap_spec_check("zstd", NULL) == 0);
	memset(&stats, 0x5a, sizeof(stats));
	stats.size = sizeof(stats);
	untouched = stats;
	CHILD_EXPECT(zswap_get_stats(f->z, &stats) == -EOWNERDEAD);
	CHILD_EXPECT(memcmp(&stats, &untouched, sizeof(stats)) == 0);
	CHILD_EXPECT(zswap_format_stats(f->z, ZSWAP_STATS_TEXT, text,
					sizeof(text)) == -EOWNERDEAD);
	CHILD_EXPECT(text[0] == 'x');
	zswap_destroy(f->z);
	/* Nothing was destroyed: the answers stay the same. */
	CHILD_EXPECT(zswap_query(f->z, at(505)) == -EOWNERDEAD);
	return 0;
}

static int call_everything_quietly(struct fixture *f)
{
	uint64_t calls = faulty_calls(&f->hooks);
	int line;

	errno = 12345;
	line = call_everything(f);
	if (line)
		return line;
	CHILD_EXPECT(errno == 12345);
	CHILD_EXPECT(faulty_calls(&f->hooks) == calls);
	return 0;
}

static void every_call_in_a_child_is_eownerdead(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(500), 20, 0);
	assert_good_child(f, call_everything_quietly);
}

/* The thread that ends pools is not in the child, which must not miss it. */
static void D79_after_a_switch_every_call_is_eownerdead_too(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(500), 20, 0);
	assert_int_equal(zswap_set_compressor(f->z, "zstd"), 0);
	store_pages(f, at(520), 20, 0);
	assert_good_child(f, call_everything_quietly);
	assert_int_equal(zswap_set_compressor(f->z, "deflate"), 0);
	zswap_invalidate(f->z, at(500), 20);
	assert_good_child(f, call_everything_quietly);
	assert_holds_pages(f, at(520), 20, 0);
}

static void the_parent_does_not_notice_its_children(void **state)
{
	struct fixture *f = *state;
	struct zswap_stats before, after;
	int i;

	store_pages(f, at(500), 20, 0);
	before = stats_of(f->z);
	for (i = 0; i < 5; i++)
		assert_good_child(f, call_everything);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_holds_pages(f, at(500), 20, 0);
	store_page(f, at(600), PAGE_TEXT, 1);
	assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
}

static int make_an_own_cache(struct fixture *f)
{
	struct zswap_params params = f->params;
	uint64_t i;

	CHILD_EXPECT(zswap_query(f->z, at(500)) == -EOWNERDEAD);
	params.hooks = NULL;
	CHILD_EXPECT(zswap_create(&f->z, &params) == 0);
	CHILD_EXPECT(zswap_swapon(f->z, 0, 100) == 0);
	for (i = 0; i < 30; i++) {
		page_make(f->page, f->page_size, kind_of(i), i);
		CHILD_EXPECT(zswap_store(f->z, at(i), f->page) == 0);
	}
	for (i = 0; i < 30; i++) {
		CHILD_EXPECT(zswap_load(f->z, at(i), f->out) == 0);
		CHILD_EXPECT(page_is(f->out, f->page_size, kind_of(i), i));
	}
	zswap_destroy(f->z);
	return 0;
}

static void a_child_may_make_caches_of_its_own(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(500), 20, 0);
	assert_good_child(f, make_an_own_cache);
	assert_holds_pages(f, at(500), 20, 0);
}

static int fork_again(struct fixture *f)
{
	struct zswap *parents = f->z;
	pid_t pid;
	int status;

	/* A child's cache is not its own child's, nor is the grandparent's. */
	CHILD_EXPECT(zswap_create(&f->z, NULL) == 0);
	CHILD_EXPECT(zswap_swapon(f->z, 0, 10) == 0);
	pid = fork();
	CHILD_EXPECT(pid >= 0);
	if (pid == 0)
		_exit(zswap_query(f->z, at(0)) == -EOWNERDEAD &&
				      zswap_query(parents, at(0)) ==
					      -EOWNERDEAD ?
			      0 :
			      1);
	CHILD_EXPECT(waitpid(pid, &status, 0) == pid);
	CHILD_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHILD_EXPECT(zswap_query(f->z, at(0)) == ZSWAP_ABSENT);
	zswap_destroy(f->z);
	return 0;
}

static void grandchildren_are_told_apart(void **state)
{
	assert_good_child(*state, fork_again);
}

/* ---- the memory of pages ----------------------------------------------- */

#define MARK_BYTES 32

/* The hit in a mapping that begins a system page, or NULL. */
static const char *find_aligned(const char *first, const char *end,
				const unsigned char *mark)
{
	uintptr_t os_page = (uintptr_t)sysconf(_SC_PAGESIZE);

	while ((first = memmem(first, (size_t)(end - first), mark,
			       MARK_BYTES)) &&
	       (uintptr_t)first % os_page)
		first++;
	return first;
}

/*
 * Where the page that begins with the mark is kept. Other copies, as in the
 * output of a coder that gave up, do not begin a system page.
 */
static uintptr_t find_in_memory(const unsigned char *mark)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t first, end;
	const char *hit = NULL;
	char line[512], rights[8];

	assert_non_null(maps);
	while (!hit && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &first, &end,
			   rights) == 3 &&
		    strcmp(rights, "rw-p") == 0)
			hit = find_aligned((char *)first, (char *)end, mark);
	fclose(maps);
	return (uintptr_t)hit;
}

static uintptr_t page_address;

static int page_is_not_mapped(struct fixture *f)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t first, end;
	char line[512];

	(void)f;
	CHILD_EXPECT(maps);
	while (fgets(line, sizeof(line), maps)) {
		CHILD_EXPECT(sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first,
				    &end) == 2);
		CHILD_EXPECT(page_address < first || page_address >= end);
	}
	fclose(maps);
	return 0;
}

static void stored_pages_are_not_in_the_childs_memory(void **state)
{
	struct fixture *f = *state;
	struct zswap_params params = f->params;
	struct zswap *z;
	unsigned char mark[MARK_BYTES];

	if (TEST_ASAN || TEST_TSAN)
		skip(); /* their shadow is too much to search */
	/* The default mappings; hooks of the caller's own are its business. */
	params.hooks = NULL;
	assert_int_equal(zswap_create(&z, &params), 0);
	assert_int_equal(zswap_swapon(z, 0, 100), 0);
	page_make(f->page, f->page_size, PAGE_RANDOM, 4711);
	memcpy(mark, f->page, sizeof(mark));
	assert_int_equal(zswap_store(z, at(0), f->page), 0);
	memset(f->page, 0, f->page_size);
	page_address = find_in_memory(mark);
	assert_true(page_address != 0);
	assert_good_child(f, page_is_not_mapped);
	zswap_destroy(z);
}

/* ---- forks while other threads work ------------------------------------ */

#define NR_WORKERS 3
#define NR_FORKS 100

struct worker {
	struct fixture *f;
	atomic_bool *stop;
	uint64_t key;
	bool good;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct fixture *f = w->f;
	uint64_t version = 0, seen;
	char *page = malloc(f->page_size);

	w->good = page != NULL;
	while (w->good && !atomic_load(w->stop)) {
		page_stamp(page, f->page_size, w->key, ++version);
		w->good = zswap_store(f->z, at(w->key), page) == 0 &&
			  zswap_load(f->z, at(w->key), page) == 0 &&
			  page_verify(page, f->page_size, w->key, &seen) &&
			  seen == version;
	}
	free(page);
	return NULL;
}

static int call_everything_and_make_a_cache(struct fixture *f)
{
	int line = call_everything(f);

	return line ? line : make_an_own_cache(f);
}

static void D85_a_fork_during_calls_leaves_no_lock_behind(void **state)
{
	struct fixture *f = *state;
	struct worker workers[NR_WORKERS];
	pthread_t threads[NR_WORKERS];
	atomic_bool stop = false;
	/* In a child of threads the sanitizer's malloc may hang by itself. */
	int (*child)(struct fixture *) =
		TEST_ASAN ? call_everything : call_everything_and_make_a_cache;
	uint64_t i;

	if (TEST_TSAN)
		skip(); /* it cannot follow a forked child's threads */
	for (i = 0; i < NR_WORKERS; i++) {
		workers[i] = (struct worker){ f, &stop, 500 + i * 7, true };
		assert_int_equal(
			pthread_create(&threads[i], NULL, work, &workers[i]),
			0);
	}
	for (i = 0; i < NR_FORKS; i++)
		assert_good_child(f, child);
	atomic_store(&stop, true);
	for (i = 0; i < NR_WORKERS; i++) {
		pthread_join(threads[i], NULL);
		assert_true(workers[i].good);
	}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(every_call_in_a_child_is_eownerdead),
		CASE(D79_after_a_switch_every_call_is_eownerdead_too),
		CASE(the_parent_does_not_notice_its_children),
		CASE(a_child_may_make_caches_of_its_own),
		CASE(grandchildren_are_told_apart),
		CASE(stored_pages_are_not_in_the_childs_memory),
		CASE(D85_a_fork_during_calls_leaves_no_lock_behind),
	};

	return run_cases("fork", cases, sizeof(cases) / sizeof(cases[0]));
}
