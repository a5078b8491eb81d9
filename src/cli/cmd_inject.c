#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/inject.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/recording_input.h"

struct settings {
	const char *input, *output;
	bool force, sort;
	unsigned verbose;
};

#define ROW(member) .offset = offsetof(struct settings, member)

static const struct option options[] = {
	{.name = "build-ids",
		.letter = 'b',
		.kind = OPTION_UNSUPPORTED,
		.help = "Inject build-ids into the output stream"},
	{.name = "force", .letter = 'f', .kind = OPTION_FLAG, ROW(force), .help = "don't complain, do it"},
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(input),
		.help = "input file name (default: standard input)"},
	{.name = "jit", .letter = 'j', .kind = OPTION_UNSUPPORTED, .help = "merge jitdump files into perf.data file"},
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(output),
		.help = "output file name (default: standard output)"},
	{.name = "sort", .kind = OPTION_FLAG, ROW(sort), .help = "put the records into order of time"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		ROW(verbose),
		.help = "be more verbose (show build ids, etc)"},
	{.name = "vmlinux", .letter = 'k', .kind = OPTION_UNSUPPORTED},
	{.name = "sched-stat", .letter = 's', .kind = OPTION_UNSUPPORTED},
	{.name = "mmap2-buildids", .letter = 'B', .kind = OPTION_UNSUPPORTED},
	{.name = "mmap2-buildid-all", .kind = OPTION_UNSUPPORTED},
	{.name = "aslr", .kind = OPTION_UNSUPPORTED},
	{.name = "buildid-all", .kind = OPTION_UNSUPPORTED},
	{.name = "convert-callchain", .kind = OPTION_UNSUPPORTED},
	{.name = "guest-data", .kind = OPTION_UNSUPPORTED},
	{.name = "guestmount", .kind = OPTION_UNSUPPORTED},
	{.name = "ignore-vmlinux", .kind = OPTION_UNSUPPORTED},
	{.name = "itrace", .kind = OPTION_UNSUPPORTED},
	{.name = "kallsyms", .kind = OPTION_UNSUPPORTED},
	{.name = "known-build-ids", .kind = OPTION_UNSUPPORTED},
	{.name = "strip", .kind = OPTION_UNSUPPORTED},
	{.name = "unwind-style", .kind = OPTION_UNSUPPORTED},
	{.name = "vm-time-correlation", .kind = OPTION_UNSUPPORTED},
};
static const struct option_table table = {options, sizeof(options) / sizeof(options[0]), false};
static const char *const usages[] = {"[<options>]", NULL};
static const char *const examples[] = {
	"a recording that was piped, as a file",
	"tally inject -i piped.data -o perf.data",
	"a compressed recording, plain and in order of time",
	"tally inject --sort -i packed.data -o plain.data",
	NULL,
};

static bool is_pipe_name(const char *path)
{
	return strcmp(path, "-") == 0;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static void print_result(const struct cli *cli, const struct inject_result *result, unsigned left_out)
{
	if (result->late)
		cli_failf(cli, "%s: %llu records came a round too late to be put in order of time", cli->program,
			(unsigned long long)result->late);
	if (left_out)
		cli_failf(
			cli, "%s: %u header sections do not fit into a pipe, and are left out", cli->program, left_out);
}

static enum tally_status rewrite(
	const struct cli *cli, const struct settings *settings, struct perfdata_reader *reader, struct tally_error *err)
{
	struct inject_options inject = {.to_pipe = is_pipe_name(settings->output), .sort = settings->sort};
	struct inject_result result;
	struct perfdata_rewriter *rewriter;
	enum tally_status status = inject.to_pipe ? perfdata_rewriter_create_pipe(STDOUT_FILENO, &rewriter, err)
						  : perfdata_rewriter_create_file(settings->output, &rewriter, err);
	if (status != TALLY_OK)
		return status;
	status = inject_copy(reader, rewriter, &inject, &result, err);
	if (status == TALLY_OK) {
		print_result(cli, &result, perfdata_rewriter_left_out(rewriter));
		status = result.end_error.status;
		if (status != TALLY_OK)
			*err = result.end_error;
	}
	perfdata_rewriter_destroy(rewriter);
	return status;
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct settings settings = {.input = "-", .output = "-"};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, command, NULL, "inject takes options only, not '%s'", argv[rest]);
	if (is_pipe_name(settings.output) && isatty(STDOUT_FILENO))
		return cli_failf(cli, "%s: a recording is not for a terminal: name a file with -o", cli->program);
	if (!is_pipe_name(settings.input) && is_same_file(settings.input, settings.output))
		return cli_failf(cli, "%s: input and output are one file, '%s'", cli->program, settings.output);
	struct tally_error err;
	struct perfdata_reader *reader;
	if (cli_open_recording(cli, settings.input, &reader, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	enum tally_status status = rewrite(cli, &settings, reader, &err);
	perfdata_reader_destroy(reader);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

const struct command command_inject = {
	.name = "inject",
	.summary = "Filter to augment the events stream with additional information",
	.usages = usages,
	.options = &table,
	.description = "Reads a recording and writes it again, record by record, with what the options add.\n\nWithout "
		       "options it "
		       "is a faithful copy: the same records and header sections, those that are unknown too. A file "
		       "with -o FILE, "
		       "a pipe on standard output otherwise, whichever the input was. What was compressed is written "
		       "plain. The "
		       "output takes its name when it is complete; until then an older file of that name stays.",
	.examples = examples,
	.run = run,
};
