/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cache.h - at the end of a recording, puts the files that its samples hit into the cache of build ids, so that
 * it can be read when they have been replaced.
 */
#ifndef TASKS_RECORDING_RECORD_CACHE_H
#define TASKS_RECORDING_RECORD_CACHE_H

#include "tasks/recording/record_build_ids.h"

/* dir NULL: ~/.debug. What is there stays. A file that cannot be added is left out: the recording is good without. */
void record_cache_fill(const char *dir, const struct record_build_ids *ids);

#endif
