/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"

#define DIFF_GATE_PERCENT 100.0
#define NUMBER_MAX	  32 /* Maximum length of a number as text. */

static void skip_blanks(struct tally_str *rest)
{
	while (rest->len && (rest->data[0] == ' ' || rest->data[0] == '\t')) {
		rest->data++;
		rest->len--;
	}
}

static bool diff_gate_take(struct tally_str *rest, const char *word)
{
	skip_blanks(rest);
	struct tally_str wanted = str_from(word);
	if (!str_starts_with(*rest, wanted))
		return false;
	rest->data += wanted.len;
	rest->len -= wanted.len;
	return true;
}

static bool diff_gate_take_number(struct tally_str *rest, double *number)
{
	char text[NUMBER_MAX], *end;
	size_t len = 0;
	skip_blanks(rest);
	while (len < rest->len && len + 1 < sizeof(text) && strchr("0123456789.eE-+", rest->data[len])) {
		text[len] = rest->data[len];
		len++;
	}
	text[len] = 0;
	*number = strtod(text, &end);
	if (end == text || !isfinite(*number) || *number < 0)
		return false;
	rest->data += end - text;
	rest->len -= (size_t)(end - text);
	return true;
}

static bool parse_clause(struct tally_str rest, double level, struct diff_gate_clause *clause)
{
	static const struct {
		const char *name;
		enum diff_gate_kind kind;
	} kinds[] = {{"regression", DIFF_GATE_REGRESSION}, {"improvement", DIFF_GATE_IMPROVEMENT},
		{"change", DIFF_GATE_CHANGE}, {"total", DIFF_GATE_TOTAL}};
	size_t i = 0;
	while (i < ARRAY_LEN(kinds) && !diff_gate_take(&rest, kinds[i].name))
		i++;
	double percent;
	if (i == ARRAY_LEN(kinds) || !diff_gate_take(&rest, ">") || !diff_gate_take_number(&rest, &percent))
		return false;
	(void)diff_gate_take(&rest, "%");
	*clause = (struct diff_gate_clause){kinds[i].kind, percent / DIFF_GATE_PERCENT, level};
	skip_blanks(&rest);
	if (rest.len == 0)
		return true;
	if (!diff_gate_take(&rest, "with") || !diff_gate_take(&rest, "p") || !diff_gate_take(&rest, "<") ||
		!diff_gate_take_number(&rest, &clause->p))
		return false;
	skip_blanks(&rest);
	return rest.len == 0 && clause->p <= 1;
}

enum tally_status diff_gate_parse(const char *text, double level, struct diff_gate *gate, struct tally_error *err)
{
	struct diff_gate made = {0};
	struct tally_str rest = str_from(text), part;
	while (str_next(&rest, ',', &part)) {
		if (made.count == DIFF_GATE_CLAUSES)
			return error_set(err, TALLY_LIMIT, "--fail-if takes %d clauses at most", DIFF_GATE_CLAUSES);
		if (!parse_clause(part, level, &made.clauses[made.count++]))
			return error_set(err, TALLY_INVALID,
				"--fail-if takes clauses such as 'regression>2%% with p<0.01' (regression, "
				"improvement, change, total), not '%.*s'",
				(int)part.len, part.data);
	}
	if (made.count == 0)
		return error_set(err, TALLY_INVALID, "--fail-if wants a clause such as 'regression>2%% with p<0.01'");
	*gate = made;
	return TALLY_OK;
}

double diff_gate_loosest_p(const struct diff_gate *gate)
{
	double loosest = 0;
	for (size_t i = 0; i < gate->count; i++)
		loosest = MAX(gate->clauses[i].p, loosest);
	return loosest;
}

static bool clause_fails(const struct diff_gate_clause *clause, const struct diff_change *change)
{
	double size = clause->kind == DIFF_GATE_IMPROVEMENT ? -change->change
		      : clause->kind == DIFF_GATE_CHANGE    ? fabs(change->change)
							    : change->change;
	return change->is_tested && change->adjusted_p < clause->p && size > clause->change &&
	       fabs(change->change) > change->noise;
}

bool diff_gate_row_fails(const struct diff_gate *gate, const struct diff_change *change)
{
	for (size_t i = 0; i < gate->count; i++)
		if (gate->clauses[i].kind != DIFF_GATE_TOTAL && clause_fails(&gate->clauses[i], change))
			return true;
	return false;
}

bool diff_gate_total_fails(const struct diff_gate *gate, const struct diff_change *total)
{
	for (size_t i = 0; i < gate->count; i++)
		if (gate->clauses[i].kind == DIFF_GATE_TOTAL && clause_fails(&gate->clauses[i], total))
			return true;
	return false;
}
