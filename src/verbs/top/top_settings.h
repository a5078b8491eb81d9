/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_settings.h - holds the settings from the command line of top. A value, filled by the option table of cmd_top.c;
 * texts are borrowed from the command line.
 */
#ifndef VERBS_TOP_TOP_SETTINGS_H
#define VERBS_TOP_TOP_SETTINGS_H

#include "tasks/recording/record_options.h"
#include "tasks/reporting/report_request.h"

struct top_settings {
	struct record_settings record;
	struct record_rate rate; /* as -c, -F and the kernel's bound allow */
	struct report_request report;
	uint64_t delay_s;
	uint64_t entries; /* rows that are printed; 0: as many as the screen has room for */
	uint64_t count_filter; /* rows with fewer samples are left out */
	uint64_t max_stack;
	const char *sym_annotate; /* the function whose code is shown */
	bool zeroes, hides_kernel, hides_user, stdio, tui, is_json;
};

#endif
