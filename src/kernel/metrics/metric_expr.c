/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/metrics/metric_expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/vec.h"

#define NONE UINT32_MAX /* No node; the error is set. */

struct reader {
	const char *text;
	size_t pos;
	unsigned depth;
	const struct metric_facts *facts;
	struct metric_expr *expr;
	enum tally_status status;
	struct tally_error *err;
};

static double metric_expr_truth(bool is_true)
{
	return is_true ? 1 : 0;
}

static double metric_expr_operate(enum metric_op op, double a, double b)
{
	switch (op) {
	case METRIC_NEGATE:
		return -a;
	case METRIC_ADD:
		return a + b;
	case METRIC_SUBTRACT:
		return a - b;
	case METRIC_MULTIPLY:
		return a * b;
	case METRIC_DIVIDE:
		return b < 0 || b > 0 ? a / b : NAN;
	case METRIC_REMAINDER:
		return b < 0 || b > 0 ? fmod(a, b) : NAN;
	case METRIC_LESS:
		return metric_expr_truth(a < b);
	case METRIC_GREATER:
		return metric_expr_truth(a > b);
	case METRIC_AND:
		return metric_expr_truth(a != 0 && b != 0);
	case METRIC_OR:
		return metric_expr_truth(a != 0 || b != 0);
	case METRIC_XOR:
		return metric_expr_truth((a != 0) != (b != 0));
	case METRIC_MIN:
		return isnan(a) || isnan(b) ? NAN : fmin(a, b);
	case METRIC_MAX:
		return isnan(a) || isnan(b) ? NAN : fmax(a, b);
	case METRIC_RATIO:
		return b < 0 || b > 0 ? a / b : isnan(b) ? NAN : 0;
	case METRIC_NUMBER:
	case METRIC_EVENT:
	case METRIC_IF:
		break;
	}
	return NAN;
}

static uint32_t metric_expr_fail(struct reader *r, size_t column, enum tally_status status, const char *what)
{
	if (r->status == TALLY_OK) {
		r->status = error_set(r->err, status, "metric expression: %s at '%.20s'", what, r->text + column);
		if (r->err)
			r->err->offset = column;
	}
	return NONE;
}

static uint32_t node_add(struct reader *r, struct metric_node node)
{
	struct metric_expr *e = r->expr;
	if (e->len >= LIMIT_METRIC_NODES)
		return metric_expr_fail(r, r->pos, TALLY_LIMIT, "too long");
	if (e->len == e->cap && !vec_grow(&e->nodes, &e->cap, sizeof(*e->nodes), e->len + 1)) {
		r->status = error_nomem(r->err);
		return NONE;
	}
	e->nodes[e->len] = node;
	return (uint32_t)e->len++;
}

static uint32_t number_add(struct reader *r, double number)
{
	return node_add(r, (struct metric_node){.op = METRIC_NUMBER, .number = number});
}

static bool metric_expr_is_number(const struct reader *r, uint32_t node)
{
	return r->expr->nodes[node].op == METRIC_NUMBER;
}

/* b is NONE for a unary operator, which is a sign. */
static uint32_t operation_add(struct reader *r, enum metric_op op, uint32_t a, uint32_t b)
{
	if (r->status != TALLY_OK)
		return NONE;
	uint32_t second = b == NONE ? a : b;
	if (metric_expr_is_number(r, a) && metric_expr_is_number(r, second))
		return number_add(r, metric_expr_operate(op, r->expr->nodes[a].number, r->expr->nodes[second].number));
	return node_add(r, (struct metric_node){.op = op, .a = a, .b = second});
}

static void metric_expr_blanks_skip(struct reader *r)
{
	r->pos += strspn(r->text + r->pos, " \t\n");
}

static bool metric_expr_take(struct reader *r, char c)
{
	metric_expr_blanks_skip(r);
	if (r->text[r->pos] != c)
		return false;
	r->pos++;
	return true;
}

static bool metric_expr_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_in_name(char c)
{
	return starts_name(c) || metric_expr_is_digit(c) || c == '.' || c == ':' || c == '@' || c == '\\';
}

/* Returns the word at pos without moving pos. */
static struct tally_str metric_expr_word_at(const struct reader *r)
{
	const char *start = r->text + r->pos;
	size_t len = 0;
	while (is_in_name(start[len]))
		len += start[len] == '\\' && start[len + 1] ? 2 : 1;
	return (struct tally_str){start, len};
}

static bool take_word(struct reader *r, struct tally_str word)
{
	metric_expr_blanks_skip(r);
	if (!starts_name(r->text[r->pos]) || !str_equal(metric_expr_word_at(r), word))
		return false;
	r->pos += word.len;
	return true;
}

/* Unlike strtod, this does not depend on the locale. */
static uint32_t number_take(struct reader *r)
{
	double value = 0, divisor = 1;
	const char *s = r->text;
	for (; metric_expr_is_digit(s[r->pos]); r->pos++)
		value = value * 10 + (s[r->pos] - '0');
	if (s[r->pos] == '.')
		for (r->pos++; metric_expr_is_digit(s[r->pos]); r->pos++, divisor *= 10)
			value = value * 10 + (s[r->pos] - '0');
	size_t sign = (s[r->pos] == 'e' || s[r->pos] == 'E') && (s[r->pos + 1] == '-' || s[r->pos + 1] == '+');
	int exponent = 0;
	if ((s[r->pos] == 'e' || s[r->pos] == 'E') && metric_expr_is_digit(s[r->pos + 1 + sign])) {
		bool is_negative = sign && s[r->pos + 1] == '-';
		for (r->pos += 1 + sign; metric_expr_is_digit(s[r->pos]); r->pos++)
			exponent = exponent < 1000 ? exponent * 10 + (s[r->pos] - '0') : exponent;
		exponent = is_negative ? -exponent : exponent;
	}
	value = exponent < 0 ? value / pow(10, -exponent) : value * pow(10, exponent);
	return number_add(r, value / divisor);
}

/* Returns the name in the event parser's syntax; NULL if memory runs out. */
static const char *event_name(struct reader *r, struct tally_str word)
{
	char *name = arena_string(&r->expr->arena, word.data, word.len);
	size_t len = 0;
	for (size_t i = 0; name && i < word.len; i++) {
		bool is_escaped = word.data[i] == '\\' && i + 1 < word.len;
		i += is_escaped;
		name[len++] = !is_escaped && word.data[i] == '@' ? '/' : word.data[i];
	}
	if (name)
		name[len] = '\0';
	else
		r->status = error_nomem(r->err);
	return name;
}

static uint32_t metric_expr_event_take(struct reader *r)
{
	struct metric_expr *e = r->expr;
	struct tally_str word = metric_expr_word_at(r);
	r->pos += word.len;
	const char *name = event_name(r, word);
	if (!name)
		return NONE;
	size_t i = 0;
	while (i < e->name_count && strcmp(e->names[i], name) != 0)
		i++;
	if (i == e->name_count) {
		if (i == e->name_cap && !vec_grow(&e->names, &e->name_cap, sizeof(*e->names), i + 1)) {
			r->status = error_nomem(r->err);
			return NONE;
		}
		e->names[e->name_count++] = name;
	}
	return node_add(r, (struct metric_node){.op = METRIC_EVENT, .a = (uint32_t)i});
}

static uint32_t constant_take(struct reader *r)
{
	size_t start = r->pos++;
	struct tally_str word = metric_expr_word_at(r);
	double value;
	r->pos += word.len;
	if (!r->facts->constant(r->facts->context, word, &value))
		return metric_expr_fail(r, start, TALLY_NOT_FOUND, "no such constant on this machine");
	return number_add(r, value);
}

static uint32_t choice_take(struct reader *r);

/* Parses "(a, b)"; pos is after the function's name. */
static uint32_t call_take(struct reader *r, enum metric_op op)
{
	size_t start = r->pos;
	if (!metric_expr_take(r, '('))
		return metric_expr_fail(r, start, TALLY_INVALID, "'(' is missing");
	uint32_t a = choice_take(r);
	if (r->status == TALLY_OK && !metric_expr_take(r, ','))
		return metric_expr_fail(r, r->pos, TALLY_INVALID, "',' is missing");
	uint32_t b = r->status == TALLY_OK ? choice_take(r) : NONE;
	if (r->status == TALLY_OK && !metric_expr_take(r, ')'))
		return metric_expr_fail(r, r->pos, TALLY_INVALID, "')' is missing");
	return operation_add(r, op, a, b);
}

static uint32_t presence_take(struct reader *r)
{
	size_t start = r->pos;
	bool is_open = metric_expr_take(r, '(');
	metric_expr_blanks_skip(r);
	struct tally_str word = metric_expr_word_at(r);
	if (!is_open || !starts_name(r->text[r->pos]))
		return metric_expr_fail(r, start, TALLY_INVALID, "has_event takes an event's name");
	r->pos += word.len;
	if (!metric_expr_take(r, ')'))
		return metric_expr_fail(r, r->pos, TALLY_INVALID, "')' is missing");
	const char *name = event_name(r, word);
	return name ? number_add(r, metric_expr_truth(r->facts->has_event(r->facts->context, name))) : NONE;
}

static uint32_t operand_take(struct reader *r)
{
	metric_expr_blanks_skip(r);
	char c = r->text[r->pos];
	if (c == '(') {
		r->pos++;
		uint32_t inner = choice_take(r);
		if (r->status == TALLY_OK && !metric_expr_take(r, ')'))
			return metric_expr_fail(r, r->pos, TALLY_INVALID, "')' is missing");
		return inner;
	}
	if (metric_expr_is_digit(c) || (c == '.' && metric_expr_is_digit(r->text[r->pos + 1])))
		return number_take(r);
	if (c == '#')
		return constant_take(r);
	if (take_word(r, STR("min")))
		return call_take(r, METRIC_MIN);
	if (take_word(r, STR("max")))
		return call_take(r, METRIC_MAX);
	if (take_word(r, STR("d_ratio")))
		return call_take(r, METRIC_RATIO);
	if (take_word(r, STR("has_event")))
		return presence_take(r);
	if (starts_name(c) && !str_equal(metric_expr_word_at(r), STR("if")) &&
		!str_equal(metric_expr_word_at(r), STR("else")))
		return metric_expr_event_take(r);
	return metric_expr_fail(r, r->pos, TALLY_INVALID, c ? "unexpected" : "something is missing");
}

static uint32_t signed_take(struct reader *r)
{
	bool is_negative = false;
	while (metric_expr_take(r, '-'))
		is_negative = !is_negative;
	uint32_t operand = operand_take(r);
	return is_negative ? operation_add(r, METRIC_NEGATE, operand, NONE) : operand;
}

/* Operators in ascending precedence; those of one string have the same precedence. */
static const char *const levels[] = {"|", "^", "&", "<>", "+-", "*/%"};
#define LEVEL_COUNT (ARRAY_LEN(levels))

static enum metric_op operator_of(char c)
{
	static const struct {
		char sign;
		enum metric_op op;
	} operators[] = {{'|', METRIC_OR}, {'^', METRIC_XOR}, {'&', METRIC_AND}, {'<', METRIC_LESS},
		{'>', METRIC_GREATER}, {'+', METRIC_ADD}, {'-', METRIC_SUBTRACT}, {'*', METRIC_MULTIPLY},
		{'/', METRIC_DIVIDE}, {'%', METRIC_REMAINDER}};
	for (size_t i = 0; i < ARRAY_LEN(operators); i++)
		if (operators[i].sign == c)
			return operators[i].op;
	return METRIC_NUMBER;
}

static uint32_t level_take(struct reader *r, unsigned level)
{
	if (level == LEVEL_COUNT)
		return signed_take(r);
	uint32_t left = level_take(r, level + 1);
	for (;;) {
		metric_expr_blanks_skip(r);
		char c = r->text[r->pos];
		if (r->status != TALLY_OK || c == '\0' || !strchr(levels[level], c))
			return left;
		r->pos++;
		uint32_t right = level_take(r, level + 1);
		left = operation_add(r, operator_of(c), left, right);
	}
}

/* Parses A [if C else B]. */
static uint32_t choice_take(struct reader *r)
{
	if (++r->depth > LIMIT_METRIC_DEPTH)
		return metric_expr_fail(r, r->pos, TALLY_LIMIT, "nested too deep");
	uint32_t value = level_take(r, 0);
	if (r->status == TALLY_OK && take_word(r, STR("if"))) {
		uint32_t condition = level_take(r, 0);
		if (r->status == TALLY_OK && !take_word(r, STR("else")))
			return metric_expr_fail(r, r->pos, TALLY_INVALID, "'else' is missing");
		uint32_t other = r->status == TALLY_OK ? choice_take(r) : NONE;
		if (r->status != TALLY_OK)
			return NONE;
		if (metric_expr_is_number(r, condition))
			value = r->expr->nodes[condition].number != 0 ? value : other;
		else
			value = node_add(
				r, (struct metric_node){.op = METRIC_IF, .a = value, .b = condition, .c = other});
	}
	r->depth--;
	return r->status == TALLY_OK ? value : NONE;
}

/* Operands precede their operators, so one walk from the end reaches every node in use. */
static enum tally_status names_keep_used(struct metric_expr *e, struct tally_error *err)
{
	bool *is_used = calloc(e->len + e->name_count + 1, sizeof(*is_used));
	uint32_t *number = calloc(e->name_count + 1, sizeof(*number));
	bool *is_named = is_used ? is_used + e->len : NULL;
	size_t kept = 0;
	if (!is_used || !number) {
		free(is_used);
		free(number);
		return error_nomem(err);
	}
	is_used[e->root] = true;
	for (size_t i = e->root + 1; i-- > 0;) {
		const struct metric_node *n = &e->nodes[i];
		if (!is_used[i] || n->op == METRIC_NUMBER)
			continue;
		if (n->op == METRIC_EVENT) {
			is_named[n->a] = true;
			continue;
		}
		is_used[n->a] = is_used[n->b] = true;
		if (n->op == METRIC_IF)
			is_used[n->c] = true;
	}
	for (size_t i = 0; i < e->name_count; i++) {
		number[i] = (uint32_t)kept;
		if (is_named[i])
			e->names[kept++] = e->names[i];
	}
	for (size_t i = 0; i < e->len; i++)
		if (e->nodes[i].op == METRIC_EVENT)
			e->nodes[i].a = number[e->nodes[i].a];
	e->name_count = kept;
	free(is_used);
	free(number);
	return TALLY_OK;
}

enum tally_status metric_expr_parse(
	const char *text, const struct metric_facts *facts, struct metric_expr *expr, struct tally_error *err)
{
	struct metric_expr made = {0};
	struct reader r = {.text = text, .facts = facts, .expr = &made, .err = err};
	arena_init(&made.arena);
	made.root = choice_take(&r);
	metric_expr_blanks_skip(&r);
	if (r.status == TALLY_OK && text[r.pos] != '\0')
		metric_expr_fail(&r, r.pos, TALLY_INVALID, "unexpected");
	if (r.status == TALLY_OK)
		r.status = names_keep_used(&made, err);
	if (r.status != TALLY_OK) {
		metric_expr_deinit(&made);
		return r.status;
	}
	*expr = made;
	return TALLY_OK;
}

static double node_value(const struct metric_expr *e, uint32_t node, const double *values)
{
	const struct metric_node *n = &e->nodes[node];
	if (n->op == METRIC_NUMBER)
		return n->number;
	if (n->op == METRIC_EVENT)
		return values[n->a];
	if (n->op == METRIC_IF) {
		double condition = node_value(e, n->b, values);
		if (isnan(condition))
			return NAN;
		return node_value(e, condition != 0 ? n->a : n->c, values);
	}
	return metric_expr_operate(n->op, node_value(e, n->a, values), node_value(e, n->b, values));
}

double metric_expr_value(const struct metric_expr *expr, const double *values)
{
	return node_value(expr, expr->root, values);
}

void metric_expr_deinit(struct metric_expr *expr)
{
	free(expr->nodes);
	free(expr->names);
	arena_deinit(&expr->arena);
	*expr = (struct metric_expr){0};
}
