/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_json.h"

#include "perfdata/origin.h"

#define REPORT_JSON_SCHEMA_VERSION 1

void report_json_begin(struct json *j, const char *path, const struct perfdata_features *features)
{
	json_object(j, NULL);
	json_u64(j, "schema", REPORT_JSON_SCHEMA_VERSION);
	json_string(j, "path", str_from(path));
	origin_json(j, features);
}

void report_json_quality(struct json *j, const struct quality *quality, const struct requirements *requirements)
{
	static const char *const kernel[] = {"unseen", "excluded", "named", "hidden"};
	json_object(j, "worth");
	json_u64(j, "samples", quality->samples);
	json_u64(j, "lost", quality->lost);
	json_u64(j, "throttled", quality->throttled);
	json_u64(j, "stacks", quality->stacks);
	json_u64(j, "complete_stacks", quality->complete);
	json_bool(j, "stacks_are_unwound", quality->is_unwound);
	json_u64(j, "named_samples", quality->named);
	json_u64(j, "kernel_samples", quality->kernel_samples);
	json_u64(j, "named_kernel_samples", quality->kernel_named);
	json_string(j, "kernel", str_from(kernel[quality->kernel]));
	json_bool(j, "is_cut", quality->is_cut);
	json_bool(j, "is_unfinished", quality->is_unfinished);
	json_object_end(j);
	if (requirements->count == 0)
		return;
	struct text t = {0};
	json_array(j, "unmet");
	for (size_t i = 0; i < requirements->count; i++) {
		if (requirement_is_met(&requirements->items[i], quality))
			continue;
		text_clear(&t);
		requirement_text(&t, &requirements->items[i], quality);
		j->out->failed |= t.failed;
		json_string(j, NULL, (struct tally_str){t.data, t.len});
	}
	json_array_end(j);
	text_deinit(&t);
}
