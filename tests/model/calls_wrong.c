// SPDX-License-Identifier: MIT
/*
 * calls_wrong.c - arguments that are refused, and change nothing
 */
#include "world.h"

#include <string.h>

/* Says and makes a call that must return this. */
#define REFUSED(call, expected)          \
	do {                             \
		long err;                \
                                         \
		say("err = %s;", #call); \
		err = call;              \
		EXPECT(err, expected);   \
	} while (0)

static void wrong_folios(struct zswap *z, struct zswap_folio folio)
{
	REFUSED(zswap_store_folio(z, NULL), -EINVAL);
	REFUSED(zswap_load_folio(z, NULL, 0), -EINVAL);
	REFUSED(zswap_store_folio(z, &folio), -EINVAL);
	REFUSED(zswap_load_folio(z, &folio, 0), -EINVAL);
}

static void choose_wrong_folio(struct world *w, struct zswap_folio *folio)
{
	struct io *io = own_io(w);

	switch (choose(w, 6)) {
	case 0:
		say("folio.nr_pages = 0;");
		folio->nr_pages = 0;
		break;
	case 1:
		say("folio.nr_pages = ZSWAP_MAX_FOLIO + 1;");
		folio->nr_pages = ZSWAP_MAX_FOLIO + 1;
		break;
	case 2:
		say("folio.flags = 1;");
		folio->flags = 1;
		break;
	case 3:
		say("folio.data = NULL;");
		folio->data = NULL;
		break;
	case 4:
		say("folio.pages = io[0].pages;");
		folio->pages = io->pages;
		break;
	default:
		say("folio.size--;");
		folio->size--;
		break;
	}
}

static void wrong_slots(struct zswap *z, struct io *io)
{
	zswap_slot_t slot = { ZSWAP_SLOT_NONE };

	say("slot.val = ZSWAP_SLOT_NONE;");
	REFUSED(zswap_store(z, slot, io->data), -ENXIO);
	REFUSED(zswap_load(z, slot, io->data), -ENXIO);
	REFUSED(zswap_peek(z, slot, io->data), -ENXIO);
	REFUSED(zswap_query(z, slot), -ENXIO);
	REFUSED(zswap_is_present(z, slot, UINT64_MAX), false);
	REFUSED(zswap_next_present(z, &slot), false);
	REFUSED(zswap_next_present(z, NULL), false);
	REFUSED(zswap_store(z, slot, NULL), -EINVAL);
	REFUSED(zswap_load(z, slot, NULL), -EINVAL);
	say("zswap_invalidate(z, slot, UINT64_MAX);");
	zswap_invalidate(z, slot, UINT64_MAX);
}

static void wrong_settings(struct zswap *z)
{
	REFUSED(zswap_swapon(z, ZSWAP_MAX_TYPES, 1), -EINVAL);
	REFUSED(zswap_swapon(z, 1, 0), -EINVAL);
	REFUSED(zswap_swapon(z, 1, ZSWAP_MAX_SLOTS + 1), -EINVAL);
	REFUSED(zswap_swapoff(z, 1), -ENXIO);
	REFUSED(zswap_set_max_pool_percent(z, 101), -EINVAL);
	REFUSED(zswap_set_accept_threshold_percent(z, 101), -EINVAL);
	REFUSED(zswap_set_compressor(z, NULL), -EINVAL);
	REFUSED(zswap_get_compressor(z, NULL, 1), -EINVAL);
	REFUSED(zswap_get_stats(z, NULL), -EINVAL);
	REFUSED(zswap_format_stats(z, ZSWAP_STATS_TEXT, NULL, 1), -EINVAL);
	REFUSED(zswap_format_stats(z, (enum zswap_stats_format)1, NULL, 0),
		-EINVAL);
}

/* Says and sets one field of the parameters to what no cache can be made of. */
#define WRONG_PARAM(field, value)                               \
	do {                                                    \
		say("params.%s = %s;", #field, #value);         \
		params.field = value;                           \
		REFUSED(zswap_create(&none, &params), -EINVAL); \
		CHECK(!none);                                   \
		say("params.%s = 0;", #field);                  \
		params.field = 0;                               \
	} while (0)

static void wrong_params(void)
{
	struct zswap_params params = { .size = sizeof(params) };
	struct zswap *none;

	say("params = (struct zswap_params){ .size = sizeof(params) };");
	WRONG_PARAM(page_size, 4095);
	WRONG_PARAM(max_pool_percent, 101);
	WRONG_PARAM(accept_threshold_percent, 101);
	WRONG_PARAM(raw_policy, ZSWAP_RAW_REFUSE + 1);
	WRONG_PARAM(checksum, 2);
	WRONG_PARAM(chain_size, 17);
	WRONG_PARAM(class_choice, ZSWAP_CLASSES_ADAPTIVE + 1);
	WRONG_PARAM(compaction, ZSWAP_COMPACT_MANUAL + 1);
	WRONG_PARAM(memory_flags, ZSWAP_MEM_WIPE << 1);
	say("params.size--;");
	params.size--;
	REFUSED(zswap_create(&none, &params), -EINVAL);
}

/* Without a cache every call answers, and does nothing. */
static void no_cache(struct io *io)
{
	struct zswap_folio folio =
		io_folio(io, zswap_slot(0, 0), 1, IO_DATA, false);
	struct zswap_stats stats = { .size = sizeof(stats) };
	zswap_slot_t slot = zswap_slot(0, 0);

	REFUSED(zswap_create(NULL, NULL), -EINVAL);
	REFUSED(zswap_store(NULL, slot, io->data), -EINVAL);
	REFUSED(zswap_store_folio(NULL, &folio), -EINVAL);
	REFUSED(zswap_load(NULL, slot, io->data), -EINVAL);
	REFUSED(zswap_peek(NULL, slot, io->data), -EINVAL);
	REFUSED(zswap_load_folio(NULL, &folio, 0), -EINVAL);
	REFUSED(zswap_query(NULL, slot), -EINVAL);
	REFUSED(zswap_is_present(NULL, slot, 1), false);
	REFUSED(zswap_next_present(NULL, &slot), false);
	REFUSED(zswap_swapon(NULL, 1, 1), -EINVAL);
	REFUSED(zswap_swapoff(NULL, 1), -EINVAL);
	REFUSED(zswap_set_enabled(NULL, true), -EINVAL);
	REFUSED(zswap_set_max_pool_bytes(NULL, 0), -EINVAL);
	REFUSED(zswap_set_max_pool_percent(NULL, 0), -EINVAL);
	REFUSED(zswap_set_accept_threshold_percent(NULL, 0), -EINVAL);
	REFUSED(zswap_set_compressor(NULL, "lz4"), -EINVAL);
	REFUSED(zswap_get_compressor(NULL, NULL, 0), -EINVAL);
	REFUSED(zswap_get_stats(NULL, &stats), -EINVAL);
	REFUSED(zswap_format_stats(NULL, ZSWAP_STATS_TEXT, NULL, 0), -EINVAL);
	REFUSED(zswap_spec_check(NULL, NULL), -EINVAL);
	REFUSED(zswap_compact(NULL), -EINVAL);
	REFUSED((long)zswap_page_size(NULL), 0);
	zswap_invalidate(NULL, slot, 1);
	zswap_destroy(NULL);
}

/* A call that a compressor makes can't say what it does by these names. */
void call_wrong(struct world *w)
{
	struct target t = choose_target(w, 1);
	struct zswap_folio folio =
		io_folio(own_io(w), t.slot, 1, IO_DATA, false);

	CHECK(zswap_page_size(w->z) == w->m.page_size);
	switch (choose(w, 5)) {
	case 0:
		say("folio = io_folio(&io[0], %s, 1, 0, 0);",
		    slot_text(t.slot));
		choose_wrong_folio(w, &folio);
		wrong_folios(w->z, folio);
		break;
	case 1:
		wrong_slots(w->z, own_io(w));
		break;
	case 2:
		wrong_settings(w->z);
		break;
	case 3:
		wrong_params();
		break;
	default:
		no_cache(own_io(w));
		break;
	}
}
