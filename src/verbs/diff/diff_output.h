/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_output.h - prints the comparison of one event in the forms other than perf's text. It makes no decisions.
 *
 * JSON: docs/diff-json.md. The caller opens and closes the document around the events.
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
	const struct diff_changes *changes; /* NULL: one recording a side */
	struct diff_test test; /* how it was compared; only with changes */
	const struct diff_paths *paths; /* NULL: not asked for */
	struct paths_text_options path_options;
	const struct diff_text_blocks *blocks; /* of -c cycles; NULL none */
};

void diff_json_begin(struct json *j, const struct diff_request *request, const struct diff_recordings *recordings);
void diff_json_event(struct json *j, const struct diff_output *output);
struct diff_json_gate {
	size_t failures; /* rows that --fail-if names; only with a gate */
	bool is_undecided;
};
void diff_json_end(struct json *j, const struct diff_request *request, const struct name_match *match,
	const struct diff_json_gate *gate);
/* A table in the Markdown of code hosts. */
void diff_markdown_event(struct text *out, const struct diff_output *output);
/* Comment lines that say what was compared, and the total. */
void diff_comparison_lines(struct text *out, const struct diff_output *output);

#endif
