/* SPDX-License-Identifier: MIT */
/*
 * unit.h - what the unit tests begin with: memory that keeps accounts
 *
 * Each case gets a struct mem whose hooks are those of faulty.h. After the case
 * nothing may be left in them, nor in the count of metadata.
 */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "faulty.h"
#include "mem.h"

struct unit {
	struct faulty hooks;
	struct mem mem;
	size_t os_page; /* the true one; a case may set another in mem */
};

int unit_setup(void **state);
int unit_teardown(void **state);

/*
 * From now on there is no memory, and the first hook that is asked for some
 * calls @meanwhile: what another thread does while this one asks in vain.
 * unit_memory_is_back() ends that, and tells whether a hook was asked.
 */
void unit_memory_is_out(struct unit *u, void (*meanwhile)(void *arg),
			void *arg);
bool unit_memory_is_back(struct unit *u);

/* Ends a group whose main() has started the watchdog. */
int unit_group_end(void **state);

#define unit_case(name) \
	cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

/* Whether a call ends the process: it is made in a child. */
bool unit_dies(void (*call)(void *arg), void *arg);

static inline size_t metadata_bytes(struct unit *u)
{
	return atomic_load(&u->mem.metadata_bytes);
}

#endif
