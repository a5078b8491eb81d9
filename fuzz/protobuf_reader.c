/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_reader.c - reads arbitrary bytes as protocol buffer messages: each field and each packed number lies
 * within its message, and a failure has an offset within the input.
 */
#include "base/protobuf_reader.h"

#include <stdlib.h>

#define DEPTH_MAX 4

static void check_end(const struct protobuf_reader *reader, size_t size)
{
	struct tally_error err = {.status = TALLY_OK};
	enum tally_status status = protobuf_check(reader, &err);
	if (status == TALLY_OK ? cursor_left(&reader->cursor) > 0 : err.offset > size)
		abort();
}

static void read_numbers(const struct protobuf_reader *message, const struct protobuf_field *field, size_t size)
{
	uint64_t value, count = 0;
	uint32_t word;
	struct protobuf_reader varints = protobuf_numbers(message, field, PROTOBUF_VARINT);
	while (protobuf_next_varint(&varints, &value))
		count++;
	struct protobuf_reader longs = protobuf_numbers(message, field, PROTOBUF_FIXED64);
	while (protobuf_next_fixed64(&longs, &value))
		count++;
	struct protobuf_reader words = protobuf_numbers(message, field, PROTOBUF_FIXED32);
	while (protobuf_next_fixed32(&words, &word))
		count++;
	if (count > 3 * field->bytes.len)
		abort();
	check_end(&varints, size);
	check_end(&longs, size);
	check_end(&words, size);
}

static void read_message(struct protobuf_reader message, const uint8_t *data, size_t size, unsigned depth)
{
	struct protobuf_field field;
	while (protobuf_next(&message, &field)) {
		if (field.number == 0 || field.bytes.data != data + field.offset ||
			field.offset + field.bytes.len > size)
			abort();
		read_numbers(&message, &field, size);
		if (depth < DEPTH_MAX)
			read_message(protobuf_nested(&message, &field), data, size, depth + 1);
	}
	check_end(&message, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_message(protobuf_reader_make((struct tally_bytes){data, size}), data, size, 0);
	return 0;
}
