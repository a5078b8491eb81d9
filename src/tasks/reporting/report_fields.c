/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_fields.h"

#include "base/array.h"
#include "base/text.h"

#define MAX_EVENTS 64 /* Number of bits in replay_field.events. */

void report_fields_init(struct report_fields *fields, struct perfdata_reader *reader)
{
	*fields = (struct report_fields){.reader = reader};
}

void report_fields_deinit(struct report_fields *fields)
{
	tracepoint_printer_destroy(fields->printer);
	fields->printer = NULL;
}

/* Returns the width of the column: the size of a text or an array in bytes, else that of the widest hexadecimal number
 * of this size with 0x. */
static unsigned report_fields_field_width(const struct tracepoint_field *field)
{
	if (field->form == TRACEPOINT_TEXT || field->count)
		return field->size;
	return field->bytes * 2 + 2;
}

static uint32_t report_fields_add_field(
	struct report_fields *fields, const struct tracepoint_field *field, size_t event)
{
	size_t index = 0;
	while (index < fields->count && !str_equal(fields->items[index].name, field->name))
		index++;
	if (index == PROFILE_MAX_FIELDS)
		return 0;
	struct replay_field *item = &fields->items[index];
	if (index == fields->count) {
		*item = (struct replay_field){.name = field->name};
		fields->count++;
	}
	unsigned width = report_fields_field_width(field);
	item->events |= UINT64_C(1) << event;
	item->width = MAX(width, item->width);
	item->is_dynamic |= field->is_dynamic && field->form == TRACEPOINT_TEXT;
	return UINT32_C(1) << index;
}

/* wanted is the name of the event or a part of it. */
static bool event_matches(const struct perfdata_event *event, struct tally_str wanted)
{
	if (event->attr.type != EVENT_TRACEPOINT)
		return false;
	return wanted.len == 0 || memmem(event->name.data, event->name.len, wanted.data, wanted.len);
}

uint32_t report_fields_find(struct report_fields *fields, struct tally_str text)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(fields->reader, &count);
	const char *dot = memchr(text.data, '.', text.len);
	struct tally_str event = {text.data, dot ? (size_t)(dot - text.data) : 0}, name = text;
	if (dot)
		name = (struct tally_str){dot + 1, text.len - event.len - 1};
	bool wants_all = (dot && str_equal(name, STR("*"))) || str_equal(text, STR("trace_fields"));
	if (!fields->printer && tracepoint_printer_create(perfdata_reader_features(fields->reader)->tracing_data,
					&fields->printer, NULL) != TALLY_OK)
		return 0;
	uint32_t found = 0;
	for (size_t i = 0; i < count && i < MAX_EVENTS; i++) {
		struct tracepoint_field field;
		if (!event_matches(&events[i], event))
			continue;
		uint64_t id = events[i].attr.config;
		for (unsigned f = 0; tracepoint_field_at(fields->printer, id, TRACEPOINT_OWN, f, &field); f++)
			if (wants_all || str_equal(field.name, name))
				found |= report_fields_add_field(fields, &field, i);
		for (unsigned f = 0; tracepoint_field_at(fields->printer, id, TRACEPOINT_COMMON, f, &field); f++)
			if (!wants_all && str_equal(field.name, name))
				found |= report_fields_add_field(fields, &field, i);
	}
	return found;
}
