/* SPDX-License-Identifier: MIT */
/*
 * spec.h - from a text to a compressor, its options, and their canonical form
 *
 *	"name" or "name:option=value,option=value"
 *
 * Two specs that mean the same have one canonical form, which is the identity
 * of a pool: the built-in compressor's options, all of them, in a fixed order.
 * Options of a caller's own compressor are known to it alone; there the text is
 * the identity.
 *
 * Every error has a place, so that a caller can be told what is wrong and not
 * just that something is.
 */
#ifndef ZSWAP_SPEC_H
#define ZSWAP_SPEC_H

#include "base.h"

#include <zswap/compressor.h>
#include <zswap/zswap.h>

#define SPEC_MAX_NAME 31

/* The compressors of a cache's own, looked through before the built-in ones. */
struct comp_list {
	const struct zswap_compressor *const *all;
	size_t nr;
};

/* What level a codec's library takes; without the option all are 0. */
struct comp_levels {
	int min, max;
	int normal;          /* the default */
	bool zero_is_normal; /* 0 is another word for the default */
};

/* A built-in compressor, in comp/NAME.c. */
struct comp_builtin {
	const struct zswap_compressor *ops;
	/* Takes all memory from its environment; NULL: the same. */
	const struct zswap_compressor *hooked_ops;
	void (*levels)(struct comp_levels *out); /* NULL: no option */
};

struct spec {
	const struct zswap_compressor *ops;
	const struct zswap_compressor *hooked_ops; /* where memory is hooked */
	char canonical[ZSWAP_MAX_SPEC + 1];
	const char *options; /* in canonical: what follows the colon, or "" */
};

/**
 * spec_resolve() - find what a text asks for
 * @where: NULL, or receives the place of an error in @text, NULL if there is
 *         none
 *
 * Return: 0, or -EINVAL, -ENOENT, -ERANGE as zswap_spec_check(). @out is then
 *         undefined.
 */
int spec_resolve(const struct comp_list *own, const char *text,
		 struct spec *out, const char **where);

/* Whether a caller's compressor has all that one needs. */
bool spec_ops_are_complete(const struct zswap_compressor *ops);

/* The level in a built-in compressor's canonical options. */
int spec_level(const char *options);

#endif /* ZSWAP_SPEC_H */
