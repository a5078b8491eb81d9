/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - declares benchmarks, and prints their results in perf's formats and as JSON.
 *
 * A benchmark parses its own options, measures, and calls one of the functions below once for each result. What it says
 * about itself beforehand (lines that begin with #) goes through bench_say, which is silent in the other formats.
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

struct bench { /* one run of a benchmark */
	const struct cli *cli;
	enum bench_format format;
	unsigned repeats; /* of benchmarks that repeat their measurement themselves */
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
	const char *all; /* what "all" of it does; NULL: there is no such benchmark */
	const struct benchmark *benchmarks;
	size_t count;
};

extern const struct bench_collection bench_sched, bench_syscall, bench_mem, bench_futex, bench_epoll, bench_breakpoint,
	bench_uprobe, bench_internals;

struct bench_result {
	const char *function; /* of several that were measured; NULL: there is only one */
	uint64_t operations; /* 0: the time is the result */
	uint64_t bytes; /* moved; 0: operations are what counts */
	uint64_t ns;
	double cycles; /* with is_cycles: per byte */
	bool is_cycles;
};

/* Only in the default format. */
void bench_say(const struct bench *bench, const char *format, ...) TALLY_PRINTF(2, 3);
/* The time; behind it, after a blank line, microseconds for each operation, and operations per second. */
void bench_time(const struct bench *bench, const struct bench_result *result);
void bench_rate(const struct bench *bench, const struct bench_result *result);
/* Bytes per second. */
void bench_throughput(const struct bench *bench, const struct bench_result *result);
/* In JSON, a result of benchmarks with figures of their own: names and values, ended by NULL. */
void bench_figures(const struct bench *bench, const char *const *names, const double *values);
/* A failure of a system call: what failed, and its reason. Returns EXIT_FAILED. */
int bench_fail(const struct bench *bench, const char *what);
/* "4KB" or "1gb"; 0: it is no such size. */
uint64_t bench_size(const char *text);

#endif
