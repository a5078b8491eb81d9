/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "verbs/bench/bench.h"

#define STATUS_UNKNOWN	1
#define DEFAULT_REPEATS 10
#define MAX_REPEATS	1000000

struct cmd_bench_settings {
	const char *format;
	uint64_t repeats;
};

static const struct option bench_options[] = {
	{.name = "format",
		.letter = 'f',
		.kind = OPTION_STRING,
		.argument = "default|simple|json",
		.offset = offsetof(struct cmd_bench_settings, format),
		.help = "Specify the output formatting style"},
	{.name = "repeat",
		.letter = 'r',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct cmd_bench_settings, repeats),
		.help = "Specify number of times to repeat the run"},
};
static const struct option_table bench_table = {bench_options, ARRAY_LEN(bench_options), true};
static const char *const bench_usages[] = {"[<common options>] <collection> <benchmark> [<options>]", NULL};
static const char *const bench_examples[] = {"how fast two processes wake each other", "tally bench sched pipe",
	"system calls, as figures for a program", "tally bench -f json syscall all", "the options of one benchmark",
	"tally bench futex hash -h", NULL};

static const struct bench_collection *const collections[] = {&bench_sched, &bench_syscall, &bench_mem, &bench_futex,
	&bench_epoll, &bench_internals, &bench_breakpoint, &bench_uprobe};

static void cmd_bench_list_collections(const struct cli *cli)
{
	printf("Usage: \n\t%s bench [<common options>] <collection> <benchmark> [<options>]\n\n"
	       "        # List of all available benchmark collections:\n\n",
		cli->program);
	for (size_t i = 0; i < ARRAY_LEN(collections); i++)
		printf("%14s: %s\n", collections[i]->name, collections[i]->summary);
	printf("%14s: %s\n\n", "all", "All benchmarks");
}

static void cmd_bench_list(const struct bench_collection *collection)
{
	printf("\n        # List of available benchmarks for collection '%s':\n\n", collection->name);
	for (size_t i = 0; i < collection->count; i++)
		printf("%14s: %s\n", collection->benchmarks[i].name, collection->benchmarks[i].summary);
	if (collection->all)
		printf("%14s: %s\n", "all", collection->all);
	putchar('\n');
}

/* Usage and help show the name of the benchmark as the user typed it. */
static int cmd_bench_one(struct bench *bench, const struct bench_collection *collection,
	const struct benchmark *benchmark, int argc, char **argv)
{
	static const char *const own_usages[] = {"<options>", NULL};
	char name[64];
	struct command command = {
		.name = name, .summary = benchmark->summary, .usages = own_usages, .options = benchmark->options};
	snprintf(name, sizeof(name), "bench %s %s", collection->name, benchmark->name);
	bench->collection = collection->name;
	bench->name = benchmark->name;
	return benchmark->run(bench, &command, argc, argv);
}

static int cmd_bench_all(struct bench *bench, const struct bench_collection *collection)
{
	int code = 0;
	for (size_t i = 0; i < collection->count; i++) {
		const struct benchmark *benchmark = &collection->benchmarks[i];
		char *words[] = {(char *)benchmark->name, NULL};
		if (bench->format == BENCH_DEFAULT)
			printf("# Running %s/%s benchmark...\n", collection->name, benchmark->name);
		fflush(stdout);
		/* A benchmark that this machine does not support has reported it; the others are still run. */
		int one = cmd_bench_one(bench, collection, benchmark, 1, words);
		code = code ? code : one;
		if (bench->format == BENCH_DEFAULT)
			putchar('\n');
	}
	return code;
}

static int cmd_bench_collection(struct bench *bench, const struct bench_collection *collection, int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		cmd_bench_list(collection);
		return 0;
	}
	if (collection->all && strcmp(argv[1], "all") == 0) {
		if (argc > 2)
			return cli_failf(bench->cli, "bench %s all takes no options: '%s'", argv[0], argv[2]),
			       EXIT_USAGE;
		return cmd_bench_all(bench, collection);
	}
	for (size_t i = 0; i < collection->count; i++) {
		if (strcmp(collection->benchmarks[i].name, argv[1]) != 0)
			continue;
		bench_say(bench, "# Running '%s/%s' benchmark:\n", argv[0], argv[1]);
		fflush(stdout);
		return cmd_bench_one(bench, collection, &collection->benchmarks[i], argc - 1, argv + 1);
	}
	fprintf(stderr, "Unknown benchmark: '%s' for collection '%s'\n", argv[1], argv[0]);
	return STATUS_UNKNOWN;
}

static int cmd_bench_any(struct bench *bench, int argc, char **argv)
{
	int code = 0;
	for (size_t i = 0; i < ARRAY_LEN(collections); i++)
		if (strcmp(collections[i]->name, argv[0]) == 0)
			return cmd_bench_collection(bench, collections[i], argc, argv);
	if (strcmp(argv[0], "numa") == 0)
		return cli_failf(bench->cli, "bench numa is not supported yet"), EXIT_USAGE;
	if (strcmp(argv[0], "all") != 0) {
		cli_sayf("Unknown collection: '%s'\n", argv[0]);
		return STATUS_UNKNOWN;
	}
	for (size_t i = 0; i < ARRAY_LEN(collections); i++) {
		int one = cmd_bench_all(bench, collections[i]);
		code = code ? code : one;
	}
	return code;
}

static int cmd_bench_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_bench_settings settings = {.repeats = DEFAULT_REPEATS};
	struct bench bench = {.cli = cli};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (settings.format && strcmp(settings.format, "simple") == 0)
		bench.format = BENCH_SIMPLE;
	else if (settings.format && strcmp(settings.format, "json") == 0)
		bench.format = BENCH_JSON;
	else if (settings.format && strcmp(settings.format, "default") != 0)
		return cli_usagef(cli, command, "format", "Unknown format descriptor: '%s'", settings.format);
	if (settings.repeats == 0 || settings.repeats > MAX_REPEATS)
		return cli_usagef(cli, command, "repeat", "Invalid repeat option: Must specify a positive value");
	bench.repeats = (unsigned)settings.repeats;
	if (rest < argc)
		return cmd_bench_any(&bench, argc - rest, argv + rest);
	cmd_bench_list_collections(cli);
	return 0;
}

const struct command command_bench = {
	.name = "bench",
	.summary = "General framework for benchmark suites",
	.usages = bench_usages,
	.options = &bench_table,
	.description =
		"Measures what the kernel and this machine do: scheduling, system calls, memory, futexes, epoll, "
		"breakpoints and probes. Without words it lists the collections; with a collection, its benchmarks; "
		"'all' runs all of them. Each benchmark has its own options ('tally bench sched pipe -h').\n\n"
		"-f simple prints the figure alone, -f json one line of JSON for each result (\"schema\": 1).",
	.examples = bench_examples,
	.run = cmd_bench_run,
};
