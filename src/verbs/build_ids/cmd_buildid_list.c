/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tasks/session/build_id.h"
#include "tasks/session/build_id_rows.h"
#include "tasks/session/recording_input.h"
#include "verbs/build_ids/recorded_build_ids.h"

#define BUILDID_LIST_SCHEMA 1

struct cmd_buildid_list_settings {
	struct input_options input;
	bool kernel, kernel_maps, with_hits, json;
	unsigned verbose;
};

static const struct option buildid_list_options[] = {
	{.name = "with-hits",
		.letter = 'H',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_buildid_list_settings, with_hits),
		.help = "Show only DSOs with hits"},
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_STRING,
		.argument = "file",
		.offset = offsetof(struct cmd_buildid_list_settings, input.path),
		.help = "Input file name: a recording, or an ELF file"},
	{.name = "kernel",
		.letter = 'k',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_buildid_list_settings, kernel),
		.help = "Show current kernel build id"},
	{.name = "kernel-maps",
		.letter = 'm',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_buildid_list_settings, kernel_maps),
		.help = "Show build id of current kernel + modules"},
	INPUT_OPTIONS(struct cmd_buildid_list_settings, input),
	{.name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_buildid_list_settings, json),
		.help = "Print the files of a recording as JSON (docs/schema/buildid-list.json)"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct cmd_buildid_list_settings, verbose),
		.help = "Report what the recording lost or hides"},
};
static const struct option_table buildid_list_table = {buildid_list_options, ARRAY_LEN(buildid_list_options), false};
static const char *const buildid_list_usages[] = {"[<options>]", NULL};
static const char *const buildid_list_examples[] = {"the files of a recording, and their build ids",
	"tally buildid-list -i perf.data", "only those that samples hit", "tally buildid-list -H", "of a program",
	"tally buildid-list -i /bin/ls", NULL};

static int cmd_buildid_list_print_one(const struct record_build_id *id)
{
	char hex[BUILD_ID_HEX_BYTES];
	build_id_to_hex(id, hex);
	printf("%s\n", hex);
	return 0;
}

/* Returns whether the file is an ELF file. If so, its build ID or an error message has been printed. */
static bool print_elf(const struct cli *cli, const char *path, int *code)
{
	struct file_map map;
	struct record_build_id id;
	if (!path || strcmp(path, "-") == 0 || file_map_open(path, &map, NULL) != TALLY_OK)
		return false;
	bool is_elf = map.bytes.len >= 4 && memcmp(map.bytes.data, "\177ELF", 4) == 0;
	if (is_elf && build_id_in_elf(map.bytes, &id))
		*code = cmd_buildid_list_print_one(&id);
	else if (is_elf)
		*code = cli_failf(cli, "%s has no build id", path);
	file_map_close(&map);
	return is_elf;
}

static void cmd_buildid_list_put_json(const char *path, const struct build_id_rows *rows, struct text *t)
{
	struct json j = {.out = t};
	json_object(&j, NULL);
	json_u64(&j, "schema", BUILDID_LIST_SCHEMA);
	json_string(&j, "path", str_from(path));
	json_array(&j, "files");
	for (size_t i = 0; i < rows->rows.len; i++) {
		const struct build_id_row *row = &rows->rows.items[i];
		char hex[BUILD_ID_HEX_BYTES];
		build_id_to_hex(&row->id, hex);
		json_object(&j, NULL);
		if (row->id.size)
			json_string(&j, "build_id", str_from(hex));
		json_string(&j, "name", row->name);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	text_char(t, '\n');
}

static int print_recording(const struct cli *cli, const struct cmd_buildid_list_settings *settings)
{
	struct tally_error err;
	struct perfdata_reader *reader;
	if (recording_open(&settings->input, &reader, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	struct build_id_rows rows;
	struct input_health health;
	build_id_rows_init(&rows);
	enum tally_status status = recorded_build_ids_list(reader, settings->with_hits, &rows, &health, &err);
	struct text t = {0};
	if (settings->json)
		cmd_buildid_list_put_json(recording_name(settings->input.path), &rows, &t);
	else
		build_id_rows_print(&rows, &t);
	int code = cli_finish_text(cli, &t);
	if (rows.rows.len == 0 && status == TALLY_OK)
		cli_failf(cli, "note: %s has no build IDs%s", recording_name(settings->input.path),
			settings->with_hits ? ", as no sample hit a file" : "");
	build_id_rows_deinit(&rows);
	perfdata_reader_destroy(reader);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	if (settings->verbose > 0)
		cli_print_health(cli, &health);
	if (health.is_cut)
		return cli_failf(cli, "the recording is cut or damaged at offset %llu; what comes before is listed",
			(unsigned long long)health.cut_offset);
	return code;
}

static int print_kernel(const struct cli *cli)
{
	struct record_build_id id;
	if (!build_id_of_kernel(&id))
		return cli_failf(cli, "cannot read the running kernel's build ID from /sys/kernel/notes");
	return cmd_buildid_list_print_one(&id);
}

static int cmd_buildid_list_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_buildid_list_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (settings.json && (settings.kernel || settings.kernel_maps))
		return cli_usagef(cli, command, "json", "--json is for the files of a recording");
	if (settings.kernel)
		return print_kernel(cli);
	if (settings.kernel_maps)
		return build_id_print_kernel_maps(cli);
	if (!settings.json && print_elf(cli, settings.input.path, &code))
		return code;
	return print_recording(cli, &settings);
}

const struct command command_buildid_list = {
	.name = "buildid-list",
	.summary = "List the buildids in a perf.data file",
	.usages = buildid_list_usages,
	.options = &buildid_list_table,
	.description =
		"Lists the files of a recording with their build ids: those in its header, or, with -H, in a pipe and "
		"where the header has none, those that samples or their callers hit. A file without a known build id "
		"has blanks in its place.\n\n"
		"-i also takes an ELF file, whose own build id is printed.",
	.examples = buildid_list_examples,
	.run = cmd_buildid_list_run,
};
