/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_terminal.h"
#include "cli/word_files.h"
#include "perfdata/time_spans.h"
#include "tasks/listing/annotate_objdump.h"
#include "tasks/reporting/report_config.h"
#include "tasks/reporting/report_options.h"
#include "tasks/session/reader_styles.h"
#include "tasks/terminal/tui_terminal.h"
#include "verbs/report/report_blocks.h"
#include "verbs/report/report_run.h"

struct cmd_report_settings {
	struct report_request request;
	bool stdio, tui;
	const char *page; /* The output file of --html; NULL if the option is not given. */
	unsigned verbose;
	const char *pretty;
	uint64_t max_stack;
};

#define DEFAULT_PAGE	      "report.html"
#define REPORT_MAX_STACK      127 /* The default that perf-report(1) documents. */
#define REPORT_REQUEST(field) offsetof(struct cmd_report_settings, request.field)

static const char *cmd_report_set_chains(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	if (use->is_negated) {
		settings->request.chains.look.style = CHAIN_NONE;
		return NULL;
	}
	return report_options_apply(use, &settings->request, report_request_set_chains);
}

static const char *set_time_quantum(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	return report_options_apply(use, &settings->request, report_request_set_time_quantum);
}

static const char *set_branches(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	settings->request.rows.branches = use->is_negated ? BRANCHES_NEVER : BRANCHES_ALWAYS;
	return NULL;
}

static const char *cmd_report_set_colour(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	return colours_by_mode(use->value, &settings->request.look.colours) ? NULL : "takes always, never or auto";
}

static const char *cmd_report_set_wall(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	settings->request.rows.wall = use->is_negated ? WALL_NEVER : WALL_ALWAYS;
	return NULL;
}

static const char *set_html(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	settings->page = use->is_negated ? NULL : use->value ? use->value : DEFAULT_PAGE;
	return NULL;
}

static const char *cmd_report_set_group(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	settings->request.groups.are_joined = !use->is_negated;
	settings->request.groups.are_split = use->is_negated;
	return NULL;
}

static const char *set_require(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	struct tally_error problem;
	enum tally_status status = requirements_parse(use->value, &settings->request.requirements, &problem);
	return status == TALLY_OK ? NULL : option_complaint(use, problem.text);
}

static const char *set_skip_empty(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	settings->request.look.keeps_empty = use->is_negated;
	return NULL;
}

static const char *check_samples(const struct option_use *use)
{
	uint64_t count;
	return str_to_u64(str_from(use->value), 0, &count) ? NULL : "expects a numerical value";
}

static const char *set_socket(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	/* A negative number selects no socket, so the samples of all sockets count. */
	bool is_negative = use->value[0] == '-';
	if (!str_to_u64(str_from(use->value + is_negative), 0, &settings->request.selection.socket))
		return "expects a numerical value";
	settings->request.selection.has_socket = !is_negative;
	return NULL;
}

static const char *set_self(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	bool is_inlined = strcmp(use->value, "inlined") == 0;
	if (!is_inlined && strcmp(use->value, "symbol") != 0)
		return "expects 'symbol' or 'inlined'";
	settings->request.rows.self_is_inlined = is_inlined;
	return NULL;
}

static const char *cmd_report_set_inline(const struct option_use *use)
{
	struct cmd_report_settings *settings = use->settings;
	settings->request.rows.no_inline = use->is_negated;
	return NULL;
}

static const struct option report_options[] = {
	INPUT_OPTIONS(struct cmd_report_settings, request.input),
	{"stdio", 0, OPTION_FLAG, .offset = offsetof(struct cmd_report_settings, stdio),
		.help = "Use the stdio interface: text"},
	{"verbose", 'v', OPTION_COUNT, .offset = offsetof(struct cmd_report_settings, verbose),
		.help = "paths of objects, addresses of symbols and where these came from"},
	{"quiet", 'q', OPTION_FLAG, .offset = REPORT_REQUEST(is_quiet), .help = "Do not show any warnings or messages"},
	{"sort", 's', OPTION_STRING, "key[,key2...]", .offset = REPORT_REQUEST(rows.sort),
		.help = "sort by key(s): comm, dso, symbol, pid, tgid, cpu, symbol_size, overhead ...; of waits: "
			"state, waker, wait, run_latency"},
	{"fields", 'F', OPTION_STRING, "key[,keys...]", .offset = REPORT_REQUEST(rows.fields),
		.help = "output field(s): overhead, period, sample and the sort keys; with + in front beside the usual "
			"ones"},
	{"show-cpu-utilization", 0, OPTION_FLAG, .offset = REPORT_REQUEST(look.shows_modes),
		.help = "Show sample percentage for different cpu modes"},
	{"showcpuutilization", 0, OPTION_FLAG, .is_hidden = true, .offset = REPORT_REQUEST(look.shows_modes),
		.help = "older name of --show-cpu-utilization"},
	{"call-graph", 'g', OPTION_CALL, "print_type,threshold[,print_limit],order,sort_key[,branch],value",
		.argument_is_optional = true, .takes_next_word = true, .call = cmd_report_set_chains,
		.is_self_explaining = true,
		.help = "Display call graph: graph|flat|fractal|folded|none, percent, caller|callee, function|address, "
			"percent|period|count (default: graph,0.5,caller,function,percent)"},
	{"inverted", 'G', OPTION_FLAG, .offset = REPORT_REQUEST(chains.is_inverted),
		.help = "call graphs start at the outermost caller"},
	{"max-stack", 0, OPTION_U64, "n", .offset = offsetof(struct cmd_report_settings, max_stack),
		.help = "maximum number of frames of a call chain, including inlined ones (default: 127); 0: none"},
	SAMPLE_OPTIONS(struct cmd_report_settings, request.samples),
	PLACE_OPTIONS(struct cmd_report_settings, request.samples),
	{"symbol-filter", 0, OPTION_STRING, "filter", .offset = REPORT_REQUEST(samples.filters.symbol_part),
		.help = "only show symbols that (partially) match with this filter"},
	{"hide-unresolved", 'U', OPTION_FLAG, .offset = REPORT_REQUEST(rows.hides_unresolved),
		.help = "Only display entries resolved to a symbol"},
	{"field-separator", 't', OPTION_STRING, "separator", .offset = REPORT_REQUEST(look.separator),
		.help = "separator for columns, no spaces will be added between columns"},
	{"header", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.header), .help = "Show data header"},
	{"header-only", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.header_only), .help = "Show only data header"},
	{"show-info", 'I', OPTION_FLAG, .offset = REPORT_REQUEST(output.full_info),
		.help = "Display extended information about perf.data file"},
	{"stats", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.stats), .help = "Display event stats"},
	{"require", 0, OPTION_CALL, "name<bound[,...]", .call = set_require, .is_self_explaining = true,
		.help = "exit with status 3 unless the recording meets these requirements, such as "
			"'lost<1%,complete>95%,symbols>90%' (samples, lost, throttled, complete, symbols, kernel; < <= "
			"> >= =)"},
	{"html", 0, OPTION_CALL, "file", .argument_is_optional = true, .call = set_html,
		.help = "write one page (" DEFAULT_PAGE ") with the whole recording, for a browser; can be used with "
			"the options of 'export'"},
	{"json", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.is_json),
		.help = "the tables as JSON (docs/schema/report.json), with call chains as trees; -I: the header too"},
	{"missing", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.missing),
		.help = "Show which DSOs lack symbols, where the symbols were searched and what to install"},
	{"threads", 'T', OPTION_FLAG, .offset = REPORT_REQUEST(output.threads),
		.help = "Show per-thread event counters"},
	{"pretty", 0, OPTION_STRING, "key", .offset = offsetof(struct cmd_report_settings, pretty),
		.help = "printing style of -T: normal raw"},
	{"group", 0, OPTION_CALL, .call = cmd_report_set_group, .help = "Show event group information together"},
	{"skip-empty", 0, OPTION_CALL, .call = set_skip_empty,
		.help = "Do not display empty (or dummy) events in the output"},
	REPORT_OPTIONS(struct cmd_report_settings, request),
	SYMBOL_OPTIONS(struct cmd_report_settings, request.symbols),
	LINE_OPTIONS(struct cmd_report_settings, request.symbols),
	{"stdio-color", 0, OPTION_CALL, "always|never|auto", .call = cmd_report_set_colour, .can_be_negated = true,
		.help = "'always', 'never' or 'auto': colour the percentages"},
	{"inline", 0, OPTION_CALL, .call = cmd_report_set_inline,
		.help = "Show inlined calls as frames of call chains (on; --no-inline: off)"},
	{"self", 0, OPTION_CALL, "kind", .call = set_self,
		.help = "Count self time by 'symbol' (default), or by 'inlined' function, as pages and flame graphs "
			"do"},
	{"dump-raw-trace", 'D', OPTION_FLAG, .offset = REPORT_REQUEST(output.dump), .help = "dump raw trace in ASCII"},
	{"parent", 'p', OPTION_STRING, "regex", .offset = REPORT_REQUEST(samples.filters.parent),
		.help = "regex filter to identify parent, see: '--sort parent'"},
	{"exclude-other", 'x', OPTION_FLAG, .offset = REPORT_REQUEST(samples.filters.excludes_other),
		.help = "Only display entries with parent-match"},
	{"branch-stack", 'b', OPTION_CALL, .call = set_branches,
		.help = "use branch records for per branch histogram filling"},
	{"branch-history", 0, OPTION_FLAG, .offset = REPORT_REQUEST(chains.has_history),
		.help = "add last branch records to the call history: show the jumps that led to each sample"},
	{"wall", 0, OPTION_CALL, .call = cmd_report_set_wall,
		.help = "Show waits and time on the CPU as one profile of wall-clock time (of record --wall, and with "
			"sort keys about waits, it is; --no-wall: as two events)"},
	{"wakers", 0, OPTION_FLAG, .offset = REPORT_REQUEST(rows.wakers),
		.help = "Show who ended each wait, and what the waker had been doing: its call chain below the wait's"},
	{"follow", 0, OPTION_FLAG, .offset = REPORT_REQUEST(rows.follows),
		.help = "with --wakers: follow wake-ups back until somebody ran: what threads were really waiting for"},
	IDLE_OPTIONS(struct cmd_report_settings, request.samples),
	{"mem-mode", 0, OPTION_FLAG, .offset = REPORT_REQUEST(rows.by_memory), .help = "mem access profile"},
	{"mmaps", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.mmaps), .help = "Display recorded tasks memory maps"},
	{"tasks", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.tasks), .help = "Display recorded tasks"},
	{"time-quantum", 0, OPTION_CALL, "time", .call = set_time_quantum, .is_self_explaining = true,
		.help = "Set time quantum for time sort key"},
	{"parallelism", 0, OPTION_STRING, "list", .offset = REPORT_REQUEST(selection.parallelism),
		.help = "Only samples from times when this many threads ran (1,4-8; needs --switch-events)"},
	TRACE_OPTIONS(struct cmd_report_settings, request.traces),
	DEBUGINFOD_OPTIONS(struct cmd_report_settings, request.debuginfod),
	{"modules", 'm', OPTION_FLAG, .offset = REPORT_REQUEST(modules_are_asked),
		.help = "Load module symbols (always done, of any kernel whose files are there)"},
	{"full-source-path", 0, OPTION_FLAG, .offset = REPORT_REQUEST(rows.full_source_path),
		.help = "Show source lines and files with the whole path"},
	{"samples", 0, OPTION_CALL, "n", .call = check_samples,
		.help = "Number of samples to save per histogram entry for a browser (without effect on text)"},
	{"show-ref-call-graph", 0, OPTION_FLAG, .offset = REPORT_REQUEST(look.shows_reference),
		.help = "Mark events recorded with call-graph=no, whose chains come from a reference event, in their "
			"heading"},
	{"total-cycles", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.total_cycles),
		.help = "Sort all blocks of code by their share of the cycles in branch stacks"},
	{"socket-filter", 0, OPTION_CALL, "n", .call = set_socket,
		.help = "only show processor socket that match with this filter"},
	{"xed", 0, OPTION_UNSUPPORTED, .help = "Run xed disassembler on output"},
	{"tui", 0, OPTION_FLAG, .offset = offsetof(struct cmd_report_settings, tui),
		.help = "Use the TUI interface: browse the report by keys (default on a terminal; ? lists the keys)"},
	{"gtk", 0, OPTION_UNSUPPORTED, .help = "Use the GTK2 interface"},
	{"ns", 0, OPTION_FLAG, .offset = REPORT_REQUEST(look.times_in_ns), .help = "Show times in nanosecs"},
	CODE_OPTIONS(struct cmd_report_settings, request.code),
	{"disable-order", 0, OPTION_FLAG, .offset = REPORT_REQUEST(output.in_file_order),
		.help = "Disable raw trace ordering: -D shows records in file order (rows are the same)"},
	{"unwind-style", 0, OPTION_CALL, "style", .call = unwind_style_check, .help = UNWIND_STYLE_HELP},
	{"stitch-lbr", 0, OPTION_FLAG, .offset = REPORT_REQUEST(chains.stitches),
		.help = "Enable LBR callgraph stitching: take callers that the CPU's registers no longer held from "
			"earlier samples"},
	{"latency", 0, OPTION_FLAG, .offset = REPORT_REQUEST(rows.by_latency),
		.help = "Show shares of elapsed time, by the number of running threads (needs --switch-events)"},
};
static const struct option_table report_table = {report_options, ARRAY_LEN(report_options), false};
static const char *const report_usages[] = {"[<options>]", NULL};
static const char *const report_examples[] = {"show the callers and callees of perf.data", "tally report",
	"show the heaviest programs", "tally report -s comm,dso -g none --percent-limit 1", NULL};

/* Returns the name of an option that requires text or machine-readable output, or NULL if none is given. */
static const char *text_only_option(const struct report_request *r)
{
	const struct {
		bool is_used;
		const char *name;
	} all[] = {{r->output.stats, "--stats"}, {r->output.tasks, "--tasks"}, {r->output.mmaps, "--mmaps"},
		{r->output.dump, "-D"}, {r->output.header, "--header"}, {r->output.header_only, "--header-only"},
		{r->output.full_info, "-I"}, {r->output.missing, "--missing"}, {r->output.threads, "-T"},
		{r->output.is_json, "--json"}, {r->look.separator, "-t"}, {r->output.total_cycles, "--total-cycles"}};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].is_used)
			return all[i].name;
	return NULL;
}

static int cmd_report_choose_interface(const struct cli *cli, struct cmd_report_settings *settings)
{
	struct report_request *request = &settings->request;
	const char *other = text_only_option(request);
	bool is_usable = tui_terminal_is_usable();
	if (settings->stdio)
		return 0;
	if (settings->tui && other)
		return cli_failf(cli, "--tui and %s cannot be used together", other);
	if (settings->tui && !is_usable)
		return cli_failf(cli, "--tui needs a terminal as standard input and output, and ncursesw in the build");
	request->output.is_interactive = !other && is_usable;
	return 0;
}

/* Returns the name of an option that --total-cycles does not support yet, or NULL if none is given. */
static const char *blocks_refuse(const struct report_request *r)
{
	const struct profile_filter_lists *f = &r->samples.filters;
	const struct {
		bool is_used;
		const char *name;
	} all[] = {{r->rows.sort, "-s"}, {r->rows.fields, "-F"}, {r->rows.is_hierarchy, "--hierarchy"}, {f->dsos, "-d"},
		{f->symbols, "-S"}, {f->symbol_part, "--symbol-filter"}, {f->parent, "-p"},
		{f->ignored_callees, "--ignore-callees"}, {r->selection.has_socket, "--socket-filter"},
		{r->selection.parallelism, "--parallelism"}, {r->selection.switch_on, "--switch-on"},
		{r->selection.switch_off, "--switch-off"}, {r->rows.by_memory, "--mem-mode"},
		{r->rows.by_latency, "--latency"}, {r->chains.has_history, "--branch-history"},
		{r->chains.are_asked, "-g"}, {r->output.missing, "--missing"},
		{r->groups.sort_is_set, "--group-sort-idx"}, {r->requirements.count, "--require"}};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].is_used)
			return all[i].name;
	return NULL;
}

/* Returns whether the output consists of records or the header rather than a report. */
static bool is_of_records(const struct report_output *output)
{
	return output->stats || output->tasks || output->mmaps || output->dump || output->header_only;
}

/* Options that print records take precedence over --total-cycles. */
static bool shows_blocks(const struct report_request *r)
{
	return r->output.total_cycles && !is_of_records(&r->output);
}

static int cmd_report_finish_settings(
	const struct cli *cli, struct cmd_report_settings *settings, int argc, char **argv, int rest)
{
	struct report_request *request = &settings->request;
	if (settings->pretty && !strcmp(settings->pretty, "raw"))
		request->output.is_raw_pretty = true;
	else if (settings->pretty && strcmp(settings->pretty, "normal") && !request->is_quiet)
		cli_failf(cli, "note: --pretty takes normal or raw; '%s' is treated as normal", settings->pretty);
	request->chains.max_stack = settings->max_stack > UINT32_MAX ? UINT32_MAX : (unsigned)settings->max_stack;
	request->is_verbose = settings->verbose > 0 && !request->is_quiet;
	if (request->rows.follows && !request->rows.wakers)
		return cli_failf(cli, "--follow needs --wakers");
	if (request->rows.wakers && request->rows.wall == WALL_ALWAYS)
		return cli_failf(cli, "--wakers and --wall cannot be used together: --wakers shows waits alone");
	if (request->output.stats && (request->output.tasks || request->output.mmaps))
		return cli_failf(cli, "--tasks and --mmaps can't be used together with --stats");
	int code = code_options_check(cli, &request->code);
	if (code == 0)
		code = symbol_options_check(cli, &request->symbols);
	if (code != 0)
		return code;
	const char *refused = shows_blocks(request) ? blocks_refuse(request) : NULL;
	if (refused)
		return cli_failf(cli, "--total-cycles and %s cannot be used together", refused);
	if (request->requirements.count && (is_of_records(&request->output) || request->output.missing))
		return cli_failf(
			cli, "--require checks a report: it cannot be used with an option that prints something else");
	if (request->output.is_json && request->output.dump)
		return cli_failf(
			cli, "--json has no raw records (-D): 'tally data convert --to-json' writes samples as JSON");
	if (request->look.separator && !strcmp(request->look.separator, "."))
		return cli_failf(cli, "'.' is the only non valid --field-separator argument");
	if (argc - rest > 1)
		return cli_failf(cli, "unexpected argument '%s': report takes one file", argv[rest + 1]);
	if (argc - rest == 1 && !request->input.path)
		request->input.path = argv[rest];
	else if (argc - rest == 1)
		/* As in perf, the remaining argument selects symbols that contain it. */
		request->samples.filters.symbol_part = argv[rest];
	return cmd_report_choose_interface(cli, settings);
}

static int run_request(const struct cli *cli, struct report_request *request, struct diag *notes)
{
	struct text out = {0};
	struct tally_error err = {0};
	struct report_streams streams = {&out, notes, NULL};
	bool is_met = true;
	text_to_fd(&out, STDOUT_FILENO);
	text_separated_by(&out, request->look.separator);
	enum tally_status status = TALLY_OK;
	if (shows_blocks(request))
		status = report_blocks(cli, request, &out, &streams.opened, &err);
	if (streams.opened && !request->is_quiet)
		cli_failf(cli, "note: --total-cycles needs branch stacks (record -b), and this recording has none: "
			       "showing the usual report");
	if (streams.opened || !shows_blocks(request))
		status = report_run(cli, request, &streams, &is_met, &err);
	int code = cli_finish_text(cli, &out);
	if (!request->is_quiet)
		cli_print_diag(cli, notes);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	if (request->samples.times && !time_spans_are_valid(request->samples.times))
		code = EXIT_BAD_TIME;
	if (code == 0 && !is_met)
		code = EXIT_NOT_WORTH;
	cli_end_pager();
	return code;
}

/* Returns the output file of --html. In "--html page.html", without "=", the last word is the output file, not the
 * recording. */
static const char *cmd_report_page_of(const struct cmd_report_settings *settings, int argc, char **argv, int rest)
{
	bool is_named = strcmp(settings->page, DEFAULT_PAGE) != 0;
	return !is_named && argc - rest == 1 && str_ends_with(str_from(argv[rest]), STR(".html")) ? argv[rest]
												  : settings->page;
}

/* Runs export with the options other than --html. The page is interactive, so export rejects options that only
 * select what a report shows. */
static int cmd_report_write_page(const struct cli *cli, const char *path, int argc, char **argv)
{
	const char *const words[] = {command_export.name, "--format", "html", "--output", path, NULL};
	char **others = calloc((size_t)argc + 1, sizeof(*others));
	int count = 0;
	if (!others)
		return cli_failf(cli, "out of memory");
	for (int i = 1; i < argc; i++)
		if (argv[i] != path && strcmp(argv[i], "--html") != 0 &&
			strncmp(argv[i], "--html=", strlen("--html=")) != 0)
			others[count++] = argv[i];
	int code = cli_run_verb(cli, &command_export, words, count, others);
	free(others);
	if (code == 0 && strcmp(path, "-") != 0)
		cli_sayf("[ %s report: wrote %s ]\n", cli->program, path);
	return code;
}

static int cmd_report_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_report_settings settings = {.max_stack = REPORT_MAX_STACK};
	struct word_files files = {0};
	struct diag notes;
	struct tally_error err = {0};
	char *sort = NULL;
	int code, rest;
	report_request_init(&settings.request);
	settings.request.look.colours = colours_are_wanted();
	settings.request.look.terminal_columns = terminal_columns();
	diag_init(&notes);
	if (report_config_read(&settings.request, &sort, &notes, &err) != TALLY_OK)
		code = cli_fail(cli, &err);
	else
		code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code == CLI_GO_ON && settings.page) {
		code = cmd_report_write_page(cli, cmd_report_page_of(&settings, argc, argv, rest), argc, argv);
	} else if (code == CLI_GO_ON) {
		code = cmd_report_finish_settings(cli, &settings, argc, argv, rest);
		if (code == 0 && word_files_read_filters(&files, &settings.request.samples.filters, &err) != TALLY_OK)
			code = cli_fail(cli, &err);
		if (code == 0)
			code = run_request(cli, &settings.request, &notes);
	}
	word_files_deinit(&files);
	diag_deinit(&notes);
	free(sort);
	return code;
}

const struct command command_report = {
	.name = "report",
	.summary = "Read perf.data (created by perf record) and display the profile",
	.usages = report_usages,
	.options = &report_table,
	.description =
		"Reads a recording and prints, for each of its events, which programs, files and functions the "
		"samples fell on, the heaviest first. With call chains, Children is the share of a function and all "
		"that it called, Self is the share of the function alone, and the callers follow each row.\n\n"
		"Losses and missing data are reported on standard error, and at the end the quality of the report: "
		"samples, losses, how often the kernel throttled, the share of call chains that are complete "
		"(of "
		"stack dumps: unwound to the thread's first function; of recorded chains: ending in a function that "
		"threads start in), the share of samples that have symbols. With --require, exit status 3 says that "
		"the requirements are not met.",
	.examples = report_examples,
	.run = cmd_report_run,
};
