/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tasks/session/recording_input.h"

#define SCHEMA_VERSION 1

/* A lock is of one type, whichever side of it is waited for. */
static struct tally_str lock_json_type_of(const struct lock_table *table, const struct lock_row *row)
{
	struct tally_str type = str_from(lock_type_name(row->flags));
	if (table->layout == LOCK_BY_ADDRESS)
		type.len = strcspn(type.data, ":");
	return type;
}

/* The lines of the text, without their margin. */
static void lock_json_put_stack(struct json *j, const char *lines)
{
	json_array(j, "stack");
	while (*lines) {
		lines += strspn(lines, "\t");
		size_t len = strcspn(lines, "\n");
		json_string(j, NULL, (struct tally_str){lines, len});
		lines += len + (lines[len] == '\n');
	}
	json_array_end(j);
}

/* Whose row it is. */
static void lock_json_put_label(
	struct json *j, const struct lock_table *table, const struct lock_row *row, const struct lock_label *label)
{
	switch (table->layout) {
	case LOCK_BY_NAME:
		json_string(j, "name", str_from(label->name));
		return;
	case LOCK_BY_CALLER:
		json_string(j, "type", lock_json_type_of(table, row));
		if (*label->name)
			json_string(j, "caller", str_from(label->name));
		if (table->with_stacks && label->stack)
			lock_json_put_stack(j, label->stack);
		return;
	case LOCK_BY_THREAD:
		json_i64(j, "tid", (int64_t)label->number);
		json_string(j, "comm", str_from(label->name));
		return;
	case LOCK_BY_ADDRESS:
		json_hex(j, "address", label->number);
		if (*label->name)
			json_string(j, "symbol", str_from(label->name));
		json_string(j, "type", lock_json_type_of(table, row));
		return;
	case LOCK_BY_CGROUP:
		json_string(j, "cgroup", str_from(label->name));
		return;
	}
}

static void lock_json_put_row(
	struct json *j, const struct lock_table *table, const struct lock_row *row, const struct lock_label *label)
{
	json_object(j, NULL);
	lock_json_put_label(j, table, row, label);
	if (table->layout == LOCK_BY_NAME)
		json_u64(j, "acquired", row->acquired);
	json_u64(j, "contended", row->contended);
	json_u64(j, "wait_total_ns", row->total_ns);
	json_u64(j, "wait_max_ns", row->max_ns);
	json_u64(j, "wait_min_ns", lock_row_value(row, LOCK_WAIT_MIN));
	json_u64(j, "avg_wait_ns", lock_row_value(row, LOCK_AVG_WAIT));
	json_object_end(j);
	(void)text_line_end(j->out);
}

static bool lock_json_put_rows(struct json *j, const struct lock_table *table)
{
	size_t count;
	uint32_t *order = lock_table_order(table, &count);
	if (!order)
		return false;
	json_string(j, "sorted_by", str_from(lock_column_name(table->key)));
	json_array(j, "rows");
	for (size_t i = 0; i < count; i++)
		lock_json_put_row(j, table, &table->rows[order[i]], &table->labels[order[i]]);
	json_array_end(j);
	free(order);
	return true;
}

/* Threads by number, or locks as they were first seen. */
static void put_info(struct json *j, const struct lock_job *job)
{
	bool by_thread = job->settings->by_thread;
	json_array(j, by_thread ? "threads" : "locks");
	for (size_t i = 0; i < job->labels.len; i++) {
		const struct lock_label *label = &job->labels.items[i];
		json_object(j, NULL);
		if (by_thread)
			json_i64(j, "tid", (int64_t)label->number);
		else
			json_hex(j, "address", label->number);
		json_string(j, by_thread ? "comm" : "name", str_from(label->name));
		json_object_end(j);
	}
	json_array_end(j);
}

bool lock_json(const struct lock_job *job, const struct lock_table *table, struct text *out)
{
	const struct lock_waits *waits = &job->waits;
	struct json j = {.out = out};
	bool is_whole = true;
	json_object(&j, NULL);
	json_u64(&j, "schema", SCHEMA_VERSION);
	if (!job->settings->is_live) {
		json_string(&j, "path", str_from(recording_name(job->settings->input)));
		json_u64(&j, "lost_events", job->source.sideband.health.lost_events);
	}
	json_u64(&j, "events", job->events);
	json_u64(&j, "unended", waits->unended);
	json_u64(&j, "unbegun", waits->unbegun);
	if (job->verb == VERB_INFO) {
		put_info(&j, job);
	} else {
		json_u64(&j, "without_row", waits->others.acquired);
		json_u64(&j, "without_row_ns", waits->others.total_ns);
		is_whole = lock_json_put_rows(&j, table);
	}
	json_object_end(&j);
	return is_whole;
}
