// SPDX-License-Identifier: MIT
/*
 * codec.c - from a spec to a codec, and the table of all
 *
 * libzswap says whether a spec is good, and what its canonical form is; only
 * the level is read from that here.
 */
#include "codec.h"

#include "bench.h"
#include "codec/codecs.h"
#include "hooks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct codec_ops *const all[] = {
	&codec_lz4,        &codec_lz4hc, &codec_zstd,
#ifdef HAVE_LIBDEFLATE
	&codec_libdeflate,
#else
	&codec_zlib,
#endif
#ifdef HAVE_LZO
	&codec_lzo,
#endif
};

#define NR_CODECS (sizeof(all) / sizeof(*all))

/* ---- specs ------------------------------------------------------------- */

static const struct codec_ops *find(const char *spec)
{
	size_t len = strcspn(spec, ":");

	for (size_t i = 0; i < NR_CODECS; i++)
		if (strlen(all[i]->name) == len &&
		    !strncmp(all[i]->name, spec, len))
			return all[i];
	return NULL;
}

/* Those that libzswap has too. */
static void list_known(char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < NR_CODECS; i++) {
		if (zswap_spec_check(all[i]->name, NULL))
			continue;
		strncat(buf, *buf ? ", " : "", size - strlen(buf) - 1);
		strncat(buf, all[i]->name, size - strlen(buf) - 1);
	}
}

_Noreturn static void not_known(const char *spec)
{
	char known[256];

	list_known(known, sizeof(known));
	bad_input("--codec: '%s' is not known here; there is: %s", spec, known);
}

static void check_spec(const char *spec)
{
	const char *where;
	int err = zswap_spec_check(spec, &where);

	if (!err)
		return;
	if (err == -ENOENT)
		not_known(spec);
	if (!*where)
		bad_input("--codec: '%s': something is missing at the end",
			  spec);
	bad_input("--codec: '%s': %s at '%s'", spec,
		  err == -ERANGE ? "out of range" : "not understood", where);
}

/* A cache says it, and is not needed for anything else. */
static void write_canonical(const char *spec, char *buf, size_t size)
{
	struct zswap_params params = {
		.size = sizeof(params),
		.compressor = spec,
	};
	struct zswap *z;
	int err = zswap_create(&z, &params);

	if (err)
		broken("zswap_create with '%s': %s", spec, strerror(-err));
	zswap_get_compressor(z, buf, size);
	zswap_destroy(z);
}

struct codec codec_of(const char *spec)
{
	static const char level[] = ":level=";
	struct codec codec = { 0 };
	const char *at;

	check_spec(spec);
	write_canonical(spec, codec.spec, sizeof(codec.spec));
	codec.ops = find(codec.spec);
	if (!codec.ops)
		not_known(spec);
	at = strstr(codec.spec, level);
	codec.level = at ? atoi(at + strlen(level)) : 0;
	snprintf(codec.label, sizeof(codec.label), at ? "%s %d" : "%s",
		 codec.ops->name, codec.level);
	return codec;
}

void codec_follow_hooks(struct codec *codec)
{
	if (hooks_of_caches() && !strcmp(codec->ops->name, codec_zlib.name))
		codec->ops = &codec_zlib;
}

/* ---- contexts ---------------------------------------------------------- */

void codec_open(struct codec_ctx *c, const struct codec *codec,
		size_t page_bytes)
{
	*c = (struct codec_ctx){
		.ops = codec->ops,
		.level = codec->level,
		.page_bytes = page_bytes,
		.bound_bytes = codec->ops->bound(page_bytes),
	};
	if (c->ops->open && !c->ops->open(c))
		bad_input("%s: no memory for its contexts", codec->spec);
}

void codec_close(struct codec_ctx *c)
{
	if (c->ops && c->ops->close)
		c->ops->close(c);
	c->ops = NULL;
}
