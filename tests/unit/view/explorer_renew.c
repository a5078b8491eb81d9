/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/explorer_renew.h"

#include <string.h>

#include "grid_golden.h"
#include "profile_text.h"
#include "unit_test.h"
#include "view/tui/explorer_changes.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"

static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key columns[] = {KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};

struct fixture {
	struct profile *profile;
	struct flat_table table;
	struct explorer explorer;
};

static void make_table(struct fixture *f, const char *text)
{
	struct flat_options flat = {.keys = keys, .key_count = 3, .member_count = 1, .with_chains = true};
	f->profile = profile_from_text(text);
	assert_int_equal(flat_table_init(&f->table, f->profile, &flat, NULL), TALLY_OK);
	assert_int_equal(flat_table_sort(&f->table, columns, 4, NULL), TALLY_OK);
}

static void open_explorer(struct fixture *f, const char *text)
{
	struct report_text_options options = {.columns = columns,
		.column_count = 4,
		.chains = {.style = CHAIN_GRAPH, .value = CHAIN_PERCENT, .min_percent = 0.5}};
	make_table(f, text);
	assert_int_equal(explorer_init(&f->explorer, &f->table, &options, "one", NULL), TALLY_OK);
	explorer_resize(&f->explorer, 24, 80);
}

/* The old profile is freed before the new one is created. */
static void renew(struct fixture *f, const char *text)
{
	struct explorer_memory memory;
	explorer_remember(&f->explorer, &memory);
	flat_table_deinit(&f->table);
	profile_destroy(f->profile);
	make_table(f, text);
	assert_int_equal(explorer_renew(&f->explorer, &memory, &f->table, "two", NULL), TALLY_OK);
	explorer_memory_deinit(&memory);
	assert_string_equal(f->explorer.title, "two");
}

static void close_explorer(struct fixture *f)
{
	explorer_deinit(&f->explorer);
	flat_table_deinit(&f->table);
	profile_destroy(f->profile);
}

static const char *symbol_of(const struct fixture *f, size_t row)
{
	const struct profile *p = f->profile;
	assert_true(row < f->explorer.visible_count);
	const struct profile_frame *frame = &p->frames[f->table.rows[f->explorer.visible[row]].frame];
	return frame->function == PROFILE_NONE ? "" : profile_string(p, p->functions[frame->function].name).data;
}

static const char before[] = "event cycles\n"
			     "cc1 7/7 0 0 500 main@cc1;parse@cc1;lex@cc1\n"
			     "cc1 7/7 0 0 200 main@cc1;parse@cc1;memcpy@libc.so.6\n"
			     "cc1 7/7 0 0 150 main@cc1;emit@cc1;write@[kernel.kallsyms]\n"
			     "ld 9/9 0 0 60 main@ld;link@ld;hash@ld\n"
			     "ld 9/9 0 0 40 main@ld;fix@ld;hash@ld\n";
/* The last row is now the first, one is new, and one is gone. */
static const char after[] = "event cycles\n"
			    "new 8/8 0 0 10 main@new;fresh@new\n"
			    "cc1 7/7 0 0 50 main@cc1;parse@cc1;lex@cc1\n"
			    "cc1 7/7 0 0 40 main@cc1;emit@cc1;write@[kernel.kallsyms]\n"
			    "ld 9/9 0 0 600 main@ld;link@ld;hash@ld\n"
			    "ld 9/9 0 0 400 main@ld;fix@ld;hash@ld\n";

static void the_cursor_follows_its_row(void **state)
{
	struct fixture f;
	open_explorer(&f, before);
	explorer_move(&f.explorer, 2);
	assert_string_equal(symbol_of(&f, f.explorer.cursor.row), "write");
	renew(&f, after);
	assert_string_equal(symbol_of(&f, f.explorer.cursor.row), "write");
	assert_int_equal(f.explorer.cursor.row, 2);
	explorer_move(&f.explorer, -2);
	assert_string_equal(symbol_of(&f, f.explorer.cursor.row), "hash");
	renew(&f, before); /* On the first row, the cursor stays there. */
	assert_int_equal(f.explorer.cursor.row, 0);
	assert_string_equal(symbol_of(&f, 0), "lex");
	close_explorer(&f);
}

static void the_cursor_stays_where_a_row_is_gone(void **state)
{
	struct fixture f;
	open_explorer(&f, before);
	explorer_move(&f.explorer, 1);
	assert_string_equal(symbol_of(&f, f.explorer.cursor.row), "memcpy");
	renew(&f, after);
	assert_int_equal(f.explorer.cursor.row, 1);
	renew(&f, "event cycles\n");
	assert_int_equal(f.explorer.visible_count, 0);
	renew(&f, before);
	assert_int_equal(f.explorer.visible_count, 4);
	close_explorer(&f);
}

static void what_is_open_stays_open(void **state)
{
	struct fixture f;
	open_explorer(&f, before);
	explorer_move(&f.explorer, 3);
	assert_string_equal(symbol_of(&f, f.explorer.cursor.row), "hash");
	explorer_toggle(&f.explorer); /* Two callers, both closed. */
	size_t closed = explorer_fold_at(&f.explorer, 3)->line_count;
	explorer_toggle_row(&f.explorer);
	size_t opened = explorer_fold_at(&f.explorer, 3)->line_count;
	assert_true(opened > closed);
	renew(&f, after);
	assert_string_equal(symbol_of(&f, 0), "hash");
	assert_non_null(explorer_fold_at(&f.explorer, 0));
	assert_int_equal(explorer_fold_at(&f.explorer, 0)->line_count, opened);
	assert_null(explorer_fold_at(&f.explorer, 1));
	close_explorer(&f);
}

static void zooms_find_their_names_again(void **state)
{
	struct fixture f;
	open_explorer(&f, before);
	explorer_zoom_dso(&f.explorer);
	assert_int_equal(f.explorer.visible_count, 1); /* Only lex, in cc1. */
	renew(&f, after);
	assert_int_equal(f.explorer.visible_count, 1);
	assert_string_equal(symbol_of(&f, 0), "lex");
	/* Nothing of the zoom remains, so everything is shown. */
	renew(&f, "event cycles\nld 9/9 0 0 600 main@ld;hash@ld\n");
	assert_int_equal(f.explorer.zoom_count, 0);
	assert_string_equal(symbol_of(&f, 0), "hash");
	explorer_zoom_symbol(&f.explorer, "l");
	renew(&f, before);
	assert_int_equal(f.explorer.visible_count, 1);
	assert_string_equal(symbol_of(&f, 0), "lex");
	assert_true(explorer_zoom_out(&f.explorer));
	explorer_zoom_thread(&f.explorer);
	renew(&f, after);
	assert_int_equal(f.explorer.visible_count, 2);
	assert_true(explorer_zoom_out(&f.explorer));
	explorer_zoom_function(&f.explorer);
	size_t of_function = f.explorer.visible_count;
	renew(&f, after);
	assert_int_equal(f.explorer.visible_count, of_function);
	close_explorer(&f);
}

static void what_is_typed_stays(void **state)
{
	struct fixture f;
	open_explorer(&f, before);
	f.explorer.mode = EXPLORER_ASK_SYMBOL;
	tui_input_start(&f.explorer.input, "le");
	explorer_say(&f.explorer, "a message");
	renew(&f, after);
	assert_int_equal(f.explorer.mode, EXPLORER_ASK_SYMBOL);
	assert_string_equal(f.explorer.input.text, "le");
	assert_string_equal(f.explorer.message, "a message");
	close_explorer(&f);
}

static const char busy[] = "event cycles\n"
			   "cc1 7/7 0 0 4000 main@cc1;compile@cc1;lex@cc1\n"
			   "cc1 7/7 0 0 2000 main@cc1;compile@cc1;parse@cc1\n"
			   "ld 9/9 0 0 3000 main@ld;link@ld\n"
			   "sh 5/5 0 0 20 main@sh;wait@libc.so.6\n"
			   "sh 5/5 0 0 980 clear_page@[kernel.kallsyms]\n";
static const char later[] = "event cycles\n"
			    "cc1 7/7 0 0 5200 main@cc1;compile@cc1;lex@cc1\n"
			    "cc1 7/7 0 0 1960 main@cc1;compile@cc1;parse@cc1\n"
			    "as 8/8 0 0 1800 main@as;read_line@as\n"
			    "sh 5/5 0 0 40 main@sh;wait@libc.so.6\n"
			    "sh 5/5 0 0 1000 clear_page@[kernel.kallsyms]\n";

static void assert_screen(struct fixture *f, unsigned rows, unsigned width, const char *name)
{
	struct grid grid = {0};
	explorer_resize(&f->explorer, rows, width);
	assert_true(explorer_draw(&f->explorer, "", &grid));
	assert_grid_is_golden(&grid, name);
	grid_deinit(&grid);
}

static void only_what_changed_shows(void **state)
{
	struct explorer_mark mark;
	struct fixture f;
	open_explorer(&f, busy);
	assert_true(explorer_mark_take(&mark, &f.explorer, "20:51:07"));
	explorer_set_mark(&f.explorer, &mark);
	assert_int_equal(f.explorer.visible_count, 0); /* Nothing has changed yet. */
	assert_screen(&f, 24, 80, "top-unchanged-80x24");
	f.explorer.title = "one";
	renew(&f, later);
	/* lex changes from 40 % to 52 %, read_line is new; parse loses 0.4, clear_page gains 0.2, wait 0.2. */
	assert_int_equal(f.explorer.visible_count, 2);
	f.explorer.title = "Samples: 10K of event 'cycles', 4000 Hz, 7990/s, lost: 0/0, own CPU 1.2%, events: 10000";
	assert_screen(&f, 24, 80, "top-changes-80x24");
	explorer_resize(&f.explorer, 24, 80);
	explorer_set_mark(&f.explorer, NULL);
	assert_int_equal(f.explorer.visible_count, 5);
	assert_screen(&f, 24, 80, "top-80x24");
	assert_screen(&f, 50, 200, "top-200x50");
	explorer_mark_deinit(&mark);
	close_explorer(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cursor_follows_its_row),
		cmocka_unit_test(the_cursor_stays_where_a_row_is_gone),
		cmocka_unit_test(what_is_open_stays_open),
		cmocka_unit_test(zooms_find_their_names_again),
		cmocka_unit_test(what_is_typed_stays),
		cmocka_unit_test(only_what_changed_shows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
