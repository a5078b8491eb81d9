/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/grid.h"

#include "grid_golden.h"
#include "unit_test.h"

static void assert_shown(struct tally_str text, unsigned columns, const char *expected, unsigned expected_end)
{
	struct grid grid = {0};
	struct text out = {0};
	assert_true(grid_resize(&grid, 1, columns));
	assert_int_equal(grid_put(&grid, 0, 0, text, GRID_PLAIN), expected_end);
	grid_text(&grid, &out);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	grid_deinit(&grid);
}

static void text_is_cut_at_the_edge(void **state)
{
	assert_shown(STR("main"), 10, "main\n", 4);
	assert_shown(STR("main"), 3, "mai\n", 3);
	assert_shown(STR(""), 3, "\n", 0);
	assert_shown(STR("x"), 0, "\n", 0);
}

static void characters_take_the_cells_they_need(void **state)
{
	assert_shown(STR("h\xc3\xa9llo"), 10, "h\xc3\xa9llo\n", 5);
	assert_shown(STR("e\xcc\x81!"), 10, "e!\n", 2); /* A combining mark has no width. */
	assert_shown(STR("\xe6\xbc\xa2\xe5\xad\x97"), 4, "\xe6\xbc\xa2\xe5\xad\x97\n", 4);
	/* Half of a wide character is not shown. */
	assert_shown(STR("\xe6\xbc\xa2\xe5\xad\x97"), 3, "\xe6\xbc\xa2\n", 2);
}

static void what_is_no_text_becomes_a_question_mark(void **state)
{
	assert_shown(STR("a\x1b[31mb"), 10, "a?[31mb\n", 7);
	assert_shown(STR("a\xff"
			 "b\xc3"),
		10, "a?b?\n", 4);
	assert_shown(STR("\xed\xa0\x80"), 10, "?\n", 1); /* A surrogate. */
	assert_shown(STR("\xc0\x80"), 10, "??\n", 2); /* An overlong encoding. */
	assert_shown(STR("\xc2\x9b"), 10, "?\n", 1); /* A control character of terminals. */
}

static void rows_outside_are_left_alone(void **state)
{
	struct grid grid = {0};
	struct text out = {0};
	assert_true(grid_resize(&grid, 2, 3));
	grid_put(&grid, 2, 0, STR("x"), GRID_PLAIN);
	grid_put(&grid, 1, 5, STR("x"), GRID_PLAIN);
	grid_select(&grid, 7);
	grid_fill(&grid, 7, GRID_TITLE);
	grid_fill(&grid, 0, GRID_TITLE);
	grid_select(&grid, 1);
	grid_text(&grid, &out);
	grid_style_text(&grid, &out);
	text_char(&out, 0);
	assert_string_equal(out.data, "\n\nttt\nSSS\n");
	text_deinit(&out);
	grid_deinit(&grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_at_the_edge),
		cmocka_unit_test(characters_take_the_cells_they_need),
		cmocka_unit_test(what_is_no_text_becomes_a_question_mark),
		cmocka_unit_test(rows_outside_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
