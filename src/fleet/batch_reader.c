/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch_reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

void batch_reader_fail(struct batch_reader *r, enum tally_status status, uint64_t offset, const char *format, ...)
{
	char text[256];
	va_list args;
	if (r->status != TALLY_OK)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	r->status = error_set_at(r->err, status, offset, "%s", text);
}

void batch_reader_nomem(struct batch_reader *r)
{
	if (r->status == TALLY_OK)
		r->status = error_nomem(r->err);
}

void *batch_reader_array(struct batch_reader *r, size_t count, size_t item_bytes)
{
	void *array = arena_alloc_array(&r->arena, count, item_bytes, _Alignof(max_align_t));
	if (!array)
		batch_reader_nomem(r);
	return array;
}

void batch_reader_end(struct batch_reader *r, const struct protobuf_reader *inner)
{
	if (r->status == TALLY_OK)
		r->status = protobuf_check(inner, r->err);
}

struct protobuf_reader batch_reader_pass(const struct batch_reader *r, unsigned number)
{
	struct protobuf_reader pass = r->message;
	pass.cursor.pos = r->begins[number];
	pass.cursor.len = r->ends[number];
	return pass;
}

bool batch_reader_next(struct batch_reader *r, struct protobuf_reader *pass, unsigned number, struct protobuf_field *f)
{
	while (r->status == TALLY_OK && protobuf_next(pass, f)) {
		if (f->number != number)
			continue;
		if (f->wire == PROTOBUF_BYTES)
			return true;
		batch_reader_fail(r, TALLY_CORRUPT, f->offset, "field %u of the batch has the wrong type", number);
	}
	batch_reader_end(r, pass);
	return false;
}

uint64_t batch_reader_u64(struct batch_reader *r, const struct protobuf_field *f)
{
	if (f->wire == PROTOBUF_VARINT)
		return f->value;
	batch_reader_fail(r, TALLY_CORRUPT, f->offset, "a number of the batch has the wrong type");
	return 0;
}

uint32_t batch_reader_u32(struct batch_reader *r, const struct protobuf_field *f)
{
	uint64_t value = batch_reader_u64(r, f);
	if (value <= UINT32_MAX)
		return (uint32_t)value;
	batch_reader_fail(r, TALLY_CORRUPT, f->offset, "a number of the batch has more than 32 bits");
	return 0;
}

uint32_t batch_reader_index(struct batch_reader *r, const struct protobuf_field *f, size_t count, const char *what)
{
	uint32_t index = batch_reader_u32(r, f);
	if (index < count)
		return index;
	batch_reader_fail(
		r, TALLY_CORRUPT, f->offset, "the batch refers to %s %u, and has %zu of them", what, index, count);
	return 0;
}

uint32_t batch_reader_reference(struct batch_reader *r, const struct protobuf_field *f, size_t count, const char *what)
{
	return batch_reader_index(r, f, count + 1, what);
}

/* Batches without strings may still refer to the empty string. */
uint32_t batch_reader_string(struct batch_reader *r, const struct protobuf_field *f)
{
	return batch_reader_index(r, f, MAX(r->counts[BATCH_STRING], 1), "string");
}
