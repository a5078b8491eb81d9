/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_completion.c - writes completion scripts for bash, zsh and fish from the command and option tables.
 */
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/shell_words.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "profile/keys.h"

static const struct option_table completion_table = {NULL, 0, true};
static const char *const completion_usages[] = {"bash|zsh|fish", NULL};

/* The kind of values that a shell can complete for an option. */
enum offer { OFFER_OPTION_ONLY, OFFER_CHOICES, OFFER_EVENTS, OFFER_KEYS };

static bool takes_events(const struct option *option)
{
	return option->letter == 'e' && option->name && strcmp(option->name, "event") == 0;
}

static bool cmd_completion_is_shown(const struct option *option)
{
	return option->kind != OPTION_UNSUPPORTED && !option->is_hidden;
}

/* Returns whether the option takes sort keys of a profile; sched, lock and kmem have other keys. */
static bool takes_keys(const struct command *command, const struct option *option)
{
	static const char *const profiles[] = {"report", "top", "diff", "mem"};
	if (!option->name || (strcmp(option->name, "sort") != 0 && strcmp(option->name, "fields") != 0))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++)
		if (strcmp(command->name, profiles[i]) == 0)
			return true;
	return false;
}

static enum offer offer_of(const struct command *command, const struct option *option)
{
	if (takes_events(option))
		return OFFER_EVENTS;
	if (takes_keys(command, option))
		return OFFER_KEYS;
	return option_has_choices(option) ? OFFER_CHOICES : OFFER_OPTION_ONLY;
}

/* Prints "a|b" as "a b". */
static void add_choices(struct text *t, struct tally_str choices)
{
	for (size_t i = 0; i < choices.len; i++)
		text_char(t, choices.data[i] == '|' ? ' ' : choices.data[i]);
}

static void cmd_completion_add_keys(struct text *t)
{
	for (unsigned key = 0; key < KEY_FIELD; key++) {
		const char *name = profile_key_get((enum profile_key)key)->name;
		text_printf(t, "%s%s", key ? " " : "", name);
	}
}

static void add_bash_values(struct text *t, const struct command *command)
{
	struct option_walk walk = {.table = command->options};
	for (const struct option *option; (option = option_walk_next(&walk));) {
		enum offer offer = offer_of(command, option);
		if (!cmd_completion_is_shown(option) || offer == OFFER_OPTION_ONLY)
			continue;
		text_printf(t, "\t%s,--%s", command->name, option->name ? option->name : "");
		if (option->letter)
			text_printf(t, "|%s,-%c", command->name, option->letter);
		if (offer == OFFER_EVENTS)
			text_str(t, ") _tally_events \"$cur\"; return ;;\n");
		else if (offer == OFFER_KEYS)
			text_str(t, ") _tally_list \"$cur\" \"$keys\"; return ;;\n");
		else {
			text_str(t, ") COMPREPLY=($(compgen -W '");
			add_choices(t, str_from(option->argument));
			text_str(t, "' -- \"$cur\")); return ;;\n");
		}
	}
}

static void add_verbs(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	for (size_t i = 0; i < count; i++)
		text_printf(t, "%s%s", i ? " " : "", commands[i]->name);
}

static void add_bash_words(struct text *t, const struct command *command)
{
	struct tally_str own = command_subcommands(command);
	text_printf(t, "\t%s) words='", command->name);
	struct option_walk walk = {.table = command->options};
	for (const struct option *option; (option = option_walk_next(&walk));)
		if (option->name && cmd_completion_is_shown(option))
			text_printf(t, " --%s", option->name);
	text_str(t, "' verbs='");
	if (command == &command_help || command == &command_man)
		add_verbs(t);
	else
		add_choices(t, own);
	text_str(t, "' ;;\n");
}

static void cmd_completion_bash(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	/* These functions complete the last item of a list. bash splits words at colons, which event names contain. */
	text_str(t,
		"_tally_list()\n{\n\tlocal cur=$1 head=\n\tcase $cur in *,*) head=${cur%,*}, ;; esac\n"
		"\tCOMPREPLY=($(compgen -P \"$head\" -W \"$2\" -- \"${cur##*,}\"))\n"
		"\ttype __ltrim_colon_completions >/dev/null 2>&1 && __ltrim_colon_completions \"$cur\"\n}\n"
		"_tally_events()\n{\n\t_tally_list \"$1\" \"$(${COMP_WORDS[0]} list --raw-dump 2>/dev/null)\"\n}\n");
	text_str(t, "_tally()\n{\n\tlocal word=${COMP_WORDS[COMP_CWORD]} words verbs\n"
		    "\tlocal cur=$word prev=${COMP_WORDS[COMP_CWORD-1]} keys='");
	cmd_completion_add_keys(t);
	/* bash splits --name=value into three words. */
	text_str(t, "'\n\ttype _get_comp_words_by_ref >/dev/null 2>&1 && _get_comp_words_by_ref -n : cur prev\n"
		    "\tif [ \"$cur\" = = ]; then cur=\n"
		    "\telif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		    "\tcase ${COMP_WORDS[1]},$prev in\n");
	for (size_t i = 0; i < count; i++)
		add_bash_values(t, commands[i]);
	text_str(t, "\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < count; i++)
		add_bash_words(t, commands[i]);
	text_str(t, "\tesac\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='");
	add_verbs(t);
	text_str(t,
		"'\n\telif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$verbs\" ] && [ \"${word#-}\" = \"$word\" ]; then\n"
		"\t\tCOMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n\t\treturn\n\tfi\n"
		"\tif [ \"$COMP_CWORD\" -eq 1 ] || [ \"${word#-}\" != \"$word\" ]; then\n"
		"\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n\telse\n"
		"\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\ncomplete -o filenames -F _tally tally perf\n");
}

static void add_zsh_help(struct text *t, const char *s)
{
	for (; *s; s++) {
		if (strchr("[]:\\\"$`", *s))
			text_char(t, '\\');
		text_char(t, *s == '\n' ? ' ' : *s);
	}
}

static void add_zsh_option(struct text *t, const struct command *command, const struct option *option)
{
	text_printf(t, " \\\n\t\t\t\"--%s[", option->name);
	add_zsh_help(t, option->help ? option->help : "");
	switch (offer_of(command, option)) {
	case OFFER_EVENTS:
		text_str(t, "]:event:($($words[1] list --raw-dump 2>/dev/null))\"");
		break;
	case OFFER_KEYS:
		text_str(t, "]:key:_values -s , key $keys\"");
		break;
	case OFFER_CHOICES:
		text_str(t, "]:value:(");
		add_choices(t, str_from(option->argument));
		text_str(t, ")\"");
		break;
	case OFFER_OPTION_ONLY:
		text_str(t, "]\"");
		break;
	}
}

static void add_zsh_command(struct text *t, const struct command *command)
{
	struct tally_str own = command_subcommands(command);
	text_printf(t, "\t%s)\n\t\t_arguments", command->name);
	struct option_walk walk = {.table = command->options};
	for (const struct option *option; (option = option_walk_next(&walk));)
		if (option->name && cmd_completion_is_shown(option))
			add_zsh_option(t, command, option);
	if (own.len) {
		text_str(t, " \\\n\t\t\t'1:command:(");
		add_choices(t, own);
		text_str(t, ")'");
	}
	text_str(t, " \\\n\t\t\t'*:file:_files' ;;\n");
}

static void cmd_completion_zsh(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	text_str(t, "#compdef tally perf\n_tally()\n{\n\tlocal -a keys=(");
	cmd_completion_add_keys(t);
	text_str(t, ")\n\tif (( CURRENT == 2 )); then\n\t\tlocal -a verbs=(\n");
	for (size_t i = 0; i < count; i++) {
		text_printf(t, "\t\t\t\"%s:", commands[i]->name);
		add_zsh_help(t, commands[i]->summary);
		text_str(t, "\"\n");
	}
	text_str(t, "\t\t)\n\t\t_describe command verbs\n\t\treturn\n\tfi\n\tcase $words[2] in\n");
	for (size_t i = 0; i < count; i++)
		add_zsh_command(t, commands[i]);
	text_str(t, "\tesac\n}\n_tally \"$@\"\n");
}

static void add_fish_option(struct text *t, const struct command *command, const struct option *option)
{
	text_printf(t, "complete -c tally -n '__fish_seen_subcommand_from %s'", command->name);
	if (option->name)
		text_printf(t, " -l %s", option->name);
	if (option->letter)
		text_printf(t, " -s %c", option->letter);
	switch (offer_of(command, option)) {
	case OFFER_EVENTS:
		text_str(t, " -x -a '(tally list --raw-dump 2>/dev/null | string split \" \")'");
		break;
	case OFFER_KEYS:
		text_str(t, " -x -a '(__fish_complete_list , \"string split \\\" \\\" \\\"");
		cmd_completion_add_keys(t);
		text_str(t, "\\\"\")'");
		break;
	case OFFER_CHOICES:
		text_str(t, " -x -a '");
		add_choices(t, str_from(option->argument));
		text_char(t, '\'');
		break;
	case OFFER_OPTION_ONLY:
		break;
	}
	text_str(t, option->argument && !option->argument_is_optional ? " -r -d " : " -d ");
	shell_words_put_quoted(t, str_from(option->help ? option->help : ""));
	text_char(t, '\n');
}

static void cmd_completion_fish(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	text_str(t, "complete -c perf -w tally\n");
	for (size_t i = 0; i < count; i++) {
		struct tally_str own = command_subcommands(commands[i]);
		text_printf(t, "complete -c tally -n __fish_use_subcommand -f -a %s -d ", commands[i]->name);
		shell_words_put_quoted(t, str_from(commands[i]->summary));
		text_char(t, '\n');
		if (own.len) {
			text_printf(t, "complete -c tally -n '__fish_seen_subcommand_from %s' -a '", commands[i]->name);
			add_choices(t, own);
			text_str(t, "'\n");
		}
		struct option_walk walk = {.table = commands[i]->options};
		for (const struct option *option; (option = option_walk_next(&walk));)
			if (cmd_completion_is_shown(option))
				add_fish_option(t, commands[i], option);
	}
}

static int cmd_completion_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, NULL, &rest);
	if (code != CLI_GO_ON)
		return code;
	struct text t = {0};
	const char *shell = rest < argc ? argv[rest] : "";
	if (strcmp(shell, "bash") == 0)
		cmd_completion_bash(&t);
	else if (strcmp(shell, "zsh") == 0)
		cmd_completion_zsh(&t);
	else if (strcmp(shell, "fish") == 0)
		cmd_completion_fish(&t);
	else
		return cli_failf(cli, "%s: completion needs the name of a shell: bash, zsh or fish", cli->program);
	return cli_finish_text(cli, &t);
}

const struct command command_completion = {
	.name = "completion",
	.summary = "Print a completion script for bash, zsh or fish",
	.usages = completion_usages,
	.options = &completion_table,
	.description = "In bash: source <(tally completion bash). The build installs all three.",
	.run = cmd_completion_run,
};
