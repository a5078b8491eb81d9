/*
 * cmd_completion.c - completion scripts for bash, zsh and fish, written from the command and option tables.
 */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option_table table = {NULL, 0, true};
static const char *const usages[] = {"bash|zsh|fish", NULL};

static void add_option_words(struct text *t, const struct command *command)
{
	for (size_t i = 0; i < command->options->count; i++) {
		const struct option *option = &command->options->options[i];
		if (option->name && option->kind != OPTION_UNSUPPORTED && !option->is_hidden)
			text_printf(t, " --%s", option->name);
	}
}

static bool takes_events(const struct option *option)
{
	return option->letter == 'e' && option->name && strcmp(option->name, "event") == 0;
}

/* Help text inside single quotes. */
static void add_quoted(struct text *t, const char *s)
{
	text_char(t, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			text_str(t, "'\\''");
		else if (*s == '\n')
			text_char(t, ' ');
		else
			text_char(t, *s);
	}
	text_char(t, '\'');
}

static void bash(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	/* A colon ends bash's words, but not an event's name. */
	text_str(t,
		"_tally_events()\n{\n\tlocal cur=$1 head=\n\tcase $cur in *,*) head=${cur%,*}, ;; esac\n"
		"\tCOMPREPLY=($(compgen -P \"$head\" -W \"$(tally list --raw-dump 2>/dev/null)\" -- \"${cur##*,}\"))\n"
		"\ttype __ltrim_colon_completions >/dev/null 2>&1 && __ltrim_colon_completions \"$cur\"\n}\n");
	text_str(t, "_tally()\n{\n\tlocal word=${COMP_WORDS[COMP_CWORD]} words\n"
		    "\tlocal cur=$word prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		    "\ttype _get_comp_words_by_ref >/dev/null 2>&1 && _get_comp_words_by_ref -n : cur prev\n"
		    "\tcase $prev in -e|--event) _tally_events \"$cur\"; return ;; esac\n"
		    "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < count; i++) {
		text_printf(t, "\t%s) words='", commands[i]->name);
		add_option_words(t, commands[i]);
		text_str(t, "' ;;\n");
	}
	text_str(t, "\tesac\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='");
	for (size_t i = 0; i < count; i++)
		text_printf(t, "%s%s", i ? " " : "", commands[i]->name);
	text_str(t, "'\n\tfi\n\tif [ \"$COMP_CWORD\" -eq 1 ] || [ \"${word#-}\" != \"$word\" ]; then\n"
		    "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n\telse\n"
		    "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\ncomplete -o filenames -F _tally tally\n");
}

static void add_zsh_help(struct text *t, const char *s)
{
	for (; *s; s++) {
		if (strchr("[]:\\\"$`", *s))
			text_char(t, '\\');
		text_char(t, *s == '\n' ? ' ' : *s);
	}
}

static void zsh(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	text_str(t, "#compdef tally\n_tally()\n{\n\tif (( CURRENT == 2 )); then\n\t\tlocal -a verbs=(\n");
	for (size_t i = 0; i < count; i++) {
		text_printf(t, "\t\t\t\"%s:", commands[i]->name);
		add_zsh_help(t, commands[i]->summary);
		text_str(t, "\"\n");
	}
	text_str(t, "\t\t)\n\t\t_describe command verbs\n\t\treturn\n\tfi\n\tcase $words[2] in\n");
	for (size_t i = 0; i < count; i++) {
		text_printf(t, "\t%s)\n\t\t_arguments", commands[i]->name);
		for (size_t o = 0; o < commands[i]->options->count; o++) {
			const struct option *option = &commands[i]->options->options[o];
			if (!option->name || option->kind == OPTION_UNSUPPORTED || option->is_hidden)
				continue;
			text_printf(t, " \\\n\t\t\t\"--%s[", option->name);
			add_zsh_help(t, option->help ? option->help : "");
			text_str(t, takes_events(option) ? "]:event:($(tally list --raw-dump 2>/dev/null))\"" : "]\"");
		}
		text_str(t, " \\\n\t\t\t'*:file:_files' ;;\n");
	}
	text_str(t, "\tesac\n}\n_tally \"$@\"\n");
}

static void fish(struct text *t)
{
	size_t count;
	const struct command *const *commands = commands_all(&count);
	for (size_t i = 0; i < count; i++) {
		text_printf(t, "complete -c tally -n __fish_use_subcommand -f -a %s -d ", commands[i]->name);
		add_quoted(t, commands[i]->summary);
		text_char(t, '\n');
		for (size_t o = 0; o < commands[i]->options->count; o++) {
			const struct option *option = &commands[i]->options->options[o];
			if (option->kind == OPTION_UNSUPPORTED || option->is_hidden)
				continue;
			text_printf(t, "complete -c tally -n '__fish_seen_subcommand_from %s'", commands[i]->name);
			if (option->name)
				text_printf(t, " -l %s", option->name);
			if (option->letter)
				text_printf(t, " -s %c", option->letter);
			if (takes_events(option))
				text_str(t, " -x -a '(tally list --raw-dump 2>/dev/null | string split \" \")'");
			text_str(t, option->argument && !option->argument_is_optional ? " -r -d " : " -d ");
			add_quoted(t, option->help ? option->help : "");
			text_char(t, '\n');
		}
	}
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, NULL, &rest);
	if (code != CLI_GO_ON)
		return code;
	struct text t = {0};
	const char *shell = rest < argc ? argv[rest] : "";
	if (strcmp(shell, "bash") == 0)
		bash(&t);
	else if (strcmp(shell, "zsh") == 0)
		zsh(&t);
	else if (strcmp(shell, "fish") == 0)
		fish(&t);
	else
		return cli_failf(cli, "%s: completion is made for bash, zsh and fish: name one of them", cli->program);
	return cli_finish_text(cli, &t);
}

const struct command command_completion = {
	.name = "completion",
	.summary = "Print a completion script for bash, zsh or fish",
	.usages = usages,
	.options = &table,
	.description = "In bash: source <(tally completion bash). The build installs all three.",
	.run = run,
};
