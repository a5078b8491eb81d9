/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_blocks.h - implements `report --total-cycles`: it shows in which runs of code between two branches the cycles
 * were spent.
 *
 * It reads the recording itself, and prints. A block is identified by the branch at its end, and has the cycles that
 * the CPU counted since the branch before. It begins at the nearest target of such earlier branches in the same
 * function, or at the start of the function if none is known.
 *
 *	status = report_blocks(cli, &request, out, &rest, err);
 */
#ifndef VERBS_REPORT_REPORT_BLOCKS_H
#define VERBS_REPORT_REPORT_BLOCKS_H

#include "cli/cli.h"
#include "tasks/reporting/report_request.h"

/* rest: NULL, unless the recording has no branch stacks; then it is set to the recording's reader, at its start, which
 * the caller owns, so that the caller shows rows instead, as perf does. */
TALLY_MUST_CHECK enum tally_status report_blocks(const struct cli *cli, const struct report_request *request,
	struct text *out, struct perfdata_reader **rest, struct tally_error *err);

#endif
