/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_number.h"

#include <string.h>

void stat_number(struct text *t, const char *point, double value, unsigned decimals, size_t width)
{
	struct text digits = {0}, number = {0};
	text_fixed(&digits, value, decimals);
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.data[i] == '.' && point)
			text_str(&number, point);
		else
			text_char(&number, digits.data[i]);
	}
	text_str_right(t, (struct tally_str){number.data, number.len}, width);
	t->failed |= digits.failed || number.failed;
	text_deinit(&digits);
	text_deinit(&number);
}
