/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_gate.h - decides whether B is worse than A: the gate of stat --compare, with --fail-if or --threshold.
 *
 * --fail-if is a list of clauses separated by commas: regression>2%, improvement>2% and change>2% are of all gated rows,
 * NAME>2% of one (an event, elapsed, user or system), NAME>+300 of the difference B - A, and NAME>5000 of B alone.
 * Limits may have units: s, ms, us, ns of times, and K, M, G of counts. Each clause may end in "with p<0.01".
 *
 * A clause of a row is true, false, or undecided because runs vary (kernel/counting/run_gate.h). The level is divided by
 * the number of clauses and rows, so that it holds for the whole gate. The gate is worse if one of them is true, else
 * undecided if one is. Texts borrow from the option. Pure.
 *
 *	stat_gate_parse("instructions>0.5%, elapsed>2s", &gate, err);
 *	stat_gate_judge(&gate, rows, row_count, &verdict, err);   // fills each row's judgement
 */
#ifndef VERBS_STAT_STAT_GATE_H
#define VERBS_STAT_STAT_GATE_H

#include "base/bytes.h"
#include "base/json.h"
#include "cli/cli.h"
#include "kernel/counting/run_gate.h"
#include "tasks/counts/stat_rows.h"
#include "verbs/stat/stat_settings.h"

#define STAT_GATE_CLAUSES 16

enum stat_gate_what { STAT_GATE_REGRESSION, STAT_GATE_IMPROVEMENT, STAT_GATE_CHANGE, STAT_GATE_NAMED };
enum stat_gate_unit { STAT_GATE_PLAIN, STAT_GATE_COUNT, STAT_GATE_TIME }; /* of a limit; times are in milliseconds */

struct stat_gate_clause {
	enum stat_gate_what what;
	struct tally_str name; /* of STAT_GATE_NAMED */
	struct tally_str text; /* the clause as it was written */
	struct run_gate_limit limit;
	enum stat_gate_unit unit;
	double p;
};

struct stat_gate {
	struct stat_gate_clause clauses[STAT_GATE_CLAUSES];
	size_t count; /* 0: there is no gate */
};

struct stat_gate_row {
	const char *benchmark; /* NULL: there is one without a name */
	const char *name; /* of the event or time */
	const char *unit;
	bool is_gated; /* clauses without a name are of it, too */
	struct run_gate_side a, b;
	/* out */
	bool is_judged; /* a clause is of it */
	enum run_verdict verdict;
	const struct stat_gate_clause *clause; /* that the verdict comes from */
	struct run_gate_result result; /* of that clause */
};

/* INVALID: what cannot be understood. */
TALLY_MUST_CHECK enum tally_status stat_gate_parse(const char *text, struct stat_gate *gate, struct tally_error *err);
/* Whether --fail-if and --markdown can be used as they are: 0, or the exit code of wrong usage. */
int stat_gate_options(const struct cli *cli, const struct command *command, const struct stat_settings *s);
/* The gate of --threshold: regression>PERCENT%. */
struct stat_gate stat_gate_of_threshold(double percent);
/* Whether a clause is of a row of this name, which is gated or not. */
bool stat_gate_is_of(const struct stat_gate_clause *clause, const char *name, bool is_gated);
/* INVALID: a clause names what no row is, or has a time for a count. */
TALLY_MUST_CHECK enum tally_status stat_gate_check(
	const struct stat_gate *gate, const struct stat_gate_row *rows, size_t count, struct tally_error *err);
/* Fills the judgements and the verdict of all. INVALID: there is nothing to judge, or a side was not measured. */
TALLY_MUST_CHECK enum tally_status stat_gate_judge(const struct stat_gate *gate, struct stat_gate_row *rows,
	size_t count, enum run_verdict *verdict, struct tally_error *err);
/* "worse", "not worse", "undecided" */
const char *stat_gate_word(enum run_verdict verdict);
/* What was found of each row that is worse or undecided, and the verdict: lines. */
void stat_gate_print(struct text *t, const struct stat_gate_row *rows, size_t count, enum run_verdict verdict);
/* A table for a comment on a change, in Markdown. */
void stat_gate_markdown(struct text *t, const struct stat_gate_row *rows, size_t count, enum run_verdict verdict,
	const struct stat_style *style);
/* The members of a row that say how it was judged. */
void stat_gate_json(struct json *json, const struct stat_gate_row *row);
/* EXIT_CHANGED, EXIT_UNDECIDED or 0 */
int stat_gate_exit_code(enum run_verdict verdict);

#endif
