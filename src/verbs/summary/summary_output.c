/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/summary/summary_output.h"

#include "base/array.h"
#include "base/error.h"

/* A screen, then ever less. */
static const struct summary_limits levels[] = {
	{.functions = 10, .nodes = 16, .changes = 8, .notes = 6, .states = 6, .name_width = 100},
	{.functions = 8, .nodes = 12, .changes = 6, .notes = 4, .states = 5, .name_width = 80},
	{.functions = 6, .nodes = 9, .changes = 5, .notes = 3, .states = 4, .name_width = 70},
	{.functions = 5, .nodes = 6, .changes = 4, .notes = 2, .states = 4, .name_width = 60},
	{.functions = 4, .nodes = 4, .changes = 3, .notes = 2, .states = 3, .name_width = 50},
	{.functions = 3, .nodes = 3, .changes = 2, .notes = 1, .states = 2, .name_width = 40},
	{.functions = 3, .nodes = 1, .changes = 1, .notes = 1, .states = 1, .name_width = 30},
	{.functions = 2, .nodes = 0, .changes = 1, .notes = 1, .states = 1, .name_width = 24},
	{.functions = 1, .nodes = 0, .changes = 1, .notes = 0, .states = 0, .name_width = 20},
	{.functions = 1, .nodes = 0, .changes = 0, .notes = 0, .states = 0, .name_width = 12},
};

static uint64_t summary_characters(const struct text *text)
{
	uint64_t count = 0;
	for (size_t i = 0; i < text->len; i++)
		count += ((uint8_t)text->data[i] & 0xc0) != 0x80;
	return count;
}

enum tally_status summary_output(
	const struct summary_facts *facts, const struct summary_form *form, struct text *out, struct tally_error *err)
{
	uint64_t count = 0;
	for (size_t level = 0; level < ARRAY_LEN(levels); level++) {
		text_clear(out);
		(form->is_json ? summary_json : summary_text)(facts, &levels[level], out);
		if (out->failed)
			return error_nomem(err);
		count = summary_characters(out);
		if (form->budget == 0 || count <= form->budget)
			return TALLY_OK;
	}
	return error_set(err, TALLY_LIMIT, "the shortest summary has %llu characters, and --budget allows %llu",
		(unsigned long long)count, (unsigned long long)form->budget);
}
