/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPTION_COLUMN 26
#define FILL_COLUMNS  78
#define MAX_OPTIONS   512

static size_t add_argument(struct text *t, const struct option *option)
{
	size_t before = t->len;
	if (!option->argument)
		return 0;
	/* As in perf, an optional value is shown like a required one if it may be a separate word. */
	if (option->argument_is_optional && !option->takes_next_word)
		text_printf(t, option->name ? "[=<%s>]" : "[<%s>]", option->argument);
	else
		text_printf(t, " <%s>", option->argument);
	return t->len - before;
}

void help_option(struct text *t, const struct option *option)
{
	size_t start = t->len;
	text_str(t, "    ");
	if (option->letter)
		text_printf(t, option->name ? "-%c, " : "-%c", option->letter);
	else
		text_str(t, "    ");
	if (option->name)
		text_printf(t, "--%s", option->name);
	add_argument(t, option);
	size_t used = t->len - start;
	if (used < OPTION_COLUMN) {
		text_repeat(t, ' ', OPTION_COLUMN - used);
	} else {
		text_char(t, '\n');
		text_repeat(t, ' ', OPTION_COLUMN);
	}
	text_str(t, option->help ? option->help : "");
	text_char(t, '\n');
}

static int compare_options(const void *a, const void *b)
{
	const struct option *x = *(const struct option *const *)a;
	const struct option *y = *(const struct option *const *)b;
	if (!x->letter != !y->letter)
		return x->letter ? -1 : 1;
	const char *left = x->letter ? &x->letter : x->name;
	const char *right = y->letter ? &y->letter : y->name;
	size_t n = x->letter ? 1 : 64;
	int by_letter = strncasecmp(left, right, n);
	return by_letter ? by_letter : -strncmp(left, right, n); /* Sorts -a before -A. */
}

/* Sorts the options as perf does: those with a letter first, then the others by name. Returns their number. */
static size_t sorted_options(const struct option_table *table, bool unsupported, const struct option **out)
{
	size_t count = 0;
	struct option_walk walk = {.table = table};
	for (const struct option *option; count < MAX_OPTIONS && (option = option_walk_next(&walk));) {
		if (!option->is_hidden && (option->kind == OPTION_UNSUPPORTED) == unsupported)
			out[count++] = option;
	}
	qsort(out, count, sizeof(*out), compare_options);
	return count;
}

void help_usage_lines(struct text *t, const char *program, const struct command *command)
{
	for (size_t i = 0; command->usages[i]; i++)
		text_printf(
			t, "%s %s %s %s\n", i == 0 ? " Usage:" : "    or:", program, command->name, command->usages[i]);
	text_char(t, '\n');
}

static void add_unsupported(struct text *t, const struct command *command)
{
	const struct option *options[MAX_OPTIONS];
	size_t count = sorted_options(command->options, true, options);
	if (count == 0)
		return;
	text_str(t, "\n Not supported yet:");
	size_t column = 80;
	for (size_t i = 0; i < count; i++) {
		size_t len = options[i]->name ? strlen(options[i]->name) + 3 : 3;
		if (column + len > 76) {
			text_str(t, "\n   ");
			column = 3;
		}
		column += len;
		if (options[i]->name)
			text_printf(t, " --%s", options[i]->name);
		else
			text_printf(t, " -%c", options[i]->letter);
	}
	text_char(t, '\n');
}

void help_hint(struct text *t, const char *program, const struct command *command)
{
	text_printf(
		t, " See '%s help %.*s' for the options.\n", program, (int)strcspn(command->name, " "), command->name);
}

void help_usage(struct text *t, const char *program, const struct command *command)
{
	help_usage_lines(t, program, command);
	const struct option *options[MAX_OPTIONS];
	size_t count = sorted_options(command->options, false, options);
	for (size_t i = 0; i < count; i++)
		help_option(t, options[i]);
	add_unsupported(t, command);
}

/* Prints paragraphs, which are separated by blank lines, filled to the width of a terminal. */
static void add_filled(struct text *t, const char *s)
{
	size_t column = 0;
	for (const char *word; *(s += strspn(s, " ")); s = word + strcspn(word, " \n")) {
		word = s + strspn(s, " \n");
		if (strncmp(s, "\n\n", 2) == 0) {
			text_str(t, "\n\n");
			column = 0;
		}
		size_t len = strcspn(word, " \n");
		if (column > 0)
			text_char(t, column + 1 + len > FILL_COLUMNS ? '\n' : ' ');
		column = column > 0 && column + 1 + len <= FILL_COLUMNS ? column + 1 + len : len;
		text_bytes(t, word, len);
	}
	text_char(t, '\n');
}

void help_full(struct text *t, const char *program, const struct command *command)
{
	text_printf(t, "%s %s - %s\n\n", program, command->name, command->summary);
	help_usage(t, program, command);
	if (command->description) {
		text_char(t, '\n');
		add_filled(t, command->description);
	}
	if (!command->examples)
		return;
	text_str(t, "\nExamples:\n");
	for (size_t i = 0; command->examples[i]; i += 2)
		text_printf(t, "  # %s\n  %s\n", command->examples[i], command->examples[i + 1]);
}

void help_program(struct text *t, const char *program)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	text_printf(t, "\n usage: %s [--version] [--help] [OPTIONS] COMMAND [ARGS]\n", program);
	text_printf(t, "\n The most commonly used %s commands are:\n", program);
	for (size_t i = 0; i < count; i++)
		text_printf(t, "   %-16s%s\n", commands[i]->name, commands[i]->summary);
	text_printf(t, "\n See '%s help COMMAND' for more information on a specific command.\n\n", program);
}

/* Escapes backslashes, dashes, and dots and apostrophes at the start of a line, which have a meaning in roff. */
static void add_roff(struct text *t, const char *s)
{
	for (bool line_start = true; *s; s++) {
		if (line_start && (*s == '.' || *s == '\''))
			text_str(t, "\\&");
		line_start = *s == '\n';
		if (*s == '\\')
			text_str(t, "\\e");
		else if (*s == '-')
			text_str(t, "\\-");
		else
			text_char(t, *s);
	}
}

static void add_roff_option(struct text *t, const struct option *option)
{
	text_str(t, ".TP\n");
	if (option->letter)
		text_printf(t, "\\fB\\-%c\\fR%s", option->letter, option->name ? ", " : "");
	if (option->name) {
		text_str(t, "\\fB\\-\\-");
		add_roff(t, option->name);
		text_str(t, "\\fR");
	}
	struct text argument = {0};
	add_argument(&argument, option);
	text_char(&argument, '\0');
	if (!argument.failed)
		add_roff(t, argument.data);
	text_deinit(&argument);
	text_char(t, '\n');
	add_roff(t, option->help ? option->help : "");
	text_char(t, '\n');
}

static void add_overview_entry(struct text *t, const char *term, const char *meaning)
{
	text_str(t, ".TP\n\\fB");
	add_roff(t, term);
	text_str(t, "\\fR\n");
	add_roff(t, meaning);
	text_char(t, '\n');
}

void help_man_page(struct text *t, const struct command *command)
{
	text_printf(t, ".TH TALLY\\-%s 1 \"\" \"tally %s\" \"tally manual\"\n", command->name, TALLY_VERSION);
	text_printf(t, ".SH NAME\ntally\\-%s \\- ", command->name);
	add_roff(t, command->summary);
	text_str(t, "\n.SH SYNOPSIS\n.nf\n");
	for (size_t i = 0; command->usages[i]; i++) {
		text_printf(t, "\\fBtally %s\\fR ", command->name);
		add_roff(t, command->usages[i]);
		text_char(t, '\n');
	}
	text_str(t, ".fi\n.SH DESCRIPTION\n");
	add_roff(t, command->description ? command->description : command->summary);
	const struct option *options[MAX_OPTIONS];
	size_t count = sorted_options(command->options, false, options);
	if (count > 0)
		text_str(t, "\n.SH OPTIONS\n");
	for (size_t i = 0; i < count; i++)
		add_roff_option(t, options[i]);
	if (command->examples) {
		text_str(t, "\n.SH EXAMPLES\n");
		for (size_t i = 0; command->examples[i]; i += 2) {
			add_roff(t, command->examples[i]);
			text_str(t, "\n.PP\n.RS\n.nf\n");
			add_roff(t, command->examples[i + 1]);
			text_str(t, "\n.fi\n.RE\n.PP\n");
		}
	}
	text_str(t, "\n.SH SEE ALSO\n\\fBperf_event_open\\fR(2)\n");
}

void help_man_overview(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	text_printf(t, ".TH TALLY 1 \"\" \"tally %s\" \"tally manual\"\n", TALLY_VERSION);
	text_str(t,
		".SH NAME\ntally \\- count, record and explain performance events on Linux\n"
		".SH SYNOPSIS\n\\fBtally\\fR [\\fB\\-\\-version\\fR] [\\fB\\-\\-help\\fR] [OPTIONS] COMMAND [ARGS]\n"
		".SH DESCRIPTION\n");
	add_roff(t,
		"tally counts events of programs and of the machine, records where time goes, and reports it. It "
		"takes\n"
		"the commands and options of perf, and reads and writes perf.data files. Called by the name perf it\n"
		"names itself perf in its messages.\n");
	text_str(t, ".SH OPTIONS\n");
	add_overview_entry(t, "-p, --paginate", "send the output to a terminal through the pager");
	add_overview_entry(t, "--no-pager", "do not use a pager");
	add_overview_entry(t, "--buildid-dir <dir>", "the cache of build IDs (~/.debug)");
	text_str(t, ".SH COMMANDS\n");
	for (size_t i = 0; i < count; i++) {
		text_printf(t, ".TP\n.BR tally\\-%s (1)\n", commands[i]->name);
		add_roff(t, commands[i]->summary);
		text_char(t, '\n');
	}
	text_str(t, ".SH EXIT STATUS\n");
	add_overview_entry(t, "0", "success");
	add_overview_entry(t, "1", "unknown command");
	add_overview_entry(t, "3", "a requirement was not met: report --require, diff --fail-if");
	add_overview_entry(t, "129", "wrong usage");
	add_overview_entry(t, "255", "failure");
	text_str(t, ".PP\n");
	add_roff(t, "stat and record end with the status of the command that they ran.\n");
	text_str(t, ".SH FILES\n");
	add_overview_entry(t, "perf.data", "the recording that commands write and read unless -o or -i names another");
	add_overview_entry(t, "~/.perfconfig, /etc/perfconfig", "settings, in the form of perf-config(1)");
	add_overview_entry(t, "~/.debug", "the cache of build IDs: programs and libraries that were recorded");
	add_overview_entry(t, "~/.cache/tally", "indexes of symbols and source lines from earlier runs");
	text_str(t, ".SH ENVIRONMENT\n");
	add_overview_entry(t, "NO_COLOR", "if set and not empty, output has no colours");
	add_overview_entry(t, "PERF_PAGER, PAGER", "the pager");
	add_overview_entry(t, "PERF_CONFIG", "the configuration file to read instead");
	add_overview_entry(t, "DEBUGINFOD_URLS", "servers to fetch missing debug information from");
	text_str(t, ".SH SEE ALSO\n.BR libtally (3),\n.BR perf_event_open (2)\n");
}
