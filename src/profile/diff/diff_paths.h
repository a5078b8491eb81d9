/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_paths.h - joins the call paths of several recordings in one tree by name: main;work;parse of one build matches
 * main;work;parse of another, whatever the addresses. Inlined calls are frames. Drawing is done elsewhere.
 *
 * A path is its caller's path and one frame; path 0 is the root, above all callers, and a path's number is larger than
 * its caller's. Periods are those of all samples at and below the path. Owns its names; the caller deinits.
 *
 *	diff_paths_init(&paths, sources, 2, &(struct diff_paths_options){.by_line = true}, err);
 *	for (uint32_t i = 1; i < paths.count; i++) use(intern_get(&paths.names, paths.items[i].name));
 *	diff_paths_deinit(&paths);
 */
#ifndef PROFILE_DIFF_DIFF_PATHS_H
#define PROFILE_DIFF_DIFF_PATHS_H

#include "profile/diff/diff_table.h"

struct diff_path_source { /* one recording */
	const struct profile *profile;
	uint32_t event; /* PROFILE_NONE: the file lacks this event */
	const struct profile_filter *filter;
	const bool *cpu_passes; /* NULL: all */
	size_t cpu_limit;
};

struct diff_path {
	uint32_t parent; /* PROFILE_NONE: the root */
	uint32_t name; /* of names; with a line: "work file.c:12" */
	bool is_inlined;
};

struct diff_paths {
	struct intern names;
	struct diff_path *items;
	struct diff_value *values; /* path * file_count + file */
	size_t count, file_count;
	uint64_t *totals; /* by file: of the root */
};

struct diff_paths_options {
	bool by_line; /* frames of one function on different source lines are different, if lines are known */
	const struct name_match *match; /* borrowed; NULL: only equal names are the same */
};

TALLY_MUST_CHECK enum tally_status diff_paths_init(struct diff_paths *paths, const struct diff_path_source *sources,
	size_t file_count, const struct diff_paths_options *options, struct tally_error *err);
void diff_paths_deinit(struct diff_paths *paths);

static inline const struct diff_value *diff_paths_value(const struct diff_paths *paths, size_t path, size_t file)
{
	return &paths->values[path * paths->file_count + file];
}

#endif
