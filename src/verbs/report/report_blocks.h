/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_blocks.h - implements `report --total-cycles`, which shows the cycles of each basic block.
 *
 * It reads the recording itself. A block is the code between two branches; it is identified by the branch at its end
 * and has the cycles that the CPU counted since the previous branch. It begins at the nearest preceding branch target
 * in the same function, or at the start of the function if no target is known.
 *
 *	status = report_blocks(cli, &request, out, &rest, err);
 */
#ifndef VERBS_REPORT_REPORT_BLOCKS_H
#define VERBS_REPORT_REPORT_BLOCKS_H

#include "cli/cli.h"
#include "tasks/reporting/report_request.h"

/* *rest must be NULL. If the recording has no branch stacks, prints nothing and sets *rest to the reader, at its start
 * and owned by the caller, which then prints the normal report as perf does. */
TALLY_MUST_CHECK enum tally_status report_blocks(const struct cli *cli, const struct report_request *request,
	struct text *out, struct perfdata_reader **rest, struct tally_error *err);

#endif
