/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/thread_namespaces.h"

#include <stdlib.h>

#include "abi/sample.h"
#include "base/error.h"
#include "base/order.h"

#define ENTRY_BYTES  16
#define CGROUP_INDEX 6 /* Index of the cgroup namespace in a record. */

static int thread_namespaces_compare_changes(const void *left, const void *right)
{
	const struct namespace_change *a = left, *b = right;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return COMPARE(a->position, b->position);
}

static bool add_change(struct thread_namespaces *spaces, const struct record_fields *fields, uint64_t clock,
	size_t position, bool swap)
{
	struct namespace_change change = {.tid = (int32_t)fields->namespaces.tid, .clock = clock, .position = position};
	const uint8_t *entry = fields->namespaces.entries.data + (size_t)CGROUP_INDEX * ENTRY_BYTES;
	const uint64_t words[] = {sample_u64_at(entry, 0, swap), sample_u64_at(entry, 1, swap)};
	change.item = id_table_add(&spaces->items, words, NULL);
	return change.item != ID_TABLE_NONE && vec_push(&spaces->changes, change);
}

enum tally_status thread_namespaces_read(struct thread_namespaces *spaces, struct perfdata_reader *reader,
	const struct record_run *run, bool clock_is_position, struct tally_error *err)
{
	const uint64_t nothing[] = {0, 0};
	size_t position = 0, start = 0;
	struct record record;
	*spaces = (struct thread_namespaces){.items = {.words = 2}};
	if (id_table_add(&spaces->items, nothing, NULL) == ID_TABLE_NONE)
		return error_nomem(err);
	/* A damaged record ends the loop; the sideband, which is read from the same records, reports it. */
	for (; record_run_next(run, &position, &record, NULL) == TALLY_OK; start = position) {
		struct record_fields fields;
		uint64_t time_ns = 0;
		if (record.type != RECORD_NAMESPACES || record_decode(&record, &fields, NULL) != TALLY_OK ||
			fields.namespaces.entries.len / ENTRY_BYTES <= CGROUP_INDEX)
			continue;
		(void)perfdata_reader_time(reader, &record, &time_ns);
		if (!add_change(spaces, &fields, clock_is_position ? start : time_ns, start, run->swap))
			return error_nomem(err);
	}
	if (spaces->changes.len)
		qsort(spaces->changes.items, spaces->changes.len, sizeof(spaces->changes.items[0]),
			thread_namespaces_compare_changes);
	return TALLY_OK;
}

void thread_namespaces_deinit(struct thread_namespaces *spaces)
{
	id_table_deinit(&spaces->items);
	vec_free(&spaces->changes);
}

uint32_t thread_namespaces_at(const struct thread_namespaces *spaces, int32_t tid, uint64_t clock)
{
	const struct namespace_change *changes = spaces->changes.items;
	size_t low;
	LOWER_BOUND(low, spaces->changes.len, i,
		changes[i].tid < tid || (changes[i].tid == tid && changes[i].clock <= clock));
	return low && changes[low - 1].tid == tid ? changes[low - 1].item : 0;
}

struct thread_namespace thread_namespaces_get(const struct thread_namespaces *spaces, uint32_t index)
{
	const uint64_t *words = id_table_key(&spaces->items, index);
	return (struct thread_namespace){words[0], words[1]};
}
