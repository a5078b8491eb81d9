/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_run.h - runs a report request: opens and replays the recording, groups the samples and prints the tables.
 * cmd_report.c parses the options.
 *
 * Notes on the quality (lost samples, a truncated file, hidden symbols) go to a diag of the caller. The intact part of
 * a truncated file is reported before the error is returned. is_met is set to whether the requirements of --require are
 * met.
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
	/* An open reader, which report_run takes ownership of; NULL to open the input. */
	struct perfdata_reader *opened;
};

TALLY_MUST_CHECK enum tally_status report_run(const struct cli *cli, struct report_request *request,
	const struct report_streams *streams, bool *is_met, struct tally_error *err);

#endif
