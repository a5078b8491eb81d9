/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_replay.h - replays a recording into a profile with the data that a report plan needs.
 *
 *	struct report_replay wanted = {&plan, &fields, reader};
 *	status = report_replay_run(&wanted, store, &result, err);
 */
#ifndef TASKS_REPORTING_REPORT_REPLAY_H
#define TASKS_REPORTING_REPORT_REPLAY_H

#include "analysis/replay/replay.h"
#include "tasks/reporting/report_plan.h"

/* All members are borrowed. */
struct report_replay {
	const struct report_plan *plan;
	const struct report_fields *fields;
	struct perfdata_reader *reader;
	struct progress *progress; /* If NULL, a line on the terminal shows the progress. */
	size_t max_bytes; /* See struct replay_options. */
	bool without_names, without_inlines;
};

/* Returns the number of branch registers of the recording's CPU if an event recorded LBR call stacks. Returns 0 if no
 * event did, or if the header does not contain the number. */
uint64_t report_lbr_registers(const struct perfdata_reader *reader);
/* Note for --stitch-lbr if there are no LBR call stacks; the option then has no effect. */
#define REPORT_CANNOT_STITCH                                                                            \
	"--stitch-lbr needs call stacks of the CPU's branch registers, and their number in the header " \
	"(record --call-graph lbr): chains are those recorded"
/* Returns the options without time spans and switches, which report_replay_run adds. */
struct replay_options report_replay_options(const struct report_replay *wanted);
/* Returns whether a profile made with `have` also serves `want`: it has all required data, and counts the same
 * samples. */
bool report_replay_covers(const struct replay_options *have, const struct replay_options *want);
/* Replays the recording (replay_profile) with the options that the plan needs. */
TALLY_MUST_CHECK enum tally_status report_replay_run(const struct report_replay *wanted, struct binary_store *store,
	struct replay_result *result, struct tally_error *err);

#endif
