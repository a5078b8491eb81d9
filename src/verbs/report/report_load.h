/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_load.h - reads a recording for the interactive report while the screen already shows results: first the
 * progress, then tables of the recording's beginning, at first without names, which can be used like the final ones.
 *
 * A thread reads, and the caller's thread draws: the first puts complete tables, and the second takes them, so nothing
 * that is drawn changes meanwhile. Recordings whose beginning cannot be read by itself (compressed, limited to spans of
 * time) show only the progress.
 *
 *	status = report_load(&load, &loaded, err);   // as replay_profile: TALLY_CORRUPT has a partial result
 *	... loaded.result, loaded.filter, loaded.begun are the caller's, the terminal in it is open ...
 */
#ifndef VERBS_REPORT_REPORT_LOAD_H
#define VERBS_REPORT_REPORT_LOAD_H

#include "tasks/reporting/report_explore.h"
#include "tasks/reporting/report_replay.h"

struct report_load { /* borrowed */
	struct report_replay wanted;
	struct binary_store *store;
	const char *path;
	const bool *cpus; /* by CPU, LIMIT_CPUS of them; NULL: all */
	const bool *socket_cpus; /* NULL: all */
	uint32_t socket_cpu_count;
	void *report; /* of print_title, which another thread calls */
	void (*print_title)(void *report, const struct flat_table *table, struct text *out);
};

struct report_loaded {
	struct replay_result result;
	struct profile_filter filter;
	struct explore_begun begun; /* its terminal is open unless it was never opened: explore_begun_end */
};

/* If the user leaves before everything is read, the program ends here. With --require, begun.leaves is set instead. */
TALLY_MUST_CHECK enum tally_status report_load(
	const struct report_load *load, struct report_loaded *loaded, struct tally_error *err);

#endif
