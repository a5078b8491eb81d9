/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_build_ids.h - reads a finished recording to find the files in which samples were taken, their build IDs, the
 * number of samples, and the times of the first and last one.
 *
 * Reads the recording once for its mappings and once for its samples. The results are in its arena
 * (record_build_ids_deinit).
 */
#ifndef TASKS_RECORDING_RECORD_BUILD_IDS_H
#define TASKS_RECORDING_RECORD_BUILD_IDS_H

#include "analysis/chain_survey.h"
#include "base/arena.h"
#include "base/progress.h"
#include "perfdata/reader.h"
#include "tasks/recording/record_files.h"

/* The file to which a build ID belongs. */
struct record_build_id_file {
	int fd; /* Borrowed from the files that the recording keeps open; -1 if this one is not open. */
	int32_t pid; /* The first process that mapped the file, or -1 if there is none. */
};

struct record_build_ids {
	struct arena arena;
	struct perfdata_build_id *items;
	struct record_build_id_file *files; /* Indexed like items. */
	size_t len; /* Number of items for the recording's table. */
	/* Number of all items; those after the first len are only for the cache. */
	size_t known;
	uint64_t samples, lost_events;
	struct chain_survey chains; /* Survey of samples with call chains by frame pointers. */
	uint64_t first_ns, last_ns; /* Times of samples; 0 if none has a time. */
};

/* all includes every mapped file, even without samples. progress and files (those kept open during the recording) may
 * be NULL. */
TALLY_MUST_CHECK enum tally_status record_build_ids_read(const char *path, bool all, struct record_files *files,
	struct progress *progress, struct record_build_ids *out, struct tally_error *err);
void record_build_ids_deinit(struct record_build_ids *ids);

#endif
