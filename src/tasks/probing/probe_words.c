/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_words.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "kernel/events/tracepoints.h"
#include "kernel/system/program_path.h"
#include "tasks/probing/cached_arguments.h"
#include "tasks/probing/probe_convert.h"
#include "tasks/probing/probe_names.h"
#include "tasks/probing/temporary_probes.h"

#define PROBE_WORDS_UPROBE "uprobe:"
#define PROBE_WORDS_SDT	   "sdt_"

struct probe_words_maker {
	const struct cli *cli;
	const struct kernel_seam *kernel;
	struct probe_words *words;
	struct tally_error *err;
};

/* Lengths of an item of the list: the body names the probe, and the suffix has terms and modifiers. */
struct probe_words_item {
	size_t body, suffix;
	bool is_open; /* Set if a parenthesis in the body is not closed. */
};

static bool probe_words_ends_item(char c)
{
	return c == '\0' || c == ',' || c == '{' || c == '}' || c == ' ' || c == '\t' || c == '\n';
}

/* Returns the length up to the comma or brace that ends any item; terms between slashes may contain commas. */
static size_t probe_words_plain_length(const char *text)
{
	size_t len = 0;
	bool is_in_terms = false, is_quoted = false;
	for (; text[len] && (is_in_terms || !probe_words_ends_item(text[len])); len++) {
		is_quoted ^= is_in_terms && text[len] == '\'';
		is_in_terms ^= !is_quoted && text[len] == '/';
	}
	return len;
}

/* The body of "uprobe:..." ends after the closing parenthesis of its arguments; without arguments, it is the whole
 * item. */
static struct probe_words_item probe_words_uprobe_item(const char *text)
{
	struct probe_words_item item = {0};
	int depth = 0;
	char quote = 0;
	for (; text[item.body] && (depth > 0 || quote || !probe_words_ends_item(text[item.body])); item.body++) {
		char c = text[item.body];
		if (c == '\\' && text[item.body + 1])
			item.body++;
		else if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '(' || c == '[')
			depth++;
		else if (c == ')' || c == ']')
			depth -= depth > 0;
		if (c == ')' && depth == 0 && !quote && text[item.body + 1] != '(' &&
			(text[item.body + 1] == '/' || text[item.body + 1] == ':')) {
			item.body++;
			item.suffix = probe_words_plain_length(text + item.body);
			break;
		}
	}
	item.is_open = depth > 0;
	return item;
}

/* The item is "sdt_x:name", followed by terms between slashes, or by a colon and modifiers. */
static struct probe_words_item probe_words_sdt_item(const char *text)
{
	size_t all = probe_words_plain_length(text), colon = strcspn(text, ":,/{} \t\n");
	if (text[colon] != ':')
		return (struct probe_words_item){0};
	size_t body = colon + 1 + strcspn(text + colon + 1, ":,/{} \t\n");
	return (struct probe_words_item){.body = body, .suffix = all > body ? all - body : 0};
}

static enum tally_status probe_words_fail(
	const struct probe_words_maker *m, size_t column, enum tally_status status, const char *reason)
{
	if (m->err && status != TALLY_NOMEM) {
		(void)error_prefix(m->err, "%s", reason);
		m->err->offset = column;
	}
	return status;
}

/* Appends the events that replace the probe in the text to parse, each with the suffix. */
static enum tally_status probe_words_put(struct probe_words_maker *m, const struct probe_event *events,
	const char *const *shown, size_t count, struct tally_str suffix)
{
	struct probe_words *words = m->words;
	for (size_t i = 0; i < count; i++) {
		struct probe_words_name name = {
			.group = arena_string(&words->arena, events[i].group.data, events[i].group.len),
			.event = arena_string(&words->arena, events[i].event.data, events[i].event.len),
			.shown = shown[i]};
		bool is_there = false;
		for (size_t k = 0; k < i; k++) /* Several places may share an event. */
			is_there |= str_equal(events[k].event, events[i].event);
		if (is_there)
			continue;
		if (!name.group || !name.event || !vec_push(&words->names, name))
			return error_nomem(m->err);
		if (i > 0)
			text_char(&words->text, ',');
		text_printf(&words->text, "%s:%s", name.group, name.event);
		text_bytes(&words->text, suffix.data, suffix.len);
	}
	return TALLY_OK;
}

/* The kernel's uprobe PMU works without tracefs, but fetches no arguments. Terms of the suffix are appended to those
 * of the probe. */
static void probe_words_put_pmu(struct probe_words_maker *m, const struct probe_event *events, const char *const *shown,
	size_t count, struct tally_str suffix)
{
	struct text *text = &m->words->text;
	bool has_terms = suffix.len > 0 && suffix.data[0] == '/';
	for (size_t i = 0; i < count; i++) {
		const struct probe_event *event = &events[i];
		text_printf(text, "%suprobe/path='%.*s',offset=0x%llx,name='%s'", i > 0 ? "," : "",
			(int)event->file.len, event->file.data, (unsigned long long)event->offset, shown[i]);
		if (event->semaphore)
			text_printf(text, ",ref_ctr_offset=0x%llx", (unsigned long long)event->semaphore);
		if (event->kind == 'r')
			text_str(text, ",retprobe");
		text_char(text, has_terms ? ',' : '/');
		/* Skips the slash before terms, or the colon before modifiers. */
		size_t skipped = suffix.len > 0 ? 1 : 0;
		text_bytes(text, suffix.data + skipped, suffix.len - skipped);
	}
}

static bool probe_words_may_use_pmu(
	const struct probe_words_maker *m, enum tally_status why, const struct probe_event *events, size_t count)
{
	bool may = (why == TALLY_DENIED || why == TALLY_UNSUPPORTED) &&
		   kernel_has(m->kernel, "/sys/bus/event_source/devices/uprobe/type");
	for (size_t i = 0; i < count; i++)
		may &= events[i].arguments.len == 0 && !memchr(events[i].file.data, '\'', events[i].file.len);
	return may;
}

static enum tally_status probe_words_add(struct probe_words_maker *m, struct probe_event *events,
	const char *const *shown, size_t count, struct tally_str suffix)
{
	struct tally_error why;
	enum tally_status status = temporary_probes_add(m->kernel, events, count, &why);
	if (status == TALLY_OK)
		return probe_words_put(m, events, shown, count, suffix);
	if (probe_words_may_use_pmu(m, status, events, count)) {
		cli_notef(m->cli, "%s: no event of tracefs can be made (%s), so the uprobe PMU is used", shown[0],
			why.text);
		probe_words_put_pmu(m, events, shown, count, suffix);
		return TALLY_OK;
	}
	if (m->err)
		*m->err = why;
	return status;
}

/* Makes the names of the events unique, and creates the events. */
static enum tally_status probe_words_make(
	struct probe_words_maker *m, struct probe_event *events, size_t count, struct tally_str suffix)
{
	struct probe_names names;
	const char **shown = arena_array(&m->words->arena, const char *, count);
	if (!shown || !probe_names_init(&names, NULL, true))
		return error_nomem(m->err);
	enum tally_status status = TALLY_OK;
	size_t kept = 0;
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		bool is_double;
		struct probe_event event = events[i];
		status = probe_names_choose(&names, &event, &m->words->arena, &is_double, m->err);
		if (status != TALLY_OK || is_double)
			continue;
		shown[kept] = arena_printf(&m->words->arena, "%.*s:%.*s", (int)event.group.len, event.group.data,
			(int)event.event.len, event.event.data);
		if (!shown[kept])
			status = error_nomem(m->err);
		events[kept++] = event;
	}
	probe_names_deinit(&names);
	return status == TALLY_OK ? probe_words_add(m, events, shown, kept, suffix) : status;
}

/* Makes the events for probes of the probe cache. They keep their own arguments if definition is NULL, else they get
 * those of the definition. */
static enum tally_status probe_words_make_cached(struct probe_words_maker *m, const struct cached_probe_query *query,
	const struct probe_definition *definition, struct tally_str suffix)
{
	struct cached_probe_list list;
	enum tally_status status = cached_probes_find(query, &list, m->err);
	if (status != TALLY_OK)
		return status;
	if (definition)
		status = cached_arguments_choose(&list, definition->arguments, definition->argument_count, m->err);
	if (status != TALLY_OK) {
		cached_probe_list_deinit(&list);
		return status;
	}
	struct probe_event *events = arena_array(&list.arena, struct probe_event, list.probes.len);
	size_t count = 0;
	for (size_t i = 0; events && i < list.probes.len; i++)
		count += probe_event_parse(list.probes.items[i].line, true, &events[count]);
	if (list.left.count > 0)
		cli_notef(m->cli, "some arguments or places are left out (%zu in all): %s", list.left.count,
			list.left.why);
	if (!events)
		status = error_nomem(m->err);
	else if (count == 0)
		status = error_set(m->err, TALLY_NOT_FOUND, "the probe cache has no definition that can be used");
	else
		status = probe_words_make(m, events, count, suffix);
	cached_probe_list_deinit(&list);
	return status;
}

/* Converts arguments in parentheses, separated by commas, to perf's syntax with blanks as separators. */
static char *probe_words_definition(struct probe_words_maker *m, struct tally_str text)
{
	size_t open = text.len;
	int depth = 0;
	bool has_arguments = text.len > 0 && text.data[text.len - 1] == ')';
	for (size_t i = text.len; has_arguments && i-- > 0;) { /* Finds the parenthesis that matches the last one. */
		depth += (text.data[i] == ')') - (text.data[i] == '(');
		if (depth > 0)
			continue;
		open = i;
		break;
	}
	char *definition = arena_string(&m->words->arena, text.data, text.len);
	if (!definition || open == text.len)
		return definition;
	definition[open] = ' ';
	definition[text.len - 1] = '\0';
	for (char *c = definition + open; *c; c++) {
		depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
		if (*c == ',' && depth == 0)
			*c = ' ';
	}
	return definition;
}

static enum tally_status probe_words_convert(struct probe_words_maker *m, const char *path,
	const struct probe_definition *definition, struct tally_str suffix)
{
	struct probe_binary *binary;
	struct probe_conversion conversion;
	enum tally_status status =
		probe_binary_open(&(struct probe_binary_options){.kind = PROBE_PROGRAM, .path = path}, &binary, m->err);
	if (status != TALLY_OK)
		return status;
	probe_conversion_init(&conversion);
	conversion.types_results = true;
	status = probe_convert(binary, definition, &(struct probe_convert_options){0}, &conversion, m->err);
	for (size_t i = 0; i < conversion.notes.len; i++)
		cli_say_note(m->cli, conversion.notes.items[i]);
	size_t count = conversion.probes.len;
	struct probe_event *events = arena_array(&conversion.arena, struct probe_event, count);
	if (status == TALLY_OK && !events)
		status = error_nomem(m->err);
	for (size_t i = 0; i < count && status == TALLY_OK; i++)
		events[i] = conversion.probes.items[i].event;
	if (status == TALLY_OK)
		status = probe_words_make(m, events, count, suffix);
	probe_conversion_deinit(&conversion);
	probe_binary_close(binary);
	return status;
}

/* Searches PATH for a name that is not a file in the current directory. */
static const char *probe_words_find_program(struct probe_words_maker *m, const char *name)
{
	char path[PATH_MAX];
	if (strchr(name, '/') || file_exists(name) || !program_path_find(name, path))
		return name;
	const char *found = arena_string(&m->words->arena, path, strlen(path));
	return found ? found : name;
}

/* Copies the path, up to the colon after it, without quotes and backslashes. Returns the length of the path in
 * text. */
static size_t probe_words_take_path(struct tally_str text, char *to)
{
	size_t from = 0;
	char quote = 0;
	for (; from < text.len && (quote || text.data[from] != ':'); from++) {
		char c = text.data[from];
		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
			continue;
		}
		from += c == '\\' && from + 1 < text.len;
		*to++ = text.data[from];
	}
	*to = '\0';
	return from;
}

/* The body is PATH:POINT or PATH:POINT(ARGUMENTS). */
static enum tally_status probe_words_make_uprobe(
	struct probe_words_maker *m, struct tally_str body, struct tally_str suffix)
{
	struct arena *arena = &m->words->arena;
	char *path = arena_string(arena, body.data, body.len);
	if (!path)
		return error_nomem(m->err);
	size_t from = probe_words_take_path(body, path);
	if (!*path || from + 1 >= body.len)
		return error_set(m->err, TALLY_INVALID,
			"a probe of a user program is written uprobe:FILE:PLACE or uprobe:FILE:PLACE(ARGUMENT,...)");
	struct probe_definition definition;
	struct tally_str rest = {body.data + from + 1, body.len - from - 1};
	const char *text = probe_words_definition(m, rest), *program = probe_words_find_program(m, path);
	enum tally_status status =
		text ? probe_definition_parse(text, arena, &definition, m->err) : error_nomem(m->err);
	if (status != TALLY_OK)
		return status;
	if (!definition.is_named_event)
		return probe_words_convert(m, program, &definition, suffix);
	struct build_id_cache cache;
	bool has_cache = build_id_cache_init(&cache, m->cli->build_id_dir, NULL) == TALLY_OK;
	return probe_words_make_cached(m,
		&(struct cached_probe_query){.cache = has_cache ? &cache : NULL,
			.group = definition.group,
			.event = definition.event,
			.path = program},
		&definition, suffix);
}

/* An event that already exists in tracefs, made by `probe` or by perf, has precedence. */
static enum tally_status probe_words_make_sdt(
	struct probe_words_maker *m, struct tally_str body, struct tally_str suffix)
{
	struct tally_str event = body, group;
	struct name_list there = {0};
	struct build_id_cache cache;
	(void)str_next(&event, ':', &group);
	if (tracepoint_names(m->kernel, group, event, &there, NULL) == TALLY_OK) {
		name_list_deinit(&there);
		text_bytes(&m->words->text, body.data, body.len);
		text_bytes(&m->words->text, suffix.data, suffix.len);
		return TALLY_OK;
	}
	enum tally_status status = build_id_cache_init(&cache, m->cli->build_id_dir, m->err);
	if (status != TALLY_OK)
		return status;
	struct cached_probe_query query = {.cache = &cache, .group = group, .event = event};
	return probe_words_make_cached(m, &query, NULL, suffix);
}

static enum tally_status probe_words_item(struct probe_words_maker *m, const char *text, size_t column, size_t *used)
{
	struct tally_str rest = str_from(text);
	struct probe_words_item item = {0};
	bool is_uprobe = str_starts_with(rest, STR(PROBE_WORDS_UPROBE));
	if (is_uprobe)
		item = probe_words_uprobe_item(text);
	else if (str_starts_with(rest, STR(PROBE_WORDS_SDT)))
		item = probe_words_sdt_item(text);
	*used = item.body + item.suffix;
	if (item.body == 0) {
		*used = probe_words_plain_length(text);
		text_bytes(&m->words->text, text, *used);
		return TALLY_OK;
	}
	struct tally_str body = {text, item.body}, suffix = {text + item.body, item.suffix};
	if (!is_uprobe)
		return probe_words_fail(m, column, probe_words_make_sdt(m, body, suffix), "unknown tracepoint");
	if (item.is_open)
		return probe_words_fail(
			m, column, error_set(m->err, TALLY_INVALID, "the closing ')' is missing"), EVENT_NO_PROBE);
	size_t prefix = strlen(PROBE_WORDS_UPROBE);
	body = (struct tally_str){text + prefix, item.body - prefix};
	return probe_words_fail(m, column, probe_words_make_uprobe(m, body, suffix), EVENT_NO_PROBE);
}

enum tally_status probe_words_expand(const struct cli *cli, const struct kernel_seam *kernel, const char *text,
	struct probe_words *words, struct tally_error *err)
{
	struct probe_words_maker m = {cli, kernel, words, err};
	enum tally_status status = TALLY_OK;
	*words = (struct probe_words){0};
	arena_init(&words->arena);
	for (size_t column = 0; text[column] && status == TALLY_OK;) {
		size_t used = 1;
		struct probe_words_part part = {column, words->text.len};
		if (probe_words_ends_item(text[column]))
			text_char(&words->text, text[column]);
		else
			status = probe_words_item(&m, text + column, column, &used);
		column += used;
		if (status == TALLY_OK && !vec_push(&words->parts, part))
			status = error_nomem(err);
	}
	text_char(&words->text, '\0');
	if (status == TALLY_OK && words->text.failed)
		status = error_nomem(err);
	if (status != TALLY_OK)
		probe_words_deinit(words);
	return status;
}

void probe_words_deinit(struct probe_words *words)
{
	text_deinit(&words->text);
	vec_free(&words->names);
	vec_free(&words->parts);
	arena_deinit(&words->arena);
}

uint64_t probe_words_column(const struct probe_words *words, uint64_t column)
{
	if (column == TALLY_NO_OFFSET || words->names.len == 0)
		return column;
	for (size_t i = words->parts.len; i-- > 0;) {
		const struct probe_words_part *part = &words->parts.items[i], *next = part + 1;
		bool is_last = i + 1 == words->parts.len;
		if (column < part->replaced)
			continue;
		/* A column within replaced text maps to the start of the original item. */
		bool is_as_written = is_last || next->replaced - part->replaced == next->written - part->written;
		return part->written + (is_as_written ? column - part->replaced : 0);
	}
	return column;
}

enum tally_status probe_words_rename(
	const struct probe_words *words, struct event_list *events, size_t first, struct tally_error *err)
{
	for (size_t i = first; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		for (size_t k = 0; spec->tracepoint_name && !spec->has_own_name && k < words->names.len; k++) {
			const struct probe_words_name *name = &words->names.items[k];
			if (strcmp(spec->tracepoint_system, name->group) != 0 ||
				strcmp(spec->tracepoint_name, name->event) != 0)
				continue;
			spec->name = arena_string(&events->arena, name->shown, strlen(name->shown));
			if (!spec->name)
				return error_nomem(err);
		}
	}
	return TALLY_OK;
}
