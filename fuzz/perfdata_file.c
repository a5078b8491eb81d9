/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording in a file: opens it, decodes every record twice, and puts the records in time order. */
#include "perfdata/time_order.h"

static void decode(struct perfdata_reader *reader, const struct record *record)
{
	struct record_fields fields;
	struct sample sample;
	struct sample_id id;
	const struct perfdata_event *event = perfdata_reader_event_of(reader, record);
	if (record->type == RECORD_SAMPLE && event)
		(void)!sample_decode(&event->layout, record, &sample, NULL);
	else
		(void)!record_decode(record, &fields, NULL);
	(void)perfdata_reader_sample_id(reader, record, &id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	struct time_order *order;
	struct record record;
	struct time_order_item item;
	if (perfdata_reader_open_bytes((struct tally_bytes){data, size}, &reader, NULL) != TALLY_OK)
		return 0;
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK)
		decode(reader, &record);
	perfdata_reader_rewind(reader);
	if (time_order_create(reader, &order, NULL) == TALLY_OK) {
		while (time_order_next(order, &item, NULL) == TALLY_OK)
			;
		time_order_destroy(order);
	}
	perfdata_reader_destroy(reader);
	return 0;
}
