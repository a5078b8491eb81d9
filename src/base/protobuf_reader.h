/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_reader.h - reads fields in the binary format of protocol buffers from untrusted bytes. It does not know any
 * message type: the caller dispatches by field number, and ignores unknown fields.
 *
 * A reader covers one message, or the packed numbers of one field. Failures are sticky: after the first error, each
 * function returns false, and protobuf_check reports the error and its offset from the beginning of the outermost
 * message. A reader of a nested message fails separately, so check each. A reader is a plain value and borrows the
 * bytes. The caller limits the nesting depth. Used by one thread.
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
	uint64_t value; /* Value of a number; 0 for PROTOBUF_BYTES. */
	struct tally_bytes bytes; /* Contents of the field; the encoded bytes for numbers. */
	uint64_t offset; /* Offset of bytes in the outermost message. */
};

struct protobuf_reader {
	struct cursor cursor;
	uint64_t base; /* Offset of the cursor's first byte in the outermost message. */
	const char *problem; /* Error message; NULL if there was no error. */
	uint64_t problem_offset;
};

struct protobuf_reader protobuf_reader_make(struct tally_bytes message);
/* Reads the next field; false at the end of the message, or if it is malformed. */
bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field);
/* Returns a reader of the message in a field. If the field is a number, the reader has failed from the beginning. */
struct protobuf_reader protobuf_nested(const struct protobuf_reader *outer, const struct protobuf_field *field);
/*
 * Returns a reader of a field with repeated numbers, for protobuf_next_varint, _fixed64 and _fixed32: several numbers
 * if they are packed, otherwise one. Such a field may occur repeatedly, and each occurrence adds numbers. wire is the
 * type of each number; if the field cannot contain that type, the reader has failed from the beginning.
 */
struct protobuf_reader protobuf_numbers(
	const struct protobuf_reader *outer, const struct protobuf_field *field, enum protobuf_wire wire);
bool protobuf_next_varint(struct protobuf_reader *numbers, uint64_t *value);
bool protobuf_next_fixed64(struct protobuf_reader *numbers, uint64_t *value);
bool protobuf_next_fixed32(struct protobuf_reader *numbers, uint32_t *value);
/* Returns the text of a field of bytes; empty for a number. It may be invalid UTF-8. */
struct tally_str protobuf_text(const struct protobuf_field *field);
/* Decodes a sint32 or sint64. */
int64_t protobuf_zigzag(uint64_t value);
/* Returns TALLY_CORRUPT with the offset if the reader failed, otherwise TALLY_OK. */
TALLY_MUST_CHECK enum tally_status protobuf_check(const struct protobuf_reader *reader, struct tally_error *err);

#endif
