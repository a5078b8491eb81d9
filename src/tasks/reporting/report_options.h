/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_options.h - declares the options for rows and columns that report and top share.
 *
 *	REPORT_OPTIONS(struct settings, request),
 */
#ifndef TASKS_REPORTING_REPORT_OPTIONS_H
#define TASKS_REPORTING_REPORT_OPTIONS_H

#include "cli/options.h"
#include "tasks/reporting/report_request.h"

typedef enum tally_status (*report_request_setter)(
	struct report_request *request, const char *value, struct tally_error *err);

/* Options that set a struct report_request: -n/--show-nr-samples, --show-total-period, -w/--column-widths,
 * --percent-limit, --percentage, --children, -H/--hierarchy, --group-sort-idx, --ignore-callees, --raw-trace,
 * --switch-on, --switch-off and --show-on-off-events. */
extern const struct option_table report_option_table;
#define REPORT_OPTIONS(type, member) OPTION_GROUP_ROW(&report_option_table, type, member)

/* For callbacks of options. Returns NULL, or the setter's message if it rejects the value. */
const char *report_options_apply(
	const struct option_use *use, struct report_request *request, report_request_setter set);

#endif
