/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_names.h - maps the cgroup IDs in samples to the paths of the cgroups that a recording names.
 *
 * Owned by the caller. Look-ups fail if a recording has no cgroup records.
 *
 *	cgroup_names_read(&names, reader, err);
 *	if (cgroup_names_find(&names, sample->cgroup, &path)) ...
 *	cgroup_names_deinit(&names);
 */
#ifndef ANALYSIS_CGROUP_NAMES_H
#define ANALYSIS_CGROUP_NAMES_H

#include "base/intern.h"
#include "base/map_u64.h"
#include "perfdata/reader.h"

struct cgroup_names {
	struct map_u64 ids; /* Maps a cgroup ID to the number of its path. */
	struct intern paths; /* Paths with unprintable bytes escaped. */
};

/* Rewinds the reader and reads all its cgroup records. Names read before a truncation are kept; the truncation is
 * reported when the samples are read. After a failure, names must still be deinitialised. */
TALLY_MUST_CHECK enum tally_status cgroup_names_read(
	struct cgroup_names *names, struct perfdata_reader *reader, struct tally_error *err);
/* Adds a cgroup, or replaces the path of a known ID. Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status cgroup_names_add(
	struct cgroup_names *names, uint64_t id, struct tally_str path, struct tally_error *err);
void cgroup_names_deinit(struct cgroup_names *names);
/* Sets *path, which is valid until cgroup_names_deinit. Returns false if the ID is not known. */
bool cgroup_names_find(const struct cgroup_names *names, uint64_t id, struct tally_str *path);

#endif
