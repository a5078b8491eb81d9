/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "code/binaries/kernel_list_cache.h"
#include "kernel/recording/kernel_maps.h"

#define KALLSYMS_SCHEMA 1

struct cmd_kallsyms_settings {
	unsigned verbose;
	bool is_json;
};

static const struct option kallsyms_options[] = {
	{.name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct cmd_kallsyms_settings, is_json),
		.help = "Print JSON (docs/schema/kallsyms.json)"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		.offset = offsetof(struct cmd_kallsyms_settings, verbose),
		.help = "Report how much was searched"},
};
static const struct option_table kallsyms_table = {kallsyms_options, ARRAY_LEN(kallsyms_options), false};
static const char *const kallsyms_usages[] = {"[<options>] symbol_name", NULL};
static const char *const kallsyms_examples[] = {
	"find a function of the running kernel", "tally kallsyms vfs_read schedule", NULL};

struct file_search { /* Searches for the file of the module that is mapped at an address. */
	uint64_t address;
	char path[4096];
};

static enum tally_status find_file(void *context, const struct kernel_map *map, struct tally_error *err)
{
	struct file_search *search = context;
	(void)err;
	if (search->address >= map->start && search->address - map->start < map->len)
		snprintf(search->path, sizeof(search->path), "%.*s", (int)map->name.len, map->name.data);
	return TALLY_OK;
}

/* Returns the module's file, or its name if the file is not known. */
static struct tally_str cmd_kallsyms_file(const struct kallsyms_place *place, struct file_search *search)
{
	*search = (struct file_search){.address = place->start};
	if (place->module.len == 0)
		return STR("[kernel.kallsyms]");
	bool is_found = kernel_maps_each(kernel_seam_linux(), STR(""), find_file, search, NULL) == TALLY_OK;
	return is_found && search->path[0] ? str_from(search->path) : place->module;
}

static struct tally_str cmd_kallsyms_module(const struct kallsyms_place *place)
{
	return place->module.len == 0 ? STR("[kernel]") : place->module;
}

static void cmd_kallsyms_put_json(struct json *j, const struct kallsyms *kallsyms, const char *name)
{
	struct file_search search;
	struct kallsyms_place place;
	bool is_found = kallsyms_find(kallsyms, str_from(name), &place);
	json_object(j, NULL);
	json_string(j, "name", str_from(name));
	json_bool(j, "is_found", is_found);
	if (is_found) {
		json_string(j, "module", cmd_kallsyms_module(&place));
		json_string(j, "file", cmd_kallsyms_file(&place, &search));
		json_hex(j, "start", place.start);
		json_hex(j, "end", place.end);
	}
	json_object_end(j);
}

static void print_symbol(struct text *t, const struct kallsyms *kallsyms, const char *name)
{
	struct kallsyms_place place;
	text_visible(t, str_from(name));
	if (!kallsyms_find(kallsyms, str_from(name), &place)) {
		text_str(t, ": not found\n");
		return;
	}
	struct file_search search;
	struct tally_str module = cmd_kallsyms_module(&place), file = cmd_kallsyms_file(&place, &search);
	text_str(t, ": ");
	text_bytes(t, module.data, module.len);
	text_char(t, ' ');
	text_bytes(t, file.data, file.len);
	unsigned long long start = place.start, end = place.end;
	text_printf(t, " %#llx-%#llx (%#llx-%#llx)\n", start, end, start, end);
}

static void cmd_kallsyms_print_json(struct text *t, const struct kallsyms *kallsyms, char *const *names, size_t count)
{
	struct json j = {.out = t};
	json_object(&j, NULL);
	json_u64(&j, "schema", KALLSYMS_SCHEMA);
	json_array(&j, "symbols");
	for (size_t i = 0; i < count; i++)
		cmd_kallsyms_put_json(&j, kallsyms, names[i]);
	json_array_end(&j);
	json_object_end(&j);
}

static int cmd_kallsyms_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_kallsyms_settings settings = {0};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest == argc)
		return cli_usagef(cli, command, NULL, "which symbol?");
	char *text;
	size_t len;
	struct tally_error err;
	if (kernel_list_read("/proc/kallsyms", &text, &len, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	if (kallsyms_is_hidden(text, len)) {
		free(text);
		return cli_failf(cli, "Couldn't read /proc/kallsyms: the kernel hides its addresses, see "
				      "/proc/sys/kernel/kptr_restrict and perf_event_paranoid");
	}
	struct kallsyms kallsyms;
	struct text t = {0};
	kallsyms_open(text, len, &kallsyms);
	if (settings.verbose > 0)
		fprintf(stderr, "/proc/kallsyms: %zu bytes of the kernel, %zu of modules\n", kallsyms.kernel.len,
			kallsyms.modules.len);
	if (settings.is_json)
		cmd_kallsyms_print_json(&t, &kallsyms, argv + rest, (size_t)(argc - rest));
	for (int i = rest; i < argc && !settings.is_json; i++)
		print_symbol(&t, &kallsyms, argv[i]);
	code = cli_finish_text(cli, &t);
	free(text);
	return code;
}

const struct command command_kallsyms = {
	.name = "kallsyms",
	.summary = "Searches running kernel for symbols",
	.usages = kallsyms_usages,
	.options = &kallsyms_table,
	.description =
		"Prints where each named symbol is in the running kernel: the module, its file, and its start and "
		"end. If several symbols have the name, the first one is shown; the kernel's own come before those "
		"of modules.",
	.examples = kallsyms_examples,
	.run = cmd_kallsyms_run,
};
