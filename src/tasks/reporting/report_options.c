/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_options.h"

#define ROW(member) .offset = offsetof(struct report_request, member)

const char *report_options_apply(
	const struct option_use *use, struct report_request *request, report_request_setter set)
{
	struct tally_error problem;
	return set(request, use->value, &problem) == TALLY_OK ? NULL : option_complaint(use, problem.text);
}

static const char *report_options_set_widths(const struct option_use *use)
{
	return report_options_apply(use, use->settings, report_request_set_widths);
}

static const char *report_options_set_percent_limit(const struct option_use *use)
{
	return report_options_apply(use, use->settings, report_request_set_percent_limit);
}

static const char *report_options_set_percentage(const struct option_use *use)
{
	return report_options_apply(use, use->settings, report_request_set_percentage);
}

static const char *report_options_set_children(const struct option_use *use)
{
	struct report_request *request = use->settings;
	request->rows.no_children = use->is_negated;
	return NULL;
}

static const char *report_options_set_group_sort(const struct option_use *use)
{
	return report_request_set_group_sort(use->settings, use->value) ? NULL : "expects a numerical value";
}

static const struct option report_rows[] = {
	{"show-nr-samples", 'n', OPTION_FLAG, ROW(look.shows_samples),
		.help = "Show a column with the number of samples"},
	{"show-total-period", 0, OPTION_FLAG, ROW(look.shows_period), .help = "Show a column with the sum of periods"},
	{"column-widths", 'w', OPTION_CALL, "width[,width...]", .call = report_options_set_widths,
		.is_self_explaining = true, .help = "don't try to adjust column width, use these fixed values"},
	{"percent-limit", 0, OPTION_CALL, "percent", .call = report_options_set_percent_limit,
		.is_self_explaining = true, .help = "Don't show entries under that percent"},
	{"percentage", 0, OPTION_CALL, "relative|absolute", .call = report_options_set_percentage,
		.is_self_explaining = true, .help = "how to display percentage of filtered entries"},
	{"children", 0, OPTION_CALL, .call = report_options_set_children,
		.help = "Accumulate callchains of children and show total overhead as well. Enabled by default, use "
			"--no-children to disable"},
	{"hierarchy", 'H', OPTION_FLAG, ROW(rows.is_hierarchy),
		.help = "Show entries in a hierarchy: one level for each sort key; {key,key} is one level"},
	{"group-sort-idx", 0, OPTION_CALL, "n", .call = report_options_set_group_sort,
		.help = "Sort the output by the event at the index n in group"},
	{"ignore-callees", 0, OPTION_STRING, "regex", ROW(samples.filters.ignored_callees),
		.help = "ignore callees of these functions in call graphs"},
	{"raw-trace", 0, OPTION_FLAG, ROW(rows.raw_traces), .help = "Show raw trace event output"},
	{"switch-on", 0, OPTION_STRING, "event", ROW(selection.switch_on),
		.help = "Consider events after the occurrence of this event"},
	{"switch-off", 0, OPTION_STRING, "event", ROW(selection.switch_off),
		.help = "Stop considering events after the occurrence of this event"},
	{"show-on-off-events", 0, OPTION_FLAG, ROW(selection.shows_switches),
		.help = "Show the on/off switch events, used with --switch-on and --switch-off"},
};
#undef ROW
const struct option_table report_option_table = {report_rows, ARRAY_LEN(report_rows), false};
