/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_writer.h - appends fields in the binary format of protocol buffers to a text. It does not know any message
 * type.
 *
 * A nested message is opened and closed; closing writes its length, and moves its contents if the length needs more
 * bytes than were reserved. Failures are sticky in the text. Used by one thread.
 *
 *	size_t sample = protobuf_open(&text);
 *	protobuf_u64(&text, 1, 42);
 *	protobuf_close(&text, 2, sample);   // as field 2 of the enclosing message
 */
#ifndef BASE_PROTOBUF_WRITER_H
#define BASE_PROTOBUF_WRITER_H

#include "base/text.h"

void protobuf_varint(struct text *out, uint64_t value);
void protobuf_varints(struct text *out, const uint32_t *values, size_t count);
/* Writes a uint64, int64 (two's complement), uint32, bool or enum. */
void protobuf_u64(struct text *out, unsigned field, uint64_t value);
/* Writes a fixed64, sfixed64 or double. */
void protobuf_fixed64(struct text *out, unsigned field, uint64_t value);
/* Writes a string, which must be UTF-8, or bytes. */
void protobuf_bytes(struct text *out, unsigned field, const void *data, size_t len);
/* Writes the key and the length of a field of bytes or a message; the caller appends its contents. */
void protobuf_head(struct text *out, unsigned field, uint64_t len);
/* Opens a message or packed numbers, and returns its position, which protobuf_close needs. */
size_t protobuf_open(struct text *out);
/* Closes the message, or the packed numbers written by protobuf_varint, for which protobuf_open returned begin. */
void protobuf_close(struct text *out, unsigned field, size_t begin);
/* Writes a string of arbitrary bytes, and replaces invalid UTF-8. */
void protobuf_string(struct text *out, unsigned field, struct tally_str s);

#endif
