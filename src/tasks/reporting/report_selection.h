/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_selection.h - selects the part of a recording that --switch-on, --switch-off, --socket-filter and
 * --parallelism choose: by event, by CPU, by the number of running threads.
 *
 *	report_switches_find(&(struct switch_names){on, off, shows}, reader, &switches, err);
 *	report_socket_cpus(reader, 0, &cpus, &count, err); ... free(cpus);
 */
#ifndef TASKS_REPORTING_REPORT_SELECTION_H
#define TASKS_REPORTING_REPORT_SELECTION_H

#include "analysis/replay_options.h"
#include "perfdata/reader.h"

struct switch_names { /* as typed; NULL: none */
	const char *on, *off;
	bool shows;
};

/* INVALID: the recording has no such event. */
TALLY_MUST_CHECK enum tally_status report_switches_find(const struct switch_names *names,
	const struct perfdata_reader *reader, struct replay_switches *found, struct tally_error *err);
/* By CPU, whether it is of the socket; the caller frees it. INVALID: the recording has no topology. */
TALLY_MUST_CHECK enum tally_status report_socket_cpus(
	const struct perfdata_reader *reader, uint64_t socket, bool **cpus, uint32_t *count, struct tally_error *err);
/* "1,4-8" by number of threads, LIMIT_CPUS of them; the caller frees it. INVALID: no such list, or one with 0. */
TALLY_MUST_CHECK enum tally_status report_parallelism_levels(const char *list, bool **levels, struct tally_error *err);

#endif
