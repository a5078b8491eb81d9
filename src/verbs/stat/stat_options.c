/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "cli/cli.h"
#include "tasks/recording/target_options.h"
#include "verbs/stat/stat_shared.h"
#include "verbs/stat/stat_shared_programs.h"

#define STAT_OPTIONS_RUNS_MAX 1000000
#define THRESHOLD_MAX	      1e6

static const char *word_add(const struct option_use *use, struct stat_event_word word)
{
	struct stat_settings *settings = use->settings;
	return vec_push(&settings->events.words, word) ? NULL : "out of memory";
}

static const char *stat_options_event_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_EVENT, use->value});
}

static const char *cgroup_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_CGROUP, use->value});
}

static const char *metric_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_METRIC, use->value});
}

static const char *pfm_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_PFM, use->value});
}

static const char *set_metrics_only(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->view.has_metrics_only = !use->is_negated;
	settings->view.says_metrics_only = true;
	return NULL;
}

static const char *filter_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_FILTER, use->value});
}

#define MODE_CALL(name, mode_value)                                                                          \
	static const char *name(const struct option_use *use)                                                \
	{                                                                                                    \
		((struct stat_lines *)use->settings)->mode = use->is_negated ? AGGREGATE_ALL : (mode_value); \
		return NULL;                                                                                 \
	}
MODE_CALL(set_no_aggr, AGGREGATE_CPU)
MODE_CALL(set_per_core, AGGREGATE_CORE)
MODE_CALL(set_per_die, AGGREGATE_DIE)
MODE_CALL(set_per_socket, AGGREGATE_SOCKET)
MODE_CALL(set_per_node, AGGREGATE_NODE)
#undef MODE_CALL

static const char *set_per_cluster(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->counting.lines.mode = use->is_negated ? AGGREGATE_ALL : AGGREGATE_CLUSTER;
	return NULL;
}

/* Without a level, lines are per cache of the last level. */
static const char *set_per_cache(const struct option_use *use)
{
	struct stat_lines *lines = use->settings;
	uint64_t level = 0;
	if (use->value && ((use->value[0] != 'L' && use->value[0] != 'l') ||
				  !str_to_u64(str_from(use->value + 1), 10, &level) || level == 0 || level > UINT8_MAX))
		return "expects a level as L2";
	lines->mode = use->is_negated ? AGGREGATE_ALL : AGGREGATE_CACHE;
	lines->cache_level = (unsigned)level;
	return NULL;
}

static bool to_i64(const char *text, int64_t *value)
{
	uint64_t magnitude;
	bool is_negative = text[0] == '-';
	if (!str_to_u64(str_from(text + is_negative), 10, &magnitude) || magnitude > INT64_MAX)
		return false;
	*value = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

static const char *set_runs(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	int64_t runs;
	if (!to_i64(use->value, &runs) || runs > STAT_OPTIONS_RUNS_MAX)
		return "expects a number of runs, at most 1000000";
	settings->counting.runs = runs < 0 ? UINT64_MAX : (uint64_t)runs;
	return NULL;
}

static const char *stat_options_set_delay(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	if (!to_i64(use->value, &settings->counting.delay_ms) || settings->counting.delay_ms < -1)
		return "expects milliseconds, or -1 for 'never'";
	return NULL;
}

static const char *stat_options_set_separator(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->view.separator = strcmp(use->value, "\\t") == 0 ? "\t" : use->value;
	return *settings->view.separator ? NULL : "expects a separator";
}

static const char *set_big_num(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->view.has_big_num = settings->view.asks_big_num = !use->is_negated;
	return NULL;
}

static const char *stat_options_set_programs(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->counting.bpf_programs = use->value;
	return stat_shared_programs_are_valid(use->value) ? NULL : "expects IDs of BPF programs, at most 64";
}

static const char *stat_options_set_control(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	return record_control_parse(use->value, &settings->counting.control)
		       ? NULL
		       : "expects fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]";
}

static const char *stat_options_set_rung(const struct option_use *use)
{
	static const char *const words[] = {
		[STAT_RUNG_AUTO] = "auto", [STAT_RUNG_EVENTS] = "events", [STAT_RUNG_RUSAGE] = "rusage"};
	struct stat_settings *settings = use->settings;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(use->value, words[i]) == 0) {
			settings->counting.rung = (enum stat_rung_choice)i;
			return NULL;
		}
	return "expects auto, events or rusage";
}

static const char *stat_options_add_toggle(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	if (!use->value[0])
		return "expects the name of a function, or a pattern";
	return vec_push(&settings->simulation.toggles, use->value) ? NULL : "out of memory";
}

static const char *stat_options_set_threshold(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	char *end = NULL;
	double percent = isdigit((unsigned char)use->value[0]) ? strtod(use->value, &end) : -1;
	if (percent < 0 || percent > THRESHOLD_MAX || (strcmp(end, "") != 0 && strcmp(end, "%") != 0))
		return "expects a percentage such as 0.1";
	settings->simulation.threshold = percent;
	settings->simulation.has_threshold = true;
	return NULL;
}

static const char *stat_options_set_affinity(const struct option_use *use)
{
	return use->is_negated ? NULL : "is not supported: counters are read from the CPU that tally runs on";
}

static const char *stat_options_set_iostat(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->has_iostat = !use->is_negated;
	settings->iostat_ports = use->value;
	return NULL;
}

#define AT(field) .offset = offsetof(struct stat_settings, field)
#define UNBUILT(long_name, text)                                            \
	{                                                                   \
		.name = long_name, .kind = OPTION_UNSUPPORTED, .help = text \
	}
static const struct option line_rows[] = {
	{"no-aggr", 'A', OPTION_CALL, .call = set_no_aggr, .help = "one line per CPU"},
	{"per-cache", 0, OPTION_CALL, "level", .argument_is_optional = true, .call = set_per_cache,
		.help = "one line per cache of this level, as L2 (the last level if none is named)"},
	{"per-core", 0, OPTION_CALL, .call = set_per_core, .help = "one line per core"},
	{"per-die", 0, OPTION_CALL, .call = set_per_die, .help = "one line per die"},
	{"per-node", 0, OPTION_CALL, .call = set_per_node, .help = "one line per NUMA node"},
	{"per-socket", 0, OPTION_CALL, .call = set_per_socket, .help = "one line per socket"},
};
static const struct option_table line_table = {line_rows, ARRAY_LEN(line_rows), false};
#define LINE_GROUP OPTION_GROUP_ROW(&line_table, struct stat_settings, counting.lines)

static const struct option stat_options_options[] = {
	TARGET_OPTIONS(struct stat_settings, counting.target),
	LINE_GROUP,
	/* Not part of LINE_GROUP, because recordings do not identify clusters. */
	{"per-cluster", 0, OPTION_CALL, .call = set_per_cluster, .help = "one line per cluster"},
	{.name = "all-kernel", .kind = OPTION_FLAG, AT(events.all_kernel), .help = "count kernel mode only"},
	{.name = "all-user", .kind = OPTION_FLAG, AT(events.all_user), .help = "count user mode only"},
	{.name = "append",
		.kind = OPTION_FLAG,
		AT(view.is_append),
		.help = "add to the -o file instead of replacing it"},
	{.name = "big-num",
		.letter = 'B',
		.kind = OPTION_CALL,
		.can_be_negated = true,
		.call = set_big_num,
		.help = "separate thousands as the locale does (the default)"},
	{.name = "cache-model",
		.kind = OPTION_STRING,
		.argument = "model",
		AT(simulation.cache_model),
		.help = "with --simulate: the caches and TLBs (machine; cachegrind: its two levels; generic: alike on "
			"all machines), and parts of them as i1=32K,8,64:ll=32M,16,64"},
	{.name = "cgroup",
		.letter = 'G',
		.kind = OPTION_CALL,
		.argument = "name",
		.call = cgroup_add,
		.help = "count only tasks of this cgroup (one per event, in order)"},
	{.name = "control",
		.kind = OPTION_CALL,
		.argument = "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
		.call = stat_options_set_control,
		.help = "take commands from a descriptor or FIFO: enable, disable, stop, ping"},
	{.name = "compare",
		.kind = OPTION_STRING,
		.argument = "command line",
		AT(counting.compare),
		.help = "run this and a second command line in turn, and report which is faster (-r: number of runs; "
			"10); with --simulate: whether the second exceeds the first (see --threshold)"},
	{.name = "cputype",
		.kind = OPTION_STRING,
		.argument = "hybrid cpu type",
		AT(events.core_type),
		.help = "generic events on this kind of core only, as core or atom"},
	{.name = "fail-if",
		.kind = OPTION_STRING,
		.argument = "clauses",
		AT(counting.fail_if),
		.help = "with --compare: exit with status 3 if a clause is true (regression>2%, elapsed>2% with "
			"p<0.001, page-faults>+100, instructions>5M), and with 4 if runs vary too much to tell"},
	{.name = "markdown", .kind = OPTION_FLAG, AT(view.is_markdown), .help = "with --compare: a table in Markdown"},
	{.name = "delay",
		.letter = 'D',
		.kind = OPTION_CALL,
		.argument = "n",
		.call = stat_options_set_delay,
		.help = "begin n ms after the start of the command; -1: leave the events disabled"},
	{.name = "detailed",
		.letter = 'd',
		.kind = OPTION_COUNT,
		AT(events.detail),
		.help = "more events: -d data caches, -dd instruction caches and TLBs, -ddd prefetches"},
	{.name = "event",
		.letter = 'e',
		.kind = OPTION_CALL,
		.argument = "event",
		.call = stat_options_event_add,
		.help = "events to count; 'list' shows their names"},
	{.name = "field-separator",
		.letter = 'x',
		.kind = OPTION_CALL,
		.argument = "separator",
		.call = stat_options_set_separator,
		.help = "one line per count with this separator, for scripts"},
	{.name = "filter",
		.kind = OPTION_CALL,
		.argument = "filter",
		.call = filter_add,
		.help = "condition on the fields of the tracepoints before it"},
	{.name = "for-each-cgroup",
		.kind = OPTION_STRING,
		.argument = "name",
		AT(events.for_each_cgroup),
		.help = "count all events for each of these cgroups: names, or patterns as kube.*"},
	{.name = "group",
		.letter = 'g',
		.kind = OPTION_FLAG,
		AT(events.one_group),
		.help = "make one group of all events"},
	{.name = "hybrid-merge",
		.kind = OPTION_FLAG,
		AT(events.merges_cores),
		.help = "one line for an event's counts on all kinds of core"},
	{.name = "interval-clear",
		.kind = OPTION_FLAG,
		AT(view.clears_screen),
		.help = "clear the screen before each interval"},
	{.name = "interval-count",
		.kind = OPTION_U64,
		.argument = "n",
		AT(counting.interval_count),
		.help = "stop after n intervals"},
	{.name = "interval-print",
		.letter = 'I',
		.kind = OPTION_U64,
		.argument = "n",
		AT(counting.interval_ms),
		.help = "print what was counted every n ms"},
	{.name = "json-output",
		.letter = 'j',
		.kind = OPTION_FLAG,
		AT(view.is_json),
		.help = "one JSON object per count"},
	{.name = "log-fd", .kind = OPTION_U64, .argument = "n", AT(view.log_fd), .help = "print to this descriptor"},
	{.name = "metric-only",
		.kind = OPTION_CALL,
		.can_be_negated = true,
		.call = set_metrics_only,
		.help = "metrics or ratios instead of counts, in one line"},
	{.name = "metric-no-group",
		.kind = OPTION_FLAG,
		AT(events.no_metric_group),
		.help = "open the events of metrics one by one, not in weak groups"},
	{.name = "metric-no-merge",
		.kind = OPTION_FLAG,
		AT(events.no_metric_merge),
		.help = "count an event once for each metric that needs it"},
	{.name = "metric-no-threshold",
		.kind = OPTION_FLAG,
		AT(view.no_metric_threshold),
		.help = "do not report which metrics exceed their thresholds (-j)"},
	{.name = "metrics",
		.letter = 'M',
		.kind = OPTION_CALL,
		.argument = "metric/metric group list",
		.call = metric_add,
		.help = "metrics or groups of them, and the events they need; 'list metric' shows them"},
	{.name = "no-csv-summary",
		.kind = OPTION_FLAG,
		AT(view.no_csv_summary),
		.help = "no 'summary' field in CSV totals"},
	{.name = "no-inherit",
		.letter = 'i',
		.kind = OPTION_FLAG,
		AT(counting.no_inherit),
		.help = "do not count children"},
	{.name = "no-merge", .kind = OPTION_FLAG, AT(view.no_merge), .help = "show like PMUs one by one"},
	{.name = "null",
		.letter = 'n',
		.kind = OPTION_FLAG,
		AT(events.is_null),
		.help = "count no events, measure elapsed time only"},
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		AT(view.output),
		.help = "print to this file"},
	{.name = "passes",
		.kind = OPTION_FLAG,
		AT(counting.has_passes),
		.help = "run the command as often as needed so that no event is multiplexed, and check that runs "
			"agree"},
	{.name = "per-thread", .kind = OPTION_FLAG, AT(counting.target.per_thread), .help = "one line per thread"},
	{.name = "plan",
		.kind = OPTION_FLAG,
		AT(counting.is_plan),
		.help = "count nothing; show what each event would count here, which events fit together and who "
			"holds counters"},
	{.name = "post",
		.kind = OPTION_STRING,
		.argument = "command",
		AT(counting.post),
		.help = "run this after each measured run"},
	{.name = "pre",
		.kind = OPTION_STRING,
		.argument = "command",
		AT(counting.pre),
		.help = "run this before each measured run"},
	{.name = "quiet", .kind = OPTION_FLAG, AT(view.is_quiet), .help = "print nothing"},
	{.name = "repeat",
		.letter = 'r',
		.kind = OPTION_CALL,
		.argument = "n",
		.call = set_runs,
		.help = "run the command n times; mean and deviation (0: until interrupted)"},
	{.name = "require-event",
		.kind = OPTION_FLAG,
		AT(counting.requires_event),
		.help = "fail if the kernel allows no event, rather than use --rung rusage"},
	{.name = "rung",
		.kind = OPTION_CALL,
		.argument = "auto|events|rusage",
		.call = stat_options_set_rung,
		.help = "what counts: perf events, or getrusage and /proc, for your own programs; auto takes the "
			"latter if the kernel allows no event"},
	{.name = "scale",
		.letter = 'c',
		.kind = OPTION_FLAG,
		AT(counting.is_scaling),
		.help = "scale counts whose PMU time was shared (the default)"},
	{.name = "simulate",
		.kind = OPTION_FLAG,
		AT(simulation.is_on),
		.help = "count simulated events of a command (instructions, branches, caches, TLBs), under Valgrind; "
			"no hardware counters or privileges are needed, and counts do not vary"},
	{.name = "summary",
		.kind = OPTION_FLAG,
		AT(view.has_summary),
		.help = "print totals after the intervals of -I"},
	{.name = "stats",
		.kind = OPTION_FLAG,
		AT(counting.has_statistics),
		.help = "with -r: show median, confidence interval and outliers of each event"},
	{.name = "name",
		.kind = OPTION_STRING,
		.argument = "benchmark",
		AT(simulation.name),
		.help = "with --simulate -j: the benchmark's name, by which --compare finds it in files of several "
			"(--append)"},
	{.name = "sync", .letter = 'S', .kind = OPTION_FLAG, AT(counting.does_sync), .help = "sync(2) before each run"},
	{.name = "table", .kind = OPTION_FLAG, AT(view.has_table), .help = "with -r: show each run's time"},
	{.name = "threshold",
		.kind = OPTION_CALL,
		.argument = "percent",
		.call = stat_options_set_threshold,
		.help = "with --simulate --compare: exit with status 3 if B exceeds A by more, in instructions or an "
			"event of -e (0.1)"},
	{.name = "toggle",
		.kind = OPTION_CALL,
		.argument = "function",
		.call = stat_options_add_toggle,
		.help = "with --simulate: count only while this function (a pattern) runs, with what it calls; may be "
			"given more than once"},
	{.name = "timeout", .kind = OPTION_U64, .argument = "n", AT(counting.timeout_ms), .help = "stop after n ms"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		AT(view.verbose),
		.help = "show raw counts, and why an event is missing, also with -x and -j"},
	{.name = "bpf-attr-map",
		.kind = OPTION_STRING,
		.argument = "file",
		AT(counting.shared_path),
		.help = "where the map of shared counters is pinned (" STAT_SHARED_PATH ")"},
	{.name = "bpf-counters",
		.kind = OPTION_FLAG,
		AT(counting.shares_counters),
		.help = "share counters with all such sessions, or between cgroups; a BPF program reads them at each "
			"switch (as :b)"},
	{.name = "bpf-prog",
		.letter = 'b',
		.kind = OPTION_CALL,
		.argument = "bpf-prog-id",
		.call = stat_options_set_programs,
		.help = "count only while these BPF programs run, on all CPUs (IDs with commas; 'bpftool prog' shows "
			"them)"},
	{.name = "iostat",
		.kind = OPTION_CALL,
		.argument = "ports",
		.argument_is_optional = true,
		.call = stat_options_set_iostat,
		.help = "show what devices below PCIe root ports (0000:17,0:3a; all by default) transfer, as the verb "
			"iostat; 'list' shows the ports. Other options except -a are refused"},
	{.name = "percore-show-thread",
		.kind = OPTION_FLAG,
		AT(view.shows_core_threads),
		.help = "with -A: sums of percore events in a line for each hardware thread"},
	{.name = "pfm-events",
		.kind = OPTION_CALL,
		.argument = "event",
		.call = pfm_add,
		.help = "events by their vendor's names, as libpfm4 knows them; 'list pfm' shows them"},
	{.name = "affinity",
		.kind = OPTION_CALL,
		.call = stat_options_set_affinity,
		.help = "--no-affinity: read all counters from where tally runs (always done)"},
	{.name = "hide-zero-events",
		.kind = OPTION_FLAG,
		AT(view.hides_zeros),
		.help = "hide counts of 0, and events that were not counted"},
	UNBUILT("pmu-filter", "names of events on one PMU only"),
	UNBUILT("record-tpebs", "retire latency by sampling"),
	UNBUILT("tpebs-mode", "which of the sampled latencies count"),
	{.name = "smi-cost",
		.kind = OPTION_FLAG,
		AT(events.has_smi_cost),
		.help = "cycles spent in system management interrupts (freezes counters in them meanwhile)"},
	{.name = "td-level",
		.kind = OPTION_U64,
		.argument = "n",
		AT(events.topdown_level),
		.help = "number of levels of --topdown (0: all that this CPU has)"},
	{.name = "topdown",
		.kind = OPTION_FLAG,
		AT(events.has_topdown),
		.help = "show where the slots of the CPU's pipeline were lost"},
	{.name = "transaction",
		.letter = 'T',
		.kind = OPTION_FLAG,
		AT(events.has_transactions),
		.help = "show cycles in transactions, aborted ones, and per transaction"},
};
#undef AT
const struct option_table stat_option_table = {stat_options_options, ARRAY_LEN(stat_options_options), true};

static const char *set_input(const struct option_use *use)
{
	((struct stat_settings *)use->settings)->recording = use->value;
	return NULL;
}

static const struct option stat_options_report_options[] = {
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_CALL,
		.argument = "file",
		.call = set_input,
		.help = "the recording (perf.data)"},
	LINE_GROUP,
};
const struct option_table stat_report_option_table = {
	stat_options_report_options, ARRAY_LEN(stat_options_report_options), false};

int stat_form_check(const struct cli *cli, const struct command *command, const struct stat_settings *s)
{
	if (s->view.separator && s->view.is_json)
		return cli_usagef(cli, command, "field-separator,json-output",
			"-x and -j cannot be used together: output is CSV or JSON");
	return 0;
}

/* Returns the name of an option that cannot be used with shared counters, or NULL if none is given. */
static const char *stat_options_not_shared(const struct stat_settings *s)
{
	return s->counting.target.per_thread ? "per-thread"
	       : s->counting.no_inherit	     ? "no-inherit"
	       : s->events.one_group	     ? "group"
					     : NULL;
}

/* Returns the name of an option that cannot be used with --bpf-prog, or NULL if none is given. */
static const char *stat_options_not_of_programs(const struct stat_settings *s, bool has_cgroup)
{
	return has_cgroup		       ? "cgroup"
	       : s->counting.target.pids       ? "pid"
	       : s->counting.target.tids       ? "tid"
	       : s->counting.target.user       ? "uid"
	       : s->counting.target.per_thread ? "per-thread"
	       : s->counting.shares_counters   ? "bpf-counters"
	       : s->counting.has_passes	       ? "passes"
	       : s->counting.is_plan	       ? "plan"
	       : s->counting.compare	       ? "compare"
					       : NULL;
}

int stat_job_complete(const struct cli *cli, const struct command *command, struct stat_job *job)
{
	struct stat_settings *s = &job->settings;
	bool is_wide = s->counting.target.system_wide || s->counting.target.cpus;
	if (s->counting.runs == UINT64_MAX)
		return cli_usagef(cli, command, "repeat", "Run count must be a positive number"), STAT_EXIT_INVALID;
	int exit_code = stat_form_check(cli, command, s);
	if (exit_code != 0)
		return exit_code;
	if (s->view.separator && s->view.asks_big_num)
		return cli_usagef(cli, command, "big-num,field-separator", "-B option not supported with -x");
	if (s->view.output && s->view.log_fd != UINT64_MAX)
		return cli_usagef(cli, command, "output", "-o and --log-fd cannot be used together");
	if ((s->events.has_topdown || s->events.has_smi_cost) && !s->view.says_metrics_only)
		s->view.has_metrics_only = true;
	bool has_cgroup = s->events.for_each_cgroup != NULL;
	for (size_t i = 0; i < s->events.words.len; i++)
		has_cgroup |= s->events.words.items[i].kind == WORD_CGROUP;
	const char *wrong = s->counting.bpf_programs ? stat_options_not_of_programs(s, has_cgroup) : NULL;
	if (wrong)
		return cli_usagef(cli, command, wrong, "--bpf-prog and --%s cannot be used together", wrong);
	if (!is_wide &&
		(s->counting.bpf_programs || (!job->command && !s->counting.target.pids && !s->counting.target.tids &&
						     !s->counting.target.per_thread)))
		/* As in perf, all CPUs are counted if neither a command nor a target is given. */
		s->counting.target.system_wide = is_wide = true;
	if ((s->counting.target.pids || s->counting.target.tids) && is_wide) {
		cli_sayf("%s: -p and -t override %s\n", cli->program, s->counting.target.cpus ? "-C" : "-a");
		s->counting.target.system_wide = is_wide = false;
		s->counting.target.cpus = NULL;
	}
	if (s->counting.lines.mode != AGGREGATE_ALL && !is_wide)
		return cli_usagef(cli, command, "all-cpus",
			"-A and --per-core, -cluster, -cache, -die, -socket, -node need whole CPUs: -a or -C");
	if (s->counting.target.per_thread && job->command && !s->counting.target.pids && !s->counting.target.tids &&
		!s->counting.target.system_wide)
		return cli_usagef(cli, command, "per-thread", "--per-thread needs running threads: -p, -t or -a");
	if (s->counting.target.per_thread && s->view.has_metrics_only)
		return cli_usagef(cli, command, "metric-only,per-thread",
			       "--metric-only is not supported with --per-thread"),
		       STAT_EXIT_INVALID;
	if (s->counting.target.per_thread && s->counting.lines.mode != AGGREGATE_ALL)
		return cli_usagef(
			cli, command, "per-thread", "--per-thread and lines per CPU or core cannot be used together");
	if (has_cgroup && (!is_wide || s->counting.target.per_thread))
		return cli_usagef(cli, command, "cgroup", "cgroups are counted on whole CPUs: add -a or -C");
	wrong = stat_options_not_shared(s);
	if (s->counting.shares_counters && wrong)
		return cli_usagef(cli, command, wrong, "--bpf-counters and --%s cannot be used together", wrong);
	if (s->counting.has_statistics && (s->counting.runs < 2 || s->counting.interval_ms))
		return cli_usagef(cli, command, "stats,repeat", "--stats needs several runs (-r), without -I");
	if (s->counting.is_plan && s->view.separator)
		return cli_usagef(cli, command, "plan", "--plan has no CSV form; -j has one");
	if (s->counting.has_statistics && s->view.separator)
		return cli_usagef(cli, command, "stats", "--stats has no CSV form; -j has one");
	if (s->counting.interval_count && !s->counting.interval_ms)
		return cli_usagef(cli, command, "interval-count", "--interval-count needs -I");
	if (s->counting.target.per_thread && !s->counting.target.pids && !s->counting.target.tids)
		s->counting.target.system_wide = true;
	return 0;
}
