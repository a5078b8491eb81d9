/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "tasks/counts/stat_number.h"

#define STAT_GATE_PERCENT 100.0
#define STAT_GATE_DIGITS  40 /* Buffer size for a number as text. */
#define STAT_GATE_P_LEAST 0.0001 /* Smallest p value that is printed; smaller ones are printed as "p < 0.0001". */

/* ---- clauses ---- */

static void stat_gate_skip(struct tally_str *rest)
{
	while (rest->len && strchr(" \t", rest->data[0]))
		*rest = (struct tally_str){rest->data + 1, rest->len - 1};
}

static bool stat_gate_take(struct tally_str *rest, const char *word)
{
	struct tally_str wanted = str_from(word);
	stat_gate_skip(rest);
	if (!str_starts_with(*rest, wanted))
		return false;
	*rest = (struct tally_str){rest->data + wanted.len, rest->len - wanted.len};
	return true;
}

static bool stat_gate_take_number(struct tally_str *rest, double *number)
{
	char digits[STAT_GATE_DIGITS], *end;
	size_t len = 0;
	stat_gate_skip(rest);
	for (; len < rest->len && len + 1 < sizeof(digits) && memchr("0123456789.eE-", rest->data[len], 14); len++)
		digits[len] = rest->data[len];
	digits[len] = '\0';
	*number = strtod(digits, &end);
	if (end == digits || !isfinite(*number) || *number < 0)
		return false;
	*rest = (struct tally_str){rest->data + (end - digits), rest->len - (size_t)(end - digits)};
	return true;
}

static enum stat_gate_unit stat_gate_take_unit(struct tally_str *rest, double *scale)
{
	static const struct {
		const char *name;
		enum stat_gate_unit unit;
		double scale;
	} units[] = {{"ms", STAT_GATE_TIME, 1}, {"us", STAT_GATE_TIME, 1e-3}, {"ns", STAT_GATE_TIME, 1e-6},
		{"s", STAT_GATE_TIME, 1e3}, {"K", STAT_GATE_COUNT, 1e3}, {"M", STAT_GATE_COUNT, 1e6},
		{"G", STAT_GATE_COUNT, 1e9}};
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (!stat_gate_take(rest, units[i].name))
			continue;
		*scale = units[i].scale;
		return units[i].unit;
	}
	*scale = 1;
	return STAT_GATE_PLAIN;
}

/* Parses "WHAT>". It searches for '>' first, because names of events may contain commas. */
static bool stat_gate_take_what(struct tally_str *rest, struct stat_gate_clause *clause)
{
	static const struct {
		const char *name;
		enum stat_gate_what what;
	} kinds[] = {{"regression", STAT_GATE_REGRESSION}, {"improvement", STAT_GATE_IMPROVEMENT},
		{"change", STAT_GATE_CHANGE}};
	stat_gate_skip(rest);
	const char *sign = rest->len ? memchr(rest->data, '>', rest->len) : NULL;
	if (!sign)
		return false;
	clause->name = str_trim((struct tally_str){rest->data, (size_t)(sign - rest->data)});
	clause->what = STAT_GATE_NAMED;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_equal(clause->name, str_from(kinds[i].name)))
			clause->what = kinds[i].what;
	*rest = (struct tally_str){sign + 1, rest->len - (size_t)(sign + 1 - rest->data)};
	return clause->name.len > 0;
}

static bool stat_gate_take_clause(struct tally_str *rest, struct stat_gate_clause *clause)
{
	const char *begin;
	double number, scale = 1;
	stat_gate_skip(rest);
	begin = rest->data;
	*clause = (struct stat_gate_clause){.p = RUN_GATE_LEVEL};
	if (!stat_gate_take_what(rest, clause))
		return false;
	bool is_difference = stat_gate_take(rest, "+");
	if (!stat_gate_take_number(rest, &number))
		return false;
	if (stat_gate_take(rest, "%")) {
		clause->limit.part = number / STAT_GATE_PERCENT;
	} else {
		clause->unit = stat_gate_take_unit(rest, &scale);
		clause->limit.difference = number * scale;
		clause->limit.is_fixed = !is_difference;
	}
	/* A clause about all rows needs a relative limit, because their units differ. */
	if (clause->what != STAT_GATE_NAMED && (clause->limit.is_fixed || clause->limit.difference > 0))
		return false;
	if (clause->what == STAT_GATE_IMPROVEMENT && clause->limit.part >= 1)
		return false;
	if (stat_gate_take(rest, "with") &&
		(!stat_gate_take(rest, "p") || !stat_gate_take(rest, "<") || !stat_gate_take_number(rest, &clause->p)))
		return false;
	clause->text = str_trim((struct tally_str){begin, (size_t)(rest->data - begin)});
	stat_gate_skip(rest);
	return clause->p > 0 && clause->p < 0.5 && (rest->len == 0 || stat_gate_take(rest, ","));
}

enum tally_status stat_gate_parse(const char *text, struct stat_gate *gate, struct tally_error *err)
{
	struct stat_gate made = {0};
	struct tally_str rest = str_from(text);
	do {
		struct tally_str part = rest;
		if (made.count == STAT_GATE_CLAUSES)
			return error_set(err, TALLY_LIMIT, "--fail-if takes %d clauses at most", STAT_GATE_CLAUSES);
		if (!stat_gate_take_clause(&rest, &made.clauses[made.count++]))
			return error_set(err, TALLY_INVALID,
				"--fail-if takes clauses such as 'regression>2%%', 'instructions>0.5%% with p<0.001', "
				"'page-faults>+100' or 'elapsed>1.5s', not '%.*s'",
				(int)part.len, part.data);
	} while (rest.len > 0);
	*gate = made;
	return TALLY_OK;
}

int stat_gate_options(const struct cli *cli, const struct command *command, const struct stat_settings *s)
{
	struct stat_gate gate;
	struct tally_error err;
	if (s->counting.fail_if && !s->counting.compare)
		return cli_usagef(cli, command, "fail-if,compare", "--fail-if needs --compare");
	if (s->view.is_markdown && !s->counting.compare)
		return cli_usagef(cli, command, "markdown,compare", "--markdown needs --compare");
	if (s->view.is_markdown && s->view.is_json)
		return cli_usagef(cli, command, "markdown,json-output", "--markdown and -j cannot be used together");
	if (s->counting.fail_if && stat_gate_parse(s->counting.fail_if, &gate, &err) != TALLY_OK)
		return cli_usagef(cli, command, "fail-if", "%s", err.text);
	return 0;
}

struct stat_gate stat_gate_of_threshold(double percent)
{
	return (struct stat_gate){.clauses = {{.what = STAT_GATE_REGRESSION,
					  .text = STR("--threshold"),
					  .limit.part = percent / STAT_GATE_PERCENT,
					  .p = RUN_GATE_LEVEL}},
		.count = 1};
}

static struct tally_str stat_gate_plain(struct tally_str name)
{
	if (str_ends_with(name, STR(":u")))
		name.len -= 2;
	return name;
}

bool stat_gate_is_of(const struct stat_gate_clause *clause, const char *name, bool is_gated)
{
	static const struct {
		const char *alias, *name;
	} aliases[] = {{"time", "elapsed"}, {"sys", "system"}};
	struct tally_str wanted = clause->name;
	if (clause->what != STAT_GATE_NAMED)
		return is_gated;
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (str_equal(wanted, str_from(aliases[i].alias)))
			wanted = str_from(aliases[i].name);
	return str_equal(wanted, str_from(name)) || str_equal(stat_gate_plain(wanted), stat_gate_plain(str_from(name)));
}

enum tally_status stat_gate_check(
	const struct stat_gate *gate, const struct stat_gate_row *rows, size_t count, struct tally_error *err)
{
	for (size_t i = 0; i < gate->count; i++) {
		const struct stat_gate_clause *clause = &gate->clauses[i];
		bool is_any = false;
		for (size_t k = 0; k < count; k++) {
			if (!stat_gate_is_of(clause, rows[k].name, rows[k].is_gated))
				continue;
			is_any = true;
			bool is_time = strcmp(rows[k].unit, "msec") == 0;
			if (clause->unit != STAT_GATE_PLAIN && is_time != (clause->unit == STAT_GATE_TIME))
				return error_set(err, TALLY_INVALID, "--fail-if '%.*s': %s is counted in %s",
					(int)clause->text.len, clause->text.data, rows[k].name,
					is_time ? "milliseconds" : "events");
		}
		if (!is_any)
			return error_set(err, TALLY_INVALID,
				"--fail-if '%.*s': nothing of that name is compared; -e names events",
				(int)clause->text.len, clause->text.data);
	}
	return TALLY_OK;
}

/* ---- judging ---- */

static const char *stat_gate_name_of(const struct stat_gate_row *row)
{
	return row->benchmark ? row->benchmark : "";
}

/* B is below A by more than the fraction p exactly if A exceeds B by more than the fraction 1 / (1 - p) - 1. */
static enum tally_status stat_gate_decide_improvement(const struct stat_gate_row *row,
	const struct stat_gate_clause *clause, double level, struct run_gate_result *result, struct tally_error *err)
{
	const struct run_gate_limit limit = {.part = 1 / (1 - clause->limit.part) - 1};
	return run_gate_decide(&row->b, &row->a, &limit, level, result, err);
}

static enum tally_status stat_gate_decide(const struct stat_gate_row *row, const struct stat_gate_clause *clause,
	double level, struct run_gate_result *result, struct tally_error *err)
{
	if (clause->what == STAT_GATE_IMPROVEMENT)
		return stat_gate_decide_improvement(row, clause, level, result, err);
	enum tally_status status = run_gate_decide(&row->a, &row->b, &clause->limit, level, result, err);
	if (status != TALLY_OK || clause->what != STAT_GATE_CHANGE || result->verdict == RUN_EXCEEDS)
		return status;
	struct run_gate_result down;
	status = clause->limit.part < 1 ? stat_gate_decide_improvement(row, clause, level, &down, err) : status;
	if (status == TALLY_OK && clause->limit.part < 1 && down.verdict != RUN_DOES_NOT_EXCEED)
		*result = down;
	return status;
}

/* Orders verdicts by precedence: worse, then undecided, then not worse. */
static int stat_gate_rank(enum run_verdict verdict)
{
	return verdict == RUN_EXCEEDS ? 2 : verdict == RUN_OPEN ? 1 : 0;
}

static enum tally_status stat_gate_judge_row(
	struct stat_gate_row *row, const struct stat_gate_clause *clause, size_t tests, struct tally_error *err)
{
	struct run_gate_result result;
	const bool lacks_a = row->a.len == 0 && !clause->limit.is_fixed;
	if (lacks_a || row->b.len == 0)
		return error_set(err, TALLY_INVALID, "no verdict: %c has no count of %s%s%s", lacks_a ? 'A' : 'B',
			row->name, row->benchmark ? " of " : "", stat_gate_name_of(row));
	enum tally_status status = stat_gate_decide(row, clause, clause->p / (double)tests, &result, err);
	if (status != TALLY_OK)
		return status;
	if (!row->is_judged || stat_gate_rank(result.verdict) > stat_gate_rank(row->verdict)) {
		row->verdict = result.verdict;
		row->clause = clause;
		row->result = result;
	}
	row->is_judged = true;
	return TALLY_OK;
}

enum tally_status stat_gate_judge(const struct stat_gate *gate, struct stat_gate_row *rows, size_t count,
	enum run_verdict *verdict, struct tally_error *err)
{
	enum tally_status status = stat_gate_check(gate, rows, count, err);
	enum run_verdict all = RUN_DOES_NOT_EXCEED;
	size_t tests = 0;
	for (size_t k = 0; k < count; k++)
		rows[k].is_judged = false;
	for (size_t i = 0; i < gate->count; i++)
		for (size_t k = 0; k < count; k++)
			tests += stat_gate_is_of(&gate->clauses[i], rows[k].name, rows[k].is_gated);
	for (size_t i = 0; status == TALLY_OK && i < gate->count; i++)
		for (size_t k = 0; status == TALLY_OK && k < count; k++)
			if (stat_gate_is_of(&gate->clauses[i], rows[k].name, rows[k].is_gated))
				status = stat_gate_judge_row(&rows[k], &gate->clauses[i], tests, err);
	for (size_t k = 0; status == TALLY_OK && k < count; k++)
		if (rows[k].is_judged && stat_gate_rank(rows[k].verdict) > stat_gate_rank(all))
			all = rows[k].verdict;
	if (status == TALLY_OK)
		*verdict = all;
	return status;
}

int stat_gate_exit_code(enum run_verdict verdict)
{
	return verdict == RUN_EXCEEDS ? EXIT_CHANGED : verdict == RUN_OPEN ? EXIT_UNDECIDED : 0;
}

/* ---- output ---- */

const char *stat_gate_word(enum run_verdict verdict)
{
	return verdict == RUN_EXCEEDS ? "worse" : verdict == RUN_OPEN ? "undecided" : "not worse";
}

static void stat_gate_limit_text(struct text *t, const struct stat_gate_row *row)
{
	const struct stat_gate_clause *clause = row->clause;
	const struct run_gate_limit *limit = &clause->limit;
	const char *unit = strcmp(row->unit, "msec") == 0 ? " msec" : "";
	if (limit->is_fixed)
		text_printf(t, "B exceeds %.15g%s", limit->difference, unit);
	else if (limit->difference > 0)
		text_printf(t, "B exceeds A by more than %.15g%s", limit->difference, unit);
	else if (clause->what == STAT_GATE_IMPROVEMENT)
		text_printf(t, "B is below A by more than %g%%", STAT_GATE_PERCENT * limit->part);
	else if (clause->what == STAT_GATE_CHANGE)
		text_printf(t, "B differs from A by more than %g%%", STAT_GATE_PERCENT * limit->part);
	else
		text_printf(t, "B exceeds A by more than %g%%", STAT_GATE_PERCENT * limit->part);
}

static void stat_gate_row_text(struct text *t, const struct stat_gate_row *row)
{
	text_printf(t, " %s: ", stat_gate_word(row->verdict));
	if (row->benchmark) {
		text_visible(t, str_from(row->benchmark));
		text_str(t, ": ");
	}
	text_printf(t, "%s: ", row->name);
	if (row->verdict == RUN_EXCEEDS) {
		stat_gate_limit_text(t, row);
		if (row->result.has_spread) {
			text_str(t, ", ");
			text_printf(t, row->result.p_exceeds < STAT_GATE_P_LEAST ? "p < %g" : "p %.4f",
				fmax(row->result.p_exceeds, STAT_GATE_P_LEAST));
		}
		text_char(t, '\n');
		return;
	}
	text_str(t, "runs vary too much to tell whether ");
	stat_gate_limit_text(t, row);
	text_printf(t, " (%llu and %llu runs", (unsigned long long)row->a.len, (unsigned long long)row->b.len);
	if (row->clause->what == STAT_GATE_REGRESSION || row->clause->what == STAT_GATE_NAMED) {
		/* The smallest increase that the gate is likely to detect is printed in percent of A. For a fixed limit,
		 * the excess over the limit is printed in the event's unit. */
		const struct run_gate_limit *limit = &row->clause->limit;
		text_str(t, " find ");
		if (limit->is_fixed || row->a.mean <= 0)
			text_printf(t, "%.6g beyond the limit", row->result.found);
		else
			text_printf(t, "%.3g%%",
				STAT_GATE_PERCENT *
					(limit->part + (limit->difference + row->result.found) / row->a.mean));
		text_str(t, " in 9 of 10 comparisons");
	}
	if (row->result.needed)
		text_printf(t, "; about %llu of each would do", (unsigned long long)row->result.needed);
	text_str(t, ")\n");
}

void stat_gate_print(struct text *t, const struct stat_gate_row *rows, size_t count, enum run_verdict verdict)
{
	size_t named = 0;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].is_judged && rows[i].verdict != RUN_DOES_NOT_EXCEED)
			stat_gate_row_text(t, &rows[i]);
	}
	if (verdict != RUN_DOES_NOT_EXCEED) {
		text_printf(t, " Verdict: %s.\n\n", stat_gate_word(verdict));
		return;
	}
	text_str(t, " Verdict: not worse: no limit is exceeded in ");
	for (size_t i = 0; i < count; i++) {
		bool is_again = false;
		for (size_t k = 0; k < i; k++)
			is_again |= rows[k].is_judged && strcmp(rows[k].name, rows[i].name) == 0;
		if (rows[i].is_judged && !is_again)
			text_printf(t, "%s%s", named++ ? ", " : "", rows[i].name);
	}
	text_str(t, ".\n\n");
}

/* Escapes '|', which ends a cell of a Markdown table. */
static void stat_gate_cell(struct text *t, const char *word)
{
	size_t start = t->len;
	for (; *word; word++) {
		if (*word == '|')
			text_char(t, '\\');
		text_char(t, *word);
	}
	text_visible_from(t, start);
}

static void stat_gate_cell_number(struct text *t, const struct run_gate_side *side, const struct stat_style *style)
{
	bool is_whole = side->mean == floor(side->mean) && side->mean >= 0 && side->mean < 0x1p53;
	if (side->len == 0)
		text_str(t, "not counted");
	else if (is_whole)
		text_u64_grouped(t, (uint64_t)side->mean, style->thousands);
	else
		stat_number(t, style->decimal, side->mean, 3, 0);
	if (side->len > 1 && side->mean > 0) {
		text_str(t, " ± ");
		stat_number(t, style->decimal, STAT_GATE_PERCENT * side->deviation / side->mean, 2, 0);
		text_char(t, '%');
	}
}

void stat_gate_markdown(struct text *t, const struct stat_gate_row *rows, size_t count, enum run_verdict verdict,
	const struct stat_style *style)
{
	bool has_names = false, is_judged = false;
	for (size_t i = 0; i < count; i++)
		has_names |= rows[i].benchmark != NULL;
	for (size_t i = 0; i < count; i++)
		is_judged |= rows[i].is_judged;
	text_str(t, has_names ? "| benchmark " : "");
	text_str(t, "| | A | B | B - A | verdict |\n");
	text_str(t, has_names ? "|---" : "");
	text_str(t, "|---|---:|---:|---:|---|\n");
	for (size_t i = 0; i < count; i++) {
		const struct stat_gate_row *row = &rows[i];
		if (has_names) {
			text_str(t, "| ");
			stat_gate_cell(t, stat_gate_name_of(row));
			text_char(t, ' ');
		}
		text_str(t, "| ");
		stat_gate_cell(t, row->name);
		text_printf(t, "%s%s | ", row->unit[0] ? ", " : "", row->unit);
		stat_gate_cell_number(t, &row->a, style);
		text_str(t, " | ");
		stat_gate_cell_number(t, &row->b, style);
		text_str(t, " | ");
		if (row->a.len && row->b.len && row->a.mean > 0) {
			double change = STAT_GATE_PERCENT * (row->b.mean - row->a.mean) / row->a.mean;
			text_str(t, change > 0 ? "+" : "");
			stat_number(t, style->decimal, change, 3, 0);
			text_char(t, '%');
		}
		text_printf(t, " | %s |\n", row->is_judged ? stat_gate_word(row->verdict) : "");
	}
	text_char(t, '\n');
	if (is_judged)
		stat_gate_print(t, rows, count, verdict);
}

void stat_gate_json(struct json *json, const struct stat_gate_row *row)
{
	if (!row->is_judged)
		return;
	json_string(json, "verdict", str_from(stat_gate_word(row->verdict)));
	json_string(json, "clause", row->clause->text);
	json_fixed(json, "p-exceeds", row->result.p_exceeds, 9);
	json_fixed(json, "p-below", row->result.p_below, 9);
	if (row->result.has_spread) {
		json_fixed(json, "found", row->result.found, 6);
		json_string(json, "test", row->result.by_ranks ? STR("ranks") : STR("t"));
	}
	if (row->result.needed)
		json_u64(json, "needed-runs", row->result.needed);
}
