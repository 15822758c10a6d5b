// SPDX-License-Identifier: MIT
/*
 * test_pool.c - making pools, their memory, figures, children and misuse
 */
#include "home.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "peek.h"
#include "watchdog.h"

#define PAGE 4096

/* ---- making -------------------------------------------------------------- */

static struct zs_pool_params params_with(const struct zswap_hooks *hooks)
{
	return (struct zs_pool_params){ .size = sizeof(struct zs_pool_params),
					.hooks = hooks };
}

static int error_of(const struct zs_pool_params *params)
{
	struct zs_pool *pool = (struct zs_pool *)(uintptr_t)1;
	int err = zs_create_pool(&pool, params);

	assert_true(!err == !!pool);
	zs_destroy_pool(pool);
	return err;
}

static void a_value_that_does_not_exist_is_einval(void **state)
{
	struct home *h = *state;
	struct zs_pool_params params = h->params;

	assert_int_equal(zs_create_pool(NULL, &params), -EINVAL);
	assert_int_equal(zs_create_pool(NULL, NULL), -EINVAL);
	params.size = sizeof(params) - 1;
	assert_int_equal(error_of(&params), -EINVAL);
	params = h->params;
	params.page_size = 8192;
	assert_int_equal(error_of(&params), -EINVAL);
	params.page_size = 1;
	assert_int_equal(error_of(&params), -EINVAL);
	params = h->params;
	params.chain_size = 17;
	assert_int_equal(error_of(&params), -EINVAL);
	params = h->params;
	params.class_choice = ZSWAP_CLASSES_ADAPTIVE + 1;
	assert_int_equal(error_of(&params), -EINVAL);
	params = h->params;
	params.compaction = ZSWAP_COMPACT_MANUAL + 1;
	assert_int_equal(error_of(&params), -EINVAL);
	params = h->params;
	params.memory_flags = ZSWAP_MEM_WIPE << 1;
	assert_int_equal(error_of(&params), -EINVAL);
}

static void half_a_pair_of_hooks_is_einval(void **state)
{
	struct home *h = *state;
	struct zswap_hooks hooks = h->hooks.hooks;
	struct zs_pool_params params = params_with(&hooks);

	hooks.free = NULL;
	assert_int_equal(error_of(&params), -EINVAL);
	hooks = h->hooks.hooks;
	hooks.unmap = NULL;
	assert_int_equal(error_of(&params), -EINVAL);
}

static void every_value_that_exists_makes_a_pool(void **state)
{
	struct home *h = *state;
	struct {
		struct zs_pool_params params;
		uint64_t later[4];
	} larger;
	struct zs_pool_params *params = &larger.params;
	unsigned p, chain;

	memset(&larger, 0xff, sizeof(larger));
	*params = h->params;
	params->size = sizeof(larger);
	for (p = 0; p < 3; p++)
		for (chain = 0; chain <= 16; chain++) {
			params->page_size = all_page_sizes[p];
			params->chain_size = chain;
			params->class_choice = chain % 3;
			params->compaction = (chain + p) % 3;
			params->memory_flags = chain % 8;
			assert_int_equal(error_of(params), 0);
		}
	assert_int_equal(error_of(NULL), 0);
}

static void a_new_pool_holds_no_memory_for_objects(void **state)
{
	struct home *h = *state;

	assert_sums_agree(h);
	assert_int_equal(pool_stats(h->pool).held_bytes, 0);
	assert_true(pool_stats(h->pool).metadata_bytes > 0);
}

static void defaults_are_what_the_header_says(void **state)
{
	struct home *h = *state;
	struct zs_class_stats a, b;
	struct zs_pool *pool;
	unsigned nth;

	h->params.page_size = PAGE;
	h->params.chain_size = 8;
	h->params.class_choice = ZSWAP_CLASSES_EXACT;
	h->params.compaction = ZSWAP_COMPACT_MANUAL;
	home_again(h);
	assert_int_equal(zs_create_pool(&pool, NULL), 0);
	for (nth = 0; next_class(pool, nth, &a); nth++) {
		assert_true(next_class(h->pool, nth, &b));
		assert_memory_equal(&a, &b, sizeof(a));
	}
	assert_false(next_class(h->pool, nth, &b));
	zs_destroy_pool(pool);
}

static void a_pool_ends_with_whatever_is_left_in_it(void **state)
{
	struct home *h = *state;
	zs_handle handle;
	unsigned i;

	zs_destroy_pool(NULL);
	for (i = 0; i < 5000; i++)
		assert_int_equal(zs_malloc(h->pool, 1 + i % PAGE, &handle), 0);
	assert_non_null(zs_obj_read_begin(h->pool, handle));
}

/* ---- hooks that fail ----------------------------------------------------- */

static void D48_create_survives_any_failing_hook(void **state)
{
	struct home *h = *state;
	size_t bytes = h->hooks.alloc_bytes;
	uint64_t k, failed = 1;
	unsigned choice;

	for (choice = ZSWAP_CLASSES_EXACT; choice <= ZSWAP_CLASSES_ADAPTIVE;
	     choice++, failed = 1)
		for (k = 1; failed; k++) {
			struct zs_pool_params params = h->params;
			int err;

			params.class_choice = choice;
			faulty_fail_nth(&h->hooks, FAULTY_ANY, k);
			err = error_of(&params);
			failed = faulty_fail_none(&h->hooks);
			assert_int_equal(err, failed ? -ENOMEM : 0);
			assert_int_equal(h->hooks.alloc_bytes, bytes);
			assert_true(failed || k > 3);
		}
}

/* The first object of a pool: slabs of both kinds, and a mapping. */
static void D48_malloc_survives_any_failing_hook(void **state)
{
	static const size_t sizes[] = { 1, 1000, PAGE };
	struct home *h = *state;
	uint64_t k, failed;
	unsigned i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (k = 1, failed = 1; failed; k++) {
			zs_handle handle = 77;
			struct object o;
			int err;

			home_again(h);
			faulty_fail_nth(&h->hooks, FAULTY_ANY, k);
			err = zs_malloc(h->pool, sizes[i], &handle);
			failed = faulty_fail_none(&h->hooks);
			assert_int_equal(err, failed ? -ENOMEM : 0);
			assert_true(!handle == !!failed);
			assert_int_equal(pool_stats(h->pool).objects, !failed);
			assert_sums_agree(h);
			make_objects(h->pool, &o, 1, sizes[i]);
			object_end(h->pool, &o);
			zs_free(h->pool, handle);
			assert_int_equal(zs_get_total_pages(h->pool), 0);
		}
		assert_int_equal(k, 5);
	}
}

static void D48_mallocs_that_fail_leave_nothing_behind(void **state)
{
	struct home *h = *state;
	struct zs_pool_stats before, after;
	zs_handle handle;
	unsigned i;

	/* Arguments come first. */
	faulty_fail_from(&h->hooks, FAULTY_ANY, 1);
	assert_int_equal(zs_malloc(h->pool, 0, &handle), -EINVAL);
	assert_int_equal(zs_malloc(h->pool, PAGE + 1, &handle), -ENOSPC);
	assert_int_equal(zs_malloc(h->pool, 100, &handle), -ENOMEM);
	faulty_fail_from(&h->hooks, FAULTY_MAP, 1);
	assert_int_equal(zs_malloc(h->pool, 100, &handle), -ENOMEM);
	before = pool_stats(h->pool);
	for (i = 0; i < 10000; i++)
		assert_int_equal(zs_malloc(h->pool, 100, &handle), -ENOMEM);
	after = pool_stats(h->pool);
	faulty_fail_none(&h->hooks);
	assert_memory_equal(&before, &after, sizeof(before));
}

static void only_malloc_needs_memory(void **state)
{
	struct home *h = *state;
	struct object objects[2000];
	struct zs_pool_stats stats = { .size = sizeof(stats) };
	uint64_t takes;
	unsigned i;

	for (i = 0; i < 2000; i++)
		make_objects(h->pool, &objects[i], 1, 1 + i * 2);
	takes = faulty_takes(&h->hooks);
	faulty_fail_from(&h->hooks, FAULTY_ANY, 1);
	for (i = 0; i < 2000; i += 3)
		object_end(h->pool, &objects[i]);
	for (i = 1; i < 2000; i += 3)
		object_fill(h->pool, &objects[i], i);
	assert_true(zs_compact(h->pool) > 0);
	assert_int_equal(zs_pool_stats(h->pool, &stats), 0);
	end_objects(h->pool, objects, 2000);
	assert_int_equal(faulty_takes(&h->hooks), takes);
	faulty_fail_none(&h->hooks);
}

static void a_pool_works_where_memory_goes_back_as_a_whole(void **state)
{
	struct home *h = *state;
	struct zswap_hooks hooks = h->hooks.hooks;
	struct object objects[2000];
	unsigned i;

	hooks.purge = NULL;
	h->params.hooks = &hooks;
	home_again(h);
	for (i = 0; i < 2000; i++)
		make_objects(h->pool, &objects[i], 1, 1 + i * 2);
	for (i = 0; i < 2000; i += 2)
		object_end(h->pool, &objects[i]);
	assert_true(zs_compact(h->pool) > 0);
	assert_sums_agree(h);
	end_objects(h->pool, objects, 2000);
	assert_int_equal(pool_stats(h->pool).held_bytes, 0);
	zs_destroy_pool(h->pool);
	h->pool = NULL;
}

/* ---- what the memory is like --------------------------------------------- */

/* Whether the bytes of this tag are anywhere in the pool's mappings. */
static bool is_somewhere(struct home *h, uint64_t tag)
{
	/* Not the first, where lists go through memory that waits for reuse. */
	uint64_t words[2] = { object_word(tag, 64), object_word(tag, 72) };

	return faulty_find(&h->hooks, words, sizeof(words));
}

#define NR_SECRETS 40

static void make_secrets(struct home *h, struct object *objects, size_t bytes)
{
	home_again(h);
	make_objects(h->pool, objects, NR_SECRETS, bytes);
}

/* How many of the payloads that were freed can be found. */
static unsigned count_found(struct home *h, size_t bytes)
{
	struct object objects[NR_SECRETS];
	unsigned i, found = 0;

	make_secrets(h, objects, bytes);
	for (i = 0; i < NR_SECRETS; i += 2) {
		assert_true(is_somewhere(h, objects[i].tag));
		object_end(h->pool, &objects[i]);
		found += is_somewhere(h, objects[i].tag);
	}
	check_objects(h->pool, objects, NR_SECRETS);
	return found;
}

static void freed_payloads_are_wiped(void **state)
{
	static const size_t sizes[] = { 200, 1000, PAGE };
	struct home *h = *state;
	unsigned i;

	/* So that what is given back keeps its contents. */
	h->hooks.purge_fails = true;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		h->params.memory_flags = 0;
		assert_int_equal(count_found(h, sizes[i]), NR_SECRETS / 2);
		h->params.memory_flags = ZSWAP_MEM_WIPE;
		assert_int_equal(count_found(h, sizes[i]), 0);
	}
	h->hooks.purge_fails = false;
}

static void freed_payload_is_zero_to_its_end(void **state)
{
	static const size_t sizes[] = { 32, 1000, 3000 };
	struct home *h = *state;
	struct object objects[2];
	unsigned i;

	h->params.memory_flags = ZSWAP_MEM_WIPE;
	home_again(h);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		static char copy[PAGE];
		const char *at;
		size_t b;

		make_objects(h->pool, objects, 2, sizes[i]);
		at = address_of(h->pool, objects[0].handle);
		object_end(h->pool, &objects[0]);
		peek(copy, at, sizes[i]);
		for (b = 0; b < sizes[i]; b++)
			assert_int_equal(copy[b], 0);
	}
}

static void payloads_moved_away_are_wiped(void **state)
{
	struct home *h = *state;
	struct object objects[NR_SECRETS];
	const char *was[NR_SECRETS];
	uint64_t words[2];
	unsigned i, moved = 0;

	h->params.memory_flags = ZSWAP_MEM_WIPE;
	h->hooks.purge_fails = true;
	make_secrets(h, objects, 1000);
	for (i = 0; i < NR_SECRETS; i++) {
		was[i] = address_of(h->pool, objects[i].handle);
		if (i % 3 == 0)
			object_end(h->pool, &objects[i]);
	}
	assert_true(zs_compact(h->pool) > 0);
	for (i = 0; i < NR_SECRETS; i++) {
		peek(words, was[i] + 64, sizeof(words));
		if (i % 3 && address_of(h->pool, objects[i].handle) == was[i])
			continue;
		moved += i % 3 > 0;
		assert_true(words[0] != object_word(objects[i].tag, 64));
	}
	assert_true(moved > 0);
	check_objects(h->pool, objects, NR_SECRETS);
	h->hooks.purge_fails = false;
}

/* The memory of a map hook is another's after the pool's end. */
static char *kept_mapping;
static size_t kept_bytes;

static void *keeping_map(void *ctx, size_t bytes, size_t align)
{
	char *at = NULL;

	(void)ctx;
	if (posix_memalign((void **)&at, align, bytes))
		return NULL;
	if (bytes > PAGE * 16) {
		kept_mapping = at;
		kept_bytes = bytes;
	}
	return memset(at, 0, bytes);
}

static void keeping_unmap(void *ctx, void *addr, size_t bytes)
{
	(void)ctx, (void)bytes;
	if (addr != kept_mapping)
		free(addr);
}

static bool mapping_has(uint64_t word)
{
	uint64_t *copy = peek_mapping(kept_mapping, kept_bytes);
	bool found = false;
	size_t i;

	for (i = 0; i < kept_bytes / sizeof(word) && !found; i++)
		found = copy[i] == word;
	free(copy);
	return found;
}

static void what_is_left_at_the_end_is_wiped(void **state)
{
	struct home *h = *state;
	static const struct zswap_hooks hooks = { .size = sizeof(hooks),
						  .map = keeping_map,
						  .unmap = keeping_unmap };
	struct object objects[NR_SECRETS];
	unsigned wipe, i;

	h->params.hooks = &hooks;
	for (wipe = 0; wipe < 2; wipe++) {
		h->params.memory_flags = wipe ? ZSWAP_MEM_WIPE : 0;
		make_secrets(h, objects, 1000);
		zs_destroy_pool(h->pool);
		h->pool = NULL;
		for (i = 0; i < NR_SECRETS; i++)
			assert_int_equal(
				mapping_has(object_word(objects[i].tag, 8)),
				!wipe);
		free(kept_mapping);
	}
}

/* Whether the kernel has a flag for the mapping in which this lies. */
static bool has_vm_flag(const void *addr, const char *flag)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	uintptr_t start, end, at = (uintptr_t)addr;
	bool inside = false, found = false;
	char line[4096];

	assert_non_null(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) ==
		    2)
			inside = at >= start && at < end;
		if (inside && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, flag);
	}
	fclose(smaps);
	return found;
}

/* The kernel may be one without huge pages: then nobody gets the flag. */
static bool kernel_has_huge_pages(void)
{
	return access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0;
}

static void memory_flags_are_those_of_the_mappings(void **state)
{
	struct home *h = *state;
	struct object o;
	const char *at;
	uint32_t flags;

	h->params.hooks = NULL;
	for (flags = 0; flags < 8; flags++) {
		h->params.memory_flags = flags;
		home_again(h);
		make_objects(h->pool, &o, 1, 100);
		at = address_of(h->pool, o.handle);
		assert_int_equal(has_vm_flag(at, " dd"),
				 !!(flags & ZSWAP_MEM_NO_DUMP));
		if (kernel_has_huge_pages()) {
			assert_int_equal(has_vm_flag(at, " hg"),
					 !!(flags & ZSWAP_MEM_HUGE_PAGES));
			assert_int_equal(has_vm_flag(at, " nh"),
					 !(flags & ZSWAP_MEM_HUGE_PAGES));
		}
		/* Out of forked children. */
		assert_true(has_vm_flag(at, " dc"));
	}
}

/* ---- the adaptive choice ------------------------------------------------- */

static uint64_t pages_of_few(struct home *h, unsigned nr)
{
	struct object *objects = no_objects(nr);
	struct rng rng;
	uint64_t pages;
	unsigned i;

	rng_init(&rng, 1);
	home_again(h);
	for (i = 0; i < nr; i++)
		make_objects(h->pool, &objects[i], 1,
			     500 + rng_below(&rng, 3000));
	pages = zs_get_total_pages(h->pool);
	assert_sums_agree(h);
	end_objects(h->pool, objects, nr);
	assert_int_equal(zs_get_total_pages(h->pool), 0);
	free(objects);
	return pages;
}

static void few_objects_take_less_with_the_adaptive_choice(void **state)
{
	struct home *h = *state;
	uint64_t exact = pages_of_few(h, 500);

	h->params.class_choice = ZSWAP_CLASSES_ADAPTIVE;
	assert_true(pages_of_few(h, 500) < exact);
	/* The number of a class is the exact choice's all the same. */
	assert_int_equal(zs_lookup_class_index(h->pool, 1552), 95);
	assert_int_equal(zs_huge_class_size(h->pool), 3625);
}

/* ---- figures ------------------------------------------------------------- */

typedef int get_figures(struct zs_pool *pool, void *stats);

static int get_pool_stats(struct zs_pool *pool, void *stats)
{
	return zs_pool_stats(pool, stats);
}

static int get_class_stats(struct zs_pool *pool, void *stats)
{
	return zs_class_stats(pool, 0, stats);
}

/*
 * Of each size up to 8 bytes more than there are: what lies wholly in it is
 * filled, in words of 8 bytes, and below the smallest size nothing.
 */
static void assert_filled_in_part(struct home *h, get_figures *get,
				  size_t smallest, size_t bytes)
{
	char all[256], part[256], blank[256];
	size_t size, filled;

	assert_true(bytes + 8 <= sizeof(all));
	memset(blank, 0x5a, sizeof(blank));
	memcpy(all, &bytes, sizeof(bytes));
	assert_int_equal(get(h->pool, all), 0);
	for (size = 0; size <= bytes + 8; size++) {
		memcpy(part, blank, sizeof(part));
		memcpy(part, &size, sizeof(size));
		filled = size < bytes ? size / 8 * 8 : bytes;
		if (size < smallest)
			filled = 8;
		assert_int_equal(get(h->pool, part),
				 size < smallest ? -EINVAL : 0);
		assert_memory_equal(part, &size, sizeof(size));
		assert_memory_equal(part + 8, all + 8, filled - 8);
		assert_memory_equal(part + filled, blank,
				    sizeof(part) - filled);
	}
	assert_int_equal(get(h->pool, NULL), -EINVAL);
	assert_int_equal(get(NULL, all), -EINVAL);
}

static void shorter_structs_of_figures_are_filled_in_part(void **state)
{
	struct home *h = *state;
	struct object objects[300];

	make_objects(h->pool, objects, 300, 20);
	assert_filled_in_part(h, get_pool_stats, 16,
			      sizeof(struct zs_pool_stats));
	assert_filled_in_part(h, get_class_stats, 24,
			      sizeof(struct zs_class_stats));
}

static void classes_are_those_that_there_are(void **state)
{
	struct home *h = *state;
	struct zs_class_stats class;

	assert_true(next_class(h->pool, 118, &class));
	assert_false(next_class(h->pool, 119, &class));
	assert_false(next_class(h->pool, UINT32_MAX, &class));
}

static void without_a_pool_figures_are_0(void **state)
{
	(void)state;
	assert_int_equal(zs_get_total_pages(NULL), 0);
	assert_int_equal(zs_huge_class_size(NULL), 0);
	assert_int_equal(zs_lookup_class_index(NULL, 100), 0);
	assert_int_equal(zs_compact(NULL), -EINVAL);
}

/* ---- children ------------------------------------------------------------ */

static int call_everything(void *arg)
{
	struct home *h = arg;
	struct zs_pool_stats stats = { .size = sizeof(stats) };
	struct zs_class_stats class = { .size = sizeof(class) };
	uint64_t calls = faulty_calls(&h->hooks);
	zs_handle handle = 77, parents = 1234; /* is not even looked at */

	errno = 12345;
	CHILD_EXPECT(zs_malloc(h->pool, 10, &handle) == -EOWNERDEAD);
	CHILD_EXPECT(handle == 0);
	/* This is looked for before what is wrong with the arguments. */
	CHILD_EXPECT(zs_malloc(h->pool, 0, NULL) == -EOWNERDEAD);
	CHILD_EXPECT(!zs_obj_read_begin(h->pool, parents));
	zs_obj_read_end(h->pool, parents);
	CHILD_EXPECT(zs_obj_write(h->pool, parents, "x", 1) == -EOWNERDEAD);
	CHILD_EXPECT(zs_obj_write(h->pool, 0, NULL, 1) == -EOWNERDEAD);
	CHILD_EXPECT(zs_obj_bytes(h->pool, parents) == 0);
	zs_free(h->pool, parents);
	CHILD_EXPECT(zs_compact(h->pool) == -EOWNERDEAD);
	CHILD_EXPECT(zs_get_total_pages(h->pool) == 0);
	CHILD_EXPECT(zs_huge_class_size(h->pool) == 0);
	CHILD_EXPECT(zs_lookup_class_index(h->pool, 100) == 0);
	CHILD_EXPECT(zs_pool_stats(h->pool, &stats) == -EOWNERDEAD);
	CHILD_EXPECT(zs_pool_stats(h->pool, NULL) == -EOWNERDEAD);
	CHILD_EXPECT(zs_class_stats(h->pool, 0, &class) == -EOWNERDEAD);
	CHILD_EXPECT(zs_class_stats(h->pool, 9999, NULL) == -EOWNERDEAD);
	zs_destroy_pool(h->pool);
	CHILD_EXPECT(zs_compact(h->pool) == -EOWNERDEAD);
	CHILD_EXPECT(errno == 12345);
	CHILD_EXPECT(faulty_calls(&h->hooks) == calls);
	return 0;
}

static int use_an_own_pool(void *arg)
{
	struct object o;
	struct zs_pool *pool;

	(void)arg;
	CHILD_EXPECT(zs_create_pool(&pool, NULL) == 0);
	object_make(pool, &o, 1000, 1);
	object_end(pool, &o);
	zs_destroy_pool(pool);
	return 0;
}

static void D80_in_a_child_every_call_does_nothing(void **state)
{
	struct home *h = *state;
	struct object objects[100];

	make_objects(h->pool, objects, 100, 1000);
	assert_good_child(call_everything, h);
	assert_good_child(use_an_own_pool, h);
	check_objects(h->pool, objects, 100);
	assert_sums_agree(h);
}

/* ---- misuse -------------------------------------------------------------- */

#ifdef DEBUG_CHECKS

struct misuse {
	struct zs_pool *pool;
	zs_handle handle;
};

static int free_it(void *arg)
{
	struct misuse *m = arg;

	zs_free(m->pool, m->handle);
	return 0;
}

static int read_it(void *arg)
{
	struct misuse *m = arg;

	zs_obj_read_begin(m->pool, m->handle);
	return 0;
}

static int end_it(void *arg)
{
	struct misuse *m = arg;

	zs_obj_read_end(m->pool, m->handle);
	return 0;
}

static int write_it(void *arg)
{
	struct misuse *m = arg;

	return zs_obj_write(m->pool, m->handle, "x", 1);
}

static int measure_it(void *arg)
{
	struct misuse *m = arg;

	zs_obj_bytes(m->pool, m->handle);
	return 0;
}

/*
 * In a child the pool is another's: it makes one of its own, of which @spoil
 * makes a handle that is none.
 */
struct trial {
	int (*use)(void *arg);
	zs_handle (*spoil)(struct zs_pool *pool, zs_handle handle);
};

static int try_it(void *arg)
{
	struct trial *trial = arg;
	struct misuse m;
	zs_handle others[3];
	int i, result;

	CHILD_EXPECT(zs_create_pool(&m.pool, NULL) == 0);
	for (i = 0; i < 3; i++)
		CHILD_EXPECT(zs_malloc(m.pool, 100, &others[i]) == 0);
	m.handle = others[1];
	if (trial->use == end_it)
		zs_obj_read_begin(m.pool, m.handle);
	if (trial->spoil)
		m.handle = trial->spoil(m.pool, m.handle);
	result = trial->use(&m);
	zs_destroy_pool(m.pool);
	return result;
}

static zs_handle spoil_by_freeing(struct zs_pool *pool, zs_handle handle)
{
	zs_obj_read_end(pool, handle);
	zs_free(pool, handle);
	return handle;
}

static zs_handle spoil_by_freeing_unread(struct zs_pool *pool, zs_handle handle)
{
	zs_free(pool, handle);
	return handle;
}

static zs_handle spoil_by_one(struct zs_pool *pool, zs_handle handle)
{
	(void)pool;
	return handle + 1;
}

/* Where the next record will be. */
static zs_handle spoil_by_many(struct zs_pool *pool, zs_handle handle)
{
	(void)pool;
	return handle + 16 * 500;
}

static zs_handle spoil_by_unmapped(struct zs_pool *pool, zs_handle handle)
{
	(void)pool, (void)handle;
	return 0x10;
}

static zs_handle spoil_by_unmapped_too(struct zs_pool *pool, zs_handle handle)
{
	(void)pool;
	return handle ^ (zs_handle)1 << 46;
}

static zs_handle spoil_by_another_pool(struct zs_pool *pool, zs_handle handle)
{
	struct zs_pool *other;

	(void)pool;
	CHECK(zs_create_pool(&other, NULL) == 0);
	CHECK(zs_malloc(other, 100, &handle) == 0);
	return handle;
}

static zs_handle spoil_by_the_payload(struct zs_pool *pool, zs_handle handle)
{
	return (zs_handle)zs_obj_read_begin(pool, handle);
}

static void D53_a_debug_build_detects_handles_that_are_none(void **state)
{
	int (*const uses[])(void *arg) = { free_it, read_it, end_it, write_it,
					   measure_it };
	zs_handle (*const spoils[])(struct zs_pool *, zs_handle) = {
		spoil_by_one,          spoil_by_many,
		spoil_by_unmapped,     spoil_by_unmapped_too,
		spoil_by_another_pool, spoil_by_the_payload,
	};
	unsigned u, s;

	(void)state;
	for (u = 0; u < sizeof(uses) / sizeof(uses[0]); u++) {
		struct trial trial = { uses[u], NULL };

		assert_int_equal(run_child(try_it, &trial), 0);
		for (s = 0; s < sizeof(spoils) / sizeof(spoils[0]); s++) {
			trial.spoil = spoils[s];
			assert_int_equal(run_child(try_it, &trial), -1);
		}
		trial.spoil = uses[u] == end_it ? spoil_by_freeing :
						  spoil_by_freeing_unread;
		assert_int_equal(run_child(try_it, &trial), -1);
		watchdog_progress();
	}
}

/* Freed while it is read, and an end of no read. */
static zs_handle spoil_by_reading(struct zs_pool *pool, zs_handle handle)
{
	zs_obj_read_begin(pool, handle);
	return handle;
}

static zs_handle spoil_by_ending(struct zs_pool *pool, zs_handle handle)
{
	zs_obj_read_end(pool, handle);
	return handle;
}

static void D53_a_debug_build_detects_reads_that_do_not_match(void **state)
{
	struct trial freed = { free_it, spoil_by_reading };
	struct trial ended = { end_it, spoil_by_ending };

	(void)state;
	assert_int_equal(run_child(try_it, &freed), -1);
	assert_int_equal(run_child(try_it, &ended), -1);
}

#endif

int main(void)
{
	static const struct CMUnitTest cases[] = {
		HOME_CASE(a_value_that_does_not_exist_is_einval),
		HOME_CASE(half_a_pair_of_hooks_is_einval),
		HOME_CASE(every_value_that_exists_makes_a_pool),
		HOME_CASE(a_new_pool_holds_no_memory_for_objects),
		HOME_CASE(defaults_are_what_the_header_says),
		HOME_CASE(a_pool_ends_with_whatever_is_left_in_it),
		HOME_CASE(D48_create_survives_any_failing_hook),
		HOME_CASE(D48_malloc_survives_any_failing_hook),
		HOME_CASE(D48_mallocs_that_fail_leave_nothing_behind),
		HOME_CASE(only_malloc_needs_memory),
		HOME_CASE(a_pool_works_where_memory_goes_back_as_a_whole),
		HOME_CASE(freed_payloads_are_wiped),
		HOME_CASE(freed_payload_is_zero_to_its_end),
		HOME_CASE(payloads_moved_away_are_wiped),
		HOME_CASE(what_is_left_at_the_end_is_wiped),
		HOME_CASE(memory_flags_are_those_of_the_mappings),
		HOME_CASE(few_objects_take_less_with_the_adaptive_choice),
		HOME_CASE(shorter_structs_of_figures_are_filled_in_part),
		HOME_CASE(classes_are_those_that_there_are),
		HOME_CASE(without_a_pool_figures_are_0),
		HOME_CASE(D80_in_a_child_every_call_does_nothing),
#ifdef DEBUG_CHECKS
		HOME_CASE(D53_a_debug_build_detects_handles_that_are_none),
		HOME_CASE(D53_a_debug_build_detects_reads_that_do_not_match),
#endif
	};

	return home_run("zsmalloc, pool", cases,
			sizeof(cases) / sizeof(cases[0]));
}
