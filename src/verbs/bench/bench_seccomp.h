/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_seccomp.h - measures system calls that a process's parent handles through seccomp user notifications.
 */
#ifndef VERBS_BENCH_BENCH_SECCOMP_H
#define VERBS_BENCH_BENCH_SECCOMP_H

#include "verbs/bench/bench.h"

extern const struct option_table bench_seccomp_table;
int bench_seccomp_run(const struct bench *bench, const struct command *command, int argc, char **argv);

#endif
