/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two simulator files with arbitrary contents: the result is valid records in time order. */
#include "tasks/simulation/simulation_streams.h"

#include <stdlib.h>
#include <string.h>

#include "abi/sample.h"

static uint64_t time_of(const struct record_layout *layout, const struct record *record)
{
	struct sample sample;
	struct sample_id id;
	struct record_fields fields;
	if (record->type == RECORD_SAMPLE) {
		if (sample_decode(layout, record, &sample, NULL) != TALLY_OK)
			abort();
		return sample.time;
	}
	if (record_decode(record, &fields, NULL) != TALLY_OK ||
		sample_id_decode(layout, record, &id, NULL) != TALLY_OK || id.id != 1)
		abort();
	return id.time;
}

static void read_all(struct simulation_streams *streams)
{
	const struct perf_attr attr = simulation_streams_attr(streams);
	const struct record_layout layout = record_layout_make(&attr, false);
	struct record record;
	uint64_t last = 0;
	size_t left = simulation_streams_bytes(streams);
	while (simulation_streams_next(streams, &record, NULL) == TALLY_OK) {
		uint64_t time = time_of(&layout, &record);
		if (time < last || record.bytes.len > left)
			abort();
		last = time;
		left -= record.bytes.len;
	}
	(void)strlen(simulation_streams_model(streams));
	(void)simulation_streams_totals(streams);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct simulation_streams *streams;
	uint32_t first;
	if (size < sizeof(first) || simulation_streams_create(&streams, NULL) != TALLY_OK)
		return 0;
	memcpy(&first, data, sizeof(first));
	data += sizeof(first);
	size -= sizeof(first);
	size_t cut = first < size ? first : size;
	(void)!simulation_streams_add(streams, "a", (struct tally_bytes){data, cut}, NULL, NULL);
	(void)!simulation_streams_add(streams, "b", (struct tally_bytes){data + cut, size - cut}, NULL, NULL);
	if (simulation_streams_place(streams, NULL) == TALLY_OK)
		read_all(streams);
	simulation_streams_destroy(streams);
	return 0;
}
