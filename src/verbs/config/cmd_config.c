/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/config_edit.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/config_files.h"
#include "cli/output_file.h"
#include "verbs/config/config_list.h"

struct cmd_config_settings {
	bool lists;
	bool system;
	bool user;
	bool json;
};

/* A word of the command line, "name" or "name=value". */
struct cmd_config_word {
	struct tally_str name, value;
	bool is_set;
};

static const struct option config_options[] = {
	{.name = "list",
		.letter = 'l',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_config_settings, lists),
		.help = "show current config variables"},
	{.name = "system",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_config_settings, system),
		.help = "use system config file"},
	{.name = "user",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_config_settings, user),
		.help = "use user config file"},
	{.name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_config_settings, json),
		.help = "List as JSON with stable fields (\"schema\": 1), with the file of each variable"},
};
static const struct option_table config_table = {config_options, ARRAY_LEN(config_options), true};
static const char *const config_usages[] = {"[<file-option>] [options] [section.name[=value] ...]", NULL};
static const char *const config_examples[] = {"show all variables", "tally config --list", "show one, then change it",
	"tally config report.children report.children=false", "where each variable comes from",
	"tally config --list --json", NULL};

/* Lists the files that are read. The list ends with NULL. */
static void cmd_config_files(
	const struct cmd_config_settings *settings, const struct config_paths *paths, const char *files[3])
{
	size_t count = 0;
	if (settings->system) {
		files[count++] = paths->system;
	} else if (settings->user) {
		files[count++] = paths->own;
	} else if (paths->instead) {
		files[count++] = paths->instead;
	} else {
		files[count++] = paths->system;
		files[count++] = paths->own;
	}
	files[count] = NULL;
}

static int cmd_config_read(const struct cli *cli, const char *const *files, struct config_list *list)
{
	struct diag notes;
	struct tally_error err;
	enum tally_status status = TALLY_OK;
	diag_init(&notes);
	for (size_t i = 0; files[i] && status == TALLY_OK; i++)
		status = config_list_read(list, files[i], &notes, &err);
	cli_print_diag(cli, &notes);
	diag_deinit(&notes);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

static void cmd_config_say_files(const struct cli *cli, const char *what, const char *const *files)
{
	cli_sayf("%s: %s in %s%s%s\n", cli->program, what, files[0] ? files[0] : "no file: HOME is not set",
		files[0] && files[1] ? " and " : "", files[0] && files[1] ? files[1] : "");
}

static int cmd_config_show(const struct cli *cli, const struct cmd_config_settings *settings, const char *const *files)
{
	struct config_list list = {0};
	struct text t = {0};
	int code = cmd_config_read(cli, files, &list);
	if (code == 0) {
		if (settings->json)
			config_list_json(&list, &t);
		else
			config_list_text(&list, &t);
		if (list.settings.len == 0)
			cmd_config_say_files(cli, "no variable is set", files);
		code = cli_finish_text(cli, &t);
	}
	config_list_deinit(&list);
	return code;
}

static int cmd_config_get(const struct cli *cli, const char *const *files, struct tally_str name)
{
	struct config_list list = {0};
	struct text t = {0};
	char what[CONFIG_NAME_BYTES + 32];
	int code = cmd_config_read(cli, files, &list);
	const struct config_setting *setting = config_list_find(&list, name);
	if (code == 0 && setting) {
		text_printf(&t, "%s=", setting->name);
		text_bytes(&t, setting->value.data, setting->value.len);
		text_char(&t, '\n');
		code = cli_finish_text(cli, &t);
	} else if (code == 0) {
		snprintf(what, sizeof(what), "%.*s is not set", (int)name.len, name.data);
		cmd_config_say_files(cli, what, files);
	}
	config_list_deinit(&list);
	return code;
}

/* Returns the file to write, or NULL after a message. */
static const char *cmd_config_target(
	const struct cli *cli, const struct cmd_config_settings *settings, const struct config_paths *paths)
{
	const char *path = settings->system ? paths->system
			   : settings->user ? paths->own
					    : (paths->instead ? paths->instead : paths->own);
	struct stat st;
	if (!path)
		cli_failf(cli, "HOME is not set: name the configuration file by PERF_CONFIG, or use --system");
	else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		cli_failf(cli, "'%s' is not a file that can keep a variable", path);
	else
		return path;
	return NULL;
}

static int cmd_config_set(const struct cli *cli, const char *path, const struct cmd_config_word *word)
{
	struct tally_error err;
	struct text changed = {0};
	struct output_file file;
	char *text = NULL;
	size_t len = 0;
	enum tally_status status = TALLY_OK;
	if (file_exists(path))
		status = file_read(path, LIMIT_CONFIG, &text, &len, &err);
	if (status == TALLY_OK)
		status = config_edit_set(
			(struct tally_str){text ? text : "", len}, word->name, word->value, &changed, &err);
	free(text);
	if (status == TALLY_CORRUPT)
		error_prefix(&err, "nothing is written, because '%s' has to be corrected first", path);
	if (status == TALLY_OK)
		status = output_file_open(path, NULL, &file, &err);
	/* The file is not written by struct text, which would escape bytes that are not printable. */
	if (status == TALLY_OK)
		status = output_file_finish(&file, file_write_all(file.fd, changed.data, changed.len, &err), &err);
	text_deinit(&changed);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

/* Returns CLI_GO_ON, or the exit code after a message. */
static int cmd_config_split(const struct cli *cli, const char *typed, struct cmd_config_word *word)
{
	const char *equals = strchr(typed, '=');
	*word = (struct cmd_config_word){.is_set = equals != NULL};
	word->name = str_trim((struct tally_str){typed, equals ? (size_t)(equals - typed) : strlen(typed)});
	word->value = str_trim(str_from(equals ? equals + 1 : ""));
	const char *complaint = config_edit_complaint(word->name);
	if (!complaint && equals && word->value.len == 0)
		complaint = "does not contain a value";
	return complaint ? cli_failf(cli, "The config variable %s: %s", complaint, typed) : CLI_GO_ON;
}

static int cmd_config_words(const struct cli *cli, const struct cmd_config_settings *settings,
	const struct config_paths *paths, char **words)
{
	const char *files[3];
	struct cmd_config_word word;
	int code = CLI_GO_ON;
	/* All words are checked first, so that nothing is written if any of them is invalid. */
	for (size_t i = 0; words[i] && code == CLI_GO_ON; i++)
		code = cmd_config_split(cli, words[i], &word);
	if (code != CLI_GO_ON)
		return code;
	code = 0;
	cmd_config_files(settings, paths, files);
	for (size_t i = 0; words[i] && code == 0; i++) {
		(void)cmd_config_split(cli, words[i], &word);
		if (!word.is_set) {
			code = cmd_config_get(cli, files, word.name);
			continue;
		}
		const char *path = cmd_config_target(cli, settings, paths);
		code = path ? cmd_config_set(cli, path, &word) : EXIT_FAILED;
	}
	return code;
}

static int cmd_config_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_config_settings settings = {0};
	const char *files[3];
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (settings.system && settings.user)
		return cli_usagef(cli, command, "user,system", "Error: only one config file at a time");
	if (rest < argc && (settings.lists || settings.json))
		return cli_usagef(cli, command, "list,json", "Error: takes no arguments");
	struct config_paths paths;
	config_paths_init(&paths);
	cmd_config_files(&settings, &paths, files);
	if (rest < argc)
		code = cmd_config_words(cli, &settings, &paths, argv + rest);
	else
		code = cmd_config_show(cli, &settings, files);
	config_paths_deinit(&paths);
	return code;
}

const struct command command_config = {
	.name = "config",
	.summary = "Get and set variables in a configuration file.",
	.usages = config_usages,
	.options = &config_table,
	.description =
		"Shows variables of the configuration files of perf, /etc/perfconfig and ~/.perfconfig, or changes "
		"them. The value in the user's file counts if both have one. The variable PERF_CONFIG of the "
		"environment names another file, which is read and written instead of both.\n\n"
		"Without words it lists all variables that are set; section.name shows one; section.name=value writes "
		"one to the user's file, or to the system's with --system. Only that value changes: comments, the "
		"order and variables that tally does not know stay as they are. A value that needs quotation marks "
		"gets them.\n\n"
		"Exit status: 0, also if a variable is not set; 255 if a word is no variable, or the file cannot be "
		"written.",
	.examples = config_examples,
	.run = cmd_config_run,
};
