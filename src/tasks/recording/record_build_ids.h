/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_build_ids.h - makes a pass over a finished recording, and finds the files that samples hit, their build IDs,
 * the number of samples, and the times of the first and last one.
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

struct record_build_id_file { /* whose build id it is */
	int fd; /* borrowed from the files kept open; -1: not kept open */
	int32_t pid; /* the first process that mapped it; -1: none */
};

struct record_build_ids {
	struct arena arena;
	struct perfdata_build_id *items;
	struct record_build_id_file *files; /* as items */
	size_t len; /* for the table; after them those only for the cache: */
	size_t known;
	uint64_t samples, lost_events;
	struct chain_survey chains; /* of samples whose call chains are by frame pointers */
	uint64_t first_ns, last_ns; /* of samples; 0: none has a time */
};

/* all: every file that was mapped, hit or not. progress and files (those kept open during the recording) may be
 * NULL. */
TALLY_MUST_CHECK enum tally_status record_build_ids_read(const char *path, bool all, struct record_files *files,
	struct progress *progress, struct record_build_ids *out, struct tally_error *err);
void record_build_ids_deinit(struct record_build_ids *ids);

#endif
