/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_json.h"

#include "base/json.h"
#include "tasks/session/recording_input.h"

#define SCHEMA_VERSION 1

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
		json_string(&j, "path", str_from(recording_name(job->settings->input.path)));
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
		is_whole = lock_table_json(table, &j);
	}
	json_object_end(&j);
	return is_whole;
}
