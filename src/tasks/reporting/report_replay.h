/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_replay.h - replays a recording into a profile that has what the plan of a report needs.
 *
 *	struct report_replay wanted = {&plan, &fields, reader};
 *	status = report_replay_run(&wanted, store, &result, err);
 */
#ifndef TASKS_REPORTING_REPORT_REPLAY_H
#define TASKS_REPORTING_REPORT_REPLAY_H

#include "analysis/replay/replay.h"
#include "tasks/reporting/report_plan.h"

struct report_replay { /* borrowed */
	const struct report_plan *plan;
	const struct report_fields *fields;
	struct perfdata_reader *reader;
	struct progress *progress; /* NULL: a line on the terminal shows progress */
	size_t max_bytes; /* as replay_options */
	bool without_names, without_inlines;
};

/* The number of branches that the recording's CPU kept, if an event made call stacks of them; 0: no event did, or the
 * header does not say. */
uint64_t report_lbr_registers(const struct perfdata_reader *reader);
/* The note for --stitch-lbr if there are no LBR call stacks; chains are then the same as without it. */
#define REPORT_CANNOT_STITCH                                                                            \
	"--stitch-lbr needs call stacks of the CPU's branch registers, and their number in the header " \
	"(record --call-graph lbr): chains are those recorded"
/* Without time spans and switches, which report_replay_run adds. */
struct replay_options report_replay_options(const struct report_replay *wanted);
/* Whether a profile made with `have` also serves `want`: it has everything needed, and counts the same samples. */
bool report_replay_covers(const struct replay_options *have, const struct replay_options *want);
/* As replay_profile. */
TALLY_MUST_CHECK enum tally_status report_replay_run(const struct report_replay *wanted, struct binary_store *store,
	struct replay_result *result, struct tally_error *err);

#endif
