/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "verbs/probe/probe_add.h"
#include "verbs/probe/probe_list.h"
#include "verbs/probe/probe_look.h"

struct cmd_probe_settings {
	struct probe_settings probe;
	char *symfs; /* A copy of --symfs without the suffix that selects the layout. */
	bool is_out_of_memory;
};

static const char *cmd_probe_begin(const struct option_use *use, char letter)
{
	struct probe_settings *probe = &((struct cmd_probe_settings *)use->settings)->probe;
	char text[64];
	if (probe->command && probe->command != letter) {
		snprintf(text, sizeof(text), "cannot be used with switch `%c'", probe->command);
		return option_complaint(use, text);
	}
	probe->command = letter;
	return NULL;
}

static void cmd_probe_wish(struct cmd_probe_settings *settings, const char *text)
{
	struct probe_settings *probe = &settings->probe;
	const struct probe_wish wish = {text, probe->target, probe->has_target};
	if (!vec_push(&probe->wishes, wish))
		settings->is_out_of_memory = true;
}

static const char *cmd_probe_take(const struct option_use *use, char letter)
{
	const char *problem = cmd_probe_begin(use, letter);
	if (!problem && use->value)
		cmd_probe_wish(use->settings, use->value);
	return problem;
}

static const char *take_add(const struct option_use *use)
{
	return cmd_probe_take(use, 'a');
}
static const char *take_definition(const struct option_use *use)
{
	return cmd_probe_take(use, 'D');
}
static const char *take_del(const struct option_use *use)
{
	return cmd_probe_take(use, 'd');
}
static const char *take_list(const struct option_use *use)
{
	return cmd_probe_take(use, 'l');
}
static const char *take_line(const struct option_use *use)
{
	return cmd_probe_take(use, 'L');
}
static const char *take_vars(const struct option_use *use)
{
	return cmd_probe_take(use, 'V');
}

static const char *take_funcs(const struct option_use *use)
{
	struct probe_settings *probe = &((struct cmd_probe_settings *)use->settings)->probe;
	const char *problem = cmd_probe_begin(use, 'F');
	if (use->value)
		probe->filter = use->value;
	return problem;
}

/* The target also applies to preceding definitions that have none. */
static void cmd_probe_set_target(struct probe_settings *probe, enum probe_binary_kind kind, const char *name)
{
	probe->target = (struct probe_target){kind, name};
	probe->has_target = true;
	for (size_t i = 0; i < probe->wishes.len; i++) {
		struct probe_wish *wish = &probe->wishes.items[i];
		if (!wish->has_target) {
			wish->target = probe->target;
			wish->has_target = true;
		}
	}
}

static const char *take_exec(const struct option_use *use)
{
	cmd_probe_set_target(&((struct cmd_probe_settings *)use->settings)->probe, PROBE_PROGRAM, use->value);
	return NULL;
}

static const char *take_module(const struct option_use *use)
{
	cmd_probe_set_target(&((struct cmd_probe_settings *)use->settings)->probe, PROBE_MODULE, use->value);
	return NULL;
}

static const char *take_symfs(const struct option_use *use)
{
	struct cmd_probe_settings *settings = use->settings;
	const char *comma = strrchr(use->value, ',');
	if (comma && strcmp(comma, ",flat") == 0)
		return "takes no layout 'flat': files are looked for by their full paths below the directory";
	size_t len = comma && strcmp(comma, ",hierarchy") == 0 ? (size_t)(comma - use->value) : strlen(use->value);
	free(settings->symfs);
	settings->probe.symfs = settings->symfs = strndup(use->value, len);
	settings->is_out_of_memory |= !settings->symfs;
	return NULL;
}

static const char *take_demangle(const struct option_use *use)
{
	((struct cmd_probe_settings *)use->settings)->probe.no_demangle = use->is_negated;
	return NULL;
}

#define PROBE_CALL(long_name, short_name, function, placeholder, text)                                       \
	{                                                                                                    \
		.name = (long_name), .letter = (short_name), .kind = OPTION_CALL, .argument = (placeholder), \
		.call = (function), .help = (text)                                                           \
	}
#define PROBE_FLAG(long_name, short_name, field, text)                                     \
	{                                                                                  \
		.name = (long_name), .letter = (short_name), .kind = OPTION_FLAG,          \
		.offset = offsetof(struct cmd_probe_settings, probe.field), .help = (text) \
	}
#define PROBE_STRING(long_name, short_name, field, placeholder, text)                                          \
	{                                                                                                      \
		.name = (long_name), .letter = (short_name), .kind = OPTION_STRING, .argument = (placeholder), \
		.offset = offsetof(struct cmd_probe_settings, probe.field), .help = (text)                     \
	}
#define PROBE_DEFINITION "[EVENT=]FUNC[@SRC][+OFF|%return|:RL|;PT]|SRC:AL|SRC;PT [[NAME=]ARG ...]"

static const struct option probe_options[] = {
	PROBE_CALL("add", 'a', take_add, PROBE_DEFINITION, "probe point definition (see PROBE SYNTAX)"),
	PROBE_CALL("definition", 'D', take_definition, PROBE_DEFINITION,
		"Show trace event definition of given traceevent for k/uprobe_events."),
	PROBE_CALL("del", 'd', take_del, "[GROUP:]EVENT", "delete a probe event."),
	PROBE_FLAG("force", 'f', is_forced, "forcibly add events with existing name"),
	{.name = "funcs",
		.letter = 'F',
		.kind = OPTION_CALL,
		.argument = "[FILTER]",
		.argument_is_optional = true,
		.takes_next_word = true,
		.call = take_funcs,
		.help = "Show potential probe-able functions."},
	PROBE_FLAG("json", 0, is_json, "Print the list of --list or --funcs as JSON (docs/schema/probe.json)"),
	PROBE_STRING("vmlinux", 'k', vmlinux, "file", "vmlinux pathname"),
	PROBE_CALL("line", 'L', take_line, "FUNC[:RLN[+NUM|-RLN2]]|SRC:ALN[+NUM|-ALN2]", "Show source code lines."),
	{.name = "list",
		.letter = 'l',
		.kind = OPTION_CALL,
		.argument = "[GROUP:]EVENT",
		.argument_is_optional = true,
		.takes_next_word = true,
		.call = take_list,
		.help = "list up probe events"},
	PROBE_CALL("module", 'm', take_module, "modname|path", "target module name (for online) or path (for offline)"),
	PROBE_FLAG("dry-run", 'n', is_dry, "dry run"),
	PROBE_FLAG("quiet", 'q', is_quiet, "be quiet (do not show any warnings or messages)"),
	PROBE_STRING("source", 's', source_directory, "directory", "path to kernel source"),
	PROBE_CALL("vars", 'V', take_vars, "FUNC[@SRC][+OFF|%return|:RL|;PT]|SRC:AL|SRC;PT",
		"Show accessible variables on PROBEDEF"),
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct cmd_probe_settings, probe.verbose),
		.help = "be more verbose (show parsed arguments, etc)"},
	PROBE_CALL("exec", 'x', take_exec, "executable|path", "target executable name or path"),
	PROBE_FLAG("bootconfig", 0, is_bootconfig, "Output probe definition with bootconfig format"),
	PROBE_FLAG("cache", 0, use_cache, "Manipulate probe cache"),
	{.name = "demangle",
		.kind = OPTION_CALL,
		.can_be_negated = true,
		.call = take_demangle,
		.help = "Enable symbol demangling"},
	PROBE_FLAG("demangle-kernel", 0, demangle_kernel, "Enable kernel symbol demangling"),
	PROBE_FLAG("externs", 0, with_externs, "Show external variables too (with --vars only)"),
	PROBE_STRING("filter", 0, filter, "[!]FILTER",
		"Set a filter (with --vars/funcs only) (default: \"!__k???tab_* & !__crc_*\" for --vars, "
		"\"!_* & !*@plt\" for --funcs)"),
	{.name = "max-probes",
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct cmd_probe_settings, probe.max_probes),
		.help = "Set how many probe points can be found for a probe."},
	PROBE_FLAG("no-inlines", 0, no_inlines, "Don't search inlined functions"),
	PROBE_FLAG("range", 0, with_ranges, "Show variables location range in scope (with --vars only)"),
	PROBE_CALL("symfs", 0, take_symfs, "directory[,layout]",
		"Look for files with symbols and debug information below this directory, by their full paths"),
	{.name = "target-ns",
		.kind = OPTION_U64,
		.argument = "pid",
		.offset = offsetof(struct cmd_probe_settings, probe.namespace_pid),
		.help = "target pid for namespace contexts"},
};
static const struct option_table probe_table = {probe_options, ARRAY_LEN(probe_options), false};
static const char *const probe_usages[] = {"[<options>] 'PROBEDEF' ['PROBEDEF' ...]",
	"[<options>] --add 'PROBEDEF' [--add 'PROBEDEF' ...]", "[<options>] --del '[GROUP:]EVENT' ...",
	"--list [GROUP:]EVENT ...", "[<options>] --line 'LINEDESC'", "[<options>] --vars 'PROBEPOINT'",
	"[<options>] --funcs", NULL};
static const char *const probe_examples[] = {"see which functions of a program can be probed",
	"tally probe -x ./app --funcs",
	"probe a function and read an argument; then 'tally record -e probe_app:work' records it",
	"tally probe -x ./app --add 'work item->size name:string'", "see which variables are there in a line",
	"tally probe -x ./app --vars work:3", "list the probes", "tally probe --list", "remove one",
	"tally probe --del probe_app:work", NULL};

/* All words that are not options form one definition. If the first is a path, it names the program. */
static enum tally_status cmd_probe_take_words(
	struct cmd_probe_settings *settings, int count, char **words, char **joined, struct tally_error *err)
{
	struct probe_settings *probe = &settings->probe;
	struct text text = {0};
	int first = 0;
	if (count > 0 && !probe->has_target && strchr(words[0], '/') &&
		(words[0][0] == '/' || access(words[0], F_OK) == 0)) {
		cmd_probe_set_target(probe, strstr(words[0], ".ko") ? PROBE_MODULE : PROBE_PROGRAM, words[0]);
		first = 1;
	}
	if (first == count)
		return TALLY_OK;
	for (int i = first; i < count; i++)
		text_printf(&text, "%s%s", i > first ? " " : "", words[i]);
	text_char(&text, 0);
	if (text.failed) {
		text_deinit(&text);
		return error_nomem(err);
	}
	*joined = text.data;
	probe->command = 'a';
	cmd_probe_wish(settings, text.data);
	return settings->is_out_of_memory ? error_nomem(err) : TALLY_OK;
}

/* Checks for options that cannot be used together. Returns CLI_GO_ON if there are none. */
static int cmd_probe_check(const struct cli *cli, const struct command *command, const struct probe_settings *probe)
{
	if (probe->is_quiet && probe->verbose > 0)
		return cli_usagef(cli, command, "quiet,verbose", "  Error: -v and -q are exclusive.");
	if (probe->command == 'l' && probe->has_target)
		return cli_usagef(cli, command, "list,exec,module", "  Error: Don't use --list with --exec.");
	if (probe->is_json && probe->command != 'l' && probe->command != 'F')
		return cli_usagef(cli, command, "json", "  Error: --json needs --list or --funcs.");
	if (probe->is_bootconfig && probe->command != 'D')
		return cli_usagef(cli, command, "bootconfig,definition", "  Error: --bootconfig needs --definition.");
	if (probe->max_probes > 1000000)
		return cli_usagef(cli, command, "max-probes", "  Error: --max-probes takes at most 1000000.");
	if (probe->namespace_pid > INT32_MAX)
		return cli_usagef(cli, command, "target-ns", "  Error: %" PRIu64 " is no PID.", probe->namespace_pid);
	if (probe->namespace_pid > 0) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/%" PRIu64 "/ns/mnt", probe->namespace_pid);
		if (access(path, F_OK) != 0)
			return cli_failf(cli, "There is no process %" PRIu64 " whose namespace could be used.",
				probe->namespace_pid);
	}
	if (probe->vmlinux && access(probe->vmlinux, R_OK) != 0)
		return cli_failf(cli, "Invalid file: %s cannot be read.", probe->vmlinux);
	return CLI_GO_ON;
}

static int cmd_probe_go(const struct cli *cli, const struct command *command, const struct probe_settings *probe)
{
	switch (probe->command) {
	case 'l':
		return probe_list_run(cli, probe);
	case 'd':
		return probe_remove_run(cli, probe);
	case 'F':
		return probe_functions_run(cli, command, probe);
	case 'L':
		return probe_lines_run(cli, command, probe);
	case 'V':
		return probe_variables_run(cli, command, probe);
	default:
		return probe_add_run(cli, command, probe);
	}
}

/* As in perf, prints all options to standard error if there are no arguments. */
static int cmd_probe_usage(const struct cli *cli, const struct command *command)
{
	struct text usage = {0};
	text_to_fd(&usage, STDERR_FILENO);
	help_usage(&usage, cli->program, command);
	text_flush(&usage);
	text_deinit(&usage);
	return EXIT_USAGE;
}

static int cmd_probe_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_probe_settings settings = {.probe.target.kind = PROBE_KERNEL};
	struct tally_error err;
	char *joined = NULL;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	char given = settings.probe.command;
	bool takes_words = given == 0 || given == 'a';
	if (code == CLI_GO_ON && rest < argc && !takes_words)
		code = cli_usagef(cli, command, "add", "  Error: unexpected argument '%s'.", argv[rest]);
	if (code == CLI_GO_ON && takes_words &&
		cmd_probe_take_words(&settings, argc - rest, argv + rest, &joined, &err) != TALLY_OK)
		code = cli_fail(cli, &err);
	if (code == CLI_GO_ON && settings.is_out_of_memory)
		code = cli_failf(cli, "out of memory");
	if (code == CLI_GO_ON && settings.probe.command == 0)
		code = cmd_probe_usage(cli, command);
	if (code == CLI_GO_ON)
		code = cmd_probe_check(cli, command, &settings.probe);
	if (code == CLI_GO_ON)
		code = cmd_probe_go(cli, command, &settings.probe);
	vec_free(&settings.probe.wishes);
	free(settings.symfs);
	free(joined);
	return code;
}

const struct command command_probe = {
	.name = "probe",
	.summary = "Define new dynamic tracepoints",
	.usages = probe_usages,
	.options = &probe_table,
	.description =
		"Defines probes in functions, lines and instructions of programs and of the kernel, lists and removes "
		"them, and shows what can be probed. A probe is an event of the kernel, which record, stat and trace "
		"use by its name. It stays until it is removed or the machine starts again.\n\n"
		"PROBE SYNTAX: [[GROUP:]EVENT=]FUNC[@SRC][:RL|+OFF|%return|;PT] [ARG ...], [[GROUP:]EVENT=]SRC:AL [ARG "
		"...], "
		"[[GROUP:]EVENT=]SRC;PT [ARG ...] or sdt_PROVIDER:EVENT. GROUP and EVENT name the event. FUNC is a "
		"function, "
		"with wildcards or not; OFF an offset in bytes from its entry; RL a line, counted from its first one; "
		"%return its return. SRC is a source file, AL a line of it, PT a pattern of lines.\n\n"
		"PROBE ARGUMENT: [NAME=]VALUE[:TYPE], where VALUE is a variable (item->size, table[2].x), $params or "
		"$vars, "
		"$retval, or what the kernel fetches by itself (%di, +8(%sp), @counter, $comm). TYPE is u8 to u64, s8 "
		"to "
		"s64, x8 to x64, string, ustring, symbol or bWIDTH@OFFSET/SIZE; without one it follows from the "
		"variable.\n\n"
		"LINE SYNTAX: FUNC[@SRC][:RL[+NUM|-RL2]] or SRC[:AL[+NUM|-AL2]].\n\n"
		"LAZY MATCHING: a pattern with *, ? and [...] is compared with lines of the source; blanks do not "
		"count.\n\n"
		"FILTER PATTERN: patterns of names, joined by !, &, | and parentheses.\n\n"
		"docs/probe.md describes all of it.",
	.examples = probe_examples,
	.run = cmd_probe_run,
};
