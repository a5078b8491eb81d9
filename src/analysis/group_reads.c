/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/group_reads.h"

void group_reads_deinit(struct group_reads *reads)
{
	id_table_deinit(&reads->counters);
	vec_free(&reads->totals);
}

static uint64_t *group_reads_total_of(struct group_reads *reads, uint64_t id, uint64_t thread)
{
	const uint64_t key[2] = {id, thread};
	bool is_new;
	reads->counters.words = 2;
	if (!vec_reserve(&reads->totals, reads->totals.len + 1))
		return NULL;
	uint32_t counter = id_table_add(&reads->counters, key, &is_new);
	if (counter == ID_TABLE_NONE)
		return NULL;
	if (is_new)
		reads->totals.items[reads->totals.len++] = 0;
	return &reads->totals.items[counter];
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
		bool is_threads = ATTR_HAS(&out->event->attr, INHERIT);
		uint64_t *total = group_reads_total_of(reads, id, is_threads ? sample->tid : 0);
		if (!total)
			return TALLY_NOMEM;
		/* Counts never fall: this is another thread, which reuses the TID of one that has ended. */
		if (is_threads && value.value < *total)
			*total = 0;
		out->grown = value.value - *total;
		*total = value.value;
		if (out->grown > 0)
			return TALLY_OK;
	}
	return TALLY_END;
}
