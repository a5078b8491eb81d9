/* SPDX-License-Identifier: Apache-2.0 */
#include "view/html/page_counts.h"

#include <inttypes.h>
#include <math.h>

#include "view/page/page_data.h"

#define WHOLE_MOST 9007199254740992.0 /* 2^53: scripts cannot represent all larger integers. */

static bool page_counts_is_shown(const struct export_counts *counts, size_t event)
{
	for (size_t round = 0; counts->events[event].is_merged && round < counts->round_count; round++)
		if (!isnan(counts->values[round * counts->event_count + event]))
			return true;
	return !counts->events[event].is_merged;
}

static void page_counts_add_number(struct text *out, double value)
{
	if (!isfinite(value))
		text_str(out, "null");
	else
		text_fixed(out, value, fabs(value) <= WHOLE_MOST && value != trunc(value) ? 6 : 0);
}

static void add_round(struct text *out, const struct export_counts *counts, size_t round)
{
	const struct export_count_round *r = &counts->rounds[round];
	const char *separator = "";
	text_char(out, '[');
	page_counts_add_number(out, r->end_s);
	text_char(out, ',');
	page_counts_add_number(out, r->elapsed_s);
	text_str(out, ",[");
	for (size_t i = 0; i < counts->event_count; i++) {
		if (!page_counts_is_shown(counts, i))
			continue;
		text_str(out, separator);
		page_counts_add_number(out, counts->values[round * counts->event_count + i]);
		separator = ",";
	}
	text_str(out, "]]");
	(void)text_line_end(out);
}

void page_counts(struct text *out, const struct export_counts *counts)
{
	const char *separator = "";
	if (!counts || counts->round_count == 0) {
		text_str(out, "null");
		return;
	}
	text_str(out, "[[");
	for (size_t i = 0; i < counts->event_count; i++) {
		if (!page_counts_is_shown(counts, i))
			continue;
		text_printf(out, "%s[", separator);
		page_string(out, counts->events[i].name);
		text_char(out, ',');
		page_string(out, counts->events[i].unit);
		text_char(out, ',');
		text_fixed(out, counts->events[i].least_share, 1);
		if (counts->events[i].place.len > 0) {
			text_char(out, ',');
			page_string(out, counts->events[i].place);
		}
		text_char(out, ']');
		separator = ",";
	}
	text_str(out, "],[");
	for (size_t round = 0; round < counts->round_count; round++) {
		text_str(out, round ? ",\n" : "\n");
		add_round(out, counts, round);
	}
	text_printf(out, "],%" PRIu64 "]", counts->rounds_left_out);
}
