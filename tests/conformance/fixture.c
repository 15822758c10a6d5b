// SPDX-License-Identifier: MIT
/*
 * fixture.c - a cache for each case, in each of the variants that matter
 */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "watchdog.h"

/* Longer than any case takes under a sanitizer on a busy machine. */
#define HANG_S 100

#ifdef HAVE_XXHASH
const uint32_t with_checksum = 1;
#else
const uint32_t with_checksum = 0;
#endif

static const struct variant usual_variants[] = {
	{ "4096 lz4", 4096, 0, "lz4", 0, 0, 0, false },
	{ "16384 lz4", 16384, 0, "lz4", 0, 0, 0, false },
	{ "65536 lz4", 65536, 0, "lz4", 0, 0, 0, false },
	{ "4096 test", 4096, 1, NULL, 0, 0, 0, false },
	{ "4096 test by 8", 4096, 8, NULL, 0, 0, 0, false },
	{ "16384 test by 4", 16384, 4, NULL, 0, 0, 0, false },
	{ "65536 test by 64", 65536, 64, NULL, 0, 0, 0, false },
};

#define NR_USUAL (sizeof(usual_variants) / sizeof(usual_variants[0]))
#define FIRST_CODEC_VARIANT 3

/* What fixture_setup() uses; set by the run_ functions. */
static const struct variant *current_variant = &usual_variants[0];

/* ---- running cases ----------------------------------------------------- */

bool has_codec(const struct fixture *f)
{
	return f->variant->batch != 0;
}

void fixture_params(struct fixture *f, struct zswap_params *params)
{
	memset(params, 0, sizeof(*params));
	params->size = sizeof(*params);
	params->page_size = f->page_size;
	params->hooks = &f->hooks.hooks;
	params->compressor =
		has_codec(f) ? f->codec.spec : f->variant->compressor;
	params->compressors = &f->codec.vtable_list;
	params->nr_compressors = 1;
	params->checksum = f->variant->checksum;
	params->raw_policy = f->variant->raw_policy;
	params->compaction = f->variant->compaction;
}

int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	watchdog_progress();
	assert_non_null(f);
	f->variant = current_variant;
	f->page_size = current_variant->page_size;
	rng_init(&f->rng, 1);
	faulty_init(&f->hooks);
	if (f->variant->malloc)
		f->hooks.hooks.alloc = NULL, f->hooks.hooks.free = NULL;
	codec_init(&f->codec, has_codec(f) ? f->variant->batch : 1);
	f->page = guard_at_end(&f->guards[0], f->page_size);
	f->out = guard_at_end(&f->guards[1], f->page_size);
	fixture_params(f, &f->params);
	assert_int_equal(zswap_create(&f->z, &f->params), 0);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	faulty_fail_none(&f->hooks);
	if (f->own)
		destroy_other(f); /* the case has failed in between */
	zswap_invalidate(f->z, at(0), AREA_SLOTS);
	assert_empty(f->z);
	assert_sums(f->z);
	zswap_destroy(f->z);
	guard_free(&f->guards[0]);
	guard_free(&f->guards[1]);
	assert_true(codec_end(&f->codec));
	assert_true(faulty_end(&f->hooks));
	free(f);
	return 0;
}

static int run_group(const char *program, const struct variant *variant,
		     const struct CMUnitTest *cases, size_t nr)
{
	char name[64];
	int failed;

	snprintf(name, sizeof(name), "%s, %s", program, variant->name);
	printf("%s\n", name);
	fflush(stdout);
	current_variant = variant;
	failed = _cmocka_run_group_tests(name, cases, nr, NULL, NULL);
	return failed + !usual_hooks_end();
}

static void begin_running(const char *program)
{
	setvbuf(stdout, NULL, _IOLBF,
		BUFSIZ); /* for the words before abort() */
	cmocka_set_test_filter(getenv("ZSWAP_TEST_FILTER"));
	watchdog_start(program, HANG_S);
}

static int end_running(int failed)
{
	watchdog_stop();
	current_variant = &usual_variants[0];
	if (failed)
		random_print_seed();
	return failed != 0;
}

static int run_range(const char *program, size_t first, size_t end,
		     const struct CMUnitTest *cases, size_t nr)
{
	int failed = 0;
	size_t i;

	begin_running(program);
	for (i = first; i < end; i++)
		failed += run_group(program, &usual_variants[i], cases, nr);
	return end_running(failed);
}

int run_cases(const char *program, const struct CMUnitTest *cases, size_t nr)
{
	return run_range(program, 0, 1, cases, nr);
}

int run_variants(const char *program, const struct CMUnitTest *cases, size_t nr)
{
	return run_range(program, 0, NR_USUAL, cases, nr);
}

int run_codec_variants(const char *program, const struct CMUnitTest *cases,
		       size_t nr)
{
	return run_range(program, FIRST_CODEC_VARIANT, NR_USUAL, cases, nr);
}

/*
 * Where everything takes ten times as long, each fourth variant is enough: 4
 * has no divisor in common with the numbers of page sizes and policies, so that
 * in the end each of them comes with several compressors.
 */
static bool is_left_out(void)
{
	static unsigned nr_asked;

	return getenv("ZSWAP_TEST_FEW_VARIANTS") && nr_asked++ % 4;
}

int run_variant(const char *program, const struct variant *variant,
		const struct CMUnitTest *cases, size_t nr)
{
	int failed;

	if (is_left_out())
		return 0;
	begin_running(program);
	failed = run_group(program, variant, cases, nr);
	return end_running(failed);
}

/* @turn: by which what is not the compressor and the page size goes on and off
 */
static int run_with(const char *program, const char *spec, size_t page_size,
		    int turn, const struct CMUnitTest *cases, size_t nr)
{
	struct variant variant = { .page_size = page_size,
				   .compressor = spec,
				   .checksum = turn % 2 ? 0 : with_checksum,
				   .malloc = turn / 2 % 2 };
	char name[64];

	snprintf(name, sizeof(name), "%zu %s%s%s", page_size, spec,
		 variant.checksum ? ", checksums" : "",
		 variant.malloc ? ", malloc" : "");
	variant.name = name;
	return run_variant(program, &variant, cases, nr);
}

int run_all_variants(const char *program, const struct CMUnitTest *cases,
		     size_t nr)
{
	int failed = run_variants(program, cases, nr), turn = 0, i;
	const char *const *spec;

	/* lz4 was among the usual ones, but not with checksums. */
	for (spec = builtin_specs(); *spec; spec++)
		for (i = 0; i < 3; i++, turn++)
			if (strcmp(*spec, "lz4") != 0 ||
			    (with_checksum && i == 0))
				failed += run_with(program, *spec,
						   all_page_sizes[i], turn,
						   cases, nr);
	return failed;
}

const char *const *builtin_specs(void)
{
	/* What may be missing comes first. */
	static const char *const all[] = {
		"lzo",  "lz4",           "lz4hc:level=3",   "zstd:level=1",
		"zstd", "zstd:level=-5", "deflate:level=1", NULL
	};

	return zswap_spec_check("lzo", NULL) ? all + 1 : all;
}

/* ---- making caches ----------------------------------------------------- */

const size_t all_page_sizes[3] = { 4096, 16384, 65536 };

void begin_other(struct fixture *f, const struct zswap_params *params)
{
	assert_null(f->own);
	f->own = f->z;
	f->z = NULL;
	assert_int_equal(zswap_create(&f->z, params), 0);
	assert_int_equal(zswap_swapon(f->z, 0, AREA_SLOTS), 0);
}

void destroy_other(struct fixture *f)
{
	zswap_destroy(f->z);
	f->z = f->own;
	f->own = NULL;
}

void end_other(struct fixture *f)
{
	zswap_invalidate(f->z, at(0), AREA_SLOTS);
	assert_empty(f->z);
	assert_sums(f->z);
	destroy_other(f);
}

struct zswap_params params_of(const char *compressor)
{
	struct zswap_params params;

	memset(&params, 0, sizeof(params));
	params.size = sizeof(params);
	params.compressor = compressor;
	params.hooks = usual_hooks();
	return params;
}

int create_error(const struct zswap_params *params)
{
	struct zswap *z = (struct zswap *)16; /* anything but NULL */
	int err = zswap_create(&z, params);

	assert_true(err < 0);
	assert_null(z);
	return err;
}

void assert_creates(const struct zswap_params *params)
{
	struct zswap *z = NULL;

	assert_int_equal(zswap_create(&z, params), 0);
	assert_non_null(z);
	zswap_destroy(z);
}

/* ---- slots and folios -------------------------------------------------- */

static struct zswap_folio empty_folio(zswap_slot_t slot, uint32_t nr)
{
	struct zswap_folio folio;

	memset(&folio, 0, sizeof(folio));
	folio.size = sizeof(folio);
	folio.slot = slot;
	folio.nr_pages = nr;
	return folio;
}

struct zswap_folio folio_of_data(zswap_slot_t slot, uint32_t nr, void *data)
{
	struct zswap_folio folio = empty_folio(slot, nr);

	folio.data = data;
	return folio;
}

struct zswap_folio folio_of_pages(zswap_slot_t slot, uint32_t nr,
				  void *const *pages)
{
	struct zswap_folio folio = empty_folio(slot, nr);

	folio.pages = pages;
	return folio;
}

/* ---- doing ------------------------------------------------------------- */

enum page_kind kind_of(uint64_t i)
{
	return (enum page_kind)(i % PAGE_KINDS);
}

void store_page(struct fixture *f, zswap_slot_t slot, enum page_kind kind,
		uint64_t seed)
{
	page_make(f->page, f->page_size, kind, seed);
	assert_int_equal(zswap_store(f->z, slot, f->page), 0);
}

void make_pages(struct fixture *f, void *data, uint32_t nr, uint64_t seed)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		page_make((char *)data + i * f->page_size, f->page_size,
			  kind_of(seed + i), seed + i);
}

void store_pages(struct fixture *f, zswap_slot_t slot, uint32_t nr,
		 uint64_t seed)
{
	char *data = malloc(nr * f->page_size);
	struct zswap_folio folio = folio_of_data(slot, nr, data);

	assert_non_null(data);
	make_pages(f, data, nr, seed);
	assert_int_equal(zswap_store_folio(f->z, &folio), 0);
	free(data);
}

/* ---- children ---------------------------------------------------------- */

/* cmocka would go on with the next case, in the child as well. */
static void die_of_faults(void)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
	signal(SIGILL, SIG_DFL);
}

static int status_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Exit statuses have eight bits; line numbers go through a pipe. */
int run_child(int (*child)(void *arg), void *arg)
{
	int pipe_ends[2], line = -1;
	pid_t pid;

	if (pipe(pipe_ends))
		return -1;
	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid == 0) {
		die_of_faults();
		alarm(30); /* a child that hangs dies of SIGALRM */
		line = child(arg);
		if (write(pipe_ends[1], &line, sizeof(line)) < 0)
			_exit(2);
		_exit(0);
	}
	close(pipe_ends[1]);
	if (pid < 0 || status_of(pid) ||
	    read(pipe_ends[0], &line, sizeof(line)) != sizeof(line))
		line = -1;
	close(pipe_ends[0]);
	return line;
}

void assert_good_child(int (*child)(void *arg), void *arg)
{
	int line = run_child(child, arg);

	if (line)
		print_error("child failed at line %d (-1: it died)\n", line);
	assert_int_equal(line, 0);
}

int use_an_own_cache(struct fixture *f, const struct zswap_params *params)
{
	struct zswap *z;
	uint64_t i;

	CHILD_EXPECT(zswap_create(&z, params) == 0);
	CHILD_EXPECT(zswap_swapon(z, 0, 100) == 0);
	for (i = 0; i < 30; i++) {
		page_make(f->page, f->page_size, kind_of(i), i);
		CHILD_EXPECT(zswap_store(z, at(i), f->page) == 0);
	}
	for (i = 0; i < 30; i++) {
		CHILD_EXPECT(zswap_load(z, at(i), f->out) == 0);
		CHILD_EXPECT(page_is(f->out, f->page_size, kind_of(i), i));
	}
	zswap_destroy(z);
	return 0;
}

/* ---- looking ----------------------------------------------------------- */

struct zswap_stats stats_of(struct zswap *z)
{
	struct zswap_stats stats;

	memset(&stats, 0xff, sizeof(stats));
	stats.size = sizeof(stats);
	assert_int_equal(zswap_get_stats(z, &stats), 0);
	return stats;
}

void assert_empty(struct zswap *z)
{
	struct zswap_stats stats = stats_of(z);

	assert_int_equal(stats.stored_pages, 0);
	assert_int_equal(stats.same_filled_pages, 0);
	assert_int_equal(stats.stored_incompressible_pages, 0);
	assert_int_equal(stats.original_bytes, 0);
	assert_int_equal(stats.compressed_bytes, 0);
	assert_int_equal(stats.pool_total_size, 0);
	assert_int_equal(stats.reserve_bytes, 0);
}

#define BY_SIZE(s, name)                                                      \
	((s)->name##_1 + (s)->name##_2 + (s)->name##_4 + (s)->name##_8 +      \
	 (s)->name##_16 + (s)->name##_32 + (s)->name##_64 + (s)->name##_128 + \
	 (s)->name##_256 + (s)->name##_512)

void assert_sums(struct zswap *z)
{
	struct zswap_stats s = stats_of(z);

	assert_int_equal(s.stores, s.stored_folios + s.refused_folios);
	assert_int_equal(s.stored_folios, BY_SIZE(&s, stored_folios));
	assert_int_equal(s.refused_folios, BY_SIZE(&s, refused_folios));
	assert_int_equal(s.refused_folios,
			 s.reject_disabled + s.reject_limit +
				 s.reject_compress_poor +
				 s.reject_compress_fail + s.reject_alloc_fail +
				 s.reject_kmemcache_fail + s.reject_no_context);
	assert_int_equal(s.loads, s.zswpin + s.load_misses + s.load_errors);
	assert_int_equal(s.original_bytes,
			 (s.stored_pages - s.same_filled_pages) *
				 zswap_page_size(z));
	assert_true(s.pool_limit_hit <= s.stores);
	assert_true(s.same_filled_stored + s.incompressible_stored <=
		    s.zswpout);
}

#define PATIENCE_NS UINT64_C(60000000000)

void wait_for_pools(struct zswap *z, uint64_t nr)
{
	uint64_t deadline = now_ns() + PATIENCE_NS;

	while (stats_of(z).pools != nr && now_ns() < deadline)
		usleep(200);
	assert_int_equal(stats_of(z).pools, nr);
}

void wait_for_instances(struct fixture *f, long nr)
{
	uint64_t deadline = now_ns() + PATIENCE_NS;

	while (atomic_load(&f->codec.instances) != nr && now_ns() < deadline)
		usleep(200);
	assert_int_equal(atomic_load(&f->codec.instances), nr);
}

void assert_refused(const int *results, uint32_t nr, int err)
{
	uint32_t i, causes = 0;

	for (i = 0; i < nr; i++) {
		causes += results[i] == err;
		assert_true(results[i] == err || results[i] == -ECANCELED);
	}
	assert_true(causes > 0);
}

void assert_same_gauges(const struct zswap_stats *a,
			const struct zswap_stats *b)
{
	assert_int_equal(a->stored_pages, b->stored_pages);
	assert_int_equal(a->same_filled_pages, b->same_filled_pages);
	assert_int_equal(a->stored_incompressible_pages,
			 b->stored_incompressible_pages);
	assert_int_equal(a->compressed_bytes, b->compressed_bytes);
	assert_int_equal(a->pool_total_size, b->pool_total_size);
	assert_int_equal(a->metadata_bytes, b->metadata_bytes);
}

void assert_same_stats(const struct zswap_stats *a, const struct zswap_stats *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void assert_page_is(struct fixture *f, const void *page,
			   enum page_kind kind, uint64_t seed)
{
	page_make(f->page, f->page_size, kind, seed);
	assert_memory_equal(page, f->page, f->page_size);
}

void assert_holds(struct fixture *f, zswap_slot_t slot, enum page_kind kind,
		  uint64_t seed)
{
	memset(f->out, 0xee, f->page_size);
	assert_int_equal(zswap_peek(f->z, slot, f->out), 0);
	assert_page_is(f, f->out, kind, seed);
}

void assert_holds_pages(struct fixture *f, zswap_slot_t slot, uint32_t nr,
			uint64_t seed)
{
	uint32_t i;

	for (i = 0; i < nr; i++, slot.val++)
		assert_holds(f, slot, kind_of(seed + i), seed + i);
}

void assert_absent(struct fixture *f, zswap_slot_t slot, uint64_t nr)
{
	uint64_t i;

	assert_false(zswap_is_present(f->z, slot, nr));
	for (i = 0; i < nr; i++, slot.val++) {
		assert_int_equal(zswap_query(f->z, slot), ZSWAP_ABSENT);
		assert_int_equal(zswap_peek(f->z, slot, f->out), -ENOENT);
	}
}

int expected_state(enum page_kind kind)
{
	switch (kind) {
	case PAGE_ZERO:
	case PAGE_WORD:
		return ZSWAP_FILLED;
	case PAGE_RANDOM:
		return ZSWAP_RAW;
	default:
		return ZSWAP_STORED;
	}
}
