/* SPDX-License-Identifier: Apache-2.0 */
#include "base/protobuf_writer.h"

#include <endian.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };
#define VARINT_MAX 10
/* Size of the head of most messages, which have a low field number and a short length. */
#define PROTOBUF_WRITER_HEAD_BYTES 2

static size_t protobuf_writer_encode(uint64_t value, char bytes[VARINT_MAX])
{
	size_t len = 0;
	for (; value >= 0x80; value >>= 7)
		bytes[len++] = (char)(0x80 | (value & 0x7f));
	bytes[len++] = (char)value;
	return len;
}

void protobuf_varint(struct text *out, uint64_t value)
{
	char *to = text_room(out, VARINT_MAX);
	if (to)
		out->len += protobuf_writer_encode(value, to);
}

void protobuf_varints(struct text *out, const uint32_t *values, size_t count)
{
	char *to = text_room(out, count * VARINT_MAX);
	for (size_t i = 0; to && i < count; i++)
		to += protobuf_writer_encode(values[i], to);
	if (to)
		out->len = (size_t)(to - out->data);
}

static void add_pair(struct text *out, uint64_t first, uint64_t second)
{
	char *to = text_room(out, 2 * VARINT_MAX);
	if (!to)
		return;
	size_t len = protobuf_writer_encode(first, to);
	out->len += len + protobuf_writer_encode(second, to + len);
}

void protobuf_u64(struct text *out, unsigned field, uint64_t value)
{
	add_pair(out, (uint64_t)field << 3 | WIRE_VARINT, value);
}

void protobuf_fixed64(struct text *out, unsigned field, uint64_t value)
{
	uint64_t bytes = htole64(value);
	protobuf_varint(out, (uint64_t)field << 3 | WIRE_FIXED64);
	text_bytes(out, (const char *)&bytes, sizeof(bytes));
}

void protobuf_head(struct text *out, unsigned field, uint64_t len)
{
	add_pair(out, (uint64_t)field << 3 | WIRE_BYTES, len);
}

void protobuf_bytes(struct text *out, unsigned field, const void *data, size_t len)
{
	protobuf_head(out, field, len);
	text_bytes(out, data, len);
}

size_t protobuf_open(struct text *out)
{
	size_t begin = out->len;
	if (text_room(out, PROTOBUF_WRITER_HEAD_BYTES))
		out->len += PROTOBUF_WRITER_HEAD_BYTES;
	return begin;
}

void protobuf_close(struct text *out, unsigned field, size_t begin)
{
	char head[2 * VARINT_MAX];
	if (out->failed)
		return;
	size_t len = out->len - begin - PROTOBUF_WRITER_HEAD_BYTES;
	size_t head_len = protobuf_writer_encode((uint64_t)field << 3 | WIRE_BYTES, head);
	head_len += protobuf_writer_encode(len, head + head_len);
	if (!text_room(out, head_len))
		return;
	if (head_len != PROTOBUF_WRITER_HEAD_BYTES)
		memmove(out->data + begin + head_len, out->data + begin + PROTOBUF_WRITER_HEAD_BYTES, len);
	memcpy(out->data + begin, head, head_len);
	out->len = begin + head_len + len;
}

void protobuf_string(struct text *out, unsigned field, struct tally_str s)
{
	size_t begin = protobuf_open(out);
	text_utf8(out, s);
	protobuf_close(out, field, begin);
}
