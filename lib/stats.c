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

long stats_format_text(const struct zswap_stats *snapshot, char *buf,
		       size_t len)
{
	struct text text = { buf, len ? len - 1 : 0, 0 };

#define PUT_FIELD(name, meaning) put_line(&text, #name, snapshot->name);
	ZSWAP_STATS(PUT_FIELD)
#undef PUT_FIELD
	if (len)
		buf[min_size(text.length, text.room)] = '\0';
	return (long)text.length;
}
