/* SPDX-License-Identifier: Apache-2.0 */
#include "grid_golden.h"
#include "unit_test.h"
#include "view/tui/tui_input.h"
#include "view/tui/tui_line.h"
#include "view/tui/tui_list.h"

static void the_cursor_is_always_on_the_screen(void **state)
{
	struct tui_list list = {.count = 100, .page = 10};
	tui_list_move(&list, 12);
	assert_int_equal(list.cursor, 12);
	assert_int_equal(list.top, 3);
	tui_list_move(&list, -100);
	assert_int_equal(list.cursor + list.top, 0);
	tui_list_go(&list, 50);
	assert_int_equal(list.top, 45);
	tui_list_go(&list, 47);
	assert_int_equal(list.top, 45);
	assert_true(tui_list_key(&list, 'G', 1));
	assert_int_equal(list.cursor, 99);
	assert_int_equal(list.top, 90);
	list.count = 5;
	tui_list_settle(&list);
	assert_int_equal(list.cursor, 4);
	assert_int_equal(list.top, 0);
	list.count = 0;
	tui_list_move(&list, 1);
	assert_int_equal(list.cursor, 0);
	list.page = 0;
	tui_list_settle(&list);
	assert_false(tui_list_key(&list, 'x', 1));
}

static void clicks_and_the_wheel(void **state)
{
	struct tui_list list = {.count = 100, .page = 10};
	assert_true(tui_list_key(&list, tui_mouse(TUI_MOUSE_WHEEL_DOWN, 5, 5), 2));
	assert_int_equal(list.cursor, TUI_WHEEL_LINES);
	assert_true(tui_list_key(&list, tui_mouse(TUI_MOUSE_CLICK, 9, 70), 2));
	assert_int_equal(list.cursor, 7);
	assert_true(tui_list_key(&list, tui_mouse(TUI_MOUSE_CLICK, 1, 70), 2)); /* Above the lines. */
	assert_true(tui_list_key(&list, tui_mouse(TUI_MOUSE_CLICK, 12, 70), 2)); /* Below the lines. */
	assert_int_equal(list.cursor, 7);
	assert_false(tui_list_key(&list, tui_mouse(TUI_MOUSE_DOUBLE, 3, 0), 2));
	uint32_t far = tui_mouse(TUI_MOUSE_CLICK, 100000, 20000);
	assert_int_equal(tui_mouse_act(far), TUI_MOUSE_CLICK);
	assert_int_equal(tui_mouse_row(far), TUI_MOUSE_CELL);
	assert_int_equal(tui_mouse_column(far), TUI_MOUSE_CELL);
	assert_false(tui_is_mouse('x') || tui_is_mouse(TUI_KEY_OTHER));
}

static void texts_are_typed(void **state)
{
	struct tui_input input;
	tui_input_start(&input, "ab");
	assert_int_equal(tui_input_key(&input, 0xe9), TUI_TYPED_MORE);
	assert_int_equal(tui_input_key(&input, 0x6f22), TUI_TYPED_MORE);
	assert_string_equal(input.text, "ab\xc3\xa9\xe6\xbc\xa2");
	(void)tui_input_key(&input, TUI_KEY_BACKSPACE);
	(void)tui_input_key(&input, 0x7f);
	(void)tui_input_key(&input, TUI_KEY_UP);
	(void)tui_input_key(&input, tui_mouse(TUI_MOUSE_CLICK, 1, 1));
	assert_string_equal(input.text, "ab");
	assert_int_equal(tui_input_key(&input, '\r'), TUI_TYPED_WHOLE);
	assert_int_equal(tui_input_key(&input, TUI_KEY_ESCAPE), TUI_TYPED_NOTHING);
	(void)tui_input_key(&input, TUI_KEY_CTRL('u'));
	assert_string_equal(input.text, "");
	(void)tui_input_key(&input, TUI_KEY_BACKSPACE);
	for (int i = 0; i < 2 * TUI_INPUT_BYTES; i++)
		(void)tui_input_key(&input, 0xe9);
	assert_true(input.len < TUI_INPUT_BYTES);
}

static void lines_are_cut_and_shifted(void **state)
{
	struct grid grid = {0};
	struct tui_line line = {0};
	struct text shown = {0};
	assert_true(grid_resize(&grid, 2, 8));
	text_str(&line.text, "ab");
	tui_line_style(&line, GRID_HOT);
	text_str(&line.text, "cd\xe6\xbc\xa2");
	tui_line_style(&line, GRID_PLAIN);
	text_str(&line.text, "efgh");
	tui_line_put(&line, &grid, 0, 1);
	tui_line_put(&line, &grid, 1, 5); /* Inside the wide character. */
	grid_text(&grid, &shown);
	grid_style_text(&grid, &shown);
	text_char(&shown, 0);
	assert_string_equal(shown.data, "bcd\xe6\xbc\xa2"
					"efg\nefgh\n HHHH\n\n");
	text_deinit(&shown);
	text_deinit(&line.text);
	grid_deinit(&grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cursor_is_always_on_the_screen),
		cmocka_unit_test(clicks_and_the_wheel),
		cmocka_unit_test(texts_are_typed),
		cmocka_unit_test(lines_are_cut_and_shifted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
