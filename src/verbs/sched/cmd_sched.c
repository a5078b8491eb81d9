/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/report_dump.h"
#include "verbs/sched/sched_text.h"

#define SCHED_DEFAULT_MAX_STACK 5
#define SCHED_MAX_STACK		127

#define ROW(member) .offset = offsetof(struct sched_settings, member)
/* Options that all verbs accept, both before and after the verb's name. */
#define SCHED_COMMON_ROWS                                                                                      \
	{"dump-raw-trace", 'D', OPTION_FLAG, ROW(dump), .help = "print all records first, as report -D does"}, \
		INPUT_OPTIONS(struct sched_settings, input),                                                   \
	{                                                                                                      \
		"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "report the number of events, too"         \
	}
#define SCHED_TABLE(rows)                    \
	{                                    \
		rows, ARRAY_LEN(rows), false \
	}

static const struct option sched_options[] = {SCHED_COMMON_ROWS};
static const struct option_table sched_table = {sched_options, ARRAY_LEN(sched_options), true};

static const struct option sched_latency_options[] = {
	SCHED_COMMON_ROWS,
	{"CPU", 'C', OPTION_STRING, "cpu", ROW(cpus),
		.help = "only delays that ended on these CPUs, and run times on them"},
	{"hist-mode", 0, OPTION_STRING, "log|linear", ROW(histogram_mode),
		.help = "the histogram by powers of two (default), or by 100 us"},
	{"histogram", 'H', OPTION_FLAG, ROW(with_histogram), .help = "show a histogram of the delays, too"},
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/sched.json"},
	{"pids", 'p', OPTION_FLAG, ROW(by_pid), .help = "one row per task, not per name"},
	{"sort", 's', OPTION_STRING, "key[,key...]", ROW(sort),
		.help = "sort by runtime, switch, avg, max, pid (avg,max,switch,runtime)"},
	{"time", 0, OPTION_STRING, "start,stop", ROW(times),
		.help = "only delays that ended in this part of the recording, and run times in it"},
	{"waking", 0, OPTION_FLAG, ROW(with_waking),
		.help = "measure delays from sched_waking if there is no sched_wakeup"},
};
static const struct option_table sched_latency_table = SCHED_TABLE(sched_latency_options);

static const struct option map_options[] = {
	SCHED_COMMON_ROWS,
	{"compact", 0, OPTION_FLAG, ROW(is_compact), .help = "add a column for a CPU when it first switches"},
	{"cpus", 0, OPTION_STRING, "cpus", ROW(cpus), .help = "only these CPUs"},
	{"color-cpus", 0, OPTION_STRING, "cpus", ROW(colour_cpus), .help = "show these CPUs in colour on a terminal"},
	{"color-pids", 0, OPTION_STRING, "pids", ROW(colour_pids), .help = "show these tasks in colour on a terminal"},
	{"fuzzy-name", 0, OPTION_FLAG, ROW(has_fuzzy_name), .help = "let --task-name match a part of the name"},
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/sched-map.json"},
	{"task-name", 0, OPTION_STRING, "task[,task...]", ROW(task_name),
		.help = "show only tasks with these names; - marks others that follow them"},
};
static const struct option_table map_table = SCHED_TABLE(map_options);

static const struct option sched_timehist_options[] = {
	SCHED_COMMON_ROWS,
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(cpus), .help = "only switches on these CPUs"},
	{"call-graph", 'g', OPTION_FLAG, ROW(with_chains), .help = "show call chains if there are any (on by default)"},
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/sched-timehist.json"},
	{"idle-hist", 'I', OPTION_FLAG, ROW(only_idle), .help = "show only idle times, and what they follow"},
	{"max-stack", 0, OPTION_U64, "n", ROW(max_stack), .help = "number of functions of a call chain to show (5)"},
	{"migrations", 'M', OPTION_FLAG, ROW(with_migrations), .help = "show tasks that change their CPU, too"},
	{"next", 'n', OPTION_FLAG, ROW(with_next), .help = "the task that is switched to"},
	{"pid", 'p', OPTION_STRING, "pid[,pid...]", ROW(pids), .help = "only these processes"},
	{"state", 0, OPTION_FLAG, ROW(with_state),
		.help = "show how the task left the CPU; with the summary, what it waited for"},
	{"summary", 's', OPTION_FLAG, ROW(only_summary), .help = "show only the summary"},
	{"tid", 't', OPTION_STRING, "tid[,tid...]", ROW(tids), .help = "only these threads"},
	{"time", 0, OPTION_STRING, "start,stop", ROW(times), .help = "only this part of the recording"},
	{"cpu-visual", 'V', OPTION_FLAG, ROW(with_cpus),
		.help = "show a column per CPU: s switch, i idle, m migration"},
	SYMBOL_OPTIONS(struct sched_settings, symbols),
	{"wakeups", 'w', OPTION_FLAG, ROW(with_wakes), .help = "wake-ups, too"},
	{"with-summary", 'S', OPTION_FLAG, ROW(with_summary), .help = "show the summary after the rows"},
	{"pre-migrations", 'P', OPTION_FLAG, ROW(with_pre_migrations),
		.help = "show how long a task waited for a CPU before it was moved to another"},
	{"prio", 0, OPTION_STRING, "prio", ROW(prios), .help = "only tasks of these priorities (0-99,120)"},
	{"show-prio", 0, OPTION_FLAG, ROW(with_prio), .help = "show priorities and how they changed"},
};
#undef ROW
static const struct option_table sched_timehist_table = SCHED_TABLE(sched_timehist_options);

static const char *const sched_verb_usages[] = {"[<options>]", NULL};

struct verb {
	struct command command;
	enum tally_status (*print)(struct sched_job *job, struct text *out, struct tally_error *err);
};

static const struct verb sched_verbs[] = {
	{{.name = "sched latency", .usages = sched_verb_usages, .options = &sched_latency_table}, sched_print_latency},
	{{.name = "sched map", .usages = sched_verb_usages, .options = &map_table}, sched_print_map},
	{{.name = "sched timehist", .usages = sched_verb_usages, .options = &sched_timehist_table},
		sched_print_timehist},
};
#define SCHED_VERB_PREFIX sizeof("sched")

/* Removes the span of --time from the source's filter, so that the source also returns earlier events. These show
 * which tasks were running at the start of the span. */
static enum tally_status take_span(struct sched_job *job, struct tally_error *err)
{
	struct time_spans *spans = &job->source.filter.spans;
	if (spans->items.len > 1)
		return error_set(err, TALLY_INVALID, "--time takes a single time span here");
	if (spans->items.len == 1) {
		job->from_ns = spans->items.items[0].first_ns;
		job->to_ns = spans->items.items[0].last_ns;
	}
	spans->items.len = 0;
	return TALLY_OK;
}

static enum tally_status cmd_sched_open_job(struct sched_job *job, struct tally_error *err)
{
	const struct sched_settings *settings = job->settings;
	const struct data_input input = {
		.file = settings->input, .samples.times = settings->times, .symbols = settings->symbols};
	enum tally_status status = settings->cpus ? cpu_filter_parse(settings->cpus, &job->cpus, err) : TALLY_OK;
	if (status == TALLY_OK)
		status = data_source_open_reader(&input, &job->source, err);
	if (status == TALLY_OK && settings->dump)
		status = report_dump_first(job->cli, job->source.reader, input.file.path, err);
	if (status == TALLY_OK)
		status = data_source_read(job->cli, &input, &job->source, err);
	if (status != TALLY_OK) {
		data_source_close(&job->source);
		return status;
	}
	job->source.with_sideband = job->source.with_losses = true;
	status = take_span(job, err);
	if (status == TALLY_OK && !sched_events_have(&job->source, SCHED_SWITCH))
		status = error_set(err, TALLY_INVALID, "No sched_switch events found. Have you run '%s sched record'?",
			job->cli->program);
	if (status != TALLY_OK)
		data_source_close(&job->source);
	return status;
}

static int cmd_sched_show(const struct cli *cli, const struct sched_settings *settings, const struct verb *verb)
{
	struct sched_job job = {.cli = cli, .settings = settings};
	struct tally_error err;
	enum tally_status status = cmd_sched_open_job(&job, &err);
	if (status != TALLY_OK) {
		free(job.cpus);
		return cli_fail(cli, &err);
	}
	if (verb->print == sched_print_latency && !settings->with_waking &&
		sched_events_have(&job.source, SCHED_WAKING) && !sched_events_have(&job.source, SCHED_WAKEUP))
		cli_failf(cli, "note: the recording has no sched_wakeup events: use --waking to measure delays from "
			       "sched_waking");
	struct text out = {0};
	cli_start_pager(cli);
	text_to_fd(&out, STDOUT_FILENO);
	status = verb->print(&job, &out, &err);
	int code = cli_finish_text(cli, &out);
	cli_end_pager();
	if (settings->verbose > 0)
		cli_failf(cli,
			"note: %" PRIu64 " switches, %" PRIu64 " wakings, %" PRIu64 " wake-ups, %" PRIu64
			" of new tasks, %" PRIu64 " run times, %" PRIu64 " migrations, %" PRIu64 " forks, %" PRIu64
			" exits",
			job.seen[SCHED_SWITCH], job.seen[SCHED_WAKING], job.seen[SCHED_WAKEUP],
			job.seen[SCHED_WAKEUP_NEW], job.seen[SCHED_RUNTIME], job.seen[SCHED_MIGRATE],
			job.seen[SCHED_FORK], job.seen[SCHED_EXIT]);
	cli_print_health(cli, &job.source.pass.sideband.health);
	if (status == TALLY_OK && job.asked == 0 && job.seen[SCHED_SWITCH] > 0)
		cli_failf(cli, "note: none of the %" PRIu64 " switches of %s passes the filters",
			job.seen[SCHED_SWITCH], recording_name(settings->input.path));
	if (job.cut > 0)
		cli_failf(cli,
			"note: events were lost within %" PRIu64
			" run times or waits for a CPU: these times are not known and not counted",
			job.cut);
	data_source_close(&job.source);
	free(job.cpus);
	return status == TALLY_OK ? code : cli_fail(cli, &err);
}

static int run_verb(
	const struct cli *cli, const struct verb *verb, struct sched_settings *settings, int argc, char **argv)
{
	int rest;
	const char *key;
	int code = cli_parse_options(cli, &verb->command, argc, argv, settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, &verb->command, NULL, "unexpected argument '%s'", argv[rest]);
	if (settings->sort && (key = sched_latency_unknown_key(settings->sort)))
		return cli_usagef(cli, &verb->command, "sort", "Unknown --sort key: `%s'", key);
	if (settings->histogram_mode && strcmp(settings->histogram_mode, "log") != 0 &&
		strcmp(settings->histogram_mode, "linear") != 0)
		return cli_usagef(cli, &verb->command, "hist-mode",
			"Invalid --hist-mode '%s', expected 'log' or 'linear'", settings->histogram_mode);
	if (settings->only_summary && (settings->with_wakes || settings->with_next))
		return cli_usagef(cli, &verb->command, "summary,wakeups,next", "-s and -[n|w] are mutually exclusive.");
	if (settings->is_json && settings->dump)
		return cli_usagef(cli, &verb->command, "json", "--json and -D are mutually exclusive.");
	if (settings->is_json &&
		(settings->with_cpus || settings->with_next || settings->with_state || settings->with_prio))
		return cli_usagef(cli, &verb->command, "json",
			"--json has all details: leave -V, -n, --state and --show-prio out");
	if (settings->is_json && (settings->is_compact || settings->colour_cpus || settings->colour_pids))
		return cli_usagef(cli, &verb->command, "json",
			"--compact, --color-cpus and --color-pids apply to text output only");
	if (settings->max_stack > SCHED_MAX_STACK)
		return cli_failf(cli, "--max-stack is 0 to %d", SCHED_MAX_STACK);
	if (settings->times && !time_spans_are_valid(settings->times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	return cmd_sched_show(cli, settings, verb);
}

static int cmd_sched_record(const struct cli *cli, int argc, char **argv)
{
	/* perf records sched_wakeup only where there is no sched_waking, and its latency report then lacks most
	 * delays. */
	static const char *const ours[] = {"record", "-a", "-R", "-m", "1024", "-c", "1", "-e",
		"sched:sched_switch,sched:sched_stat_runtime,sched:sched_process_fork,sched:sched_wakeup_new,"
		"sched:sched_migrate_task,sched:sched_waking,sched:sched_wakeup",
		NULL};
	return cli_run_verb(cli, &command_record, ours, argc, argv);
}

static int cmd_sched_script(const struct cli *cli, const struct sched_settings *settings, int argc, char **argv)
{
	const char *const of_input[] = {"script", "-i", settings->input.path, NULL};
	static const char *const plain[] = {"script", NULL};
	return cli_run_verb(cli, &command_script, settings->input.path ? of_input : plain, argc, argv);
}

static int cmd_sched_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct sched_settings settings = {.with_chains = true, .max_stack = SCHED_DEFAULT_MAX_STACK};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(
			cli, command, NULL, "sched needs a command: record, latency, map, script or timehist");
	argc -= rest;
	argv += rest;
	if (cli_is_subverb(argv[0], "record"))
		return cmd_sched_record(cli, argc - 1, argv + 1);
	if (strcmp(argv[0], "script") == 0)
		return cmd_sched_script(cli, &settings, argc - 1, argv + 1);
	if (strcmp(argv[0], "replay") == 0)
		return cli_failf(cli, "sched replay is not supported yet"), EXIT_USAGE;
	for (size_t i = 0; i < ARRAY_LEN(sched_verbs); i++) {
		const char *name = sched_verbs[i].command.name + SCHED_VERB_PREFIX;
		if (cli_is_subverb(argv[0], name))
			return run_verb(cli, &sched_verbs[i], &settings, argc, argv);
	}
	return unknown_subcommand(cli, command, argv[0]);
}

static const char *const sched_usages[] = {"[<options>] {record|latency|map|script|timehist}", NULL};
static const char *const sched_examples[] = {
	"record what the scheduler did while a program ran",
	"tally sched record ./program",
	"show who waited longest for a CPU; every switch with its times; sums",
	"tally sched latency; tally sched timehist; tally sched timehist --summary",
	"show which task ran where",
	"tally sched map",
	NULL,
};

const struct command command_sched = {
	.name = "sched",
	.summary = "Tool to trace/measure scheduler properties (latencies)",
	.usages = sched_usages,
	.options = &sched_table,
	.description = "Shows how tasks ran and waited for a CPU. 'record' passes its arguments to tally record, for "
		       "the whole machine, 'script' to tally script. 'latency' sums up how long runnable tasks waited; "
		       "'timehist' lists every switch with how long the task had waited and run; 'map' draws which "
		       "task was on which CPU. Each has its own options: 'sched timehist -h' lists those of timehist.",
	.examples = sched_examples,
	.run = cmd_sched_run,
};
