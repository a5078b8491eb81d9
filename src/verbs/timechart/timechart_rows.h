/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_rows.h - selects the tracks to be drawn, and their order.
 *
 * CPUs come first, by number or by the machine's topology; then the tasks that ran (or performed I/O) long enough,
 * grouped by process, in the order in which processes were first seen. The functions have no side effects.
 *
 *	const struct timechart_choice choice = {.least_tasks = 15};
 *	if (timechart_rows_choose(&tracks, &choice, &rows)) ...
 *	timechart_rows_deinit(&rows);
 */
#ifndef VERBS_TIMECHART_TIMECHART_ROWS_H
#define VERBS_TIMECHART_TIMECHART_ROWS_H

#include "perfdata/features.h"
#include "profile/tracks.h"

#define TIMECHART_LEAST_TASKS 15 /* So many tasks are drawn even if they ran only briefly. */
#define TIMECHART_MOST_TASKS  400 /* Limit for pictures, which cannot be scrolled like an HTML page. */

struct timechart_choice {
	const char *const *processes; /* Names or numbers; all processes if process_count is 0. */
	size_t process_count;
	uint64_t least_tasks; /* Minimum number of tasks, even if they ran only briefly. */
	size_t most_tasks; /* 0 for no limit. */
	bool without_tasks;
	const struct perfdata_topology *topology; /* Sorts CPUs by socket and core; NULL to sort by number. */
};

struct timechart_rows {
	VEC(uint32_t) rows; /* Indices of tracks, in the order in which they are drawn. */
	size_t tasks; /* Number of rows of tasks. */
	size_t hidden_tasks; /* Number of selected tasks that are hidden because they ran too briefly. */
};

/* Returns false if out of memory. */
bool timechart_rows_choose(
	const struct tracks *tracks, const struct timechart_choice *choice, struct timechart_rows *rows);
void timechart_rows_deinit(struct timechart_rows *rows);
/* Returns whether word is a name that the task has had, its thread ID or its process ID. */
bool timechart_task_is(const struct tracks *tracks, const struct track *task, const char *word);

#endif
