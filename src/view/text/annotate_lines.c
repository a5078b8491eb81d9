/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/annotate_lines.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"

static double annotate_lines_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

double annotate_percent_of(
	const struct annotate_function *function, enum annotate_percent kind, uint32_t values, uint32_t event)
{
	if (values == ANNOTATE_NONE)
		return 0;
	const struct annotate_value *value = &function->values[values + event];
	const struct annotate_event *of = &function->events[event];
	switch (kind) {
	case ANNOTATE_LOCAL_PERIOD:
		return annotate_lines_share(value->period, of->function.period);
	case ANNOTATE_GLOBAL_PERIOD:
		return annotate_lines_share(value->period, of->whole.period);
	case ANNOTATE_LOCAL_HITS:
		return annotate_lines_share(value->count, of->function.count);
	case ANNOTATE_GLOBAL_HITS:
		break;
	}
	return annotate_lines_share(value->count, of->whole.count);
}

double annotate_hottest(const struct annotate_function *function, enum annotate_percent kind, uint32_t values)
{
	double hottest = 0;
	for (uint32_t i = 0; i < function->event_count; i++) {
		double percent = annotate_percent_of(function, kind, values, i);
		hottest = MAX(percent, hottest);
	}
	return hottest;
}

const char *annotate_percent_name(enum annotate_percent kind)
{
	switch (kind) {
	case ANNOTATE_LOCAL_PERIOD:
		return "local period";
	case ANNOTATE_GLOBAL_PERIOD:
		return "global period";
	case ANNOTATE_LOCAL_HITS:
		return "local hits";
	case ANNOTATE_GLOBAL_HITS:
		break;
	}
	return "global hits";
}

static void annotate_lines_add_number(struct text *out, double number, unsigned decimals)
{
	if (number > 0)
		text_fixed_right(out, number, decimals, ANNOTATE_CYCLES_WIDTH / 2 - 1);
	else
		text_repeat(out, ' ', ANNOTATE_CYCLES_WIDTH / 2 - 1);
	text_char(out, ' ');
}

void annotate_cycles(struct text *out, const struct annotate_line *line)
{
	annotate_lines_add_number(out, line->ipc, 2);
	annotate_lines_add_number(out, line->cycles, 0);
}

void annotate_cycle_range(struct text *out, const struct annotate_line *line)
{
	char room[64] = "";
	if (line->cycles > 0)
		snprintf(room, sizeof(room), "%.0f(%" PRIu64 "/%" PRIu64 ")", line->cycles, line->least_cycles,
			line->most_cycles);
	annotate_lines_add_number(out, line->ipc, 2);
	text_str_right(out, str_from(room), ANNOTATE_CYCLE_RANGE_WIDTH - ANNOTATE_CYCLES_WIDTH / 2 - 1);
	text_char(out, ' ');
}

const char *annotate_arrow(const struct annotate_function *function, const struct annotate_line *line)
{
	switch (line->flow) {
	case ANNOTATE_JUMP:
		if (line->target == ANNOTATE_NONE)
			return "→ ";
		return function->lines[line->target].address > line->address ? "↓ " : "↑ ";
	case ANNOTATE_CALL:
		return "→ ";
	case ANNOTATE_RETURN:
		return "← ";
	case ANNOTATE_PLAIN:
		break;
	}
	return "  ";
}
