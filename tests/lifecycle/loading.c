// SPDX-License-Identifier: MIT
/*
 * loading.c - D81: the library comes and goes while the process lives
 *
 * usage: loading LIBRARY
 *
 * This program is not linked with the library: it loads and unloads it, round
 * by round. Threads that used it end later, threads that did not end meanwhile,
 * thread keys are all taken, copies are there side by side. Nothing is left but
 * what the C library keeps.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zswap/zswap.h>

#include "check.h"
#include "gate.h"
#include "pagegen.h"
#include "process.h"
#include "threads.h"
#include "watchdog.h"

#define NR_ROUNDS 200
#define WARM_UP 10
#define NR_COPIES 12
#define NR_USERS 4
#define PAGE_BYTES 4096

static const char *library_path;

/* ---- the library ------------------------------------------------------- */

struct library {
	void *handle;
	int (*create)(struct zswap **, const struct zswap_params *);
	void (*destroy)(struct zswap *);
	int (*swapon)(struct zswap *, unsigned, uint64_t);
	int (*set_compressor)(struct zswap *, const char *);
	int (*store)(struct zswap *, zswap_slot_t, const void *);
	int (*load)(struct zswap *, zswap_slot_t, void *);
};

static void *symbol(void *handle, const char *name)
{
	void *address = dlsym(handle, name);

	CHECK(address);
	return address;
}

static void library_take(struct library *lib, void *handle)
{
	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(handle);
	lib->handle = handle;
	*(void **)&lib->create = symbol(handle, "zswap_create");
	*(void **)&lib->destroy = symbol(handle, "zswap_destroy");
	*(void **)&lib->swapon = symbol(handle, "zswap_swapon");
	*(void **)&lib->set_compressor = symbol(handle, "zswap_set_compressor");
	*(void **)&lib->store = symbol(handle, "zswap_store");
	*(void **)&lib->load = symbol(handle, "zswap_load");
}

static void library_open(struct library *lib, const char *path)
{
	library_take(lib, dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

/* Unloading counts only if the code is gone: a stray call then crashes. */
static bool is_loaded(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

static void library_close(struct library *lib)
{
	CHECK(dlclose(lib->handle) == 0);
}

/* ---- its use ----------------------------------------------------------- */

struct use {
	const struct library *lib;
	struct zswap *z;
	struct gate end; /* where threads stand when they have used it */
	atomic_uint used;
};

static void use_begin(struct use *use, const struct library *lib)
{
	memset(use, 0, sizeof(*use));
	gate_init(&use->end);
	use->lib = lib;
	CHECK(lib->create(&use->z, NULL) == 0);
	CHECK(lib->swapon(use->z, 0, 1000) == 0);
}

static void use_end(struct use *use)
{
	use->lib->destroy(use->z);
}

static void store_and_load(struct use *use, uint64_t key)
{
	const struct library *lib = use->lib;
	zswap_slot_t slot = zswap_slot(0, key);
	char page[PAGE_BYTES];
	uint64_t version;

	page_stamp(page, sizeof(page), key, 4);
	CHECK(lib->store(use->z, slot, page) == 0);
	memset(page, 0, sizeof(page));
	CHECK(lib->load(use->z, slot, page) == 0);
	CHECK(page_verify(page, sizeof(page), key, &version) && version == 4);
}

/* A retired pool whose last page a load takes: its thread is there and busy. */
static void leave_a_pool_behind(struct use *use)
{
	const struct library *lib = use->lib;
	zswap_slot_t slot = zswap_slot(0, 999);
	char page[PAGE_BYTES];

	page_make(page, sizeof(page), PAGE_TEXT, 1);
	CHECK(lib->store(use->z, slot, page) == 0);
	CHECK(lib->set_compressor(use->z, "zstd:level=1") == 0);
	CHECK(lib->load(use->z, slot, page) == 0);
}

static void use_and_stay(void *arg)
{
	struct use *use = arg;

	store_and_load(use, atomic_fetch_add(&use->used, 1));
	gate_pass(&use->end);
}

/* ---- (a), (c) threads that used it end later --------------------------- */

/* @unloaded: they outlive the library, and not only the cache. */
static void threads_end_after(bool unloaded)
{
	struct thread threads[NR_USERS];
	struct library lib;
	struct use use;
	unsigned i;

	library_open(&lib, library_path);
	use_begin(&use, &lib);
	gate_close(&use.end);
	for (i = 0; i < NR_USERS; i++)
		thread_start(&threads[i], use_and_stay, &use);
	CHECK(gate_wait(&use.end, NR_USERS));
	leave_a_pool_behind(&use);
	use_end(&use);
	if (unloaded)
		library_close(&lib);
	gate_open(&use.end);
	for (i = 0; i < NR_USERS; i++)
		thread_join(&threads[i]);
	if (!unloaded)
		library_close(&lib);
	CHECK(!is_loaded(library_path));
	gate_end(&use.end);
}

/* ---- (b) no thread keys ------------------------------------------------ */

static void load_and_unload(void)
{
	struct library lib;

	library_open(&lib, library_path);
	library_close(&lib);
	CHECK(!is_loaded(library_path));
}

static void load_use_and_unload(void)
{
	struct library lib;
	struct use use;

	library_open(&lib, library_path);
	use_begin(&use, &lib);
	store_and_load(&use, 1);
	leave_a_pool_behind(&use);
	use_end(&use);
	library_close(&lib);
	gate_end(&use.end);
}

static void key_destructor(void *value)
{
	++*(unsigned *)value;
}

struct keys {
	pthread_key_t keys[PTHREAD_KEYS_MAX];
	unsigned nr, ended;
};

static void set_all_keys(void *arg)
{
	struct keys *k = arg;
	unsigned i;

	for (i = 0; i < k->nr; i++)
		CHECK(pthread_setspecific(k->keys[i], &k->ended) == 0);
	load_use_and_unload();
}

/* Keys that are another's are not deleted: each destructor runs, once. */
static void with_all_keys_taken(void)
{
	static struct keys k;
	struct thread thread;

	k.nr = 0;
	k.ended = 0;
	while (k.nr < PTHREAD_KEYS_MAX &&
	       pthread_key_create(&k.keys[k.nr], key_destructor) == 0)
		k.nr++;
	CHECK(k.nr > 0);
	load_and_unload();
	thread_start(&thread, set_all_keys, &k);
	thread_join(&thread);
	CHECK(k.ended == k.nr);
	while (k.nr)
		CHECK(pthread_key_delete(k.keys[--k.nr]) == 0);
	load_and_unload();
}

/* ---- (d) threads that never called it ---------------------------------- */

static void stand(void *gate)
{
	gate_pass(gate);
}

static void threads_that_never_called(void)
{
	struct thread before, meanwhile;
	struct library lib;
	struct gate gate;

	gate_init(&gate);
	gate_close(&gate);
	thread_start(&before, stand, &gate);
	library_open(&lib, library_path);
	thread_start(&meanwhile, stand, &gate);
	CHECK(gate_wait(&gate, 2));
	library_close(&lib);
	gate_open(&gate);
	thread_join(&before);
	thread_join(&meanwhile);
	gate_end(&gate);
}

/* ---- copies ------------------------------------------------------------ */

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	char buf[65536];
	size_t got;

	CHECK(in && out);
	while ((got = fread(buf, 1, sizeof(buf), in)))
		CHECK(fwrite(buf, 1, got, out) == got);
	CHECK(!ferror(in) && fclose(out) == 0);
	fclose(in);
}

static void use_each(unsigned index, void *arg)
{
	struct use *uses = arg;
	int i;

	for (i = 0; i < NR_COPIES; i++)
		store_and_load(&uses[i], index);
}

/*
 * Files of their own are libraries of their own: each takes of the little
 * thread-local memory that the C library keeps for what is loaded late.
 */
static void many_copies_at_once(void)
{
	char dir[] = "/tmp/zswap-loading-XXXXXX", path[NR_COPIES][64];
	struct library libs[NR_COPIES];
	struct use uses[NR_COPIES];
	int i;

	CHECK(mkdtemp(dir));
	for (i = 0; i < NR_COPIES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d.so", dir, i);
		copy_file(library_path, path[i]);
		library_open(&libs[i], path[i]);
		use_begin(&uses[i], &libs[i]);
		CHECK(i == 0 || libs[i].create != libs[0].create);
	}
	run_threads(NR_USERS, use_each, uses);
	for (i = 0; i < NR_COPIES; i++) {
		leave_a_pool_behind(&uses[i]);
		use_end(&uses[i]);
		library_close(&libs[i]);
		gate_end(&uses[i].end);
		CHECK(unlink(path[i]) == 0);
	}
	CHECK(rmdir(dir) == 0);
}

/*
 * A copy in a name space of its own, with a C library of its own, beside the
 * usual one. A sanitizer's run-time library can't be there twice.
 */
static void another_name_space(void)
{
	struct library usual, other;
	struct use use_usual, use_other;

	if (TEST_ASAN || TEST_TSAN)
		return;
	library_open(&usual, library_path);
	library_take(&other,
		     dlmopen(LM_ID_NEWLM, library_path, RTLD_NOW | RTLD_LOCAL));
	CHECK(usual.create != other.create);
	use_begin(&use_usual, &usual);
	use_begin(&use_other, &other);
	store_and_load(&use_usual, 1);
	store_and_load(&use_other, 1);
	leave_a_pool_behind(&use_usual);
	leave_a_pool_behind(&use_other);
	use_end(&use_other);
	library_close(&other);
	store_and_load(&use_usual, 2);
	use_end(&use_usual);
	library_close(&usual);
	gate_end(&use_usual.end);
	gate_end(&use_other.end);
}

/* ---- thread-local memory ----------------------------------------------- */

/* What the C library keeps for libraries loaded late that want it at once. */
#define SPARE_TLS_BYTES 512

static int look_at_tls(struct dl_phdr_info *info, size_t size, void *bytes)
{
	int i;

	(void)size;
	if (!strstr(info->dlpi_name, "libzswap"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*(size_t *)bytes += info->dlpi_phdr[i].p_memsz;
	return 1;
}

/* So that there is room for it beside others that are as modest. */
static void thread_local_memory_is_small(void)
{
	struct library lib;
	size_t bytes = 0;

	library_open(&lib, library_path);
	CHECK(dl_iterate_phdr(look_at_tls, &bytes) == 1);
	CHECK(bytes > 0 && bytes <= SPARE_TLS_BYTES / 32);
	library_close(&lib);
}

/* ---- rounds ------------------------------------------------------------ */

static void one_round(void)
{
	threads_end_after(true);
	threads_end_after(false);
	load_and_unload();
	threads_that_never_called();
	watchdog_progress();
}

int main(int argc, char **argv)
{
	struct holdings before;
	size_t mappings;
	unsigned i;

	CHECK(argc == 2);
	library_path = argv[1];
	holdings_prepare();
	watchdog_start("loading", 60);
	thread_local_memory_is_small();
	with_all_keys_taken();
	many_copies_at_once();
	another_name_space();
	for (i = 0; i < WARM_UP; i++)
		one_round();
	before = holdings_now();
	mappings = process_mappings();
	for (i = 0; i < test_rounds(NR_ROUNDS); i++)
		one_round();
	with_all_keys_taken();
	many_copies_at_once();
	another_name_space();
	holdings_check_same(&before);
	CHECK(SANITIZER_KEEPS_NOTES ||
	      process_mappings() <= mappings + NR_USERS);
	watchdog_stop();
	return 0;
}
