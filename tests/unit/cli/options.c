/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

struct settings {
	bool all, inherit_not, group;
	unsigned verbose;
	const char *output;
	uint64_t count;
	char calls[100]; /* "value;" for each call. */
};

static const char *add_call(const struct option_use *use)
{
	struct settings *s = use->settings;
	size_t len = strlen(s->calls);
	snprintf(s->calls + len, sizeof(s->calls) - len, "%s%s;", use->is_negated ? "!" : "",
		use->value ? use->value : "-");
	if (!use->value || strcmp(use->value, "bad") != 0)
		return NULL;
	snprintf(use->room, use->room_bytes, "does not take '%s'", use->value);
	return use->room;
}

#define AT(field) .offset = offsetof(struct settings, field)
static const struct option options[] = {
	{.name = "all-cpus", .letter = 'a', .kind = OPTION_FLAG, AT(all)},
	{.name = "all-user", .kind = OPTION_UNSUPPORTED},
	{.name = "no-inherit", .letter = 'i', .kind = OPTION_FLAG, AT(inherit_not)},
	{.name = "group", .kind = OPTION_FLAG, AT(group)},
	{.name = "verbose", .letter = 'v', .kind = OPTION_COUNT, AT(verbose)},
	{.name = "output", .letter = 'o', .kind = OPTION_STRING, .argument = "file", AT(output)},
	{.name = "count", .letter = 'c', .kind = OPTION_U64, .argument = "n", AT(count)},
	{.name = "event", .letter = 'e', .kind = OPTION_CALL, .argument = "event", .call = add_call},
	{.name = "big-num", .letter = 'B', .kind = OPTION_CALL, .call = add_call},
	{.name = "call-graph",
		.letter = 'g',
		.kind = OPTION_CALL,
		.argument = "mode",
		.argument_is_optional = true,
		.call = add_call},
	{.name = "sort",
		.letter = 's',
		.kind = OPTION_CALL,
		.argument = "key",
		.argument_is_optional = true,
		.takes_next_word = true,
		.call = add_call},
	{.name = "limit", .kind = OPTION_CALL, .argument = "x", .can_be_negated = true, .call = add_call},
	{.name = "mode", .kind = OPTION_CALL, .argument = "x", .is_self_explaining = true, .call = add_call},
	{.name = "cgroup", .letter = 'G', .kind = OPTION_UNSUPPORTED, .argument = "name"},
	{.letter = 'x', .kind = OPTION_FLAG, AT(group)},
};
static const struct option_table words_table = {options, ARRAY_LEN(options), false};
static const struct option_table command_table = {options, ARRAY_LEN(options), true};

#define MAX_WORDS 20

struct outcome {
	struct settings settings;
	struct option_parse parse;
	enum option_result result;
	char line[200];
	char *words[MAX_WORDS + 1];
};

/* Parses "verb LINE", split at blanks; "''" is an empty word. */
static void parse(struct outcome *o, const struct option_table *table, const char *line)
{
	*o = (struct outcome){0};
	snprintf(o->line, sizeof(o->line), "verb %s", line);
	int count = 0;
	for (char *word = strtok(o->line, " "); word && count < MAX_WORDS; word = strtok(NULL, " "))
		o->words[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
	o->parse = (struct option_parse){.table = table, .settings = &o->settings, .argc = count, .argv = o->words};
	o->result = options_parse(&o->parse);
}

static void expect_rest(const struct outcome *o, const char *wanted)
{
	char rest[200] = "";
	assert_int_equal(o->result, OPTIONS_OK);
	for (int i = o->parse.rest; i < o->parse.argc; i++) {
		size_t len = strlen(rest);
		snprintf(rest + len, sizeof(rest) - len, "%s%s", len ? " " : "", o->words[i]);
	}
	assert_string_equal(rest, wanted);
}

static void expect_bad(const struct option_table *table, const char *line, const char *message)
{
	struct outcome o;
	parse(&o, table, line);
	assert_int_equal(o.result, OPTIONS_BAD);
	assert_string_equal(o.parse.message, message);
}

static void values_in_every_spelling(void **state)
{
	static const char *const lines[] = {"-c99 -o f -a", "-c 99 -of -a", "--count=99 --output=f --all-cpus",
		"--count 99 --output f -a", "-ac99 -of", "-c 0x63 --out f --all-c", "-c 1 -c 99 -o x -o f -a",
		"--coun 0143 --outp=f -aa"};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct outcome o;
		parse(&o, &words_table, lines[i]);
		expect_rest(&o, "");
		assert_int_equal(o.settings.count, 99);
		assert_string_equal(o.settings.output, "f");
		assert_true(o.settings.all);
	}
}

static void flags_counts_and_negation(void **state)
{
	struct outcome o;
	parse(&o, &words_table, "-vvi -v --no-all-cpus");
	expect_rest(&o, "");
	assert_int_equal(o.settings.verbose, 3);
	assert_true(o.settings.inherit_not);
	parse(&o, &words_table, "-vv --no-verbose -a --no-all-cpus -i --inherit -c 5 --no-count -o f --no-output");
	expect_rest(&o, "");
	assert_int_equal(o.settings.verbose, 0);
	assert_false(o.settings.all);
	assert_false(o.settings.inherit_not);
	assert_int_equal(o.settings.count, 0);
	assert_null(o.settings.output);
	parse(&o, &words_table, "--no-inh --no-gro -x");
	expect_rest(&o, "");
	assert_true(o.settings.inherit_not);
	assert_true(o.settings.group);
}

static void callbacks_see_each_use_in_order(void **state)
{
	struct outcome o;
	parse(&o, &words_table, "-e a -eb --event=c -B --no-big-num -g --call-graph=fp -gdwarf --no-call-graph");
	expect_rest(&o, "");
	assert_string_equal(o.settings.calls, "a;b;c;-;!-;-;fp;dwarf;!-;");
	parse(&o, &words_table, "-e '' --event= --no-limit");
	expect_rest(&o, "");
	assert_string_equal(o.settings.calls, ";;!-;");
}

static void optional_values_and_the_next_word(void **state)
{
	struct outcome o;
	parse(&o, &words_table, "-g fp -s comm -s -a");
	expect_rest(&o, "fp");
	assert_string_equal(o.settings.calls, "-;comm;-;");
	assert_true(o.settings.all);
	parse(&o, &words_table, "-s");
	expect_rest(&o, "");
	assert_string_equal(o.settings.calls, "-;");
}

static void a_command_ends_the_options(void **state)
{
	struct outcome o;
	parse(&o, &command_table, "-a ls -v --nosuch");
	expect_rest(&o, "ls -v --nosuch");
	assert_int_equal(o.settings.verbose, 0);
	parse(&o, &command_table, "-a -- -v --nosuch");
	expect_rest(&o, "-v --nosuch");
	assert_true(o.parse.had_separator);
	parse(&o, &command_table, "-o - x");
	expect_rest(&o, "x");
	assert_string_equal(o.settings.output, "-");
	parse(&o, &command_table, "- x");
	expect_rest(&o, "- x");
	parse(&o, &command_table, "");
	expect_rest(&o, "");
}

static void words_are_gathered_behind_the_options(void **state)
{
	struct outcome o;
	parse(&o, &words_table, "one -a two -c 5 three -v");
	expect_rest(&o, "one two three");
	assert_int_equal(o.settings.count, 5);
	assert_int_equal(o.settings.verbose, 1);
	parse(&o, &words_table, "one -a two -- -v three");
	expect_rest(&o, "one two -v three");
	assert_int_equal(o.settings.verbose, 0);
}

static void mistakes_are_told_as_perf_tells_them(void **state)
{
	expect_bad(&words_table, "-c", "switch `c' requires a value");
	expect_bad(&words_table, "--count", "option `count' requires a value");
	expect_bad(&words_table, "-c abc", "switch `c' expects a numerical value");
	expect_bad(&words_table, "--count=", "option `count' expects a numerical value");
	expect_bad(&words_table, "--count=-1", "option `count' expects a numerical value");
	expect_bad(&words_table, "--count 99999999999999999999", "option `count' expects a numerical value");
	expect_bad(&words_table, "--all-cpus=1", "option `all-cpus' takes no value");
	expect_bad(&words_table, "--no-output=f", "option `output' takes no value");
	expect_bad(&words_table, "--zzzzzz", "unknown option `zzzzzz'");
	expect_bad(&words_table, "-Z", "unknown switch `Z'");
	expect_bad(&words_table, "-vZ", "unknown switch `Z'");
	expect_bad(&words_table, "--no-zzz", "unknown option `no-zzz'");
	expect_bad(&words_table, "-e bad", "switch `e' does not take 'bad'");
	expect_bad(&words_table, "--event=bad", "option `event' does not take 'bad'");
	expect_bad(&words_table, "--mode bad", "does not take 'bad'");
	expect_bad(&words_table, "--no-event", "option `event' cannot be negated");
	expect_bad(&words_table, "--no-mode", "option `mode' cannot be negated");
	expect_bad(&words_table, "--=x", "Ambiguous option:  (could be --all-cpus or --all-user)");
}

static void what_is_not_built_is_refused_by_name(void **state)
{
	expect_bad(&words_table, "--cgroup x", "option `cgroup' is not supported yet");
	expect_bad(&words_table, "--cgroup", "option `cgroup' is not supported yet");
	expect_bad(&words_table, "--cg=x", "option `cgroup' is not supported yet");
	expect_bad(&words_table, "-Gx", "switch `G' is not supported yet");
	expect_bad(&words_table, "-vG", "switch `G' is not supported yet");
	expect_bad(&words_table, "--all-user", "option `all-user' is not supported yet");
}

static void abbreviations_must_be_clear(void **state)
{
	struct outcome o;
	parse(&o, &words_table, "--all");
	assert_int_equal(o.result, OPTIONS_BAD);
	assert_string_equal(o.parse.message, "Ambiguous option: all (could be --all-cpus or --all-user)");
	assert_string_equal(o.parse.culprit->name, "all-cpus");
	assert_string_equal(o.parse.second->name, "all-user");
	parse(&o, &words_table, "--o=f");
	expect_rest(&o, "");
	assert_string_equal(o.settings.output, "f");
}

static void the_nearest_name_is_suggested(void **state)
{
	expect_bad(&words_table, "--otuput=x", "unknown option `otuput=x'\n  Did you mean `--output'?");
	expect_bad(&words_table, "--verbsoe", "unknown option `verbsoe'\n  Did you mean `--verbose'?");
	char line[150];
	memset(line, 'q', sizeof(line) - 1);
	memcpy(line, "--", 2);
	line[sizeof(line) - 1] = 0;
	struct outcome o;
	parse(&o, &words_table, line);
	assert_int_equal(o.result, OPTIONS_BAD);
	assert_true(o.parse.is_unknown);
}

static void help_and_lists_are_asked_for(void **state)
{
	struct outcome o;
	parse(&o, &words_table, "-a -h");
	assert_int_equal(o.result, OPTIONS_WANT_HELP);
	assert_false(o.parse.is_long_help);
	parse(&o, &words_table, "--help");
	assert_int_equal(o.result, OPTIONS_WANT_HELP);
	assert_true(o.parse.is_long_help);
	parse(&o, &words_table, "--list-opts");
	assert_int_equal(o.result, OPTIONS_LIST);
	parse(&o, &command_table, "x --help");
	expect_rest(&o, "x --help");
}

struct shared_settings {
	const char *symfs;
	uint64_t depth;
	bool quiet;
	char calls[100];
};
struct verb_settings {
	bool quiet;
	struct shared_settings shared;
};

static const char *note_call(const struct option_use *use)
{
	struct shared_settings *shared = use->settings;
	snprintf(shared->calls, sizeof(shared->calls), "%s", use->value);
	return NULL;
}

static const struct option shared_rows[] = {
	{"symfs", 0, OPTION_STRING, "directory", .offset = offsetof(struct shared_settings, symfs), .help = "x"},
	{"depth", 'd', OPTION_U64, "n", .offset = offsetof(struct shared_settings, depth), .help = "x"},
	{"quiet", 'q', OPTION_FLAG, .offset = offsetof(struct shared_settings, quiet), .help = "the group's"},
	{"note", 0, OPTION_CALL, "text", .call = note_call, .help = "x"},
};
static const struct option_table shared_table = {shared_rows, ARRAY_LEN(shared_rows), false};
static const struct option verb_rows[] = {
	{"quiet", 'q', OPTION_FLAG, .offset = offsetof(struct verb_settings, quiet), .help = "the verb's own"},
	{.kind = OPTION_GROUP, .group = &shared_table, .offset = offsetof(struct verb_settings, shared)},
	{.name = "last", .kind = OPTION_UNSUPPORTED},
};
static const struct option_table verb_table = {verb_rows, ARRAY_LEN(verb_rows), false};

/* Parses two words into the settings. */
static void parse_verb(struct verb_settings *settings, char *first, char *second)
{
	char verb[] = "verb", *words[] = {verb, first, second, NULL};
	struct option_parse group = {.table = &verb_table, .settings = settings, .argc = 3, .argv = words};
	*settings = (struct verb_settings){0};
	assert_int_equal(options_parse(&group), OPTIONS_OK);
}

static void rows_of_a_group_set_its_settings(void **state)
{
	struct verb_settings settings;
	char symfs[] = "--symfs=/r", depth[] = "-d7", note[] = "--no", value[] = "--note=n", quiet[] = "-q";
	parse_verb(&settings, symfs, depth);
	assert_string_equal(settings.shared.symfs, "/r");
	assert_int_equal(settings.shared.depth, 7);
	parse_verb(&settings, value, quiet);
	assert_string_equal(settings.shared.calls, "n");
	assert_true(settings.quiet);
	assert_false(settings.shared.quiet);
	parse_verb(&settings, note, symfs);
	assert_string_equal(settings.shared.calls, "--symfs=/r");
}

static void a_row_before_the_group_replaces_the_groups(void **state)
{
	static const char *const wanted[] = {"quiet", "symfs", "depth", "note", "last"};
	size_t count = 0;
	struct option_walk walk = {.table = &verb_table};
	for (const struct option *option; (option = option_walk_next(&walk)); count++) {
		assert_true(count < ARRAY_LEN(wanted));
		assert_string_equal(option->name, wanted[count]);
		bool is_shared = count > 0 && count < 4;
		assert_int_equal(walk.base, is_shared ? offsetof(struct verb_settings, shared) : 0);
	}
	assert_int_equal(count, ARRAY_LEN(wanted));
	bool is_negated;
	assert_string_equal(options_find(&verb_table, "quiet", 5, &is_negated)->help, "the verb's own");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_in_every_spelling),
		cmocka_unit_test(flags_counts_and_negation),
		cmocka_unit_test(callbacks_see_each_use_in_order),
		cmocka_unit_test(optional_values_and_the_next_word),
		cmocka_unit_test(a_command_ends_the_options),
		cmocka_unit_test(words_are_gathered_behind_the_options),
		cmocka_unit_test(mistakes_are_told_as_perf_tells_them),
		cmocka_unit_test(what_is_not_built_is_refused_by_name),
		cmocka_unit_test(abbreviations_must_be_clear),
		cmocka_unit_test(the_nearest_name_is_suggested),
		cmocka_unit_test(help_and_lists_are_asked_for),
		cmocka_unit_test(rows_of_a_group_set_its_settings),
		cmocka_unit_test(a_row_before_the_group_replaces_the_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
