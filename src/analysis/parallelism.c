/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/parallelism.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"

/* Returns by how much a record changes the number of running threads. */
static int change_of(const struct record *record)
{
	if (record->type == RECORD_SWITCH || record->type == RECORD_SWITCH_CPU_WIDE)
		return record->misc & MISC_SWITCH_OUT ? -1 : 1;
	return record->type == RECORD_EXIT ? -1 : 0;
}

static int parallelism_compare_times(const void *left, const void *right)
{
	const struct parallelism_change *a = left, *b = right;
	return COMPARE(a->time_ns, b->time_ns);
}

enum tally_status parallelism_read(struct parallelism *p, const struct perfdata_reader *reader,
	const struct record_run *run, struct tally_error *err)
{
	size_t position = 0;
	struct record record;
	*p = (struct parallelism){0};
	/* A damaged record ends the loop; the sideband, which is read from the same records, reports it. */
	while (record_run_next(run, &position, &record, NULL) == TALLY_OK) {
		uint64_t time_ns;
		int change = change_of(&record);
		if (!change || !perfdata_reader_time(reader, &record, &time_ns))
			continue;
		struct parallelism_change added = {time_ns, change};
		if (!vec_push(&p->changes, added))
			return error_nomem(err);
	}
	if (p->changes.len)
		qsort(p->changes.items, p->changes.len, sizeof(p->changes.items[0]), parallelism_compare_times);
	int64_t count = 1;
	for (size_t i = 0; i < p->changes.len; i++)
		p->changes.items[i].count = count += p->changes.items[i].count;
	return TALLY_OK;
}

void parallelism_deinit(struct parallelism *p)
{
	vec_free(&p->changes);
}

uint32_t parallelism_at(const struct parallelism *p, uint64_t time_ns)
{
	size_t low;
	LOWER_BOUND(low, p->changes.len, middle, p->changes.items[middle].time_ns <= time_ns);
	int64_t count = low ? p->changes.items[low - 1].count : 1;
	return count < 1 ? 1 : count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}
