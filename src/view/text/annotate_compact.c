/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/annotate_compact.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"

#define ANNOTATE_COMPACT_BYTES_A_LINE 7

struct annotate_compact_columns {
	unsigned value, label, mnemonic;
};

static unsigned annotate_compact_digits_of(uint64_t value)
{
	unsigned digits = 1;
	for (; value > 15; value >>= 4)
		digits++;
	return digits;
}

static uint64_t size_of(const struct annotate_function *function)
{
	uint64_t size = 0;
	for (size_t i = 0; i < function->line_count; i++) {
		const struct annotate_line *line = &function->lines[i];
		if (line->kind == ANNOTATE_CODE || line->kind == ANNOTATE_MORE_BYTES)
			size = line->address + line->bytes.len - function->start;
	}
	return size;
}

static struct annotate_compact_columns annotate_compact_measure(
	const struct annotate_function *function, const struct annotate_text_options *options)
{
	struct annotate_compact_columns columns = {
		.value = options->column == ANNOTATE_PERIOD ? 12 : 7, .label = size_of(function) > 15 ? 2 : 1};
	for (size_t i = 0; i < function->line_count; i++) {
		const struct annotate_line *line = &function->lines[i];
		if (line->kind != ANNOTATE_CODE)
			continue;
		/* The width is that of the original mnemonic: a nopw is shown as nop. */
		unsigned width = (unsigned)strcspn(line->text, " "),
			 digits = annotate_compact_digits_of(line->address - function->start);
		columns.mnemonic = MAX(width, columns.mnemonic);
		if (line->is_target)
			columns.label = MAX(digits, columns.label);
	}
	return columns;
}

static void print_values(struct text *out, const struct annotate_function *function,
	const struct annotate_compact_columns *columns, const struct annotate_text_options *options,
	const struct annotate_line *line)
{
	for (uint32_t e = 0; e < function->event_count; e++) {
		if (line->values == ANNOTATE_NONE) {
			text_repeat(out, ' ', columns->value);
			continue;
		}
		const struct annotate_value *value = &function->values[line->values + e];
		double percent = annotate_percent_of(function, options->percent, line->values, e);
		/* No colours, even on a terminal, as in perf. */
		if (options->column == ANNOTATE_PERCENT)
			text_fixed_right(out, percent, 2, columns->value - 1);
		else
			text_u64_right(out, options->column == ANNOTATE_PERIOD ? value->period : value->count,
				columns->value - 1);
		text_char(out, ' ');
	}
}

static void annotate_compact_print_code(struct text *out, const struct annotate_function *function,
	const struct annotate_compact_columns *columns, const struct annotate_line *line,
	const struct annotate_text_options *options)
{
	if (line->is_target && !options->with_bytes) {
		text_hex_right(out, line->address - function->start, columns->label + 1);
		text_str(out, ": ");
	} else {
		text_repeat(out, ' ', columns->label + 3);
	}
	/* As in perf, no arrows and labels are drawn beside bytes. */
	text_str(out, options->with_bytes ? "  " : annotate_arrow(function, line));
	if (options->with_bytes) {
		size_t shown = MIN(line->bytes.len, ANNOTATE_COMPACT_BYTES_A_LINE);
		for (size_t i = 0; i < shown; i++) {
			text_hex(out, line->bytes.data[i], 2);
			text_char(out, ' ');
		}
		text_repeat(out, ' ', 3 * (ANNOTATE_COMPACT_BYTES_A_LINE + 1 - shown));
		text_str(out, line->kind == ANNOTATE_MORE_BYTES ? "" : line->text);
		return;
	}
	text_str(out, line->mnemonic);
	if (*line->operands) {
		text_repeat(out, ' ', columns->mnemonic - strlen(line->mnemonic) + 1);
		text_str(out, line->operands);
	}
}

/* Prints 12345 as "12K", like the headings of reports. */
static void print_short(struct text *out, uint64_t value)
{
	static const char units[] = " KMG";
	unsigned unit = 0;
	for (; value > 1000 && unit < 3; unit++)
		value /= 1000;
	text_printf(out, "%" PRIu64 "%c", value, units[unit]);
}

static void annotate_compact_print_heading(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options)
{
	static const char *const names[] = {"Percent", "Samples", "Period"};
	text_str(out, "Samples: ");
	print_short(out, function->listed_count);
	text_printf(out, " of event%s '%s', ", function->event_count > 1 ? "s" : "", function->event_name);
	if (function->frequency)
		text_printf(out, "%" PRIu64 " Hz, ", function->frequency);
	text_printf(out, "Event count (approx.): %" PRIu64 ", [percent: %s]\n%s() %s\n%s", function->listed_period,
		annotate_percent_name(options->percent), function->name, function->file, names[options->column]);
	if (function->has_cycles) {
		size_t width = (options->column == ANNOTATE_PERIOD ? 12 : 7) * function->event_count;
		text_repeat(out, ' ', width - strlen(names[options->column]));
		text_str(out, "  IPC Cycle");
	}
	text_char(out, '\n');
}

void annotate_compact(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options)
{
	struct annotate_compact_columns columns = annotate_compact_measure(function, options);
	annotate_compact_print_heading(out, function, options);
	for (size_t i = 0; i < function->line_count && text_line_end(out); i++) {
		const struct annotate_line *line = &function->lines[i];
		if ((line->kind == ANNOTATE_MORE_BYTES && !options->with_bytes) || i == 0)
			continue;
		if (line->kind == ANNOTATE_TEXT && !*line->text) {
			text_char(out, '\n');
			continue;
		}
		print_values(out, function, &columns, options, line);
		if (function->has_cycles)
			annotate_cycles(out, line);
		if (line->kind != ANNOTATE_TEXT) {
			annotate_compact_print_code(out, function, &columns, line, options);
		} else {
			text_repeat(out, ' ', columns.label + 3);
			text_str(out, line->text);
		}
		text_char(out, '\n');
	}
}
