#include "view/text/percent_text.h"

#define MIN_RED	  5.0 /* percent; perf's bounds */
#define MIN_GREEN 0.5

const char *percent_colour(double percent)
{
	return percent >= MIN_RED ? "\033[31m" : percent >= MIN_GREEN ? "\033[32m" : "";
}

void percent_text(struct text *out, double percent, size_t width, bool with_colours)
{
	const char *colour = with_colours ? percent_colour(percent) : "";
	text_str(out, colour);
	text_fixed_right(out, percent, 2, width ? width - 1 : 0);
	text_char(out, '%');
	if (*colour)
		text_str(out, COLOUR_END);
}
