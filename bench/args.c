// SPDX-License-Identifier: MIT
/*
 * args.c - the command line
 */
#include "args.h"

#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zswap/zswap.h>

#define DEFAULT_MAX_PAGES 16384u /* 64 MiB a corpus: no file takes minutes */
#define QUICK_MAX_PAGES 1024u

static const char help[] =
	"Usage: zswap-bench [options]\n"
	"\n"
	"Stores the pages of each corpus in a libzswap cache, loads each page\n"
	"back in random order, compares every byte, and sets the speed beside\n"
	"that of the bare codec in the same run.\n"
	"\n"
	"Without --corpus and --pid it starts some ordinary programs found on\n"
	"this machine, lets them work for some seconds, and reads their\n"
	"memory.\n"
	"\n"
	"  --corpus PATH   pages of a file, of a .zst file, or of each file\n"
	"                  of a folder; repeatable\n"
	"  --pid N         the anonymous memory of a running process;\n"
	"                  repeatable\n"
	"  --folio LIST    pages stored by one call, 1 to 512; as in\n"
	"                  1,4,16,512 (default 16)\n"
	"  --codec LIST    codecs (default lz4)\n"
	"  --max-pages N   pages used of each corpus, at most (default 16384;\n"
	"                  of a program that it starts 4096 at most)\n"
	"  --repeats N     repeats of the warm row; the first row has a third\n"
	"                  (default: as many as time allows, 5 to 25)\n"
	"  --quick         fewer pages and repeats: some seconds, for a test\n"
	"  --json FILE     write the rows to FILE as well\n"
	"  --help          this text\n"
	"\n"
	"Bare is the codec library alone: its fastest documented call for\n"
	"each page, same-filled ones included, output packed one page after\n"
	"another into memory that was touched before; the same pages in the\n"
	"same order, loaded into the same memory. The two sides take turns,\n"
	"repeat by repeat.\n"
	"\n"
	"Exit status: 0; 1 when a page came back changed or the library\n"
	"failed; 2 when the arguments, a file or the machine were not fit.\n";

static const struct option long_options[] = {
	{ "corpus", required_argument, NULL, 'c' },
	{ "pid", required_argument, NULL, 'p' },
	{ "folio", required_argument, NULL, 'f' },
	{ "codec", required_argument, NULL, 'C' },
	{ "max-pages", required_argument, NULL, 'm' },
	{ "repeats", required_argument, NULL, 'r' },
	{ "quick", no_argument, NULL, 'q' },
	{ "json", required_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
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

static void known_codecs(char *buf, size_t size)
{
	const struct codec *codec;

	buf[0] = '\0';
	for (size_t i = 0; (codec = codec_at(i)); i++) {
		strncat(buf, i ? ", " : "", size - strlen(buf) - 1);
		strncat(buf, codec->name, size - strlen(buf) - 1);
	}
}

static void add_codec(struct args *a, const char *text)
{
	const struct codec *codec = codec_find(text);
	char known[256];

	if (!codec) {
		known_codecs(known, sizeof(known));
		bad_input("--codec: '%s' is not known here; there is: %s", text,
			  known);
	}
	check_room("codec", a->nr_codecs);
	a->codecs[a->nr_codecs++] = codec;
}

/* Calls @add for each part between commas, empty ones included. */
static void each_part(struct args *a, const char *list,
		      void (*add)(struct args *a, const char *text))
{
	char *copy = bench_format("%s", list), *rest = copy, *part;

	while ((part = strsep(&rest, ",")))
		add(a, part);
	free(copy);
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
		each_part(a, value, add_folio);
		break;
	case 'C':
		each_part(a, value, add_codec);
		break;
	case 'm':
		a->max_pages = number("max-pages", value, 1, 1ul << 24);
		break;
	case 'r':
		a->repeats = (unsigned)number("repeats", value, 1, 10000);
		break;
	case 'q':
		a->quick = true;
		break;
	case 'j':
		a->json = value;
		break;
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		exit(EXIT_BAD_INPUT); /* getopt has said why */
	}
}

static void set_defaults(struct args *a)
{
	if (!a->nr_folios)
		add_folio(a, "16");
	if (!a->nr_codecs)
		add_codec(a, "lz4");
	if (!a->max_pages)
		a->max_pages = a->quick ? QUICK_MAX_PAGES : DEFAULT_MAX_PAGES;
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
		bad_input("'%s': not an option; see --help", argv[optind]);
	set_defaults(&a);
	return a;
}
