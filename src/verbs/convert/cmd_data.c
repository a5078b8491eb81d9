/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/unknown_command.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/stack_notes.h"
#include "tasks/session/symbol_notes.h"
#include "verbs/convert/data_ctf.h"
#include "verbs/convert/data_json.h"

struct cmd_data_settings {
	struct symbol_options symbols;
	struct sample_options samples;
	struct input_options input;
	const char *to_json, *to_ctf;
	bool all, wall_clock;
	unsigned verbose;
};

#define ROW(member) .offset = offsetof(struct cmd_data_settings, member)

static const struct option data_options[] = {
	{.name = "force",
		.letter = 'f',
		.kind = OPTION_FLAG,
		ROW(input.force),
		.help = "overwrite an existing output; read files of other users, too"},
	INPUT_OPTIONS(struct cmd_data_settings, input),
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		ROW(verbose),
		.help = "report where the symbols of each file came from"},
	{.name = "all", .kind = OPTION_FLAG, ROW(all), .help = "Convert all events (CTF only)"},
	{.name = "to-ctf",
		.kind = OPTION_STRING,
		.argument = "...",
		ROW(to_ctf),
		.help = "Convert to CTF format, in this directory"},
	{.name = "to-json", .kind = OPTION_STRING, .argument = "...", ROW(to_json), .help = "Convert to JSON format"},
	{.name = "tod", .kind = OPTION_FLAG, ROW(wall_clock), .help = "Convert time to wall clock time (CTF only)"},
	SYMBOL_OPTIONS(struct cmd_data_settings, symbols),
	SAMPLE_OPTIONS(struct cmd_data_settings, samples),
};
#undef ROW
static const struct option_table data_table = {data_options, ARRAY_LEN(data_options), false};
static const char *const data_usages[] = {"convert [<options>]", NULL};
static const char *const data_examples[] = {
	"the samples of a recording as JSON",
	"tally data convert --to-json samples.json",
	"a trace for babeltrace2 or Trace Compass, with mappings and names of threads",
	"tally data convert --all --to-ctf trace",
	NULL,
};

static enum tally_status cmd_data_open_output(
	const struct cmd_data_settings *settings, struct output_file *file, struct tally_error *err)
{
	struct stat st;
	if (!settings->input.force && lstat(settings->to_json, &st) == 0)
		return error_set(err, TALLY_INVALID, "Output file exists. Use --force to overwrite it.");
	enum tally_status status = output_file_open(settings->to_json, recording_name(settings->input.path), file, err);
	return status == TALLY_OK ? status : error_prefix(err, "Error opening output file");
}

static enum tally_status cmd_data_write_json(const struct cmd_data_settings *settings, struct data_source *source,
	struct data_result *result, struct tally_error *err)
{
	struct text t = {0};
	struct output_file file;
	enum tally_status status = cmd_data_open_output(settings, &file, err);
	if (status != TALLY_OK)
		return status;
	text_to_fd(&t, file.fd);
	status = data_json_write(source, &t, &result->samples, err);
	bool is_written = text_flush(&t);
	off_t end = lseek(file.fd, 0, SEEK_CUR);
	result->bytes = end > 0 ? (uint64_t)end : 0;
	if (t.failed)
		status = error_nomem(err);
	else if (!is_written)
		status = error_set_errno(err, TALLY_IO, t.write_errno, "writing %s", settings->to_json);
	text_deinit(&t);
	/* The readable part of a truncated recording remains in the output. */
	struct tally_error end_error;
	enum tally_status ended = output_file_finish(&file, status == TALLY_CORRUPT ? TALLY_OK : status, &end_error);
	if (ended != TALLY_OK && (status == TALLY_OK || status == TALLY_CORRUPT)) {
		*err = end_error;
		status = ended;
	}
	return status;
}

static enum tally_status write_ctf(const struct cmd_data_settings *settings, struct data_source *source,
	struct data_result *result, struct tally_error *err)
{
	struct data_ctf_options ctf = {.path = settings->to_ctf,
		.replace = settings->input.force,
		.all = settings->all,
		.wall_clock = settings->wall_clock};
	return data_ctf_write(source, &ctf, result, err);
}

static void cmd_data_print_result(
	const struct cli *cli, const struct cmd_data_settings *settings, const struct data_result *result)
{
	const char *input = recording_name(settings->input.path);
	cli_sayf("[ %s data convert: Converted '%s' into %s data '%s' ]\n", cli->program, input,
		settings->to_json ? "JSON" : "CTF", settings->to_json ? settings->to_json : settings->to_ctf);
	cli_sayf("[ %s data convert: Converted and wrote %.3f MB (%llu samples", cli->program,
		(double)result->bytes / 1024 / 1024, (unsigned long long)result->samples);
	if (result->others)
		fprintf(stderr, ", %llu non-samples", (unsigned long long)result->others);
	fprintf(stderr, ") ]\n");
}

static int cmd_data_convert(const struct cli *cli, const struct cmd_data_settings *settings)
{
	struct data_source source;
	struct tally_error err;
	struct data_result result = {0};
	const struct data_input input = {
		.file = settings->input, .samples = settings->samples, .symbols = settings->symbols};
	if (data_source_open(cli, &input, &source, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	enum tally_status status = settings->to_json ? cmd_data_write_json(settings, &source, &result, &err)
						     : write_ctf(settings, &source, &result, &err);
	if (status == TALLY_OK || status == TALLY_CORRUPT) {
		cmd_data_print_result(cli, settings, &result);
		if (source.skipped)
			cli_sayf("[ %s data convert: Skipped %llu samples ]\n", cli->program,
				(unsigned long long)source.skipped);
		cli_print_health(cli, &source.pass.sideband.health);
		stack_notes_print(cli, &source.pass.unwinder.ends);
		symbol_notes_print(cli, source.store, &source.names, settings->verbose > 0);
	}
	data_source_close(&source);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

static int cmd_data_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_data_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(cli, command, NULL, "data needs a command: convert");
	if (strcmp(argv[rest], "convert") != 0)
		return unknown_subcommand(cli, command, argv[rest]);
	if (rest + 1 < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest + 1]);
	if (settings.to_json && settings.to_ctf)
		return cli_failf(cli, "You cannot specify both --to-ctf and --to-json.");
	if (!settings.to_json && !settings.to_ctf)
		return cli_failf(cli, "You must specify one of --to-ctf or --to-json.");
	if (settings.to_json && (settings.all || settings.wall_clock))
		return cli_failf(cli, "--%s is currently unsupported for JSON output.", settings.all ? "all" : "tod");
	if (settings.samples.times && !time_spans_are_valid(settings.samples.times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	return cmd_data_convert(cli, &settings);
}

const struct command command_data = {
	.name = "data",
	.summary = "Data file related processing",
	.usages = data_usages,
	.options = &data_table,
	.description = "Converts a recording into a format that other programs read.\n\n--to-json FILE writes the "
		       "samples in order of "
		       "time: an object with what the header says, and for each sample its time, thread, CPU, name, "
		       "call chain "
		       "(the address alone if there is none), and the fields of a tracepoint. Bytes that are no "
		       "UTF-8 become "
		       "U+FFFD.\n\n--to-ctf DIR writes a trace in the Common Trace Format 1.8, with an event class per "
		       "event and a stream "
		       "per CPU. --all adds what was mapped, named, forked and ended; --tod gives times of day, where "
		       "the recording "
		       "was made with a clock that relates to them.",
	.examples = data_examples,
	.run = cmd_data_run,
};
