/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_names.h"

#include <ctype.h>
#include <errno.h>

#include "base/array.h"
#include "base/error.h"

#define PROBE_NAMES_SUFFIX_BYTES 6 /* Length of "_99999". */
#define PROBE_NAMES_SUFFIX_MAX	 99999

static uint32_t probe_names_add(struct probe_names *names, struct tally_str group, struct tally_str event)
{
	char key[2 * PROBE_EVENT_NAME_BYTES + 2];
	struct text text = text_over(key, sizeof(key));
	uint32_t id;
	text_bytes(&text, group.data, group.len);
	text_char(&text, ':');
	text_bytes(&text, event.data, event.len);
	if (text.failed || !intern_add(&names->events, key, text.len, &id))
		return INTERN_NONE;
	if (id < names->uses.len)
		return id;
	return vec_push(&names->uses, ((struct probe_names_use){.kind = '?', .suffix = 1, .last = INTERN_NONE}))
		       ? id
		       : INTERN_NONE;
}

bool probe_names_init(struct probe_names *names, const struct probe_list *list, bool is_forced)
{
	*names = (struct probe_names){.is_forced = is_forced};
	intern_init(&names->events);
	intern_init(&names->lines);
	for (size_t i = 0; list && i < list->events.len; i++) {
		const struct probe_event *event = &list->events.items[i];
		if (event->group.len >= PROBE_EVENT_NAME_BYTES || event->event.len >= PROBE_EVENT_NAME_BYTES)
			continue; /* The kernel does not create names of this length. */
		uint32_t id = probe_names_add(names, event->group, event->event);
		if (id == INTERN_NONE)
			return false;
		names->uses.items[id].kind = 0;
	}
	return true;
}

void probe_names_deinit(struct probe_names *names)
{
	intern_deinit(&names->events);
	intern_deinit(&names->lines);
	vec_free(&names->uses);
}

/* Hashes everything that the kernel compares before two probes may share an event. */
static uint64_t probe_names_signature(const struct probe_event *event)
{
	struct tally_str rest = event->arguments;
	struct probe_event_argument argument;
	uint64_t signature = (unsigned char)event->kind;
	while (probe_event_next_argument(&rest, &argument)) {
		const char *colon = memrchr(argument.text.data, ':', argument.text.len);
		size_t type = colon ? (size_t)(argument.text.data + argument.text.len - colon) : 0;
		/* Without an explicit type, $comm is a string, and all other arguments are numbers. */
		bool is_text = !colon && str_equal(argument.text, STR("$comm"));
		signature = signature * 31 + bytes_hash(argument.name.data, argument.name.len);
		signature = signature * 31 + (colon ? bytes_hash(colon, type) : is_text);
	}
	return signature;
}

static enum tally_status probe_names_taken(const struct probe_event *event, struct tally_error *err)
{
	enum tally_status status = error_set(err, TALLY_INVALID,
		"Error: event \"%.*s\" already exists.\n Hint: Remove existing event by 'probe -d'\n"
		"       or force duplicates by 'probe -f'",
		(int)event->event.len, event->event.data);
	if (err)
		err->errnum = EEXIST;
	return status;
}

/* Returns whether the probe may use the event of this ID. An unused event is claimed for it. */
static bool probe_names_take(struct probe_names_use *use, char kind, uint64_t signature)
{
	if (use->kind == '?') {
		use->kind = kind;
		use->signature = signature;
	}
	return use->kind == kind && use->signature == signature;
}

enum tally_status probe_names_choose(struct probe_names *names, struct probe_event *event, struct arena *arena,
	bool *is_double, struct tally_error *err)
{
	uint64_t signature = probe_names_signature(event);
	uint32_t base = probe_names_add(names, event->group, event->event), id = base;
	if (base == INTERN_NONE)
		return error_nomem(err);
	if (names->uses.items[base].kind == 0 && !names->is_forced)
		return probe_names_taken(event, err);
	const struct tally_str name = event->event;
	const uint32_t last = names->uses.items[base].last;
	if (last != INTERN_NONE && probe_names_take(&names->uses.items[last], event->kind, signature)) {
		const struct tally_str known = intern_get(&names->events, last);
		id = last;
		event->event = (struct tally_str){known.data + event->group.len + 1, known.len - event->group.len - 1};
		event->event.data = arena_string(arena, event->event.data, event->event.len);
		if (!event->event.data)
			return error_nomem(err);
	}
	while (!probe_names_take(&names->uses.items[id], event->kind, signature)) {
		uint32_t suffix = names->uses.items[base].suffix++;
		size_t kept = MIN(name.len, (size_t)PROBE_EVENT_NAME_BYTES - 1 - PROBE_NAMES_SUFFIX_BYTES);
		const char *next = arena_printf(arena, "%.*s_%u", (int)kept, name.data, suffix);
		if (suffix > PROBE_NAMES_SUFFIX_MAX)
			return error_set(
				err, TALLY_LIMIT, "Too many events are called %.*s.", (int)name.len, name.data);
		event->event = str_from(next);
		id = next ? probe_names_add(names, event->group, event->event) : INTERN_NONE;
		if (id == INTERN_NONE)
			return error_nomem(err);
		names->uses.items[base].last = id;
	}
	struct text line = {0};
	size_t before = names->lines.len;
	uint32_t line_id;
	probe_event_print(event, &line);
	bool ok = !line.failed && intern_add(&names->lines, line.data, line.len, &line_id);
	text_deinit(&line);
	if (!ok)
		return error_nomem(err);
	*is_double = names->lines.len == before;
	return TALLY_OK;
}

struct tally_str probe_name_of_function(
	struct arena *arena, struct tally_str function, enum probe_name_start start, struct tally_str suffix)
{
	size_t most = PROBE_EVENT_NAME_BYTES - 1 - MIN(suffix.len, (size_t)32), len = 0, at = 0;
	char *name = arena_alloc(arena, PROBE_EVENT_NAME_BYTES, 1);
	if (!name)
		return (struct tally_str){"", 0};
	while (at < function.len && !isalnum((unsigned char)function.data[at]) &&
		!(start == PROBE_NAME_WHOLE && function.data[at] == '_'))
		at++;
	for (; at < function.len && len < most; at++) {
		char c = function.data[at];
		if (isalnum((unsigned char)c) || c == '_')
			name[len++] = c;
		else if (len > 0 && name[len - 1] != '_')
			name[len++] = '_';
	}
	if (len == 0 || isdigit((unsigned char)name[0])) {
		memmove(name + 1, name, MIN(len, most - 1));
		name[0] = '_';
		len = MIN(len + 1, most);
	}
	/* A final "_" that replaces other characters is merged with the one that starts the suffix. */
	bool is_joined = len > 0 && name[len - 1] == '_' && function.len > 0 && function.data[function.len - 1] != '_';
	for (at = is_joined && suffix.len > 0; at < suffix.len && len < PROBE_EVENT_NAME_BYTES - 1; at++)
		name[len++] = suffix.data[at];
	name[len] = 0;
	return (struct tally_str){name, len};
}

struct tally_str probe_name_of_group(struct arena *arena, const char *path)
{
	const char *base = strrchr(path, '/');
	char name[PROBE_EVENT_NAME_BYTES];
	struct text text = text_over(name, sizeof(name));
	text_str(&text, "probe_");
	for (base = base ? base + 1 : path; isalnum((unsigned char)*base) || *base == '_'; base++)
		if (text.len < sizeof(name) - 1)
			text_char(&text, *base);
	const char *copy = arena_string(arena, text.data, text.len);
	return str_from(copy ? copy : "");
}
