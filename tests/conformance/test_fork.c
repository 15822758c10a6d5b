// SPDX-License-Identifier: MIT
/*
 * test_fork.c - a cache belongs to the process that created it
 */
#include "fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sanitizer.h"

static int call_everything(void *arg)
{
	struct fixture *f = arg;
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

static int call_everything_quietly(void *arg)
{
	struct fixture *f = arg;
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
	assert_good_child(call_everything_quietly, f);
}

/* The thread that ends pools is not in the child, which must not miss it. */
static void D79_after_a_switch_every_call_is_eownerdead_too(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(500), 20, 0);
	assert_int_equal(zswap_set_compressor(f->z, "zstd"), 0);
	store_pages(f, at(520), 20, 0);
	assert_good_child(call_everything_quietly, f);
	assert_int_equal(zswap_set_compressor(f->z, "deflate"), 0);
	zswap_invalidate(f->z, at(500), 20);
	assert_good_child(call_everything_quietly, f);
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
		assert_good_child(call_everything, f);
	after = stats_of(f->z);
	assert_same_stats(&before, &after);
	assert_holds_pages(f, at(500), 20, 0);
	store_page(f, at(600), PAGE_TEXT, 1);
	assert_int_equal(zswap_load(f->z, at(500), f->out), 0);
}

static int make_an_own_cache(void *arg)
{
	struct fixture *f = arg;
	struct zswap_params params = f->params;

	CHILD_EXPECT(zswap_query(f->z, at(500)) == -EOWNERDEAD);
	params.hooks = NULL;
	return use_an_own_cache(f, &params);
}

static void a_child_may_make_caches_of_its_own(void **state)
{
	struct fixture *f = *state;

	store_pages(f, at(500), 20, 0);
	assert_good_child(make_an_own_cache, f);
	assert_holds_pages(f, at(500), 20, 0);
}

static int fork_again(void *arg)
{
	struct fixture *f = arg;
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
	assert_good_child(fork_again, *state);
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

static int page_is_not_mapped(void *arg)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t first, end;
	char line[512];

	(void)arg;
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
	assert_good_child(page_is_not_mapped, f);
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

static int call_everything_and_make_a_cache(void *arg)
{
	int line = call_everything(arg);

	return line ? line : make_an_own_cache(arg);
}

static void a_fork_during_calls_leaves_no_lock_behind(void **state)
{
	struct fixture *f = *state;
	struct worker workers[NR_WORKERS];
	pthread_t threads[NR_WORKERS];
	atomic_bool stop = false;
	/* In a child of threads the sanitizer's malloc may hang by itself. */
	int (*child)(void *arg) =
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
		assert_good_child(child, f);
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
		CASE(a_fork_during_calls_leaves_no_lock_behind),
	};

	return run_cases("fork", cases, sizeof(cases) / sizeof(cases[0]));
}
