/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that options shared by all verbs are in the table of each verb that supports them, and that other verbs refuse
 * them by name. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "unit_test.h"

#define WORDS_MOST 4

/* Option groups of a verb: s symbols, d --demangle, c the selection of samples, i -i FILE, f --force. */
static const struct verb_case {
	const char *words[WORDS_MOST]; /* The verb, and its subcommand, which may have a separate table. */
	const char *takes;
	/* Names and letters, separated by blanks, that have another meaning in this verb, as in perf. */
	const char *other;
} cases[] = {
	{{"report"}, "sdcif", ""},
	{{"script"}, "sdcif", ""},
	{{"annotate"}, "sdcif", ""},
	{{"diff"}, "sdcf", ""},
	{{"export"}, "sdcif", ""},
	{{"flamegraph"}, "sdcif", ""},
	{{"query"}, "sdcif", ""},
	{{"data"}, "sdcif", ""},
	{{"c2c"}, "sdcif", ""},
	{{"mem"}, "sdcif", ""},
	{{"pack"}, "sif", ""},
	{{"inject"}, "sif", ""},
	{{"sched", "timehist"}, "sdif", "pid tid cpu time"},
	{{"sched", "latency"}, "if", "time pid tid cpu"},
	{{"sched", "map"}, "if", "cpu time"},
	{{"lock", "report"}, "sdif", "k pid tid cpu"},
	{{"kmem", "stat"}, "sdif", "time"},
	{{"timechart"}, "sdif", ""},
	{{"evlist"}, "if", ""},
	{{"buildid-list"}, "if", "k"},
	{{"health"}, "if", "symfs"},
};
static const struct shared_option {
	char group;
	const char *name; /* A single letter is the letter of an option in perf, whatever its name. */
	const char *value;
} shared[] = {
	{'s', "symfs", "root"},
	{'s', "vmlinux", "absent-file"},
	{'s', "k", "absent-file"},
	{'s', "kallsyms", "absent-file"},
	{'s', "ignore-vmlinux", NULL},
	{'d', "demangle", NULL},
	{'c', "time", "1.9,2.1"},
	{'c', "cpu", "1"},
	{'c', "pid", "2000"},
	{'c', "tid", "2000"},
	{'c', "comms", "beta"},
	{'i', "i", "absent-file"},
	{'f', "f", NULL},
	{'f', "force", NULL},
};

static bool has_another_meaning(const struct verb_case *verb, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = verb->other; (at = strstr(at, name)); at += length)
		if ((at == verb->other || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

static const struct option *find_option(const struct option_table *table, const char *name)
{
	struct option_walk walk = {.table = table};
	const struct option *option;
	while ((option = option_walk_next(&walk)))
		if (name[1] ? option->name && strcmp(option->name, name) == 0 : option->letter == name[0])
			return option;
	return NULL;
}

/* Runs the verb with the option, which it must refuse before it opens a file, and compares the output on standard
 * error. */
static void check_refused(const struct verb_case *verb, const struct shared_option *option)
{
	const struct cli cli = {.program = "tally"};
	const struct command *command = command_find(verb->words[0]);
	char words[WORDS_MOST + 2][32], *argv[WORDS_MOST + 3] = {NULL}, said[4096];
	int argc = 0;
	for (; verb->words[argc]; argc++)
		snprintf(words[argc], sizeof(words[argc]), "%s", verb->words[argc]);
	snprintf(words[argc++], sizeof(words[0]), "%s%s", option->name[1] ? "--" : "-", option->name);
	if (option->value)
		snprintf(words[argc++], sizeof(words[0]), "%s", option->value);
	for (int i = 0; i < argc; i++)
		argv[i] = words[i];
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);
	assert_true(file && before >= 0);
	fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	int code = command->run(&cli, command, argc, argv);
	fflush(stderr);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = 0;
	fclose(file);
	if (code != EXIT_USAGE || !strstr(said, option->name))
		fail_msg("%s %s %s: exit code %d, and '%s'", verb->words[0], verb->words[1] ? verb->words[1] : "",
			option->name, code, said);
}

static void options_are_accepted_or_refused_by_name(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct verb_case *verb = &cases[i];
		assert_non_null(command_find(verb->words[0]));
		for (size_t j = 0; j < ARRAY_LEN(shared); j++) {
			const struct shared_option *option = &shared[j];
			if (has_another_meaning(verb, option->name))
				continue;
			if (!strchr(verb->takes, option->group)) {
				check_refused(verb, option);
			} else if (!verb->words[1]) {
				const struct option *row =
					find_option(command_find(verb->words[0])->options, option->name);
				if (!row || row->kind == OPTION_UNSUPPORTED)
					fail_msg("%s does not take %s", verb->words[0], option->name);
				if (option->value && !row->argument)
					fail_msg("%s: %s has no argument", verb->words[0], option->name);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_accepted_or_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
