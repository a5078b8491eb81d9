/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "code/binaries/build_id_cache.h"
#include "tasks/session/build_id.h"
#include "tasks/session/build_id_rows.h"
#include "tasks/session/recording_input.h"
#include "verbs/build_ids/archive_tar.h"
#include "verbs/build_ids/archive_unpack.h"
#include "verbs/build_ids/recorded_build_ids.h"

#define SYMBOLS_NAME ARCHIVE_SYMBOLS
#define ALL_PREFIX   "perf.all-"
#define SUFFIX	     ".tar.bz2"
#define NOTHING	     1 /* perf's exit status if the recording has no build IDs. */

struct cmd_archive_settings {
	bool all, unpack, force;
	const char *excluded; /* A file that lists build IDs to exclude; NULL if there is none. */
};

static const struct option archive_options[] = {
	{"all", 0, OPTION_FLAG, .offset = offsetof(struct cmd_archive_settings, all),
		.help = "one archive with the recording and its files: perf.all-HOST-TIME.tar.bz2"},
	{"unpack", 0, OPTION_FLAG, .offset = offsetof(struct cmd_archive_settings, unpack),
		.help = "put an archive's files into the cache of build ids, and a recording in it here"},
	{"force", 'f', OPTION_FLAG, .offset = offsetof(struct cmd_archive_settings, force),
		.help = "do not check who owns the file"},
	{"exclude-buildids", 0, OPTION_STRING, "file", .offset = offsetof(struct cmd_archive_settings, excluded),
		.help = "exclude the build IDs that this file lists, one per line (text after them is ignored)"},
};
static const struct option_table archive_table = {archive_options, ARRAY_LEN(archive_options), false};
static const char *const archive_usages[] = {
	"[--all] [--exclude-buildids <file>] [<file>]", "--unpack [<archive>]", NULL};
static const char *const archive_examples[] = {"pack what another machine needs to show the symbols of this recording",
	"tally archive perf.data", "unpack it there, next to perf.data", "tally archive --unpack perf.data.tar.bz2",
	NULL};

static bool same_id(const struct elf_build_id *a, const struct record_build_id *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Only a running kernel or vDSO with the same build ID is stored; another one would yield wrong symbols for the
 * recorded addresses. */
static bool runs_here(struct tally_str name, const struct elf_build_id *id, struct tally_error *err)
{
	struct record_build_id own;
	bool is_kernel = str_equal(name, STR(BUILD_ID_CACHE_KERNEL));
	if ((is_kernel ? build_id_of_kernel(&own) : build_id_of_vdso(name, &own)) && same_id(id, &own))
		return true;
	(void)error_set(err, TALLY_NOT_FOUND, "it differs from the running one: it has another build ID");
	return false;
}

/* Adds a file to the cache that was not stored there during recording. */
static void fill_cache(const struct cli *cli, const struct build_id_cache *cache, const struct build_id_row *row,
	const struct elf_build_id *id)
{
	char path[PATH_MAX];
	struct tally_error err;
	enum tally_status status = TALLY_INVALID;
	if (str_equal(row->name, STR(BUILD_ID_CACHE_KERNEL)))
		status = runs_here(row->name, id, &err) ? build_id_cache_add_kernel(cache, id, &err) : status;
	else if (str_equal(row->name, STR(BUILD_ID_CACHE_VDSO)) || str_equal(row->name, STR(BUILD_ID_CACHE_VDSO32)))
		status = runs_here(row->name, id, &err) ? build_id_cache_add_vdso(cache, row->name, id, &err) : status;
	else if (row->name.len < sizeof(path) && row->name.len && row->name.data[0] == '/') {
		memcpy(path, row->name.data, row->name.len);
		path[row->name.len] = 0;
		status = build_id_cache_add(cache, row->name, id, path, &err);
	} else {
		(void)error_set(&err, TALLY_INVALID, "it is not a file");
	}
	if (status != TALLY_OK)
		cli_sayf("%s: %.*s is not in the archive: %s\n", cli->program, (int)row->name.len, row->name.data,
			err.text);
}

/* Appends the names of the entry's link and folder, relative to the cache. */
static void cmd_archive_add_names(struct text *names, const struct build_id_cache_entry *entry)
{
	char hex[BUILD_ID_HEX_BYTES];
	struct record_build_id id = {.size = entry->id.size};
	struct tally_str name = entry->name;
	memcpy(id.bytes, entry->id.bytes, entry->id.size);
	build_id_to_hex(&id, hex);
	while (name.len && name.data[0] == '/') {
		name.data++;
		name.len--;
	}
	text_printf(names, ".build-id/%.2s/%s%c", hex, hex + 2, 0);
	text_bytes(names, name.data, name.len);
	text_printf(names, "/%s%c", hex, 0);
}

static bool line_is_id(struct tally_str line, const char *hex)
{
	size_t len = strlen(hex);
	return line.len >= len && !strncasecmp(line.data, hex, len) &&
	       (line.len == len || line.data[len] == ' ' || line.data[len] == '\t' || line.data[len] == '\r');
}

/* Removes the rows that the file lists by build ID, in the format of buildid-list. */
static enum tally_status cmd_archive_exclude(struct build_id_rows *rows, const char *path, struct tally_error *err)
{
	char *text;
	size_t len, kept = 0;
	enum tally_status status = file_read(path, LIMIT_BUILD_ID_LIST, &text, &len, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < rows->rows.len; i++) {
		char hex[BUILD_ID_HEX_BYTES];
		struct tally_str rest = {text, len}, line;
		bool is_listed = false;
		build_id_to_hex(&rows->rows.items[i].id, hex);
		while (*hex && !is_listed && rest.len > 0 && str_next(&rest, '\n', &line))
			is_listed = line_is_id(line, hex);
		if (!is_listed)
			rows->rows.items[kept++] = rows->rows.items[i];
	}
	rows->rows.len = kept;
	free(text);
	return TALLY_OK;
}

static enum tally_status cmd_archive_collect(const struct cli *cli, const struct build_id_rows *rows,
	const struct build_id_cache *cache, struct text *names, struct tally_error *err)
{
	struct build_id_cache_list list = {0};
	for (size_t i = 0; i < rows->rows.len; i++) {
		const struct build_id_row *row = &rows->rows.items[i];
		struct elf_build_id id = {.size = row->id.size};
		if (row->id.size == 0 || row->id.size > sizeof(id.bytes))
			continue;
		memcpy(id.bytes, row->id.bytes, row->id.size);
		if (!build_id_cache_has(cache, &id))
			fill_cache(cli, cache, row, &id);
	}
	enum tally_status status = build_id_cache_read(cache, &list, err);
	if (status != TALLY_OK)
		return status;
	if (list.failures)
		cli_sayf("%s: warning: %s; entries and folders that are left out: %zu\n", cli->program,
			list.failure.text, list.failures);
	for (size_t i = 0; i < rows->rows.len; i++)
		for (size_t e = 0; e < list.entries.len; e++)
			if (rows->rows.items[i].id.size && same_id(&list.entries.items[e].id, &rows->rows.items[i].id))
				cmd_archive_add_names(names, &list.entries.items[e]);
	build_id_cache_list_deinit(&list);
	return TALLY_OK;
}

static enum tally_status recorded_files(
	const char *input, bool force, struct build_id_rows *rows, struct tally_error *err)
{
	struct perfdata_reader *reader;
	struct input_health health;
	enum tally_status status = recording_open(&(struct input_options){input, force}, &reader, err);
	if (status != TALLY_OK)
		return status;
	status = recorded_build_ids_list(reader, true, rows, &health, err);
	perfdata_reader_destroy(reader);
	return status;
}

/* The recording and the archive of its files are put into a temporary folder, so that the outer archive contains
 * them under plain names. */
static enum tally_status pack_all(const char *input, const char *output, const struct build_id_cache *cache,
	const struct text *names, struct tally_error *err)
{
	char folder[] = "/tmp/tally-archive-XXXXXX", path[PATH_MAX], link[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input;
	if (!realpath(input, real) || !mkdtemp(folder))
		return error_set_errno(err, TALLY_IO, errno, "cannot make a folder for the archive");
	snprintf(path, sizeof(path), "%s/" SYMBOLS_NAME, folder);
	snprintf(link, sizeof(link), "%s/%s", folder, base);
	enum tally_status status = tar_pack(path, cache->dir, names, false, err);
	if (status == TALLY_OK && symlink(real, link) != 0)
		status = error_set_errno(err, TALLY_IO, errno, "cannot make a folder for the archive");
	if (status == TALLY_OK) {
		struct text both = {0};
		text_printf(&both, "%s%c" SYMBOLS_NAME "%c", base, 0, 0);
		status = tar_pack(output, folder, &both, true, err);
		text_deinit(&both);
	}
	unlink(path);
	unlink(link);
	rmdir(folder);
	return status;
}

/* Makes the same name as perf: perf.all-HOST-YYYYMMDD-HHMMSS.tar.bz2. */
static void cmd_archive_name_all(char *output, size_t bytes)
{
	char host[HOST_NAME_MAX + 1] = "", when[32];
	time_t now = time(NULL);
	struct tm local;
	gethostname(host, sizeof(host) - 1);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	snprintf(output, bytes, ALL_PREFIX "%s-%s" SUFFIX, host, when);
}

static int pack_rows(const struct cli *cli, const struct cmd_archive_settings *settings, const char *input,
	const struct build_id_rows *rows)
{
	struct tally_error err;
	struct build_id_cache cache;
	struct text names = {0};
	char output[PATH_MAX];
	snprintf(output, sizeof(output), "%s" SUFFIX, input);
	if (settings->all)
		cmd_archive_name_all(output, sizeof(output));
	enum tally_status status = build_id_cache_init(&cache, cli->build_id_dir, &err);
	if (status == TALLY_OK)
		status = cmd_archive_collect(cli, rows, &cache, &names, &err);
	if (status == TALLY_OK && names.len == 0) {
		text_deinit(&names);
		return cli_failf(cli, "%s archive: no build-ids found", cli->program), NOTHING;
	}
	if (status == TALLY_OK)
		status = settings->all ? pack_all(input, output, &cache, &names, &err)
				       : tar_pack(output, cache.dir, &names, false, &err);
	text_deinit(&names);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	printf("Now please run:\n\n$ %s archive --unpack %s\n\n"
	       "or unpack the tar manually wherever you need to run '%s report' on.\n",
		cli->program, output, cli->program);
	return 0;
}

static int cmd_archive_pack(const struct cli *cli, const struct cmd_archive_settings *settings, const char *input)
{
	struct tally_error err;
	struct build_id_rows rows;
	if (!strcmp(input, "-"))
		return cli_failf(cli, "archive reads a file, not a pipe");
	build_id_rows_init(&rows);
	int code = 0;
	enum tally_status status = recorded_files(input, settings->force, &rows, &err);
	if (status == TALLY_OK && settings->excluded)
		status = cmd_archive_exclude(&rows, settings->excluded, &err);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	else
		code = pack_rows(cli, settings, input, &rows);
	build_id_rows_deinit(&rows);
	return code;
}

/* Finds the only perf.all archive in the current folder or, if there is none, the archive of the default recording.
 * Returns false if there are several perf.all archives or no archive. */
static bool find_archive(char *path, size_t bytes)
{
	DIR *dir = opendir(".");
	size_t found = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		size_t len = strlen(entry->d_name);
		bool is_one = !strncmp(entry->d_name, ALL_PREFIX, strlen(ALL_PREFIX)) && len > strlen(SUFFIX) &&
			      !strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX);
		if (is_one && ++found == 1)
			snprintf(path, bytes, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (found == 0 && file_exists(RECORDING_NAME SUFFIX)) {
		snprintf(path, bytes, RECORDING_NAME SUFFIX);
		found = 1;
	}
	return found == 1;
}

static int cmd_archive_unpack(const struct cli *cli, const char *named)
{
	struct tally_error err;
	struct build_id_cache cache;
	char path[PATH_MAX], inside[PATH_MAX + 8];
	if (named)
		snprintf(path, sizeof(path), "%s", named);
	else if (!find_archive(path, sizeof(path)))
		return cli_failf(cli,
			"%s archive: name the archive to unpack: neither " ALL_PREFIX "*" SUFFIX
			", nor perf.data" SUFFIX ", lies here",
			cli->program);
	if (!file_is_regular(path))
		return cli_failf(cli, "%s is not a file", path);
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	enum tally_status status = build_id_cache_init(&cache, cli->build_id_dir, &err);
	snprintf(inside, sizeof(inside), "%s/x", cache.dir);
	if (status == TALLY_OK)
		status = file_make_parents(inside, &err);
	if (status == TALLY_OK)
		status = strncmp(base, ALL_PREFIX, strlen(ALL_PREFIX)) ? archive_unpack_symbols(path, cache.dir, &err)
								       : archive_unpack_all(path, cache.dir, &err);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

static int cmd_archive_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_archive_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (argc - rest > 1)
		return cli_usagef(
			cli, command, NULL, "unexpected argument '%s': archive takes one file", argv[rest + 1]);
	if (settings.all && settings.unpack)
		return cli_usagef(cli, command, "all,unpack", "--all and --unpack cannot be used together");
	if (settings.unpack && settings.excluded)
		return cli_usagef(
			cli, command, "unpack,exclude-buildids", "--exclude-buildids applies to packing only");
	const char *named = rest < argc ? argv[rest] : NULL;
	return settings.unpack ? cmd_archive_unpack(cli, named)
			       : cmd_archive_pack(cli, &settings, recording_name(named));
}

const struct command command_archive = {
	.name = "archive",
	.summary = "Create archive with object files with build-ids found in perf.data file",
	.usages = archive_usages,
	.options = &archive_table,
	.description =
		"Packs the program files that samples and their callers hit into FILE.tar.bz2, as perf archive does. "
		"The files come from the build-ID cache, and those that it lacks are added to it. Unpack the archive "
		"into ~/.debug on another machine (--unpack does that), and reports there show all symbols.\n\n"
		"tar and bzip2 do the packing, bzip2 the unpacking. Unpacking writes program files into the build-ID "
		"cache and the recording into the current folder, and nothing else: an archive with any other member "
		"is refused as a whole. Existing files are never replaced.",
	.examples = archive_examples,
	.run = cmd_archive_run,
};
