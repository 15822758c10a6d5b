/* SPDX-License-Identifier: MIT */
/* args.h - what the caller of zswap-bench asked for */
#ifndef BENCH_ARGS_H
#define BENCH_ARGS_H

#include "codec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ARGS_MAX 64 /* of each list */

/* The subcommands. */
enum topic {
	STORE_LOAD,
	UNITS,
	RAWCUT,
	CHECKSUM,
	CHURN,
	KERNEL,
	ALLOC,
	NR_TOPICS
};

struct args {
	enum topic topic;
	const char *corpora[ARGS_MAX];
	pid_t pids[ARGS_MAX];
	unsigned folios[ARGS_MAX];
	struct codec codecs[ARGS_MAX];
	size_t nr_corpora, nr_pids, nr_folios, nr_codecs;
	uint32_t page_bytes; /* of the cache's pages */
	uint32_t unit_bytes; /* corpora are cut to whole ones of these */
	size_t max_pages;    /* of PAGE_BYTES */
	unsigned repeats;    /* 0: as many as time allows */
	const char *json;    /* NULL: none */
	const char *svg;     /* likewise */
	bool checksum;
	bool quick;
};

/* args_parse() - ends the program for --help and for what it does not know */
struct args args_parse(int argc, char **argv);

#endif /* BENCH_ARGS_H */
