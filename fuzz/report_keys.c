/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report -s, -F and --time-quantum: what is taken makes columns that are known, and no more than fit.
 *
 * The first byte says what counts; a line each for the keys, the fields and the quantum follow.
 */
#include <stdlib.h>

#include "tasks/reporting/report_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_columns(const struct report_request *request)
{
	if (request->column_count > REPORT_MAX_COLUMNS || request->key_count > REPORT_MAX_COLUMNS ||
		request->order_count > REPORT_MAX_COLUMNS)
		abort();
	for (size_t i = 0; i < request->column_count; i++) {
		const struct profile_key_info *info = profile_key_get(request->columns[i]);
		if (!info->header || (info->mode != KEY_MODE_ANY && info->mode != request->mode))
			abort();
	}
	struct text keys = {0};
	(void)report_request_facets(request);
	report_request_print_sort(request, &keys);
	text_deinit(&keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_request request;
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
	request.sort = *text ? text : NULL;
	request.fields = fields && *fields ? fields : NULL;
	request.by_memory = data[0] & 1;
	request.by_latency = data[0] & 2;
	request.is_hierarchy = data[0] & 4;
	request.has_history = data[0] & 32;
	if (quantum && report_request_set_time_quantum(&request, quantum, &err) == TALLY_OK &&
		request.time_quantum_ns == 0)
		abort();
	struct report_source source = {.has_chains = data[0] & 8, .has_branches = data[0] & 16};
	if (report_request_finish(&request, &source, &err) == TALLY_OK)
		check_columns(&request);
	else if (!err.text[0])
		abort();
	free(text);
	return 0;
}
