/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_reader.h - reads fields in the binary format of protocol buffers from bytes that nobody has checked. It does
 * not know any message type: the caller decides by the numbers of fields, and ignores those that it does not know.
 *
 * A reader covers one message, or the packed numbers of one field. It fails stickily: after the first mistake each
 * function returns false, and protobuf_check tells what was wrong and where. A reader of a nested message fails on its
 * own, so check each. Offsets count from the beginning of the outermost message. Everything is borrowed. A value; the
 * caller bounds how deep it nests. One thread.
 *
 *	struct protobuf_reader message = protobuf_reader_make(bytes);
 *	struct protobuf_field field;
 *	while (protobuf_next(&message, &field))
 *		if (field.number == 2) sample = protobuf_nested(&message, &field);
 *	status = protobuf_check(&message, err);
 */
#ifndef BASE_PROTOBUF_READER_H
#define BASE_PROTOBUF_READER_H

#include <tally/status.h>

#include "base/cursor.h"

enum protobuf_wire {
	PROTOBUF_VARINT = 0, /* int32, int64, uint32, uint64, sint32, sint64, bool, enum */
	PROTOBUF_FIXED64 = 1, /* fixed64, sfixed64, double */
	PROTOBUF_BYTES = 2, /* string, bytes, messages, packed numbers */
	PROTOBUF_FIXED32 = 5, /* fixed32, sfixed32, float */
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_wire wire;
	uint64_t value; /* of numbers; 0 for PROTOBUF_BYTES */
	struct tally_bytes bytes; /* the contents; of numbers: as they are encoded */
	uint64_t offset; /* of bytes */
};

struct protobuf_reader {
	struct cursor cursor;
	uint64_t base; /* offset of the cursor's first byte */
	const char *problem; /* NULL: none yet */
	uint64_t problem_offset;
};

struct protobuf_reader protobuf_reader_make(struct tally_bytes message);
/* The next field; false: the message ends, or is malformed. */
bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field);
/* The message that a field contains. A field of numbers fails it. */
struct protobuf_reader protobuf_nested(const struct protobuf_reader *outer, const struct protobuf_field *field);
/* The numbers of a field with repeated numbers, for protobuf_next_varint, _fixed64 and _fixed32: several if they are
 * packed, else one. Each field of that number adds to those before it. wire is that of each number; a field that cannot
 * contain such numbers fails it. */
struct protobuf_reader protobuf_numbers(
	const struct protobuf_reader *outer, const struct protobuf_field *field, enum protobuf_wire wire);
bool protobuf_next_varint(struct protobuf_reader *numbers, uint64_t *value);
bool protobuf_next_fixed64(struct protobuf_reader *numbers, uint64_t *value);
bool protobuf_next_fixed32(struct protobuf_reader *numbers, uint32_t *value);
/* The text of a field of bytes; empty for a field of numbers. It need not be UTF-8. */
struct tally_str protobuf_text(const struct protobuf_field *field);
/* The value of sint32 and sint64. */
int64_t protobuf_zigzag(uint64_t value);
/* TALLY_CORRUPT with the offset if the reader failed, else TALLY_OK. */
TALLY_MUST_CHECK enum tally_status protobuf_check(const struct protobuf_reader *reader, struct tally_error *err);

#endif
