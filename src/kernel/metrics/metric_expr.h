/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_expr.h - parses the expressions of metrics ("branch\-misses / branches if #smt_on else 0") into trees and
 * evaluates them.
 *
 * Expressions consist of names, + - * / % < > & | ^, "A if C else B", min(a, b), max(a, b), d_ratio(a, b) (0 if b is
 * 0), has_event(name) and #constants. Names are events in the syntax of event_parser, with @ for / and a backslash
 * before other special characters. Constant parts are evaluated during parsing, so events of a branch that is never
 * taken are not needed. Division by zero gives NaN. The syntax is that of MetricExpr in perf-list(1), --json.
 *
 * An expression belongs to the caller (metric_expr_deinit) and has no pointer into the text. Pure.
 *
 *	struct metric_expr expr;
 *	if (metric_expr_parse(text, &facts, &expr, err) != TALLY_OK) ...
 *	double value = metric_expr_value(&expr, values);	// one for each of expr.names
 */
#ifndef KERNEL_METRICS_METRIC_EXPR_H
#define KERNEL_METRICS_METRIC_EXPR_H

#include "base/arena.h"
#include "base/bytes.h"
#include "tally/status.h"

enum metric_op {
	METRIC_NUMBER,
	METRIC_EVENT,
	METRIC_NEGATE,
	METRIC_ADD,
	METRIC_SUBTRACT,
	METRIC_MULTIPLY,
	METRIC_DIVIDE,
	METRIC_REMAINDER,
	METRIC_LESS,
	METRIC_GREATER,
	METRIC_AND,
	METRIC_OR,
	METRIC_XOR,
	METRIC_MIN,
	METRIC_MAX,
	METRIC_RATIO, /* A division with result 0 if the divisor is 0. */
	METRIC_IF /* a if b, else c. */
};

struct metric_node {
	enum metric_op op;
	uint32_t a, b, c; /* Indexes of the operands; for METRIC_EVENT, a is the index of the name. */
	double number; /* Value of a METRIC_NUMBER. */
};

struct metric_expr {
	struct metric_node *nodes;
	size_t len, cap;
	uint32_t root; /* Index of the node whose value is that of the expression. */
	const char **names; /* Distinct events on which the value depends, in order of first occurrence. */
	size_t name_count, name_cap;
	struct arena arena;
};

/* Callbacks that evaluate #constants and has_event(); constant returns false if there is no such constant. */
struct metric_facts {
	void *context;
	bool (*constant)(void *context, struct tally_str name, double *value);
	bool (*has_event)(void *context, const char *name);
};

/* Parses text. Returns TALLY_INVALID with the column in err->offset if it is malformed, and TALLY_NOT_FOUND for an
 * unknown #constant. */
TALLY_MUST_CHECK enum tally_status metric_expr_parse(
	const char *text, const struct metric_facts *facts, struct metric_expr *expr, struct tally_error *err);
/* Evaluates the expression; values has one number for each of expr->names. */
double metric_expr_value(const struct metric_expr *expr, const double *values);
void metric_expr_deinit(struct metric_expr *expr);

#endif
