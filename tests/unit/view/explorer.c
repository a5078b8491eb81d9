/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/array.h"
#include "grid_golden.h"
#include "profile_text.h"
#include "unit_test.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_keys.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"

static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key columns[] = {KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key order[] = {KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};

static const char program[] = "event cycles\n"
			      "cc1 7/7 0 0 500 main@cc1;compile@cc1;parse@cc1;lex@cc1\n"
			      "cc1 7/7 0 0 200 main@cc1;compile@cc1;parse@cc1;memcpy@libc.so.6\n"
			      "cc1 7/7 0 0 150 main@cc1;compile@cc1;emit@cc1;write@[kernel.kallsyms]\n"
			      "cc1 7/7 0 0 80 main@cc1;compile@cc1\n"
			      "ld 9/9 0 0 60 main@ld;link@ld;memcpy@libc.so.6\n"
			      "ld 9/9 0 0 6 main@ld;link@ld;0x1f@libx.so\n"
			      "ld 9/9 0 0 4 h\xc3\xa9llo@ld;\n";

struct fixture {
	struct profile *profile;
	struct flat_table table;
	struct explorer explorer;
	struct grid grid;
};

static void open_explorer(struct fixture *f, const char *text)
{
	struct tally_error err;
	struct flat_options flat = {.keys = keys,
		.key_count = 3,
		.member_count = 1,
		.with_children = true,
		.with_chains = true,
		.is_caller_first = true};
	struct report_text_options options = {.columns = columns,
		.column_count = 5,
		.with_children = true,
		.chains = {.style = CHAIN_GRAPH, .value = CHAIN_PERCENT, .min_percent = 0.5}};
	*f = (struct fixture){.profile = profile_from_text(text)};
	assert_int_equal(flat_table_init(&f->table, f->profile, &flat, &err), TALLY_OK);
	assert_int_equal(flat_table_sort(&f->table, order, 5, &err), TALLY_OK);
	assert_int_equal(explorer_init(&f->explorer, &f->table, &options,
				 "Samples: 7  of event 'cycles', Event count (approx.): 1000", &err),
		TALLY_OK);
}

static void close_explorer(struct fixture *f)
{
	assert_false(f->explorer.failed);
	explorer_deinit(&f->explorer);
	flat_table_deinit(&f->table);
	profile_destroy(f->profile);
	grid_deinit(&f->grid);
}

/* ^ stands for Escape, $ for Enter, v and A for the arrows Down and Up, \x01 and \x02 for next and previous page, ~ for
 * End. */
static void press(struct fixture *f, const char *pressed)
{
	for (; *pressed; pressed++) {
		static const char special[] = "^$vA\x01\x02~";
		static const uint32_t codes[] = {TUI_KEY_ESCAPE, '\r', TUI_KEY_DOWN, TUI_KEY_UP, TUI_KEY_PAGE_DOWN,
			TUI_KEY_PAGE_UP, TUI_KEY_END};
		const char *found = strchr(special, *pressed);
		uint32_t key = found ? codes[found - special] : (uint32_t)*pressed;
		assert_int_equal(explorer_key(&f->explorer, key), EXPLORER_STAY);
	}
}

static void assert_screen(struct fixture *f, unsigned rows, unsigned screen_columns, const char *name)
{
	explorer_resize(&f->explorer, rows, screen_columns);
	assert_true(explorer_draw(&f->explorer, "", &f->grid));
	assert_grid_is_golden(&f->grid, name);
}

static void the_table(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	assert_screen(&f, 24, 80, "table-80x24");
	assert_screen(&f, 50, 200, "table-200x50");
	assert_screen(&f, 12, 40, "table-40x12");
	close_explorer(&f);
}

static void chains_open_level_by_level(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	press(&f, "$");
	assert_screen(&f, 24, 80, "row-open");
	press(&f, "jj$vv+");
	assert_screen(&f, 24, 80, "chain-open");
	assert_screen(&f, 50, 200, "chain-open-200x50");
	press(&f, "V");
	assert_screen(&f, 24, 80, "chain-objects-80x24");
	press(&f, "V");
	press(&f, "C");
	assert_int_equal(f.explorer.cursor.line, 0);
	press(&f, "E");
	assert_screen(&f, 50, 200, "all-open-200x50");
	assert_screen(&f, 24, 40, "all-open-40x24");
	press(&f, "C");
	assert_screen(&f, 24, 80, "table-80x24-again");
	press(&f, "e");
	size_t opened = explorer_fold_at(&f.explorer, f.explorer.cursor.row)->line_count;
	press(&f, "vvc");
	assert_int_equal(f.explorer.cursor.line, 0);
	assert_null(explorer_fold_at(&f.explorer, f.explorer.cursor.row));
	press(&f, "e");
	assert_int_equal(explorer_fold_at(&f.explorer, f.explorer.cursor.row)->line_count, opened);
	close_explorer(&f);
}

static void the_cursor_stays_on_the_screen(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	explorer_resize(&f.explorer, 6, 80); /* Three lines of the table. */
	press(&f, "A\x02");
	assert_int_equal(f.explorer.cursor.row, 0);
	press(&f, "\x01");
	assert_int_equal(f.explorer.cursor.row, 3);
	assert_int_equal(f.explorer.top.row, 1);
	press(&f, "~");
	assert_int_equal(f.explorer.cursor.row, f.explorer.visible_count - 1);
	assert_int_equal(f.explorer.top.row, f.explorer.visible_count - 3);
	press(&f, "vvv\x02");
	assert_int_equal(f.explorer.cursor.row, f.explorer.visible_count - 4);
	press(&f, "g");
	assert_int_equal(f.explorer.top.row, 0);
	press(&f, "E~");
	explorer_resize(&f.explorer, 1, 1);
	assert_true(explorer_draw(&f.explorer, "1/2", &f.grid));
	explorer_resize(&f.explorer, 0, 0);
	assert_true(explorer_draw(&f.explorer, "1/2", &f.grid));
	close_explorer(&f);
}

static void zooms_and_what_takes_them_back(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	size_t all = f.explorer.visible_count;
	press(&f, "/memcpy$");
	assert_int_equal(f.explorer.visible_count, 2);
	press(&f, "t");
	assert_int_equal(f.explorer.visible_count, 1);
	assert_screen(&f, 8, 120, "zoomed-120x8");
	press(&f, "^");
	assert_int_equal(f.explorer.visible_count, 2);
	press(&f, "/$");
	assert_int_equal(f.explorer.visible_count, all);
	press(&f, "/nothing$");
	assert_int_equal(f.explorer.visible_count, 0);
	assert_screen(&f, 8, 80, "nothing-80x8");
	press(&f, "eEcCtd+jk~g^$^");
	assert_int_equal(f.explorer.visible_count, all);
	press(&f, "/mem^");
	assert_int_equal(f.explorer.visible_count, all);
	assert_int_equal(f.explorer.mode, EXPLORER_TABLE);
	press(&f, "d");
	assert_in_range(f.explorer.visible_count, 1, all - 1);
	press(&f, "d");
	assert_int_equal(f.explorer.visible_count, all);
	press(&f, "^");
	assert_string_equal(f.explorer.message, "nothing to take back: q leaves");
	close_explorer(&f);
}

static void the_percent_limit(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	size_t all = f.explorer.visible_count;
	press(&f, "L50$");
	assert_int_equal(f.explorer.visible_count, 4); /* main, compile, parse and lex of cc1. */
	press(&f, "Lx$");
	assert_int_equal(f.explorer.visible_count, 4);
	assert_string_equal(f.explorer.message, "a percentage from 0 to 100 is wanted, not 'x'");
	press(&f, "L0$");
	assert_int_equal(f.explorer.visible_count, all);
	press(&f, "L1");
	assert_screen(&f, 8, 80, "asking-80x8");
	explorer_key(&f.explorer, TUI_KEY_BACKSPACE);
	assert_string_equal(f.explorer.input.text, "");
	for (int i = 0; i < 500; i++)
		press(&f, "1");
	assert_true(f.explorer.input.len < TUI_INPUT_BYTES);
	press(&f, "^");
	close_explorer(&f);
}

static unsigned lines_of_key(const struct tui_help *help, size_t count, char key)
{
	unsigned lines = 0;
	for (size_t i = 0; i < count; i++)
		for (const char *at = help[i].keys; at && *at; at += strcspn(at, " ,"), at += strspn(at, " ,"))
			lines += at[0] == key && (!at[1] || strchr(" ,", at[1]));
	return lines;
}

/* A screen with its own keys lists none of them twice. */
static void help_lists_each_key_once(void **state)
{
	size_t count;
	const struct tui_help *help = explorer_help(&count);
	struct tui_help *rest = calloc(count, sizeof(*rest));
	assert_non_null(rest);
	size_t left = explorer_help_without("fSiW|", rest);
	for (char key = '!'; key <= '~'; key++) {
		unsigned lines = lines_of_key(help, count, key);
		assert_true(lines <= 1);
		assert_int_equal(lines_of_key(rest, left, key), strchr("fSiW|", key) ? 0 : lines);
	}
	assert_int_equal(lines_of_key(help, count, 'S'), 1);
	assert_int_equal(left, count - 5);
	assert_int_equal(explorer_help_without("", rest), count);
	free(rest);
}

static void help_and_other_keys(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	press(&f, "?");
	assert_screen(&f, 24, 80, "help-80x24");
	assert_screen(&f, 50, 200, "help-200x50");
	assert_screen(&f, 12, 40, "help-40x12");
	press(&f, "jjjjkA\x01\x01\x01\x01\x02~");
	assert_int_equal(f.explorer.mode, EXPLORER_TABLE);
	press(&f, "Z");
	assert_string_equal(f.explorer.message, "unknown key 'Z': press ? for help");
	press(&f, "1");
	assert_string_equal(f.explorer.message, "rows are of one event: --group has several side by side");
	assert_int_equal(explorer_key(&f.explorer, 'a'), EXPLORER_ANNOTATE);
	press(&f, "Z");
	assert_int_equal(explorer_key(&f.explorer, TUI_KEY_NONE), EXPLORER_STAY);
	assert_string_equal(f.explorer.message, "unknown key 'Z': press ? for help");
	assert_int_equal(explorer_key(&f.explorer, '\t'), EXPLORER_NEXT_EVENT);
	assert_int_equal(explorer_key(&f.explorer, '<'), EXPLORER_PREVIOUS_EVENT);
	assert_int_equal(explorer_key(&f.explorer, 'P'), EXPLORER_PRINT);
	assert_int_equal(explorer_key(&f.explorer, 'q'), EXPLORER_QUIT);
	press(&f, "/");
	assert_int_equal(explorer_key(&f.explorer, 'q'), EXPLORER_STAY);
	assert_int_equal(explorer_key(&f.explorer, TUI_KEY_CTRL('c')), EXPLORER_QUIT);
	close_explorer(&f);
}

static struct tally_str function_at_cursor(struct fixture *f)
{
	uint32_t function = explorer_function(&f->explorer);
	if (function == PROFILE_NONE)
		return STR("none");
	return profile_string(f->profile, f->profile->functions[function].name);
}

static void menus(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	press(&f, "m");
	assert_screen(&f, 24, 80, "menu-80x24");
	assert_screen(&f, 50, 200, "menu-200x50");
	assert_screen(&f, 12, 40, "menu-40x12");
	press(&f, "^");
	assert_int_equal(f.explorer.mode, EXPLORER_TABLE);
	press(&f, "mjjj$"); /* Zooms into the thread. */
	assert_true(explorer_is_zoomed(&f.explorer, ZOOM_THREAD));
	press(&f, "^o");
	explorer_key(&f.explorer, 'G');
	assert_int_equal(explorer_key(&f.explorer, '\r'), EXPLORER_ORDER);
	assert_int_equal(f.explorer.order, KEY_SYMBOL);
	assert_int_equal(flat_table_sort(&f.table, &f.explorer.order, 1, NULL), TALLY_OK);
	explorer_select_rows(&f.explorer);
	assert_int_equal(f.explorer.cursor.row, 5); /* main of cc1, as before. */
	press(&f, "|jj$");
	assert_int_equal(f.explorer.mode, EXPLORER_MENU);
	assert_screen(&f, 24, 80, "columns-80x24");
	assert_screen(&f, 50, 200, "columns-200x50");
	press(&f, "q");
	assert_screen(&f, 24, 80, "ordered-80x24");
	press(&f, "|");
	for (int i = 0; i < 7; i++)
		press(&f, "$v");
	assert_int_equal(f.explorer.options.column_count, 1);
	assert_string_equal(f.explorer.message, "");
	press(&f, "A");
	while (f.explorer.options.column_count == 1 && !f.explorer.message[0])
		press(&f, "$A");
	press(&f, "^");
	assert_int_equal(explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_CLICK, 3, 3)), EXPLORER_STAY);
	press(&f, "mG");
	assert_int_equal(explorer_key(&f.explorer, '\r'), EXPLORER_QUIT);
	close_explorer(&f);
}

static void searching_filters_nothing(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	size_t all = f.explorer.visible_count;
	press(&f, "nmem$");
	assert_int_equal(f.explorer.visible_count, all);
	assert_true(str_equal(function_at_cursor(&f), STR("memcpy")));
	size_t first = f.explorer.cursor.row;
	press(&f, "n");
	assert_true(f.explorer.cursor.row > first);
	press(&f, "n");
	assert_int_equal(f.explorer.cursor.row, first);
	assert_string_equal(f.explorer.message, "searched on from the other end");
	press(&f, "N");
	assert_true(f.explorer.cursor.row > first);
	press(&f, "fnothing$");
	assert_string_equal(f.explorer.message, "no row has 'nothing' in it");
	press(&f, "flibc.so$");
	assert_true(str_equal(function_at_cursor(&f), STR("memcpy")));
	close_explorer(&f);
}

static void percentages_of_what_is_shown(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	press(&f, "/memcpy$F");
	assert_int_equal(f.explorer.layout.shown_totals[0], 260);
	assert_screen(&f, 8, 120, "relative-120x8");
	press(&f, "^");
	assert_int_equal(f.explorer.layout.shown_totals[0], 1000);
	press(&f, "yF");
	assert_true(explorer_is_zoomed(&f.explorer, ZOOM_FUNCTION));
	assert_null(f.explorer.layout.shown_totals);
	press(&f, "yK");
	assert_int_equal(f.explorer.visible_count, 1);
	press(&f, "K}}}}");
	assert_true(f.explorer.percent_limit == 2);
	press(&f, "{");
	assert_true(f.explorer.percent_limit == 1);
	press(&f, "{{{{{");
	assert_true(f.explorer.percent_limit == 0);
	close_explorer(&f);
}

static void the_function_at_the_cursor(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	assert_true(str_equal(function_at_cursor(&f), STR("main")));
	press(&f, "/lex$ev");
	assert_true(str_equal(function_at_cursor(&f), STR("main"))); /* Its first caller. */
	press(&f, "v");
	assert_true(str_equal(function_at_cursor(&f), STR("compile")));
	press(&f, "^~");
	while (!str_equal(function_at_cursor(&f), STR("none")) && f.explorer.cursor.row)
		press(&f, "A");
	assert_string_equal(f.explorer.message, "there is no symbol here");
	press(&f, "/nothing$");
	assert_true(str_equal(function_at_cursor(&f), STR("none")));
	close_explorer(&f);
}

static void clicks_and_the_wheel(void **state)
{
	struct fixture f;
	open_explorer(&f, program);
	explorer_resize(&f.explorer, 8, 80);
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_WHEEL_DOWN, 4, 4));
	assert_int_equal(f.explorer.cursor.row, TUI_WHEEL_LINES);
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_CLICK, 2, 4));
	assert_int_equal(f.explorer.cursor.row, f.explorer.top.row);
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_DOUBLE, 2, 4));
	assert_non_null(explorer_fold_at(&f.explorer, 0));
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_CLICK, 4, 4));
	assert_int_equal(f.explorer.cursor.line, 2);
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_CLICK, 0, 4)); /* The title. */
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_CLICK, 7, 4)); /* The last line. */
	assert_int_equal(f.explorer.cursor.line, 2);
	press(&f, "/nothing$");
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_DOUBLE, 3, 4));
	explorer_key(&f.explorer, tui_mouse(TUI_MOUSE_WHEEL_UP, 3, 4));
	close_explorer(&f);
}

static void what_is_printed_is_what_is_shown(void **state)
{
	struct fixture f;
	struct text out = {0};
	open_explorer(&f, program);
	press(&f, "/lex$e");
	assert_int_equal(explorer_print(&f.explorer, &out, NULL), TALLY_OK);
	text_char(&out, 0);
	assert_string_equal(out.data, "# Samples: 7  of event 'cycles', Event count (approx.): 1000, Symbol: lex\n"
				      "#\n"
				      "# Children      Self  Command  Shared Object      Symbol\n"
				      "#\n"
				      "-   50.00%    50.00%  cc1      cc1                [.] lex\n"
				      "     main\n"
				      "     compile\n"
				      "     parse\n"
				      "     lex\n");
	text_deinit(&out);
	close_explorer(&f);
}

/* Presses random keys with random sizes: only crashes and errors of the sanitizers are detected. */
static void a_monkey_at_the_keys(void **state)
{
	static const uint32_t others[] = {TUI_KEY_UP, TUI_KEY_DOWN, TUI_KEY_LEFT, TUI_KEY_RIGHT, TUI_KEY_PAGE_UP,
		TUI_KEY_PAGE_DOWN, TUI_KEY_HOME, TUI_KEY_END, TUI_KEY_BACKSPACE, TUI_KEY_OTHER, TUI_KEY_RESIZE, '\r',
		TUI_KEY_ESCAPE, 'E', 'C', 'e', '+', 't', 'd', '/', 'L'};
	struct fixture f;
	uint32_t seed = 7;
	open_explorer(&f, program);
	for (int i = 0; i < 20000; i++) {
		seed = seed * 1664525 + 1013904223;
		uint32_t pick = seed >> 16;
		uint32_t key = pick % 3 ? others[pick / 3 % (ARRAY_LEN(others))] : ' ' + pick / 3 % 95;
		(void)explorer_key(&f.explorer, key);
		if (pick % 64 == 0)
			explorer_resize(&f.explorer, pick / 64 % 30, pick / 7 % 90);
		assert_true(explorer_draw(&f.explorer, "", &f.grid));
		if (f.explorer.visible_count)
			assert_in_range(f.explorer.cursor.row, 0, f.explorer.visible_count - 1);
	}
	close_explorer(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table),
		cmocka_unit_test(chains_open_level_by_level),
		cmocka_unit_test(the_cursor_stays_on_the_screen),
		cmocka_unit_test(zooms_and_what_takes_them_back),
		cmocka_unit_test(the_percent_limit),
		cmocka_unit_test(help_and_other_keys),
		cmocka_unit_test(help_lists_each_key_once),
		cmocka_unit_test(menus),
		cmocka_unit_test(searching_filters_nothing),
		cmocka_unit_test(percentages_of_what_is_shown),
		cmocka_unit_test(the_function_at_the_cursor),
		cmocka_unit_test(clicks_and_the_wheel),
		cmocka_unit_test(what_is_printed_is_what_is_shown),
		cmocka_unit_test(a_monkey_at_the_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
