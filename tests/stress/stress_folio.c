// SPDX-License-Identifier: MIT
/*
 * stress_folio.c - a folio is stored, and loaded, as one
 *
 * Writers store folios of pages of one version over the same slots, across a
 * border of 512. Whoever reads them together sees one version. As all calls
 * here act on all slots, nobody may ever find some of them absent.
 */
#include "stress.h"

#include <stdlib.h>
#include <unistd.h>

#define NR_PAGES 24
#define FIRST (BORDER - 11)
#define NR_WRITERS 2
#define NR_READERS 2
#define NR_TAKERS 1

struct scene {
	struct zswap *z;
	uint64_t deadline;
};

static struct zswap_folio whole_folio(char *data)
{
	struct zswap_folio folio = { .size = sizeof(folio),
				     .slot = at(FIRST),
				     .nr_pages = NR_PAGES,
				     .data = data };

	return folio;
}

static void write_folios(struct scene *scene, unsigned writer, char *data)
{
	struct zswap_folio folio = whole_folio(data);
	uint64_t n, i;

	for (n = 0; !deadline_is_over(scene->deadline); n++) {
		for (i = 0; i < NR_PAGES; i++)
			page_stamp(data + i * PAGE_BYTES, PAGE_BYTES, FIRST + i,
				   n * NR_WRITERS + writer);
		CHECK(zswap_store_folio(scene->z, &folio) == 0);
		/* Readers need a time in which nothing is replaced. */
		if (n % 8 == 0)
			usleep(200);
	}
}

static void check_one_version(const char *data)
{
	uint64_t first, version, i;

	for (i = 0; i < NR_PAGES; i++) {
		CHECK(page_verify(data + i * PAGE_BYTES, PAGE_BYTES, FIRST + i,
				  &version));
		if (i == 0)
			first = version;
		CHECK(version == first);
	}
}

/* PARTIAL by turns: it delivers all or nothing here as well. */
static void read_folios(struct scene *scene, unsigned keep, char *data)
{
	struct zswap_folio folio = whole_folio(data);
	unsigned partial = 0;
	int result;

	while (!deadline_is_over(scene->deadline)) {
		partial ^= ZSWAP_LOAD_PARTIAL;
		result = zswap_load_folio(scene->z, &folio, keep | partial);
		if (partial)
			CHECK(result == 0 || result == NR_PAGES);
		else
			CHECK(result == 0 || result == -ENOENT);
		if (partial ? result == NR_PAGES : result == 0)
			check_one_version(data);
		if (!keep)
			usleep(100);
	}
}

static void run(unsigned index, void *arg)
{
	char *data = malloc(NR_PAGES * PAGE_BYTES);

	CHECK(data);
	if (index < NR_WRITERS)
		write_folios(arg, index, data);
	else if (index < NR_WRITERS + NR_READERS)
		read_folios(arg, ZSWAP_LOAD_KEEP, data);
	else
		read_folios(arg, 0, data);
	free(data);
}

int main(void)
{
	struct scene scene = { .z = stress_begin("folio") };

	scene.deadline = deadline_after_ms(1500);
	run_threads(NR_WRITERS + NR_READERS + NR_TAKERS, run, &scene);
	stress_end(scene.z);
	return 0;
}
