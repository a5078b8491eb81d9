/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_events.c - derives waits without BPF (--wall-source switches and tracepoints) from arbitrary records: the
 * waits are the same wherever the end of a ring buffer divides the records, and none is longer than its end time.
 */
#include "tasks/recording/switch_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "tasks/recording/wait_looks.h"

enum { FLAG_TRACEPOINTS = 1, FLAG_RETURNS = 2, FLAG_FORKS = 4, FLAG_PREEMPTED = 8, FLAG_LONG = 16, FLAG_ONE_CPU = 32 };

static enum tally_status take_wait(void *context, const struct off_cpu_wait *wait, struct tally_error *err)
{
	uint64_t *count = context;
	if (wait->ips_count > WAIT_CHAIN_MOST || wait->waker_count > WAIT_CHAIN_MOST ||
		wait->record.waker_comm.len > WAIT_RECORD_COMM || (!wait->is_summed && wait->period_ns > wait->end_ns))
		abort();
	++*count;
	return TALLY_OK;
}

static void switch_events_begin(struct switch_events *records, struct wait_stacks *stacks, uint8_t flags)
{
	static const struct kernel_seam kernel = {.root = "/nonexistent"};
	static const int cpus[] = {0};
	static const struct perf_attr attr = {.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME |
							     SAMPLE_CPU | SAMPLE_CALLCHAIN | SAMPLE_RAW,
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL)};
	records->kernel = &kernel;
	records->arch = &arch_x86_64;
	records->stacks = stacks;
	records->source = flags & FLAG_TRACEPOINTS ? WAIT_SOURCE_TRACEPOINTS : WAIT_SOURCE_SWITCHES;
	records->layout = record_layout_make(&attr, false);
	records->has_return_addresses = flags & FLAG_RETURNS;
	records->is_forking = flags & FLAG_FORKS;
	records->cpus = flags & FLAG_ONE_CPU ? cpus : NULL;
	records->cpu_count = 1;
	records->prev_state = (struct switch_events_field){32, 8};
	records->woken = (struct switch_events_field){24, 4};
	records->common_flags = (struct switch_events_field){2, 1};
	for (uint64_t id = SWITCH_EVENTS_SWITCH; id <= SWITCH_EVENTS_OTHERS_WAKE; id++)
		if (!map_u64_set(&records->ids, id + 1, id))
			abort();
}

static int by_time(const void *a, const void *b)
{
	const struct wait_event *left = a, *right = b;
	int order = COMPARE(left->time_ns, right->time_ns);
	return order ? order : COMPARE(left->kind, right->kind);
}

static void derive_waits(struct switch_events *records, uint8_t flags)
{
	struct wait_tracker tracker = {.config = {.stacks = records->stacks,
					       .wants_preempted = flags & FLAG_PREEMPTED,
					       .threshold_ns = flags & FLAG_LONG ? 1000 : 0}};
	uint64_t count = 0, last = 0;
	const struct off_cpu_sink sink = {take_wait, &count};
	enum tally_status status = TALLY_OK;
	if (records->events.len)
		qsort(records->events.items, records->events.len, sizeof(*records->events.items), by_time);
	for (size_t i = 0; status == TALLY_OK && i < records->events.len; i++) {
		last = records->events.items[i].time_ns;
		status = wait_tracker_apply(&tracker, &records->events.items[i], &sink, NULL);
	}
	if (status == TALLY_OK && wait_tracker_finish(&tracker, last, &sink, NULL) == TALLY_OK &&
		count > 4 * (records->events.len + 1))
		abort(); /* A wait has two parts, and one may also be in a sum. */
	wait_tracker_deinit(&tracker);
}

/* Reads the records, divided at the given offset; with with_waits also derives waits. Returns the number of results. */
static size_t read_records(struct tally_bytes bytes, size_t divided_at, uint8_t flags, bool with_waits, uint64_t *hash)
{
	struct wait_stacks stacks = {.most_bytes = 4096};
	struct switch_events *records = calloc(1, sizeof(*records));
	const struct tally_bytes slices[] = {
		{bytes.data, divided_at}, {bytes.data + divided_at, bytes.len - divided_at}};
	if (!records)
		abort();
	switch_events_begin(records, &stacks, flags);
	(void)!switch_events_take(records, slices, 2, NULL);
	size_t count = records->events.len;
	*hash = 0;
	for (size_t i = 0; i < count; i++)
		*hash = *hash * 31 + records->events.items[i].time_ns + records->events.items[i].stack;
	if (with_waits)
		derive_waits(records, flags);
	switch_events_deinit(records);
	free(records);
	wait_stacks_deinit(&stacks);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole, divided;
	if (size < 2)
		return 0;
	const struct tally_bytes bytes = {data + 2, size - 2};
	size_t count = read_records(bytes, bytes.len, data[0], true, &whole);
	if (read_records(bytes, bytes.len * data[1] / 256, data[0], false, &divided) != count || whole != divided)
		abort();
	return 0;
}
