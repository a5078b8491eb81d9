/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/probe/probe_add.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "code/binaries/build_id_cache.h"
#include "kernel/probes/probe_blacklist.h"
#include "tasks/probing/cached_arguments.h"
#include "tasks/probing/probe_names.h"
#include "tasks/probing/probe_show.h"

struct probe_add_target {
	struct probe_target target;
	struct probe_binary *binary;
};

struct probe_add {
	const struct cli *cli;
	const struct command *command;
	const struct probe_settings *settings;
	struct arena arena;
	/* One definition per requested probe. All are parsed before the first is converted. */
	VEC(struct probe_definition) definitions;
	VEC(struct probe_add_target) targets; /* Each target is opened once. */
	struct probe_conversion conversion;
	VEC(const struct probe_binary *) binaries; /* Indexed by probe; NULL if the probe comes from the cache. */
	struct probe_blacklist blacklist;
	struct tally_error err;
	bool is_wrong_usage;
};

static enum tally_status probe_add_parse(struct probe_add *add)
{
	const struct probe_settings *settings = add->settings;
	if (!arena_vec_reserve(&add->arena, &add->definitions, settings->wishes.len))
		return error_nomem(&add->err);
	for (size_t i = 0; i < settings->wishes.len; i++) {
		struct probe_definition *definition = &add->definitions.items[i];
		if (settings->verbose > 0)
			cli_sayf("probe-definition(%zu): %s \n", i, settings->wishes.items[i].text);
		enum tally_status status =
			probe_definition_parse(settings->wishes.items[i].text, &add->arena, definition, &add->err);
		add->is_wrong_usage = status == TALLY_INVALID;
		if (status != TALLY_OK)
			return status;
		add->definitions.len++;
		if (settings->verbose > 0)
			cli_sayf("symbol:%.*s file:%.*s line:%u offset:%llu return:%d lazy:%.*s\n%zu arguments\n",
				(int)definition->point.function.len, definition->point.function.data,
				(int)definition->point.file.len, definition->point.file.data, definition->point.line,
				(unsigned long long)definition->point.offset, definition->point.is_return,
				(int)definition->point.lazy.len, definition->point.lazy.data,
				definition->argument_count);
	}
	return TALLY_OK;
}

static enum tally_status probe_add_open(
	struct probe_add *add, const struct probe_target *target, struct probe_binary **binary)
{
	for (size_t i = 0; i < add->targets.len; i++) {
		const struct probe_add_target *opened = &add->targets.items[i];
		bool is_same_name =
			opened->target.name == target->name ||
			(target->name && opened->target.name && strcmp(target->name, opened->target.name) == 0);
		*binary = opened->binary;
		if (opened->target.kind == target->kind && is_same_name)
			return TALLY_OK;
	}
	if (!vec_reserve(&add->targets, add->targets.len + 1))
		return error_nomem(&add->err);
	enum tally_status status = probe_settings_open(add->settings, target, binary, &add->err);
	if (status != TALLY_OK)
		return status;
	add->targets.items[add->targets.len++] = (struct probe_add_target){*target, *binary};
	if (add->settings->verbose > 0 && (*binary)->debug_path)
		cli_sayf("Using %s for symbols\n", (*binary)->debug_path);
	return TALLY_OK;
}

/* A line of the cache is already in the kernel's syntax. */
static enum tally_status probe_add_cached_line(
	struct probe_add *add, const struct probe_definition *definition, const struct cached_probe *found)
{
	struct probe_converted probe = {.definition = definition, .shown = definition->point};
	const char *line = arena_string(&add->conversion.arena, found->line.data, found->line.len);
	if (!line)
		return error_nomem(&add->err);
	if (!probe_event_parse(str_from(line), true, &probe.event))
		return error_set(&add->err, TALLY_CORRUPT, "the cache has a damaged definition: %s", line);
	probe.shown.function = str_from(
		arena_printf(&add->conversion.arena, "%%%.*s", (int)probe.event.event.len, probe.event.event.data));
	if (!probe.shown.function.data)
		return error_nomem(&add->err);
	if (!vec_push(&add->conversion.probes, probe))
		return error_nomem(&add->err);
	return TALLY_OK;
}

/* Adds a note about arguments of an SDT probe that the kernel cannot fetch. */
static enum tally_status probe_add_note_left(struct probe_add *add, const struct sdt_arguments_left *left)
{
	const char *note = arena_printf(&add->conversion.arena,
		"some arguments or places are left out (%zu in all): %s", left->count, left->why);
	return note && vec_push(&add->conversion.notes, note) ? TALLY_OK : error_nomem(&add->err);
}

static enum tally_status probe_add_named(
	struct probe_add *add, const struct probe_wish *wish, const struct probe_definition *definition)
{
	struct build_id_cache cache;
	struct cached_probe_list list;
	bool has_program = wish->has_target && wish->target.kind == PROBE_PROGRAM;
	struct probe_binary *binary = NULL;
	enum tally_status status = has_program ? probe_add_open(add, &wish->target, &binary) : TALLY_OK;
	if (status != TALLY_OK)
		return status;
	bool has_cache =
		build_id_cache_init(&cache, cli_build_id_dir(add->cli, add->settings->symfs), NULL) == TALLY_OK;
	const struct cached_probe_query query = {.cache = has_cache ? &cache : NULL,
		.group = definition->group,
		.event = definition->event,
		.path = binary ? binary->path : NULL};
	status = cached_probes_find(&query, &list, &add->err);
	if (status == TALLY_OK) {
		status = cached_arguments_choose(&list, definition->arguments, definition->argument_count, &add->err);
		for (size_t i = 0; i < list.probes.len && status == TALLY_OK; i++)
			status = probe_add_cached_line(add, definition, &list.probes.items[i]);
		if (status == TALLY_OK && list.left.count > 0)
			status = probe_add_note_left(add, &list.left);
		cached_probe_list_deinit(&list);
	}
	return status;
}

static enum tally_status probe_add_convert(struct probe_add *add)
{
	const struct probe_settings *settings = add->settings;
	const struct probe_convert_options options = {.no_inlines = settings->no_inlines,
		.max_places = (size_t)settings->max_probes,
		.source_directory = settings->source_directory,
		.blacklist = &add->blacklist,
		.no_demangle = settings->no_demangle};
	for (size_t i = 0; i < add->definitions.len; i++) {
		const struct probe_wish *wish = &settings->wishes.items[i];
		const struct probe_definition *definition = &add->definitions.items[i];
		struct probe_binary *binary = NULL;
		enum tally_status status;
		if (definition->is_named_event) {
			status = probe_add_named(add, wish, definition);
		} else {
			status = probe_add_open(add, &wish->target, &binary);
			if (status == TALLY_OK)
				status = probe_convert(binary, definition, &options, &add->conversion, &add->err);
		}
		while (status == TALLY_OK && add->binaries.len < add->conversion.probes.len)
			if (!vec_push(&add->binaries, binary))
				return error_nomem(&add->err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

static void probe_add_print_notes(const struct probe_add *add)
{
	probe_settings_print_notes(add->settings, add->conversion.notes.items, add->conversion.notes.len);
}

/* Prints a line such as "ftrace.event.kprobes.vfs_read.probe = '_text+7047664 %di'". The kernel creates these probes
 * at boot, in its group kprobes. */
static void probe_add_print_bootconfig(const struct probe_add *add, const struct probe_event *event, struct text *out)
{
	if (!str_equal(event->group, STR("probe")) && !add->settings->is_quiet)
		cli_sayf("WARN: Group name %.*s is ignored\n", (int)event->group.len, event->group.data);
	text_printf(out, "ftrace.event.kprobes.%.*s.probe = '", (int)event->event.len, event->event.data);
	text_bytes(out, event->file.data, event->file.len);
	text_printf(out, "%s%.*s+%llu%s%s%.*s'\n", event->file.len > 0 ? ":" : "", (int)event->symbol.len,
		event->symbol.data, (unsigned long long)event->offset, event->kind == 'r' ? "%return" : "",
		event->arguments.len > 0 ? " " : "", (int)event->arguments.len, event->arguments.data);
}

static int probe_add_print(struct probe_add *add)
{
	struct text out = {0};
	for (size_t i = 0; i < add->conversion.probes.len; i++) {
		const struct probe_event *event = &add->conversion.probes.items[i].event;
		if (add->settings->is_bootconfig && event->is_user) {
			text_deinit(&out);
			(void)error_set(&add->err, TALLY_INVALID, "  Error: --bootconfig doesn't support uprobes.");
			return probe_settings_fail(add->settings, &add->err, "show definitions");
		}
		if (add->settings->is_bootconfig) {
			probe_add_print_bootconfig(add, event, &out);
		} else {
			probe_event_print(event, &out);
			text_char(&out, '\n');
		}
	}
	probe_add_print_notes(add);
	return cli_finish_text(add->cli, &out);
}

/* Chooses names that no other event has, and drops duplicate probes. */
static enum tally_status probe_add_name(struct probe_add *add, const struct probe_list *list)
{
	struct probe_names names;
	size_t kept = 0;
	enum tally_status status =
		probe_names_init(&names, list, add->settings->is_forced) ? TALLY_OK : error_nomem(&add->err);
	for (size_t i = 0; i < add->conversion.probes.len && status == TALLY_OK; i++) {
		struct probe_converted *probe = &add->conversion.probes.items[i];
		bool is_double;
		status = probe_names_choose(&names, &probe->event, &add->conversion.arena, &is_double, &add->err);
		if (status != TALLY_OK || is_double)
			continue;
		add->conversion.probes.items[kept] = *probe;
		add->binaries.items[kept++] = add->binaries.items[i];
	}
	if (status == TALLY_OK)
		add->conversion.probes.len = kept;
	probe_names_deinit(&names);
	return status;
}

static enum tally_status probe_add_write(struct probe_add *add)
{
	size_t count = add->conversion.probes.len;
	struct probe_event *events = calloc(count ? count : 1, sizeof(*events));
	if (!events)
		return error_nomem(&add->err);
	for (size_t i = 0; i < count; i++) {
		events[i] = add->conversion.probes.items[i].event;
		if (add->settings->verbose > 0) {
			struct text line = {0};
			probe_event_print(&events[i], &line);
			cli_sayf("Writing event: %.*s\n", (int)line.len, text_view(&line).data);
			text_deinit(&line);
		}
	}
	enum tally_status status = add->settings->is_dry ? TALLY_OK
							 : probe_files_add(kernel_seam_linux(), events, count,
								   (int32_t)add->settings->namespace_pid, &add->err);
	free(events);
	return status;
}

static void probe_add_print_added(struct probe_add *add)
{
	size_t count = add->conversion.probes.len;
	struct text out = {0};
	text_str(&out, count == 1 ? "Added new event:\n" : "Added new events:\n");
	for (size_t i = 0; i < count; i++) {
		static const struct probe_binary unknown = {.kind = PROBE_KERNEL};
		const struct probe_converted *probe = &add->conversion.probes.items[i];
		struct probe_binary program = {.kind = PROBE_PROGRAM};
		const struct probe_binary *binary = add->binaries.items[i];
		const char *path = NULL;
		if (!binary && (path = strndup(probe->event.file.data, probe->event.file.len)))
			program.path = path;
		probe_show_made(probe, binary ? binary : path ? &program : &unknown, &out);
		free((char *)path);
	}
	if (count > 0) {
		const struct probe_event *last = &add->conversion.probes.items[count - 1].event;
		text_printf(&out,
			"\nYou can now use it in all %s tools, such as:\n\n\t%s record -e %.*s:%.*s -aR sleep 1\n\n",
			add->cli->program, add->cli->program, (int)last->group.len, last->group.data,
			(int)last->event.len, last->event.data);
	}
	cli_say_rows(text_view(&out));
	text_deinit(&out);
}

/* Prints the definition's name in the cache. It includes the group if the definition names the event. */
static void probe_add_print_cached(
	const struct probe_definition *definition, const struct probe_event *event, struct text *out)
{
	struct tally_str rest = definition->text;
	const char *equals = definition->event.len > 0 ? memchr(rest.data, '=', rest.len) : NULL;
	if (equals) {
		rest = (struct tally_str){equals + 1, rest.len - (size_t)(equals + 1 - rest.data)};
		text_printf(out, "%.*s:%.*s=", (int)event->group.len, event->group.data, (int)definition->event.len,
			definition->event.data);
	}
	text_bytes(out, rest.data, rest.len);
}

/* Implements --cache, which stores the added probes so that they can be added again by name. */
static enum tally_status probe_add_cache(struct probe_add *add)
{
	struct build_id_cache cache;
	enum tally_status status =
		build_id_cache_init(&cache, cli_build_id_dir(add->cli, add->settings->symfs), &add->err);
	for (size_t i = 0; i < add->definitions.len && status == TALLY_OK; i++) {
		const struct probe_definition *definition = &add->definitions.items[i];
		struct text lines = {0}, name = {0};
		const char *path = NULL;
		for (size_t p = 0; p < add->conversion.probes.len; p++) {
			const struct probe_converted *probe = &add->conversion.probes.items[p];
			if (probe->definition != definition || !probe->event.is_user || !add->binaries.items[p])
				continue;
			if (!path)
				probe_add_print_cached(definition, &probe->event, &name);
			path = add->binaries.items[p]->path;
			probe_event_print(&probe->event, &lines);
			text_char(&lines, '\n');
		}
		if (lines.failed || name.failed)
			status = error_nomem(&add->err);
		else if (path)
			status = cached_probes_add(&cache, path, text_view(&name), text_view(&lines), &add->err);
		text_deinit(&name);
		text_deinit(&lines);
	}
	return status;
}

static int probe_add_to_kernel(struct probe_add *add)
{
	struct probe_list list = {0};
	const struct probe_settings *settings = add->settings;
	enum tally_status status = probe_list_read(kernel_seam_linux(), &list, &add->err);
	bool has_list = status == TALLY_OK;
	/* A dry run does not need tracefs. */
	if (!has_list && settings->is_dry && status != TALLY_NOMEM)
		status = TALLY_OK;
	if (status == TALLY_OK)
		status = probe_add_name(add, has_list ? &list : NULL);
	if (has_list)
		probe_list_deinit(&list);
	probe_add_print_notes(add);
	if (status == TALLY_OK)
		status = probe_add_write(add);
	if (status != TALLY_OK)
		return probe_settings_fail(settings, &add->err, "add events");
	if (!settings->is_quiet)
		probe_add_print_added(add);
	if (settings->use_cache && !settings->is_dry && probe_add_cache(add) != TALLY_OK)
		return probe_settings_fail(settings, &add->err, "store the probes in the cache");
	return 0;
}

int probe_add_run(const struct cli *cli, const struct command *command, const struct probe_settings *settings)
{
	struct probe_add add = {.cli = cli, .command = command, .settings = settings};
	int code;
	arena_init(&add.arena);
	probe_conversion_init(&add.conversion);
	probe_blacklist_read(kernel_seam_linux(), &add.blacklist);
	enum tally_status status = probe_add_parse(&add);
	if (status == TALLY_OK)
		status = probe_add_convert(&add);
	if (status == TALLY_INVALID && add.is_wrong_usage)
		code = cli_usagef(cli, command, settings->command == 'D' ? "definition" : "add", "Semantic error :%s",
			add.err.text);
	else if (status != TALLY_OK) {
		probe_add_print_notes(&add);
		code = probe_settings_fail(settings, &add.err, "add events");
	} else
		code = settings->command == 'D' ? probe_add_print(&add) : probe_add_to_kernel(&add);
	probe_conversion_deinit(&add.conversion);
	probe_blacklist_deinit(&add.blacklist);
	for (size_t i = 0; i < add.targets.len; i++)
		probe_binary_close(add.targets.items[i].binary);
	vec_free(&add.targets);
	vec_free(&add.binaries);
	arena_deinit(&add.arena);
	return code;
}
