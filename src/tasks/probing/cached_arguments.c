/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/cached_arguments.h"

#include <stdio.h>

#include "base/error.h"
#include "kernel/probes/probe_event.h"

/* Splits "%di:s32" into "%di" and "s32"; the last colon separates the type. */
static struct tally_str cached_arguments_without_type(struct tally_str text, struct tally_str *type)
{
	const char *colon = memrchr(text.data, ':', text.len);
	*type = (struct tally_str){"", 0};
	if (!colon || memchr(colon, ')', text.len - (size_t)(colon - text.data)))
		return text;
	size_t len = (size_t)(colon - text.data);
	*type = (struct tally_str){colon + 1, text.len - len - 1};
	return (struct tally_str){text.data, len};
}

/* Prints the probe's own argument to which `wanted` refers by name. Returns false if the probe has none of this
 * name. */
static bool cached_arguments_print_own(
	const struct probe_event *event, const struct probe_argument *wanted, struct text *out)
{
	struct tally_str rest = event->arguments, type, fetch;
	struct probe_event_argument own;
	while (probe_event_next_argument(&rest, &own)) {
		if (!str_equal(own.name, wanted->variable))
			continue;
		fetch = cached_arguments_without_type(own.text, &type);
		/* An SDT argument is a pointer to the string, but the kernel's string type reads the string
		 * itself. */
		bool is_text =
			str_starts_with(wanted->type, STR("string")) || str_starts_with(wanted->type, STR("ustring"));
		text_printf(out, is_text ? "+0(%.*s)" : "%.*s", (int)fetch.len, fetch.data);
		type = wanted->type.len > 0 ? wanted->type : type;
		if (type.len > 0)
			text_printf(out, ":%.*s", (int)type.len, type.data);
		return true;
	}
	return false;
}

static bool cached_arguments_print(
	const struct probe_event *event, const struct probe_argument *wanted, struct text *out)
{
	bool is_own = wanted->kind == PROBE_ARGUMENT_VARIABLE;
	struct tally_str name = wanted->name.len > 0 ? wanted->name : is_own ? wanted->variable : wanted->name;
	text_char(out, ' ');
	if (wanted->kind == PROBE_ARGUMENT_VARIABLES || wanted->kind == PROBE_ARGUMENT_PARAMETERS) {
		text_bytes(out, event->arguments.data, event->arguments.len);
		return true;
	}
	if (name.len > 0)
		text_printf(out, "%.*s=", (int)name.len, name.data);
	if (is_own)
		return wanted->field_count == 0 && cached_arguments_print_own(event, wanted, out);
	text_bytes(out, wanted->value.data, wanted->value.len);
	if (wanted->type.len > 0)
		text_printf(out, ":%.*s", (int)wanted->type.len, wanted->type.data);
	return true;
}

/* Prints the line with only the chosen arguments; *lacking is the first one that the probe does not have. */
static bool cached_arguments_rewrite(const struct cached_probe *probe, const struct probe_argument *arguments,
	size_t count, struct text *out, const struct probe_argument **lacking)
{
	struct probe_event event;
	*lacking = NULL;
	if (!probe_event_parse(probe->line, true, &event))
		return false;
	struct probe_event bare = event;
	bare.arguments = (struct tally_str){"", 0};
	probe_event_print(&bare, out);
	for (size_t i = 0; i < count && !*lacking; i++)
		if (!cached_arguments_print(&event, &arguments[i], out))
			*lacking = &arguments[i];
	return true;
}

enum tally_status cached_arguments_choose(
	struct cached_probe_list *list, const struct probe_argument *arguments, size_t count, struct tally_error *err)
{
	size_t kept = 0;
	if (count == 0)
		return TALLY_OK;
	for (size_t i = 0; i < list->probes.len; i++) {
		struct cached_probe probe = list->probes.items[i];
		const struct probe_argument *lacking;
		struct text line = {0};
		bool is_line = cached_arguments_rewrite(&probe, arguments, count, &line, &lacking);
		probe.line = (struct tally_str){
			line.failed ? NULL : arena_string(&list->arena, text_view(&line).data, line.len), line.len};
		text_deinit(&line);
		if (!probe.line.data)
			return error_nomem(err);
		if (is_line && !lacking)
			list->probes.items[kept++] = probe;
		else if (list->left.count++ == 0)
			snprintf(list->left.why, sizeof(list->left.why), "%.*s:%.*s has no '%.*s' at one of its places",
				(int)probe.group.len, probe.group.data, (int)probe.event.len, probe.event.data,
				lacking ? (int)lacking->value.len : 0, lacking ? lacking->value.data : "");
	}
	list->probes.len = kept;
	return kept > 0 ? TALLY_OK
			: error_set(err, TALLY_NOT_FOUND,
				  "%s: the arguments of a probe that is known by name are arg1, arg2, ..., as "
				  "'probe -D' shows them; a type may follow, as in arg1:string",
				  list->left.why);
}
