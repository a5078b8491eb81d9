/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_expr.h - parses the expressions of metrics ("branch\-misses / branches if #smt_on else 0") into trees and
 * evaluates them.
 *
 * Names are events as event_parser takes them, with / written @ and other signs behind a backslash; + - * / % < > & |
 * ^, "A if C else B", min(a, b), max(a, b), d_ratio(a, b) (0 where b is 0), has_event(name), #constants. Constant parts
 * are evaluated at parsing, so events of a branch that is never taken are not needed. Dividing by zero gives NaN. The
 * spelling is that of MetricExpr in perf-list(1)'s --json.
 *
 * An expression belongs to the caller (metric_expr_deinit) and holds no pointer into the text. Pure.
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
	METRIC_RATIO, /* 0 if the divisor is 0 */
	METRIC_IF /* a if b else c */
};

struct metric_node {
	enum metric_op op;
	uint32_t a, b, c; /* operands, by index; of METRIC_EVENT a is the name's */
	double number;
};

struct metric_expr {
	struct metric_node *nodes;
	size_t len, cap;
	uint32_t root;
	const char **names; /* of the events that the value depends on, each once, as first read */
	size_t name_count, name_cap;
	struct arena arena;
};

/* The values of #names and has_event(); false: there is no such constant. */
struct metric_facts {
	void *context;
	bool (*constant)(void *context, struct tally_str name, double *value);
	bool (*has_event)(void *context, const char *name);
};

/* INVALID with the column in err->offset; NOT_FOUND for a #name that facts do not have. */
TALLY_MUST_CHECK enum tally_status metric_expr_parse(
	const char *text, const struct metric_facts *facts, struct metric_expr *expr, struct tally_error *err);
double metric_expr_value(const struct metric_expr *expr, const double *values);
void metric_expr_deinit(struct metric_expr *expr);

#endif
