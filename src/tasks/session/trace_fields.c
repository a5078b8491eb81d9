/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/trace_fields.h"

bool trace_common_number_of(
	struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, uint64_t *number)
{
	*number = 0;
	return printer && tracepoint_number_of(printer, raw, TRACEPOINT_COMMON, name, number);
}

bool trace_number_of(
	struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, uint64_t *number)
{
	*number = 0;
	return printer && tracepoint_number_of(printer, raw, TRACEPOINT_OWN, name, number);
}

bool trace_text_of(struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, struct text *out)
{
	struct tracepoint_value value;
	unsigned index;
	if (!printer || !tracepoint_find(printer, raw, TRACEPOINT_OWN, name, &index) ||
		!tracepoint_value_at(printer, raw, TRACEPOINT_OWN, index, &value))
		return false;
	text_visible(out, value.text);
	return true;
}
