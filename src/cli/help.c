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
	/* perf shows a value that may be left out as if it had to be there, where it may stand apart. */
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
	return by_letter ? by_letter : -strncmp(left, right, n); /* -a before -A */
}

/* In perf's order: those with a letter first, then by name. Returns how many. */
static size_t sorted_options(const struct option_table *table, bool unsupported, const struct option **out)
{
	size_t count = 0;
	for (size_t i = 0; table && i < table->count && count < MAX_OPTIONS; i++) {
		const struct option *option = &table->options[i];
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

void help_usage(struct text *t, const char *program, const struct command *command, const struct option *only)
{
	help_usage_lines(t, program, command);
	if (only) {
		help_option(t, only);
		return;
	}
	const struct option *options[MAX_OPTIONS];
	size_t count = sorted_options(command->options, false, options);
	for (size_t i = 0; i < count; i++)
		help_option(t, options[i]);
	add_unsupported(t, command);
}

/* Paragraphs, filled to the width of a terminal; a blank line parts them. */
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
	help_usage(t, program, command, NULL);
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

/* roff gives meaning to a leading dot and to backslashes and dashes. */
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
