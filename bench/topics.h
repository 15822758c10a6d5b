/* SPDX-License-Identifier: MIT */
/*
 * topics.h - the subcommands: each measures all corpora, prints, writes JSON
 */
#ifndef BENCH_TOPICS_H
#define BENCH_TOPICS_H

#include "args.h"
#include "pages.h"

typedef void topic_fn(const struct args *a, const struct corpora *all);

topic_fn topic_store_load, topic_units, topic_rawcut, topic_checksum;
topic_fn topic_churn, topic_kernel, topic_alloc;

#endif /* BENCH_TOPICS_H */
