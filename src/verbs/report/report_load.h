/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_load.h - reads a recording for the interactive report while the screen already shows results: first the
 * progress, then tables of the recording's beginning, at first without names, which can be used like the final ones.
 *
 * A worker thread reads and the caller's thread draws. The worker passes on complete tables, so nothing changes while
 * it is drawn. If the beginning of a recording cannot be read by itself (compressed, or with --time), only the progress
 * is shown.
 *
 *	status = report_load(&load, &loaded, err);   // like replay_profile: TALLY_CORRUPT has a partial result
 *	... the caller owns loaded.result, loaded.filter and loaded.begun, where the terminal is open ...
 */
#ifndef VERBS_REPORT_REPORT_LOAD_H
#define VERBS_REPORT_REPORT_LOAD_H

#include "tasks/reporting/report_explore.h"
#include "tasks/reporting/report_replay.h"

struct report_load { /* All pointers are borrowed. */
	struct report_replay wanted;
	struct binary_store *store;
	const char *path;
	const bool *cpus; /* Selected CPUs, LIMIT_CPUS elements; NULL for all. */
	const bool *socket_cpus; /* CPUs of the selected sockets; NULL for all. */
	uint32_t socket_cpu_count;
	void *report; /* Argument of print_title, which is called by the worker thread. */
	void (*print_title)(void *report, const struct flat_table *table, struct text *out);
};

struct report_loaded {
	struct replay_result result;
	struct profile_filter filter;
	/* Contains the terminal if the screen was opened; must be ended by explore_begun_end. */
	struct explore_begun begun;
};

/* If the user quits before everything has been read, the process exits; with --require, the rest is read first, and
 * begun.leaves of loaded is set. */
TALLY_MUST_CHECK enum tally_status report_load(
	const struct report_load *load, struct report_loaded *loaded, struct tally_error *err);

#endif
