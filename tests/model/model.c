// SPDX-License-Identifier: MIT
/*
 * model.c - the table of calls, to which later ones are added
 *
 * A new public call is a function in a calls_*.c, and a line here. The function
 * makes its choices, the simplest being 0, says the call in C, makes it, and
 * expects what the model tells:
 *
 *	void call_set_enabled(struct world *w)
 *	{
 *		int err;
 *
 *		w->m.enabled = !one_in(w, 4);
 *		say("err = zswap_set_enabled(z, %d);", w->m.enabled);
 *		err = zswap_set_enabled(w->z, w->m.enabled);
 *		EXPECT(err, 0);
 *	}
 */
#include "world.h"

const struct call calls[] = {
	/* name, weight, function, takes memory, a compressor may make it */
	{ "store", 35, call_store, true, true },
	{ "load", 18, call_load, false, true },
	{ "load_folio", 15, call_load_folio, false, true },
	{ "invalidate", 8, call_invalidate, false, true },
	{ "ask", 8, call_ask, false, true },
	{ "swap", 4, call_swap, true, false },
	{ "set_enabled", 2, call_set_enabled, false, false },
	{ "set_limit", 2, call_set_limit, false, false },
	{ "set_compressor", 3, call_set_compressor, true, true },
	{ "get_stats", 2, call_get_stats, false, true },
	{ "wrong", 2, call_wrong, false, true },
	{ "compact", 2, call_compact, false, true },
	{ "purge_fails", 1, call_purge_fails, false, false },
	{ "read_all", 1, call_read_all, false, false },
	{ "create", 1, call_create, true, false },
};

const unsigned nr_calls = sizeof(calls) / sizeof(calls[0]);

int main(int argc, char **argv)
{
	return driver_main(argc, argv);
}
