/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_installed.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/order.h"
#include "base/vec.h"
#include "cli/commands.h"

#define SCRIPTS			"/scripts/python/bin" /* Python scripts only; Perl scripts cannot be run. */
#define RECORD			"-record"
#define SCRIPT_INSTALLED_REPORT "-report"
#define SCRIPT_INSTALLED_LISTED 36 /* Width of the column of names and arguments. */
#define HEAD_LINES		20 /* Number of lines at the top of a script that are searched for its description. */
/* Defines a shell function "perf" that runs this program on the named recording, and then runs the installed shell
 * script with its usual arguments. */
#define RUN_BY_SHELL                                                                                                 \
	"perf() { case $1 in script) shift; \"$TALLY_PROGRAM\" script ${TALLY_INPUT:+-i \"$TALLY_INPUT\"} \"$@\";; " \
	"*) \"$TALLY_PROGRAM\" \"$@\";; esac; }; . \"$0\""

struct installed_script {
	const char *folder; /* perf's exec path (PERF_EXEC_PATH) that contains the scripts. */
	const char *record, *report; /* Paths, or NULL if the script does not exist. */
};

typedef VEC(const char *) words_vec;

/* Finds the exec paths of installed versions of perf, in search order. Returns false if out of memory. */
static bool script_folders_find(glob_t *found)
{
	static const char *const usual[] = {"/usr/lib/perf-core", "/usr/libexec/perf-core", "/usr/local/lib/perf-core",
		"/usr/local/libexec/perf-core", "/usr/lib/linux-tools*/perf-core", "/usr/lib/linux-tools*/*/perf-core",
		"/opt/*/lib*/perf-core", "/opt/*/usr/lib*/perf-core", "/opt/*/*/usr/lib*/perf-core"};
	const char *chosen = getenv("PERF_EXEC_PATH");
	*found = (glob_t){0};
	if (chosen && *chosen)
		return glob(chosen, GLOB_NOCHECK | GLOB_NOESCAPE, NULL, found) == 0;
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (glob(usual[i], i ? GLOB_APPEND : 0, NULL, found) == GLOB_NOSPACE)
			return false;
	return true;
}

static const char *script_path(struct arena *arena, const char *folder, const char *name, const char *suffix)
{
	const char *path = arena_printf(arena, "%s" SCRIPTS "/%s%s", folder, name, suffix);
	return path && access(path, R_OK) == 0 ? path : NULL;
}

static bool script_find(struct arena *arena, const char *name, struct installed_script *script)
{
	glob_t folders;
	*script = (struct installed_script){0};
	bool has_folders = !strchr(name, '/') && script_folders_find(&folders);
	for (size_t i = 0; has_folders && i < folders.gl_pathc && !script->folder; i++) {
		script->record = script_path(arena, folders.gl_pathv[i], name, RECORD);
		script->report = script_path(arena, folders.gl_pathv[i], name, SCRIPT_INSTALLED_REPORT);
		if (script->record || script->report)
			script->folder = arena_printf(arena, "%s", folders.gl_pathv[i]);
	}
	if (!strchr(name, '/'))
		globfree(&folders);
	return script->folder != NULL;
}

/* Returns what follows a keyword in the script's leading comments, such as "# description:" or "# args:". */
static struct tally_str script_says(struct tally_str text, const char *what)
{
	struct tally_str line, wanted = str_from(what);
	for (int i = 0; i < HEAD_LINES && str_next(&text, '\n', &line); i++) {
		if (line.len == 0 || line.data[0] != '#')
			continue;
		line = str_trim((struct tally_str){line.data + 1, line.len - 1});
		if (str_starts_with(line, wanted))
			return str_trim((struct tally_str){line.data + wanted.len, line.len - wanted.len});
	}
	return (struct tally_str){"", 0};
}

static bool is_among(const words_vec *names, const char *name)
{
	for (size_t i = 0; i < names->len; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* Adds the names of a folder's report scripts that are not in the list. */
static bool script_names_add(struct arena *arena, const char *folder, words_vec *names)
{
	char *path = arena_printf(arena, "%s" SCRIPTS, folder);
	DIR *stream = path ? opendir(path) : NULL;
	struct dirent *entry;
	bool ok = path != NULL;
	while (ok && stream && (entry = readdir(stream))) {
		struct tally_str name = str_from(entry->d_name);
		if (!str_ends_with(name, STR(SCRIPT_INSTALLED_REPORT)) || name.len == strlen(SCRIPT_INSTALLED_REPORT))
			continue;
		const char *kept = arena_string(arena, name.data, name.len - strlen(SCRIPT_INSTALLED_REPORT));
		ok = kept && (is_among(names, kept) || vec_push(names, kept));
	}
	if (stream)
		closedir(stream);
	return ok;
}

static void script_list_one(struct arena *arena, const char *name, struct text *out)
{
	struct installed_script script;
	char *text;
	size_t len;
	if (!script_find(arena, name, &script) || !script.report ||
		file_read(script.report, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return;
	struct tally_str whole = {text, len};
	struct tally_str words = script_says(whole, "args:"), about = script_says(whole, "description:");
	const char *shown = arena_printf(arena, "%s%s%.*s", name, words.len ? " " : "", (int)words.len, words.data);
	text_str(out, "  ");
	text_str_left(out, str_from(shown ? shown : name), SCRIPT_INSTALLED_LISTED);
	text_char(out, ' ');
	text_bytes(out, about.data, about.len);
	text_char(out, '\n');
	free(text);
}

int script_installed_list(const struct cli *cli)
{
	struct arena arena;
	words_vec names = {0};
	struct text out = {0};
	glob_t folders;
	arena_init(&arena);
	text_to_fd(&out, STDOUT_FILENO);
	bool ok = script_folders_find(&folders);
	for (size_t i = 0; ok && i < folders.gl_pathc; i++)
		ok = script_names_add(&arena, folders.gl_pathv[i], &names);
	globfree(&folders);
	if (names.len > 0) {
		qsort(names.items, names.len, sizeof(*names.items), order_strings);
		text_str(&out, "List of available trace scripts:\n");
	}
	for (size_t i = 0; ok && i < names.len; i++)
		script_list_one(&arena, names.items[i], &out);
	int code = cli_finish_text(cli, &out);
	if (!ok)
		code = cli_failf(cli, "out of memory");
	else if (names.len == 0)
		cli_failf(cli,
			"no scripts: they come with perf, and none is installed in /usr/lib/perf-core, "
			"/usr/libexec/perf-core or where PERF_EXEC_PATH says; '%s script -s FILE' runs a script of "
			"your own",
			cli->program);
	vec_free(&names);
	arena_deinit(&arena);
	return code;
}

/* Replaces this process by a shell that runs the script. */
static int script_exec(
	const struct cli *cli, const struct installed_script *script, const char *path, const words_vec *words)
{
	char *text;
	size_t len;
	char self[4096];
	ssize_t self_len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (self_len <= 0 || file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return cli_failf(cli, "%s: cannot be run", path);
	self[self_len] = '\0';
	const char *end = memchr(text, '\n', len);
	bool is_bash = end && memmem(text, (size_t)(end - text), "bash", strlen("bash"));
	const char *shell = is_bash && access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
	free(text);
	words_vec all = {0};
	const char *const first[] = {shell, "-c", RUN_BY_SHELL, path};
	bool ok = true;
	for (size_t i = 0; i < ARRAY_LEN(first) && ok; i++)
		ok = vec_push(&all, first[i]);
	for (size_t i = 0; i < words->len && ok; i++)
		ok = vec_push(&all, words->items[i]);
	ok = ok && vec_push(&all, NULL) && setenv("TALLY_PROGRAM", self, 1) == 0 &&
	     setenv("PERF_EXEC_PATH", script->folder, 1) == 0;
	if (ok)
		execv(shell, (char *const *)(uintptr_t)all.items);
	vec_free(&all);
	return cli_failf(cli, "%s: %s", shell, ok ? strerror(errno) : "out of memory");
}

static const struct option *record_option(const char *word)
{
	const struct option_table *table = command_record.options;
	const char *name = word[1] == '-' ? word + 2 : NULL;
	struct option_walk walk = {.table = table};
	for (const struct option *option; (option = option_walk_next(&walk));)
		if (name ? option->name && strcmp(option->name, name) == 0
			 : option->letter && option->letter == word[1])
			return option;
	return NULL;
}

/* Returns whether the words of record select what is recorded, by a command or by a target option. */
static bool names_target(char **words)
{
	static const char *const targets[] = {"pid", "tid", "uid", "cpu", "all-cpus", "cgroup"};
	for (; *words; words++) {
		if (strcmp(*words, "--") == 0)
			return words[1] != NULL;
		if ((*words)[0] != '-' || (*words)[1] == '\0')
			return true;
		const struct option *option = record_option(*words);
		for (size_t i = 0; option && option->name && i < ARRAY_LEN(targets); i++)
			if (strcmp(option->name, targets[i]) == 0)
				return true;
		bool is_alone = (*words)[1] == '-' || (*words)[2] == '\0';
		if (option && option->argument && !option->argument_is_optional && is_alone && words[1])
			words++;
	}
	return false;
}

static bool push_all(words_vec *to, char **words, size_t count)
{
	bool ok = true;
	for (size_t i = 0; i < count && words[i] && ok; i++)
		ok = vec_push(to, words[i]);
	return ok;
}

static int script_record(const struct cli *cli, const struct script_settings *settings,
	const struct installed_script *script, char **words)
{
	words_vec all = {0};
	bool ok = settings->all_cpus || !names_target(words) ? vec_push(&all, "-a") : true;
	ok = ok && push_all(&all, words, SIZE_MAX);
	int code = ok ? script_exec(cli, script, script->record, &all) : cli_failf(cli, "out of memory");
	vec_free(&all);
	return code;
}

/* Returns the argument of -i or --input at this word and skips it, because many scripts pass their arguments to the
 * Python code only. */
static const char *script_installed_take_input(char **words, size_t *at)
{
	static const char *const long_form = "--input=";
	char *word = words[*at];
	if (strncmp(word, long_form, strlen(long_form)) == 0)
		return word + strlen(long_form);
	if (strcmp(word, "-i") != 0 && strcmp(word, "--input") != 0)
		return NULL;
	return words[*at + 1] ? words[++*at] : NULL;
}

static int script_report(
	const struct cli *cli, const char *input, const struct installed_script *script, char **words, size_t count)
{
	words_vec all = {0};
	bool ok = true;
	for (size_t i = 0; i < count && words[i] && ok; i++) {
		const char *named = script_installed_take_input(words, &i);
		if (named)
			input = named;
		else
			ok = vec_push(&all, words[i]);
	}
	ok = ok && (input ? setenv("TALLY_INPUT", input, 1) : unsetenv("TALLY_INPUT")) == 0;
	int code = ok ? script_exec(cli, script, script->report, &all) : cli_failf(cli, "out of memory");
	vec_free(&all);
	return code;
}

/* Returns how many words after the name are arguments of the report: all for a script called ...top, else the number
 * of angle brackets in its "args:" line (SIZE_MAX if there are fewer). The command to record follows them. */
static size_t count_report_words(const struct installed_script *script, const char *name, char **words)
{
	size_t given = 0, required = 0;
	char *text;
	size_t len;
	while (words[given])
		given++;
	if (str_ends_with(str_from(name), STR("top")))
		return given;
	if (file_read(script->report, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return 0;
	struct tally_str says = script_says((struct tally_str){text, len}, "args:");
	for (size_t i = 0; i < says.len; i++)
		required += says.data[i] == '<';
	free(text);
	return required <= given ? required : SIZE_MAX;
}

/* Runs the record script and the report script in parallel, connected by a pipe. */
static int script_live(const struct cli *cli, const struct script_settings *settings,
	const struct installed_script *script, const char *name, char **words)
{
	size_t count = count_report_words(script, name, words);
	int ends[2];
	if (count == SIZE_MAX)
		return cli_failf(
			cli, "the script '%s' requires arguments: '%s script -l' shows which", name, cli->program);
	if (pipe(ends) != 0)
		return cli_failf(cli, "a pipe: %s", strerror(errno));
	pid_t child = fork();
	if (child < 0)
		return cli_failf(cli, "fork: %s", strerror(errno));
	if (child == 0) {
		char quiet[] = "-q", output[] = "-o", pipe_name[] = "-";
		char *const ours[] = {quiet, output, pipe_name, NULL};
		words_vec all = {0};
		bool ok = settings->all_cpus || !names_target(words + count) ? vec_push(&all, "-a") : true;
		ok = ok && push_all(&all, (char **)(uintptr_t)ours, SIZE_MAX) &&
		     push_all(&all, words + count, SIZE_MAX);
		if (!ok || dup2(ends[1], STDOUT_FILENO) < 0)
			_exit(EXIT_FAILED);
		close(ends[0]);
		close(ends[1]);
		_exit(script_exec(cli, script, script->record, &all));
	}
	if (dup2(ends[0], STDIN_FILENO) < 0)
		return cli_failf(cli, "a pipe: %s", strerror(errno));
	close(ends[0]);
	close(ends[1]);
	return script_report(cli, "-", script, words, count);
}

int script_installed_run(const struct cli *cli, const struct script_settings *settings, char **words)
{
	bool is_record = strcmp(words[0], "record") == 0, is_report = strcmp(words[0], "report") == 0;
	char **name = words + (is_record || is_report);
	if (!*name)
		return cli_failf(cli, "%s requires the name of a script: '%s script -l' lists them", words[0],
			       cli->program),
		       EXIT_USAGE;
	struct arena arena;
	struct installed_script script;
	arena_init(&arena);
	bool is_found =
		script_find(&arena, *name, &script) && (is_report || script.record) && (is_record || script.report);
	int code = EXIT_FAILED;
	if (!is_found)
		cli_failf(cli,
			"no script '%s' that can be run is installed: '%s script -l' lists those that are, "
			"PERF_EXEC_PATH names another folder of perf's",
			*name, cli->program);
	else if (is_record)
		code = script_record(cli, settings, &script, name + 1);
	else if (is_report)
		code = script_report(cli, settings->input.path, &script, name + 1, SIZE_MAX);
	else
		code = script_live(cli, settings, &script, *name, name + 1);
	arena_deinit(&arena);
	return code;
}
