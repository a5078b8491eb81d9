/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cache.h - adds the files in which samples were taken to the build ID cache at the end of a recording, so that
 * the recording can be read after they have been replaced.
 */
#ifndef TASKS_RECORDING_RECORD_CACHE_H
#define TASKS_RECORDING_RECORD_CACHE_H

#include "tasks/recording/record_build_ids.h"

/* If dir is NULL, the cache is ~/.debug. Existing entries are not replaced. Files that cannot be added are skipped,
 * because the recording is valid without them. If the environment variable TALLY_BUILDID_CACHE_MAX contains a size, the
 * oldest entries are removed until the cache fits. */
void record_cache_fill(const char *dir, const struct record_build_ids *ids);

#endif
