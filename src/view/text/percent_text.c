/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/percent_text.h"

#define MIN_RED	  5.0 /* Percentages from which on perf uses red and green. */
#define MIN_GREEN 0.5

enum percent_heat percent_heat(double percent)
{
	return percent >= MIN_RED ? PERCENT_HOT : percent >= MIN_GREEN ? PERCENT_WARM : PERCENT_COOL;
}

const char *percent_colour(double percent)
{
	static const char *const colours[] = {"", "\033[32m", "\033[31m"};
	return colours[percent_heat(percent)];
}

void percent_text(struct text *out, double percent, size_t width, bool with_colours)
{
	const char *colour = with_colours ? percent_colour(percent) : "";
	text_colour(out, colour);
	text_fixed_right(out, percent, 2, width ? width - 1 : 0);
	text_char(out, '%');
	if (*colour)
		text_colour(out, COLOUR_END);
}
