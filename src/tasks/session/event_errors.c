/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/event_errors.h"

#include <string.h>
#include <unistd.h>

#include "cli/help.h"
#include "tasks/probing/probe_words.h"

#define EVENT_TEXT_SHOWN 200 /* Maximum number of characters before the error; a longer text is cut at the front. */

static void event_errors_usage(struct text *t, const struct cli *cli, const struct command *command, const char *option)
{
	bool is_negated;
	help_usage_lines(t, cli->program, command);
	help_option(t, options_find(command->options, option, strlen(option), &is_negated));
	text_to_fd(t, STDERR_FILENO);
	text_flush(t);
	text_deinit(t);
}

/* Prints the text, and an arrow below the error. */
static void event_errors_point(struct text *t, const char *label, const char *text, const struct tally_error *err)
{
	size_t column = err->offset <= strlen(text) ? (size_t)err->offset : 0, start = 0;
	if (column > EVENT_TEXT_SHOWN)
		start = column - EVENT_TEXT_SHOWN;
	text_printf(t, "%s%s%s'\n", label, start ? ".." : "", text + start);
	text_repeat(t, ' ', strlen(label) + (start ? 2 : 0) + column - start);
	text_str(t, "\\___ ");
}

int filter_error_print(const struct cli *cli, const struct command *command, const char *option, const char *text,
	const struct tally_error *err)
{
	struct text t = {0};
	if (err->status == TALLY_NOMEM)
		return cli_fail(cli, err);
	event_errors_point(&t, "filter syntax error: '", text, err);
	text_printf(&t, "%s\n", err->text);
	event_errors_usage(&t, cli, command, option);
	return EXIT_USAGE;
}

int event_error_print(const struct cli *cli, const struct command *command, const char *option, const char *text,
	const struct tally_error *err)
{
	struct text t = {0};
	if (cli->is_inner && err->status == TALLY_DENIED)
		return cli_fail(cli, err);
	const char *detail = strstr(err->text, ": ");
	event_errors_point(&t, "event syntax error: '", text, err);
	text_printf(&t, "%.*s\n", detail ? (int)(detail - err->text) : (int)strlen(err->text), err->text);
	if (err->status == TALLY_DENIED || err->status == TALLY_UNSUPPORTED || !detail)
		text_printf(&t, "%s%s", detail ? detail + 2 : "", detail ? "\n" : "");
	if (strncmp(err->text, EVENT_NO_PROBE ":", strlen(EVENT_NO_PROBE ":")) != 0)
		text_printf(&t, "Run '%s list' for a list of valid events\n", cli->program);
	if (detail && err->status != TALLY_DENIED && err->status != TALLY_UNSUPPORTED)
		text_printf(&t, "%s\n", detail + 2);
	event_errors_usage(&t, cli, command, option);
	return EXIT_USAGE;
}
