/* SPDX-License-Identifier: Apache-2.0 */
/*
 * percent_text.h - prints percentages in the format of reports: two decimals, aligned, large ones red, medium ones
 * green.
 *
 *	percent_text(&out, 12.5, 8, true);	// "  12.50%" in red
 */
#ifndef VIEW_TEXT_PERCENT_TEXT_H
#define VIEW_TEXT_PERCENT_TEXT_H

#include "base/text.h"

#define COLOUR_END "\033[m"

enum percent_heat { PERCENT_COOL, PERCENT_WARM, PERCENT_HOT };
enum percent_heat percent_heat(double percent);
/* Returns the escape sequence for the colour of a percentage, which may be empty. */
const char *percent_colour(double percent);
/* Prints a percentage, right-aligned in width columns that include the sign; width 0 means no alignment. */
void percent_text(struct text *out, double percent, size_t width, bool with_colours);

#endif
