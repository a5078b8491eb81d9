/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_options.h - defines how a text report looks: its columns, their widths, and what is left out. A value; borrows
 * what it points to.
 *
 *	struct report_text_options options = {.columns = columns, .column_count = 3};
 */
#ifndef VIEW_TEXT_REPORT_OPTIONS_H
#define VIEW_TEXT_REPORT_OPTIONS_H

#include "view/text/chain_text.h"

#define REPORT_MAX_COLUMNS 32

struct report_text_options {
	const enum profile_key *columns;
	size_t column_count;
	const unsigned *widths; /* of the leading columns, in order; 0: fitted */
	size_t width_count;
	bool has_object_filter; /* a list of objects was given: their column has no room for addresses */
	size_t terminal_columns; /* rows are cut to fit; 0: as wide as they need */
	const char *separator; /* NULL: columns are aligned with blanks */
	double percent_limit;
	bool is_relative; /* percentages of what the filter lets through */
	bool is_quiet; /* no titles */
	bool with_children;
	bool with_colours;
	uint64_t hidden_columns; /* bit by enum profile_key: left out because a filter makes it constant */
	bool is_verbose; /* objects by their paths, symbols behind an address and where they came from */
	bool times_in_ns; /* else in microseconds */
	struct chain_options chains;
	const uint8_t *levels; /* of each column that is a key: its level in the hierarchy */
};

#endif
