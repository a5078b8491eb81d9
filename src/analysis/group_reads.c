#include "analysis/group_reads.h"

void group_reads_deinit(struct group_reads *reads)
{
	map_u64_deinit(&reads->totals);
}

enum tally_status group_reads_next(struct group_reads *reads, struct perfdata_reader *reader,
	const struct sample *sample, uint64_t *position, struct group_read *out)
{
	while (*position < sample->read.count) {
		struct read_value value = read_value_get(&sample->read, (*position)++);
		uint64_t id = sample->read.format & READ_FORMAT_ID ? value.id : sample->id;
		*out = (struct group_read){.event = perfdata_reader_event_by_id(reader, id), .id = id};
		if (!out->event) {
			reads->unattributed++;
			continue;
		}
		uint64_t *total = map_u64_at(&reads->totals, id, NULL);
		if (!total)
			return TALLY_NOMEM;
		out->grown = value.value - *total;
		*total = value.value;
		if (out->grown > 0)
			return TALLY_OK;
	}
	return TALLY_END;
}
