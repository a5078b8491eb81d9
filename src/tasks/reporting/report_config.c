/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/config_files.h"
#include "tasks/listing/annotate_objdump.h"

struct config_reading {
	struct report_request *request;
	char **sort; /* NULL for top, to which the settings of report do not apply. */
	struct diag *notes;
	double percent_limit;
	bool has_percent_limit;
};

static void set_bool(
	struct config_reading *reading, const char *name, struct tally_str value, bool is_inverted, bool *target)
{
	bool is_on = *target != is_inverted;
	config_files_bool(name, value, reading->notes, &is_on);
	*target = is_on != is_inverted;
}

static bool set_report(struct config_reading *reading, const char *name, struct tally_str value)
{
	struct report_request *r = reading->request;
	if (!strcmp(name, "report.children")) {
		set_bool(reading, name, value, true, &r->rows.no_children);
	} else if (!strcmp(name, "report.group")) {
		set_bool(reading, name, value, true, &r->groups.are_split);
	} else if (!strcmp(name, "report.skip-empty")) {
		set_bool(reading, name, value, true, &r->look.keeps_empty);
	} else if (!strcmp(name, "report.sort_order")) {
		free(*reading->sort);
		*reading->sort = strndup(value.data, value.len);
		r->rows.default_sort = *reading->sort;
		return *reading->sort != NULL;
	} else if (!strcmp(name, "report.percent-limit")) {
		char number[32];
		snprintf(number, sizeof(number), "%.*s", (int)(MIN(value.len, 31)), value.data);
		reading->percent_limit = strtod(number, NULL);
		reading->has_percent_limit = true;
	}
	return true;
}

static bool set_chain(struct report_request *r, const char *name, struct tally_str value)
{
	static const struct {
		const char *name;
		enum chain_setting setting;
	} settings[] = {{"call-graph.print-type", CHAIN_SETTING_STYLE}, {"call-graph.order", CHAIN_SETTING_ORDER},
		{"call-graph.sort-key", CHAIN_SETTING_KEY}, {"call-graph.threshold", CHAIN_SETTING_THRESHOLD},
		{"call-graph.print-limit", CHAIN_SETTING_LIMIT}};
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		if (!strcmp(name, settings[i].name))
			return report_request_set_chain(r, settings[i].setting, value);
	}
	return true;
}

static void set_annotate(struct config_reading *reading, const struct config_text *config)
{
	struct code_options *annotation = &reading->request->code;
	const char *style = annotate_config_style(config);
	if (style)
		annotation->style = style;
	if (!strcmp(config->name, "annotate.hide_src_code"))
		set_bool(reading, config->name, config_text_value(config), false, &annotation->hides_source);
}

static enum tally_status report_config_apply(void *data, const struct config_text *config, struct tally_error *err)
{
	struct config_reading *reading = data;
	struct tally_str value = config_text_value(config);
	bool is_good = true;
	if (!strncmp(config->name, "report.", 7)) {
		if (reading->sort && !set_report(reading, config->name, value))
			return error_nomem(err);
	} else if (!reading->sort && !strcmp(config->name, "top.children")) {
		set_bool(reading, config->name, value, true, &reading->request->rows.no_children);
	} else if (!strncmp(config->name, "call-graph.", 11)) {
		is_good = set_chain(reading->request, config->name, value);
	} else if (!strncmp(config->name, "annotate.", 9)) {
		set_annotate(reading, config);
	} else if (!strcmp(config->name, "hist.percentage")) {
		reading->request->look.is_relative = str_equal(value, STR("relative"));
		is_good = reading->request->look.is_relative || str_equal(value, STR("absolute"));
	}
	if (is_good)
		return TALLY_OK;
	return error_set(err, TALLY_INVALID, "Error in the given config file: wrong config key-value pair %s=%.*s",
		config->name, (int)(MIN(value.len, 80)), value.data);
}

enum tally_status report_config_read(
	struct report_request *request, char **sort, struct diag *notes, struct tally_error *err)
{
	struct config_reading reading = {.request = request, .sort = sort, .notes = notes};
	enum tally_status status = config_files_read(report_config_apply, &reading, notes, err);
	/* As in perf, the limit of rows also applies to call chains, even if these have a setting of their own. */
	if (status == TALLY_OK && reading.has_percent_limit)
		request->look.percent_limit = request->chains.look.min_percent = reading.percent_limit;
	return status;
}

enum tally_status report_config_read_top(struct report_request *request, struct diag *notes, struct tally_error *err)
{
	struct config_reading reading = {.request = request, .notes = notes};
	return config_files_read(report_config_apply, &reading, notes, err);
}
