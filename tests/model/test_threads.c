// SPDX-License-Identifier: MIT
/*
 * test_threads.c - no thread of a cache has a number that the driver uses
 *
 * The driver's only thread makes its calls under one number after another. A
 * cache's thread used to get one of these. If it then was held up with a lock
 * in its hands, which is rare, the driver's seemed to take that lock twice, and
 * a debug build trapped.
 */
#include <sched.h>

#include "reproduce.h"
#include "sync.h"

static _Atomic unsigned number; /* of the thread that ended an instance */

static void note_number(void *arg, enum codec_event event)
{
	(void)arg;
	if (event == CODEC_DESTROY)
		atomic_store(&number, thread_number());
}

static struct zswap *create_cache(struct codec *codec)
{
	struct zswap_params params = { .size = sizeof(params),
				       .compressor = codec->spec,
				       .compressors = &codec->vtable_list,
				       .nr_compressors = 1 };
	struct zswap *z;

	CHECK(zswap_create(&z, &params) == 0);
	CHECK(zswap_swapon(z, 0, 1) == 0);
	return z;
}

/* A load takes the last page of a retired pool, and a thread ends that. */
static void have_pool_ended(struct zswap *z)
{
	static char page[4096];

	CHECK(zswap_store(z, zswap_slot(0, 0), palette_at(4096, 0)) == 0);
	CHECK(zswap_query(z, zswap_slot(0, 0)) == ZSWAP_STORED);
	CHECK(zswap_set_compressor(z, "lz4") == 0);
	CHECK(io_stats(z).pools == 2);
	CHECK(zswap_load(z, zswap_slot(0, 0), page) == 0);
	while (io_stats(z).pools > 1)
		sched_yield();
}

int main(void)
{
	for (unsigned i = 0; i < IO_THREADS; i++) {
		struct codec codec;
		struct zswap *z;

		io_be_thread(i);
		codec_init(&codec, 1);
		codec.event = note_number;
		z = create_cache(&codec);
		have_pool_ended(z);
		CHECK(atomic_load(&number) >= IO_THREADS);
		zswap_destroy(z);
		CHECK(codec_end(&codec));
	}
	return 0;
}
