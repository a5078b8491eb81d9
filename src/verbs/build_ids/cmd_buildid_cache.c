/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "code/binaries/build_id_cache.h"
#include "tasks/probing/cached_probes.h"
#include "tasks/session/build_id.h"
#include "tasks/session/record_words.h"
#include "tasks/session/recording_input.h"
#include "verbs/build_ids/index_files.h"
#include "verbs/build_ids/recorded_build_ids.h"

#define BUILDID_CACHE_SCHEMA 1

struct cmd_buildid_cache_settings {
	const char *add, *remove, *purge, *update, *missing, *index;
	bool purge_all, list, force, is_json;
	bool has_max_bytes;
	uint64_t max_bytes, target;
	unsigned verbose;
};

static const char *set_max_bytes(const struct option_use *use)
{
	struct cmd_buildid_cache_settings *settings = use->settings;
	bool has_unit;
	if (!record_size_parse(use->value, &settings->max_bytes, &has_unit))
		return "expects a size such as 500M";
	settings->has_max_bytes = true;
	return NULL;
}

#define FILES(long_name, short_name, field, text)                                                            \
	{                                                                                                    \
		.name = (long_name), .letter = (short_name), .kind = OPTION_STRING, .argument = "file list", \
		.offset = offsetof(struct cmd_buildid_cache_settings, field), .help = (text)                 \
	}
#define FLAG(long_name, short_name, field, text)                                             \
	{                                                                                    \
		.name = (long_name), .letter = (short_name), .kind = OPTION_FLAG,            \
		.offset = offsetof(struct cmd_buildid_cache_settings, field), .help = (text) \
	}
static const struct option buildid_cache_options[] = {
	FILES("add", 'a', add, "file(s) to add"),
	FLAG("force", 'f', force, "don't complain, do it"),
	FILES("index", 0, index,
		"file(s) to index: their source lines and inlined calls are read now and kept for reports"),
	{.name = "kcore", .letter = 'k', .kind = OPTION_UNSUPPORTED, .argument = "file", .help = "kcore file to add"},
	FLAG("json", 0, is_json, "print the lists of --list and --missing as JSON (docs/schema/buildid-cache.json)"),
	FLAG("list", 'l', list, "list all cached files"),
	{.name = "max-size",
		.kind = OPTION_CALL,
		.argument = "size",
		.call = set_max_bytes,
		.help = "remove the oldest files until the cache holds no more than that (K, M, G)"},
	{.name = "missing",
		.letter = 'M',
		.kind = OPTION_STRING,
		.argument = "file",
		.offset = offsetof(struct cmd_buildid_cache_settings, missing),
		.help = "to find missing build ids in the cache"},
	FILES("purge", 'p', purge, "file(s) to remove (remove old caches too)"),
	FLAG("purge-all", 'P', purge_all, "purge all cached files"),
	FILES("remove", 'r', remove, "file(s) to remove"),
	FILES("update", 'u', update, "file(s) to update"),
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct cmd_buildid_cache_settings, verbose),
		.help = "be more verbose"},
	{.name = "debuginfod",
		.kind = OPTION_UNSUPPORTED,
		.argument = "debuginfod urls",
		.argument_is_optional = true,
		.help = "ask these servers for debug files"},
	{.name = "target-ns",
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct cmd_buildid_cache_settings, target),
		.help = "take files from the mount namespace of this process"},
};
static const struct option_table buildid_cache_table = {buildid_cache_options, ARRAY_LEN(buildid_cache_options), false};
static const char *const buildid_cache_usages[] = {"[<options>]", NULL};
static const char *const buildid_cache_examples[] = {"keep a program for later reports",
	"tally buildid-cache --add ./program", "list what the cache holds", "tally buildid-cache --list",
	"keep at most a gigabyte of it", "tally buildid-cache --max-size 1G", NULL};

struct cmd_buildid_cache_job {
	const struct cli *cli;
	const struct cmd_buildid_cache_settings *settings;
	struct build_id_cache cache;
	struct text text; /* The output of --json. */
	struct json json;
	bool has_failed;
};

/* A file that the user names: the name as typed, its name in the cache, its path, and its build ID. */
struct subject {
	char typed[PATH_MAX], name[PATH_MAX], path[PATH_MAX + 32];
	struct elf_build_id id;
};

static void cmd_buildid_cache_tell(const struct cmd_buildid_cache_job *job, const char *what,
	const struct elf_build_id *elf_id, const char *name, bool ok)
{
	char hex[BUILD_ID_HEX_BYTES];
	struct record_build_id id = {.size = elf_id->size};
	if (job->settings->verbose == 0)
		return;
	memcpy(id.bytes, elf_id->bytes, sizeof(id.bytes));
	build_id_to_hex(&id, hex);
	cli_sayf("%s %s %s: %s\n", what, hex, name, ok ? "Ok" : "FAIL");
}

static bool cmd_buildid_cache_is_named(const struct subject *subject, const char *name)
{
	return strcmp(subject->name, name) == 0;
}

static bool find_subject(
	const struct cmd_buildid_cache_settings *settings, struct tally_str word, struct subject *subject)
{
	struct record_build_id id;
	*subject = (struct subject){.path = ""};
	const char *typed = subject->typed;
	snprintf(subject->typed, sizeof(subject->typed), "%.*s", (int)word.len, word.data);
	bool is_bracketed = typed[0] == '[';
	if (is_bracketed) {
		snprintf(subject->name, sizeof(subject->name), "%s", typed);
		bool ok = cmd_buildid_cache_is_named(subject, BUILD_ID_CACHE_KERNEL)
				  ? build_id_of_kernel(&id)
				  : build_id_of_vdso(str_from(typed), &id);
		if (!ok)
			return false;
		subject->id.size = id.size;
		memcpy(subject->id.bytes, id.bytes, sizeof(subject->id.bytes));
		return true;
	}
	if (settings->target > 0) {
		/* The path is resolved in the process's root directory, where realpath would follow absolute links
		 * into our own root. */
		snprintf(subject->name, sizeof(subject->name), "%s", typed);
		snprintf(subject->path, sizeof(subject->path), "/proc/%llu/root%s%s",
			(unsigned long long)settings->target, typed[0] == '/' ? "" : "/", typed);
	} else {
		char *real = realpath(typed, NULL);
		snprintf(subject->name, sizeof(subject->name), "%s", real ? real : typed);
		snprintf(subject->path, sizeof(subject->path), "%s", real ? real : typed);
		free(real);
	}
	return elf_file_build_id(subject->path, &subject->id, NULL) == TALLY_OK;
}

static enum tally_status cmd_buildid_cache_put(
	const struct cmd_buildid_cache_job *job, const struct subject *subject, struct tally_error *err)
{
	if (cmd_buildid_cache_is_named(subject, BUILD_ID_CACHE_KERNEL))
		return build_id_cache_add_kernel(&job->cache, &subject->id, err);
	if (cmd_buildid_cache_is_named(subject, BUILD_ID_CACHE_VDSO) ||
		cmd_buildid_cache_is_named(subject, BUILD_ID_CACHE_VDSO32))
		return build_id_cache_add_vdso(&job->cache, str_from(subject->name), &subject->id, err);
	return build_id_cache_add(&job->cache, str_from(subject->name), &subject->id, subject->path, err);
}

/* Stores the SDT probes of the program, so that probe, record and list find them by name. */
static void cmd_buildid_cache_put_probes(struct cmd_buildid_cache_job *job, const struct subject *subject)
{
	struct tally_error err;
	if (subject->typed[0] == '[' ||
		cached_probes_add_notes(&job->cache, str_from(subject->name), &subject->id, &err) == TALLY_OK)
		return;
	cli_sayf("%s: the SDT probes of %s are not stored: %s\n", job->cli->program, subject->typed, err.text);
}

static void add_one(struct cmd_buildid_cache_job *job, struct tally_str word, bool replaces)
{
	struct subject subject;
	struct tally_error err;
	const char *verb = replaces ? "update" : "add";
	if (!find_subject(job->settings, word, &subject)) {
		cli_failf(job->cli, "Couldn't %s %.*s: it has no build id, or cannot be read", verb, (int)word.len,
			word.data);
		job->has_failed = true;
		return;
	}
	bool is_there = build_id_cache_has(&job->cache, &subject.id);
	enum tally_status status = TALLY_OK;
	/* As in perf, --update affects only files that are in the cache. */
	if (is_there == replaces)
		status = cmd_buildid_cache_put(job, &subject, &err);
	if (status == TALLY_OK && is_there >= replaces)
		cmd_buildid_cache_put_probes(job, &subject);
	cmd_buildid_cache_tell(job, replaces ? "Updating" : "Adding", &subject.id, subject.typed,
		status == TALLY_OK && is_there >= replaces);
	if (status != TALLY_OK)
		cli_failf(job->cli, "Couldn't %s %s: %s", verb, subject.typed, err.text);
	else if (replaces && !is_there)
		cli_sayf("%s wasn't in the cache\n", subject.typed);
	job->has_failed |= status != TALLY_OK;
}

static void remove_one(struct cmd_buildid_cache_job *job, struct tally_str word)
{
	struct subject subject;
	struct tally_error err;
	if (!find_subject(job->settings, word, &subject)) {
		cli_failf(job->cli, "Couldn't remove %.*s: it has no build id, or cannot be read", (int)word.len,
			word.data);
		job->has_failed = true;
		return;
	}
	enum tally_status status = build_id_cache_remove(&job->cache, &subject.id, &err);
	cmd_buildid_cache_tell(job, "Removing", &subject.id, subject.typed, status == TALLY_OK);
	if (status == TALLY_NOT_FOUND)
		cli_sayf("%s wasn't in the cache\n", subject.typed);
	else if (status != TALLY_OK)
		cli_failf(job->cli, "Couldn't remove %s: %s", subject.typed, err.text);
	job->has_failed |= status != TALLY_OK && status != TALLY_NOT_FOUND;
}

/* Reports the part of the cache that could not be read. */
static void tell_failures(struct cmd_buildid_cache_job *job, const struct build_id_cache_list *list)
{
	if (list->failures == 0)
		return;
	(void)cli_failf(job->cli, "%s; entries and folders that are left out: %zu", list->failure.text, list->failures);
	job->has_failed = true;
}

/* Removes all entries of this name, whatever their build ID, or all entries if name is NULL. */
static void cmd_buildid_cache_purge(struct cmd_buildid_cache_job *job, const char *name, const char *typed)
{
	struct build_id_cache_list list;
	struct tally_error err;
	enum tally_status status = build_id_cache_read(&job->cache, &list, &err);
	if (status != TALLY_OK) {
		(void)cli_fail(job->cli, &err);
		job->has_failed = true;
		return;
	}
	for (size_t i = 0; i < list.entries.len && status == TALLY_OK; i++) {
		const struct build_id_cache_entry *entry = &list.entries.items[i];
		if (name && !str_equal(entry->name, str_from(name)))
			continue;
		status = build_id_cache_remove(&job->cache, &entry->id, &err);
		if (name)
			cmd_buildid_cache_tell(job, "Removing", &entry->id, typed, status == TALLY_OK);
	}
	tell_failures(job, &list);
	build_id_cache_list_deinit(&list);
	if (job->settings->verbose > 0)
		cli_sayf("%s%s: %s\n", name ? "Purging " : "Purged all", name ? typed : "",
			status == TALLY_OK ? "Ok" : "FAIL");
	if (status != TALLY_OK)
		(void)cli_fail(job->cli, &err);
	job->has_failed |= status != TALLY_OK;
}

static void purge_one(struct cmd_buildid_cache_job *job, struct tally_str word)
{
	char typed[PATH_MAX];
	snprintf(typed, sizeof(typed), "%.*s", (int)word.len, word.data);
	char *real = realpath(typed, NULL);
	cmd_buildid_cache_purge(job, real ? real : typed, typed);
	free(real);
}

static void each_file(struct cmd_buildid_cache_job *job, const char *files, int what)
{
	struct tally_str rest = str_from(files), word;
	while (files && str_next_item(&rest, &word)) {
		if (word.len == 0 || word.len >= PATH_MAX)
			continue;
		if (what == 'a' || what == 'u')
			add_one(job, word, what == 'u');
		else if (what == 'r')
			remove_one(job, word);
		else if (what == 'i')
			job->has_failed |= !index_file(job->cli, word, job->settings->verbose > 0);
		else
			purge_one(job, word);
	}
}

static void cmd_buildid_cache_trim(struct cmd_buildid_cache_job *job)
{
	struct tally_error err;
	size_t removed;
	if (build_id_cache_trim(&job->cache, job->settings->max_bytes, &removed, &err) != TALLY_OK) {
		(void)cli_fail(job->cli, &err);
		job->has_failed = true;
	} else if (job->settings->verbose > 0) {
		fprintf(stderr, "%zu files removed\n", removed);
	}
}

/* name is the key of the list in JSON. */
static int cmd_buildid_cache_print_rows(
	struct cmd_buildid_cache_job *job, const char *name, const struct build_id_rows *rows)
{
	struct text t = {0};
	if (job->settings->is_json) {
		struct json *j = &job->json;
		json_array(j, name);
		for (size_t i = 0; i < rows->rows.len; i++) {
			char hex[BUILD_ID_HEX_BYTES];
			build_id_to_hex(&rows->rows.items[i].id, hex);
			json_object(j, NULL);
			json_string(j, "build_id", str_from(hex));
			json_string(j, "name", rows->rows.items[i].name);
			json_object_end(j);
		}
		json_array_end(j);
		return 0;
	}
	for (size_t i = 0; i < rows->rows.len; i++) {
		char hex[BUILD_ID_HEX_BYTES];
		build_id_to_hex(&rows->rows.items[i].id, hex);
		text_str(&t, hex); /* Unlike in the output of buildid-list, the build ID is not padded. */
		text_char(&t, ' ');
		text_visible(&t, rows->rows.items[i].name);
		text_char(&t, '\n');
	}
	return cli_finish_text(job->cli, &t);
}

static void list_cache(struct cmd_buildid_cache_job *job)
{
	struct build_id_cache_list list;
	struct build_id_rows rows;
	struct tally_error err;
	if (build_id_cache_read(&job->cache, &list, &err) != TALLY_OK) {
		(void)cli_fail(job->cli, &err);
		job->has_failed = true;
		return;
	}
	build_id_rows_init(&rows);
	for (size_t i = 0; i < list.entries.len; i++) {
		struct record_build_id id = {.size = list.entries.items[i].id.size};
		memcpy(id.bytes, list.entries.items[i].id.bytes, sizeof(id.bytes));
		job->has_failed |= !build_id_rows_add(&rows, list.entries.items[i].name, &id);
	}
	job->has_failed |= cmd_buildid_cache_print_rows(job, "files", &rows) != 0;
	tell_failures(job, &list);
	build_id_rows_deinit(&rows);
	build_id_cache_list_deinit(&list);
}

static bool keep_missing(
	const struct cmd_buildid_cache_job *job, const struct build_id_rows *all, struct build_id_rows *missing)
{
	for (size_t i = 0; i < all->rows.len; i++) {
		const struct build_id_row *row = &all->rows.items[i];
		struct elf_build_id id = {.size = row->id.size};
		memcpy(id.bytes, row->id.bytes, sizeof(id.bytes));
		if (id.size > 0 && !build_id_cache_has(&job->cache, &id) &&
			!build_id_rows_add(missing, row->name, &row->id))
			return false;
	}
	return true;
}

static void list_missing(struct cmd_buildid_cache_job *job)
{
	struct perfdata_reader *reader;
	struct tally_error err;
	struct build_id_rows all, missing;
	struct input_health health;
	if (recording_open(&(struct input_options){job->settings->missing, job->settings->force}, &reader, &err) !=
		TALLY_OK) {
		(void)cli_fail(job->cli, &err);
		job->has_failed = true;
		return;
	}
	build_id_rows_init(&all);
	build_id_rows_init(&missing);
	enum tally_status status = recorded_build_ids_list(reader, false, &all, &health, &err);
	if (status == TALLY_OK && !keep_missing(job, &all, &missing))
		status = error_nomem(&err);
	if (status != TALLY_OK)
		(void)cli_fail(job->cli, &err);
	job->has_failed |= status != TALLY_OK || cmd_buildid_cache_print_rows(job, "missing", &missing) != 0;
	build_id_rows_deinit(&missing);
	build_id_rows_deinit(&all);
	perfdata_reader_destroy(reader);
}

static void cmd_buildid_cache_list(struct cmd_buildid_cache_job *job)
{
	const struct cmd_buildid_cache_settings *settings = job->settings;
	if (settings->is_json) {
		job->json.out = &job->text;
		json_object(&job->json, NULL);
		json_u64(&job->json, "schema", BUILDID_CACHE_SCHEMA);
	}
	if (settings->missing)
		list_missing(job);
	if (settings->list)
		list_cache(job);
	if (!settings->is_json)
		return;
	json_object_end(&job->json);
	job->has_failed |= cli_finish_text(job->cli, &job->text) != 0;
}

static int cmd_buildid_cache_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_buildid_cache_settings settings = {0};
	struct tally_error err;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	bool is_idle = !settings.add && !settings.remove && !settings.purge && !settings.update && !settings.missing &&
		       !settings.purge_all && !settings.list && !settings.has_max_bytes && !settings.index;
	if (rest < argc || is_idle)
		return cli_usagef(
			cli, command, NULL, "nothing to do: name an action such as --add, --remove or --list");
	if (settings.is_json && !settings.list && !settings.missing)
		return cli_usagef(cli, command, "json", "--json is for the lists of --list and --missing");
	struct cmd_buildid_cache_job job = {.cli = cli, .settings = &settings};
	if (build_id_cache_init(&job.cache, cli->build_id_dir, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	if (settings.verbose > 0)
		/* perf prints this line to show that it contacts no debuginfod server. */
		fprintf(stderr, "DEBUGINFOD_URLS=\n");
	each_file(&job, settings.add, 'a');
	each_file(&job, settings.remove, 'r');
	each_file(&job, settings.purge, 'p');
	if (settings.purge_all)
		cmd_buildid_cache_purge(&job, NULL, NULL);
	each_file(&job, settings.update, 'u');
	each_file(&job, settings.index, 'i');
	if (settings.has_max_bytes)
		cmd_buildid_cache_trim(&job);
	cmd_buildid_cache_list(&job);
	return job.has_failed ? EXIT_FAILED : 0;
}

const struct command command_buildid_cache = {
	.name = "buildid-cache",
	.summary = "Manage build-id cache.",
	.usages = buildid_cache_usages,
	.options = &buildid_cache_table,
	.description =
		"Adds program files to the cache of build ids, lists and removes them. The statically defined probes "
		"(SDT) "
		"of a program that is added are listed by 'list sdt' from then on. The cache is perf's own, "
		"~/.debug or what --buildid-dir says: reports find programs there that have since been replaced. A "
		"file is linked into it where that is possible, else copied. [kernel.kallsyms], [vdso] and [vdso32] "
		"name the running kernel's symbols, this machine's vdso, and that of its 32-bit programs.\n\n"
		"--index reads all debug information of a program beforehand, so that no report waits for it; reports "
		"keep "
		"what they read themselves, and the running kernel's list of symbols, which takes longer to print than "
		"to read. Both lie in $TALLY_CACHE, $XDG_CACHE_HOME/tally or ~/.cache/tally, by build "
		"id; the oldest go when they come to 2 GiB, TALLY_CACHE= keeps none, and all may be removed at any "
		"time.\n\n"
		"--max-size counts what only the cache holds: a link to a file that is also elsewhere costs nothing. "
		"With "
		"TALLY_BUILDID_CACHE_MAX=SIZE in the environment record keeps the cache below that.",
	.examples = buildid_cache_examples,
	.run = cmd_buildid_cache_run,
};
