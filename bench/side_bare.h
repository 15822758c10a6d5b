/* SPDX-License-Identifier: MIT */
/* side_bare.h - the codec alone, packing into memory touched before */
#ifndef BENCH_SIDE_BARE_H
#define BENCH_SIDE_BARE_H

#include "codec.h"
#include "side.h"

struct bare_page {
	size_t at;    /* in packed */
	uint32_t len; /* 0: kept as it is */
};

struct side_bare {
	struct side side;
	struct layout layout;
	struct codec_ctx codec;
	unsigned char *packed;
	size_t packed_bytes;
	size_t *folio_at;        /* where each folio's room begins */
	struct bare_page *pages; /* where each page is now */
};

/* bare_init() - ready for use, all pages packed once */
void bare_init(struct side_bare *b, const struct layout *layout,
	       const struct codec *codec);
void bare_free(struct side_bare *b);

#endif /* BENCH_SIDE_BARE_H */
