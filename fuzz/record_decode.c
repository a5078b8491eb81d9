/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_decode.c - decodes one attr and then records, in both byte orders (chosen by the first byte): every record
 * is decoded and printed with its sample and its ID trailer, and all results lie inside the record.
 */
#include <stdlib.h>

#include "abi/record_print.h"
#include "abi/sample.h"

static void inside(const struct record *record, const uint8_t *data, size_t len)
{
	if (len > 0 && (data < record->bytes.data || len > record->bytes.len ||
			       (size_t)(data - record->bytes.data) > record->bytes.len - len))
		abort();
}

static void take_sample(const struct record_layout *layout, const struct record *record)
{
	struct sample s;
	if (sample_decode(layout, record, &s, NULL) != TALLY_OK)
		return;
	inside(record, s.callchain.data, s.callchain.count * 8u);
	inside(record, s.branches.entries.data, s.branches.entries.count * 8u);
	inside(record, s.branches.counters.data, s.branches.counters.count * 8u);
	inside(record, s.regs_user.values.data, s.regs_user.values.count * 8u);
	inside(record, s.regs_intr.values.data, s.regs_intr.values.count * 8u);
	inside(record, s.raw.data, s.raw.len);
	inside(record, s.stack_user.bytes.data, s.stack_user.bytes.len);
	inside(record, s.aux.data, s.aux.len);
	for (uint64_t i = 0; layout->sample_type & SAMPLE_READ && i < s.read.count; i++)
		(void)read_value_get(&s.read, i);
}

static void take(const struct record_layout *layout, const struct record *record, struct text *t)
{
	struct record_fields fields;
	struct record_print_hints hints = {.id = UINT64_MAX, .read_format = layout->read_format};
	if (record->type == RECORD_SAMPLE) {
		take_sample(layout, record);
		return;
	}
	(void)!sample_id_decode(layout, record, &hints.trailer, NULL);
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return;
	inside(record, fields.trailer_area.data, fields.trailer_area.len);
	text_clear(t);
	record_print(t, record, &fields, &hints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_attr attr;
	struct record record;
	struct text text = {0};
	if (size < 1)
		return 0;
	bool swap = data[0] & 1;
	struct cursor c = cursor_make((struct tally_bytes){data + 1, size - 1}, swap);
	if (attr_decode(&c, &attr, NULL) != TALLY_OK)
		return 0;
	struct record_layout layout = record_layout_make(&attr, swap);
	struct tally_bytes records = {data + 1 + c.pos, size - 1 - c.pos};
	for (size_t at = 0; record_at(records, swap, at, &record, NULL) == TALLY_OK; at += record.bytes.len)
		take(&layout, &record, &text);
	text_deinit(&text);
	return 0;
}
