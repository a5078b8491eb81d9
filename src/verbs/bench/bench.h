/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - declares benchmarks, and prints their results in perf's formats and as JSON.
 *
 * A benchmark parses its own options, measures, and calls one of the functions below once for each result. It prints
 * its introductory lines (beginning with #) by bench_say, which has an effect in the default format only.
 *
 *	bench_say(bench, "# Executed %" PRIu64 " pipe operations\n\n", loops);
 *	bench_rate(bench, &(struct bench_result){.operations = loops, .ns = ns});
 */
#ifndef VERBS_BENCH_BENCH_H
#define VERBS_BENCH_BENCH_H

#include <inttypes.h>

#include "base/array.h"
#include "base/running_mean.h"
#include "cli/cli.h"
#include "cli/commands.h"

enum bench_format { BENCH_DEFAULT, BENCH_SIMPLE, BENCH_JSON };

struct bench { /* One run of a benchmark. */
	const struct cli *cli;
	enum bench_format format;
	unsigned repeats; /* Number of repetitions, for benchmarks that repeat their measurement themselves. */
	const char *collection, *name;
};

struct benchmark {
	const char *name;
	const char *summary;
	const struct option_table *options;
	int (*run)(const struct bench *bench, const struct command *command, int argc, char **argv);
};

struct bench_collection {
	const char *name;
	const char *summary;
	const char *all; /* Help text of the benchmark "all"; NULL if the collection has none. */
	const struct benchmark *benchmarks;
	size_t count;
};

extern const struct bench_collection bench_sched, bench_syscall, bench_mem, bench_futex, bench_epoll, bench_breakpoint,
	bench_uprobe, bench_internals;

struct bench_result {
	const char *function; /* The measured function; NULL if the benchmark measures only one. */
	uint64_t operations; /* 0 if the time is the result. */
	uint64_t bytes; /* Number of bytes moved; 0 if the benchmark counts operations. */
	uint64_t ns;
	double cycles; /* Cycles per byte; valid if is_cycles is set. */
	bool is_cycles;
};

/* Prints in the default format only. */
void bench_say(const struct bench *bench, const char *format, ...) TALLY_PRINTF(2, 3);
/* Prints the time. */
void bench_time(const struct bench *bench, const struct bench_result *result);
/* Prints the time, the microseconds per operation and the operations per second. */
void bench_rate(const struct bench *bench, const struct bench_result *result);
/* Prints bytes per second, or cycles per byte. */
void bench_throughput(const struct bench *bench, const struct bench_result *result);
/* Prints benchmark-specific figures, in the JSON format only. names ends with NULL. */
void bench_figures(const struct bench *bench, const char *const *names, const double *values);
/* Reports a failed system call with the text for errno. Returns EXIT_FAILED. */
int bench_fail(const struct bench *bench, const char *what);
/* Parses a size such as "4KB" or "1gb". Returns 0 if the text is not a size. */
uint64_t bench_size(const char *text);

#endif
