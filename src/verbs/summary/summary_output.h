/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_output.h - prints the facts of a summary as one screen of text, or as JSON (docs/schema/summary.json), in at most
 * as many characters as asked.
 *
 * What matters least is left out first: the ends of lists, then parts of long names (in text only).
 *
 *	status = summary_output(&facts, &(struct summary_form){.budget = 2000}, &out, err);
 */
#ifndef VERBS_SUMMARY_SUMMARY_OUTPUT_H
#define VERBS_SUMMARY_SUMMARY_OUTPUT_H

#include "verbs/summary/summary_facts.h"

struct summary_form {
	bool is_json;
	uint64_t budget; /* characters (code points), 0: no bound but that of a screen */
};

struct summary_limits { /* how much of each list is printed */
	size_t functions, nodes, changes, notes, states, commands;
	bool has_origin; /* who made it, where */
	bool has_trust; /* of text: how exact it is */
	unsigned name_width; /* of text, in characters */
};

/* LIMIT: not even the shortest form fits; the error says how many characters it needs. */
TALLY_MUST_CHECK enum tally_status summary_output(
	const struct summary_facts *facts, const struct summary_form *form, struct text *out, struct tally_error *err);
void summary_text(const struct summary_facts *facts, const struct summary_limits *limits, struct text *out);
void summary_json(const struct summary_facts *facts, const struct summary_limits *limits, struct text *out);

#endif
