/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timechart_rows.h - chooses the tracks that are drawn, and their order.
 *
 * CPUs come first, by number or by the machine's topology; then the tasks that ran long enough (or did I/O), grouped by
 * process, in the order in which processes were first seen. Pure: names and times come from the tracks.
 *
 *	const struct timechart_choice choice = {.least_tasks = 15};
 *	if (timechart_rows_choose(&tracks, &choice, &rows)) ...
 *	timechart_rows_deinit(&rows);
 */
#ifndef VERBS_TIMECHART_TIMECHART_ROWS_H
#define VERBS_TIMECHART_TIMECHART_ROWS_H

#include "perfdata/features.h"
#include "profile/tracks.h"

#define TIMECHART_LEAST_TASKS 15 /* drawn however short they ran */
#define TIMECHART_MOST_TASKS  400 /* of a picture that cannot be scrolled as a page can */

struct timechart_choice {
	const char *const *processes; /* names or numbers; none: all */
	size_t process_count;
	uint64_t least_tasks; /* as many at least, however short they ran */
	size_t most_tasks; /* 0: no limit */
	bool without_tasks;
	const struct perfdata_topology *topology; /* sorts CPUs by socket and core; NULL: by number */
};

struct timechart_rows {
	VEC(uint32_t) rows;
	size_t tasks; /* rows of tasks */
	size_t hidden_tasks; /* that ran too short, not those that were not asked for */
};

/* False: out of memory. */
bool timechart_rows_choose(
	const struct tracks *tracks, const struct timechart_choice *choice, struct timechart_rows *rows);
void timechart_rows_deinit(struct timechart_rows *rows);
/* Whether the task has, or had, this name, or its thread or process this number. */
bool timechart_task_is(const struct tracks *tracks, const struct track *task, const char *word);

#endif
