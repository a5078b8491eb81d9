/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_paths.h - joins the call paths of several recordings in one tree by name: main;work;parse of one build matches
 * main;work;parse of another, whatever the addresses. Inlined calls are frames too.
 *
 * A path is its caller's path followed by one frame; path 0 is the root, above all callers, and a path's number is
 * larger than its caller's. Periods are those of all samples at and below the path. It owns its names; the caller calls
 * diff_paths_deinit.
 *
 *	diff_paths_init(&paths, sources, 2, &(struct diff_paths_options){.by_line = true}, err);
 *	for (uint32_t i = 1; i < paths.count; i++) use(intern_get(&paths.names, paths.items[i].name));
 *	diff_paths_deinit(&paths);
 */
#ifndef PROFILE_DIFF_DIFF_PATHS_H
#define PROFILE_DIFF_DIFF_PATHS_H

#include "profile/diff/diff_table.h"

struct diff_path_source { /* One recording. */
	const struct profile *profile;
	uint32_t event; /* PROFILE_NONE if the file lacks this event. */
	const struct profile_filter *filter;
	const bool *cpu_passes; /* Indexed by CPU, below cpu_limit; NULL if all pass. */
	size_t cpu_limit;
};

struct diff_path {
	uint32_t parent; /* PROFILE_NONE for the root. */
	uint32_t name; /* Number in names; includes the line with by_line: "work file.c:12". */
	bool is_inlined;
};

struct diff_paths {
	struct intern names;
	struct diff_path *items;
	struct diff_value *values; /* Indexed by path * file_count + file. */
	size_t count, file_count;
	uint64_t *totals; /* Periods of the root, indexed by file. */
};

struct diff_paths_options {
	bool by_line; /* Distinguish frames of a function by their source lines, if known. */
	const struct name_match *match; /* Borrowed; NULL if only equal names match. */
};

TALLY_MUST_CHECK enum tally_status diff_paths_init(struct diff_paths *paths, const struct diff_path_source *sources,
	size_t file_count, const struct diff_paths_options *options, struct tally_error *err);
void diff_paths_deinit(struct diff_paths *paths);

static inline const struct diff_value *diff_paths_value(const struct diff_paths *paths, size_t path, size_t file)
{
	return &paths->values[path * paths->file_count + file];
}

#endif
