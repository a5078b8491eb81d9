/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/otlp_dictionary.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/protobuf_writer.h"
#include "view/export/export_view.h"

/* Field numbers of profiles.proto and common.proto. */
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 };
enum { VALUE_STRING = 1, OTLP_DICTIONARY_VALUE_INT = 3, VALUE_ARRAY = 5 };
enum { ARRAY_VALUES = 1 };
enum { OTLP_DICTIONARY_MAPPING_LIMIT = 2, OTLP_DICTIONARY_MAPPING_FILE = 4, MAPPING_ATTRIBUTES = 5 };
enum { OTLP_DICTIONARY_FUNCTION_NAME = 1, OTLP_DICTIONARY_FUNCTION_FILE = 3 };
enum {
	OTLP_DICTIONARY_LOCATION_MAPPING = 1,
	OTLP_DICTIONARY_LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4
};
enum { OTLP_DICTIONARY_LINE_FUNCTION = 1, OTLP_DICTIONARY_LINE_NUMBER = 2 };
enum { STACK_LOCATIONS = 1 };

#define OTLP_DICTIONARY_PAGE_MASK UINT64_C(0xfff)

void otlp_put_number(struct text *out, unsigned field, uint64_t value)
{
	if (value)
		protobuf_u64(out, field, value);
}

void otlp_put_text(struct text *out, unsigned field, struct tally_str value)
{
	size_t begin = protobuf_open(out);
	protobuf_string(out, VALUE_STRING, value);
	protobuf_close(out, field, begin);
}

void otlp_put_indexes(struct text *out, unsigned field, const uint32_t *indexes, size_t count)
{
	if (count == 0)
		return;
	size_t begin = protobuf_open(out);
	protobuf_varints(out, indexes, count);
	protobuf_close(out, field, begin);
}

/* Adds the encoded entry to the table, and returns its index. */
static uint32_t otlp_dictionary_intern(struct otlp_dictionary *d, enum otlp_table table, struct text *from)
{
	uint32_t id = 0;
	if (from->failed || !intern_add(&d->tables[table], from->data, from->len, &id))
		d->failed = true;
	text_clear(from);
	return id;
}

uint32_t otlp_string(struct otlp_dictionary *d, struct tally_str s)
{
	text_utf8(&d->name, s);
	return otlp_dictionary_intern(d, OTLP_STRINGS, &d->name);
}

uint32_t otlp_text_attribute(struct otlp_dictionary *d, const char *key, struct tally_str value)
{
	otlp_put_number(&d->entry, ATTRIBUTE_KEY, otlp_string(d, str_from(key)));
	otlp_put_text(&d->entry, ATTRIBUTE_VALUE, value);
	return otlp_dictionary_intern(d, OTLP_ATTRIBUTES, &d->entry);
}

uint32_t otlp_number_attribute(struct otlp_dictionary *d, const char *key, int64_t value)
{
	otlp_put_number(&d->entry, ATTRIBUTE_KEY, otlp_string(d, str_from(key)));
	size_t begin = protobuf_open(&d->entry);
	protobuf_u64(&d->entry, OTLP_DICTIONARY_VALUE_INT, (uint64_t)value);
	protobuf_close(&d->entry, ATTRIBUTE_VALUE, begin);
	return otlp_dictionary_intern(d, OTLP_ATTRIBUTES, &d->entry);
}

uint32_t otlp_list_attribute(struct otlp_dictionary *d, const char *key, const struct tally_str *values, size_t count)
{
	otlp_put_number(&d->entry, ATTRIBUTE_KEY, otlp_string(d, str_from(key)));
	size_t value = protobuf_open(&d->entry), array = protobuf_open(&d->entry);
	for (size_t i = 0; i < count; i++)
		otlp_put_text(&d->entry, ARRAY_VALUES, values[i]);
	protobuf_close(&d->entry, VALUE_ARRAY, array);
	protobuf_close(&d->entry, ATTRIBUTE_VALUE, value);
	return otlp_dictionary_intern(d, OTLP_ATTRIBUTES, &d->entry);
}

/* Addresses are those in the file, because processes map it to different places. */
static uint32_t otlp_dictionary_mapping(struct otlp_dictionary *d, uint32_t index)
{
	if (index == PROFILE_NONE)
		return 0;
	const struct profile_binary *binary = &d->profile->binaries[index];
	struct tally_str build_id = profile_string(d->profile, binary->build_id);
	uint32_t attribute = 0;
	if (build_id.len > 0)
		attribute = otlp_text_attribute(d, "process.executable.build_id.gnu", build_id);
	uint32_t file = otlp_string(d, profile_string(d->profile, binary->long_name));
	otlp_put_number(&d->entry, OTLP_DICTIONARY_MAPPING_LIMIT, d->limits[index]);
	otlp_put_number(&d->entry, OTLP_DICTIONARY_MAPPING_FILE, file);
	otlp_put_indexes(&d->entry, MAPPING_ATTRIBUTES, &attribute, attribute > 0);
	return otlp_dictionary_intern(d, OTLP_MAPPINGS, &d->entry);
}

static uint32_t otlp_dictionary_function(struct otlp_dictionary *d, struct tally_str name, struct tally_str file)
{
	uint32_t name_id = otlp_string(d, name), file_id = otlp_string(d, file);
	otlp_put_number(&d->entry, OTLP_DICTIONARY_FUNCTION_NAME, name_id);
	otlp_put_number(&d->entry, OTLP_DICTIONARY_FUNCTION_FILE, file_id);
	return otlp_dictionary_intern(d, OTLP_FUNCTIONS, &d->entry);
}

/* Returns the function of a frame; 0 if it is unknown, so that the reader may find it by address and build ID. */
static uint32_t otlp_dictionary_function_of(struct otlp_dictionary *d, uint32_t index, struct tally_str file)
{
	const struct profile *p = d->profile;
	const struct profile_frame *frame = &p->frames[index];
	if (frame->function != PROFILE_NONE)
		return otlp_dictionary_function(d, profile_string(p, p->functions[frame->function].name), file);
	if (frame->binary == PROFILE_NONE)
		return otlp_dictionary_function(d, STR("[unknown]"), file);
	return file.len > 0 ? otlp_dictionary_function(d, STR(""), file) : 0;
}

/* Returns the value of profile.frame.type: what compiled the code, or interprets it; NULL if unknown. */
static const char *otlp_dictionary_language(struct otlp_dictionary *d, uint32_t index, struct tally_str file)
{
	const struct profile_frame *frame = &d->profile->frames[index];
	enum flame_kind kind = flame_label_of(d->profile, index, &d->name).kind;
	text_clear(&d->name);
	if (profile_frame_is_waker(frame))
		return NULL;
	if (kind == FLAME_KERNEL || frame->level == PROFILE_LEVEL_KERNEL || frame->level == PROFILE_LEVEL_GUEST_KERNEL)
		return "kernel";
	if (kind == FLAME_GENERATED) /* Python names code without a file "<string>", "<frozen os>" and so on. */
		return str_ends_with(file, STR(".py")) || str_starts_with(file, STR("<")) ? "cpython" : NULL;
	if (str_ends_with(file, STR(".go")))
		return "go";
	if (str_ends_with(file, STR(".rs")))
		return "rust";
	return frame->binary == PROFILE_NONE ? NULL : "native";
}

/* frames: the innermost first; the last one contains the code. */
static uint32_t otlp_dictionary_location(struct otlp_dictionary *d, const uint32_t *frames, size_t count)
{
	const struct profile *p = d->profile;
	const struct profile_frame *frame = &p->frames[frames[0]];
	uint32_t functions[LIMIT_INLINE_DEPTH];
	uint64_t numbers[LIMIT_INLINE_DEPTH];
	struct tally_str file = STR("");
	for (size_t i = 0; i < count; i++) {
		struct export_line line = export_frame_line(p, &p->frames[frames[i]]);
		functions[i] = otlp_dictionary_function_of(d, frames[i], line.file);
		numbers[i] = line.number;
		file = line.file;
	}
	const char *language = otlp_dictionary_language(d, frames[count - 1], file);
	uint32_t attribute = language ? otlp_text_attribute(d, "profile.frame.type", str_from(language)) : 0;
	uint32_t mapping = otlp_dictionary_mapping(d, frame->binary);
	struct text *out = &d->entry;
	otlp_put_number(out, OTLP_DICTIONARY_LOCATION_MAPPING, mapping);
	otlp_put_number(out, OTLP_DICTIONARY_LOCATION_ADDRESS, frame->address);
	for (size_t i = 0; i < count; i++) {
		if (functions[i] == 0)
			continue;
		size_t begin = protobuf_open(out);
		protobuf_u64(out, OTLP_DICTIONARY_LINE_FUNCTION, functions[i]);
		otlp_put_number(out, OTLP_DICTIONARY_LINE_NUMBER, numbers[i]);
		protobuf_close(out, LOCATION_LINES, begin);
	}
	otlp_put_indexes(out, LOCATION_ATTRIBUTES, &attribute, attribute > 0);
	return otlp_dictionary_intern(d, OTLP_LOCATIONS, out);
}

/* Each location includes the calls that were inlined there. */
static uint32_t otlp_dictionary_path(struct otlp_dictionary *d, const uint32_t *frames, size_t count)
{
	d->path.len = 0;
	if (!vec_reserve(&d->path, count)) {
		d->failed = true;
		return 0;
	}
	for (size_t i = 0, len; i < count; i += len) {
		len = export_count_inlined(d->profile, frames + i, count - i);
		uint32_t id = len == 1 ? d->location_of_frame[frames[i]] : 0;
		if (id == 0)
			id = otlp_dictionary_location(d, frames + i, len);
		if (len == 1)
			d->location_of_frame[frames[i]] = id;
		d->path.items[d->path.len++] = id;
	}
	otlp_put_indexes(&d->entry, STACK_LOCATIONS, d->path.items, d->path.len);
	return otlp_dictionary_intern(d, OTLP_STACKS, &d->entry);
}

uint32_t otlp_stack(struct otlp_dictionary *d, const struct profile_sample *sample)
{
	if (d->failed)
		return 0;
	if (sample->stack == PROFILE_NONE)
		return otlp_dictionary_path(d, &sample->leaf, 1);
	if (d->stack_of_stack[sample->stack] == 0) {
		struct list stack = profile_stack(d->profile, sample->stack);
		d->stack_of_stack[sample->stack] = otlp_dictionary_path(d, stack.items, stack.count);
	}
	return d->stack_of_stack[sample->stack];
}

void otlp_dictionary_init(struct otlp_dictionary *d, const struct profile *p)
{
	*d = (struct otlp_dictionary){.profile = p};
	for (unsigned i = 0; i < OTLP_TABLES; i++) {
		uint32_t zero;
		intern_init(&d->tables[i]);
		d->failed = !intern_add(&d->tables[i], "", 0, &zero) || d->failed;
	}
	d->location_of_frame = calloc(p->frame_count + 1, sizeof(*d->location_of_frame));
	d->stack_of_stack = calloc(list_table_len(&p->stacks) + 1, sizeof(*d->stack_of_stack));
	d->limits = calloc(p->binary_count + 1, sizeof(*d->limits));
	d->failed = d->failed || !d->location_of_frame || !d->stack_of_stack || !d->limits;
	for (size_t i = 0; !d->failed && i < p->frame_count; i++) {
		uint32_t binary = p->frames[i].binary;
		uint64_t end = (p->frames[i].address | OTLP_DICTIONARY_PAGE_MASK) + 1;
		if (binary != PROFILE_NONE && (end == 0 || end > d->limits[binary]))
			d->limits[binary] = end ? end : UINT64_MAX; /* The addition overflows on the last page. */
	}
}

void otlp_dictionary_deinit(struct otlp_dictionary *d)
{
	for (unsigned i = 0; i < OTLP_TABLES; i++)
		intern_deinit(&d->tables[i]);
	free(d->location_of_frame);
	free(d->stack_of_stack);
	free(d->limits);
	vec_free(&d->path);
	text_deinit(&d->entry);
	text_deinit(&d->name);
}

void otlp_dictionary_write(const struct otlp_dictionary *d, struct byte_sink *sink, unsigned field)
{
	struct text room = {0};
	uint64_t len = 0;
	for (unsigned table = 1; table < OTLP_TABLES; table++)
		for (uint32_t i = 0; i < d->tables[table].len; i++) {
			struct tally_str entry = intern_get(&d->tables[table], i);
			text_clear(&room);
			protobuf_head(&room, table, entry.len);
			len += room.len + entry.len;
		}
	text_deinit(&room);
	protobuf_head(&sink->text, field, len);
	for (unsigned table = 1; table < OTLP_TABLES; table++)
		for (uint32_t i = 0; i < d->tables[table].len && !byte_sink_is_lost(sink); i++) {
			struct tally_str entry = intern_get(&d->tables[table], i);
			protobuf_bytes(&sink->text, table, entry.data, entry.len);
			byte_sink_step(sink);
		}
}
