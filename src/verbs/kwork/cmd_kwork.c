/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "perfdata/time_spans.h"
#include "verbs/kwork/kwork_live.h"
#include "verbs/kwork/kwork_text.h"

#define KWORK_DEFAULT_MAX_STACK 5
#define RECORD_WORDS		24

#define ROW(member) .offset = offsetof(struct kwork_settings, member)

static const char *cmd_kwork_kinds(const struct option_use *use)
{
	struct kwork_settings *settings = use->settings;
	memset(settings->kinds, 0, sizeof(settings->kinds));
	return kwork_read_kinds(use->value, settings->kinds) ? NULL : "takes irq, softirq, workqueue and sched";
}

/* perf's timehist has two options -k: kinds of work, and the path of vmlinux. An argument that is no list of kinds
 * is the path. */
static const char *cmd_kwork_kinds_or_vmlinux(const struct option_use *use)
{
	struct kwork_settings *settings = use->settings;
	bool kinds[KWORK_KINDS] = {false};
	if (kwork_read_kinds(use->value, kinds))
		memcpy(settings->kinds, kinds, sizeof(kinds));
	else
		settings->symbols.vmlinux = use->value;
	return NULL;
}

#define KINDS_ROW                                                                                          \
	{                                                                                                  \
		"kwork", 'k', OPTION_CALL, "kwork",                                                        \
			.call = cmd_kwork_kinds,                                                           \
			.help = "which work: irq, softirq, workqueue, sched (irq,softirq,workqueue; top: " \
				"irq,softirq,sched)"                                                       \
	}
#define KWORK_COMMON_ROWS                                                                                      \
	{"dump-raw-trace", 'D', OPTION_FLAG, ROW(dump), .help = "print all records first, as report -D does"}, \
		INPUT_OPTIONS(struct kwork_settings, input),                                                   \
	{                                                                                                      \
		"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "report the number of events, too"         \
	}
#define SELECTION_ROWS                                                                                          \
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(cpus), .help = "only these CPUs (0-3,8)"},                       \
		{"name", 'n', OPTION_STRING, "name", ROW(name), .help = "only work, or tasks, with this name"}, \
	{                                                                                                       \
		"time", 0, OPTION_STRING, "start,stop", ROW(times),                                             \
			.help = "only events in this part of the recording"                                     \
	}
#define JSON_ROW                                                                                 \
	{                                                                                        \
		"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/kwork.json" \
	}
#define BPF_ROW                                                                                  \
	{                                                                                        \
		"use-bpf", 'b', OPTION_FLAG, ROW(uses_bpf),                                      \
			.help = "measure now, by BPF programs, until the command ends or Ctrl-C" \
	}
/* The tables allow a command, which follows -b. */
#define KWORK_TABLE(rows)                   \
	{                                   \
		rows, ARRAY_LEN(rows), true \
	}

static const struct option kwork_options[] = {KWORK_COMMON_ROWS, KINDS_ROW};
static const struct option_table kwork_table = {kwork_options, ARRAY_LEN(kwork_options), true};

static const struct option kwork_report_options[] = {
	KWORK_COMMON_ROWS,
	KINDS_ROW,
	SELECTION_ROWS,
	JSON_ROW,
	BPF_ROW,
	{"sort", 's', OPTION_STRING, "key[,key...]", ROW(sort), .help = "sort by runtime, max, count"},
	{"with-summary", 'S', OPTION_FLAG, ROW(with_summary), .help = "show sums below the table"},
};
static const struct option_table kwork_report_table = KWORK_TABLE(kwork_report_options);

static const struct option kwork_latency_options[] = {
	KWORK_COMMON_ROWS,
	KINDS_ROW,
	SELECTION_ROWS,
	JSON_ROW,
	BPF_ROW,
	{"sort", 's', OPTION_STRING, "key[,key...]", ROW(sort), .help = "sort by avg, max, count"},
};
static const struct option_table kwork_latency_table = KWORK_TABLE(kwork_latency_options);

static const struct option kwork_timehist_options[] = {
	KWORK_COMMON_ROWS,
	{"kwork", 'k', OPTION_CALL, "kwork", .call = cmd_kwork_kinds_or_vmlinux,
		.help = "which work: irq, softirq, workqueue (all); anything else is the path of vmlinux, as in perf"},
	SELECTION_ROWS,
	{"call-graph", 'g', OPTION_FLAG, ROW(with_chains), .help = "show the call chain with which work began"},
	{"max-stack", 0, OPTION_U64, "n", ROW(max_stack), .help = "number of functions of a call chain to show (5)"},
	{"vmlinux", 0, OPTION_STRING, "file", ROW(symbols.vmlinux), .help = "path of the kernel's file with symbols"},
	SYMBOL_OPTIONS(struct kwork_settings, symbols),
};
static const struct option_table kwork_timehist_table = KWORK_TABLE(kwork_timehist_options);

static const struct option kwork_top_options[] = {
	KWORK_COMMON_ROWS,
	KINDS_ROW,
	SELECTION_ROWS,
	JSON_ROW,
	BPF_ROW,
	{"sort", 's', OPTION_STRING, "key[,key...]", ROW(sort), .help = "sort by rate, runtime, tid"},
};
#undef ROW
static const struct option_table kwork_top_table = KWORK_TABLE(kwork_top_options);

static const char *const kwork_verb_usages[] = {"[<options>]", "-b [<options>] [<command>]", NULL};
static const char *const timehist_usages[] = {"[<options>]", NULL};

struct kwork_verb {
	struct command command;
	bool kinds[KWORK_KINDS]; /* The kinds that are selected without -k. */
	const char *(*unknown_key)(const char *keys);
	enum tally_status (*print)(struct kwork_job *job, struct text *out, struct tally_error *err);
};

#define WORK                                                                  \
	{                                                                     \
		[WORK_IRQ] = true, [WORK_SOFTIRQ] = true, [WORK_QUEUE] = true \
	}
#define WITH_TOP                                                               \
	{                                                                      \
		[WORK_IRQ] = true, [WORK_SOFTIRQ] = true, [KWORK_SCHED] = true \
	}
static const struct kwork_verb kwork_verbs[] = {
	{{.name = "kwork report", .usages = kwork_verb_usages, .options = &kwork_report_table}, WORK,
		kwork_report_unknown_key, kwork_print_report},
	{{.name = "kwork latency", .usages = kwork_verb_usages, .options = &kwork_latency_table}, WORK,
		kwork_latency_unknown_key, kwork_print_latency},
	{{.name = "kwork timehist", .usages = timehist_usages, .options = &kwork_timehist_table}, WORK, NULL,
		kwork_print_timehist},
	{{.name = "kwork top", .usages = kwork_verb_usages, .options = &kwork_top_table}, WITH_TOP,
		kwork_top_unknown_key, kwork_print_top},
};
#define KWORK_VERB_PREFIX sizeof("kwork")

static int cmd_kwork_show(
	const struct cli *cli, const struct kwork_settings *settings, const struct kwork_verb *verb, char **argv)
{
	struct kwork_job job = {.cli = cli, .settings = settings};
	struct tally_error err;
	struct text out = {0};
	int code = 0;
	kwork_job_choose_kinds(&job, verb->kinds);
	enum tally_status status = settings->uses_bpf
					   ? kwork_live_measure(&job, verb->print == kwork_print_top, argv, &err)
					   : kwork_job_open(&job, &err);
	if (status == TALLY_OK) {
		cli_start_pager(cli);
		text_to_fd(&out, STDOUT_FILENO);
		status = verb->print(&job, &out, &err);
		code = cli_finish_text(cli, &out);
		cli_end_pager();
		kwork_job_tell(&job);
	}
	kwork_job_close(&job);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	return code ? code : job.exit_code;
}

static int cmd_kwork_run_verb(
	const struct cli *cli, const struct kwork_verb *verb, struct kwork_settings *settings, int argc, char **argv)
{
	const struct command *command = &verb->command;
	int rest;
	const char *key;
	int code = cli_parse_options(cli, command, argc, argv, settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc && !settings->uses_bpf)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (settings->uses_bpf && (settings->input.path || settings->dump || settings->times))
		return cli_usagef(cli, command, "use-bpf,input,time,dump-raw-trace",
			"-b measures now: -i, -D and --time cannot be used with it");
	if (settings->sort && verb->unknown_key && (key = verb->unknown_key(settings->sort)))
		return cli_usagef(cli, command, "sort", "Unknown --sort key: `%s'", key);
	if (settings->is_json && settings->dump)
		return cli_usagef(cli, command, "json", "--json and -D are mutually exclusive.");
	if (settings->times && !time_spans_are_valid(settings->times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	return cmd_kwork_show(cli, settings, verb, argv + rest);
}

static int cmd_kwork_record(const struct cli *cli, const struct kwork_settings *settings, int argc, char **argv)
{
	static const char *const events[KWORK_KINDS] = {"irq:irq_handler_entry,irq:irq_handler_exit",
		"irq:softirq_raise,irq:softirq_entry,irq:softirq_exit",
		"workqueue:workqueue_activate_work,workqueue:workqueue_execute_start,workqueue:workqueue_execute_end",
		"sched:sched_switch"};
	static const bool usual[KWORK_KINDS] = WORK;
	const char *words[RECORD_WORDS] = {"record", "-a", "-R", "-m", "1024", "-c", "1"};
	struct kwork_job job = {.settings = settings};
	size_t count = 7;
	kwork_job_choose_kinds(&job, usual);
	for (size_t i = 0; i < KWORK_KINDS; i++) {
		if (!job.kinds[i])
			continue;
		words[count++] = "-e";
		words[count++] = events[i];
	}
	if (settings->verbose)
		words[count++] = "-v";
	return cli_run_verb(cli, &command_record, words, argc, argv);
}

static int cmd_kwork_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct kwork_settings settings = {.max_stack = KWORK_DEFAULT_MAX_STACK};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(
			cli, command, NULL, "kwork needs a command: record, report, latency, timehist or top");
	argc -= rest;
	argv += rest;
	bool records = cli_is_subverb(argv[0], "record");
	if (records && (settings.input.path || settings.dump))
		return cli_usagef(
			cli, command, "input,dump-raw-trace", "-i and -D read a recording: record writes one (-o)");
	if (records)
		return cmd_kwork_record(cli, &settings, argc - 1, argv + 1);
	for (size_t i = 0; i < ARRAY_LEN(kwork_verbs); i++)
		if (cli_is_subverb(argv[0], kwork_verbs[i].command.name + KWORK_VERB_PREFIX))
			return cmd_kwork_run_verb(cli, &kwork_verbs[i], &settings, argc, argv);
	return unknown_subcommand(cli, command, argv[0]);
}

static const char *const kwork_usages[] = {"[<options>] {record|report|latency|timehist|top}", NULL};
static const char *const kwork_examples[] = {
	"record the interrupts, softirqs and work items of the whole machine for ten seconds",
	"tally kwork record sleep 10",
	"show what ran longest, and what waited longest until it ran",
	"tally kwork report -S; tally kwork latency",
	"the same of the next ten seconds, without a recording",
	"tally kwork report -b sleep 10; tally kwork latency -b sleep 10; tally kwork top -b sleep 10",
	"show each piece of work with its times",
	"tally kwork timehist",
	"show what tasks, interrupts and softirqs took of each CPU",
	"tally kwork -k irq,softirq,sched record sleep 10; tally kwork top",
	NULL,
};

const struct command command_kwork = {
	.name = "kwork",
	.summary = "Tool to trace/measure kernel work properties (latencies)",
	.usages = kwork_usages,
	.options = &kwork_table,
	.description =
		"Shows the work that the kernel does beside programs: handlers of interrupts, softirqs and work items. "
		"'record' passes its arguments to tally record, for the whole machine, with the tracepoints of -k. "
		"'report' sums up how long each ran, and 'latency' how long it waited after it was asked for; "
		"'timehist' lists each run; 'top' shows the time of tasks without that of interrupts and softirqs. "
		"With -b, report, latency and top measure now, by BPF programs that add up in the kernel. "
		"Each has its own options: 'kwork report -h' lists those of report.",
	.examples = kwork_examples,
	.run = cmd_kwork_run,
};
