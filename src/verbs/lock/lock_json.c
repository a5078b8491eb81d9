/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_json.h"

#include "base/json.h"
#include "tasks/session/recording_input.h"

#define LOCK_JSON_SCHEMA_VERSION 1

bool lock_json(const struct lock_job *job, const struct lock_table *table, struct text *out)
{
	const struct lock_waits *waits = &job->waits;
	struct json j = {.out = out};
	bool is_whole = true;
	json_object(&j, NULL);
	json_u64(&j, "schema", LOCK_JSON_SCHEMA_VERSION);
	if (!job->settings->is_live) {
		json_string(&j, "path", str_from(recording_name(job->settings->input.path)));
		json_u64(&j, "lost_events", job->source.pass.sideband.health.lost_events);
	} else {
		/* In a live measurement the kernel adds up waits, or they are read from rings if BPF is refused. */
		json_object(&j, "lost");
		json_u64(&j, "samples", job->source.pass.sideband.health.lost_samples);
		json_u64(&j, "missed_events", job->lost.missed);
		json_u64(&j, "waits", job->lost.without_wait);
		json_u64(&j, "stacks", job->lost.without_stack);
		json_u64(&j, "threads", job->lost.without_task);
		json_object_end(&j);
	}
	json_u64(&j, "events", job->events);
	json_u64(&j, "unended", waits->unended);
	json_u64(&j, "unbegun", waits->unbegun);
	if (job->verb == VERB_INFO) {
		json_array(&j, job->settings->by_thread ? "threads" : "locks");
		lock_table_info(table, job->settings->by_thread, out, &j);
		json_array_end(&j);
	} else {
		json_u64(&j, "without_row", waits->others.acquired);
		json_u64(&j, "without_row_ns", waits->others.total_ns);
		is_whole = lock_table_json(table, &j);
	}
	json_object_end(&j);
	return is_whole;
}
