/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/config_files.h"
#include "cli/word_files.h"
#include "perfdata/time_spans.h"
#include "tasks/session/recording_input.h"
#include "verbs/diff/diff_run.h"
#include "verbs/diff/diff_sides.h"

enum { SIDE_BASE, SIDE_NEW, SIDE_AA, SIDES };

struct cmd_diff_settings {
	struct diff_request request;
	const char *paths[2]; /* The paths that are compared if the command line has none or one. */
	const char **sides[SIDES]; /* The words of --base, --new and --aa; each array has room for all words. */
	size_t side_counts[SIDES];
	const char **all; /* The paths of all sides. */
	struct word_files files; /* Owns the lists of words that filters read from files. */
	bool json, markdown, has_test_option, has_pair_option, has_limit;
	uint64_t usual_order; /* The sort order that the configuration sets. */
};

#define DIFF_REQUEST(field) offsetof(struct cmd_diff_settings, request.field)

typedef enum tally_status (*request_setter)(struct diff_request *, const char *, struct tally_error *);

static const char *cmd_diff_apply(const struct option_use *use, request_setter set)
{
	struct cmd_diff_settings *settings = use->settings;
	struct tally_error problem;
	return set(&settings->request, use->value, &problem) == TALLY_OK ? NULL : option_complaint(use, problem.text);
}

static const char *set_method(const struct option_use *use)
{
	struct cmd_diff_settings *settings = use->settings;
	settings->has_pair_option = true;
	return cmd_diff_apply(use, diff_request_set_method);
}

static const char *cmd_diff_set_percentage(const struct option_use *use)
{
	return cmd_diff_apply(use, diff_request_set_percentage);
}

/* Sets an option that requires several recordings per side. */
static const char *apply_test(const struct option_use *use, request_setter set)
{
	struct cmd_diff_settings *settings = use->settings;
	settings->has_test_option = true;
	return cmd_diff_apply(use, set);
}

static const char *set_level(const struct option_use *use)
{
	return apply_test(use, diff_request_set_level);
}

static const char *set_correction(const struct option_use *use)
{
	return apply_test(use, diff_request_set_correction);
}

static const char *set_measure(const struct option_use *use)
{
	return apply_test(use, diff_request_set_measure);
}

static const char *set_limit(const struct option_use *use)
{
	struct cmd_diff_settings *settings = use->settings;
	settings->has_limit = true;
	return cmd_diff_apply(use, diff_request_set_limit);
}

static const char *set_paths(const struct option_use *use)
{
	struct cmd_diff_settings *settings = use->settings;
	if (!use->is_negated)
		return cmd_diff_apply(use, diff_request_set_paths);
	settings->request.with_paths = false;
	return NULL;
}

static const char *add_side(const struct option_use *use, int side)
{
	struct cmd_diff_settings *settings = use->settings;
	settings->sides[side][settings->side_counts[side]++] = use->value;
	return NULL;
}

static const char *cmd_diff_add_base(const struct option_use *use)
{
	return add_side(use, SIDE_BASE);
}

static const char *cmd_diff_add_new(const struct option_use *use)
{
	return add_side(use, SIDE_NEW);
}

static const char *add_aa(const struct option_use *use)
{
	return add_side(use, SIDE_AA);
}

static const struct option diff_options[] = {
	{"base", 0, OPTION_CALL, "file...", .call = cmd_diff_add_base,
		.help = "several recordings of the old program: with --new, shows which changes exceed the noise"},
	{"new", 0, OPTION_CALL, "file...", .call = cmd_diff_add_new, .help = "several recordings of the new program"},
	{"aa", 0, OPTION_CALL, "file...", .call = add_aa,
		.help = "further recordings of the old program: how much it differs from itself (the noise floor)"},
	{"measure", 0, OPTION_CALL, "auto|period|share|scaled", .call = set_measure, .is_self_explaining = true,
		.help = "with --base: the quantity to compare: a row's period, its share, or its period scaled by "
			"the machine's speed in that recording; auto chooses period or scaled (default)"},
	{"level", 0, OPTION_CALL, "p", .call = set_level, .is_self_explaining = true,
		.help = "with --base: changes with a smaller (corrected) p value count as changes (default: 0.005)"},
	{"correction", 0, OPTION_CALL, "holm|bh|none", .call = set_correction, .is_self_explaining = true,
		.help = "with --base: correction of p values for the number of rows: holm bounds the chance of any "
			"false alarm (default), bh the share of false alarms"},
	{"percent-limit", 0, OPTION_CALL, "percent", .call = set_limit, .is_self_explaining = true,
		.help = "with --base: do not test rows with a smaller share; with -g: hide paths whose share differs "
			"by less (default: 0.5)"},
	{"call-graph", 'g', OPTION_CALL, "name|line", .argument_is_optional = true, .takes_next_word = false,
		.call = set_paths, .is_self_explaining = true,
		.help = "show the call paths that differ, matched by names, or by names and source lines"},
	{"fail-if", 0, OPTION_STRING, "clause[,clause...]", .offset = DIFF_REQUEST(fail_if),
		.help = "with --base: exit status 3 if there is such a change, 4 if recordings are too few to tell: "
			"'regression>2% with p<0.01'; regression, improvement, change, total"},
	{"json", 0, OPTION_FLAG, .offset = offsetof(struct cmd_diff_settings, json),
		.help = "JSON, see docs/diff-json.md"},
	{"markdown", 0, OPTION_FLAG, .offset = offsetof(struct cmd_diff_settings, markdown),
		.help = "a Markdown table"},
	{"baseline-only", 'b', OPTION_FLAG, .offset = DIFF_REQUEST(is_baseline_only),
		.help = "Show only items with match in baseline"},
	{"compute", 'c', OPTION_CALL, "delta,delta-abs,ratio,wdiff:w1,w2 (default delta-abs),cycles",
		.call = set_method, .is_self_explaining = true, .help = "Entries differential computation selection"},
	{"period", 'p', OPTION_FLAG, .offset = DIFF_REQUEST(with_periods), .help = "Show period values."},
	{"formula", 'F', OPTION_FLAG, .offset = DIFF_REQUEST(with_formula), .help = "Show formula."},
	{"order", 'o', OPTION_U64, "n", .offset = DIFF_REQUEST(order),
		.help = "Sort by the difference of file n (default: 1); 0: by the baseline"},
	{"sort", 's', OPTION_STRING, "key[,key2...]", .offset = DIFF_REQUEST(sort),
		.help = "sort by key(s): pid, comm, dso, symbol, parent, cpu, srcline, ... (default: dso,symbol)"},
	{"comms", 'C', OPTION_STRING, "comm[,comm...]", .offset = DIFF_REQUEST(samples.filters.comms),
		.help = "only consider symbols in these comms"},
	{"cpu", 0, OPTION_STRING, "cpu", .offset = DIFF_REQUEST(samples.cpus), .help = "list of cpus to profile"},
	{"time", 0, OPTION_STRING, "str", .offset = DIFF_REQUEST(samples.times),
		.help = "Time span of interest, as for report; for each file its own: A:B"},
	SAMPLE_OPTIONS(struct cmd_diff_settings, request.samples),
	PLACE_OPTIONS(struct cmd_diff_settings, request.samples),
	{"percentage", 0, OPTION_CALL, "relative|absolute", .call = cmd_diff_set_percentage, .is_self_explaining = true,
		.help = "How to display percentage of filtered entries"},
	{"field-separator", 't', OPTION_STRING, "separator", .offset = DIFF_REQUEST(separator),
		.help = "separator for columns, no spaces will be added between columns '.' is reserved."},
	SYMBOL_OPTIONS(struct cmd_diff_settings, request.symbols),
	{"verbose", 'v', OPTION_COUNT, .offset = DIFF_REQUEST(verbose),
		.help = "paths of objects, addresses of symbols; list the files above the table"},
	{"quiet", 'q', OPTION_FLAG, .offset = DIFF_REQUEST(is_quiet), .help = "Do not show any warnings or messages"},
	{"force", 'f', OPTION_FLAG, .offset = DIFF_REQUEST(force), .help = "do not check who owns the files"},
	{"dump-raw-trace", 'D', OPTION_FLAG, .offset = DIFF_REQUEST(dump), .help = "dump raw trace in ASCII"},
	{"modules", 'm', OPTION_FLAG, .offset = DIFF_REQUEST(modules_are_asked),
		.help = "load module symbols (always done, of any kernel whose files are there)"},
	{"cycles-hist", 0, OPTION_FLAG, .offset = DIFF_REQUEST(with_spread),
		.help = "with -c cycles: how much single times differed, as the standard error of the mean and bars"},
	{"stream", 0, OPTION_FLAG, .offset = DIFF_REQUEST(with_streams),
		.help = "Enable hot streams comparison: the runs of branches that most time is spent in"},
};
static const struct option_table diff_table = {diff_options, ARRAY_LEN(diff_options), false};
static const char *const diff_usages[] = {"[<options>] [old_file] [new_file]", NULL};
static const char *const diff_examples[] = {"what changed since the last recording", "tally diff",
	"which functions take longer, with their periods", "tally diff -c ratio -p before.data after.data",
	"fail a build whose functions got slower",
	"tally diff --base A*.data --new B*.data --fail-if 'regression>2% with p<0.01'", NULL};

/* As in perf, the default is perf.data.old and perf.data, and a single recording is compared with perf.data.old. */
static void choose_paths(struct cmd_diff_settings *settings, int argc, char **argv, int rest)
{
	struct diff_request *request = &settings->request;
	request->path_count = (size_t)(argc - rest);
	request->paths = (const char *const *)(argv + rest);
	if (request->path_count > 1)
		return;
	settings->paths[0] = "perf.data.old";
	settings->paths[1] = request->path_count == 1 ? argv[rest] : RECORDING_NAME;
	request->paths = settings->paths;
	request->path_count = 2;
}

static int refuse_mixtures(
	const struct cli *cli, const struct command *command, const struct cmd_diff_settings *s, bool has_words)
{
	const struct diff_request *r = &s->request;
	if (s->json && s->markdown)
		return cli_usagef(cli, command, "json,markdown", "--json and --markdown cannot be used together");
	if ((s->json || s->markdown) && (r->separator || r->dump || r->with_formula || r->with_periods))
		return cli_usagef(cli, command, "json,markdown", "-t, -D, -F and -p apply to text output only");
	if (r->method == DIFF_CYCLES && (s->json || s->markdown || r->with_formula || r->with_paths))
		return cli_usagef(
			cli, command, "compute", "-c cycles is in text, of blocks: without --json, --markdown, -g, -F");
	if (r->with_spread && r->method != DIFF_CYCLES)
		return cli_usagef(cli, command, "cycles-hist,compute", "--cycles-hist goes with -c cycles");
	if (r->with_streams && (s->json || s->markdown || s->has_pair_option || r->separator || r->with_paths ||
				       r->is_baseline_only || r->with_formula || r->with_periods || r->is_repeated))
		return cli_usagef(cli, command, "stream",
			"--stream compares runs of branches, in text, and has no rows: without -b, -c, -F, -g, -p, "
			"-t, --base, --json, --markdown");
	if (!r->is_repeated) {
		if (s->has_limit && !r->with_paths)
			return cli_usagef(
				cli, command, "percent-limit,call-graph", "--percent-limit needs -g or --base");
		if (s->has_test_option || r->fail_if || s->side_counts[SIDE_AA])
			return cli_usagef(cli, command, "base,new",
				"--aa, --measure, --level, --correction and --fail-if need several recordings a side: "
				"--base FILE... --new FILE...");
		return 0;
	}
	if (!s->side_counts[SIDE_BASE] || !s->side_counts[SIDE_NEW])
		return cli_usagef(cli, command, "base,new", "--base and --new go together");
	if (has_words)
		return cli_usagef(cli, command, "base,new", "--base and --new name all files");
	if (s->has_pair_option || r->separator || r->is_baseline_only || r->with_formula || r->with_periods ||
		r->order != s->usual_order)
		return cli_usagef(cli, command, "base,new", "-b, -c, -F, -o, -p and -t compare single recordings only");
	return 0;
}

static void choose_sides(struct cmd_diff_settings *settings)
{
	struct diff_request *request = &settings->request;
	request->test.sides = (struct diff_sides){
		settings->side_counts[SIDE_BASE], settings->side_counts[SIDE_NEW], settings->side_counts[SIDE_AA]};
	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < settings->side_counts[side]; i++)
			settings->all[request->path_count++] = settings->sides[side][i];
	request->paths = settings->all;
	request->order = 0;
}

static int cmd_diff_run_parsed(const struct cli *cli, struct cmd_diff_settings *settings)
{
	struct diff_request *request = &settings->request;
	struct tally_error err = {0};
	struct text out = {0};
	struct diff_outcome outcome = {0};
	if (request->with_streams && request->sort)
		cli_notef(cli, "-s has no effect with --stream, which shows no rows");
	text_to_fd(&out, STDOUT_FILENO);
	text_separated_by(&out, request->separator);
	enum tally_status status = diff_run(cli, request, &out, &outcome, &err);
	int code = cli_finish_text(cli, &out);
	if (code == 0 && outcome.failures)
		code = EXIT_CHANGED;
	else if (code == 0 && outcome.is_undecided)
		code = EXIT_UNDECIDED;
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	if (request->samples.times && !strchr(request->samples.times, ':') &&
		!time_spans_are_valid(request->samples.times))
		code = EXIT_BAD_TIME;
	cli_end_pager();
	return code;
}

struct cmd_diff_configuring {
	struct diff_request *request;
	struct diag *notes;
};

static enum tally_status cmd_diff_configure(void *data, const struct config_text *config, struct tally_error *err)
{
	struct cmd_diff_configuring *configuring = data;
	diff_request_configure(configuring->request, config->name, config_text_value(config), configuring->notes);
	return TALLY_OK;
}

static enum tally_status cmd_diff_read_config(
	const struct cli *cli, struct cmd_diff_settings *settings, struct tally_error *err)
{
	struct diag notes;
	struct cmd_diff_configuring configuring = {&settings->request, &notes};
	diag_init(&notes);
	enum tally_status status = config_files_read(cmd_diff_configure, &configuring, &notes, err);
	settings->usual_order = settings->request.order;
	cli_print_diag(cli, &notes);
	diag_deinit(&notes);
	return status;
}

static int parse_and_run(
	const struct cli *cli, const struct command *command, int argc, char **argv, struct cmd_diff_settings *settings)
{
	struct diff_request *request = &settings->request;
	struct tally_error err = {0};
	int rest;
	if (cmd_diff_read_config(cli, settings, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	int code = cli_parse_options(cli, command, argc, argv, settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	request->is_repeated = settings->side_counts[SIDE_BASE] || settings->side_counts[SIDE_NEW];
	request->format = settings->json       ? DIFF_FORMAT_JSON
			  : settings->markdown ? DIFF_FORMAT_MARKDOWN
					       : DIFF_FORMAT_TEXT;
	code = refuse_mixtures(cli, command, settings, rest < argc);
	if (code)
		return code;
	if (request->separator && !strcmp(request->separator, "."))
		return cli_failf(cli, "'.' is the only non valid --field-separator argument");
	if (word_files_read_filters(&settings->files, &request->samples.filters, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	if (request->is_repeated)
		choose_sides(settings);
	else
		choose_paths(settings, argc, argv, rest);
	if (request->order >= request->path_count)
		return cli_failf(cli, "Order option out of limit.");
	if (diff_request_finish(request, &err) != TALLY_OK)
		return cli_usagef(cli, command, "sort,fail-if", "%s", err.text);
	return cmd_diff_run_parsed(cli, settings);
}

static int cmd_diff_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_diff_settings settings = {0};
	struct tally_error err;
	char **words = diff_sides_expand(&argc, argv);
	bool has_memory = words != NULL;
	for (int side = 0; side < SIDES; side++) {
		settings.sides[side] = calloc((size_t)argc + 1, sizeof(char *));
		has_memory = has_memory && settings.sides[side];
	}
	settings.all = calloc((size_t)argc + 1, sizeof(char *));
	diff_request_init(&settings.request);
	int code = EXIT_FAILED;
	if (!has_memory || !settings.all) {
		(void)error_nomem(&err);
		code = cli_fail(cli, &err);
	} else {
		code = parse_and_run(cli, command, argc, words, &settings);
	}
	for (int side = 0; side < SIDES; side++)
		free(settings.sides[side]);
	word_files_deinit(&settings.files);
	free(settings.all);
	free(words);
	return code;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "Read perf.data files and display the differential profile",
	.usages = diff_usages,
	.options = &diff_table,
	.description =
		"Compares recordings by the names of what took the time: the first is the baseline, and each other one "
		"has a column with its difference. Without files, perf.data.old and perf.data are compared.\n\n"
		"delta-abs and delta are differences of shares in percent points, delta-abs sorted by their size; "
		"ratio is the new period by the baseline's; wdiff:w1,w2 is the new period times w2 less the baseline's "
		"times w1. cycles, of recordings with branch stacks, is the difference of what each block of code "
		"between "
		"two branches takes on average, below the function that it is of.",
	.examples = diff_examples,
	.run = cmd_diff_run,
};
