/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/word_files.h"
#include "tasks/listing/annotate_objdump.h"
#include "tasks/recording/record_auto.h"
#include "tasks/recording/record_config.h"
#include "tasks/recording/record_freq.h"
#include "tasks/recording/record_rung.h"
#include "tasks/recording/target_options.h"
#include "tasks/reporting/report_config.h"
#include "tasks/reporting/report_options.h"
#include "tasks/terminal/tui_terminal.h"
#include "verbs/top/top_run.h"

#define DELAY_DEFAULT_S 2
#define DELAY_MAX_S	86400
#define TOP_SORT	"dso,symbol"

static const char *set_graph(const struct option_use *use)
{
	struct top_settings *s = use->settings;
	s->record.chains.mode = CALLGRAPH_NONE;
	s->record.call_graph_flag = !use->is_negated;
	return NULL;
}

static bool cmd_top_is_number(struct tally_str text)
{
	uint64_t value;
	return str_to_u64(text, 0, &value);
}

/* Parses a mode of recording with its size, and the words of report's -g, in any order. */
static const char *set_call_graph(const struct option_use *use)
{
	struct top_settings *s = use->settings;
	struct tally_str rest = str_from(use->value ? use->value : ""), word, size;
	char mode[32], shown[256] = "";
	size_t len = 0;
	struct option_use own = *use;
	own.settings = &s->record;
	if (use->is_negated)
		return record_set_call_graph(&own);
	s->record.call_graph_flag = true;
	while (str_next(&rest, ',', &word)) {
		bool is_dwarf = str_equal(word, STR("dwarf"));
		struct tally_str behind = rest;
		if (is_dwarf || str_equal(word, STR("fp")) || str_equal(word, STR("lbr")) ||
			str_equal(word, STR("bpf")) || str_equal(word, STR("auto"))) {
			bool has_size =
				is_dwarf && str_next(&behind, ',', &size) && cmd_top_is_number(size) && size.len < 20;
			snprintf(mode, sizeof(mode), "%.*s%s%.*s", (int)word.len, word.data, has_size ? "," : "",
				has_size ? (int)size.len : 0, has_size ? size.data : "");
			if (has_size)
				rest = behind;
			own.value = mode;
			const char *why = record_set_call_graph(&own);
			if (why)
				return why;
			continue;
		}
		if (len + word.len + 2 > sizeof(shown))
			return "takes fewer words";
		len += (size_t)snprintf(
			shown + len, sizeof(shown) - len, "%s%.*s", len ? "," : "", (int)word.len, word.data);
	}
	struct option_use of_report = *use;
	of_report.value = shown;
	return len ? report_options_apply(&of_report, &s->report, report_request_set_chains) : NULL;
}

#define AT(member)	   .offset = offsetof(struct top_settings, member)
#define TOP_REPORT(member) .offset = offsetof(struct top_settings, report.member)

static const struct option top_options[] = {
	TARGET_OPTIONS(struct top_settings, record.target),
	SAMPLING_OPTIONS(struct top_settings, record),
	RUNG_OPTIONS(struct top_settings, record.rung),
	{"delay", 'd', OPTION_U64, "n", AT(delay_s), .help = "seconds between refreshes (2)"},
	{"dump-symtab", 'D', OPTION_UNSUPPORTED, .help = "dump the symbol table used for profiling"},
	{"entries", 'E', OPTION_U64, "n", AT(entries), .help = "print this many rows"},
	{"count-filter", 'f', OPTION_U64, "n", AT(count_filter), .help = "only rows with at least n samples"},
	{.letter = 'g',
		.kind = OPTION_CALL,
		.call = set_graph,
		.help = "record call graphs and show them: --call-graph auto, or fp with -u"},
	{"hide_kernel_symbols", 'K', OPTION_FLAG, AT(hides_kernel), .help = "leave samples of the kernel out"},
	{"sort", 's', OPTION_STRING, "key[,key2...]", TOP_REPORT(rows.sort),
		.help = "sort by key(s): pid, comm, dso, symbol, cpu, srcline, ... (dso,symbol)"},
	{"hide_user_symbols", 'U', OPTION_FLAG, AT(hides_user), .help = "leave samples of user space out"},
	{"zero", 'z', OPTION_FLAG, AT(zeroes),
		.help = "forget all samples at each refresh (default: they lose an eighth of their weight)"},
	{"call-graph", 0, OPTION_CALL,
		"record_mode[,record_size],print_type,threshold[,print_limit],order,sort_key[,branch]",
		.call = set_call_graph, .can_be_negated = true, .is_self_explaining = true,
		.help = "record call graphs and show them: auto (the best that is possible), bpf (unwound in the "
			"kernel), dwarf (unwound live, from stack dumps), fp (by frame pointer) or lbr; "
			"graph|flat|fractal|folded|none, percent, caller|callee, function|address, "
			"percent|period|count (auto,graph,0.5,caller,function)"},
	{"comms", 0, OPTION_STRING, "comm[,comm...]", TOP_REPORT(samples.filters.comms),
		.help = "only consider symbols in these comms"},
	{"dsos", 0, OPTION_STRING, "dso[,dso...]", TOP_REPORT(samples.filters.dsos),
		.help = "only consider symbols in these dsos"},
	{"fields", 0, OPTION_STRING, "key[,keys...]", TOP_REPORT(rows.fields),
		.help = "output field(s): overhead, period, sample and the sort keys"},
	{"force", 0, OPTION_FLAG, TOP_REPORT(input.force), .help = "do not check file ownership (default)"},
	{"json", 0, OPTION_FLAG, AT(is_json),
		.help = "print each refresh as a line of JSON (docs/schema/top.json) instead of using the screen"},
	{"max-stack", 0, OPTION_U64, "n", AT(max_stack), .help = "maximum number of frames of a call chain"},
	REPORT_OPTIONS(struct top_settings, report),
	SYMBOL_OPTIONS(struct top_settings, report.symbols),
	LINE_OPTIONS(struct top_settings, report.symbols),
	CODE_OPTIONS(struct top_settings, report.code),
	{"stdio", 0, OPTION_FLAG, AT(stdio),
		.help = "print text instead of using the screen (default without a terminal)"},
	{"branch-history", 0, OPTION_UNSUPPORTED, .help = "show branches as the inner part of call chains"},
	{"stitch-lbr", 0, OPTION_UNSUPPORTED, .help = "stitch branch stacks into longer chains"},
	{"sym-annotate", 0, OPTION_STRING, "symbol name", AT(sym_annotate),
		.help = "show the code of this function: at once on the screen, below the table as text"},
	{"symbols", 0, OPTION_STRING, "symbol[,symbol...]", TOP_REPORT(samples.filters.symbols),
		.help = "only consider these symbols"},
	{"tui", 0, OPTION_FLAG, AT(tui), .help = "use the screen: browse the profile by keys (default on a terminal)"},
};
#undef AT
static const struct option_table top_table = {top_options, ARRAY_LEN(top_options), false};
static const char *const top_usages[] = {"[<options>]", NULL};
static const char *const top_examples[] = {"show what the machine is doing now", "tally top",
	"show one process with callers, also for programs without frame pointers", "tally top -p 1234 -g",
	"print the ten busiest programs as text every five seconds", "tally top --stdio -s comm -E 10 -d 5 -z", NULL};

static int cmd_top_choose_interface(const struct cli *cli, const struct top_settings *s, bool *is_interactive)
{
	bool is_usable = tui_terminal_is_usable();
	if (s->is_json && (s->tui || s->sym_annotate))
		return cli_failf(cli, "--json has no %s: the two cannot be used together",
			s->tui ? "screen (--tui)" : "code (--sym-annotate)");
	if (s->tui && s->stdio)
		return cli_failf(cli, "--tui and --stdio cannot be used together");
	if (s->tui && !is_usable)
		return cli_failf(cli, "--tui needs a terminal as standard input and output, and ncursesw in the build");
	*is_interactive = !s->stdio && !s->is_json && is_usable;
	return 0;
}

static int cmd_top_complete_settings(const struct cli *cli, const struct kernel_seam *kernel, struct top_settings *s)
{
	struct record_settings *r = &s->record;
	if (s->delay_s < 1)
		s->delay_s = 1;
	struct text sentence = {0};
	bool is_open = r->chains.mode == CALLGRAPH_NONE && r->configured.mode == CALLGRAPH_NONE;
	/* With --uid, processes that start later can be added only if stacks are not unwound. */
	if (r->call_graph_flag && is_open && !r->target.user)
		r->chains.mode = CALLGRAPH_AUTO;
	record_auto_settle(kernel, r, &sentence);
	if (sentence.len && (s->stdio || s->is_json))
		cli_sayf("%.*s\n", (int)sentence.len, sentence.data);
	text_deinit(&sentence);
	enum record_callgraph chains = record_config_chains(r).mode;
	record_config_say_chains(r);
	if (r->overwrites && chains == CALLGRAPH_DWARF)
		return cli_failf(cli, "--call-graph dwarf unwinds the records of all rings in time order, which "
				      "--overwrite does not allow");
	const char *other = chains == CALLGRAPH_BPF ? record_auto_obstacle(r, chains) : NULL;
	if (other)
		return cli_failf(cli, "--call-graph bpf and %s cannot be used together", other);
	int code = code_options_check(cli, &s->report.code);
	if (code == 0)
		code = symbol_options_check(cli, &s->report.symbols);
	if (code != 0)
		return code;
	if (s->report.rows.is_hierarchy && s->report.rows.fields)
		return cli_failf(cli, "--hierarchy and --fields cannot be used together");
	if (s->delay_s > DELAY_MAX_S)
		return cli_failf(cli, "--delay takes seconds, %d at most", DELAY_MAX_S);
	const struct arch *arch = record_host_arch();
	if (chains == CALLGRAPH_DWARF && (!arch || arch->dwarf_count == 0))
		return cli_failf(cli, "--call-graph dwarf: stacks of this architecture cannot be unwound here");
	s->report.chains.max_stack =
		s->max_stack == 0 || s->max_stack > UINT32_MAX ? UINT32_MAX : (unsigned)s->max_stack;
	s->report.rows.default_sort = TOP_SORT;
	s->report.is_verbose = r->verbose > 0;
	return record_freq_find(kernel, r, &s->rate);
}

static char **cmd_top_copy_command_line(const char *program, int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 2, sizeof(*copy));
	if (!copy)
		return NULL;
	copy[0] = (char *)program;
	for (int i = 0; i < argc; i++)
		copy[i + 1] = argv[i];
	return copy;
}

static enum tally_status cmd_top_read_config(struct top_settings *s, struct diag *notes, struct tally_error *err)
{
	enum tally_status status = record_config_read("top", &s->record, notes, err);
	return status == TALLY_OK ? report_config_read_top(&s->report, notes, err) : status;
}

static int cmd_top_choose_rung(struct top_run_request *request, struct record_rung *rung)
{
	struct text sentence = {0};
	struct tally_error err;
	enum tally_status status =
		record_rung_choose(rung, request->kernel, &request->settings->record, false, &sentence, &err);
	if (status == TALLY_OK && sentence.len)
		fprintf(stderr, "%s: note: %.*s\n", request->cli->program, (int)sentence.len, sentence.data);
	text_deinit(&sentence);
	request->kernel = rung->kernel;
	return status == TALLY_OK ? 0 : cli_fail(request->cli, &err);
}

static int cmd_top_run_parsed(struct top_run_request *request)
{
	struct record_rung rung = {0};
	int code = cmd_top_choose_rung(request, &rung);
	if (code == 0)
		code = cmd_top_complete_settings(request->cli, request->kernel, request->settings);
	record_rung_limit(&rung, &request->settings->rate);
	if (code == 0)
		code = cmd_top_choose_interface(request->cli, request->settings, &request->is_interactive);
	if (code == 0)
		code = top_run(request);
	record_rung_end(&rung);
	return code;
}

static int cmd_top_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct top_settings settings = {.record = record_settings_default(), .delay_s = DELAY_DEFAULT_S};
	struct top_run_request request = {
		.cli = cli, .command = command, .kernel = kernel_seam_linux(), .settings = &settings};
	struct word_files files = {0};
	struct tally_error err;
	int rest;
	char **words = cmd_top_copy_command_line(cli->program, argc, argv);
	if (!words)
		return cli_failf(cli, "out of memory");
	request.argv = words;
	report_request_init(&settings.report);
	struct diag notes;
	diag_init(&notes);
	int code = cmd_top_read_config(&settings, &notes, &err) == TALLY_OK
			   ? cli_parse_options(cli, command, argc, argv, &settings, &rest)
			   : cli_fail(cli, &err);
	if (code == CLI_GO_ON)
		cli_print_diag(cli, &notes);
	diag_deinit(&notes);
	if (code == CLI_GO_ON && rest < argc)
		code = cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (code == CLI_GO_ON && word_files_read_filters(&files, &settings.report.samples.filters, &err) != TALLY_OK)
		code = cli_fail(cli, &err);
	if (code == CLI_GO_ON)
		code = cmd_top_run_parsed(&request);
	word_files_deinit(&files);
	record_settings_deinit(&settings.record);
	free(words);
	return code;
}

const struct command command_top = {
	.name = "top",
	.summary = "System profiling tool.",
	.usages = top_usages,
	.options = &top_table,
	.description =
		"Shows what the CPUs are doing now: samples all CPUs, or the given processes, and refreshes "
		"the table every two seconds. Old samples lose an eighth of their weight at each refresh (-z: all of "
		"it).\n\n"
		"On a terminal, the table can be browsed by keys, as in report (? lists them). Without a "
		"terminal, or with --stdio, each refresh is printed.\n\n"
		"The first line shows top's own cost in percent of one CPU, samples per second and lost "
		"events. If the kernel does not allow measuring all CPUs, your own processes are shown, and the "
		"reason is reported.",
	.examples = top_examples,
	.run = cmd_top_run,
};
