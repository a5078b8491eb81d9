/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/summary/summary_output.h"

#include "base/array.h"
#include "base/error.h"

#define SUMMARY_OUTPUT_LEVEL(f, n, c, t, s, w)                                                         \
	{                                                                                              \
		.functions = (f), .nodes = (n), .changes = (c), .notes = (t), .states = (s),           \
		.commands = SUMMARY_COMMANDS, .name_width = (w), .has_origin = true, .has_trust = true \
	}

/* Levels of detail in descending order. The first exceeds a screen, and is used if the budget allows it; the second
 * fills a screen. */
static const struct summary_limits levels[] = {
	SUMMARY_OUTPUT_LEVEL(60, 90, 40, 10, 8, 160),
	SUMMARY_OUTPUT_LEVEL(30, 48, 20, 8, 8, 120),
	SUMMARY_OUTPUT_LEVEL(20, 30, 14, 8, 8, 100),
	SUMMARY_OUTPUT_LEVEL(14, 22, 10, 8, 6, 100),
	SUMMARY_OUTPUT_LEVEL(10, 16, 8, 6, 6, 100),
	SUMMARY_OUTPUT_LEVEL(8, 12, 6, 4, 5, 80),
	SUMMARY_OUTPUT_LEVEL(6, 9, 5, 3, 4, 70),
	SUMMARY_OUTPUT_LEVEL(5, 6, 4, 2, 4, 60),
	SUMMARY_OUTPUT_LEVEL(4, 4, 3, 2, 3, 50),
	SUMMARY_OUTPUT_LEVEL(3, 3, 2, 1, 2, 40),
	SUMMARY_OUTPUT_LEVEL(3, 1, 1, 1, 1, 30),
	SUMMARY_OUTPUT_LEVEL(2, 0, 1, 1, 1, 24),
	SUMMARY_OUTPUT_LEVEL(1, 0, 1, 0, 0, 20),
	{.functions = 3, .changes = 1, .commands = 2, .name_width = 30, .has_trust = true},
	{.functions = 2, .changes = 1, .commands = 1, .name_width = 24, .has_trust = true},
	{.functions = 1, .commands = 1, .name_width = 20, .has_trust = true},
	{.functions = 3, .name_width = 24, .has_trust = true},
	{.functions = 2, .name_width = 20},
	{.functions = 1, .name_width = 16},
	{.functions = 1, .name_width = 8},
};
#define LEVEL_OF_SCREEN 4

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
	for (size_t level = form->budget ? 0 : LEVEL_OF_SCREEN; level < ARRAY_LEN(levels); level++) {
		text_clear(out);
		(form->is_json ? summary_json : summary_text)(facts, &levels[level], out);
		if (out->failed)
			return error_nomem(err);
		count = summary_characters(out);
		if (form->budget == 0 || count <= form->budget)
			return TALLY_OK;
	}
	return error_set(err, TALLY_LIMIT,
		"the shortest summary has %llu characters, and --budget allows %llu: allow as many",
		(unsigned long long)count, (unsigned long long)form->budget);
}
