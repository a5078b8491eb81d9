/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "kernel/events/tracepoints.h"
#include "verbs/kvm/kvm_live.h"
#include "verbs/kvm/kvm_stat.h"

#define EXIT_BAD_VALUE 234 /* perf's exit status for an unknown event or sort key. */
#define DISPLAY_MOST   86400 /* Maximum of --display in seconds. */

struct cmd_kvm_settings {
	const char *input, *output;
	unsigned verbose;
	bool guest, no_guest, host;
};

static const char *set_guest(const struct option_use *use)
{
	struct cmd_kvm_settings *settings = use->settings;
	settings->guest = !use->is_negated;
	settings->no_guest = use->is_negated;
	return NULL;
}

#define GUEST_REFUSAL "guests' symbols are not supported: their addresses are shown as they are"
static const struct option kvm_options[] = {
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_STRING,
		.argument = "file",
		.offset = offsetof(struct cmd_kvm_settings, input),
		.help = "Input file name"},
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		.offset = offsetof(struct cmd_kvm_settings, output),
		.help = "Output file name"},
	{.name = "guest", .kind = OPTION_CALL, .call = set_guest, .help = "Collect guest os data"},
	{.name = "host",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_kvm_settings, host),
		.help = "Collect host os data"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct cmd_kvm_settings, verbose),
		.help = "be more verbose (show counter open errors, etc)"},
	{.name = "guestmount",
		.kind = OPTION_UNSUPPORTED,
		.argument = "directory",
		.help = "guest mount directory under which every guest os instance has a subdir",
		.refusal = GUEST_REFUSAL},
	{.name = "guestvmlinux",
		.kind = OPTION_UNSUPPORTED,
		.argument = "file",
		.help = "file saving guest os vmlinux",
		.refusal = GUEST_REFUSAL},
	{.name = "guestkallsyms",
		.kind = OPTION_UNSUPPORTED,
		.argument = "file",
		.help = "file saving guest os /proc/kallsyms",
		.refusal = GUEST_REFUSAL},
	{.name = "guestmodules",
		.kind = OPTION_UNSUPPORTED,
		.argument = "file",
		.help = "file saving guest os /proc/modules",
		.refusal = GUEST_REFUSAL},
	{.name = "guest-code",
		.kind = OPTION_UNSUPPORTED,
		.help = "Guest code can be found in hypervisor process",
		.refusal = GUEST_REFUSAL},
};
static const struct option_table kvm_table = {kvm_options, ARRAY_LEN(kvm_options), true};

/* ---- stat report ---- */

struct cmd_kvm_report {
	struct kvm_stat_settings stat;
	const char *event, *key;
	bool stdio;
};

#define ROW(member) .offset = offsetof(struct cmd_kvm_report, member)
static const struct option kvm_report_options[] = {
	{.name = "event",
		.kind = OPTION_STRING,
		.argument = "report event",
		ROW(event),
		.help = "event for reporting: vmexit, mmio (x86 only), ioport (x86 only)"},
	{.name = "vcpu", .kind = OPTION_U64, .argument = "n", ROW(stat.vcpu), .help = "vcpu id to report"},
	{.name = "key",
		.letter = 'k',
		.kind = OPTION_STRING,
		.argument = "sort-key",
		ROW(key),
		.help = "sort by sample (their number) or time (their sum)"},
	{.name = "pid",
		.letter = 'p',
		.kind = OPTION_STRING,
		.argument = "pid",
		ROW(stat.pids),
		.help = "analyze events only for given process id(s)"},
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_STRING,
		.argument = "file",
		ROW(stat.input.path),
		.help = "Input file name"},
	{.name = "force",
		.letter = 'f',
		.kind = OPTION_FLAG,
		ROW(stat.input.force),
		.help = "read a file even if another user owns it"},
	{.name = "stdio", .kind = OPTION_FLAG, ROW(stdio), .help = "use the stdio interface, which is the only one"},
	{.name = "json",
		.kind = OPTION_FLAG,
		ROW(stat.is_json),
		.help = "Print JSON with stable fields (\"schema\": 1), see docs/schema/kvm.json"},
};
#undef ROW
static const struct option_table kvm_report_table = {kvm_report_options, ARRAY_LEN(kvm_report_options), false};
static const char *const kvm_report_usages[] = {"[<options>]", NULL};
static const struct command command_report_stat = {.name = "kvm stat report",
	.usages = kvm_report_usages,
	.options = &kvm_report_table,
	.summary = "",
	.description = ""};

/* Returns 0, or the exit status after a message. */
static int cmd_kvm_choose(const struct cli *cli, const char *event, const char *key, struct kvm_stat_settings *stat)
{
	static const char *const kinds[] = {"vmexit", "mmio", "ioport"};
	size_t kind = 0;
	while (kind < ARRAY_LEN(kinds) && strcmp(kinds[kind], event) != 0)
		kind++;
	if (kind == ARRAY_LEN(kinds))
		return cli_failf(cli, "Unknown report event: %s (vmexit, mmio or ioport)", event), EXIT_BAD_VALUE;
	stat->kind = (enum kvm_kind)kind;
	stat->by_time = strcmp(key, "time") == 0;
	if (!stat->by_time && strcmp(key, "sample") != 0)
		return cli_failf(cli, "Unsupported sort key: %s", key), EXIT_BAD_VALUE;
	return 0;
}

static int cmd_kvm_stat_report(const struct cli *cli, const char *input, int argc, char **argv)
{
	struct cmd_kvm_report report = {.stat = {.vcpu = UINT64_MAX}, .event = "vmexit", .key = "sample"};
	int rest;
	report.stat.input.path = input;
	int code = cli_parse_options(cli, &command_report_stat, argc, argv, &report, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, &command_report_stat, NULL, "unexpected argument '%s'", argv[rest]);
	code = cmd_kvm_choose(cli, report.event, report.key, &report.stat);
	return code ? code : kvm_stat_report(cli, &report.stat);
}

/* ---- stat live ---- */

struct cmd_kvm_live {
	struct kvm_live_settings live;
	const char *event, *key;
	bool has_map_timeout;
};

/* Applies record's option of the same name. */
static const char *cmd_kvm_set_rings(const struct option_use *use)
{
	static const char name[] = "mmap-pages";
	struct cmd_kvm_live *settings = use->settings;
	struct option_use own = *use;
	bool is_negated;
	own.settings = &settings->live.record;
	return options_find(&record_option_table, name, strlen(name), &is_negated)->call(&own);
}

static const char *cmd_kvm_set_map_timeout(const struct option_use *use)
{
	struct cmd_kvm_live *settings = use->settings;
	uint64_t number;
	settings->has_map_timeout = true;
	return str_to_u64(str_from(use->value), 10, &number) ? NULL : "expects a number";
}

#define ROW(member) .offset = offsetof(struct cmd_kvm_live, member)
static const struct option live_options[] = {
	{.name = "pid",
		.letter = 'p',
		.kind = OPTION_STRING,
		.argument = "pid",
		ROW(live.stat.pids),
		.help = "record events of existing process id(s), and end with them"},
	{.name = "mmap-pages",
		.letter = 'm',
		.kind = OPTION_CALL,
		.argument = "pages",
		.call = cmd_kvm_set_rings,
		.is_self_explaining = true,
		.help = "number of data pages in each ring, or its size with B, K, M or G (2M)"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		ROW(live.record.verbose),
		.help = "say how many counters are open, and how large the rings are"},
	{.name = "all-cpus",
		.letter = 'a',
		.kind = OPTION_FLAG,
		ROW(live.record.target.system_wide),
		.help = "system-wide collection from all CPUs (the default without -p)"},
	{.name = "event",
		.kind = OPTION_STRING,
		.argument = "report event",
		ROW(event),
		.help = "event for reporting: vmexit, mmio (x86 only), ioport (x86 only)"},
	{.name = "vcpu", .kind = OPTION_U64, .argument = "n", ROW(live.stat.vcpu), .help = "vcpu id to report"},
	{.name = "key",
		.letter = 'k',
		.kind = OPTION_STRING,
		.argument = "sort-key",
		ROW(key),
		.help = "key for sorting: sample(sort by samples number) time (sort by total time)"},
	{.name = "display",
		.letter = 'd',
		.kind = OPTION_U64,
		.argument = "n",
		ROW(live.display_s),
		.help = "time in seconds between display updates (1)"},
	{.name = "duration",
		.kind = OPTION_U64,
		.argument = "n",
		ROW(live.stat.slow_us),
		.help = "show events other than HLT that take n usecs or longer, one line each"},
	{.name = "proc-map-timeout",
		.kind = OPTION_CALL,
		.argument = "n",
		.call = cmd_kvm_set_map_timeout,
		.help = "accepted for scripts: mappings of processes are not read, so that nothing can take too long"},
};
#undef ROW
static const struct option_table live_table = {live_options, ARRAY_LEN(live_options), false};
static const struct command command_live_stat = {
	.name = "kvm stat live", .usages = kvm_report_usages, .options = &live_table, .summary = "", .description = ""};

static int cmd_kvm_run_live(const struct cli *cli, struct cmd_kvm_live *settings, const char *word, char **argv)
{
	if (word)
		return cli_usagef(cli, &command_live_stat, NULL, "unexpected argument '%s'", word);
	if (settings->live.display_s == 0 || settings->live.display_s > DISPLAY_MOST)
		return cli_usagef(cli, &command_live_stat, "display",
			"-d is the time between tables: one second at least, and a day at most");
	if (settings->has_map_timeout)
		cli_failf(cli,
			"note: --proc-map-timeout limits nothing here: kvm stat live does not read the mappings of "
			"processes");
	int code = cmd_kvm_choose(cli, settings->event, settings->key, &settings->live.stat);
	return code ? code : kvm_live_run(&(struct kvm_live_request){cli, &settings->live, argv});
}

static int cmd_kvm_stat_live(const struct cli *cli, int argc, char **argv)
{
	struct cmd_kvm_live settings = {
		.live = {.stat.vcpu = UINT64_MAX, .record = record_settings_default(), .display_s = 1},
		.event = "vmexit",
		.key = "sample"};
	int rest;
	int code = cli_parse_options(cli, &command_live_stat, argc, argv, &settings, &rest);
	if (code == CLI_GO_ON)
		code = cmd_kvm_run_live(cli, &settings, rest < argc ? argv[rest] : NULL, argv);
	record_settings_deinit(&settings.live.record);
	return code;
}

/* ---- other verbs ---- */

/* Returns "-v" or NULL, which ends the list of words. */
static const char *cmd_kvm_verbose(const struct cmd_kvm_settings *settings)
{
	return settings->verbose ? "-v" : NULL;
}

/* Returns perf's default names for recordings of a guest, of a host, and of both. */
static const char *cmd_kvm_default_name(const struct cmd_kvm_settings *settings)
{
	if (!settings->host)
		return "perf.data.guest";
	return settings->no_guest ? "perf.data.host" : "perf.data.kvm";
}

/* Port events exist on x86 only; other architectures have the remaining events. */
static const char *cmd_kvm_stat_events(void)
{
	uint64_t id;
	return tracepoint_id(kernel_seam_linux(), STR("kvm"), STR("kvm_pio"), &id, NULL) == TALLY_OK
		       ? "kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_mmio,kvm:kvm_pio"
		       : "kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_mmio";
}

static int cmd_kvm_stat(const struct cli *cli, const struct cmd_kvm_settings *settings, int argc, char **argv)
{
	const char *output = settings->output ? settings->output : cmd_kvm_default_name(settings);
	const char *const record[] = {"record", "-o", output, "-m", "1024", "-c", "1", "-R", "-e",
		cmd_kvm_stat_events(), cmd_kvm_verbose(settings), NULL};
	const char *const plain[] = {"stat", cmd_kvm_verbose(settings), NULL};
	const char *word = argc > 1 ? argv[1] : "";
	if (strncmp(word, "rec", 3) == 0 && cli_is_subverb(word, "record"))
		return cli_run_verb(cli, &command_record, record, argc - 2, argv + 2);
	if (cli_is_subverb(word, "report"))
		return cmd_kvm_stat_report(
			cli, settings->input ? settings->input : cmd_kvm_default_name(settings), argc - 1, argv + 1);
	if (strcmp(word, "live") == 0)
		return cmd_kvm_stat_live(cli, argc - 1, argv + 1);
	return cli_run_verb(cli, &command_stat, plain, argc - 1, argv + 1);
}

static bool cmd_kvm_names_event(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strncmp(argv[i], "-e", 2) == 0 || strncmp(argv[i], "--event", 7) == 0)
			return true;
	return false;
}

static int cmd_kvm_record(const struct cli *cli, const struct cmd_kvm_settings *settings, int argc, char **argv)
{
	const char *output = settings->output ? settings->output : cmd_kvm_default_name(settings);
	const char *verbose = cmd_kvm_verbose(settings);
	const char *const given[] = {"record", "-o", output, verbose, NULL};
	const char *const of_guest[] = {"record", "-o", output, "-e", "cycles:G", verbose, NULL};
	const char *const of_host[] = {"record", "-o", output, "-e", "cycles:H", verbose, NULL};
	const char *const of_both[] = {"record", "-o", output, "-e", "cycles", verbose, NULL};
	bool guest = settings->guest || (!settings->host && !settings->no_guest);
	if (cmd_kvm_names_event(argc, argv))
		return cli_run_verb(cli, &command_record, given, argc - 1, argv + 1);
	return cli_run_verb(cli, &command_record,
		!settings->host ? of_guest
		: guest		? of_both
				: of_host,
		argc - 1, argv + 1);
}

static int cmd_kvm_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_kvm_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(
			cli, command, NULL, "kvm needs a command: top, record, report, diff, buildid-list or stat");
	argc -= rest;
	argv += rest;
	const char *input = settings.input ? settings.input : cmd_kvm_default_name(&settings);
	const char *verbose = cmd_kvm_verbose(&settings);
	const char *const report[] = {"report", "-i", input, verbose, NULL};
	const char *const ids[] = {"buildid-list", "-i", input, verbose, NULL};
	const char *const top[] = {"top", verbose, NULL}, *const diff[] = {"diff", verbose, NULL};
	if (strcmp(argv[0], "stat") == 0)
		return cmd_kvm_stat(cli, &settings, argc, argv);
	if (strncmp(argv[0], "rec", 3) == 0 && cli_is_subverb(argv[0], "record"))
		return cmd_kvm_record(cli, &settings, argc, argv);
	if (cli_is_subverb(argv[0], "report"))
		return cli_run_verb(cli, &command_report, report, argc - 1, argv + 1);
	if (strcmp(argv[0], "buildid-list") == 0)
		return cli_run_verb(cli, &command_buildid_list, ids, argc - 1, argv + 1);
	if (strcmp(argv[0], "diff") == 0)
		return cli_run_verb(cli, &command_diff, diff, argc - 1, argv + 1);
	if (strcmp(argv[0], "top") == 0)
		return cli_run_verb(cli, &command_top, top, argc - 1, argv + 1);
	return unknown_subcommand(cli, command, argv[0]);
}

static const char *const kvm_usages[] = {"[<options>] {top|record|report|diff|buildid-list|stat}", NULL};
static const char *const kvm_examples[] = {
	"why the virtual CPUs of a machine leave their guests, and how long that takes",
	"tally kvm stat record -p $(pidof qemu-system-x86_64) sleep 10; tally kvm stat report",
	"the same every two seconds while they run, and each exit that takes a millisecond",
	"tally kvm stat live -d 2 --duration 1000", "which ports and device registers they use",
	"tally kvm stat report --event ioport; tally kvm stat report --event mmio", NULL};

const struct command command_kvm = {
	.name = "kvm",
	.summary = "Tool to trace/measure kvm guest os",
	.usages = kvm_usages,
	.options = &kvm_table,
	.description =
		"'stat record' records why virtual CPUs leave their guests, and 'stat report' adds up the reasons "
		"(--event "
		"vmexit), the accesses to devices in memory (mmio) and to ports (ioport), each with the time that the "
		"hypervisor took. -p and --vcpu choose processes and virtual CPUs; --json prints JSON.\n\n"
		"'stat live' shows such a table of each second (-d) while guests run. Ctrl-C, the key q, or the end of "
		"the processes of -p ends it.\n\n"
		"'record', 'report', 'top', 'diff' and 'buildid-list' are the verbs of these names, with the file "
		"perf.data.guest (with --host perf.data.kvm, with --host --no-guest perf.data.host), and 'record' "
		"takes "
		"cycles of the guest alone unless --host is given. 'stat' with other words is the verb stat.",
	.examples = kvm_examples,
	.run = cmd_kvm_run,
};
