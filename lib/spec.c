// SPDX-License-Identifier: MIT
#include "spec.h"

#include "comp_builtin.h"

#include <limits.h>
#include <string.h>

static const struct comp_builtin *const builtin[] = {
	&comp_lz4, &comp_lz4hc, &comp_zstd, &comp_deflate,
#ifdef HAVE_LZO
	&comp_lzo,
#endif
};

/* A piece of a text. */
struct piece {
	const char *at;
	size_t len;
};

static bool piece_is(struct piece piece, const char *word)
{
	return strlen(word) == piece.len && !memcmp(piece.at, word, piece.len);
}

/* An error and its place; for use in a return. */
static int fail_at(const char **where, const char *place, int err)
{
	*where = place;
	return err;
}

/* ---- names --------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-';
}

static bool is_name(const char *name)
{
	size_t len = 0;

	while (is_name_char(name[len]))
		len++;
	return len && len <= SPEC_MAX_NAME && !name[len];
}

bool spec_ops_are_complete(const struct zswap_compressor *ops)
{
	if (!ops || ops->size < sizeof(*ops) || !ops->name ||
	    !is_name(ops->name))
		return false;
	if (ops->flags & ~ZSWAP_COMP_SEGMENTS)
		return false;
	if (ops->batch_size > ZSWAP_COMP_MAX_BATCH ||
	    (ops->batch_size > 1 && !(ops->flags & ZSWAP_COMP_SEGMENTS)))
		return false;
	return ops->compress && ops->decompress;
}

static const struct zswap_compressor *find_own(const struct comp_list *own,
					       struct piece name)
{
	for (size_t i = 0; i < own->nr; i++)
		if (piece_is(name, own->all[i]->name))
			return own->all[i];
	return NULL;
}

static const struct comp_builtin *find_builtin(struct piece name)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtin); i++)
		if (piece_is(name, builtin[i]->ops->name))
			return builtin[i];
	return NULL;
}

/* ---- options ------------------------------------------------------------- */

/*
 * An optional sign and digits. One that is too large for a long long is as far
 * out of any range as one that just fits.
 */
static bool parse_number(struct piece text, long long *out)
{
	bool minus = text.len && text.at[0] == '-';
	size_t i = minus || (text.len && text.at[0] == '+');
	long long n = 0;

	if (i == text.len)
		return false;
	for (; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		if (n <= (LLONG_MAX - 9) / 10)
			n = 10 * n + (text.at[i] - '0');
	}
	*out = minus ? -n : n;
	return true;
}

/* What lies before the next comma, which is passed over. */
static struct piece next_option(struct piece *rest)
{
	const char *comma = memchr(rest->at, ',', rest->len);
	size_t len = comma ? (size_t)(comma - rest->at) : rest->len;
	struct piece option = { rest->at, len };

	rest->at += len + !!comma;
	rest->len -= len + !!comma;
	return option;
}

/* One option, "level=N". */
static int parse_level(struct piece option, const struct comp_levels *levels,
		       int *level, const char **where)
{
	const char *equals = memchr(option.at, '=', option.len);
	struct piece name = { option.at, equals ? (size_t)(equals - option.at) :
						  option.len };
	struct piece value;
	long long n;

	if (!piece_is(name, "level") || !equals)
		return fail_at(where, option.at, -EINVAL);
	value.at = equals + 1;
	value.len = option.len - name.len - 1;
	if (!parse_number(value, &n))
		return fail_at(where, value.at, -EINVAL);
	if (!n && levels->zero_is_normal)
		n = levels->normal;
	if (n < levels->min || n > levels->max)
		return fail_at(where, value.at, -ERANGE);
	*level = (int)n;
	return 0;
}

/* The only option there is so far is the level; it may come once. */
static int parse_options(struct piece options, const struct comp_levels *levels,
			 int *level, const char **where)
{
	bool given = false, more;

	do {
		struct piece option = next_option(&options);
		int err;

		more = options.at > option.at + option.len; /* a comma */
		if (given)
			return fail_at(where, option.at, -EINVAL);
		err = parse_level(option, levels, level, where);
		if (err)
			return err;
		given = true;
	} while (more);
	return 0;
}

int spec_level(const char *options)
{
	struct piece value = { options, strlen(options) };
	long long n = 0;

	if (value.len > strlen("level=")) {
		value.at += strlen("level=");
		value.len -= strlen("level=");
		parse_number(value, &n);
	}
	return (int)n;
}

/* ---- the canonical form -------------------------------------------------- */

static char *put(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	at[len] = '\0';
	return at + len;
}

static char *put_int(char *at, int n)
{
	char digits[16];
	size_t i = sizeof(digits);
	long long rest = n < 0 ? -(long long)n : n;

	do {
		digits[--i] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (n < 0)
		digits[--i] = '-';
	return put(at, &digits[i], sizeof(digits) - i);
}

static int resolve_builtin(const struct comp_builtin *found,
			   struct piece *options, struct spec *out,
			   const char **where)
{
	struct comp_levels levels;
	const char *name = found->ops->name;
	char *at;
	int err = 0, level;

	out->ops = found->ops;
	out->hooked_ops = found->hooked_ops ? found->hooked_ops : found->ops;
	at = put(out->canonical, name, strlen(name));
	out->options = at;
	if (!found->levels)
		return options ? fail_at(where, options->at, -EINVAL) : 0;
	found->levels(&levels);
	level = levels.normal;
	if (options)
		err = parse_options(*options, &levels, &level, where);
	if (err)
		return err;
	at = put(at, ":level=", strlen(":level="));
	put_int(at, level);
	out->options++;
	return 0;
}

static int resolve_own(const struct zswap_compressor *ops, struct piece name,
		       struct piece *options, struct spec *out)
{
	char *at = put(out->canonical, name.at, name.len);

	out->ops = out->hooked_ops = ops;
	out->options = at;
	if (!options)
		return 0;
	at = put(at, ":", 1);
	put(at, options->at, options->len);
	out->options = at;
	return 0;
}

/* ---- the whole ----------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Without the white space around it. */
static struct piece trimmed(const char *text)
{
	struct piece piece;

	while (is_space(*text))
		text++;
	piece.at = text;
	piece.len = strlen(text);
	while (piece.len && is_space(piece.at[piece.len - 1]))
		piece.len--;
	return piece;
}

/* Cuts a spec in its name and, if there is a colon, its options. */
static int cut_spec(struct piece all, struct piece *name, struct piece *options,
		    const char **where)
{
	*name = (struct piece){ all.at, 0 };
	*options = (struct piece){ NULL, 0 };
	if (all.len > ZSWAP_MAX_SPEC)
		return fail_at(where, all.at + ZSWAP_MAX_SPEC, -EINVAL);
	while (name->len < all.len && is_name_char(all.at[name->len]))
		name->len++;
	if (!name->len)
		return fail_at(where, all.at, -EINVAL);
	if (name->len > SPEC_MAX_NAME)
		return fail_at(where, all.at + SPEC_MAX_NAME, -EINVAL);
	if (name->len == all.len)
		return 0;
	if (all.at[name->len] != ':')
		return fail_at(where, all.at + name->len, -EINVAL);
	options->at = all.at + name->len + 1;
	options->len = all.len - name->len - 1;
	return options->len ? 0 : fail_at(where, options->at, -EINVAL);
}

int spec_resolve(const struct comp_list *own, const char *text,
		 struct spec *out, const char **where)
{
	const struct zswap_compressor *ops;
	const struct comp_builtin *found;
	struct piece name, options;
	const char *ignored;
	int err;

	where = where ? where : &ignored;
	*where = NULL;
	err = cut_spec(trimmed(text), &name, &options, where);
	if (err)
		return err;
	ops = find_own(own, name);
	if (ops)
		return resolve_own(ops, name, options.at ? &options : NULL,
				   out);
	found = find_builtin(name);
	if (!found)
		return fail_at(where, name.at, -ENOENT);
	return resolve_builtin(found, options.at ? &options : NULL, out, where);
}
