/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "verbs/kvm/kvm_stat.h"

#define EXIT_BAD_VALUE 234 /* perf's: an unknown event or key */

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
static const struct option options[] = {
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
static const struct option_table table = {options, ARRAY_LEN(options), true};

/* ---- stat report ---- */

struct cmd_kvm_report {
	struct kvm_stat_settings stat;
	const char *event, *key;
	bool stdio;
};

#define ROW(member) .offset = offsetof(struct cmd_kvm_report, member)
static const struct option report_options[] = {
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
		.help = "key for sorting: sample(sort by samples number) time (sort by total time)"},
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
	{.name = "force", .letter = 'f', .kind = OPTION_FLAG, ROW(stat.input.force), .help = "don't complain, do it"},
	{.name = "stdio", .kind = OPTION_FLAG, ROW(stdio), .help = "use the stdio interface, which is the only one"},
	{.name = "json",
		.kind = OPTION_FLAG,
		ROW(stat.is_json),
		.help = "Print JSON with stable fields (\"schema\": 1), see docs/schema/kvm.json"},
};
#undef ROW
static const struct option_table report_table = {report_options, ARRAY_LEN(report_options), false};
static const char *const report_usages[] = {"[<options>]", NULL};
static const struct command command_report_stat = {
	.name = "kvm stat report", .usages = report_usages, .options = &report_table, .summary = "", .description = ""};

static int cmd_kvm_stat_report(const struct cli *cli, const char *input, int argc, char **argv)
{
	static const char *const kinds[] = {"vmexit", "mmio", "ioport"};
	struct cmd_kvm_report report = {.stat = {.vcpu = UINT64_MAX}, .event = "vmexit", .key = "sample"};
	int rest;
	size_t kind = 0;
	report.stat.input.path = input;
	int code = cli_parse_options(cli, &command_report_stat, argc, argv, &report, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, &command_report_stat, NULL, "unexpected argument '%s'", argv[rest]);
	while (kind < ARRAY_LEN(kinds) && strcmp(kinds[kind], report.event) != 0)
		kind++;
	if (kind == ARRAY_LEN(kinds))
		return cli_failf(cli, "Unknown report event: %s (vmexit, mmio or ioport)", report.event),
		       EXIT_BAD_VALUE;
	report.stat.kind = (enum kvm_kind)kind;
	report.stat.by_time = strcmp(report.key, "time") == 0;
	if (!report.stat.by_time && strcmp(report.key, "sample") != 0)
		return cli_failf(cli, "Unsupported sort key: %s", report.key), EXIT_BAD_VALUE;
	return kvm_stat_report(cli, &report.stat);
}

/* ---- the others ---- */

/* Behind the words that a verb gets; NULL ends them. */
static const char *cmd_kvm_verbose(const struct cmd_kvm_settings *settings)
{
	return settings->verbose ? "-v" : NULL;
}

/* perf's names of recordings: of a guest, of a host, of both. */
static const char *cmd_kvm_default_name(const struct cmd_kvm_settings *settings)
{
	if (!settings->host)
		return "perf.data.guest";
	return settings->no_guest ? "perf.data.host" : "perf.data.kvm";
}

static int cmd_kvm_stat(const struct cli *cli, const struct cmd_kvm_settings *settings, int argc, char **argv)
{
	const char *output = settings->output ? settings->output : cmd_kvm_default_name(settings);
	const char *const record[] = {"record", "-o", output, "-m", "1024", "-c", "1", "-R", "-e",
		"kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_mmio,kvm:kvm_pio", cmd_kvm_verbose(settings), NULL};
	const char *const plain[] = {"stat", cmd_kvm_verbose(settings), NULL};
	const char *word = argc > 1 ? argv[1] : "";
	if (strncmp(word, "rec", 3) == 0 && cli_is_subverb(word, "record"))
		return cli_run_verb(cli, &command_record, record, argc - 2, argv + 2);
	if (cli_is_subverb(word, "report"))
		return cmd_kvm_stat_report(
			cli, settings->input ? settings->input : cmd_kvm_default_name(settings), argc - 1, argv + 1);
	if (strcmp(word, "live") == 0)
		return cli_failf(cli,
			       "kvm stat live is not supported yet: use 'kvm stat record', then 'kvm stat report'"),
		       EXIT_USAGE;
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

static const char *const usages[] = {"[<options>] {top|record|report|diff|buildid-list|stat}", NULL};
static const char *const examples[] = {"why the virtual CPUs of a machine leave their guests, and how long that takes",
	"tally kvm stat record -p $(pidof qemu-system-x86_64) sleep 10; tally kvm stat report",
	"which ports and device registers they use",
	"tally kvm stat report --event ioport; tally kvm stat report --event mmio", NULL};

const struct command command_kvm = {
	.name = "kvm",
	.summary = "Tool to trace/measure kvm guest os",
	.usages = usages,
	.options = &table,
	.description =
		"'stat record' records why virtual CPUs leave their guests, and 'stat report' adds up the reasons "
		"(--event "
		"vmexit), the accesses to devices in memory (mmio) and to ports (ioport), each with the time that the "
		"hypervisor took. -p and --vcpu choose processes and virtual CPUs; --json prints JSON.\n\n"
		"'record', 'report', 'top', 'diff' and 'buildid-list' are the verbs of these names, with the file "
		"perf.data.guest (with --host perf.data.kvm, with --host --no-guest perf.data.host), and 'record' "
		"takes "
		"cycles of the guest alone unless --host is given. 'stat' with other words is the verb stat.",
	.examples = examples,
	.run = cmd_kvm_run,
};
