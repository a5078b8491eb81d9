/* SPDX-License-Identifier: Apache-2.0 */
/*
 * percent_text.h - prints percentages as reports show them: two decimals, aligned, large ones red, medium ones green.
 *
 *	percent_text(&out, 12.5, 8, true);	// "  12.50%" in red
 */
#ifndef VIEW_TEXT_PERCENT_TEXT_H
#define VIEW_TEXT_PERCENT_TEXT_H

#include "base/text.h"

#define COLOUR_END "\033[m"

enum percent_heat { PERCENT_COOL, PERCENT_WARM, PERCENT_HOT };
enum percent_heat percent_heat(double percent);
/* What is printed before a percentage to colour it; empty: nothing. */
const char *percent_colour(double percent);
/* Right-aligned in width columns, the sign included; 0: as wide as it is. */
void percent_text(struct text *out, double percent, size_t width, bool with_colours);

#endif
