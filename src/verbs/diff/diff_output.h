/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_output.h - prints the comparison of one event as JSON (docs/diff-json.md) or Markdown; view/text/diff_text.h
 * prints perf's text.
 *
 * The caller begins and ends the JSON document around the events.
 */
#ifndef VERBS_DIFF_DIFF_OUTPUT_H
#define VERBS_DIFF_DIFF_OUTPUT_H

#include "base/json.h"
#include "verbs/diff/diff_recordings.h"
#include "view/text/diff_text.h"
#include "view/text/paths_text.h"

struct diff_output {
	const struct diff_request *request;
	const struct diff_recordings *recordings;
	struct tally_str event;
	const struct diff_table *diff;
	const struct diff_changes *changes; /* NULL if each side has one recording. */
	struct diff_test test; /* The statistical test; valid if changes is set. */
	const struct diff_paths *paths; /* NULL if -g was not given. */
	struct paths_text_options path_options;
	const struct diff_text_blocks *blocks; /* Blocks of -c cycles, or NULL. */
};

void diff_json_begin(struct json *j, const struct diff_request *request, const struct diff_recordings *recordings);
void diff_json_event(struct json *j, const struct diff_output *output);
struct diff_json_gate {
	size_t failures; /* Number of rows that fail; valid only with --fail-if. */
	bool is_undecided; /* There are too few recordings or samples to detect a failure. */
};
void diff_json_end(struct json *j, const struct diff_request *request, const struct name_match *match,
	const struct diff_json_gate *gate);
/* Appends a table in GitHub's Markdown dialect. */
void diff_markdown_event(struct text *out, const struct diff_output *output);
/* Appends comment lines that describe the comparison and the total change. */
void diff_comparison_lines(struct text *out, const struct diff_output *output);

#endif
