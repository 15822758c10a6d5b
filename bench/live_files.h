/* SPDX-License-Identifier: MIT */
/* live_files.h - what is used where no program's memory can be read */
#ifndef BENCH_LIVE_FILES_H
#define BENCH_LIVE_FILES_H

#include "pages.h"

/* live_add_files() - up to two corpora of pages of this machine's files */
void live_add_files(struct corpora *all, size_t max_pages);

#endif /* BENCH_LIVE_FILES_H */
