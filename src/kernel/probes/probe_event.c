/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/probes/probe_event.h"

#include <ctype.h>
#include <inttypes.h>

static struct tally_str probe_event_word(struct tally_str *rest)
{
	*rest = str_trim(*rest);
	size_t end = 0;
	while (end < rest->len && !isspace((unsigned char)rest->data[end]))
		end++;
	const struct tally_str word = {rest->data, end};
	*rest = (struct tally_str){rest->data + end, rest->len - end};
	return word;
}

/* Parses "p:group/event" or "r4:group/event". */
static bool probe_event_parse_head(struct tally_str head, struct probe_event *event)
{
	const char *colon = memchr(head.data, ':', head.len);
	if (head.len < 2 || !colon || !islower((unsigned char)head.data[0]))
		return false;
	event->kind = head.data[0];
	event->event = (struct tally_str){colon + 1, (size_t)(head.data + head.len - colon - 1)};
	const char *slash = memchr(event->event.data, '/', event->event.len);
	if (!slash)
		return event->event.len > 0;
	event->group = (struct tally_str){colon + 1, (size_t)(slash - colon - 1)};
	event->event = (struct tally_str){slash + 1, event->event.len - event->group.len - 1};
	return event->group.len > 0 && event->event.len > 0;
}

/* Parses "/path:0x1139" or "/path:0x1139(0x4010)". */
static bool probe_event_parse_user(struct tally_str place, struct probe_event *event)
{
	const char *colon = memrchr(place.data, ':', place.len);
	if (!colon)
		return false;
	event->file = (struct tally_str){place.data, (size_t)(colon - place.data)};
	struct tally_str offset = {colon + 1, place.len - event->file.len - 1};
	const char *open = memchr(offset.data, '(', offset.len);
	if (open && offset.data[offset.len - 1] == ')') {
		const struct tally_str semaphore = {open + 1, (size_t)(offset.data + offset.len - open) - 2};
		if (!str_to_u64(semaphore, 0, &event->semaphore))
			return false;
		offset.len = (size_t)(open - offset.data);
	}
	/* A return probe may be written as OFFSET%return. */
	if (str_ends_with(offset, STR("%return"))) {
		event->kind = 'r';
		offset.len -= strlen("%return");
	}
	return str_to_u64(offset, 0, &event->offset);
}

/* Parses "symbol+8", "module:symbol" or "0xffffffff81000000". */
static bool probe_event_parse_kernel(struct tally_str place, struct probe_event *event)
{
	const char *colon = memchr(place.data, ':', place.len);
	if (colon) {
		event->file = (struct tally_str){place.data, (size_t)(colon - place.data)};
		place = (struct tally_str){colon + 1, place.len - event->file.len - 1};
	}
	if (str_ends_with(place, STR("%return"))) {
		event->kind = 'r';
		place.len -= strlen("%return");
	}
	if (place.len > 0 && isdigit((unsigned char)place.data[0]))
		return str_to_u64(place, 0, &event->offset);
	const char *plus = memrchr(place.data, '+', place.len);
	event->symbol = place;
	if (!plus)
		return place.len > 0;
	event->symbol.len = (size_t)(plus - place.data);
	return str_to_u64((struct tally_str){plus + 1, place.len - event->symbol.len - 1}, 0, &event->offset);
}

bool probe_event_parse(struct tally_str line, bool is_user, struct probe_event *event)
{
	struct probe_event parsed = {.is_user = is_user};
	struct tally_str rest = line;
	const struct tally_str head = probe_event_word(&rest);
	const struct tally_str place = probe_event_word(&rest);
	if (!probe_event_parse_head(head, &parsed) || place.len == 0)
		return false;
	bool is_probe = parsed.kind == 'p' || parsed.kind == 'r';
	if (is_probe && !(is_user ? probe_event_parse_user : probe_event_parse_kernel)(place, &parsed))
		return false;
	if (!is_probe)
		parsed.symbol = place;
	parsed.arguments = str_trim(rest);
	*event = parsed;
	return true;
}

void probe_event_print(const struct probe_event *event, struct text *out)
{
	text_char(out, event->kind);
	text_char(out, ':');
	text_bytes(out, event->group.data, event->group.len);
	text_char(out, '/');
	text_bytes(out, event->event.data, event->event.len);
	text_char(out, ' ');
	text_bytes(out, event->file.data, event->file.len);
	if (event->file.len > 0)
		text_char(out, ':');
	if (event->is_user) {
		text_printf(out, "0x%" PRIx64, event->offset);
		if (event->semaphore)
			text_printf(out, "(0x%" PRIx64 ")", event->semaphore);
	} else if (event->symbol.len > 0) {
		text_bytes(out, event->symbol.data, event->symbol.len);
		text_printf(out, "+%" PRIu64, event->offset);
	} else {
		text_printf(out, "0x%" PRIx64, event->offset);
	}
	if (event->arguments.len > 0) {
		text_char(out, ' ');
		text_bytes(out, event->arguments.data, event->arguments.len);
	}
}

bool probe_event_next_argument(struct tally_str *rest, struct probe_event_argument *argument)
{
	const struct tally_str word = probe_event_word(rest);
	if (word.len == 0)
		return false;
	const char *equals = memchr(word.data, '=', word.len);
	*argument = (struct probe_event_argument){.text = word};
	if (equals) {
		argument->name = (struct tally_str){word.data, (size_t)(equals - word.data)};
		argument->text = (struct tally_str){equals + 1, word.len - argument->name.len - 1};
	}
	return true;
}

bool probe_event_matches(const struct probe_event *event, struct tally_str pattern)
{
	const char *colon = memchr(pattern.data, ':', pattern.len);
	struct tally_str name = pattern;
	if (colon) {
		const struct tally_str group = {pattern.data, (size_t)(colon - pattern.data)};
		name = (struct tally_str){colon + 1, pattern.len - group.len - 1};
		if (!str_glob(group, event->group))
			return false;
	}
	return str_glob(name, event->event);
}
