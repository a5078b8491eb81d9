/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/help.h"
#include "unit_test.h"

static bool is_name(const char *name)
{
	for (; *name; name++)
		/* perf has the option --hide_kernel_symbols. */
		if (!isalnum((unsigned char)*name) && !strchr("-_", *name))
			return false;
	return true;
}

/* Checks the properties of a row that parsing and all derived texts require. */
static void check_option(const struct command *command, const struct option *option)
{
	const char *name = option->name ? option->name : "(letter)";
	if (!option->name && !option->letter)
		fail_msg("%s: an option without name and letter", command->name);
	if (option->name && !is_name(option->name))
		fail_msg("%s: '%s' is not a name", command->name, name);
	if (option->kind == OPTION_UNSUPPORTED)
		return;
	if (!option->help || !*option->help || strchr(option->help, '\n'))
		fail_msg("%s --%s: one line of help is wanted", command->name, name);
	bool wants_value = option->kind == OPTION_STRING || option->kind == OPTION_U64;
	bool takes_none = option->kind == OPTION_FLAG || option->kind == OPTION_COUNT;
	if ((wants_value && !option->argument) || (takes_none && option->argument))
		fail_msg("%s --%s: its kind and its argument do not agree", command->name, name);
	if ((option->kind == OPTION_CALL) != (option->call != NULL))
		fail_msg("%s --%s: its kind and its callback do not agree", command->name, name);
}

static void check_table(const struct command *command)
{
	const struct option *a, *b;
	struct option_walk walk = {.table = command->options};
	while ((a = option_walk_next(&walk))) {
		check_option(command, a);
		struct option_walk rest = walk;
		while ((b = option_walk_next(&rest))) {
			if (a->name && b->name && strcmp(a->name, b->name) == 0)
				fail_msg("%s: --%s is there twice", command->name, a->name);
			if (a->letter && a->letter == b->letter)
				fail_msg("%s: -%c is there twice", command->name, a->letter);
		}
	}
}

static void every_command_is_whole(void **state)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	for (size_t i = 0; i < count; i++) {
		assert_true(is_name(commands[i]->name));
		assert_non_null(commands[i]->summary);
		assert_non_null(commands[i]->usages);
		assert_non_null(commands[i]->run);
		assert_ptr_equal(command_find(commands[i]->name), commands[i]);
		if (i > 0)
			assert_true(strcmp(commands[i - 1]->name, commands[i]->name) < 0);
		if (commands[i]->options)
			check_table(commands[i]);
		char start[100];
		snprintf(start, sizeof(start), "tally %s", commands[i]->name);
		for (size_t e = 0; commands[i]->examples && commands[i]->examples[e]; e += 2) {
			assert_non_null(commands[i]->examples[e + 1]);
			if (strncmp(commands[i]->examples[e + 1], start, strlen(start)) != 0)
				fail_msg("%s: example '%s'", commands[i]->name, commands[i]->examples[e + 1]);
		}
	}
}

static const struct option options[] = {
	{.name = "zeta", .kind = OPTION_FLAG, .help = "last"},
	{.name = "output", .letter = 'o', .kind = OPTION_STRING, .argument = "file", .help = "where to"},
	{.name = "Append", .letter = 'A', .kind = OPTION_FLAG, .help = "capital"},
	{.name = "all", .letter = 'a', .kind = OPTION_FLAG, .help = "small"},
	{.name = "a-very-long-name-of-an-option", .kind = OPTION_STRING, .argument = "value", .help = "below"},
	{.name = "graph", .kind = OPTION_CALL, .argument = "mode", .argument_is_optional = true, .help = ".dot \\ -"},
	{.letter = 'g', .kind = OPTION_FLAG, .help = "no name"},
	{.name = "secret", .kind = OPTION_FLAG, .is_hidden = true, .help = "hidden"},
	{.name = "later", .letter = 'l', .kind = OPTION_UNSUPPORTED},
};
static const struct option_table table = {options, ARRAY_LEN(options), true};
static const char *const usages[] = {"[<options>] [<command>]", "[<options>] -- <command>", NULL};
static const char *const examples[] = {"look at it", "tally verb -a", NULL};
static const struct command command = {.name = "verb",
	.summary = "Do it",
	.usages = usages,
	.options = &table,
	.description = "First.\n\n.Second - with \\ signs\nthat goes on and on until it is too long for the width of a "
		       "terminal",
	.examples = examples};

static void expect_text(struct text *t, const char *wanted)
{
	text_char(t, 0);
	assert_false(t->failed);
	assert_string_equal(t->data, wanted);
	text_deinit(t);
}

static void usage_is_laid_out_as_perfs(void **state)
{
	struct text t = {0};
	help_usage(&t, "perf", &command);
	expect_text(&t, " Usage: perf verb [<options>] [<command>]\n"
			"    or: perf verb [<options>] -- <command>\n"
			"\n"
			"    -a, --all             small\n"
			"    -A, --Append          capital\n"
			"    -g                    no name\n"
			"    -o, --output <file>   where to\n"
			"        --a-very-long-name-of-an-option <value>\n"
			"                          below\n"
			"        --graph[=<mode>]  .dot \\ -\n"
			"        --zeta            last\n"
			"\n Not supported yet:\n"
			"    --later\n");
	help_usage_lines(&t, "tally", &command);
	help_option(&t, &options[1]);
	help_hint(&t, "tally", &command);
	expect_text(&t, " Usage: tally verb [<options>] [<command>]\n"
			"    or: tally verb [<options>] -- <command>\n"
			"\n"
			"    -o, --output <file>   where to\n"
			" See 'tally help verb' for the options.\n");
}

static void long_help_has_all(void **state)
{
	struct text t = {0};
	help_full(&t, "tally", &command);
	text_char(&t, 0);
	assert_non_null(strstr(t.data, "tally verb - Do it\n"));
	assert_non_null(strstr(t.data,
		"\nFirst.\n\n.Second - with \\ signs that goes on and on until it is too long for the width\n"
		"of a terminal\n\nExamples:\n"));
	assert_non_null(strstr(t.data, "  # look at it\n  tally verb -a\n"));
	assert_null(strstr(t.data, "secret"));
	text_deinit(&t);
}

static void man_pages_escape_what_roff_would_read(void **state)
{
	struct text t = {0};
	help_man_page(&t, &command);
	text_char(&t, 0);
	assert_int_equal(strncmp(t.data, ".TH TALLY", 9), 0);
	assert_non_null(strstr(t.data, "\n\\&.Second \\- with \\e signs\n"));
	assert_non_null(strstr(t.data, "\\fB\\-o\\fR, \\fB\\-\\-output\\fR <file>\nwhere to\n"));
	assert_non_null(strstr(t.data, "\n\\&.dot \\e \\-\n"));
	for (const char *section = "SYNOPSIS\0DESCRIPTION\0OPTIONS\0EXAMPLES\0"; *section;
		section += strlen(section) + 1)
		assert_non_null(strstr(t.data, section));
	assert_null(strstr(t.data, "secret"));
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_is_whole),
		cmocka_unit_test(usage_is_laid_out_as_perfs),
		cmocka_unit_test(long_help_has_all),
		cmocka_unit_test(man_pages_escape_what_roff_would_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
