/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/probe/probe_json.h"

#define PROBE_JSON_SCHEMA 1

void probe_json_begin(struct json *j, struct text *out, const char *array)
{
	*j = (struct json){.out = out};
	json_object(j, NULL);
	json_u64(j, "schema", PROBE_JSON_SCHEMA);
	json_array(j, array);
}

void probe_json_end(struct json *j)
{
	json_array_end(j);
	json_object_end(j);
}

void probe_json_event(struct json *j, struct probe_viewer *viewer, const struct probe_event *event)
{
	struct text place = {0};
	struct tally_str rest = event->arguments;
	struct probe_event_argument argument;
	probe_show_place(viewer, event, &place);
	json_object(j, NULL);
	json_string(j, "group", event->group);
	json_string(j, "event", event->event);
	json_string(j, "kind", (struct tally_str){&event->kind, 1});
	json_bool(j, "is_user", event->is_user);
	json_string(j, "place", text_view(&place));
	if (event->file.len > 0)
		json_string(j, "file", event->file);
	if (event->symbol.len > 0)
		json_string(j, "symbol", event->symbol);
	json_hex(j, "offset", event->offset);
	if (event->semaphore)
		json_hex(j, "semaphore", event->semaphore);
	json_array(j, "arguments");
	while (probe_event_next_argument(&rest, &argument)) {
		json_object(j, NULL);
		if (argument.name.len > 0)
			json_string(j, "name", argument.name);
		json_string(j, "value", argument.text);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
	j->out->failed |= place.failed;
	text_deinit(&place);
}

void probe_json_cached(struct json *j, const struct cached_probe_list *list)
{
	for (size_t i = 0; i < list->probes.len; i++) {
		const struct cached_probe *probe = &list->probes.items[i];
		struct text id = {0};
		if (!cached_probes_begins_entry(list, i))
			continue;
		for (size_t k = 0; k < probe->id.size; k++)
			text_hex(&id, probe->id.bytes[k], 2);
		json_object(j, NULL);
		json_string(j, "path", str_from(probe->path));
		json_string(j, "build_id", text_view(&id));
		json_string(j, "text", probe->text);
		json_string(j, "group", probe->group);
		json_string(j, "event", probe->event);
		json_bool(j, "is_sdt", probe->is_sdt);
		json_object_end(j);
		j->out->failed |= id.failed;
		text_deinit(&id);
	}
}
