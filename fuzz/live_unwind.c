/* SPDX-License-Identifier: Apache-2.0 */
/* Merges and unwinds two ring buffers with arbitrary contents; the resulting records are valid. */
#include "analysis/live/live_unwind.h"

#include <stdlib.h>

#include "abi/sample.h"
#include "analysis/live/live_merge.h"

#define REGISTERS UINT64_C(0x1ff)

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
	.sample_regs_user = REGISTERS,
	.sample_stack_user = 256,
};

static uint64_t time_of(void *context, const struct record *record)
{
	return live_unwind_time(context, record);
}

static void check_output(const struct writer *out)
{
	struct perf_attr written = attr;
	struct record record;
	struct sample sample;
	written.sample_type &= ~(uint64_t)(SAMPLE_REGS_USER | SAMPLE_STACK_USER);
	struct record_layout layout = record_layout_make(&written, false);
	for (size_t at = 0; at < out->len; at += record.bytes.len)
		if (record_at(writer_view(out), false, at, &record, NULL) != TALLY_OK ||
			(record.type == RECORD_SAMPLE && sample_decode(&layout, &record, &sample, NULL) != TALLY_OK))
			abort();
}

static void run(struct live_unwind *live, const uint8_t *data, size_t size)
{
	struct live_merge merge;
	struct writer out = {0};
	struct record record;
	size_t ring, half = size / 2 & ~(size_t)7, quarter = half / 2 & ~(size_t)7;
	const struct tally_bytes slices[2][2] = {
		{{data, quarter}, {data + quarter, half - quarter}}, {{data + half, size - half}, {0}}};
	if (live_merge_init(&merge, 2, time_of, live, NULL) != TALLY_OK)
		return;
	live_merge_start(&merge, true);
	for (size_t i = 0; i < 2; i++) {
		live_merge_note(&merge, i, slices[i], 2);
		(void)live_merge_show(&merge, i, slices[i], 2);
	}
	for (; live_merge_next(&merge, &ring, &record); (void)live_merge_advance(&merge))
		if (live_unwind_feed(live, &record, &out, NULL) != TALLY_OK)
			break;
	if (live_unwind_finish(live, &out, NULL) == TALLY_OK && live_unwind_end_round(live, &out, NULL) == TALLY_OK)
		check_output(&out);
	writer_deinit(&out);
	live_merge_deinit(&merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct live_unwind_config config = {.arch = &arch_x86_64};
	struct live_unwind *live;
	uint64_t id = 1;
	if (live_unwind_create(&config, &live, NULL) != TALLY_OK)
		return 0;
	if (live_unwind_add_event(live, &attr, &id, 1, NULL) == TALLY_OK)
		run(live, data, size);
	live_unwind_destroy(live);
	return 0;
}
