/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_selection.h - finds the samples that --switch-on, --switch-off, --socket-filter and --parallelism select, by
 * event, by CPU, and by the number of running threads.
 *
 *	report_switches_find(&(struct switch_names){on, off, shows}, reader, &switches, err);
 *	report_socket_cpus(reader, 0, &cpus, &count, err); ... free(cpus);
 */
#ifndef TASKS_REPORTING_REPORT_SELECTION_H
#define TASKS_REPORTING_REPORT_SELECTION_H

#include "analysis/replay_options.h"
#include "perfdata/reader.h"

/* Names of events as typed; NULL if not given. */
struct switch_names {
	const char *on, *off;
	bool shows;
};

/* Returns INVALID if the recording has no such event. */
TALLY_MUST_CHECK enum tally_status report_switches_find(const struct switch_names *names,
	const struct perfdata_reader *reader, struct replay_switches *found, struct tally_error *err);
/* Sets *cpus to one flag for each CPU, set if it belongs to the socket; the caller frees it. Returns INVALID if the
 * recording has no topology. */
TALLY_MUST_CHECK enum tally_status report_socket_cpus(
	const struct perfdata_reader *reader, uint64_t socket, bool **cpus, uint32_t *count, struct tally_error *err);
/* Converts a list such as "1,4-8" to LIMIT_CPUS flags, indexed by the number of threads; the caller frees them. Returns
 * INVALID if the list cannot be parsed or contains 0. */
TALLY_MUST_CHECK enum tally_status report_parallelism_levels(const char *list, bool **levels, struct tally_error *err);

#endif
