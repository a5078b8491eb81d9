/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/stack_survey.h"
#include "analysis/stock_perf.h"
#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tasks/health/health_report.h"
#include "tasks/session/data_source.h"

#define STATUS_NOT_GOOD 1

struct cmd_health_settings {
	struct input_options input;
	struct symbol_options symbols;
	bool json;
};

static const struct option health_options[] = {
	INPUT_OPTIONS(struct cmd_health_settings, input),
	{.name = "symfs",
		.kind = OPTION_STRING,
		.argument = "directory",
		.offset = offsetof(struct cmd_health_settings, symbols.symfs),
		.help = "Look for the files that stacks are unwound with relative to this directory"},
	{.name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_health_settings, json),
		.help = "Print JSON with stable fields (\"schema\": 1)"},
};
static const struct option_table health_table = {health_options, ARRAY_LEN(health_options), false};
static const char *const health_usages[] = {"[<options>] [<file>]", NULL};
static const char *const health_examples[] = {"check whether anything is wrong with a recording",
	"tally health perf.data", "use it in a script", "tally health --json perf.data | jq .verdict", NULL};

static int cmd_health_print(const struct cli *cli, const struct health_source *source, bool as_json)
{
	struct text t = {0};
	(as_json ? health_json : health_text)(&t, source);
	return cli_finish_text(cli, &t);
}

static int cmd_health_examine(
	const struct cli *cli, const struct data_input *input, struct data_source *recording, bool as_json)
{
	struct perfdata_reader *reader = recording->reader;
	struct recording_health health;
	struct tally_error err;
	char room[128];
	if (recording_health_read(reader, &health, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	struct health_source source = {.path = recording_name(input->file.path), .reader = reader, .health = &health};
	/* Stacks are only an addition to the findings, so they are omitted if memory runs out. */
	struct stack_ends ends;
	if (stack_survey_has_stacks(reader) && data_source_open_store(cli, input, recording, NULL) == TALLY_OK &&
		stack_survey_read(reader, recording->store, &ends, NULL) == TALLY_OK)
		source.ends = &ends;
	struct chain_survey chains;
	if (chain_survey_read(reader, &chains, NULL) == TALLY_OK && chains.chains)
		source.chains = &chains;
	source.refusal = stock_perf_refusal(reader, &health, room, sizeof(room));
	int code = cmd_health_print(cli, &source, as_json);
	if (code == 0 && !recording_health_is_good(&health))
		code = STATUS_NOT_GOOD;
	recording_health_deinit(&health);
	return code;
}

static int cmd_health_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_health_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest + 1 < argc || (rest < argc && settings.input.path))
		return cli_usagef(cli, command, NULL, "health takes one recording");
	if (rest < argc)
		settings.input.path = argv[rest];
	struct data_source source;
	struct tally_error err;
	const char *typed = settings.input.path;
	const struct data_input input = {
		.file = {typed && *typed ? typed : NULL, settings.input.force}, .symbols = settings.symbols};
	enum tally_status status = data_source_open_reader(&input, &source, &err);
	if (status == TALLY_CORRUPT) {
		struct health_source unusable = {.path = recording_name(input.file.path), .unusable = &err};
		(void)cmd_health_print(cli, &unusable, settings.json);
		return EXIT_FAILED;
	}
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	code = cmd_health_examine(cli, &input, &source, settings.json);
	data_source_close(&source);
	return code;
}

const struct command command_health = {
	.name = "health",
	.summary = "Check whether a recording is complete, and what it lost",
	.usages = health_usages,
	.options = &health_table,
	.description =
		"Reads a recording and prints one page: whether it is complete or where it is cut; what was lost while "
		"it was recorded, by event and by tenth of its time; how long events were throttled, and what share of "
		"their time they counted; its clock, and whether the time of day is known; what is damaged or not "
		"understood; whether stock perf 6.1 reads it; its records by type.\n\n"
		"The first word is good, lossy (it is whole, but something was lost while it was recorded), damaged "
		"(parts are left out), unfinished (its recorder was killed, or had no disk left; or files of its "
		"directory "
		"are missing), cut, or unusable. Recordings of tally have a mark at their end, which other programs "
		"pass "
		"over; of those without one at their beginning it is not known whether their recorder came to the "
		"end.\n\n"
		"Exit status: 0 if it is good, 1 if it is lossy, damaged, unfinished or cut, 255 if it cannot be read "
		"at all.",
	.examples = health_examples,
	.run = cmd_health_run,
};
