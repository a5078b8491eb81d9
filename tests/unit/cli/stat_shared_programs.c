/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_shared_programs.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static void lists_of_ids(void **state)
{
	static const struct {
		const char *text;
		bool is_valid;
	} cases[] = {{"17", true}, {"17,18", true}, {"17, 18", true}, {"4294967295", true}, {"", false}, {"0", false},
		{"x", false}, {"17,x", false}, {"-1", false}, {"4294967296", false}, {"17,,18", false}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(stat_shared_programs_are_valid(cases[i].text), cases[i].is_valid);
}

/* A program that is named twice uses only one slot. */
static void at_most_64(void **state)
{
	char text[1024] = "";
	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(text, "17,");
	assert_true(stat_shared_programs_are_valid(strcat(text, "18")));
	text[0] = 0;
	for (int i = 1; i <= 64; i++)
		sprintf(text + strlen(text), "%s%d", i > 1 ? "," : "", i);
	assert_true(stat_shared_programs_are_valid(text));
	assert_false(stat_shared_programs_are_valid(strcat(text, ",65")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lists_of_ids), cmocka_unit_test(at_most_64)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
