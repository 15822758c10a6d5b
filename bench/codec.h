/* SPDX-License-Identifier: MIT */
/*
 * codec.h - the bare codecs that the cache is compared with
 *
 * A codec is asked for by the library's own spec, and is what its library
 * offers as the fastest documented sequence for one page at that level, with
 * contexts that were made and used before. A codec to come is a file in codec/
 * and a line in the table of codec.c.
 */
#ifndef BENCH_CODEC_H
#define BENCH_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include <zswap/zswap.h>

struct codec_ctx;

/* The calls of one codec; see codec/NAME.c. */
struct codec_ops {
	const char *name;    /* as in a spec */
	const char *made_by; /* the library that does the work */
	const char *(*version)(void);

	/* Makes c->state; false when it can't. NULL: there is no state. */
	bool (*open)(struct codec_ctx *c);
	void (*close)(struct codec_ctx *c);

	/* The longest result of compress(). */
	size_t (*bound)(size_t page_bytes);

	/* A page into @dst with room for bound(); the length, 0 on failure. */
	size_t (*compress)(const struct codec_ctx *c, const void *page,
			   void *dst);

	/* A page out of @len bytes; whether it came out. */
	bool (*decompress)(const struct codec_ctx *c, const void *src,
			   size_t len, void *page);
};

/* What a spec asks for. */
struct codec {
	const struct codec_ops *ops;
	int level;                     /* 0 where the codec has none */
	char spec[ZSWAP_MAX_SPEC + 1]; /* the canonical form */
	char label[32];                /* short, for tables: "zstd -1" */
};

/* A codec at work on pages of one size, for one thread. */
struct codec_ctx {
	const struct codec_ops *ops;
	int level;
	size_t page_bytes;
	size_t bound_bytes;
	void *state;
};

/* codec_of() - what @spec asks for; ends the program when it is no good */
struct codec codec_of(const char *spec);

/*
 * codec_follow_hooks() - once it is known where the caches' memory comes from:
 * with hooks the library's "deflate" is by zlib, and so is what it is compared
 * with
 */
void codec_follow_hooks(struct codec *codec);

/* codec_open() - make contexts; ends the program when it can't */
void codec_open(struct codec_ctx *c, const struct codec *codec,
		size_t page_bytes);
void codec_close(struct codec_ctx *c);

static inline size_t codec_compress(const struct codec_ctx *c, const void *page,
				    void *dst)
{
	return c->ops->compress(c, page, dst);
}

static inline bool codec_decompress(const struct codec_ctx *c, const void *src,
				    size_t len, void *page)
{
	return c->ops->decompress(c, src, len, page);
}

#endif /* BENCH_CODEC_H */
