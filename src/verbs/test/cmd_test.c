/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/word_list.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "verbs/test/test_report.h"
#include "verbs/test/test_workloads.h"

#define STATUS_FAILED 1

struct cmd_test_settings {
	unsigned verbose;
	bool no_fork, sequential, lists_workloads;
	uint64_t runs, snippet_lines;
	const char *skipped, *workload, *record_ctl;
	const char *junit; /* The file of the JUnit report; NULL if none was requested. */
};

static const char *set_junit(const struct option_use *use)
{
	struct cmd_test_settings *settings = use->settings;
	settings->junit = use->is_negated ? NULL : use->value ? use->value : "test.xml";
	return NULL;
}

#define ROW(field) .offset = offsetof(struct cmd_test_settings, field)
static const struct option test_options[] = {
	{.name = "skip",
		.letter = 's',
		.kind = OPTION_STRING,
		.argument = "tests",
		ROW(skipped),
		.help = "tests to skip"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		ROW(verbose),
		.help = "Show what the tests that fail or are skipped did; twice: all of them"},
	{.name = "dont-fork", .letter = 'F', .kind = OPTION_FLAG, ROW(no_fork), .help = "Do not fork for testcase"},
	{.name = "sequential",
		.letter = 'S',
		.kind = OPTION_FLAG,
		ROW(sequential),
		.help = "Run the tests one after another, as is always done: they measure"},
	{.name = "junit",
		.letter = 'j',
		.kind = OPTION_CALL,
		.argument = "file",
		.argument_is_optional = true,
		.call = set_junit,
		.help = "Generate junit XML output, default test.xml"},
	{.name = "runs-per-test",
		.letter = 'r',
		.kind = OPTION_U64,
		.argument = "n",
		ROW(runs),
		.help = "Run each test the given number of times, default 1"},
	{.name = "failure-snippet-lines",
		.kind = OPTION_U64,
		.argument = "n",
		ROW(snippet_lines),
		.help = "Number of lines to include in failure snippet, default 10"},
	{.name = "workload",
		.letter = 'w',
		.kind = OPTION_STRING,
		.argument = "work",
		ROW(workload),
		.help = "workload to run for testing, use '--list-workloads' to list the available ones."},
	{.name = "list-workloads",
		.kind = OPTION_FLAG,
		ROW(lists_workloads),
		.help = "List the available builtin workloads to use with -w/--workload"},
	{.name = "record-ctl",
		.kind = OPTION_STRING,
		.argument = "fifo:ctl-fifo[,ack-fifo]",
		ROW(record_ctl),
		.help = "Write enable to the fifo just before running the workload and disable after, with optional "
			"ack from ack-fifo"},
	{.name = "dso",
		.kind = OPTION_UNSUPPORTED,
		.argument = "dso",
		.help = "dso to test",
		.refusal = "it belongs to a test of perf's own code"},
	{.name = "objdump",
		.kind = OPTION_UNSUPPORTED,
		.argument = "path",
		.help = "objdump binary to use for disassembly and annotations",
		.refusal = "it belongs to a test of perf's own code"},
};
#undef ROW
static const struct option_table test_table = {test_options, ARRAY_LEN(test_options), true};
static const char *const test_usages[] = {
	"[<options>] [{list <test-name-fragment>|[<test-name-fragments>|<test-numbers>]}]", NULL};
static const char *const test_examples[] = {"check what works on this machine, for a bug report", "tally test -v",
	"only what has to do with call graphs", "tally test 'call graph'",
	"a program of a known behaviour, to try something with", "tally test -w leafloop 2", NULL};

/* ---- workloads ---- */

/* Sends a command to the recorder that reads the FIFO, and waits for its acknowledgement. */
static bool cmd_test_control(const char *spec, const char *command)
{
	char path[4096], answer[16];
	const char *comma = strchr(spec, ',');
	size_t len = comma ? (size_t)(comma - spec) : strlen(spec);
	snprintf(path, sizeof(path), "%.*s", (int)MIN(len, sizeof(path) - 1), spec);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_sent = fd >= 0 && write(fd, command, strlen(command)) == (ssize_t)strlen(command);
	if (fd >= 0)
		close(fd);
	if (!is_sent || !comma)
		return is_sent;
	fd = open(comma + 1, O_RDONLY | O_CLOEXEC);
	bool is_answered = fd >= 0 && read(fd, answer, sizeof(answer)) >= 3 && memcmp(answer, "ack", 3) == 0;
	if (fd >= 0)
		close(fd);
	return is_answered;
}

static int cmd_test_workload(const struct cli *cli, const struct cmd_test_settings *settings, int argc, char **argv)
{
	char name[16];
	const struct workload *workload = workload_find(settings->workload);
	const char *control = settings->record_ctl;
	if (!workload)
		return cli_failf(cli, "No workload found: %s", settings->workload), STATUS_FAILED;
	if (control && strncmp(control, "fifo:", 5) != 0)
		return cli_failf(cli, "--record-ctl takes fifo:FILE[,FILE]");
	/* Workloads have the process names of perf's, which scripts search for. */
	snprintf(name, sizeof(name), "perf-%s", workload->name);
	(void)prctl(PR_SET_NAME, name);
	if (control && !cmd_test_control(control + 5, "enable\n"))
		return cli_failf(cli, "--record-ctl %s: the recorder did not answer: %s", control, strerror(errno));
	int code = workload->run(argc, argv);
	if (control && !cmd_test_control(control + 5, "disable\n"))
		return cli_failf(cli, "--record-ctl %s: the recorder did not answer: %s", control, strerror(errno));
	return code;
}

static int cmd_test_list_workloads(void)
{
	size_t count;
	const struct workload *workloads = workloads_all(&count);
	for (size_t i = 0; i < count; i++)
		puts(workloads[i].name);
	return 0;
}

/* ---- checks ---- */

static bool cmd_test_is_named(const char *name, size_t number, const char *word)
{
	char digits[24];
	snprintf(digits, sizeof(digits), "%zu", number);
	if (strspn(word, "0123456789") == strlen(word))
		return strcmp(digits, word) == 0;
	return strcasestr(name, word) != NULL;
}

static bool cmd_test_is_wanted(const char *name, size_t number, int argc, char **argv)
{
	bool is_wanted = argc == 0;
	for (int i = 0; i < argc; i++)
		is_wanted |= cmd_test_is_named(name, number, argv[i]);
	return is_wanted;
}

static bool cmd_test_is_skipped(const struct cmd_test_settings *settings, const char *name, size_t number)
{
	struct tally_str rest = str_from(settings->skipped), word;
	char copy[256];
	while (settings->skipped && str_next_item(&rest, &word)) {
		snprintf(copy, sizeof(copy), "%.*s", (int)MIN(word.len, sizeof(copy) - 1), word.data);
		if (word.len && cmd_test_is_named(name, number, copy))
			return true;
	}
	return false;
}

static int cmd_test_list(int argc, char **argv)
{
	size_t count;
	const struct test_check *checks = test_checks_all(&count);
	for (size_t i = 0; i < count; i++)
		if (cmd_test_is_wanted(checks[i].name, i + 1, argc, argv))
			printf("%3zu: %s\n", i + 1, checks[i].name);
	return 0;
}

/* Prints the words that match no check. Returns false if there are any. */
static bool cmd_test_check_words(const struct cli *cli, int argc, char **argv)
{
	size_t count;
	const struct test_check *checks = test_checks_all(&count);
	bool are_known = true;
	for (int i = 0; i < argc; i++) {
		bool is_known = false;
		for (size_t j = 0; j < count; j++)
			is_known |= cmd_test_is_named(checks[j].name, j + 1, argv[i]);
		if (!is_known)
			cli_failf(cli, "no test has the number or name '%s' ('%s test list' shows them)", argv[i],
				cli->program);
		are_known &= is_known;
	}
	return are_known;
}

/* Number of the signal that requested the end, or 0. The folder with the recordings is removed before exit. */
static volatile sig_atomic_t cmd_test_signal;

static void cmd_test_take_signal(int number)
{
	cmd_test_signal = number;
}

static void cmd_test_take_signals(void)
{
	static const int numbers[] = {TEST_SIGNALS};
	struct sigaction action = {.sa_handler = cmd_test_take_signal, .sa_flags = SA_RESTART};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		(void)sigaction(numbers[i], &action, NULL);
}

static int cmd_test_checks(const struct cli *cli, const struct cmd_test_settings *settings, int argc, char **argv)
{
	struct test_report report = {.cli = cli,
		.verbose = settings->verbose,
		.in_process = settings->no_fork,
		.snippet_lines = settings->snippet_lines};
	size_t count;
	const struct test_check *checks = test_checks_all(&count);
	struct tally_error err;
	bool are_known = cmd_test_check_words(cli, argc, argv);
	if (test_report_begin(&report, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	cmd_test_take_signals();
	for (size_t i = 0; i < count && !cmd_test_signal; i++) {
		if (!cmd_test_is_wanted(checks[i].name, i + 1, argc, argv))
			continue;
		if (cmd_test_is_skipped(settings, checks[i].name, i + 1))
			test_report_pass_over(&report, &checks[i], i + 1);
		else
			for (uint64_t run = 0; run < settings->runs && !cmd_test_signal; run++)
				test_report_run(&report, &checks[i], i + 1);
	}
	enum tally_status status = test_report_end(&report, settings->junit, &err);
	if (cmd_test_signal) {
		fflush(stdout);
		(void)signal(cmd_test_signal, SIG_DFL);
		(void)raise(cmd_test_signal);
	}
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	return report.counts[TEST_FAILED] || !are_known ? STATUS_FAILED : 0;
}

static int cmd_test_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_test_settings settings = {.runs = 1, .snippet_lines = 10};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	argc -= rest;
	argv += rest;
	if (settings.lists_workloads)
		return cmd_test_list_workloads();
	if (settings.workload)
		return cmd_test_workload(cli, &settings, argc, argv);
	if (settings.record_ctl)
		return cli_usagef(cli, command, "record-ctl,workload", "--record-ctl goes with --workload");
	if (argc > 0 && strcmp(argv[0], "list") == 0)
		return cmd_test_list(argc - 1, argv + 1);
	if (settings.runs == 0 || settings.runs > 1000000)
		return cli_usagef(cli, command, "runs-per-test", "each test runs once at least");
	return cmd_test_checks(cli, &settings, argc, argv);
}

const struct command command_test = {
	.name = "test",
	.summary = "Checks of this machine, and programs to test with",
	.usages = test_usages,
	.options = &test_table,
	.description =
		"Checks within a minute what works on this machine: each kind of event is opened and counted, programs "
		"of a known behaviour are recorded, and what the reports say is compared with what is known of them. "
		"What the machine lacks is skipped, with the reason; -v shows what was done. For a bug report, please "
		"send the output of 'tally test -vv'.\n\n"
		"Words choose tests by their numbers or by parts of their names; 'list' lists them. -w runs a program "
		"with perf's name for it (--list-workloads): noploop, thloop, leafloop, brstack ...\n\n"
		"Exit status: 0 if no test failed, 1 if one did, or if a word names no test.",
	.examples = test_examples,
	.run = cmd_test_run,
};
