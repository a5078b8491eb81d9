/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ftrace/graph_line.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/commands.h"
#include "kernel/ftrace/ftrace_session.h"
#include "verbs/ftrace/ftrace_bpf.h"
#include "verbs/ftrace/ftrace_report.h"
#include "verbs/ftrace/ftrace_run.h"

#define GRAPH_TRACER "function_graph"
#define FTRACE_NO_NAME \
	"[unknown]" /* The name of a call that began before the trace, on kernels that do not repeat it at the end. */

/* ---- ftrace -F ---- */

struct ftrace_listing {
	const char *pattern;
	struct text out;
	uint64_t count;
};

/* As in perf, the pattern is a list of alternatives separated by '|'. A leading '!' inverts the result. */
static bool cmd_ftrace_matches(const char *pattern, struct tally_str name)
{
	bool is_inverse = *pattern == '!';
	struct tally_str rest = str_from(pattern + is_inverse), part;
	while (str_next(&rest, '|', &part))
		if (str_glob(str_trim(part), name))
			return !is_inverse;
	return is_inverse;
}

static bool cmd_ftrace_list_function(void *context, const char *name)
{
	struct ftrace_listing *listing = context;
	struct tally_str whole = str_from(name), rest = whole, symbol = whole;
	(void)str_next(&rest, ' ', &symbol);
	if (listing->pattern && !cmd_ftrace_matches(listing->pattern, symbol))
		return true;
	listing->count++;
	text_visible(&listing->out, whole);
	text_char(&listing->out, '\n');
	return text_line_end(&listing->out);
}

static int cmd_ftrace_list(const struct cli *cli, const char *pattern)
{
	struct ftrace_listing listing = {.pattern = pattern};
	struct tally_error err;
	text_to_fd(&listing.out, STDOUT_FILENO);
	enum tally_status status = ftrace_functions(kernel_seam_linux(), cmd_ftrace_list_function, &listing, &err);
	int code = cli_finish_text(cli, &listing.out);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	if (listing.count == 0 && pattern)
		cli_failf(cli, "note: no function that can be traced matches '%s'", pattern);
	return code;
}

/* ---- running ---- */

static void cmd_ftrace_note_losses(const struct ftrace_job *job)
{
	if (job->lost > 0)
		cli_failf(job->cli,
			"note: %" PRIu64 " events were lost because the kernel's buffer was full; -m makes it larger",
			job->lost);
}

static bool cmd_ftrace_print(void *context, struct tally_str lines)
{
	struct text *out = context;
	text_bytes(out, lines.data, lines.len);
	return text_flush(out);
}

/* Returns the command's exit status unless the output failed. */
static int cmd_ftrace_leave(const struct ftrace_job *job, int code)
{
	return code ? code : job->exit_code;
}

static int cmd_ftrace_trace(const struct cli *cli, const struct ftrace_settings *s, char **argv)
{
	struct text out = {0};
	struct tally_error err;
	const char *tracer = s->graphs.len || s->not_graphs.len		? GRAPH_TRACER
			     : s->functions.len || s->not_functions.len ? "function"
			     : s->tracer				? s->tracer
									: GRAPH_TRACER;
	struct ftrace_job job = {.cli = cli,
		.settings = s,
		.tracer = tracer,
		.has_heading = true,
		.argv = argv,
		.take = cmd_ftrace_print,
		.context = &out};
	if (s->tracer && strcmp(s->tracer, tracer) != 0)
		cli_failf(cli, "note: -t %s has no effect: the filters of functions are those of the tracer %s",
			s->tracer, tracer);
	cli_start_pager(cli);
	text_to_fd(&out, STDOUT_FILENO);
	enum tally_status status = ftrace_run(&job, &err);
	int code = cli_finish_text(cli, &out);
	cli_end_pager();
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	cmd_ftrace_note_losses(&job);
	return cmd_ftrace_leave(&job, code);
}

struct ftrace_sums {
	struct duration_histogram *histogram; /* Either histogram or functions is set. */
	struct function_sums *functions;
	bool has_failed;
};

static bool cmd_ftrace_add_up(void *context, struct tally_str lines)
{
	struct ftrace_sums *sums = context;
	struct tally_str line;
	struct graph_line call;
	while (str_next(&lines, '\n', &line)) {
		if (!graph_line_read(line, &call))
			continue;
		if (sums->histogram)
			duration_histogram_add(sums->histogram, call.ns);
		else if (!function_sums_add(sums->functions, call.name.len ? call.name : STR(FTRACE_NO_NAME), call.ns))
			return sums->has_failed = true, false;
	}
	return true;
}

static enum tally_status cmd_ftrace_measure(struct ftrace_job *job, struct ftrace_sums *sums, struct tally_error *err)
{
	job->tracer = GRAPH_TRACER;
	job->take = cmd_ftrace_add_up;
	job->context = sums;
	enum tally_status status = ftrace_run(job, err);
	if (status == TALLY_OK && sums->has_failed)
		status = error_nomem(err);
	if (status == TALLY_OK)
		cmd_ftrace_note_losses(job);
	return status;
}

static int cmd_ftrace_latency(const struct cli *cli, const struct ftrace_settings *s, char **argv)
{
	struct duration_histogram histogram;
	struct tally_error err;
	struct text out = {0};
	struct ftrace_sums sums = {.histogram = &histogram};
	struct ftrace_job job = {.cli = cli, .settings = s, .argv = argv};
	enum tally_status status = duration_histogram_init(&histogram, &s->scale, &err);
	if (status == TALLY_OK)
		status = s->uses_bpf ? ftrace_bpf_measure(&job, &histogram, &err)
				     : cmd_ftrace_measure(&job, &sums, &err);
	if (status == TALLY_OK && s->uses_bpf && s->verbose)
		cli_failf(cli, "a BPF program measured, not a tracer");
	if (status == TALLY_OK && s->uses_bpf && job.lost > 0)
		cli_failf(cli, "note: %" PRIu64 " begins found no room in the map of threads and are not measured",
			job.lost);
	text_to_fd(&out, STDOUT_FILENO);
	if (status == TALLY_OK && s->is_json)
		ftrace_json_latency(&histogram, s->hides_empty, job.lost, &out);
	else if (status == TALLY_OK && histogram.count == 0)
		text_str(&out, "No data found\n");
	else if (status == TALLY_OK)
		ftrace_print_latency(&histogram, s->hides_empty, &out);
	int code = cli_finish_text(cli, &out);
	duration_histogram_deinit(&histogram);
	return status == TALLY_OK ? cmd_ftrace_leave(&job, code) : cli_fail(cli, &err);
}

static int cmd_ftrace_profile(const struct cli *cli, const struct ftrace_settings *s, char **argv)
{
	struct function_sums functions;
	struct tally_error err;
	struct text out = {0};
	struct ftrace_sums sums = {.functions = &functions};
	struct ftrace_job job = {.cli = cli, .settings = s, .has_tail = true, .argv = argv};
	function_sums_init(&functions);
	enum tally_status status = cmd_ftrace_measure(&job, &sums, &err);
	function_sums_sort(&functions, s->sort);
	text_to_fd(&out, STDOUT_FILENO);
	if (status == TALLY_OK && s->is_json)
		ftrace_json_profile(&functions, job.lost, &out);
	else if (status == TALLY_OK)
		ftrace_print_profile(&functions, &out);
	int code = cli_finish_text(cli, &out);
	if (status == TALLY_OK && functions.rows.len == 0)
		cli_failf(cli, "note: no function was called that the filters leave");
	function_sums_deinit(&functions);
	return status == TALLY_OK ? cmd_ftrace_leave(&job, code) : cli_fail(cli, &err);
}

/* ---- the command line ---- */

static int cmd_ftrace_check_latency(
	const struct cli *cli, const struct command *command, const struct ftrace_settings *s)
{
	bool has_events = s->events[0].len > 0;
	if (s->functions.len == 0 && !has_events)
		return cli_usagef(cli, command, "trace-funcs,events", "Should provide a function or events to measure");
	if (s->functions.len > 0 && has_events)
		return cli_usagef(cli, command, "trace-funcs,events", "-T and -e cannot be used together");
	if (has_events && !s->uses_bpf)
		return cli_usagef(cli, command, "events,use-bpf", "-e needs -b: only a BPF program sees both events");
	if (s->scale.range == 0 && s->scale.min)
		return cli_usagef(cli, command, "min-latency", "--min-latency works only with --bucket-range");
	if (s->scale.range == 0 && s->scale.max)
		return cli_usagef(cli, command, "max-latency", "--max-latency works only with --bucket-range");
	return CLI_GO_ON;
}

static const char *const ftrace_trace_usages[] = {"[<options>] [<command>]", "[<options>] -- [<command>] [<options>]",
	"{trace|latency|profile} [<options>] [<command>]",
	"{trace|latency|profile} [<options>] -- [<command>] [<options>]", NULL};
static const char *const ftrace_usages[] = {"[<options>] [<command>]", "[<options>] -- <command> [<options>]", NULL};

struct ftrace_verb {
	struct command command;
	int (*run)(const struct cli *cli, const struct ftrace_settings *settings, char **argv);
};

static const struct ftrace_verb ftrace_verbs[] = {
	{{.name = "ftrace trace", .usages = ftrace_usages, .options = &ftrace_trace_table}, cmd_ftrace_trace},
	{{.name = "ftrace latency", .usages = ftrace_usages, .options = &ftrace_latency_table}, cmd_ftrace_latency},
	{{.name = "ftrace profile", .usages = ftrace_usages, .options = &ftrace_profile_table}, cmd_ftrace_profile},
};
#define FTRACE_VERB_PREFIX sizeof("ftrace")

static int cmd_ftrace_run_verb(
	const struct cli *cli, const struct ftrace_verb *verb, const struct command *command, int argc, char **argv)
{
	struct ftrace_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code == CLI_GO_ON && verb->run == cmd_ftrace_latency)
		code = cmd_ftrace_check_latency(cli, command, &settings);
	if (code == CLI_GO_ON)
		code = settings.lists_functions ? cmd_ftrace_list(cli, settings.pattern)
						: verb->run(cli, &settings, argv + rest);
	ftrace_settings_deinit(&settings);
	return code;
}

static int cmd_ftrace_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_LEN(ftrace_verbs) && argc > 1; i++)
		if (strcmp(argv[1], ftrace_verbs[i].command.name + FTRACE_VERB_PREFIX) == 0)
			return cmd_ftrace_run_verb(cli, &ftrace_verbs[i], &ftrace_verbs[i].command, argc - 1, argv + 1);
	return cmd_ftrace_run_verb(cli, &ftrace_verbs[0], command, argc, argv);
}

static const char *const ftrace_examples[] = {
	"show which functions of the kernel a program calls, and how long they take",
	"tally ftrace --graph-opts depth=5 ls",
	"show who calls mutex_lock on the whole machine",
	"tally ftrace -a -T mutex_lock --func-opts call-graph sleep 1",
	"show how long a function takes, as a histogram",
	"tally ftrace latency -T vfs_read ls -lR",
	"show how long reads take on the whole machine, measured in the kernel",
	"tally ftrace latency -b -e syscalls:sys_enter_read,syscalls:sys_exit_read -a sleep 1",
	"list the functions of the kernel in which a program spends its time",
	"tally ftrace profile -s avg ls -lR",
	"list the functions that can be traced",
	"tally ftrace -F 'tcp_*'",
	NULL,
};

const struct command command_ftrace = {
	.name = "ftrace",
	.summary = "Trace functions of the kernel, and how long they take",
	.usages = ftrace_trace_usages,
	.options = &ftrace_trace_table,
	.description =
		"Uses the kernel's function tracers. 'trace', which is the default, prints what they write; 'latency' "
		"shows a histogram of how long a function takes; 'profile' adds up the time of each function. Each has "
		"its own options: 'ftrace latency -h' lists those of latency. They trace the command that is given, "
		"or what -a, -C, -p or --tid name, until the command ends or Ctrl-C.\n\n"
		"tracefs is as before when ftrace ends, by a signal, too: it is used through an instance of its own, "
		"whose name has the PID. If ftrace is killed, the next one removes the instance and says so. Kernels "
		"that have a tracer only once (function_graph before Linux 6.11) are traced at the top of tracefs, "
		"unless somebody else traces there. It needs root.",
	.examples = ftrace_examples,
	.run = cmd_ftrace_run,
};
