/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_load.h - reads a recording for the interactive report while what is known of it so far is on the screen: at first
 * how far the reading is, then tables of its beginning - without names, with names, of more of it - and keys work on them.
 *
 * A thread reads; the screen is the caller's thread's. Tables are made whole by the one and taken by the other, so that
 * nothing that is drawn changes meanwhile. Recordings of which no beginning can be had by itself (compressed, limited to
 * spans of time) show how far the reading is.
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

/* Who leaves before all is read ends the program here, but where --require wants a judgement: then begun.leaves is set. */
TALLY_MUST_CHECK enum tally_status report_load(
	const struct report_load *load, struct report_loaded *loaded, struct tally_error *err);

#endif
