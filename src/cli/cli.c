/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/control.h"
#include "base/error.h"
#include "base/interrupts.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "code/binary_store.h"
#include "kernel/system/program_path.h"

static pid_t pager_pid = -1; /* Global, because a process has a single standard output. -1 if no pager is running. */
static bool pager_has_stderr;

int cli_fail(const struct cli *cli, const struct tally_error *err)
{
	fflush(stdout);
	fprintf(stderr, "%s\n", err->text);
	return EXIT_FAILED;
}

/* Prints a message in which control characters are escaped, because names from recordings must not control the
 * terminal. */
TALLY_PRINTF(1, 0)
static void print_message(const char *format, va_list args)
{
	char *message;
	if (vasprintf(&message, format, args) < 0)
		return;
	size_t len = strlen(message), last = strlen(format), room = CONTROL_WORD * len + 1;
	bool ends_line = last > 0 && len > 0 && format[last - 1] == '\n';
	char *visible = realloc(message, room), *own = strndup(format, last - ends_line);
	if (visible && own) {
		/* The final newline belongs to the message; newlines in names are escaped. */
		visible[len - ends_line] = 0;
		control_spell_message(own, visible, room);
	}
	fputs(visible && own ? visible : "out of memory", stderr);
	if (ends_line)
		fputc('\n', stderr);
	free(own);
	free(visible ? visible : message);
}

void cli_sayf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print_message(format, args);
	va_end(args);
}

void cli_say_rows(struct tally_str rows)
{
	struct text text = {0};
	text_visible_rows(&text, rows);
	fwrite(text_view(&text).data, 1, text.len, stderr);
	text_deinit(&text);
}

bool cli_is_quiet(const struct cli *cli)
{
	return cli->is_quiet && *cli->is_quiet;
}

void cli_notef(const struct cli *cli, const char *format, ...)
{
	if (cli_is_quiet(cli))
		return;
	fprintf(stderr, "%s: note: ", cli->program);
	va_list args;
	va_start(args, format);
	print_message(format, args);
	va_end(args);
	fputc('\n', stderr);
}

void cli_say_note(const struct cli *cli, const char *note)
{
	if (cli_is_quiet(cli))
		return;
	struct tally_str rows = str_trim(str_from(note));
	fflush(stdout);
	cli_sayf("%s: note: ", cli->program);
	cli_say_rows(rows);
	fputc('\n', stderr);
}

int cli_failf(const struct cli *cli, const char *format, ...)
{
	fflush(stdout);
	va_list args;
	va_start(args, format);
	print_message(format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

const char *cli_build_id_dir(const struct cli *cli, const char *symfs)
{
	return binary_store_has_root(symfs) && !cli->is_build_id_dir_asked ? NULL : cli->build_id_dir;
}

int cli_check_program(const struct cli *cli, const char *option, const char *program)
{
	char path[PATH_MAX];
	if (!program || program_path_find(program, path))
		return 0;
	return cli_failf(cli, "%s: cannot run %s: %s", option, program, strerror(errno));
}

static const char *level_name(enum diag_level level)
{
	switch (level) {
	case DIAG_NOTE:
		return "note";
	case DIAG_UNNAMED:
	case DIAG_WARNING:
		return "warning";
	case DIAG_ERROR:
		break;
	}
	return "error";
}

void cli_print_diag(const struct cli *cli, const struct diag *diag)
{
	fflush(stdout);
	for (size_t i = 0; i < diag->len; i++) {
		const struct diag_entry *entry = &diag->entries[i];
		if (entry->level < DIAG_WARNING && cli_is_quiet(cli))
			continue;
		if (entry->level == DIAG_ERROR)
			/* This is perf's format, which scripts search for. */
			fprintf(stderr, "Error:\n%s", entry->text);
		else
			fprintf(stderr, "%s: %s: %s", cli->program, level_name(entry->level), entry->text);
		if (entry->count > 1)
			fprintf(stderr, " (%llu times)", (unsigned long long)entry->count);
		fputc('\n', stderr);
	}
	if (diag->dropped > 0)
		fprintf(stderr, "%s: %llu more messages\n", cli->program, (unsigned long long)diag->dropped);
}

static void write_stderr(struct text *t)
{
	fflush(stdout);
	text_to_fd(t, STDERR_FILENO);
	text_flush(t);
	text_deinit(t);
}

int cli_finish_text(const struct cli *cli, struct text *t)
{
	struct tally_error err;
	enum tally_status status = TALLY_OK;
	if (!t->has_fd)
		text_to_fd(t, STDOUT_FILENO);
	fflush(stdout);
	bool out_of_memory = t->failed;
	if (!text_flush(t) && t->write_errno != EPIPE)
		status = error_set_errno(&err, TALLY_IO, t->write_errno, "cannot write to %s",
			t->fd == STDOUT_FILENO	 ? "standard output"
			: t->fd == STDERR_FILENO ? "standard error"
						 : "the output file");
	if (out_of_memory)
		status = error_nomem(&err);
	text_deinit(t);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

int cli_usagef(const struct cli *cli, const struct command *command, const char *names, const char *format, ...)
{
	fflush(stdout);
	va_list args;
	va_start(args, format);
	print_message(format, args);
	va_end(args);
	if (cli->is_inner) {
		fputc('\n', stderr);
		return EXIT_USAGE;
	}
	struct text t = {0};
	text_str(&t, "\n\n");
	help_usage_lines(&t, cli->program, command);
	if (names) {
		struct tally_str rest = str_from(names);
		struct tally_str name;
		while (str_next(&rest, ',', &name)) {
			bool is_negated;
			const struct option *option = options_find(command->options, name.data, name.len, &is_negated);
			if (option)
				help_option(&t, option);
		}
	} else {
		help_hint(&t, cli->program, command);
	}
	write_stderr(&t);
	return EXIT_USAGE;
}

static int cli_explain(const struct cli *cli, const struct command *command, const struct option_parse *parse)
{
	struct text t = {0};
	/* As in perf, "Error" follows two blanks for unknown options, otherwise one; scripts may depend on it. */
	if (parse->is_sentence)
		text_printf(&t, "%s\n\n", parse->message);
	else
		text_printf(&t, parse->is_unknown ? "  Error: %s\n\n" : " Error: %s\n", parse->message);
	bool is_unsupported = parse->culprit && parse->culprit->kind == OPTION_UNSUPPORTED;
	if (!is_unsupported)
		help_usage_lines(&t, cli->program, command);
	if (parse->culprit && !is_unsupported)
		help_option(&t, parse->culprit);
	else
		help_hint(&t, cli->program, command);
	if (parse->second)
		help_option(&t, parse->second);
	write_stderr(&t);
	return EXIT_USAGE;
}

static int cli_list_options(const struct command *command)
{
	struct option_walk walk = {.table = command->options};
	for (const struct option *option; (option = option_walk_next(&walk));)
		if (option->name && option->kind != OPTION_UNSUPPORTED)
			printf("--%s ", option->name);
	putchar('\n');
	return EXIT_LISTED;
}

/* Returns whether -v was given to a verb that has this option. */
static bool is_verbose_asked(const struct command *command, const void *settings)
{
	struct option_walk walk = {.table = command->options};
	for (const struct option *option; (option = option_walk_next(&walk));) {
		const char *setting = (const char *)settings + walk.base + option->offset;
		unsigned count = 0;
		bool flag = false;
		if (!option->name || strcmp(option->name, "verbose") != 0)
			continue;
		if (option->kind == OPTION_COUNT)
			memcpy(&count, setting, sizeof(count));
		else if (option->kind == OPTION_FLAG)
			memcpy(&flag, setting, sizeof(flag));
		return count > 0 || flag;
	}
	return false;
}

int cli_parse_options(
	const struct cli *cli, const struct command *command, int argc, char **argv, void *settings, int *rest)
{
	struct option_parse parse = {.table = command->options, .settings = settings, .argc = argc, .argv = argv};
	switch (options_parse(&parse)) {
	case OPTIONS_OK:
		*rest = parse.rest;
		if (cli->is_quiet && is_verbose_asked(command, settings))
			*cli->is_quiet = false;
		return CLI_GO_ON;
	case OPTIONS_BAD:
		return cli_explain(cli, command, &parse);
	case OPTIONS_LIST:
		return cli_list_options(command);
	case OPTIONS_WANT_HELP:
		break;
	}
	struct text t = {0};
	if (parse.is_long_help) {
		cli_start_pager(cli);
		help_full(&t, cli->program, command);
		return cli_finish_text(cli, &t);
	}
	text_char(&t, '\n');
	help_usage(&t, cli->program, command);
	write_stderr(&t);
	return EXIT_USAGE;
}

static const char *pager_command(void)
{
	static const char *const variables[] = {"TALLY_PAGER", "PERF_PAGER", "PAGER"};
	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		const char *value = getenv(variables[i]);
		if (value)
			return value;
	}
	return "less";
}

/* The pager uses the terminal until it exits, so it must exit before the shell regains the terminal after a signal. */
static void end_with_pager(int signal_number)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	(void)wait_for_process(pager_pid, NULL, 0);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

void cli_start_pager(const struct cli *cli)
{
	const char *command = pager_command();
	int ends[2];
	if (!cli->use_pager || pager_pid >= 0 || !*command || strcmp(command, "cat") == 0 || pipe(ends) != 0)
		return;
	fflush(stdout);
	pager_pid = fork();
	if (pager_pid == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		setenv("LESS", "FRSX", 0);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	if (pager_pid > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Messages go through the pager, because they would overwrite its screen otherwise. */
		pager_has_stderr = isatty(STDERR_FILENO) == 1;
		if (pager_has_stderr)
			dup2(ends[1], STDERR_FILENO);
		signal(SIGINT, end_with_pager);
		signal(SIGTERM, end_with_pager);
		signal(SIGHUP, end_with_pager);
	}
	close(ends[1]);
}

void cli_end_pager(void)
{
	if (pager_pid < 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	if (pager_has_stderr)
		close(STDERR_FILENO);
	(void)wait_for_process(pager_pid, NULL, 0);
	pager_pid = -1;
}

bool cli_is_subverb(const char *word, const char *name)
{
	size_t len = strlen(word);
	return len >= 3 && strncmp(word, name, len) == 0;
}

int cli_run_verb(const struct cli *cli, const struct command *verb, const char *const *ours, int argc, char **argv)
{
	int count = 0;
	while (ours[count])
		count++;
	char **words = calloc((size_t)(count + argc) + 1, sizeof(*words));
	if (!words)
		return cli_failf(cli, "out of memory");
	for (int i = 0; i < count; i++)
		words[i] = (char *)(uintptr_t)ours[i];
	for (int i = 0; i < argc; i++)
		words[count + i] = argv[i];
	struct cli inner = *cli;
	inner.is_inner = true;
	int code = verb->run(&inner, verb, count + argc, words);
	free(words);
	return code;
}
