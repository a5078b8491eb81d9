#include <stdio.h>
#include <string.h>

#include "analysis/inject_survey.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/build_id.h"
#include "cli/build_id_rows.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/recording_input.h"

struct settings {
	const char *input;
	bool force, kernel, kernel_maps, with_hits;
	unsigned verbose;
};

static const struct option options[] = {
	{.name = "force",
		.letter = 'f',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, force),
		.help = "don't complain, do it"},
	{.name = "with-hits",
		.letter = 'H',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, with_hits),
		.help = "Show only DSOs with hits"},
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_STRING,
		.argument = "file",
		.offset = offsetof(struct settings, input),
		.help = "Input file name: a recording, or an ELF file"},
	{.name = "kernel",
		.letter = 'k',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, kernel),
		.help = "Show current kernel build id"},
	{.name = "kernel-maps",
		.letter = 'm',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct settings, kernel_maps),
		.help = "Show build id of current kernel + modules"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct settings, verbose),
		.help = "Say what the recording lost or hides"},
};
static const struct option_table table = {options, sizeof(options) / sizeof(options[0]), false};
static const char *const usages[] = {"[<options>]", NULL};
static const char *const examples[] = {"the files of a recording, and their build ids",
	"tally buildid-list -i perf.data", "only those that samples hit", "tally buildid-list -H", "of a program",
	"tally buildid-list -i /bin/ls", NULL};

static int print_one(const struct record_build_id *id)
{
	char hex[BUILD_ID_HEX_BYTES];
	build_id_to_hex(id, hex);
	printf("%s\n", hex);
	return 0;
}

/* True if the file is an ELF file; its build id has been printed then, or the lack of one told. */
static bool print_elf(const struct cli *cli, const char *path, int *code)
{
	struct file_map map;
	struct record_build_id id;
	if (!path || strcmp(path, "-") == 0 || file_map_open(path, &map, NULL) != TALLY_OK)
		return false;
	bool is_elf = map.bytes.len >= 4 && memcmp(map.bytes.data, "\177ELF", 4) == 0;
	if (is_elf && build_id_in_elf(map.bytes, &id))
		*code = print_one(&id);
	else if (is_elf)
		*code = cli_failf(cli, "%s has no build id", path);
	file_map_close(&map);
	return is_elf;
}

static struct record_build_id id_of(const struct perfdata_build_id *listed)
{
	struct record_build_id id = {.size = listed->size};
	memcpy(id.bytes, listed->bytes, sizeof(id.bytes));
	return id;
}

/* perf 6.1 has the kernel first, then the order of the file; perf 7.3 sorts by name. */
static bool add_listed(struct build_id_rows *rows, const struct perfdata_build_id *ids, size_t count)
{
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++) {
			bool is_kernel = str_starts_with(ids[i].filename, STR("[kernel.kallsyms]"));
			struct record_build_id id = id_of(&ids[i]);
			if (is_kernel == (turn == 0) && !build_id_rows_add(rows, ids[i].filename, &id))
				return false;
		}
	return true;
}

static const struct perfdata_build_id *find_listed(const struct inject_survey *survey, struct tally_str name)
{
	for (size_t i = 0; i < survey->build_ids.len; i++)
		if (str_equal(survey->build_ids.items[i].filename, name))
			return &survey->build_ids.items[i];
	return NULL;
}

static bool add_hits(struct build_id_rows *rows, const struct inject_survey *survey)
{
	const struct machine *machine = survey->sideband.machine;
	size_t count = machine_binary_count(machine);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < count; i++) {
			const struct machine_binary *binary = machine_binary_get(machine, i);
			bool is_kernel = binary->kind == MACHINE_KERNEL;
			if (!survey->is_hit[i] || is_kernel != (turn == 0))
				continue;
			struct tally_str name =
				is_kernel ? STR("[kernel.kallsyms]") : machine_string(machine, binary->path);
			struct record_build_id id = binary->build_id;
			const struct perfdata_build_id *listed = id.size ? NULL : find_listed(survey, name);
			if (listed)
				id = id_of(listed);
			if (!build_id_rows_add(rows, name, &id))
				return false;
		}
	return true;
}

/* What a recording lists of itself; where it does not, or hits are wanted, what its samples say. */
static enum tally_status list_recording(struct perfdata_reader *reader, bool with_hits, struct build_id_rows *rows,
	struct input_health *health, struct tally_error *err)
{
	const struct perfdata_features *features = perfdata_reader_features(reader);
	*health = *perfdata_reader_health(reader);
	if (!with_hits && !perfdata_reader_is_pipe(reader) && feature_is_present(features, FEATURE_BUILD_ID))
		return add_listed(rows, features->build_ids, features->build_id_count) ? TALLY_OK : error_nomem(err);
	struct inject_survey survey;
	enum tally_status status = inject_survey_read(reader, INJECT_SURVEY_HITS, &survey, err);
	if (status != TALLY_OK)
		return status;
	if (!add_hits(rows, &survey))
		status = error_nomem(err);
	*health = survey.sideband.health;
	inject_survey_deinit(&survey);
	return status;
}

static int print_recording(const struct cli *cli, const struct settings *settings)
{
	struct tally_error err;
	struct perfdata_reader *reader;
	if (cli_open_recording(cli, settings->input, &reader, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	struct build_id_rows rows;
	struct input_health health;
	build_id_rows_init(&rows);
	enum tally_status status = list_recording(reader, settings->with_hits, &rows, &health, &err);
	struct text t = {0};
	build_id_rows_print(&rows, &t);
	int code = cli_finish_text(cli, &t);
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
		return cli_failf(cli, "the running kernel's build id cannot be read from /sys/kernel/notes");
	return print_one(&id);
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, command, NULL, "buildid-list takes options only, not '%s'", argv[rest]);
	if (settings.kernel)
		return print_kernel(cli);
	if (settings.kernel_maps)
		return build_id_print_kernel_maps(cli);
	if (print_elf(cli, settings.input, &code))
		return code;
	return print_recording(cli, &settings);
}

const struct command command_buildid_list = {
	.name = "buildid-list",
	.summary = "List the buildids in a perf.data file",
	.usages = usages,
	.options = &table,
	.description =
		"Lists the files of a recording with their build ids: those in its header, or, with -H, in a pipe and "
		"where the header has none, those that samples or their callers hit. A file without a known build id "
		"has blanks in its place.\n\n"
		"-i also takes an ELF file, whose own build id is printed.",
	.examples = examples,
	.run = run,
};
