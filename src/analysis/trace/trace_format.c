/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/trace/trace_format.h"

#include "base/limits.h"

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool trace_format_contains(struct tally_str text, const char *word)
{
	size_t len = strlen(word);
	for (size_t i = 0; i + len <= text.len; i++)
		if (memcmp(text.data + i, word, len) == 0)
			return true;
	return false;
}

/* Reads 8 from "offset:8". */
static bool trace_format_take_number(struct tally_str *line, struct tally_str key, uint32_t *value)
{
	struct tally_str part;
	uint64_t number;
	if (!str_next(line, ';', &part))
		return false;
	part = str_trim(part);
	if (!str_starts_with(part, key))
		return false;
	part = str_trim((struct tally_str){part.data + key.len, part.len - key.len});
	if (!str_to_u64(part, 10, &number) || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

static uint32_t type_bytes(struct tally_str type, unsigned long_bytes)
{
	if (trace_format_contains(type, "char") || trace_format_contains(type, "u8") ||
		trace_format_contains(type, "s8") || trace_format_contains(type, "bool"))
		return 1;
	if (trace_format_contains(type, "short") || trace_format_contains(type, "16"))
		return 2;
	if (trace_format_contains(type, "64") || trace_format_contains(type, "long long"))
		return 8;
	if (trace_format_contains(type, "long") || trace_format_contains(type, "*"))
		return long_bytes;
	return 4;
}

/* Parses "__data_loc char[] name", "char comm[16]" or "unsigned long args[6]". */
static bool parse_declaration(struct tally_str text, struct trace_field *field)
{
	text = str_trim(text);
	size_t end = text.len;
	if (end > 0 && text.data[end - 1] == ']') {
		field->is_array = true;
		while (end > 0 && text.data[end - 1] != '[')
			end--;
		if (end > 0)
			end--;
	}
	while (end > 0 && text.data[end - 1] == ' ')
		end--;
	size_t start = end;
	while (start > 0 && is_name_char(text.data[start - 1]))
		start--;
	field->name = (struct tally_str){text.data + start, end - start};
	field->type = str_trim((struct tally_str){text.data, start});
	field->is_relative = str_starts_with(field->type, STR("__rel_loc"));
	field->is_dynamic = field->is_relative || str_starts_with(field->type, STR("__data_loc"));
	field->is_array = field->is_array || field->is_dynamic;
	field->is_pointer = trace_format_contains(field->type, "*");
	field->is_long = trace_format_contains(field->type, "long");
	return field->name.len > 0;
}

static bool parse_field(struct tally_str line, unsigned long_bytes, struct trace_field *field)
{
	struct tally_str declaration;
	uint32_t is_signed = 0;
	*field = (struct trace_field){0};
	if (!str_next(&line, ';', &declaration) || !parse_declaration(declaration, field) ||
		!trace_format_take_number(&line, STR("offset:"), &field->offset) ||
		!trace_format_take_number(&line, STR("size:"), &field->size))
		return false;
	(void)trace_format_take_number(&line, STR("signed:"), &is_signed); /* The oldest kernels do not write it. */
	field->is_signed = is_signed != 0;
	field->item_bytes = field->is_array ? type_bytes(field->type, long_bytes) : field->size;
	field->is_string = field->is_array && field->item_bytes == 1 && !trace_format_contains(field->type, "bool");
	return true;
}

uint32_t trace_event_field(const struct trace_event *event, struct tally_str name)
{
	for (uint32_t i = 0; i < event->field_count; i++)
		if (str_equal(event->fields[i].name, name))
			return i;
	return UINT32_MAX;
}

static bool trace_format_value_of(struct tally_str line, struct tally_str key, struct tally_str *value)
{
	if (!str_starts_with(line, key))
		return false;
	*value = str_trim((struct tally_str){line.data + key.len, line.len - key.len});
	return true;
}

#define FIELDS_MAX 512 /* Limit for one event; system calls have about ten fields, the widest drivers a hundred. */

bool trace_event_parse(struct tally_str text, unsigned long_bytes, struct arena *arena, struct trace_event *event)
{
	struct trace_event e = {.id = UINT32_MAX};
	VEC(struct trace_field) fields = {0};
	struct tally_str line;
	struct tally_str value;
	struct tally_str print = {NULL, 0};
	bool ok = true;
	bool is_common = true;
	while (ok && text.len > 0 && str_next(&text, '\n', &line)) {
		uint64_t id;
		struct tally_str trimmed = str_trim(line);
		if (trace_format_value_of(line, STR("name:"), &e.name))
			continue;
		if (trace_format_value_of(line, STR("ID:"), &value)) {
			ok = str_to_u64(value, 10, &id) && id < UINT32_MAX;
			e.id = ok ? (uint32_t)id : 0;
		} else if (trace_format_value_of(line, STR("print fmt:"), &print)) {
			/* The print format may span several lines: it is the rest of the text. */
			print.len += text.len > 0 ? (size_t)(text.data + text.len - (print.data + print.len)) : 0;
			break;
		} else if (trace_format_value_of(trimmed, STR("field:"), &value)) {
			struct trace_field field;
			ok = fields.len < FIELDS_MAX && parse_field(value, long_bytes, &field) &&
			     vec_push(&fields, field);
		} else if (trimmed.len == 0 && fields.len > 0 && is_common) {
			is_common = false;
			e.common_count = (uint32_t)fields.len;
		}
	}
	if (ok && e.name.len > 0 && e.id != UINT32_MAX) {
		e.field_count = (uint32_t)fields.len;
		e.fields = arena_array(arena, struct trace_field, fields.len ? fields.len : 1);
		ok = e.fields != NULL;
		if (ok && fields.len > 0)
			memcpy(e.fields, fields.items, fields.len * sizeof(*fields.items));
	} else {
		ok = false;
	}
	vec_free(&fields);
	if (!ok)
		return false;
	e.is_printable = print.len > 0 && trace_print_parse(print, long_bytes, arena, &e);
	*event = e;
	return true;
}
