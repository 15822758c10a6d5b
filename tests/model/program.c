// SPDX-License-Identifier: MIT
/*
 * program.c - what a sequence does, as a C program
 */
#include "program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "child.h"

static const char prologue[] = "#include \"reproduce.h\"\n"
			       "\n"
			       "static struct zswap *z, *none;\n"
			       "static struct zswap_params params;\n"
			       "static struct faulty hooks;\n"
			       "static struct codec codec;\n"
			       "static const struct zswap_compressor *own[2];\n"
			       "static struct io io[2];\n"
			       "static struct zswap_folio folio;\n"
			       "static struct zswap_stats stats;\n"
			       "static zswap_slot_t slot;\n"
			       "static char text[8192];\n"
			       "static unsigned i;\n"
			       "static long err;\n"
			       "\n";

static const char beginning[] =
	"\t(void)z, (void)none, (void)params, (void)own, (void)folio, "
	"(void)stats;\n"
	"\t(void)slot, (void)text, (void)i, (void)err;\n"
	"\tio_be_thread(0);\n";

static int body = -1, functions, out;
static bool *in_function; /* shared with the child */

void program_start(void)
{
	body = memfd_create("body", 0);
	functions = memfd_create("functions", 0);
	in_function = child_shared_memory(sizeof(*in_function));
	CHECK(body >= 0 && functions >= 0);
	out = body;
}

void say(const char *format, ...)
{
	va_list args;

	if (body < 0)
		return;
	CHECK(write(out, "\t", 1) == 1);
	va_start(args, format);
	CHECK(vdprintf(out, format, args) > 0);
	va_end(args);
	CHECK(write(out, "\n", 1) == 1);
}

void program_function(unsigned number)
{
	if (body < 0)
		return;
	*in_function = true;
	out = functions;
	CHECK(dprintf(out,
		      "static void call_%u(void *arg)\n{\n\t(void)arg;\n"
		      "\tcodec.compress.call = codec.decompress.call = NULL;\n"
		      "\tio_call_at_create(NULL, NULL);\n",
		      number) > 0);
}

void program_function_end(void)
{
	if (body < 0)
		return;
	CHECK(dprintf(out, "}\n\n") > 0);
	*in_function = false;
	out = body;
}

const char *slot_text(zswap_slot_t slot)
{
	static char texts[4][64];
	static unsigned turn;
	char *text = texts[turn++ % 4];

	if (slot.val == ZSWAP_SLOT_NONE)
		snprintf(text, sizeof(texts[0]), "zswap_slot(65536, 0)");
	else
		snprintf(text, sizeof(texts[0]), "zswap_slot(%u, %" PRIu64 ")",
			 zswap_slot_type(slot), zswap_slot_offset(slot));
	return text;
}

const char *string_text(const char *string)
{
	static char text[2 * ZSWAP_MAX_SPEC];
	char *to = text;

	*to++ = '"';
	for (; *string; string++) {
		if (*string == '\n')
			*to++ = '\\';
		*to++ = *string == '\n' ? 'n' : *string;
	}
	strcpy(to, "\"");
	return text;
}

static void print_file(int fd)
{
	char buf[4096];
	ssize_t n;

	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	close(fd);
}

void program_print(void)
{
	fputs(prologue, stdout);
	print_file(functions);
	if (*in_function)
		puts("}\n");
	printf("int main(void)\n{\n%s", beginning);
	print_file(body);
	puts("\treturn 0;\n}");
	body = -1;
}
