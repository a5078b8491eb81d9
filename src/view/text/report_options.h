/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_options.h - defines the appearance of a text report: its columns, their widths, and what is left out. It
 * borrows what it points to.
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
	const unsigned *widths; /* Widths of the leading columns, in order; 0 for a fitted width. */
	size_t width_count;
	bool has_object_filter; /* A list of objects was given, so their column has no space for addresses. */
	size_t terminal_columns; /* Width to which rows are cut; 0 for no limit. */
	const char *separator; /* NULL if columns are aligned with blanks. */
	double percent_limit;
	bool is_relative; /* Percentages are relative to the samples that pass the filter. */
	bool is_quiet; /* Without titles. */
	bool with_children;
	bool with_colours;
	/* Bit mask of enum profile_key: columns that are left out because a filter makes them constant. */
	uint64_t hidden_columns;
	bool is_verbose; /* Display paths of objects, and before symbols their address and origin. */
	bool times_in_ns; /* Times are in nanoseconds instead of microseconds. */
	struct chain_options chains;
	const uint8_t *levels; /* Level in the hierarchy of each column that is a key. */
};

#endif
