/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_gate.h - parses --fail-if, which selects the changes that fail a build, such as "regression>2% with p<0.01".
 *
 * The text is a comma-separated list of clauses; the build fails if one of them is true. A clause is WHAT>PERCENT%
 * [with p<P], where WHAT is regression, improvement or change (of any row), or total (regression of all samples). The
 * functions have no side effects.
 *
 *	struct diff_gate gate;
 *	diff_gate_parse("regression>2%, total>1% with p<0.05", 0.01, &gate, err);
 *	if (diff_gate_row_fails(&gate, &change)) ...
 */
#ifndef VERBS_DIFF_DIFF_GATE_H
#define VERBS_DIFF_DIFF_GATE_H

#include <tally/status.h>

#include "profile/diff/diff_changes.h"

#define DIFF_GATE_CLAUSES 8

enum diff_gate_kind { DIFF_GATE_REGRESSION, DIFF_GATE_IMPROVEMENT, DIFF_GATE_CHANGE, DIFF_GATE_TOTAL };

struct diff_gate_clause {
	enum diff_gate_kind kind;
	double change; /* The relative change must be greater; 0.02 is 2 %. */
	double p; /* The adjusted p value must be less. */
};

struct diff_gate {
	struct diff_gate_clause clauses[DIFF_GATE_CLAUSES];
	size_t count;
};

struct tally_error;

/* level is the limit of the p value for clauses without "with p<P". */
TALLY_MUST_CHECK enum tally_status diff_gate_parse(
	const char *text, double level, struct diff_gate *gate, struct tally_error *err);
/* Returns the largest p of all clauses, or 0 if there is no clause. */
double diff_gate_loosest_p(const struct diff_gate *gate);
/* Returns whether a clause is true for the row: the change exceeds both the limit of the clause and the noise, and the
 * adjusted p value is below that of the clause. */
bool diff_gate_row_fails(const struct diff_gate *gate, const struct diff_change *change);
/* Returns whether a clause with "total" is true for the change of all samples. */
bool diff_gate_total_fails(const struct diff_gate *gate, const struct diff_change *total);

#endif
