/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_map_ids.h - reads the build IDs of files that are already mapped when a recording starts, for the map records
 * that are synthesized for them. (The kernel adds build IDs only to its own records.)
 *
 * Each file is read once. record_map_ids_deinit frees the build IDs. Not thread-safe.
 *
 *	struct record_map_ids ids;
 *	record_map_ids_init(&ids);  state.ids = &ids.source;
 */
#ifndef TASKS_RECORDING_RECORD_MAP_IDS_H
#define TASKS_RECORDING_RECORD_MAP_IDS_H

#include "base/id_table.h"
#include "base/vec.h"
#include "kernel/recording/synthesize.h"

struct record_map_ids {
	struct synthesize_ids source;
	struct id_table files; /* Maps device and inode to an index in known. */
	VEC(struct record_build_id) known; /* The size is 0 if the file has no build ID or cannot be read. */
};

void record_map_ids_init(struct record_map_ids *ids);
void record_map_ids_deinit(struct record_map_ids *ids);

#endif
