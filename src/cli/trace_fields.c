#include "cli/trace_fields.h"

static bool find_in(struct tracepoint_printer *printer, struct tally_bytes raw, enum tracepoint_part part,
	struct tally_str name, struct tracepoint_value *value)
{
	for (unsigned i = 0; printer && tracepoint_value_at(printer, raw, part, i, value); i++)
		if (str_equal(value->field.name, name))
			return true;
	return false;
}

static bool find(struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name,
	struct tracepoint_value *value)
{
	return find_in(printer, raw, TRACEPOINT_OWN, name, value);
}

bool trace_common_number_of(
	struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, uint64_t *number)
{
	struct tracepoint_value value;
	*number = 0;
	if (!find_in(printer, raw, TRACEPOINT_COMMON, name, &value) || value.field.form == TRACEPOINT_TEXT)
		return false;
	*number = value.numbers[0];
	return true;
}

bool trace_number_of(
	struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, uint64_t *number)
{
	struct tracepoint_value value;
	*number = 0;
	if (!find(printer, raw, name, &value) || value.field.form == TRACEPOINT_TEXT)
		return false;
	*number = value.numbers[0];
	return true;
}

bool trace_text_of(struct tracepoint_printer *printer, struct tally_bytes raw, struct tally_str name, struct text *out)
{
	struct tracepoint_value value;
	if (!find(printer, raw, name, &value))
		return false;
	text_bytes(out, value.text.data, value.text.len);
	return true;
}
