/* SPDX-License-Identifier: MIT */
/*
 * history.h - whether what threads saw of one slot can have happened
 *
 * A slot is a register that can be taken from: a store sets it, a peek reads
 * it, a load reads and empties it, an invalidation empties it. A history is
 * linearizable if its operations can be put in one order that a single thread
 * could have followed, in which none comes before one that had ended before it
 * began.
 */
#ifndef TEST_HISTORY_H
#define TEST_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_THREADS 4
#define HISTORY_OPS 4 /* of each thread */

enum op_kind { OP_STORE, OP_PEEK, OP_TAKE, OP_EMPTY };

struct op {
	enum op_kind kind;
	uint64_t version;    /* stored or seen; 0 for "absent" */
	uint64_t begin, end; /* on a clock that all threads share */
};

struct history {
	uint64_t first; /* version in the slot before, 0 for "absent" */
	uint64_t last;  /* version in the slot afterwards, likewise */
	unsigned nr[HISTORY_THREADS];
	struct op ops[HISTORY_THREADS][HISTORY_OPS];
};

bool history_is_linearizable(const struct history *history);
void history_print(const struct history *history);

#endif
