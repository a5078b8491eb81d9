/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_blocks.h - `report --total-cycles`: which runs of code between two branches the cycles went to.
 *
 * Reads the recording by itself, prints, holds nothing. A block is told by the branch at its end, and has the cycles that
 * the CPU counted since the branch before; it begins where the nearest of these led to in the same function, or with the
 * function where none is known.
 *
 *	status = report_blocks(cli, &request, out, &rest, err);
 */
#ifndef VERBS_REPORT_REPORT_BLOCKS_H
#define VERBS_REPORT_REPORT_BLOCKS_H

#include "cli/cli.h"
#include "tasks/reporting/report_request.h"

/* rest: NULL, and set where the recording has no branch stacks, so that its rows are to be shown instead, as perf does: its
 * reader, at the start, the caller's. */
TALLY_MUST_CHECK enum tally_status report_blocks(const struct cli *cli, const struct report_request *request,
	struct text *out, struct perfdata_reader **rest, struct tally_error *err);

#endif
