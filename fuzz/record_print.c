/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_print.c - prints arbitrary bytes as records of any event: what can be decoded can be printed, and nothing is
 * read past the record. The first byte is the byte order, the next eight are sample_type, and eight more hold
 * read_format and branch_sample_type.
 */
#include "abi/record_print.h"

#include <stdlib.h>

#include "tasks/session/dump_sample.h"

#define HEAD_BYTES 17

static void show(struct text *t, const struct record_layout *layout, const struct record *record)
{
	struct sample sample;
	struct record_fields fields;
	struct record_print_hints hints = {.read_format = layout->read_format, .event_name = "event"};
	if (record->type == RECORD_SAMPLE) {
		if (sample_decode(layout, record, &sample, NULL) == TALLY_OK)
			dump_sample(t, layout, record, &sample, &arch_x86_64);
		return;
	}
	if (sample_id_decode(layout, record, &hints.trailer, NULL) != TALLY_OK)
		hints.trailer = (struct sample_id){0};
	if (record_decode(record, &fields, NULL) == TALLY_OK)
		record_print(t, record, &fields, &hints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < HEAD_BYTES)
		return 0;
	bool swap = data[0] & 1;
	struct cursor c = cursor_make((struct tally_bytes){data + 1, HEAD_BYTES - 1}, false);
	struct perf_attr attr = {.sample_type = cursor_u64(&c), .flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL)};
	attr.read_format = cursor_u32(&c);
	attr.branch_sample_type = cursor_u32(&c);
	attr.sample_regs_user = attr.sample_regs_intr = 0xff0fff;
	struct record_layout layout = record_layout_make(&attr, swap);
	struct text text = {0};
	for (size_t at = HEAD_BYTES; at < size;) {
		struct record record;
		if (record_at((struct tally_bytes){data, size}, swap, at, &record, NULL) != TALLY_OK)
			break;
		/* The record is copied, so that the sanitizer detects a read past its end. */
		uint8_t *copy = malloc(record.bytes.len);
		if (!copy)
			break;
		memcpy(copy, record.bytes.data, record.bytes.len);
		at += record.bytes.len;
		record.bytes.data = copy;
		show(&text, &layout, &record);
		text_clear(&text);
		free(copy);
	}
	text_deinit(&text);
	return 0;
}
