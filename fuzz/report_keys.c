/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses arguments of report -s, -F and --time-quantum: accepted ones give known columns, and no more than the
 * maximum.
 *
 * The first byte selects the mode; one line each for the keys, the fields and the quantum follow.
 */
#include <stdlib.h>

#include "tasks/reporting/report_plan.h"

static void check_columns(const struct report_plan *plan)
{
	if (plan->column_count > REPORT_MAX_COLUMNS || plan->key_count > REPORT_MAX_COLUMNS ||
		plan->order_count > REPORT_MAX_COLUMNS)
		abort();
	for (size_t i = 0; i < plan->column_count; i++) {
		const struct profile_key_info *info = profile_key_get(plan->columns[i]);
		if (!info->header || (info->mode != KEY_MODE_ANY && info->mode != plan->mode))
			abort();
	}
	struct text keys = {0};
	(void)report_plan_facets(plan);
	report_plan_print_sort(plan, &keys);
	text_deinit(&keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_request request;
	struct report_plan plan;
	struct tally_error err = {0};
	if (size == 0)
		return 0;
	char *text = malloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	char *fields = strchr(text, '\n');
	char *quantum = fields ? strchr(fields + 1, '\n') : NULL;
	if (fields)
		*fields++ = 0;
	if (quantum)
		*quantum++ = 0;
	report_request_init(&request);
	request.rows.sort = *text ? text : NULL;
	request.rows.fields = fields && *fields ? fields : NULL;
	request.rows.by_memory = data[0] & 1;
	request.rows.by_latency = data[0] & 2;
	request.rows.is_hierarchy = data[0] & 4;
	request.chains.has_history = data[0] & 32;
	if (quantum && report_request_set_time_quantum(&request, quantum, &err) == TALLY_OK &&
		request.rows.time_quantum_ns == 0)
		abort();
	struct report_source source = {.has_chains = data[0] & 8, .has_branches = data[0] & 16};
	if (report_plan_make(&request, &source, &plan, &err) == TALLY_OK)
		check_columns(&plan);
	else if (!err.text[0])
		abort();
	free(text);
	return 0;
}
