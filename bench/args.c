// SPDX-License-Identifier: MIT
/*
 * args.c - the command line
 */
#include "args.h"

#include "bench.h"
#include "hooks.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_PAGES 16384u /* 64 MiB a corpus: no file takes minutes */
#define QUICK_MAX_PAGES 1024u
#define UNIT_BYTES 65536u /* the largest page of a cache */

static const char help[] =
	"Usage: zswap-bench [subcommand] [options]\n"
	"\n"
	"Subcommands:\n"
	"  store-load      (default) store the pages of each corpus, load "
	"each\n"
	"                  page back in random order, and set the speed "
	"beside\n"
	"                  that of the bare codec\n"
	"  units           pages of 4, 16 and 64 KiB: how much denser, and "
	"what\n"
	"                  it costs to load all of one, or 4 KiB\n"
	"  rawcut          from which compressed size on a page had better be\n"
	"                  kept raw: cut-offs of 80 to 100 % of a page\n"
	"  checksum        a cache with checksums beside one without\n"
	"  churn           how much memory stays held while pages are "
	"replaced\n"
	"                  and discarded, and how long a call is delayed; "
	"the\n"
	"                  same with other allocators\n"
	"  kernel          the same pages in a zram device of the kernel's,\n"
	"                  which is added and removed again; needs root\n"
	"  alloc           the allocator by itself, beside others, with "
	"objects\n"
	"                  of the sizes that pages compress to\n"
	"\n"
	"Sides take turns, repeat by repeat, in one process and on the same\n"
	"pages. Every page that comes back is compared.\n"
	"\n"
	"Without --corpus and --pid it starts some ordinary programs found on\n"
	"this machine, lets them work for some seconds, and reads their\n"
	"memory.\n"
	"\n"
	"  --corpus PATH   pages of a file, of a .zst file, or of each file\n"
	"                  of a folder; repeatable\n"
	"  --pid N         the anonymous memory of a running process;\n"
	"                  repeatable\n"
	"  --codec LIST    the library's specs, as in lz4,zstd:level=-1: lz4,\n"
	"                  lz4hc, zstd, deflate, and lzo where it is built "
	"in;\n"
	"                  repeatable (default: store-load lz4, kernel\n"
	"                  lz4,zstd and what there is of lzo, the others\n"
	"                  lz4,zstd:level=1)\n"
	"  --max-pages N   pages of 4 KiB used of each corpus, at most\n"
	"                  (default 16384; of a program that it starts 4096\n"
	"                  at most)\n"
	"  --repeats N     repeats of each row; store-load's first row has a\n"
	"                  third (default: as many as time allows, 5 to "
	"25;\n"
	"                  of churn 2, which take minutes, of alloc 11); not "
	"of\n"
	"                  kernel\n"
	"  --hooks NAME    what the caches take memory from: default, malloc\n"
	"                  and mmap, or jemalloc, arenas of its own; jemalloc\n"
	"                  must be preloaded, as bench/run.sh does\n"
	"  --quick         fewer pages and repeats: some seconds, for a test\n"
	"  --json FILE     write the rows to FILE as well\n"
	"  --help          this text\n"
	"\n"
	"Of store-load and checksum only:\n"
	"  --folio LIST    pages stored by one call, 1 to 512; as in\n"
	"                  1,4,16,512 (default 16)\n"
	"  --page-size N   bytes of a page: 4096 (default), 16384 or 65536\n"
	"\n"
	"Of store-load only:\n"
	"  --checksum      the cache has checksums; bare has none\n"
	"\n"
	"Of churn only:\n"
	"  --svg FILE      plot bytes held / live payload to FILE\n"
	"\n"
	"Bare is the codec library alone: its fastest documented call for\n"
	"each page, same-filled ones included, with warm contexts, output\n"
	"packed one page after another into memory that was touched before;\n"
	"the same pages in the same order, loaded into the same memory.\n"
	"\n"
	"Exit status: 0; 1 when a page came back changed or the library\n"
	"failed; 2 when the arguments, a file or the machine were not fit;\n"
	"77 when kernel finds no zram that it may use.\n";

static const struct option long_options[] = {
	{ "corpus", required_argument, NULL, 'c' },
	{ "pid", required_argument, NULL, 'p' },
	{ "folio", required_argument, NULL, 'f' },
	{ "page-size", required_argument, NULL, 's' },
	{ "checksum", no_argument, NULL, 'k' },
	{ "codec", required_argument, NULL, 'C' },
	{ "max-pages", required_argument, NULL, 'm' },
	{ "repeats", required_argument, NULL, 'r' },
	{ "hooks", required_argument, NULL, 'H' },
	{ "quick", no_argument, NULL, 'q' },
	{ "json", required_argument, NULL, 'j' },
	{ "svg", required_argument, NULL, 'g' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

#ifdef HAVE_LZO
#define KERNEL_CODECS "lz4,zstd,lzo"
#else
#define KERNEL_CODECS "lz4,zstd"
#endif

static const struct {
	const char *name;
	const char *codecs; /* by default */
	uint32_t unit_bytes;
} topics[NR_TOPICS] = {
	[STORE_LOAD] = { "store-load", "lz4", PAGE_BYTES },
	[UNITS] = { "units", "lz4,zstd:level=1", UNIT_BYTES },
	[RAWCUT] = { "rawcut", "lz4,zstd:level=1", PAGE_BYTES },
	[CHECKSUM] = { "checksum", "lz4,zstd:level=1", PAGE_BYTES },
	[CHURN] = { "churn", "lz4,zstd:level=1", PAGE_BYTES },
	[KERNEL] = { "kernel", KERNEL_CODECS, PAGE_BYTES },
	[ALLOC] = { "alloc", "lz4,zstd:level=1", PAGE_BYTES },
};

/* ---- values ------------------------------------------------------------ */

/* A plain decimal number, min .. max, and nothing else. */
static unsigned long number(const char *option, const char *text,
			    unsigned long min, unsigned long max)
{
	unsigned long value = 0;
	const char *c = text;

	for (; *c >= '0' && *c <= '9' && value <= max; c++)
		value = value * 10 + (unsigned long)(*c - '0');
	if (c == text || *c || value < min || value > max)
		bad_input("--%s: '%s' is not a number from %lu to %lu", option,
			  text, min, max);
	return value;
}

static void check_room(const char *option, size_t count)
{
	if (count >= ARGS_MAX)
		bad_input("--%s: more than %d values", option, ARGS_MAX);
}

static void add_folio(struct args *a, const char *text)
{
	check_room("folio", a->nr_folios);
	a->folios[a->nr_folios++] =
		(unsigned)number("folio", text, 1, ZSWAP_MAX_FOLIO);
}

static void add_codec(struct args *a, const char *text)
{
	check_room("codec", a->nr_codecs);
	a->codecs[a->nr_codecs++] = codec_of(text);
}

static void add_corpus(struct args *a, const char *path)
{
	check_room("corpus", a->nr_corpora);
	a->corpora[a->nr_corpora++] = path;
}

static void add_pid(struct args *a, const char *text)
{
	check_room("pid", a->nr_pids);
	a->pids[a->nr_pids++] = (pid_t)number("pid", text, 1, 1ul << 30);
}

static uint32_t page_size(const char *text)
{
	unsigned long value = number("page-size", text, 4096, 65536);

	if (value != 4096 && value != 16384 && value != 65536)
		bad_input("--page-size: '%s' is not 4096, 16384 or 65536",
			  text);
	return (uint32_t)value;
}

/* ---- lists ------------------------------------------------------------- */

/*
 * A comma parts two items of a list, or two options of a spec. "dict=auto", an
 * equals sign before any colon, is an option; "zstd:level=1" is not.
 */
static bool is_option(const char *text)
{
	return text[strcspn(text, ":=,")] == '=';
}

/* The end of the list's first item: a comma, or the end of the text. */
static char *end_of_item(char *list)
{
	char *end = list + strcspn(list, ",");

	while (*end && is_option(end + 1))
		end += 1 + strcspn(end + 1, ",");
	return end;
}

/* Calls @add for each item, empty ones included. */
static void each_item(struct args *a, const char *list,
		      void (*add)(struct args *a, const char *text))
{
	char *copy = bench_format("%s", list), *item = copy;
	bool more;

	do {
		char *end = end_of_item(item);

		more = *end;
		*end = '\0';
		add(a, item);
		item = end + 1;
	} while (more);
	free(copy);
}

/* ---- the whole --------------------------------------------------------- */

static void take_option(struct args *a, int option, const char *value)
{
	switch (option) {
	case 'c':
		add_corpus(a, value);
		break;
	case 'p':
		add_pid(a, value);
		break;
	case 'f':
		each_item(a, value, add_folio);
		break;
	case 's':
		a->page_bytes = page_size(value);
		break;
	case 'k':
		a->checksum = true;
		break;
	case 'C':
		each_item(a, value, add_codec);
		break;
	case 'm':
		a->max_pages = number("max-pages", value, 1, 1ul << 24);
		break;
	case 'r':
		a->repeats = (unsigned)number("repeats", value, 1, 10000);
		break;
	case 'H':
		hooks_choose(value);
		break;
	case 'q':
		a->quick = true;
		break;
	case 'j':
		a->json = value;
		break;
	case 'g':
		a->svg = value;
		break;
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		exit(EXIT_BAD_INPUT); /* getopt has said why */
	}
}

static enum topic topic_of(const char *name)
{
	for (int i = 0; i < NR_TOPICS; i++)
		if (!strcmp(topics[i].name, name))
			return (enum topic)i;
	bad_input("'%s': no subcommand; see --help", name);
}

_Noreturn static void refuse(const struct args *a, const char *option)
{
	bad_input("--%s: not an option of %s; see --help", option,
		  topics[a->topic].name);
}

static void check_options(const struct args *a)
{
	bool has_folios = a->topic == STORE_LOAD || a->topic == CHECKSUM;

	if (a->repeats && a->topic == KERNEL)
		refuse(a, "repeats");
	if (a->svg && a->topic != CHURN)
		refuse(a, "svg");
	if (a->checksum && a->topic != STORE_LOAD)
		refuse(a, "checksum");
	if (a->nr_folios && !has_folios)
		refuse(a, "folio");
	if (a->page_bytes && !has_folios)
		refuse(a, "page-size");
}

static void set_defaults(struct args *a)
{
	if (!a->nr_folios)
		add_folio(a, "16");
	if (!a->nr_codecs)
		each_item(a, topics[a->topic].codecs, add_codec);
	for (size_t i = 0; i < a->nr_codecs; i++)
		codec_follow_hooks(&a->codecs[i]);
	if (!a->page_bytes)
		a->page_bytes = PAGE_BYTES;
	if (!a->max_pages)
		a->max_pages = a->quick ? QUICK_MAX_PAGES : DEFAULT_MAX_PAGES;
	a->unit_bytes = topics[a->topic].unit_bytes;
	if (a->unit_bytes < a->page_bytes)
		a->unit_bytes = a->page_bytes;
}

struct args args_parse(int argc, char **argv)
{
	static char name[] = "zswap-bench";
	struct args a = { 0 };
	int option;

	argv[0] = name; /* getopt begins its messages with it */
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) >= 0)
		take_option(&a, option, optarg);
	if (optind < argc)
		a.topic = topic_of(argv[optind++]);
	if (optind < argc)
		bad_input("'%s': not an option; see --help", argv[optind]);
	check_options(&a);
	set_defaults(&a);
	return a;
}
