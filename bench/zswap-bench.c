// SPDX-License-Identifier: MIT
/*
 * zswap-bench.c - the whole run: pages, then what the subcommand does with them
 */
#include "args.h"
#include "bench.h"
#include "hooks.h"
#include "live.h"
#include "pages.h"
#include "rival.h"
#include "table.h"
#include "topics.h"
#include "zram.h"

#include <stdio.h>

static topic_fn *const topics[] = {
	[STORE_LOAD] = topic_store_load, [UNITS] = topic_units,
	[RAWCUT] = topic_rawcut,         [CHECKSUM] = topic_checksum,
	[CHURN] = topic_churn,           [KERNEL] = topic_kernel,
	[ALLOC] = topic_alloc,
};

static struct corpora gather(const struct args *a)
{
	struct corpora all = { 0 };

	for (size_t i = 0; i < a->nr_corpora; i++)
		corpora_add_path(&all, a->corpora[i], a->max_pages);
	for (size_t i = 0; i < a->nr_pids; i++)
		live_add_pid(&all, a->pids[i], a->max_pages);
	if (!all.count)
		live_add_programs(&all, a->max_pages, a->quick);
	corpora_cut(&all, a->unit_bytes);
	return all;
}

static void close_output(void)
{
	if (fflush(stdout) || ferror(stdout))
		bad_input("standard output could not be written");
}

int main(int argc, char **argv)
{
	struct args args = args_parse(argc, argv);
	uint64_t start = now_ns();
	struct corpora all;

	if (args.topic == CHURN || args.topic == ALLOC)
		rivals_prepare(argv);
	if (args.topic == KERNEL && zram_why_not())
		skipped("no zram device: %s", zram_why_not());
	check_output(args.json);
	check_output(args.svg);
	table_machine(&args);
	hooks_say();
	all = gather(&args);
	table_corpora(&args, &all);
	topics[args.topic](&args, &all);
	hooks_finish();
	printf("\nevery page came back as it was; %.0f s\n",
	       (double)(now_ns() - start) / 1e9);
	close_output();
	corpora_free(&all);
	return 0;
}
