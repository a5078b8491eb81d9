/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_run.h - runs a report request: opens, replays, groups and prints. It does not parse options; cmd_report.c
 * does.
 *
 * The report goes to standard output; notes on its quality (lost samples, a truncated file, hidden symbols) go to a
 * diag of the caller. A truncated file is reported as far as it goes, and the status says so. is_met: whether the
 * requirements are met.
 *
 *	enum tally_status status = report_run(cli, &request, &streams, &is_met, err);
 */
#ifndef VERBS_REPORT_REPORT_RUN_H
#define VERBS_REPORT_REPORT_RUN_H

#include "base/diag.h"
#include "cli/cli.h"
#include "tasks/reporting/report_request.h"

struct report_streams {
	struct text *out;
	struct diag *notes;
	struct perfdata_reader
		*opened; /* a reader that is open already, which report_run takes over. NULL: it opens the input */
};

TALLY_MUST_CHECK enum tally_status report_run(const struct cli *cli, struct report_request *request,
	const struct report_streams *streams, bool *is_met, struct tally_error *err);

#endif
