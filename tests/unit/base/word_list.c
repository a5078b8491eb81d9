/* SPDX-License-Identifier: Apache-2.0 */
#include "base/word_list.h"

#include "unit_test.h"

static void words_between_commas(void **state)
{
	assert_true(word_list_has("cc1,ld", STR("ld")));
	assert_true(word_list_has("cc1, ld", STR("ld")));
	assert_false(word_list_has("cc1,ld", STR("l")));
	assert_false(word_list_has("", STR("l")));
	assert_true(word_list_has_number("5,-1,12", -1));
	assert_false(word_list_has_number("5,-1,12", 1));
}

static void words_of_lines_may_have_commas(void **state)
{
	assert_true(word_list_has("f(int, long)\ncc1\n", STR("f(int, long)")));
	assert_true(word_list_has("f(int, long)\ncc1\n", STR("cc1")));
	assert_false(word_list_has("f(int, long)\n", STR("f(int")));
}

static void the_only_word(void **state)
{
	assert_true(str_equal(word_list_single("cc1"), STR("cc1")));
	assert_true(str_equal(word_list_single(",cc1,"), STR("cc1")));
	assert_true(str_equal(word_list_single("f(int, long)\n"), STR("f(int, long)")));
	assert_int_equal(word_list_single("cc1,ld").len, 0);
	assert_int_equal(word_list_single("").len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_between_commas),
		cmocka_unit_test(words_of_lines_may_have_commas),
		cmocka_unit_test(the_only_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
