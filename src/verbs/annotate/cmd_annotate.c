/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/config_files.h"
#include "cli/output_terminal.h"
#include "tasks/listing/annotate_objdump.h"
#include "tasks/terminal/tui_terminal.h"
#include "verbs/annotate/annotate_run.h"

struct cmd_annotate_settings {
	struct annotate_run run;
	unsigned verbose;
	bool stdio, tui, colour_is_set, print_line, total_period, nr_samples, modules;
	/* Hides the source on the interactive screen, if the configuration requests it. As in perf, text output
	 * ignores this. */
	bool hides_source;
	/* Set if the configuration has chosen a column; an option for the other column is then not a contradiction. */
	bool has_usual_column;
};

#define RUN(field) offsetof(struct cmd_annotate_settings, run.field)

static const char *cmd_annotate_set_group(const struct option_use *use)
{
	struct cmd_annotate_settings *settings = use->settings;
	settings->run.force_group = !use->is_negated;
	settings->run.no_group = use->is_negated;
	return NULL;
}

static const char *cmd_annotate_set_colour(const struct option_use *use)
{
	struct cmd_annotate_settings *settings = use->settings;
	settings->colour_is_set = true;
	return colours_by_mode(use->value, &settings->run.text.with_colours) ? NULL : "takes always, never or auto";
}

static const char *cmd_annotate_set_percent_limit(const struct option_use *use)
{
	struct cmd_annotate_settings *settings = use->settings;
	char *end;
	settings->run.percent_limit = strtod(use->value, &end);
	return *use->value && !*end ? NULL : "expects a number";
}

static const char *set_data_type(const struct option_use *use)
{
	struct cmd_annotate_settings *settings = use->settings;
	settings->run.data_type = use->is_negated ? NULL : use->value ? use->value : "";
	return NULL;
}

static const struct option annotate_options[] = {
	INPUT_OPTIONS(struct cmd_annotate_settings, run.request.input.file),
	{"dsos", 'd', OPTION_STRING, "dso[,dso...]", .offset = RUN(request.input.samples.filters.dsos),
		.help = "only consider symbols in these DSOs (file://FILE lists them, one per line)"},
	{"symbol", 's', OPTION_STRING, "symbol", .offset = RUN(request.symbol), .help = "symbol to annotate"},
	{"verbose", 'v', OPTION_COUNT, .offset = offsetof(struct cmd_annotate_settings, verbose),
		.help = "report on standard error where symbols and code came from"},
	{"quiet", 'q', OPTION_FLAG, .offset = RUN(is_quiet), .help = "Do not show any warnings or messages"},
	{"dump-raw-trace", 'D', OPTION_FLAG, .offset = RUN(dump), .help = "dump raw trace in ASCII"},
	{"stdio", 0, OPTION_FLAG, .offset = offsetof(struct cmd_annotate_settings, stdio),
		.help = "Use the stdio interface: text"},
	{"stdio2", 0, OPTION_FLAG, .offset = RUN(is_compact),
		.help = "compact: names for addresses, arrows at jumps, calls and returns"},
	{"stdio-color", 0, OPTION_CALL, "always|never|auto", .call = cmd_annotate_set_colour, .can_be_negated = true,
		.help = "'always', 'never' or 'auto': colour the percentages"},
	TRACE_OPTIONS(struct cmd_annotate_settings, run.request.input.traces),
	SYMBOL_OPTIONS(struct cmd_annotate_settings, run.request.input.symbols),
	LINE_OPTIONS(struct cmd_annotate_settings, run.request.input.symbols),
	{"modules", 'm', OPTION_FLAG, .offset = offsetof(struct cmd_annotate_settings, modules),
		.help = "load module symbols (always done, of any kernel whose files are there)"},
	{"print-line", 'l', OPTION_FLAG, .offset = offsetof(struct cmd_annotate_settings, print_line),
		.help = "Print the hottest source lines first, and the source line of each hot instruction"},
	{"full-paths", 'P', OPTION_FLAG, .offset = RUN(text.with_whole_path),
		.help = "Don't shorten the displayed pathnames"},
	{"skip-missing", 0, OPTION_FLAG, .offset = RUN(skips_missing), .help = "Skip symbols that cannot be annotated"},
	SAMPLE_OPTIONS(struct cmd_annotate_settings, run.request.input.samples),
	CODE_OPTIONS(struct cmd_annotate_settings, run.code),
	{"group", 0, OPTION_CALL, .call = cmd_annotate_set_group, .help = "Show event group information together"},
	{"show-total-period", 0, OPTION_FLAG, .offset = offsetof(struct cmd_annotate_settings, total_period),
		.help = "Show a column with the sum of periods"},
	{"show-nr-samples", 'n', OPTION_FLAG, .offset = offsetof(struct cmd_annotate_settings, nr_samples),
		.help = "Show a column with the number of samples"},
	{"percent-limit", 0, OPTION_CALL, "percent", .call = cmd_annotate_set_percent_limit,
		.help = "Don't show functions under that percent"},
	{"json", 0, OPTION_FLAG, .offset = RUN(is_json), .help = "JSON, see docs/schema/annotate.json"},
	{"tui", 0, OPTION_FLAG, .offset = offsetof(struct cmd_annotate_settings, tui),
		.help = "Use the terminal: instructions to move through (the default on one)"},
	{"gtk", 0, OPTION_UNSUPPORTED, .help = "Use the GTK interface"},
	{"data-type", 0, OPTION_CALL, "name", .call = set_data_type, .argument_is_optional = true,
		.help = "Show samples by data type and field (of one type if it is named) instead of code"},
	{"code-with-type", 0, OPTION_FLAG, .offset = RUN(with_data_types),
		.help = "Show which data each instruction accesses"},
	{"insn-stat", 0, OPTION_FLAG, .offset = RUN(with_instruction_counts),
		.help = "Show by mnemonic how many sampled instructions have a data type (with --data-type)"},
	{"type-stat", 0, OPTION_FLAG, .offset = RUN(with_type_counts),
		.help = "Show how many sampled instructions have a data type, and what others lack (with --data-type)"},
	{"skip-empty", 0, OPTION_FLAG, .offset = RUN(skips_empty),
		.help = "Do not display empty (or dummy) events in the output (which is the default)"},
};
static const struct option_table annotate_table = {annotate_options, ARRAY_LEN(annotate_options), false};
static const char *const annotate_usages[] = {"[<options>] [symbol]", NULL};
static const char *const annotate_examples[] = {"the hottest functions, instruction by instruction", "tally annotate",
	"one function, in Intel's syntax", "tally annotate -M intel main", NULL};

static int cmd_annotate_finish_settings(
	const struct cli *cli, struct cmd_annotate_settings *settings, int argc, char **argv, int rest)
{
	struct annotate_run *run = &settings->run;
	if (argc - rest > 1)
		return cli_failf(cli, "unexpected argument '%s': annotate takes one symbol", argv[rest + 1]);
	if (argc - rest == 1)
		run->request.symbol = argv[rest];
	if (settings->total_period && settings->nr_samples && !settings->has_usual_column)
		return cli_failf(cli, "--show-total-period and -n show one column: choose one of them");
	int code = code_options_check(cli, &run->code);
	if (code == 0)
		code = symbol_options_check(cli, &run->request.input.symbols);
	if (code != 0)
		return code;
	if ((run->with_type_counts || run->with_instruction_counts) && !run->data_type)
		return cli_failf(cli, "--%s-stat goes with --data-type", run->with_type_counts ? "type" : "insn");
	run->text.column = settings->total_period ? ANNOTATE_PERIOD
			   : settings->nr_samples ? ANNOTATE_SAMPLES
						  : ANNOTATE_PERCENT;
	run->text.with_places = settings->print_line;
	run->text.with_bytes = run->code.shows_bytes;
	run->text.percent = run->code.percent;
	run->is_verbose = settings->verbose > 0;
	return 0;
}

/* Text output is used for pipes, and if an option applies only to text. */
static int cmd_annotate_choose_interface(const struct cli *cli, struct cmd_annotate_settings *settings)
{
	struct annotate_run *run = &settings->run;
	bool is_usable = tui_terminal_is_usable();
	const char *other = run->is_compact	      ? "--stdio2"
			    : settings->stdio	      ? "--stdio"
			    : run->dump		      ? "-D"
			    : run->is_json	      ? "--json"
			    : run->data_type	      ? "--data-type"
			    : run->with_data_types    ? "--code-with-type"
			    : settings->print_line    ? "-l"
			    : settings->colour_is_set ? "--stdio-color"
						      : NULL;
	if (settings->stdio)
		return 0;
	if (settings->tui && other)
		return cli_failf(cli, "--tui and %s cannot be used together", other);
	if (settings->tui && !is_usable)
		return cli_failf(cli, "--tui needs a terminal as standard input and output, and ncursesw in the build");
	run->is_interactive = !other && is_usable;
	if (run->is_interactive && settings->hides_source && !run->code.source_is_asked)
		run->code.hides_source = true;
	return 0;
}

struct cmd_annotate_configuring {
	struct cmd_annotate_settings *settings;
	struct diag *notes;
};

static enum tally_status cmd_annotate_configure(void *data, const struct config_text *config, struct tally_error *err)
{
	struct cmd_annotate_configuring *configuring = data;
	struct cmd_annotate_settings *settings = configuring->settings;
	const struct {
		const char *name;
		bool *target;
	} flags[] = {{"annotate.show_total_period", &settings->total_period},
		{"annotate.show_nr_samples", &settings->nr_samples},
		{"annotate.hide_src_code", &settings->hides_source}};
	const char *style = annotate_config_style(config);
	if (style)
		settings->run.code.style = style;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (!strcmp(config->name, flags[i].name))
			config_files_bool(config->name, config_text_value(config), configuring->notes, flags[i].target);
	return TALLY_OK;
}

static enum tally_status cmd_annotate_read_config(
	const struct cli *cli, struct cmd_annotate_settings *settings, struct tally_error *err)
{
	struct diag notes;
	struct cmd_annotate_configuring configuring = {settings, &notes};
	diag_init(&notes);
	enum tally_status status = config_files_read(cmd_annotate_configure, &configuring, &notes, err);
	settings->has_usual_column = settings->total_period || settings->nr_samples;
	cli_print_diag(cli, &notes);
	diag_deinit(&notes);
	return status;
}

static int cmd_annotate_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_annotate_settings settings = {0};
	struct text out = {0};
	int rest;
	struct tally_error err = {0};
	settings.run.text.with_colours = colours_are_wanted();
	if (cmd_annotate_read_config(cli, &settings, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	code = cmd_annotate_finish_settings(cli, &settings, argc, argv, rest);
	if (code == 0)
		code = cmd_annotate_choose_interface(cli, &settings);
	if (code != 0)
		return code;
	text_to_fd(&out, STDOUT_FILENO);
	enum tally_status status = annotate_run(cli, &settings.run, &out, &err);
	code = cli_finish_text(cli, &out);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	if (!settings.run.is_interactive)
		cli_end_pager();
	return code;
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "Read perf.data (created by perf record) and display annotated code",
	.usages = annotate_usages,
	.options = &annotate_table,
	.description =
		"Disassembles the functions that samples fell on, the hottest first, and prints what share of a "
		"function's "
		"samples each instruction has, between the lines of its source.\n\n"
		"On a terminal, the functions are shown on a screen that can be scrolled and searched; docs/tui.md "
		"lists the keys. --stdio prints them.\n\n"
		"A symbol may be given without template arguments, parameters or scopes if it matches only one "
		"function with samples; otherwise the matching or the nearest names are listed.\n\n"
		"Which functions have no code available, and why, is reported on standard error.",
	.examples = annotate_examples,
	.run = cmd_annotate_run,
};
