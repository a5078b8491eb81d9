/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_config.h - reads the user's configuration of reports: the settings of perfconfig(5) that change them.
 *
 * The file is $PERF_CONFIG if it is set, otherwise /etc/perfconfig and then ~/.perfconfig; options on the command line
 * have precedence. Supported: report.sort_order, .percent-limit, .children, .group, .skip-empty, call-graph.print-type,
 * .order, .sort-key, .threshold, .print-limit, hist.percentage; for code on the screen annotate.disassembler_style,
 * .hide_src_code. Other settings are ignored.
 *
 *	report_config_read(&request, &sort, notes, err);  ...  free(sort);
 */
#ifndef TASKS_REPORTING_REPORT_CONFIG_H
#define TASKS_REPORTING_REPORT_CONFIG_H

#include "base/diag.h"
#include "tasks/reporting/report_request.h"

/* If report.sort_order is set, sets *sort, which must be NULL before, to its value. The caller frees *sort; the request
 * borrows it. Returns TALLY_INVALID for values that perf rejects, too. Values that perf ignores, and invalid lines,
 * become warnings. */
TALLY_MUST_CHECK enum tally_status report_config_read(
	struct report_request *request, char **sort, struct diag *notes, struct tally_error *err);
/* Reads the settings for top: top.children, and all others except report.*. */
TALLY_MUST_CHECK enum tally_status report_config_read_top(
	struct report_request *request, struct diag *notes, struct tally_error *err);

#endif
