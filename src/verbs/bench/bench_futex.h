/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_futex.h - provides the options, the system call and the setup that the futex benchmarks share.
 */
#ifndef VERBS_BENCH_BENCH_FUTEX_H
#define VERBS_BENCH_BENCH_FUTEX_H

#include <linux/futex.h>
#include <pthread.h>

#include "verbs/bench/bench.h"

#define BENCH_FUTEX_MAX_THREADS 100000

struct bench_futex {
	uint64_t threads, runtime, futexes, buckets, nwakes, nwakers, nrequeue;
	bool silent, shared, mlockall, multi, pi, broadcast;
};

#define BENCH_FUTEX_ROW(field) .offset = offsetof(struct bench_futex, field)
#define BENCH_FUTEX_OPTIONS                                                                                         \
	{"threads", 't', OPTION_U64, "n", BENCH_FUTEX_ROW(threads), .help = "Specify amount of threads"},           \
		{"silent", 's', OPTION_FLAG, BENCH_FUTEX_ROW(silent),                                               \
			.help = "Silent mode: do not display data/details"},                                        \
		{"shared", 'S', OPTION_FLAG, BENCH_FUTEX_ROW(shared),                                               \
			.help = "Use shared futexes instead of private ones"},                                      \
		{"mlockall", 'm', OPTION_FLAG, BENCH_FUTEX_ROW(mlockall),                                           \
			.help = "Lock all current and future memory"},                                              \
	{                                                                                                           \
		"buckets", 'b', OPTION_U64, "n", BENCH_FUTEX_ROW(buckets), .help = "Specify amount of hash buckets" \
	}
#define BENCH_FUTEX_RUNTIME                                                                                       \
	{                                                                                                         \
		"runtime", 'r', OPTION_U64, "n", BENCH_FUTEX_ROW(runtime), .help = "Specify runtime (in seconds)" \
	}

extern const struct option_table bench_futex_wake_table, bench_futex_wake_parallel_table, bench_futex_requeue_table;
int bench_futex_wake_run(const struct bench *bench, const struct command *command, int argc, char **argv);
int bench_futex_wake_parallel_run(const struct bench *bench, const struct command *command, int argc, char **argv);
int bench_futex_requeue_run(const struct bench *bench, const struct command *command, int argc, char **argv);

/* Returns "shared" or "private". */
const char *bench_futex_kind(const struct bench_futex *job);
/* Parses the options into job, locks the memory with --mlockall, and sets the number of hash buckets with --buckets.
 * Returns CLI_GO_ON, or the exit code after a message. */
int bench_futex_begin(
	const struct bench *bench, const struct command *command, int argc, char **argv, struct bench_futex *job);
/* Prints the number of buckets in the process's futex hash table as the last line of the output; nothing as JSON. */
void bench_futex_say_buckets(const struct bench *bench, const struct bench_futex *job);
/* Calls futex(2) with FUTEX_PRIVATE_FLAG unless the job requests shared futexes. */
long bench_futex_call(const struct bench_futex *job, uint32_t *futex, int operation, uint32_t value, uintptr_t timeout,
	uint32_t *second);

#endif
