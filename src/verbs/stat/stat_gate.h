/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_gate.h - decides whether B is worse than A: the gate of stat --compare, with --fail-if or --threshold.
 *
 * --fail-if is a list of clauses separated by commas: regression>2%, improvement>2% and change>2% apply to all gated
 * rows, NAME>2% to one row (an event, elapsed, user or system), NAME>+300 to its difference B - A, and NAME>5000 to the
 * value of B. Limits may have units: s, ms, us, ns for times, and K, M, G for counts. Each clause may end in "with
 * p<0.01".
 *
 * A clause is true, false or undecided for a row, because runs vary (kernel/counting/run_gate.h). The significance
 * level is divided by the number of clauses and rows, so that it holds for the whole gate. The verdict is "worse" if
 * any clause is true, otherwise "undecided" if any is undecided. Strings are borrowed from the option. The functions
 * have no side effects.
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
enum stat_gate_unit { STAT_GATE_PLAIN, STAT_GATE_COUNT, STAT_GATE_TIME }; /* Unit of a limit; times are in ms. */

struct stat_gate_clause {
	enum stat_gate_what what;
	struct tally_str name; /* Valid for STAT_GATE_NAMED. */
	struct tally_str text; /* The clause as written by the user. */
	struct run_gate_limit limit;
	enum stat_gate_unit unit;
	double p;
};

struct stat_gate {
	struct stat_gate_clause clauses[STAT_GATE_CLAUSES];
	size_t count; /* 0 if there is no gate. */
};

struct stat_gate_row { /* A count or time of both sides, and its judgement. */
	const char *benchmark; /* Name of the benchmark; NULL if it has none. */
	const char *name; /* Name of the event or time. */
	const char *unit;
	bool is_gated; /* Clauses without a name (regression, improvement and change) apply to the row. */
	struct run_gate_side a, b;
	/* The following members are set by stat_gate_judge. */
	bool is_judged; /* A clause applies to the row. */
	enum run_verdict verdict;
	const struct stat_gate_clause *clause; /* The clause that determined the verdict. */
	struct run_gate_result result; /* The result of that clause. */
};

/* Returns INVALID if text cannot be parsed. */
TALLY_MUST_CHECK enum tally_status stat_gate_parse(const char *text, struct stat_gate *gate, struct tally_error *err);
/* Checks the use of --fail-if and --markdown. Returns 0, or the exit code after a message. */
int stat_gate_options(const struct cli *cli, const struct command *command, const struct stat_settings *s);
/* Returns the gate of --threshold, which is regression>PERCENT%. */
struct stat_gate stat_gate_of_threshold(double percent);
/* Returns whether a clause applies to a row of this name. */
bool stat_gate_is_of(const struct stat_gate_clause *clause, const char *name, bool is_gated);
/* Returns INVALID if a clause names no row, or its unit does not suit the row. */
TALLY_MUST_CHECK enum tally_status stat_gate_check(
	const struct stat_gate *gate, const struct stat_gate_row *rows, size_t count, struct tally_error *err);
/* Judges each row and sets the overall verdict. Returns INVALID if no row is judged, or a side was not measured. */
TALLY_MUST_CHECK enum tally_status stat_gate_judge(const struct stat_gate *gate, struct stat_gate_row *rows,
	size_t count, enum run_verdict *verdict, struct tally_error *err);
/* Returns "worse", "not worse" or "undecided". */
const char *stat_gate_word(enum run_verdict verdict);
/* Prints a line for each row that is worse or undecided, and the verdict. */
void stat_gate_print(struct text *t, const struct stat_gate_row *rows, size_t count, enum run_verdict verdict);
/* Prints a Markdown table for a code review comment. */
void stat_gate_markdown(struct text *t, const struct stat_gate_row *rows, size_t count, enum run_verdict verdict,
	const struct stat_style *style);
/* Appends members that describe the judgement of a row to the open object of json. */
void stat_gate_json(struct json *json, const struct stat_gate_row *row);
/* Returns EXIT_CHANGED, EXIT_UNDECIDED or 0. */
int stat_gate_exit_code(enum run_verdict verdict);

#endif
