/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - finds the verb and runs it. Called as perf it is perf: the name in messages follows argv[0].
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limit_note.h"
#include "base/own_home.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/commit.h"
#include "cli/config_files.h"
#include "cli/cut_files.h"
#include "cli/help.h"
#include "cli/unknown_command.h"
#include "tally_config.h"

static const char *program_name(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	const char *name = slash ? slash + 1 : argv0;
	return strcmp(name, "perf") == 0 ? "perf" : "tally";
}

static int print_help(const struct cli *cli)
{
	struct text t = {0};
	help_program(&t, cli->program);
	return cli_finish_text(cli, &t);
}

static int list_commands(void)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	for (size_t i = 0; i < count; i++)
		printf("%s ", commands[i]->name);
	putchar('\n');
	return 0;
}

static int main_run(struct cli *cli, int argc, char **argv)
{
	const struct command *command = command_find(argv[0]);
	if (!command)
		return unknown_command(cli, argv[0]);
	int code = command->run(cli, command, argc, argv);
	cli_end_pager();
	if (cut_files_were_met())
		cli_sayf("%s: warning: a file was truncated while it was read: the output may lack what it "
			 "held\n",
			cli->program);
	const char *beyond = limit_noted();
	if (beyond)
		cli_sayf("%s: warning: %s\n", cli->program, beyond);
	if (fflush(stdout) != 0 && code == 0)
		code = cli_failf(cli, "cannot write to standard output: %s", strerror(errno));
	if (error_memory_ran_out() && code == 0)
		code = cli_failf(cli, "out of memory: the output may be incomplete");
	return code;
}

static const char *const known_options[] = {
	"--help", "--version", "--paginate", "--no-pager", "--buildid-dir", "--list-cmds", "--list-opts"};
static const char *const unsupported_options[] = {"--exec-path", "--html-path", "--debugfs-dir", "--debug"};

#define COUNT(array) (ARRAY_LEN(array))

static bool main_is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int main_list_options(void)
{
	for (size_t i = 0; i < COUNT(known_options); i++)
		printf("%s ", known_options[i]);
	putchar('\n');
	return 0;
}

static int wrong_option(const struct cli *cli, const char *word)
{
	for (size_t i = 0; i < COUNT(unsupported_options); i++) {
		size_t len = strlen(unsupported_options[i]);
		if (strncmp(word, unsupported_options[i], len) == 0 && (word[len] == '\0' || word[len] == '=')) {
			cli_sayf("%s: option %s is not supported yet\n", cli->program, unsupported_options[i]);
			return EXIT_USAGE;
		}
	}
	cli_sayf("Unknown option: %s\n", word);
	size_t nearest = text_nearest(known_options, COUNT(known_options), word);
	if (nearest != SIZE_MAX)
		cli_sayf("  Did you mean %s?\n", known_options[nearest]);
	cli_sayf("\n Usage: %s [--version] [--help] [OPTIONS] COMMAND [ARGS]\n", cli->program);
	return EXIT_USAGE;
}

/* Handles an option before the verb. */
static int main_use_option(struct cli *cli, const char *word)
{
	if (main_is_one_of(word, "--help", "-h"))
		return print_help(cli);
	if (main_is_one_of(word, "--version", "-v"))
		return main_run(cli, 1, (char *[]){(char *)"version", NULL});
	if (strcmp(word, "-vv") == 0)
		return main_run(cli, 2, (char *[]){(char *)"version", (char *)"--build-options", NULL});
	if (strcmp(word, "--list-cmds") == 0)
		return list_commands();
	if (strcmp(word, "--list-opts") == 0)
		return main_list_options();
	if (main_is_one_of(word, "--paginate", "-p")) {
		cli->use_pager = isatty(STDOUT_FILENO) == 1;
		return CLI_GO_ON;
	}
	if (strcmp(word, "--no-pager") == 0) {
		cli->use_pager = false;
		return CLI_GO_ON;
	}
	return wrong_option(cli, word);
}

static int take_build_id_dir(struct cli *cli, const char *dir)
{
	if (!dir) {
		cli_sayf("No directory given for --buildid-dir.\n\n Usage: %s [--version] [--help] [OPTIONS] COMMAND "
			 "[ARGS]\n",
			cli->program);
		return EXIT_USAGE;
	}
	cli->build_id_dir = dir;
	cli->is_build_id_dir_asked = true;
	return CLI_GO_ON;
}

/* Stores the value of the last buildid.dir. Errors in the configuration are reported by the verbs that read more of
 * it. */
static enum tally_status note_build_id_dir(void *data, const struct config_text *config, struct tally_error *err)
{
	char **dir = data;
	char home[PATH_MAX];
	struct tally_str value = config_text_value(config);
	if (strcmp(config->name, "buildid.dir") != 0 || value.len == 0)
		return TALLY_OK;
	bool is_below_home = str_starts_with(value, STR("~/")) && own_home(home);
	free(*dir);
	if (asprintf(dir, "%s%.*s", is_below_home ? home : "", (int)value.len - is_below_home,
		    value.data + is_below_home) >= 0)
		return TALLY_OK;
	*dir = NULL;
	return error_nomem(err);
}

/* The caller frees *dir. */
static int read_build_id_dir(struct cli *cli, char **dir)
{
	struct diag unsaid;
	struct tally_error err;
	diag_init(&unsaid);
	enum tally_status status = config_files_read(note_build_id_dir, dir, &unsaid, &err);
	diag_deinit(&unsaid);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	if (!cli->is_build_id_dir_asked)
		cli->build_id_dir = *dir;
	return CLI_GO_ON;
}

#define CPUS_PER_ARENA 4

/* Tables grow by doubling, and the memory that they free is soon reused, so it is not returned to the kernel, which
 * would have to clear its pages again. A few workers share an arena, because by default each would have its own,
 * with more pages to be cleared. */
static void keep_freed_memory(void)
{
#ifdef M_ARENA_MAX /* Only glibc has arenas. */
	mallopt(M_ARENA_MAX, 1 + (int)thread_pool_workers(SIZE_MAX, 0) / CPUS_PER_ARENA);
	mallopt(M_MMAP_THRESHOLD, 1 << 26);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 16 << 20);
#endif
}

#if !HAVE_DLOPEN && defined(__GLIBC__)
#include <nss.h>
/* Users are looked up in /etc/passwd only. For other sources, a static glibc would load libraries of whatever
 * version is installed. */
static void load_no_name_services(void)
{
	__nss_configure_lookup("passwd", "files");
}
#else
static void load_no_name_services(void)
{
}
#endif

static void ignore_size_limit(int number)
{
	(void)number;
}

/* At the file size limit (ulimit -f), the write fails and the error is reported. The signal is handled rather than
 * ignored, because a started command would inherit that it is ignored, while exec resets handlers. */
static void survive_size_limit(void)
{
	struct sigaction action = {.sa_handler = ignore_size_limit, .sa_flags = SA_RESTART}, before;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		(void)sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	keep_freed_memory();
	load_no_name_services();
	const char *program = program_name(argc > 0 ? argv[0] : "");
	/* Scripts that call perf read standard error too, and regard a line that perf does not print as an error. */
	bool is_quiet = strcmp(program, "perf") == 0 && isatty(STDERR_FILENO) != 1;
	struct cli cli = {
		.program = program, .commit = COMMIT, .is_quiet = &is_quiet, .use_pager = isatty(STDOUT_FILENO) == 1};
	/* It is not an error if the reader closes the pipe early, so SIGPIPE terminates the program. */
	signal(SIGPIPE, SIG_DFL);
	survive_size_limit();
	install_sigbus_handler();
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		int code = strcmp(argv[i], "--buildid-dir") == 0 ? take_build_id_dir(&cli, argv[++i])
								 : main_use_option(&cli, argv[i]);
		if (code != CLI_GO_ON)
			return code;
	}
	if (i >= argc) {
		int code = print_help(&cli);
		return code ? code : 1; /* As in perf, a missing verb is an error, and help is printed. */
	}
	char *build_id_dir = NULL;
	int code = read_build_id_dir(&cli, &build_id_dir);
	if (code == CLI_GO_ON)
		code = main_run(&cli, argc - i, argv + i);
	free(build_id_dir);
	return code;
}
