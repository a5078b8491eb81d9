#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/diff_run.h"
#include "perfdata/time_spans.h"

struct settings {
	struct diff_request request;
	struct tally_error problem; /* of the last option, so that its text outlives the call */
	const char *paths[2]; /* when the command line names none or one */
};

#define REQUEST(field) offsetof(struct settings, request.field)

static const char *set_method(const struct option_use *use)
{
	struct settings *settings = use->settings;
	if (diff_request_set_method(&settings->request, use->value, &settings->problem) == TALLY_OK)
		return NULL;
	return settings->problem.text;
}

static const char *set_percentage(const struct option_use *use)
{
	struct settings *settings = use->settings;
	if (diff_request_set_percentage(&settings->request, use->value, &settings->problem) == TALLY_OK)
		return NULL;
	return settings->problem.text;
}

static const struct option options[] = {
	{"baseline-only", 'b', OPTION_FLAG, .offset = REQUEST(is_baseline_only),
		.help = "Show only items with match in baseline"},
	{"compute", 'c', OPTION_CALL, "delta,delta-abs,ratio,wdiff:w1,w2 (default delta-abs)", .call = set_method,
		.is_self_explaining = true, .help = "Entries differential computation selection"},
	{"period", 'p', OPTION_FLAG, .offset = REQUEST(with_periods), .help = "Show period values."},
	{"formula", 'F', OPTION_FLAG, .offset = REQUEST(with_formula), .help = "Show formula."},
	{"order", 'o', OPTION_U64, "n", .offset = REQUEST(order),
		.help = "Sort by the difference of file n (default: 1); 0: by the baseline"},
	{"sort", 's', OPTION_STRING, "key[,key2...]", .offset = REQUEST(sort),
		.help = "sort by key(s): pid, comm, dso, symbol, parent, cpu, srcline, ... (default: dso,symbol)"},
	{"comms", 'C', OPTION_STRING, "comm[,comm...]", .offset = REQUEST(filters.comms),
		.help = "only consider symbols in these comms"},
	{"dsos", 'd', OPTION_STRING, "dso[,dso...]", .offset = REQUEST(filters.dsos),
		.help = "only consider symbols in these dsos"},
	{"symbols", 'S', OPTION_STRING, "symbol[,symbol...]", .offset = REQUEST(filters.symbols),
		.help = "only consider these symbols"},
	{"pid", 0, OPTION_STRING, "pid[,pid...]", .offset = REQUEST(filters.pids),
		.help = "only consider symbols in these pids"},
	{"tid", 0, OPTION_STRING, "tid[,tid...]", .offset = REQUEST(filters.tids),
		.help = "only consider symbols in these tids"},
	{"cpu", 0, OPTION_STRING, "cpu", .offset = REQUEST(cpus), .help = "list of cpus to profile"},
	{"time", 0, OPTION_STRING, "str", .offset = REQUEST(times),
		.help = "Time span of interest, as for report; for each file its own: A:B"},
	{"percentage", 0, OPTION_CALL, "relative|absolute", .call = set_percentage, .is_self_explaining = true,
		.help = "How to display percentage of filtered entries"},
	{"field-separator", 't', OPTION_STRING, "separator", .offset = REQUEST(separator),
		.help = "separator for columns, no spaces will be added between columns '.' is reserved."},
	{"symfs", 0, OPTION_STRING, "directory", .offset = REQUEST(symfs),
		.help = "Look for files with symbols relative to this directory"},
	{"kallsyms", 0, OPTION_STRING, "file", .offset = REQUEST(kallsyms), .help = "kallsyms pathname"},
	{"verbose", 'v', OPTION_COUNT, .offset = REQUEST(verbose), .help = "list the files above the table"},
	{"quiet", 'q', OPTION_FLAG, .offset = REQUEST(is_quiet), .help = "Do not show any warnings or messages"},
	{"force", 'f', OPTION_FLAG, .offset = REQUEST(force), .help = "take the files whoever owns them"},
	{"dump-raw-trace", 'D', OPTION_FLAG, .offset = REQUEST(dump), .help = "dump raw trace in ASCII"},
	{"modules", 'm', OPTION_UNSUPPORTED, .help = "load module symbols of the running kernel"},
	{"cycles-hist", 0, OPTION_UNSUPPORTED, .help = "Show cycles histogram and standard deviation"},
	{"stream", 0, OPTION_UNSUPPORTED, .help = "Enable hot streams comparison."},
};
static const struct option_table table = {options, sizeof(options) / sizeof(options[0]), false};
static const char *const usages[] = {"[<options>] [old_file] [new_file]", NULL};
static const char *const examples[] = {"what changed since the last recording", "tally diff",
	"which functions take longer, with their periods", "tally diff -c ratio -p before.data after.data", NULL};

/* As perf: none is perf.data.old and perf.data; one is compared with perf.data.old. */
static void choose_paths(struct settings *settings, int argc, char **argv, int rest)
{
	struct diff_request *request = &settings->request;
	request->path_count = (size_t)(argc - rest);
	request->paths = (const char *const *)(argv + rest);
	if (request->path_count > 1)
		return;
	settings->paths[0] = "perf.data.old";
	settings->paths[1] = request->path_count == 1 ? argv[rest] : "perf.data";
	request->paths = settings->paths;
	request->path_count = 2;
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct settings settings = {.request.order = 1};
	struct diff_request *request = &settings.request;
	struct tally_error err = {0};
	struct text out = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (request->separator && !strcmp(request->separator, "."))
		return cli_failf(cli, "'.' is the only non valid --field-separator argument");
	choose_paths(&settings, argc, argv, rest);
	if (request->order >= request->path_count)
		return cli_failf(cli, "Order option out of limit.");
	if (diff_request_finish(request, &err) != TALLY_OK)
		return cli_usagef(cli, command, "sort", "%s", err.text);
	cli_start_pager(cli);
	text_to_fd(&out, STDOUT_FILENO);
	enum tally_status status = diff_run(cli, request, &out, &err);
	code = cli_finish_text(cli, &out);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	if (request->times && !strchr(request->times, ':') && !time_spans_are_valid(request->times))
		code = EXIT_BAD_TIME;
	cli_end_pager();
	return code;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "Read perf.data files and display the differential profile",
	.usages = usages,
	.options = &table,
	.description =
		"Compares recordings by the names of what took the time: the first is the baseline, and each other one "
		"has a column with its difference. Without files, perf.data.old and perf.data are compared.\n\n"
		"delta-abs and delta are differences of shares in percent points, delta-abs sorted by their size; "
		"ratio is the new period by the baseline's; wdiff:w1,w2 is the new period times w2 less the baseline's "
		"times w1.",
	.examples = examples,
	.run = run,
};
