// SPDX-License-Identifier: MIT
#include "stats.h"

uint64_t stats_sum(const struct stats *stats, enum stat stat)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i <= stats->mask; i++)
		sum += atomic_load_explicit(&stats->shards[i].counts[stat],
					    memory_order_relaxed);
	return sum;
}

/* Fills a row of fields name_1, name_2 .. name_512; returns their sum. */
static uint64_t read_sizes(const struct stats *stats, unsigned first,
			   uint64_t *row)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < STATS_SIZES; i++) {
		row[i] = stats_sum(stats, (enum stat)(first + i));
		sum += row[i];
	}
	return sum;
}

#define ROW_BYTES(name)                             \
	(offsetof(struct zswap_stats, name##_512) - \
	 offsetof(struct zswap_stats, name##_1) + sizeof(uint64_t))
static_assert(ROW_BYTES(stored_folios) == STATS_SIZES * sizeof(uint64_t),
	      "one field for each size");
static_assert(ROW_BYTES(refused_folios) == STATS_SIZES * sizeof(uint64_t),
	      "one field for each size");

void stats_read_counters(const struct stats *s, struct zswap_stats *out)
{
	out->stored_folios =
		read_sizes(s, STAT_STORED_FOLIOS, &out->stored_folios_1);
	out->refused_folios =
		read_sizes(s, STAT_REFUSED_FOLIOS, &out->refused_folios_1);
	out->stores = out->stored_folios + out->refused_folios;
	out->zswpout = stats_sum(s, STAT_ZSWPOUT);
	out->same_filled_stored = stats_sum(s, STAT_SAME_FILLED_STORED);
	out->incompressible_stored = stats_sum(s, STAT_INCOMPRESSIBLE_STORED);
	out->compress_engine_fail = stats_sum(s, STAT_COMPRESS_ENGINE_FAIL);
	out->pool_limit_hit = stats_sum(s, STAT_POOL_LIMIT_HIT);
	out->reject_disabled = stats_sum(s, STAT_REJECT_DISABLED);
	out->reject_limit = stats_sum(s, STAT_REJECT_LIMIT);
	out->reject_compress_poor = stats_sum(s, STAT_REJECT_COMPRESS_POOR);
	out->reject_compress_fail = stats_sum(s, STAT_REJECT_COMPRESS_FAIL);
	out->reject_alloc_fail = stats_sum(s, STAT_REJECT_ALLOC_FAIL);
	out->reject_kmemcache_fail = stats_sum(s, STAT_REJECT_KMEMCACHE_FAIL);
	out->reject_no_context = stats_sum(s, STAT_REJECT_NO_CONTEXT);
	out->zswpin = stats_sum(s, STAT_ZSWPIN);
	out->load_misses = stats_sum(s, STAT_LOAD_MISSES);
	out->load_errors = stats_sum(s, STAT_LOAD_ERRORS);
	out->loads = out->zswpin + out->load_misses + out->load_errors;
	out->decompress_fail = stats_sum(s, STAT_DECOMPRESS_FAIL);
}

/* Text that is cut to a buffer, while its whole length is counted. */
struct text {
	char *buf;
	size_t room; /* the NUL's byte not among it */
	size_t length;
};

static void put_char(struct text *text, char c)
{
	if (text->length < text->room)
		text->buf[text->length] = c;
	text->length++;
}

static void put_string(struct text *text, const char *s)
{
	while (*s)
		put_char(text, *s++);
}

static void put_number(struct text *text, uint64_t n)
{
	char digits[20];
	unsigned nr = 0;

	do {
		digits[nr++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (nr)
		put_char(text, digits[--nr]);
}

static void put_line(struct text *text, const char *name, uint64_t value)
{
	put_string(text, name);
	put_char(text, ' ');
	put_number(text, value);
	put_char(text, '\n');
}

long stats_format_text(const struct zswap_stats *snapshot,
		       const char *compressor, char *buf, size_t len)
{
	struct text text = { buf, len ? len - 1 : 0, 0 };

#define PUT_FIELD(name, meaning) put_line(&text, #name, snapshot->name);
	ZSWAP_STATS(PUT_FIELD)
#undef PUT_FIELD
	put_string(&text, "compressor ");
	put_string(&text, compressor);
	put_char(&text, '\n');
	if (len)
		buf[min_size(text.length, text.room)] = '\0';
	return (long)text.length;
}
