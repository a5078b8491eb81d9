/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "kernel/system/spawn.h"
#include "verbs/iostat/iostat_counts.h"

#define LIMIT_CSV  (16u << 20)
#define STAT_WORDS 10

struct cmd_iostat_settings {
	bool json;
};

static const struct option iostat_options[] = {
	{.name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_iostat_settings, json),
		.help = "Print JSON with stable fields (\"schema\": 1), see docs/schema/iostat.json"},
};
static const struct option_table iostat_table = {iostat_options, ARRAY_LEN(iostat_options), true};
static const char *const iostat_usages[] = {"list", "[<ports>] -- <command> [<options>]", NULL};
static const char *const iostat_examples[] = {"the root ports of this machine", "tally iostat list",
	"what devices below two of them transfer while a command runs",
	"tally iostat 0000:17,0:3a -- dd if=/dev/nvme0n1 of=/dev/null bs=1M", NULL};

static int cmd_iostat_list(const struct cli *cli, const struct iio_ports *ports, bool is_json)
{
	struct text t = {0};
	if (is_json)
		iostat_json(ports, NULL, &t);
	for (size_t i = 0; i < ports->ports.len && !is_json; i++) {
		const struct iio_port *port = &ports->ports.items[i];
		text_printf(&t, "S%u-uncore_iio_%u<%04x:%02x>\n", port->die, port->pmu, port->segment, port->bus);
	}
	return cli_finish_text(cli, &t);
}

/* Runs stat, which prints to log. Returns its exit status, which is that of the command. */
static int cmd_iostat_run_stat(const struct cli *cli, const char *events, int log, char **command, int count)
{
	char number[16];
	int status = 0, words = 0;
	char **argv = calloc((size_t)count + STAT_WORDS + 2, sizeof(*argv));
	const char *const ours[STAT_WORDS] = {
		cli->program, "stat", "-x,", "--per-die", "-a", "--log-fd", number, "-e", events, "--"};
	if (!argv)
		return cli_failf(cli, "out of memory");
	snprintf(number, sizeof(number), "%d", log);
	for (; words < STAT_WORDS; words++)
		argv[words] = (char *)ours[words];
	memcpy(argv + words, command, (size_t)count * sizeof(*argv));
	fflush(NULL);
	/* Ctrl-C ends only the command, after which the table is printed. */
	void (*before)(int) = signal(SIGINT, SIG_IGN);
	pid_t pid = fork();
	if (pid == 0) {
		(void)signal(SIGINT, before);
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* On SIGTERM, stat ends the command. */
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	if (pid > 0)
		(void)wait_for_process(pid, &status, 0);
	free(argv);
	if (pid < 0)
		return cli_failf(cli, "cannot start stat: %s", strerror(errno));
	return spawn_exit_code(status);
}

static int cmd_iostat_show(
	const struct cli *cli, const struct iio_ports *ports, struct tally_str csv, bool is_json, uint64_t ns)
{
	struct text t = {0};
	struct iostat_count *counts = calloc(ports->ports.len, sizeof(*counts));
	if (!counts || !iostat_counts_read(csv, ports, counts)) {
		free(counts);
		return cli_failf(cli, "out of memory");
	}
	if (is_json) {
		iostat_json(ports, counts, &t);
	} else {
		iostat_print(ports, counts, &t);
		text_printf(&t, "\n%18.9f seconds time elapsed\n\n", (double)ns / 1e9);
		text_to_fd(&t, STDERR_FILENO);
	}
	free(counts);
	return cli_finish_text(cli, &t);
}

static int cmd_iostat_measure(
	const struct cli *cli, const struct iio_ports *ports, bool is_json, char **command, int count)
{
	struct text events = {0};
	struct tally_error err;
	char *csv = NULL;
	size_t len = 0;
	int log = memfd_create("iostat", 0);
	iostat_events(ports, &events);
	text_char(&events, 0);
	if (log < 0 || events.failed) {
		text_deinit(&events);
		return cli_failf(cli, "iostat has no memory for stat's output: %s", strerror(errno));
	}
	uint64_t start = clock_ns();
	int code = cmd_iostat_run_stat(cli, events.data, log, command, count);
	uint64_t ns = clock_ns() - start;
	text_deinit(&events);
	enum tally_status status = lseek(log, 0, SEEK_SET) == 0
					   ? file_read_fd(log, LIMIT_CSV, &csv, &len, &err)
					   : error_set_errno(&err, TALLY_IO, errno, "cannot read what stat printed");
	close(log);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	/* If there are no counts, stat has printed the reason. */
	int shown = len ? cmd_iostat_show(cli, ports, (struct tally_str){csv, len}, is_json, ns) : 0;
	free(csv);
	return code ? code : shown;
}

static int cmd_iostat_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_iostat_settings settings = {0};
	struct iio_ports ports;
	struct tally_error err;
	const char *chosen = NULL;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	bool lists = rest < argc && strcmp(argv[rest], "list") == 0;
	/* "--" precedes the command. It ends the options, or follows the ports. */
	bool has_ports = rest < argc && strcmp(argv[rest - 1], "--") != 0;
	if (has_ports && !lists)
		chosen = argv[rest++];
	if (rest < argc && strcmp(argv[rest], "--") == 0)
		rest++;
	if (lists && rest + 1 < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest + 1]);
	if (rest >= argc)
		return cli_usagef(cli, command, NULL, "which command?");
	enum tally_status status = iio_ports_read(kernel_seam_linux(), &ports, &err);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	if (chosen)
		status = iio_ports_keep(&ports, chosen, &err);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	else
		code = lists ? cmd_iostat_list(cli, &ports, settings.json)
			     : cmd_iostat_measure(cli, &ports, settings.json, argv + rest, argc - rest);
	iio_ports_deinit(&ports);
	return code;
}

const struct command command_iostat = {
	.name = "iostat",
	.summary = "Show I/O performance metrics",
	.usages = iostat_usages,
	.options = &iostat_table,
	.description =
		"Counts what the devices below each PCIe root port read from memory and write to it (inbound), and "
		"what "
		"CPUs read from them and write to them (outbound), in MB, while a command runs. 'list' shows the root "
		"ports; a list of them before the command chooses some.\n\n"
		"Intel's servers (Xeon Scalable and later) count that in their uncore, which the host alone can use.",
	.examples = iostat_examples,
	.run = cmd_iostat_run,
};
