/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tracepoint_fields.h"

#include <stdlib.h>

#include "analysis/trace/trace_print.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "perfdata/tracing_formats.h"

struct kernel_symbol {
	uint64_t address;
	const char *name;
};

struct tracepoint_printer {
	struct arena arena;
	struct tally_bytes tracing; /* A copy, because formats point into it. */
	VEC(struct trace_event) events;
	struct map_u64 by_id; /* Maps an event ID to an index in events. */
	VEC(struct kernel_symbol) symbols; /* From the tracing data, sorted by address. */
	VEC(struct tally_str) formats; /* Formats of trace_printk. */
	struct map_u64 format_ids; /* Maps an address to an index in formats. */
	struct trace_context context;
	struct text value; /* Buffer of tracepoint_value_at. */
	tracepoint_symbol find_symbol;
	void *symbol_context;
	bool failed; /* Memory was exhausted. */
};

static void parse_event(struct tracepoint_printer *p, struct tally_bytes format, struct tally_str system)
{
	struct trace_event event;
	struct tally_str text = {(const char *)format.data, format.len};
	/* An event with an invalid format is left out, as if the recording did not describe it. */
	if (format.len == 0 || !trace_event_parse(text, p->context.long_bytes, &p->arena, &event))
		return;
	event.system = system;
	trace_event_fold(&event);
	if (!map_u64_set(&p->by_id, event.id, p->events.len) || !vec_push(&p->events, event))
		p->failed = true;
}

static int tracepoint_fields_by_address(const void *a, const void *b)
{
	const struct kernel_symbol *x = a;
	const struct kernel_symbol *y = b;
	return COMPARE(x->address, y->address);
}

static void parse_kallsyms(struct tracepoint_printer *p, struct tally_bytes text)
{
	struct tally_str rest = {(const char *)text.data, text.len};
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line) && !p->failed) {
		struct tally_str address_text;
		struct tally_str type;
		struct tally_str name;
		struct kernel_symbol symbol;
		if (!str_next(&line, ' ', &address_text) || !str_next(&line, ' ', &type) || !line.data ||
			!str_to_u64(address_text, 16, &symbol.address) || !str_next(&line, '\t', &name) ||
			name.len == 0)
			continue;
		symbol.name = arena_string(&p->arena, name.data, name.len);
		if (!symbol.name || !vec_push(&p->symbols, symbol))
			p->failed = true;
	}
	if (p->symbols.len > 0)
		qsort(p->symbols.items, p->symbols.len, sizeof(*p->symbols.items), tracepoint_fields_by_address);
}

/* Parses lines such as 0xffffffff82000000 : "text\n", with the escapes of C. */
static void parse_printk_formats(struct tracepoint_printer *p, struct tally_bytes text)
{
	struct tally_str rest = {(const char *)text.data, text.len};
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line) && !p->failed) {
		struct tally_str address_text;
		uint64_t address;
		if (!str_next(&line, ':', &address_text) || !line.data ||
			!str_to_u64(str_trim(address_text), 0, &address))
			continue;
		line = str_trim(line);
		if (line.len < 2 || line.data[0] != '"')
			continue;
		line = (struct tally_str){line.data + 1, line.len - 1};
		struct tally_str format = trace_string_parse(&line, &p->arena);
		if (!format.data)
			continue;
		if (format.len > 0 && format.data[format.len - 1] == '\n')
			format.len--;
		if (!map_u64_set(&p->format_ids, address, p->formats.len) || !vec_push(&p->formats, format))
			p->failed = true;
	}
}

static bool tracepoint_fields_parse(struct tally_bytes tracing_data, struct tracepoint_printer *p)
{
	struct tracing_formats formats;
	struct tally_bytes format;
	if (!tracing_formats_open(&formats, tracing_data))
		return false;
	p->context.swap = formats.swap;
	p->context.long_bytes = formats.long_bytes;
	while (!p->failed && tracing_formats_next(&formats, &format))
		parse_event(p, format, formats.system);
	parse_kallsyms(p, tracing_formats_file(&formats));
	parse_printk_formats(p, tracing_formats_file(&formats));
	return true;
}

/* Returns the name of the kernel function at an address, and moves the address to its start. The function that the
 * caller has set comes first, then the symbols in the tracing data. */
static const char *tracepoint_fields_find_symbol(void *owner, uint64_t *address)
{
	struct tracepoint_printer *p = owner;
	const char *module = NULL;
	const char *name = p->find_symbol ? p->find_symbol(p->symbol_context, address, &module) : NULL;
	size_t low;
	LOWER_BOUND(low, name ? 0 : p->symbols.len, middle, p->symbols.items[middle].address <= *address);
	if (name || low == 0)
		return name;
	*address = p->symbols.items[low - 1].address;
	return p->symbols.items[low - 1].name;
}

enum tally_status tracepoint_printer_create(
	struct tally_bytes tracing_data, struct tracepoint_printer **out, struct tally_error *err)
{
	struct tracepoint_printer *p = calloc(1, sizeof(*p));
	if (!p)
		return error_nomem(err);
	arena_init(&p->arena);
	/* Formats are slices of the copy; the caller may free the original. */
	const uint8_t *copy = arena_copy(&p->arena, tracing_data.data, tracing_data.len);
	bool ok = copy && tracepoint_fields_parse((struct tally_bytes){copy, tracing_data.len}, p);
	if (!ok || p->failed) {
		bool is_corrupt = copy && !p->failed;
		tracepoint_printer_destroy(p);
		return is_corrupt ? error_set(err, TALLY_CORRUPT, "the recording's tracing data cannot be read")
				  : error_nomem(err);
	}
	p->context.find_symbol = tracepoint_fields_find_symbol;
	p->context.owner = p;
	p->context.format_ids = &p->format_ids;
	p->context.formats = p->formats.items;
	*out = p;
	return TALLY_OK;
}

void tracepoint_printer_set_symbols(struct tracepoint_printer *printer, tracepoint_symbol find, void *context)
{
	printer->find_symbol = find;
	printer->symbol_context = context;
}

void tracepoint_printer_destroy(struct tracepoint_printer *printer)
{
	if (!printer)
		return;
	vec_free(&printer->events);
	vec_free(&printer->symbols);
	vec_free(&printer->formats);
	map_u64_deinit(&printer->by_id);
	map_u64_deinit(&printer->format_ids);
	text_deinit(&printer->value);
	arena_deinit(&printer->arena);
	free(printer);
}

static const struct trace_event *event_by_id(const struct tracepoint_printer *printer, uint64_t id)
{
	uint64_t index;
	return map_u64_find(&printer->by_id, id, &index) ? &printer->events.items[index] : NULL;
}

/* Every payload begins with the ID of its event. */
bool tracepoint_payload_id(const struct tracepoint_printer *printer, struct tally_bytes raw, uint64_t *id)
{
	struct cursor c = cursor_make(raw, printer->context.swap);
	*id = cursor_u16(&c);
	return !c.failed;
}

static const struct trace_event *tracepoint_fields_event_of(
	const struct tracepoint_printer *printer, struct tally_bytes raw)
{
	uint64_t id;
	return tracepoint_payload_id(printer, raw, &id) ? event_by_id(printer, id) : NULL;
}

typedef void (*event_printer)(
	const struct trace_event *event, const struct trace_context *context, struct tally_bytes raw, struct text *t);

/* Escapes the text, which may contain strings of programs, except a newline at its end. */
static void print_visible(struct tracepoint_printer *printer, event_printer print, const struct trace_event *event,
	struct tally_bytes raw, struct text *t)
{
	size_t start = t->len;
	print(event, &printer->context, raw, t);
	bool ends_line = !t->failed && t->len > start && t->data[t->len - 1] == '\n';
	t->len -= ends_line;
	text_visible_from(t, start);
	if (ends_line)
		text_char(t, '\n');
}

bool tracepoint_print(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t)
{
	const struct trace_event *event = tracepoint_fields_event_of(printer, raw);
	if (event)
		print_visible(printer, trace_event_print, event, raw, t);
	return event != NULL;
}

bool tracepoint_print_raw(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t)
{
	const struct trace_event *event = tracepoint_fields_event_of(printer, raw);
	if (event)
		print_visible(printer, trace_event_print_raw, event, raw, t);
	return event != NULL;
}

bool tracepoint_field_names(struct tracepoint_printer *printer, uint64_t id, struct text *t)
{
	const struct trace_event *event = event_by_id(printer, id);
	for (uint32_t i = event ? event->common_count : 0; event && i < event->field_count; i++) {
		if (i > event->common_count)
			text_char(t, ',');
		text_bytes(t, event->fields[i].name.data, event->fields[i].name.len);
	}
	return event != NULL;
}

/* Returns whether the payload contains the field, including the data that a dynamic field refers to. */
static bool field_is_whole(const struct trace_field *field, struct tally_bytes raw, bool swap)
{
	uint64_t end = (uint64_t)field->offset + field->size;
	if (end > raw.len || !field->is_dynamic)
		return end <= raw.len;
	struct cursor c = cursor_make((struct tally_bytes){raw.data + field->offset, field->size}, swap);
	uint32_t place = cursor_u32(&c);
	uint64_t offset = (place & UINT16_MAX) + (field->is_relative ? end : 0);
	return !c.failed && offset + (place >> 16) <= raw.len;
}

static uint32_t tracepoint_fields_first_of(const struct trace_event *event, enum tracepoint_part part)
{
	return part == TRACEPOINT_COMMON ? 0 : event->common_count;
}

static const struct trace_field *tracepoint_fields_find_field(
	const struct trace_event *event, enum tracepoint_part part, unsigned index)
{
	uint32_t first = tracepoint_fields_first_of(event, part);
	uint32_t end = part == TRACEPOINT_COMMON ? event->common_count : event->field_count;
	return index < end - first ? &event->fields[first + index] : NULL;
}

static const struct trace_field *find_named(
	const struct trace_event *event, enum tracepoint_part part, struct tally_str name)
{
	const struct trace_field *field;
	for (unsigned i = 0; event && (field = tracepoint_fields_find_field(event, part, i)) != NULL; i++)
		if (str_equal(field->name, name))
			return field;
	return NULL;
}

static struct tracepoint_field tracepoint_fields_describe(const struct trace_field *field)
{
	struct tracepoint_field out = {.name = field->name,
		.type = field->type,
		.form = TRACEPOINT_TEXT,
		.size = field->size,
		.is_dynamic = field->is_dynamic && field->is_string};
	bool is_plain_array = field->is_array && !field->is_string && !field->is_dynamic && field->item_bytes > 0 &&
			      field->size > 0 && field->size % field->item_bytes == 0 &&
			      field->size / field->item_bytes <= TRACEPOINT_ARRAY_MAX;
	unsigned bytes = is_plain_array ? field->item_bytes : field->size;
	if ((field->is_array && !is_plain_array) || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return out;
	out.bytes = bytes;
	out.count = is_plain_array ? field->size / field->item_bytes : 0;
	if (field->is_signed)
		out.form = TRACEPOINT_SIGNED;
	else
		out.form = field->is_pointer || field->is_long ? TRACEPOINT_ADDRESS : TRACEPOINT_NUMBER;
	return out;
}

bool tracepoint_find(const struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	struct tally_str name, unsigned *index)
{
	const struct trace_event *event = tracepoint_fields_event_of(printer, raw);
	const struct trace_field *field = find_named(event, part, name);
	if (field)
		*index = (unsigned)(field - event->fields) - tracepoint_fields_first_of(event, part);
	return field != NULL;
}

bool tracepoint_number_of(const struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	struct tally_str name, uint64_t *number)
{
	const struct trace_field *field = find_named(tracepoint_fields_event_of(printer, raw), part, name);
	*number = 0;
	if (!field || tracepoint_fields_describe(field).form == TRACEPOINT_TEXT)
		return false;
	if (field_is_whole(field, raw, printer->context.swap))
		*number = trace_field_number(field, &printer->context, raw, 0);
	return true;
}

bool tracepoint_field_at(struct tracepoint_printer *printer, uint64_t id, enum tracepoint_part part, unsigned index,
	struct tracepoint_field *out)
{
	const struct trace_event *event = event_by_id(printer, id);
	const struct trace_field *field = event ? tracepoint_fields_find_field(event, part, index) : NULL;
	if (field)
		*out = tracepoint_fields_describe(field);
	return field != NULL;
}

bool tracepoint_value_at(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct tracepoint_value *value)
{
	const struct trace_event *event = tracepoint_fields_event_of(printer, raw);
	const struct trace_field *field = event ? tracepoint_fields_find_field(event, part, index) : NULL;
	if (!field)
		return false;
	*value = (struct tracepoint_value){.field = tracepoint_fields_describe(field), .text = {"", 0}};
	if (!field_is_whole(field, raw, printer->context.swap))
		return true;
	text_clear(&printer->value);
	trace_field_print(field, &printer->context, raw, &printer->value);
	if (printer->value.len > 0)
		value->text = (struct tally_str){printer->value.data, printer->value.len};
	unsigned count = value->field.form == TRACEPOINT_TEXT ? 0 : value->field.count ? value->field.count : 1;
	for (unsigned i = 0; i < count; i++)
		value->numbers[i] = trace_field_number(field, &printer->context, raw, i);
	return true;
}

bool tracepoint_field_print(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct text *t)
{
	const struct trace_event *event = tracepoint_fields_event_of(printer, raw);
	const struct trace_field *field = event ? tracepoint_fields_find_field(event, part, index) : NULL;
	if (field && field_is_whole(field, raw, printer->context.swap)) {
		size_t start = t->len;
		trace_event_print_field(event, (uint32_t)(field - event->fields), &printer->context, raw, t);
		text_visible_from(t, start);
	}
	return field != NULL;
}
