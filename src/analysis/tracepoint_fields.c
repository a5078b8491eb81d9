#include "analysis/tracepoint_fields.h"

#include "base/error.h"
#include "tally_config.h"

#if HAVE_TRACEEVENT
#include <event-parse.h>
#include <stdlib.h>
#include <trace-seq.h>

#include "base/cursor.h"
#include "base/limits.h"

struct tracepoint_printer {
	struct tep_handle *tep;
	struct trace_seq text;
	tracepoint_symbol find_symbol;
	void *symbol_context;
};

static struct tally_str take_string(struct cursor *c)
{
	struct cursor peek = *c;
	struct tally_str text = cursor_text(&peek, cursor_left(&peek));
	cursor_skip(c, text.len + 1);
	return text;
}

static struct tally_bytes sized(struct cursor *c, uint64_t size)
{
	return cursor_count(c, size, 1) ? cursor_bytes(c, (size_t)size) : (struct tally_bytes){NULL, 0};
}

static void parse_event(struct tep_handle *tep, struct tally_bytes format, const char *system)
{
	/* A format that the library does not take leaves its event without fields. */
	if (format.len > 0)
		(void)tep_parse_event(tep, (const char *)format.data, format.len, system);
}

static void parse_systems(struct cursor *c, struct tep_handle *tep)
{
	uint32_t systems = cursor_u32(c);
	for (uint32_t s = 0; s < systems && !c->failed; s++) {
		struct tally_str name = take_string(c);
		char system[128];
		size_t len = name.len < sizeof(system) - 1 ? name.len : sizeof(system) - 1;
		memcpy(system, name.data, len);
		system[len] = '\0';
		uint32_t events = cursor_u32(c);
		for (uint32_t e = 0; e < events && !c->failed; e++)
			parse_event(tep, sized(c, cursor_u64(c)), system);
	}
}

static void parse_kallsyms(struct tep_handle *tep, struct tally_bytes text)
{
	struct tally_str rest = {(const char *)text.data, text.len};
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct tally_str address_text;
		struct tally_str type;
		uint64_t address;
		if (!str_next(&line, ' ', &address_text) || !str_next(&line, ' ', &type) || !line.data ||
			!str_to_u64(address_text, 16, &address))
			continue;
		struct tally_str name;
		if (!str_next(&line, '\t', &name) || name.len == 0 || name.len > 255)
			continue;
		char buffer[256];
		memcpy(buffer, name.data, name.len);
		buffer[name.len] = '\0';
		(void)tep_register_function(tep, buffer, address, NULL);
	}
}

static void parse_printk_formats(struct tep_handle *tep, struct tally_bytes text)
{
	struct tally_str rest = {(const char *)text.data, text.len};
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct tally_str address_text;
		uint64_t address;
		if (!str_next(&line, ':', &address_text) || !line.data ||
			!str_to_u64(str_trim(address_text), 16, &address))
			continue;
		struct tally_str format = str_trim(line);
		/* The library looks three bytes back from the end, behind a quote that it skips. */
		if (format.len < 4 || format.len > 1000)
			continue;
		char buffer[1001];
		memcpy(buffer, format.data, format.len);
		buffer[format.len] = '\0';
		(void)tep_register_print_string(tep, buffer, address);
	}
}

/* The layout that trace-cmd's files and perf's TRACING_DATA share, from the magic on. */
static bool parse(struct cursor *c, struct tep_handle *tep)
{
	const uint8_t *magic = cursor_take(c, 10);
	if (!magic || memcmp(magic, "\027\010\104tracing", 10) != 0)
		return false;
	(void)take_string(c); /* version */
	uint8_t is_big = cursor_u8(c);
	uint16_t probe = 1;
	bool host_is_big = *(uint8_t *)&probe == 0;
	c->swap = (is_big != 0) != host_is_big;
	tep_set_file_bigendian(tep, is_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, host_is_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, cursor_u8(c));
	tep_set_page_size(tep, (int)cursor_u32(c));
	cursor_skip(c, sizeof("header_page"));
	struct tally_bytes page = sized(c, cursor_u64(c));
	cursor_skip(c, sizeof("header_event"));
	(void)sized(c, cursor_u64(c));
	if (c->failed)
		return false;
	(void)tep_parse_header_page(tep, (char *)(uintptr_t)page.data, page.len, tep_get_long_size(tep));
	uint32_t count = cursor_u32(c); /* ftrace's own events */
	for (uint32_t i = 0; i < count && !c->failed; i++)
		parse_event(tep, sized(c, cursor_u64(c)), "ftrace");
	parse_systems(c, tep);
	parse_kallsyms(tep, sized(c, cursor_u32(c)));
	parse_printk_formats(tep, sized(c, cursor_u32(c)));
	return true;
}

enum tally_status tracepoint_printer_create(
	struct tally_bytes tracing_data, struct tracepoint_printer **out, struct tally_error *err)
{
	struct tracepoint_printer *printer = calloc(1, sizeof(*printer));
	if (!printer)
		return error_nomem(err);
	printer->tep = tep_alloc();
	if (!printer->tep) {
		free(printer);
		return error_nomem(err);
	}
	/* The library reports what it does not understand on standard error, which is not ours to write. */
	tep_set_loglevel(TEP_LOG_NONE);
	trace_seq_init(&printer->text);
	struct cursor c = cursor_make(tracing_data, false);
	if (!parse(&c, printer->tep)) {
		tracepoint_printer_destroy(printer);
		return error_set(err, TALLY_CORRUPT, "the recording's tracing data cannot be read");
	}
	*out = printer;
	return TALLY_OK;
}

/* The library's types are not const, but it only reads. */
static char *resolve_function(void *context, unsigned long long *address, char **module)
{
	struct tracepoint_printer *printer = context;
	uint64_t start = *address;
	const char *module_name = NULL;
	const char *name = printer->find_symbol(printer->symbol_context, &start, &module_name);
	if (!name)
		return NULL;
	*address = start;
	*module = (char *)(uintptr_t)module_name;
	return (char *)(uintptr_t)name;
}

void tracepoint_printer_set_symbols(struct tracepoint_printer *printer, tracepoint_symbol find, void *context)
{
	printer->find_symbol = find;
	printer->symbol_context = context;
	(void)tep_set_function_resolver(printer->tep, resolve_function, printer);
}

void tracepoint_printer_destroy(struct tracepoint_printer *printer)
{
	if (!printer)
		return;
	trace_seq_destroy(&printer->text);
	tep_free(printer->tep);
	free(printer);
}

bool tracepoint_print(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t)
{
	if (raw.len < 2)
		return false;
	struct tep_record record = {.data = (void *)(uintptr_t)raw.data, .size = (int)raw.len};
	struct tep_event *event = tep_find_event_by_record(printer->tep, &record);
	if (!event || (event->format.fields && record.size < 8))
		return false;
	trace_seq_reset(&printer->text);
	tep_print_event(printer->tep, &printer->text, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&printer->text);
	text_bytes(t, printer->text.buffer, printer->text.len);
	return true;
}

bool tracepoint_field_names(struct tracepoint_printer *printer, uint64_t id, struct text *t)
{
	struct tep_event *event = id <= INT32_MAX ? tep_find_event(printer->tep, (int)id) : NULL;
	if (!event)
		return false;
	for (const struct tep_format_field *field = event->format.fields; field; field = field->next) {
		if (field != event->format.fields)
			text_char(t, ',');
		text_str(t, field->name);
	}
	return true;
}

/* Whether the field lies in the payload, with the part that it only points to. */
static bool field_is_whole(const struct tep_format_field *field, struct tally_bytes raw, bool swap)
{
	if (field->offset < 0 || field->size < 0)
		return false;
	uint64_t end = (uint64_t)field->offset + (uint64_t)field->size;
	if (end > raw.len || !(field->flags & TEP_FIELD_IS_DYNAMIC))
		return end <= raw.len;
	struct cursor c = cursor_make((struct tally_bytes){raw.data + field->offset, (size_t)field->size}, swap);
	uint32_t place = cursor_u32(&c);
	uint64_t offset = (place & UINT16_MAX) + (field->flags & TEP_FIELD_IS_RELATIVE ? end : 0);
	return !c.failed && offset + (place >> 16) <= raw.len;
}

static struct tep_format_field *find_field(const struct tep_event *event, enum tracepoint_part part, unsigned index)
{
	struct tep_format_field *field = part == TRACEPOINT_COMMON ? event->format.common_fields : event->format.fields;
	while (field && index-- > 0)
		field = field->next;
	return field;
}

static bool is_plain_array(const struct tep_format_field *field)
{
	return (field->flags & TEP_FIELD_IS_ARRAY) && !(field->flags & (TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC)) &&
	       field->arraylen > 0 && field->arraylen <= TRACEPOINT_ARRAY_MAX && field->elementsize > 0 &&
	       (uint64_t)field->arraylen * field->elementsize == (uint64_t)field->size;
}

static struct tracepoint_field describe(const struct tep_format_field *field)
{
	struct tracepoint_field out = {.name = str_from(field->name), .form = TRACEPOINT_TEXT};
	bool is_array = is_plain_array(field);
	unsigned bytes = is_array ? field->elementsize : field->size > 0 ? (unsigned)field->size : 0;
	bool is_number =
		is_array || !(field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC));
	if (!is_number || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return out;
	out.bytes = bytes;
	out.count = is_array ? field->arraylen : 0;
	if (field->flags & TEP_FIELD_IS_SIGNED)
		out.form = TRACEPOINT_SIGNED;
	else
		out.form = field->flags & (TEP_FIELD_IS_POINTER | TEP_FIELD_IS_LONG) ? TRACEPOINT_ADDRESS
										     : TRACEPOINT_NUMBER;
	return out;
}

static void read_numbers(struct tracepoint_printer *printer, const uint8_t *data, struct tracepoint_value *value)
{
	const struct tracepoint_field *field = &value->field;
	unsigned unused = 64 - 8 * field->bytes;
	for (unsigned i = 0; i < (field->count ? field->count : 1); i++) {
		uint64_t number = tep_read_number(printer->tep, data + (size_t)i * field->bytes, (int)field->bytes);
		if (field->form == TRACEPOINT_SIGNED)
			number = (uint64_t)((int64_t)(number << unused) >> unused);
		value->numbers[i] = number;
	}
}

bool tracepoint_field_at(struct tracepoint_printer *printer, uint64_t id, enum tracepoint_part part, unsigned index,
	struct tracepoint_field *out)
{
	const struct tep_event *event = id <= INT32_MAX ? tep_find_event(printer->tep, (int)id) : NULL;
	const struct tep_format_field *field = event ? find_field(event, part, index) : NULL;
	if (field)
		*out = describe(field);
	return field != NULL;
}

bool tracepoint_value_at(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct tracepoint_value *value)
{
	struct tep_record record = {.data = (void *)(uintptr_t)raw.data, .size = (int)raw.len};
	const struct tep_event *event = raw.len < 2 ? NULL : tep_find_event_by_record(printer->tep, &record);
	struct tep_format_field *field = event ? find_field(event, part, index) : NULL;
	if (!field)
		return false;
	*value = (struct tracepoint_value){.field = describe(field), .text = {"", 0}};
	bool swap = tep_is_file_bigendian(printer->tep) != tep_is_local_bigendian(printer->tep);
	if (!field_is_whole(field, raw, swap))
		return true;
	trace_seq_reset(&printer->text);
	tep_print_field_content(&printer->text, record.data, record.size, field);
	trace_seq_terminate(&printer->text);
	value->text = (struct tally_str){printer->text.buffer, printer->text.len};
	if (value->field.form != TRACEPOINT_TEXT)
		read_numbers(printer, raw.data + field->offset, value);
	return true;
}

#else

enum tally_status tracepoint_printer_create(
	struct tally_bytes tracing_data, struct tracepoint_printer **printer, struct tally_error *err)
{
	return error_set(
		err, TALLY_UNSUPPORTED, "this build has no libtraceevent: the fields of tracepoints are not printed");
}

void tracepoint_printer_set_symbols(struct tracepoint_printer *printer, tracepoint_symbol find, void *context)
{
}

void tracepoint_printer_destroy(struct tracepoint_printer *printer)
{
}

bool tracepoint_print(struct tracepoint_printer *printer, struct tally_bytes raw, struct text *t)
{
	return false;
}

bool tracepoint_field_names(struct tracepoint_printer *printer, uint64_t id, struct text *t)
{
	return false;
}

bool tracepoint_field_at(struct tracepoint_printer *printer, uint64_t id, enum tracepoint_part part, unsigned index,
	struct tracepoint_field *field)
{
	return false;
}

bool tracepoint_value_at(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	unsigned index, struct tracepoint_value *value)
{
	return false;
}

#endif
