/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_config.h - reads the user's configuration of reports: the settings of perfconfig(5) that change them.
 *
 * The files are $PERF_CONFIG, if it is set, else /etc/perfconfig and then ~/.perfconfig; options of the command line
 * have precedence. Known: report.sort_order, .percent-limit, .children, .group, .skip-empty, call-graph.print-type,
 * .order, .sort-key, .threshold, .print-limit, hist.percentage; of the screen's code annotate.disassembler_style,
 * .hide_src_code. Other settings are ignored.
 *
 *	report_config_read(&request, &sort, notes, err);  ...  free(sort);
 */
#ifndef TASKS_REPORTING_REPORT_CONFIG_H
#define TASKS_REPORTING_REPORT_CONFIG_H

#include "base/diag.h"
#include "tasks/reporting/report_request.h"

/* *sort: the caller frees it; the request borrows it. TALLY_INVALID: a value that perf refuses too. Values that perf
 * ignores, and invalid lines, become warnings. */
TALLY_MUST_CHECK enum tally_status report_config_read(
	struct report_request *request, char **sort, struct diag *notes, struct tally_error *err);
/* For top: the same without report's own settings, and with top.children. */
TALLY_MUST_CHECK enum tally_status report_config_read_top(
	struct report_request *request, struct diag *notes, struct tally_error *err);

#endif
