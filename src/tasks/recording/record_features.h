/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_features.h - fills in the feature sections of a recording: the host, the command line, the events.
 *
 * Everything is allocated in the arena of the caller's record_features (record_features_deinit); strings about the host
 * are borrowed from its host_info. The caller adds build IDs and sample times at the end.
 */
#ifndef TASKS_RECORDING_RECORD_FEATURES_H
#define TASKS_RECORDING_RECORD_FEATURES_H

#include "kernel/recording/record_attrs.h"
#include "kernel/recording/recorder.h"
#include "kernel/system/host_info.h"
#include "perfdata/features.h"

struct record_features {
	struct perfdata_features features;
	struct host_info host;
	struct arena arena;
};

struct record_features_input {
	const struct kernel_seam *kernel;
	struct event_list *events;
	const struct record_attr_options *attrs;
	const struct recorder_source *sources;
	size_t source_count;
	char *const *argv; /* The whole command line, NULL-terminated. */
	bool use_clockid;
	int32_t clockid;
};

TALLY_MUST_CHECK enum tally_status record_features_read(
	const struct record_features_input *input, struct record_features *out, struct tally_error *err);
void record_features_deinit(struct record_features *f);
static inline void record_features_add(struct perfdata_features *f, unsigned bit)
{
	f->present[bit / 64] |= UINT64_C(1) << (bit % 64);
}
/* Sets *ids to the IDs of one event, in the order of its sources. The caller frees them. */
TALLY_MUST_CHECK enum tally_status record_event_ids(const struct recorder_source *sources, size_t source_count,
	uint32_t event, uint64_t **ids, size_t *count, struct tally_error *err);

#endif
