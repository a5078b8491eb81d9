/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_find_bit.h - measures two ways to visit the set bits of a bitmap: searching for the next set bit, and testing
 * every bit.
 */
#ifndef VERBS_BENCH_BENCH_FIND_BIT_H
#define VERBS_BENCH_BENCH_FIND_BIT_H

#include "verbs/bench/bench.h"

extern const struct option_table bench_find_bit_table;
int bench_find_bit_run(const struct bench *bench, const struct command *command, int argc, char **argv);

#endif
