/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_order.c - sorts arbitrary sequences of times and rounds: every sample is returned once, and as many samples
 * are out of order as the module reports as late. Each byte is a time step, positive or negative; 0 ends a round.
 */
#include "perfdata/time_order.h"

#include <stdlib.h>

#include "perfdata_builder.h"

#define MOST_SAMPLES 4096

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TIME,
};

static void check(struct perfdata_reader *reader, size_t samples)
{
	static bool has_come[MOST_SAMPLES];
	struct time_order *order;
	struct time_order_item item;
	uint64_t last_ns = 0, last_number = 0, late = 0;
	size_t seen = 0;
	if (time_order_create(reader, &order, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < samples; i++)
		has_come[i] = false;
	while (time_order_next(order, &item, NULL) == TALLY_OK) {
		struct sample sample;
		if (!item.has_time)
			continue;
		const struct perfdata_event *event = perfdata_reader_event_of(reader, &item.record);
		if (sample_decode(&event->layout, &item.record, &sample, NULL) != TALLY_OK || sample.ip >= samples ||
			has_come[sample.ip])
			abort();
		has_come[sample.ip] = true;
		seen++;
		if (item.time_ns < last_ns)
			late++;
		else if (item.time_ns == last_ns && late == 0 && sample.ip < last_number)
			abort(); /* Samples of the same time keep their order. */
		if (item.time_ns >= last_ns)
			last_ns = item.time_ns;
		last_number = sample.ip;
	}
	if (seen != samples || late != time_order_late(order))
		abort();
	time_order_destroy(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_builder b;
	struct perfdata_reader *reader;
	uint64_t time = 1 << 20;
	size_t samples = 0;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 1);
	for (size_t i = 0; i < size && samples < MOST_SAMPLES; i++) {
		if (data[i] == 0) {
			perfdata_builder_round(&b);
			continue;
		}
		time += data[i];
		time -= 100;
		struct sample s = {.ip = samples++, .time = time};
		perfdata_builder_sample(&b, 0, MISC_CPUMODE_USER, &s);
	}
	if (perfdata_reader_open_bytes(perfdata_builder_file(&b), &reader, NULL) == TALLY_OK) {
		check(reader, samples);
		perfdata_reader_destroy(reader);
	}
	perfdata_builder_deinit(&b);
	return 0;
}
