/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_settings.h - holds the settings from the command line of top. The option table of cmd_top.c fills them in;
 * strings are borrowed from the command line.
 */
#ifndef VERBS_TOP_TOP_SETTINGS_H
#define VERBS_TOP_TOP_SETTINGS_H

#include "tasks/recording/record_options.h"
#include "tasks/reporting/report_request.h"

struct top_settings {
	struct record_settings record;
	struct record_rate rate; /* The frequency or period after -c, -F and the kernel's limit were applied. */
	struct report_request report;
	uint64_t delay_s;
	uint64_t entries; /* Number of rows to print; 0 for as many as fit on the screen. */
	uint64_t count_filter; /* Rows with fewer samples are omitted. */
	uint64_t max_stack;
	const char *sym_annotate; /* The function to annotate; NULL if not given. */
	bool zeroes, hides_kernel, hides_user, stdio, tui, is_json;
};

#endif
