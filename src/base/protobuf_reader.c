/* SPDX-License-Identifier: Apache-2.0 */
#include "base/protobuf_reader.h"

#include "base/error.h"

#define VARINT_BYTES	 10 /* Maximum size of a varint in bytes: 64 bits, 7 in each byte. */
#define FIELD_NUMBER_MAX ((UINT64_C(1) << 29) - 1)

struct protobuf_reader protobuf_reader_make(struct tally_bytes message)
{
	return (struct protobuf_reader){.cursor = cursor_make(message, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)};
}

/* Always returns false, so that callers can return its result. */
static bool protobuf_reader_fail(struct protobuf_reader *r, size_t pos, const char *problem)
{
	if (!r->problem) {
		r->problem = problem;
		r->problem_offset = r->base + pos;
	}
	r->cursor.failed = true;
	return false;
}

static bool protobuf_reader_varint(struct protobuf_reader *r, uint64_t *value)
{
	size_t begin = r->cursor.pos;
	uint64_t sum = 0;
	for (unsigned i = 0; i < VARINT_BYTES; i++) {
		uint8_t byte = cursor_u8(&r->cursor);
		if (r->cursor.failed)
			return protobuf_reader_fail(r, begin, "a number ends in the middle");
		if (i == VARINT_BYTES - 1 && byte > 1)
			return protobuf_reader_fail(r, begin, "a number has more than 64 bits");
		sum |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			break;
	}
	*value = sum;
	return true;
}

static bool protobuf_reader_fixed(struct protobuf_reader *r, enum protobuf_wire wire, uint64_t *value)
{
	size_t begin = r->cursor.pos;
	uint64_t v = wire == PROTOBUF_FIXED64 ? cursor_u64(&r->cursor) : cursor_u32(&r->cursor);
	if (r->cursor.failed)
		return protobuf_reader_fail(r, begin, "a number ends in the middle");
	*value = v;
	return true;
}

static bool protobuf_reader_length(struct protobuf_reader *r, size_t *len)
{
	size_t begin = r->cursor.pos;
	uint64_t value;
	if (!protobuf_reader_varint(r, &value))
		return false;
	if (value > cursor_left(&r->cursor))
		return protobuf_reader_fail(r, begin, "a field is longer than its message");
	*len = (size_t)value;
	return true;
}

static bool protobuf_reader_value(struct protobuf_reader *r, struct protobuf_field *f, size_t begin)
{
	size_t len = 0;
	if (f->wire == PROTOBUF_BYTES && !protobuf_reader_length(r, &len))
		return false;
	size_t contents = r->cursor.pos;
	switch (f->wire) {
	case PROTOBUF_VARINT:
		if (!protobuf_reader_varint(r, &f->value))
			return false;
		break;
	case PROTOBUF_FIXED64:
	case PROTOBUF_FIXED32:
		if (!protobuf_reader_fixed(r, f->wire, &f->value))
			return false;
		break;
	case PROTOBUF_BYTES:
		cursor_skip(&r->cursor, len);
		break;
	default: /* Groups (3 and 4) are obsolete; 6 and 7 are not defined. */
		return protobuf_reader_fail(r, begin, "a field has a type that is not supported");
	}
	f->bytes = (struct tally_bytes){r->cursor.data + contents, r->cursor.pos - contents};
	f->offset = r->base + contents;
	return true;
}

bool protobuf_next(struct protobuf_reader *r, struct protobuf_field *field)
{
	size_t begin = r->cursor.pos;
	uint64_t tag;
	if (cursor_left(&r->cursor) == 0 || !protobuf_reader_varint(r, &tag))
		return false;
	if (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX)
		return protobuf_reader_fail(r, begin, "a field has a number that is not allowed");
	struct protobuf_field f = {.number = (uint32_t)(tag >> 3), .wire = (enum protobuf_wire)(tag & 7)};
	if (!protobuf_reader_value(r, &f, begin))
		return false;
	*field = f;
	return true;
}

static struct protobuf_reader protobuf_reader_within(
	const struct protobuf_reader *outer, const struct protobuf_field *f)
{
	return (struct protobuf_reader){.cursor = cursor_make(f->bytes, outer->cursor.swap), .base = f->offset};
}

struct protobuf_reader protobuf_nested(const struct protobuf_reader *outer, const struct protobuf_field *field)
{
	struct protobuf_reader inner = protobuf_reader_within(outer, field);
	if (field->wire != PROTOBUF_BYTES)
		protobuf_reader_fail(&inner, 0, "a field is a number where a message is expected");
	return inner;
}

struct protobuf_reader protobuf_numbers(
	const struct protobuf_reader *outer, const struct protobuf_field *field, enum protobuf_wire wire)
{
	struct protobuf_reader inner = protobuf_reader_within(outer, field);
	if (field->wire != PROTOBUF_BYTES && field->wire != wire)
		protobuf_reader_fail(&inner, 0, "a field has a number of another type than expected");
	return inner;
}

bool protobuf_next_varint(struct protobuf_reader *numbers, uint64_t *value)
{
	return cursor_left(&numbers->cursor) > 0 && protobuf_reader_varint(numbers, value);
}

bool protobuf_next_fixed64(struct protobuf_reader *numbers, uint64_t *value)
{
	return cursor_left(&numbers->cursor) > 0 && protobuf_reader_fixed(numbers, PROTOBUF_FIXED64, value);
}

bool protobuf_next_fixed32(struct protobuf_reader *numbers, uint32_t *value)
{
	uint64_t wide;
	if (cursor_left(&numbers->cursor) == 0 || !protobuf_reader_fixed(numbers, PROTOBUF_FIXED32, &wide))
		return false;
	*value = (uint32_t)wide;
	return true;
}

struct tally_str protobuf_text(const struct protobuf_field *field)
{
	if (field->wire != PROTOBUF_BYTES)
		return STR("");
	return (struct tally_str){(const char *)field->bytes.data, field->bytes.len};
}

int64_t protobuf_zigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

enum tally_status protobuf_check(const struct protobuf_reader *reader, struct tally_error *err)
{
	if (!reader->problem)
		return TALLY_OK;
	return error_set_at(
		err, TALLY_CORRUPT, reader->problem_offset, "malformed protocol buffer: %s", reader->problem);
}
