/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/annotate_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/text_cells.h"
#include "view/text/percent_text.h"

#define ANNOTATE_TEXT_BYTES_A_LINE 7
#define BYTES_COLUMNS		   21
#define SUMMARY_RULE		   46 /* Number of dashes under the heading of the summary. */
#define BEYOND_TITLE		   5 /* Number of dashes beyond the width of a listing's title, as in perf. */
#define LEAST_OF_BRANCHES	   0.1 /* Percentages up to this one are not shown. */
#define COLOUR_ADDRESS		   "\033[35m"
#define COLOUR_CODE		   "\033[34m"

static unsigned annotate_text_column_width(const struct annotate_text_options *options)
{
	return options->column == ANNOTATE_PERIOD ? 12 : 8;
}

static void print_value(struct text *out, const struct annotate_function *function,
	const struct annotate_text_options *options, uint32_t values, uint32_t event)
{
	double percent = annotate_percent_of(function, options->percent, values, event);
	const char *colour = options->with_colours ? percent_colour(percent) : "";
	text_colour(out, colour);
	if (options->column == ANNOTATE_PERCENT)
		text_fixed_right(out, percent, 2, annotate_text_column_width(options));
	else if (values == ANNOTATE_NONE)
		text_u64_right(out, 0, annotate_text_column_width(options));
	else
		text_u64_right(out,
			options->column == ANNOTATE_PERIOD ? function->values[values + event].period
							   : function->values[values + event].count,
			annotate_text_column_width(options));
	text_colour(out, *colour ? COLOUR_END : "");
}

void annotate_text_places(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options)
{
	text_printf(out, "\nSorted summary for file %s\n", function->file);
	text_repeat(out, '-', SUMMARY_RULE);
	text_str(out, "\n\n");
	bool is_empty = true;
	for (size_t i = 0; i < function->place_count; i++) {
		const struct annotate_place *place = &function->places[function->place_order[i]];
		if (annotate_hottest(function, options->percent, place->values) <= ANNOTATE_PLACE_LIMIT)
			continue;
		is_empty = false;
		for (uint32_t e = 0; e < function->event_count; e++) {
			double percent = annotate_percent_of(function, options->percent, place->values, e);
			const char *colour = options->with_colours ? percent_colour(percent) : "";
			text_colour(out, colour);
			text_fixed_right(out, percent, 2, 8);
			text_colour(out, *colour ? COLOUR_END : "");
		}
		const char *of_place =
			options->with_colours
				? percent_colour(annotate_hottest(function, options->percent, place->values))
				: "";
		/* The newline has the colour of the line, as in perf. */
		text_colour(out, of_place);
		text_printf(out, " %s\n", place->text);
		text_colour(out, *of_place ? COLOUR_END : "");
	}
	if (is_empty)
		text_str(out, " Nothing higher than 0.5%\n");
}

static void annotate_text_print_title(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options)
{
	static const char *const names[] = {"Percent", "Samples", "Period"};
	const struct tally_str file = str_from(options->with_whole_path ? function->file : function->short_file);
	struct text title = {0};
	unsigned width = annotate_text_column_width(options) * function->event_count;
	text_char(&title, ' ');
	text_str_left(&title, str_from(names[options->column]), width);
	text_printf(&title, "|\tSource code & Disassembly of %s for %s (%" PRIu64 " samples, percent: %s)", file.data,
		function->event_name, function->sample_count, annotate_percent_name(options->percent));
	text_bytes(out, title.data, title.len);
	text_char(out, '\n');
	text_repeat(out, '-', title.len - file.len + text_cells(file) + BEYOND_TITLE);
	text_char(out, '\n');
	text_deinit(&title);
}

static void pad_to_tab(struct text *out, size_t *column)
{
	size_t pad = 8 - *column % 8;
	text_repeat(out, ' ', pad);
	*column += pad;
}

static unsigned annotate_text_digits_of(uint64_t address)
{
	unsigned digits = 1;
	for (; address > 15; address >>= 4)
		digits++;
	return digits;
}

/* Prints the source line of a hot instruction, unless the hot instruction before it had the same one. */
static void annotate_text_print_place(struct text *out, const struct annotate_function *function,
	const struct annotate_line *line, const struct annotate_text_options *options,
	const struct annotate_line **last)
{
	double percent = annotate_hottest(function, options->percent, line->values);
	if (line->place == ANNOTATE_NONE || percent <= ANNOTATE_PLACE_LIMIT)
		return;
	const char *colour = percent_colour(percent);
	bool is_told = *last && (*last)->place == line->place;
	*last = line;
	if (is_told)
		return;
	const char *shown = options->with_colours ? colour : "";
	text_colour(out, shown);
	text_printf(out, " // %s", function->places[line->place].text);
	text_colour(out, *shown ? COLOUR_END : "");
}

static void annotate_text_print_code(struct text *out, const struct annotate_line *line, unsigned digits,
	const struct annotate_text_options *options)
{
	size_t column = annotate_text_digits_of(line->address) + 1;
	const char *end = options->with_colours ? COLOUR_END : "";
	text_char(out, ' ');
	text_colour(out, options->with_colours ? COLOUR_ADDRESS : "");
	text_str(out, "  ");
	text_hex_right(out, line->address, digits);
	text_char(out, ':');
	text_colour(out, end);
	text_colour(out, options->with_colours ? COLOUR_CODE : "");
	if (options->with_bytes) {
		pad_to_tab(out, &column);
		size_t shown = MIN(line->bytes.len, ANNOTATE_TEXT_BYTES_A_LINE);
		for (size_t i = 0; i < shown; i++) {
			text_hex(out, line->bytes.data[i], 2);
			text_char(out, ' ');
		}
		column += 3 * shown;
	}
	if (line->kind == ANNOTATE_MORE_BYTES) {
		text_colour(out, end);
		return;
	}
	if (options->with_bytes && column < BYTES_COLUMNS + 8) {
		size_t start = (annotate_text_digits_of(line->address) + 1) / 8 * 8 + 8 + BYTES_COLUMNS;
		text_repeat(out, ' ', start > column ? start - column : 0);
		column = MAX(start, column);
	}
	pad_to_tab(out, &column);
	text_str(out, line->text);
	text_colour(out, end);
}

/* Prints the results of branch stacks, as perf does. */
static void annotate_text_print_branches(struct text *out, const struct annotate_line *line)
{
	bool has_entered = line->entered > LEAST_OF_BRANCHES, has_left = line->left > LEAST_OF_BRANCHES;
	if (!has_entered && !has_left)
		return;
	text_str(out, "\t#");
	if (has_entered) {
		text_str(out, " +");
		text_fixed(out, line->entered, 2);
		text_char(out, '%');
	}
	if (has_left) {
		text_str(out, " -");
		text_fixed(out, line->left, 2);
		text_char(out, '%');
	}
	if (has_left && line->predicted > 0) {
		text_str(out, " (p:");
		text_fixed(out, line->predicted, 2);
		text_str(out, "%)");
	}
}

static void annotate_text_print(struct text *out, const struct annotate_line *line, unsigned digits)
{
	if (!*line->text)
		return;
	text_char(out, ' ');
	size_t before = out->len;
	if (line->number || line->is_source)
		text_u64(out, line->number);
	size_t used = out->len - before;
	text_repeat(out, ' ', used < digits ? digits - used : 0);
	text_char(out, ' ');
	text_str(out, line->text);
}

static bool is_hot(const struct annotate_function *function, const struct annotate_text_options *options, size_t line)
{
	return line < function->line_count && function->lines[line].kind == ANNOTATE_CODE &&
	       annotate_hottest(function, options->percent, function->lines[line].values) >= options->min_percent;
}

static bool is_left_out(
	const struct annotate_function *function, const struct annotate_text_options *options, size_t line)
{
	if (function->lines[line].kind == ANNOTATE_MORE_BYTES && !options->with_bytes)
		return true;
	return options->min_percent > 0 && !is_hot(function, options, line) && !is_hot(function, options, line + 1);
}

void annotate_text(
	struct text *out, const struct annotate_function *function, const struct annotate_text_options *options)
{
	unsigned width = annotate_text_column_width(options) * function->event_count;
	unsigned digits = 1;
	const struct annotate_line *last = NULL; /* The last hot line with a known source line. */
	for (size_t i = 0; i < function->line_count; i++)
		if (function->lines[i].kind == ANNOTATE_CODE &&
			annotate_text_digits_of(function->lines[i].address) > digits)
			digits = annotate_text_digits_of(function->lines[i].address);
	annotate_text_print_title(out, function, options);
	for (size_t i = 0; i < function->line_count && text_line_end(out); i++) {
		const struct annotate_line *line = &function->lines[i];
		if (is_left_out(function, options, i))
			continue;
		if (line->kind == ANNOTATE_TEXT)
			text_repeat(out, ' ', width);
		for (uint32_t e = 0; e < function->event_count && line->kind != ANNOTATE_TEXT; e++)
			print_value(out, function, options, line->values, e);
		text_str(out, " :");
		if (line->kind == ANNOTATE_TEXT)
			annotate_text_print(out, line, digits);
		else
			annotate_text_print_code(out, line, digits, options);
		if (line->kind == ANNOTATE_CODE)
			annotate_text_print_branches(out, line);
		if (options->with_places && line->kind == ANNOTATE_CODE)
			annotate_text_print_place(out, function, line, options, &last);
		text_char(out, '\n');
	}
}
