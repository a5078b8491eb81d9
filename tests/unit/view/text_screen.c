/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/text_screen.h"

#include "grid_golden.h"
#include "unit_test.h"

static enum text_screen_action press(struct text_screen *s, const char *pressed)
{
	enum text_screen_action action = TEXT_SCREEN_STAY;
	for (; *pressed; pressed++)
		action = text_screen_key(s, *pressed == '$' ? '\r' : (uint32_t)*pressed);
	return action;
}

static void a_page(void **state)
{
	struct text_screen page;
	struct grid grid = {0};
	struct text text = {0};
	for (int i = 0; i < 60; i++)
		text_printf(&text, "# line %d\tof \xc3\xa9 many : %d, with more than fits into a narrow screen\n", i,
			i * i);
	text_str(&text, "no newline");
	assert_int_equal(text_screen_init(&page, "Header", &text, NULL), TALLY_OK);
	assert_null(text.data);
	assert_int_equal(page.list.count, 61);
	text_screen_resize(&page, 24, 80);
	assert_true(text_screen_draw(&page, &grid));
	assert_grid_is_golden(&grid, "page-80x24");
	text_screen_resize(&page, 50, 200);
	assert_true(text_screen_draw(&page, &grid));
	assert_grid_is_golden(&grid, "page-200x50");
	text_screen_resize(&page, 24, 80);
	press(&page, "/1600$");
	assert_int_equal(page.list.cursor, 40);
	text_screen_key(&page, TUI_KEY_RIGHT);
	text_screen_resize(&page, 12, 40);
	assert_true(text_screen_draw(&page, &grid));
	assert_grid_is_golden(&grid, "page-40x12");
	press(&page, "n");
	assert_string_equal(page.frame.message, "searched on from the other end");
	press(&page, "/nothing$");
	assert_string_equal(page.frame.message, "no line has 'nothing' in it");
	press(&page, "/x");
	text_screen_key(&page, TUI_KEY_ESCAPE);
	assert_int_equal(page.frame.mode, TUI_BROWSE);
	press(&page, "x");
	assert_string_equal(page.frame.message, "unknown key 'x': press ? for help");
	text_screen_resize(&page, 24, 80);
	press(&page, "?");
	assert_true(text_screen_draw(&page, &grid));
	assert_grid_is_golden(&grid, "page-help-80x24");
	press(&page, "x");
	assert_string_equal(page.frame.message, "");
	text_screen_resize(&page, 0, 0);
	assert_true(text_screen_draw(&page, &grid));
	text_screen_resize(&page, 1, 1);
	assert_true(text_screen_draw(&page, &grid));
	assert_int_equal(press(&page, "q"), TEXT_SCREEN_BACK);
	assert_int_equal(text_screen_key(&page, TUI_KEY_CTRL('c')), TEXT_SCREEN_LEAVE);
	text_screen_deinit(&page);
	grid_deinit(&grid);
}

static void nothing_to_show(void **state)
{
	struct text_screen page;
	struct grid grid = {0};
	struct text text = {0};
	assert_int_equal(text_screen_init(&page, "Header", &text, NULL), TALLY_OK);
	press(&page, "Gjn");
	press(&page, "x$n");
	assert_true(text_screen_draw(&page, &grid));
	text_screen_deinit(&page);
	grid_deinit(&grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_page), cmocka_unit_test(nothing_to_show)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
