/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tasks/recording/record_for_verb.h"
#include "verbs/summary/summary_output.h"

struct summary_settings {
	struct input_options input;
	struct symbol_options symbols;
	const char *event, *baseline;
	struct summary_form form;
	bool wall, simulates;
};

#define ROW(member) .offset = offsetof(struct summary_settings, member)
static const struct option summary_rows[] = {
	INPUT_OPTIONS(struct summary_settings, input),
	{"json", 0, OPTION_FLAG, ROW(form.is_json), .help = "JSON (docs/schema/summary.json)"},
	{"budget", 0, OPTION_U64, "n", ROW(form.budget),
		.help = "print at most so many characters: what matters least is left out"},
	{"baseline", 0, OPTION_STRING, "file", ROW(baseline), .help = "say what changed since this recording"},
	{"event", 'e', OPTION_STRING, "name", ROW(event),
		.help = "event to sum up (default: the first that has samples); before a command: the event to record"},
	{"wall", 0, OPTION_FLAG, ROW(wall), .help = "before a command: also record what threads wait for"},
	{"simulate", 0, OPTION_FLAG, ROW(simulates),
		.help = "before a command: sample events that are simulated with Valgrind (instructions, or as -e "
			"says)"},
	SYMBOL_OPTIONS(struct summary_settings, symbols),
};
#undef ROW
static const struct option_table summary_table = {summary_rows, ARRAY_LEN(summary_rows), false};

static enum tally_status summary_open(const struct cli *cli, const struct summary_settings *s, const char *path,
	const char *event, struct summary_recording *recording, struct tally_error *err)
{
	const struct data_input input = {.file = {path, s->input.force}, .symbols = s->symbols};
	return summary_recording_open(cli, &input, event, recording, err);
}

static enum tally_status summary_make(const struct cli *cli, const struct summary_settings *s,
	const struct summary_sources *sources, struct summary_recording *recording, struct text *out,
	struct tally_error *err)
{
	struct summary_recording baseline;
	struct summary_facts facts;
	enum tally_status status = TALLY_OK;
	if (sources->baseline) {
		const struct profile *p = recording->result.profile;
		struct tally_str event = profile_string(p, p->events[recording->event].name);
		status = summary_open(cli, s, sources->baseline, event.data, &baseline, err);
	}
	if (status == TALLY_OK)
		status = summary_facts_make(recording, sources->baseline ? &baseline : NULL, sources, &facts, err);
	if (status == TALLY_OK) {
		status = summary_output(&facts, &s->form, out, err);
		summary_facts_deinit(&facts);
	}
	if (sources->baseline)
		summary_recording_close(&baseline);
	return status;
}

/* Prints the document of a recording without samples. The caller reports the reason as an error, too. */
static void summary_print_empty(const struct cli *cli, const struct summary_settings *s,
	const struct summary_sources *sources, struct summary_recording *recording, const char *reason)
{
	struct summary_facts facts;
	struct tally_error err;
	struct text out = {0};
	if (summary_facts_make_empty(recording, sources, reason, &facts, &err) != TALLY_OK)
		return;
	if (summary_output(&facts, &s->form, &out, &err) == TALLY_OK)
		cli_finish_text(cli, &out);
	else
		text_deinit(&out);
	summary_facts_deinit(&facts);
}

/* words is the command that was recorded into a temporary file, or NULL if the recording is permanent. */
static int summary_print(const struct cli *cli, const struct summary_settings *s, const char *path, const char *event,
	char *const *words)
{
	struct summary_recording recording;
	struct tally_error err;
	struct text out = {0};
	struct summary_sources sources = {.path = words ? words[0] : recording_name(path),
		.baseline = s->baseline,
		.words = words,
		.program = cli->program};
	enum tally_status status = summary_open(cli, s, path, event, &recording, &err);
	sources.is_stream = status == TALLY_OK && perfdata_reader_is_stream(recording.source.reader);
	if (sources.is_stream)
		sources.path = "standard input";
	if (status == TALLY_OK)
		status = summary_make(cli, s, &sources, &recording, &out, &err);
	if (recording.is_empty && s->form.is_json)
		summary_print_empty(cli, s, &sources, &recording, err.text);
	int code = status == TALLY_OK ? cli_finish_text(cli, &out) : cli_fail(cli, &err);
	if (code == 0 && recording.is_damaged)
		code = cli_fail(cli, &recording.damage);
	if (status != TALLY_OK)
		text_deinit(&out);
	summary_recording_close(&recording);
	return code;
}

static int summary_record_and_print(const struct cli *cli, const struct summary_settings *s, int argc, char **argv)
{
	char path[RECORDED_PATH_BYTES];
	struct tally_error err;
	const struct recorded_target target = {.event = s->event, .wall = s->wall, .simulates = s->simulates};
	struct stat recorded;
	if (recorded_file_make(path, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	int code = record_for_verb(cli, &target, path, argc, argv);
	if (stat(path, &recorded) == 0 && recorded.st_size > 0) {
		/* The summary is printed even if the command failed. */
		int printed = summary_print(cli, s, path, NULL, argv);
		code = printed ? printed : code;
	}
	unlink(path);
	return code;
}

static int cmd_summary_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct summary_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	bool is_command = rest > 0 && strcmp(argv[rest - 1], "--") == 0;
	if (is_command && rest == argc)
		return cli_usagef(cli, command, NULL, "which command? Nothing is behind --");
	if (is_command && settings.input.path)
		return cli_usagef(cli, command, "input", "-i and a command cannot be used together");
	if (!is_command && (settings.wall || settings.simulates))
		return cli_usagef(cli, command, settings.wall ? "wall" : "simulate",
			"--%s goes with a command: '-- COMMAND'", settings.wall ? "wall" : "simulate");
	if (is_command)
		return summary_record_and_print(cli, &settings, argc - rest, argv + rest);
	if (argc - rest > 1 || (rest < argc && settings.input.path))
		return cli_usagef(cli, command, NULL, "summary takes one recording, or a command behind --");
	return summary_print(cli, &settings, rest < argc ? argv[rest] : settings.input.path, settings.event, NULL);
}

static const char *const summary_usages[] = {"[<options>] [<file>]", "[<options>] -- <command> [<options>]", NULL};
static const char *const summary_examples[] = {"what a recording says, on one screen", "tally summary perf.data",
	"run a program and say where its time goes", "tally summary -- ./program",
	"for a program or a language model, in at most 2,000 characters",
	"tally summary --json --budget 2000 perf.data", "what changed since yesterday's recording",
	"tally summary --baseline old.data new.data", NULL};

const struct command command_summary = {
	.name = "summary",
	.summary = "Say on one screen what a recording shows and how far to trust it",
	.usages = summary_usages,
	.options = &summary_table,
	.description = "Prints what was recorded and for how long, the functions with most time of their own, the "
		       "callers as a tree cut "
		       "to what matters, what threads did (of recordings with --wall), what changed against a "
		       "baseline, how exact the "
		       "shares are, and the next three commands. The same recording gives the same text.\n\n"
		       "Changes are listed if they are larger than half a percent point and than three standard errors "
		       "of the two "
		       "recordings' samples. 'tally diff' with several recordings of each side tells more.",
	.examples = summary_examples,
	.run = cmd_summary_run,
};
