/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "code/binaries/kernel_list_cache.h"
#include "kernel/recording/synthesize.h"
#include "verbs/bench/bench.h"

struct bench_internals {
	uint64_t iterations;
	bool single;
};

static const struct option synthesize_options[] = {
	{.name = "st",
		.letter = 's',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct bench_internals, single),
		.help = "Run single threaded benchmark"},
	{.name = "single-iterations",
		.letter = 'i',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct bench_internals, iterations),
		.help = "Number of iterations used to compute single-threaded average"},
	{.name = "mt",
		.letter = 't',
		.kind = OPTION_UNSUPPORTED,
		.help = "Run multi-threaded benchmark",
		.refusal = "one thread writes these records, while the others already record"},
};
static const struct option_table synthesize_table = {synthesize_options, ARRAY_LEN(synthesize_options), false};
static const struct option bench_internals_kallsyms_options[] = {
	{.name = "iterations",
		.letter = 'i',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct bench_internals, iterations),
		.help = "Number of iterations used to compute average"},
};
static const struct option_table bench_internals_kallsyms_table = {
	bench_internals_kallsyms_options, ARRAY_LEN(bench_internals_kallsyms_options), false};

/* Returns CLI_GO_ON, or the exit code after a message. */
static int bench_internals_begin(
	const struct bench *bench, const struct command *command, int argc, char **argv, struct bench_internals *job)
{
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job->iterations == 0)
		return cli_usagef(bench->cli, command, NULL, "at least one iteration, and no words");
	return CLI_GO_ON;
}

/* ---- synthesize: records of the running processes ---- */

static enum tally_status bench_internals_count(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	uint64_t *records = context;
	(void)err;
	for (size_t i = 0; i < slice_count; i++)
		for (size_t at = 0; at + 8 <= slices[i].len; ++*records) {
			uint16_t size;
			memcpy(&size, slices[i].data + at + 6, sizeof(size));
			at += MAX(size, 8);
		}
	return TALLY_OK;
}

static enum tally_status bench_internals_records(bool with_data, uint64_t *records, struct tally_error *err)
{
	static const struct record_layout no_trailer;
	const struct record_sink sink = {bench_internals_count, records};
	struct synthesis state;
	*records = 0;
	synthesize_init(&state, kernel_seam_linux(), &no_trailer, &sink);
	state.with_data_maps = with_data;
	enum tally_status status = synthesize_process(&state, getpid(), err);
	if (status == TALLY_OK)
		status = synthesize_flush(&state, err);
	synthesize_deinit(&state);
	return status;
}

static int bench_internals_synthesize_one(const struct bench *bench, const struct bench_internals *job, bool with_data)
{
	static const char *const names[] = {"with_data", "usec", "records", NULL};
	struct running_mean us = {0}, count = {0};
	struct tally_error err;
	for (uint64_t i = 0; i < job->iterations; i++) {
		uint64_t records, start = clock_ns();
		if (bench_internals_records(with_data, &records, &err) != TALLY_OK)
			return cli_fail(bench->cli, &err);
		running_mean_add(&us, (double)(clock_ns() - start) / 1000);
		running_mean_add(&count, (double)records);
	}
	const double values[] = {with_data, us.mean, count.mean};
	bench_figures(bench, names, values);
	if (bench->format == BENCH_JSON)
		return 0;
	printf("  Average %ssynthesis took: %.3f usec (+- %.3f usec)\n", with_data ? "data " : "", us.mean,
		running_mean_error(&us));
	printf("  Average num. events: %.3f (+- %.3f)\n", count.mean, running_mean_error(&count));
	printf("  Average time per event %.3f usec\n", us.mean / MAX(count.mean, 1));
	return 0;
}

static int bench_internals_synthesize(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_internals job = {.iterations = 10000};
	int code = bench_internals_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	if (bench->format != BENCH_JSON)
		printf("Computing performance of single threaded perf event synthesis by\n"
		       "synthesizing events on the %s process itself:\n",
			bench->cli->program);
	code = bench_internals_synthesize_one(bench, &job, false);
	return code ? code : bench_internals_synthesize_one(bench, &job, true);
}

/* ---- kallsyms-parse ---- */

static enum tally_status bench_internals_read_kallsyms(struct tally_error *err)
{
	struct kallsyms kallsyms;
	struct kallsyms_marks marks = {0};
	char *text;
	size_t len;
	enum tally_status status = kernel_list_read("/proc/kallsyms", &text, &len, err);
	if (status != TALLY_OK)
		return status;
	if (kallsyms_is_hidden(text, len)) { /* Of such a list, only the first lines are read. */
		free(text);
		return error_set(err, TALLY_DENIED,
			"the list of symbols cannot be measured: the kernel hides its addresses (kernel.kptr_restrict, "
			"or no CAP_SYSLOG)");
	}
	kallsyms_open(text, len, &kallsyms);
	status = kallsyms_mark(&kallsyms, &marks);
	kallsyms_marks_deinit(&marks);
	free(text);
	/* TALLY_NOT_FOUND means that the list is not sorted. It is then parsed in another way, which is not measured
	 * here. */
	return status == TALLY_NOT_FOUND ? TALLY_OK : status;
}

static int bench_internals_kallsyms(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	static const char *const names[] = {"msec", "error_msec", NULL};
	struct bench_internals job = {.iterations = 100};
	struct running_mean ms = {0};
	struct tally_error err;
	int code = bench_internals_begin(bench, command, argc, argv, &job);
	if (code != CLI_GO_ON)
		return code;
	for (uint64_t i = 0; i < job.iterations; i++) {
		uint64_t start = clock_ns();
		if (bench_internals_read_kallsyms(&err) != TALLY_OK)
			return cli_fail(bench->cli, &err);
		running_mean_add(&ms, (double)(clock_ns() - start) / 1000000);
	}
	const double values[] = {ms.mean, running_mean_error(&ms)};
	bench_figures(bench, names, values);
	if (bench->format != BENCH_JSON)
		printf("  Average kallsyms__parse took: %.3f ms (+- %.3f ms)\n", ms.mean, running_mean_error(&ms));
	return 0;
}

static const struct benchmark bench_internals_benchmarks[] = {
	{"synthesize", "Benchmark perf event synthesis", &synthesize_table, bench_internals_synthesize},
	{"kallsyms-parse", "Benchmark kallsyms parsing", &bench_internals_kallsyms_table, bench_internals_kallsyms},
};
const struct bench_collection bench_internals = {"internals", "Perf-internals benchmarks", NULL,
	bench_internals_benchmarks, ARRAY_LEN(bench_internals_benchmarks)};
