/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_number.h"

#include <string.h>

void stat_number(struct text *t, const char *point, double value, unsigned decimals, int width)
{
	struct text digits = {0};
	size_t start = t->len;
	text_fixed(&digits, value, decimals);
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.data[i] == '.' && point)
			text_str(t, point);
		else
			text_char(t, digits.data[i]);
	}
	text_align_from(t, start, width);
	t->failed |= digits.failed;
	text_deinit(&digits);
}
