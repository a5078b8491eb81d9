/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json.h"
#include "base/protobuf_reader.h"
#include "view/export/export_formats.h"

/* The messages and fields that export_otlp writes. */
enum export_otlp_json_message {
	OTLP_JSON_DATA,
	OTLP_JSON_DICTIONARY,
	OTLP_JSON_RESOURCE_PROFILES,
	OTLP_JSON_RESOURCE,
	OTLP_JSON_SCOPE_PROFILES,
	OTLP_JSON_SCOPE,
	OTLP_JSON_PROFILE,
	OTLP_JSON_TYPE,
	OTLP_JSON_SAMPLE,
	OTLP_JSON_MAPPING,
	OTLP_JSON_STACK,
	OTLP_JSON_LOCATION,
	OTLP_JSON_LINE,
	OTLP_JSON_FUNCTION,
	OTLP_JSON_LINK,
	OTLP_JSON_ATTRIBUTE,
	OTLP_JSON_PAIR,
	OTLP_JSON_VALUE,
	OTLP_JSON_ARRAY
};
enum export_otlp_json_kind {
	OTLP_JSON_TEXT,
	OTLP_JSON_INDEX, /* int32 */
	OTLP_JSON_NUMBER, /* uint64: numbers of 64 bits are strings in JSON. */
	OTLP_JSON_SIGNED, /* int64 */
	OTLP_JSON_FIXED, /* fixed64 */
	OTLP_JSON_MESSAGE
};

struct export_otlp_json_field {
	enum export_otlp_json_message message;
	uint32_t number;
	const char *name;
	enum export_otlp_json_kind kind;
	bool is_repeated;
	enum export_otlp_json_message inner; /* Only for OTLP_JSON_MESSAGE. */
};

#define ONE(message, number, name, kind)                                      \
	{                                                                     \
		OTLP_JSON_##message, number, name, OTLP_JSON_##kind, false, 0 \
	}
#define MANY(message, number, name, kind)                                    \
	{                                                                    \
		OTLP_JSON_##message, number, name, OTLP_JSON_##kind, true, 0 \
	}
#define ONE_MESSAGE(message, number, name, inner)                                              \
	{                                                                                      \
		OTLP_JSON_##message, number, name, OTLP_JSON_MESSAGE, false, OTLP_JSON_##inner \
	}
#define MANY_MESSAGES(message, number, name, inner)                                           \
	{                                                                                     \
		OTLP_JSON_##message, number, name, OTLP_JSON_MESSAGE, true, OTLP_JSON_##inner \
	}

static const struct export_otlp_json_field fields[] = {
	MANY_MESSAGES(DATA, 1, "resourceProfiles", RESOURCE_PROFILES),
	ONE_MESSAGE(DATA, 2, "dictionary", DICTIONARY),
	MANY_MESSAGES(DICTIONARY, 1, "mappingTable", MAPPING),
	MANY_MESSAGES(DICTIONARY, 2, "locationTable", LOCATION),
	MANY_MESSAGES(DICTIONARY, 3, "functionTable", FUNCTION),
	MANY_MESSAGES(DICTIONARY, 4, "linkTable", LINK),
	MANY(DICTIONARY, 5, "stringTable", TEXT),
	MANY_MESSAGES(DICTIONARY, 6, "attributeTable", ATTRIBUTE),
	MANY_MESSAGES(DICTIONARY, 7, "stackTable", STACK),
	ONE_MESSAGE(RESOURCE_PROFILES, 1, "resource", RESOURCE),
	MANY_MESSAGES(RESOURCE_PROFILES, 2, "scopeProfiles", SCOPE_PROFILES),
	MANY_MESSAGES(RESOURCE, 1, "attributes", PAIR),
	ONE_MESSAGE(SCOPE_PROFILES, 1, "scope", SCOPE),
	MANY_MESSAGES(SCOPE_PROFILES, 2, "profiles", PROFILE),
	ONE(SCOPE, 1, "name", TEXT),
	ONE(SCOPE, 2, "version", TEXT),
	ONE_MESSAGE(PROFILE, 1, "sampleType", TYPE),
	MANY_MESSAGES(PROFILE, 2, "samples", SAMPLE),
	ONE(PROFILE, 3, "timeUnixNano", FIXED),
	ONE(PROFILE, 4, "durationNano", NUMBER),
	ONE_MESSAGE(PROFILE, 5, "periodType", TYPE),
	ONE(PROFILE, 6, "period", SIGNED),
	MANY(PROFILE, 11, "attributeIndices", INDEX),
	ONE(TYPE, 1, "typeStrindex", INDEX),
	ONE(TYPE, 2, "unitStrindex", INDEX),
	ONE(SAMPLE, 1, "stackIndex", INDEX),
	MANY(SAMPLE, 2, "attributeIndices", INDEX),
	MANY(SAMPLE, 4, "values", SIGNED),
	MANY(SAMPLE, 5, "timestampsUnixNano", FIXED),
	ONE(MAPPING, 2, "memoryLimit", NUMBER),
	ONE(MAPPING, 4, "filenameStrindex", INDEX),
	MANY(MAPPING, 5, "attributeIndices", INDEX),
	MANY(STACK, 1, "locationIndices", INDEX),
	ONE(LOCATION, 1, "mappingIndex", INDEX),
	ONE(LOCATION, 2, "address", NUMBER),
	MANY_MESSAGES(LOCATION, 3, "lines", LINE),
	MANY(LOCATION, 4, "attributeIndices", INDEX),
	ONE(LINE, 1, "functionIndex", INDEX),
	ONE(LINE, 2, "line", SIGNED),
	ONE(FUNCTION, 1, "nameStrindex", INDEX),
	ONE(FUNCTION, 3, "filenameStrindex", INDEX),
	ONE(ATTRIBUTE, 1, "keyStrindex", INDEX),
	ONE_MESSAGE(ATTRIBUTE, 2, "value", VALUE),
	ONE(PAIR, 1, "key", TEXT),
	ONE_MESSAGE(PAIR, 2, "value", VALUE),
	ONE(VALUE, 1, "stringValue", TEXT),
	ONE(VALUE, 3, "intValue", SIGNED),
	ONE_MESSAGE(VALUE, 5, "arrayValue", ARRAY),
	MANY_MESSAGES(ARRAY, 1, "values", VALUE),
};

static const struct export_otlp_json_field *export_otlp_json_find(
	enum export_otlp_json_message message, uint32_t number)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].message == message && fields[i].number == number)
			return &fields[i];
	return NULL;
}

static void export_otlp_json_put_number(
	struct json *j, const char *key, enum export_otlp_json_kind kind, uint64_t value)
{
	char room[24];
	struct text digits = text_over(room, sizeof(room));
	if (kind == OTLP_JSON_INDEX)
		json_u64(j, key, value);
	else if (kind == OTLP_JSON_SIGNED)
		text_i64(&digits, (int64_t)value);
	else
		text_u64(&digits, value);
	if (kind != OTLP_JSON_INDEX)
		json_string(j, key, text_view(&digits));
}

/* Writes one number, or several that are packed. */
static void export_otlp_json_put_numbers(struct json *j, const struct protobuf_reader *message,
	const struct protobuf_field *field, const struct export_otlp_json_field *known)
{
	const char *key = known->is_repeated ? NULL : known->name;
	bool is_fixed = known->kind == OTLP_JSON_FIXED;
	struct protobuf_reader numbers =
		protobuf_numbers(message, field, is_fixed ? PROTOBUF_FIXED64 : PROTOBUF_VARINT);
	uint64_t value;
	while (is_fixed ? protobuf_next_fixed64(&numbers, &value) : protobuf_next_varint(&numbers, &value))
		export_otlp_json_put_number(j, key, known->kind, value);
}

struct export_otlp_json {
	struct byte_sink *sink;
	struct json json;
};

static void export_otlp_json_put_message(struct export_otlp_json *w, const char *key,
	enum export_otlp_json_message kind, struct protobuf_reader message);

static void export_otlp_json_put_field(struct export_otlp_json *w, const struct protobuf_reader *message,
	const struct protobuf_field *field, const struct export_otlp_json_field *known)
{
	const char *key = known->is_repeated ? NULL : known->name;
	if (known->kind == OTLP_JSON_MESSAGE)
		export_otlp_json_put_message(w, key, known->inner, protobuf_nested(message, field));
	else if (known->kind == OTLP_JSON_TEXT)
		json_string(&w->json, key, protobuf_text(field));
	else
		export_otlp_json_put_numbers(&w->json, message, field, known);
}

/* Writes a message as an object. The items of a repeated field are adjacent, so its array ends at the next field. */
static void export_otlp_json_put_message(
	struct export_otlp_json *w, const char *key, enum export_otlp_json_message kind, struct protobuf_reader message)
{
	struct json *j = &w->json;
	struct protobuf_field field;
	uint32_t open = 0; /* Number of the field with an open array; 0: none. */
	json_object(j, key);
	while (protobuf_next(&message, &field)) {
		const struct export_otlp_json_field *known = export_otlp_json_find(kind, field.number);
		if (!known)
			continue;
		if (open && open != field.number)
			json_array_end(j);
		if (known->is_repeated && open != field.number)
			json_array(j, known->name);
		open = known->is_repeated ? field.number : 0;
		export_otlp_json_put_field(w, &message, &field, known);
		byte_sink_step(w->sink);
	}
	if (open)
		json_array_end(j);
	json_object_end(j);
}

static void export_otlp_json_convert(struct byte_sink *sink, int fd)
{
	struct stat status;
	void *data = MAP_FAILED;
	if (fstat(fd, &status) == 0 && status.st_size > 0)
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		sink->failed = true;
		return;
	}
	struct export_otlp_json w = {.sink = sink, .json = {.out = &sink->text, .is_compact = true}};
	export_otlp_json_put_message(
		&w, NULL, OTLP_JSON_DATA, protobuf_reader_make((struct tally_bytes){data, (size_t)status.st_size}));
	munmap(data, (size_t)status.st_size);
}

/* The message is made in memory first, because lengths and string indexes are known only when it is complete. */
void export_otlp_json(struct byte_sink *sink, const struct export_view *view)
{
	struct byte_sink message;
	int fd = memfd_create("otlp", MFD_CLOEXEC);
	if (fd < 0) {
		sink->failed = true;
		return;
	}
	byte_sink_init(&message, fd, false);
	export_otlp(&message, view);
	if (byte_sink_finish(&message, "memory", NULL) == TALLY_OK)
		export_otlp_json_convert(sink, fd);
	else
		sink->failed = true;
	close(fd);
}
