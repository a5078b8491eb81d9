/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_output.h - prints the facts of a summary as one screen of text, or as JSON (docs/schema/summary.json), with a
 * limited number of characters.
 *
 * The least important parts are omitted first: the ends of lists, then parts of long names (in text only).
 *
 *	status = summary_output(&facts, &(struct summary_form){.budget = 2000}, &out, err);
 */
#ifndef VERBS_SUMMARY_SUMMARY_OUTPUT_H
#define VERBS_SUMMARY_SUMMARY_OUTPUT_H

#include "verbs/summary/summary_facts.h"

struct summary_form {
	bool is_json;
	uint64_t budget; /* Maximum number of characters (code points); 0 for about one screen. */
};

struct summary_limits { /* How much is printed of each list. */
	size_t functions, nodes, changes, notes, states, commands;
	bool has_origin; /* Prints the command, the host and the machine. */
	bool has_trust; /* In text, prints how exact the shares are. */
	unsigned name_width; /* Maximum width of names in text, in characters. */
};

/* Returns LIMIT if even the shortest form does not fit; the error has the number of characters that it needs. */
TALLY_MUST_CHECK enum tally_status summary_output(
	const struct summary_facts *facts, const struct summary_form *form, struct text *out, struct tally_error *err);
void summary_text(const struct summary_facts *facts, const struct summary_limits *limits, struct text *out);
void summary_json(const struct summary_facts *facts, const struct summary_limits *limits, struct text *out);

#endif
