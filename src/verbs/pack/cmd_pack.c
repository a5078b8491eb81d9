/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tasks/packing/pack_run.h"
#include "tasks/session/recording_input.h"

struct cmd_pack_settings {
	struct input_options input;
	const char *output;
	struct symbol_options symbols;
	bool quiet, scrub;
};

#define ROW(member) .offset = offsetof(struct cmd_pack_settings, member)

static const struct option pack_options[] = {
	INPUT_OPTIONS(struct cmd_pack_settings, input),
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(output),
		.help = "output file (default: replace the input)"},
	{.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, ROW(quiet), .help = "do not report what was packed"},
	{.name = "demangle", .kind = OPTION_UNSUPPORTED, .refusal = "names are packed as they are stored"},
	{.name = "demangle-kernel", .kind = OPTION_UNSUPPORTED, .refusal = "names are packed as they are stored"},
	SYMBOL_OPTIONS(struct cmd_pack_settings, symbols),
	LINE_OPTIONS(struct cmd_pack_settings, symbols),
	{.name = "scrub",
		.kind = OPTION_FLAG,
		ROW(scrub),
		.help = "remove arguments, paths, names of the host and of users, payloads; print what remains"},
};
#undef ROW
static const struct option_table pack_table = {pack_options, ARRAY_LEN(pack_options), false};
static const char *const pack_usages[] = {"[<options>] [<file>]", NULL};
static const char *const pack_examples[] = {
	"make one file that shows its symbols on any machine",
	"tally pack perf.data -o to-send.data",
	"make the same without data about people and machines",
	"tally pack --scrub perf.data -o to-publish.data",
	NULL,
};

static int cmd_pack_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_pack_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	int count = argc - rest + (settings.input.path != NULL);
	if (count > 1)
		return cli_usagef(
			cli, command, NULL, "unexpected argument '%s': pack takes one recording", argv[argc - 1]);
	struct tally_error err;
	struct pack_request request = {.input.path = rest < argc ? argv[rest] : recording_name(settings.input.path),
		.output = settings.output,
		.input.force = settings.input.force,
		.quiet = settings.quiet,
		.scrub = settings.scrub,
		.symbols = settings.symbols};
	return pack_run(cli, &request, &err) == TALLY_OK ? 0 : cli_fail(cli, &err);
}

const struct command command_pack = {
	.name = "pack",
	.summary = "Embed symbols and code in a recording",
	.usages = pack_usages,
	.options = &pack_table,
	.description =
		"Adds to the recording the symbols, inlined calls and source lines of all addresses that its samples "
		"hit, in programs and in the kernel, and the code of the functions that they hit. report, script and "
		"annotate then need no file of the machine where it was recorded. Other tools read the recording as "
		"before and ignore what was added.\n\n"
		"Packed symbols take precedence over the files of the machine where the recording is read; files "
		"that --symfs, --vmlinux or --kallsyms name take precedence over packed symbols. Copies of stacks "
		"become call chains. The text of source files is not packed.\n\n"
		"--scrub keeps only what is listed: paths that are not the system's, names of threads, cgroups, "
		"probes and source files become numbers; the command line, host, kernel release, payloads of "
		"tracepoints, registers, stacks, code, and all unknown records and sections are removed.",
	.examples = pack_examples,
	.run = cmd_pack_run,
};
