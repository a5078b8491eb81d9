/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/unknown_command.h"
#include "verbs/daemon/daemon_server.h"
#include "verbs/daemon/daemon_socket.h"

struct cmd_daemon_settings {
	unsigned verbose;
	const char *separator; /* NULL if no separator is given. */
	const char *base, *config, *session;
	bool stays;
	bool json;
};

static const char *daemon_set_separator(const struct option_use *use)
{
	struct cmd_daemon_settings *settings = use->settings;
	const char *value = use->value ? use->value : ",";
	if (use->is_negated) {
		settings->separator = NULL;
		return NULL;
	}
	if (!value[0] || value[1] || value[0] == '\n')
		return "expects one character";
	settings->separator = value;
	return NULL;
}

static const struct option daemon_options[] = {
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct cmd_daemon_settings, verbose),
		.help = "List the files of each session, too"},
	{.name = "field-separator",
		.letter = 'x',
		.kind = OPTION_CALL,
		.argument = "field separator",
		.argument_is_optional = true,
		.call = daemon_set_separator,
		.help = "List with this character between the columns (a comma)"},
	{.name = "base",
		.kind = OPTION_STRING,
		.argument = "directory",
		.offset = offsetof(struct cmd_daemon_settings, base),
		.help = "Folder of the daemon's files, instead of daemon.base"},
	{.name = "config",
		.kind = OPTION_STRING,
		.argument = "config file",
		.offset = offsetof(struct cmd_daemon_settings, config),
		.help = "Configuration file, instead of /etc/perfconfig and ~/.perfconfig"},
	{.name = "session",
		.kind = OPTION_STRING,
		.argument = "session",
		.offset = offsetof(struct cmd_daemon_settings, session),
		.help = "Of signal and ping: this session only"},
	{.name = "foreground",
		.letter = 'f',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_daemon_settings, stays),
		.help = "Of start: stay in the foreground"},
	{.name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_daemon_settings, json),
		.help = "List as JSON with stable fields (\"schema\": 1)"},
};
static const struct option_table daemon_table = {daemon_options, ARRAY_LEN(daemon_options), false};
static const char *const daemon_usages[] = {"{start|signal|stop|ping} [<options>]", "[<options>]", NULL};
static const char *const daemon_examples[] = {"start the recorders of ~/.perfconfig, and see them",
	"tally daemon start; tally daemon", "let one begin a new file", "tally daemon signal --session cycles",
	"end them", "tally daemon stop", NULL};

static int cmd_daemon_fail(const struct cli *cli, const struct tally_error *err)
{
	return cli_failf(cli, "failed: %s", err->text);
}

/* Runs in the child. Detaches it from the terminal, and redirects its output to the file "output". */
static bool cmd_daemon_detach(const char *base)
{
	int null = open("/dev/null", O_RDONLY);
	if (setsid() < 0 || chdir(base) != 0 || null < 0)
		return false;
	int output = open("output", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
	bool is_done = output >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
		       dup2(output, STDERR_FILENO) >= 0;
	close(null);
	if (output >= 0)
		close(output);
	return is_done;
}

static int cmd_daemon_serve(const struct cli *cli, struct daemon_server *server, bool stays)
{
	struct tally_error err;
	pid_t pid = stays ? 0 : fork();
	if (pid < 0)
		return cli_failf(cli, "failed: cannot start the daemon: %s", strerror(errno));
	if (pid > 0)
		return 0;
	if (!stays && !cmd_daemon_detach(server->base))
		return cli_failf(cli, "failed: cannot leave the terminal for %s: %s", server->base, strerror(errno));
	enum tally_status status = daemon_server_run(server, &err);
	return status == TALLY_OK ? 0 : cmd_daemon_fail(cli, &err);
}

/* Makes PERF_CONFIG absolute, because the daemon and its recorders run in other directories. */
static void cmd_daemon_keep_config(void)
{
	const char *typed = getenv("PERF_CONFIG");
	char *path = typed ? realpath(typed, NULL) : NULL;
	if (path)
		(void)setenv("PERF_CONFIG", path, 1);
	free(path);
}

static int cmd_daemon_start(const struct cli *cli, const struct cmd_daemon_settings *settings)
{
	struct daemon_server server = {.program = cli->program};
	struct tally_error err;
	char *config = NULL;
	cmd_daemon_keep_config();
	if (settings->config && !(config = realpath(settings->config, NULL)))
		return cli_failf(cli, "failed: the configuration file '%s' cannot be read: %s", settings->config,
			strerror(errno));
	server.config = config;
	int code = daemon_server_open(&server, settings->base, &err) == TALLY_OK
			   ? cmd_daemon_serve(cli, &server, settings->stays)
			   : cmd_daemon_fail(cli, &err);
	daemon_server_close(&server);
	free(config);
	return code;
}

static int cmd_daemon_ask(const struct cli *cli, const struct cmd_daemon_settings *settings, const char *line)
{
	struct daemon_plan plan = {0};
	struct text answer = {0};
	struct tally_error err;
	enum tally_status status = TALLY_OK;
	if (!settings->base)
		status = daemon_plan_read(settings->config, &plan, &err);
	const char *base = settings->base ? settings->base : plan.base;
	if (status == TALLY_OK && !base)
		status = error_set(&err, TALLY_INVALID,
			"no base folder is known: set daemon.base in the configuration, or use --base or --config");
	if (status == TALLY_OK)
		status = daemon_socket_ask(base, line, &answer, &err);
	daemon_plan_deinit(&plan);
	if (status != TALLY_OK) {
		text_deinit(&answer);
		return cmd_daemon_fail(cli, &err);
	}
	answer.separator = settings->separator ? settings->separator[0] : 0;
	return cli_finish_text(cli, &answer);
}

static int cmd_daemon_list(const struct cli *cli, const struct cmd_daemon_settings *settings)
{
	char line[16] = "list";
	if (settings->json)
		return cmd_daemon_ask(cli, settings, "json");
	if (settings->separator)
		snprintf(line, sizeof(line), "list%c", settings->separator[0]);
	else if (settings->verbose)
		return cmd_daemon_ask(cli, settings, "verbose");
	return cmd_daemon_ask(cli, settings, line);
}

static int cmd_daemon_session(const struct cli *cli, const struct cmd_daemon_settings *settings, const char *request)
{
	char line[DAEMON_LINE_BYTES];
	const char *session = settings->session ? settings->session : "";
	if ((size_t)snprintf(line, sizeof(line), "%s %s", request, session) + 1 >= sizeof(line) ||
		strchr(session, '\n'))
		return cli_failf(cli, "failed: no session can have the name '%s'", session);
	return cmd_daemon_ask(cli, settings, line);
}

static int cmd_daemon_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_daemon_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	const char *word = rest < argc ? argv[rest] : "list";
	bool starts = strcmp(word, "start") == 0, pings = strcmp(word, "ping") == 0,
	     signals = strcmp(word, "signal") == 0;
	if (rest + 1 < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest + 1]);
	if (settings.session && !pings && !signals)
		return cli_usagef(cli, command, "session", "--session is for signal and ping");
	if (settings.stays && !starts)
		return cli_usagef(cli, command, "foreground", "-f is for start");
	if ((settings.json || settings.separator) && rest < argc)
		return cli_usagef(cli, command, "json,field-separator", "--json and -x are for the list of sessions");
	if (settings.json && settings.separator)
		return cli_usagef(cli, command, "json,field-separator", "--json and -x are mutually exclusive.");
	if (rest == argc)
		return cmd_daemon_list(cli, &settings);
	if (starts)
		return cmd_daemon_start(cli, &settings);
	if (pings || signals)
		return cmd_daemon_session(cli, &settings, word);
	if (strcmp(word, "stop") == 0)
		return cmd_daemon_ask(cli, &settings, "stop");
	return cli_failf(cli, "failed: unknown command '%s'", word);
}

const struct command command_daemon = {
	.name = "daemon",
	.summary = "Run record sessions on background",
	.usages = daemon_usages,
	.options = &daemon_table,
	.description =
		"Runs recorders in the background. daemon.base of the configuration (--config, or /etc/perfconfig and "
		"~/.perfconfig) is the folder that has their files, and session-NAME.run is a command line of record "
		"without the word record. Each session runs in the folder session-NAME of the base, with its messages "
		"in the file output. Quotation marks hold words together, as in a shell. For example: "
		"base = /opt/perfdata in the section [daemon], and run = -e cycles --overwrite --switch-output -a in "
		"the section [session-cycles].\n\n"
		"'start' starts the daemon; 'stop' ends it when all recorders have completed their files; 'signal' "
		"lets "
		"recorders with --switch-output begin a new file; 'ping' asks them whether they run. Without a command "
		"the daemon and its sessions are listed; -v shows their files, too.\n\n"
		"The daemon follows changes of the configuration file: new sessions start, changed ones start again, "
		"and those that are gone end. An invalid file changes nothing. A session that ended by itself starts "
		"again at the next change. If the daemon is killed, its recorders complete their files and end.",
	.examples = daemon_examples,
	.run = cmd_daemon_run,
};
