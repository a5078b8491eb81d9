/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_expr.c - parses arbitrary text as a metric expression. The result is an error with a column inside the text,
 * or a tree in which operands precede their operators and which can be evaluated.
 */
#include "kernel/metrics/metric_expr.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool constant(void *context, struct tally_str name, double *value)
{
	*value = (double)name.len;
	return name.len < 12;
}

static bool has_event(void *context, const char *name)
{
	return strlen(name) % 2 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct metric_facts facts = {NULL, constant, has_event};
	char *text = malloc(size + 1);
	struct metric_expr expr;
	struct tally_error err = {0};
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (metric_expr_parse(text, &facts, &expr, &err) != TALLY_OK) {
		if (err.offset > size)
			abort();
		free(text);
		return 0;
	}
	double *values = calloc(expr.name_count + 1, sizeof(*values));
	if (values)
		(void)metric_expr_value(&expr, values);
	free(values);
	metric_expr_deinit(&expr);
	free(text);
	return 0;
}
