/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_names.h - maps the cgroup IDs in samples to the paths of the cgroups that a recording names.
 *
 * Owned by the caller. If a recording has no such records, no name is found.
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
	struct map_u64 ids; /* id -> path */
	struct intern paths;
};

/* Rewinds the reader. Rows of a truncated file are kept; the truncation is reported when its samples are read. */
TALLY_MUST_CHECK enum tally_status cgroup_names_read(
	struct cgroup_names *names, struct perfdata_reader *reader, struct tally_error *err);
/* One more, or another path for an id. NOMEM only. */
TALLY_MUST_CHECK enum tally_status cgroup_names_add(
	struct cgroup_names *names, uint64_t id, struct tally_str path, struct tally_error *err);
void cgroup_names_deinit(struct cgroup_names *names);
bool cgroup_names_find(const struct cgroup_names *names, uint64_t id, struct tally_str *path);

#endif
