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

static const struct option options[] = {
	INPUT_OPTIONS(struct cmd_pack_settings, input),
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(output),
		.help = "the packed recording (default: in place of the one that is read)"},
	{.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, ROW(quiet), .help = "do not say what was packed"},
	{.name = "demangle", .kind = OPTION_UNSUPPORTED, .refusal = "names are packed as the linker has them"},
	{.name = "demangle-kernel", .kind = OPTION_UNSUPPORTED, .refusal = "names are packed as the linker has them"},
	SYMBOL_OPTIONS(struct cmd_pack_settings, symbols),
	LINE_OPTIONS(struct cmd_pack_settings, symbols),
	{.name = "scrub",
		.kind = OPTION_FLAG,
		ROW(scrub),
		.help = "take out arguments, paths, names of the host and of users, payloads; print what remains"},
};
static const struct option_table table = {options, ARRAY_LEN(options), false};
static const char *const usages[] = {"[<options>] [<file>]", NULL};
static const char *const examples[] = {
	"one file that names everything on any machine",
	"tally pack perf.data -o to-send.data",
	"the same without what tells of people and machines",
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
	.summary = "Put what names a recording's addresses into the recording",
	.usages = usages,
	.options = &table,
	.description =
		"Adds to the recording the symbols, inlined calls and source lines of all addresses that its samples "
		"hit, of programs and of the kernel, and the code of the functions that they hit. report, script and "
		"annotate then need nothing of the machine where it was recorded. Other tools read the file as before, "
		"and ignore what was added.\n\n"
		"What a packed recording carries goes before the files of the machine where it is read; those that "
		"--symfs, --vmlinux or --kallsyms name go before it. Copies of stacks become call chains. The text "
		"of source files stays behind.\n\n"
		"With --scrub only what is listed stays: paths that are not the system's, names of threads, cgroups, "
		"probes and source files become numbers; the command line, host, kernel release, payloads of "
		"tracepoints, registers, stacks, code, and all records and sections that are not known go.",
	.examples = examples,
	.run = cmd_pack_run,
};
