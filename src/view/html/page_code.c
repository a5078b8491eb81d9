/* SPDX-License-Identifier: Apache-2.0 */
#include "view/html/page_code.h"

#include <inttypes.h>

#include "view/page/page_data.h"

static bool has_source(const struct annotate_function *function, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (function->lines[i].is_source)
			return true;
	return false;
}

static void page_code_add_source(struct text *out, const struct annotate_function *function, size_t first, size_t end)
{
	bool has_any = false;
	text_str(out, ",[");
	for (size_t i = first; i < end; i++) {
		const struct annotate_line *line = &function->lines[i];
		if (!line->is_source)
			continue;
		text_printf(out, "%s[%" PRIu32 ",", has_any ? "," : "", line->source_number);
		page_string(out, str_from(line->text));
		text_char(out, ']');
		has_any = true;
	}
	text_char(out, ']');
}

/* Writes an instruction, with the source lines from first on, which stand above it. */
static void page_code_add_instruction(
	struct text *out, const struct annotate_function *function, size_t first, size_t index)
{
	const struct annotate_line *line = &function->lines[index];
	bool has_lines = has_source(function, first, index);
	text_printf(out, "[%" PRIu64 ",", line->address - function->start);
	page_string(out, str_from(line->text));
	if (line->target != ANNOTATE_NONE)
		text_printf(out, ",%" PRIu64, function->lines[line->target].address - function->start);
	else if (has_lines)
		text_str(out, ",-1");
	if (has_lines)
		page_code_add_source(out, function, first, index);
	text_char(out, ']');
}

void page_code_function(struct text *out, const struct annotate_function *function)
{
	size_t first = 0;
	text_char(out, '[');
	page_string(out, str_from(function->name));
	text_char(out, ',');
	page_string(out, str_from(function->file));
	text_str(out, ",[");
	for (size_t i = 0; i < function->line_count; i++) {
		if (function->lines[i].kind != ANNOTATE_CODE)
			continue;
		text_str(out, first ? ",\n" : "\n");
		page_code_add_instruction(out, function, first, i);
		first = i + 1;
	}
	text_str(out, "]]");
}
