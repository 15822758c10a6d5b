// SPDX-License-Identifier: MIT
/*
 * guard.c - buffers that nobody can leave unnoticed
 */
#include "guard.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define SLACK_BYTE 0x5c

static size_t os_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void protect_inside(struct guard *guard, int protection)
{
	size_t os_page = os_page_bytes();

	CHECK(mprotect((char *)guard->map + os_page,
		       guard->map_bytes - 2 * os_page, protection) == 0);
}

static void *make(struct guard *guard, size_t len_bytes, bool at_end)
{
	size_t os_page = os_page_bytes();
	size_t inside = (len_bytes + os_page - 1) / os_page * os_page;
	char *first;

	guard->map_bytes = inside + 2 * os_page;
	guard->map = mmap(NULL, guard->map_bytes, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(guard->map != MAP_FAILED);
	protect_inside(guard, PROT_READ | PROT_WRITE);
	first = (char *)guard->map + os_page;
	memset(first, SLACK_BYTE, inside);
	guard->len_bytes = len_bytes;
	guard->data = at_end ? first + inside - len_bytes : first;
	return guard->data;
}

void *guard_at_end(struct guard *guard, size_t len_bytes)
{
	return make(guard, len_bytes, true);
}

void *guard_at_start(struct guard *guard, size_t len_bytes)
{
	return make(guard, len_bytes, false);
}

void guard_allow_reading(struct guard *guard)
{
	protect_inside(guard, PROT_READ);
}

void guard_allow_nothing(struct guard *guard)
{
	protect_inside(guard, PROT_NONE);
}

void guard_allow_writing(struct guard *guard)
{
	protect_inside(guard, PROT_READ | PROT_WRITE);
}

static void check_slack(const unsigned char *from, const unsigned char *to)
{
	for (; from < to; from++)
		CHECK(*from == SLACK_BYTE);
}

void guard_free(struct guard *guard)
{
	unsigned char *first = (unsigned char *)guard->map + os_page_bytes();
	unsigned char *end = (unsigned char *)guard->map + guard->map_bytes -
			     os_page_bytes();
	unsigned char *data = guard->data;

	guard_allow_writing(guard);
	check_slack(first, data);
	check_slack(data + guard->len_bytes, end);
	CHECK(munmap(guard->map, guard->map_bytes) == 0);
	guard->data = NULL;
}
