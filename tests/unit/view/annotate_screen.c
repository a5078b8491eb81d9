/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/array.h"
#include "grid_golden.h"
#include "unit_test.h"
#include "view/tui/annotate_draw.h"

#define CODE(at, jump, mnem, ops, vals, to, ...)                                                       \
	{                                                                                              \
		.kind = ANNOTATE_CODE, .address = 0x401000 + (at), .flow = (jump), .mnemonic = (mnem), \
		.operands = (ops), .text = mnem "   " ops " <f>", .values = (vals), .target = (to),    \
		.place = ANNOTATE_NONE, __VA_ARGS__                                                    \
	}
#define SOURCE(what)                                                                               \
	{                                                                                          \
		.kind = ANNOTATE_TEXT, .text = (what), .values = ANNOTATE_NONE, .is_source = true, \
		.source_number = 40, .path = "walk.c"                                              \
	}

static const struct annotate_line lines[] = {
	{.kind = ANNOTATE_TEXT, .text = "", .values = ANNOTATE_NONE},
	{.kind = ANNOTATE_TEXT, .text = "walk():", .values = ANNOTATE_NONE},
	SOURCE("for (i = 0; i < n; i++) {"),
	CODE(0, ANNOTATE_PLAIN, "xor", "%eax,%eax", ANNOTATE_NONE, ANNOTATE_NONE, .path = NULL),
	CODE(2, ANNOTATE_JUMP, "jmp", "20", ANNOTATE_NONE, 9, .path = NULL),
	SOURCE("sum += mix(i);"),
	CODE(0x10, ANNOTATE_CALL, "call", "mix", 0, ANNOTATE_NONE, .is_target = true, .leads_out = true,
		.callee = 0x402000),
	CODE(0x15, ANNOTATE_PLAIN, "add", "%eax,%ebx", 2, ANNOTATE_NONE, .cycles = 0),
	SOURCE("}"),
	CODE(0x20, ANNOTATE_PLAIN, "cmp", "%ebx,%ecx", 4, ANNOTATE_NONE, .is_target = true),
	{.kind = ANNOTATE_MORE_BYTES, .address = 0x401021, .values = ANNOTATE_NONE},
	CODE(0x24, ANNOTATE_JUMP, "jne", "10", 6, 6, .path = NULL),
	CODE(0x26, ANNOTATE_JUMP, "jmp", "*%rax", ANNOTATE_NONE, ANNOTATE_NONE, .path = NULL),
	SOURCE("return sum; /* \xc3\xa9\xe6\xbc\xa2 */"),
	CODE(0x28, ANNOTATE_RETURN, "ret", "", ANNOTATE_NONE, ANNOTATE_NONE, .path = NULL),
};
/* Two events per line. */
static const struct annotate_value values[] = {
	{1, 100}, {0, 0}, {60, 6000}, {1, 10}, {30, 3000}, {9, 90}, {9, 900}, {0, 0}};
static const struct annotate_event events[] = {{.name = {"cycles", 6}, .function = {100, 10000}, .whole = {400, 40000}},
	{.name = {"cache-misses", 12}, .function = {10, 100}, .whole = {10, 100}}};
static const struct annotate_function function = {.name = "walk",
	.file = "/usr/bin/demo",
	.short_file = "demo",
	.event_name = "cycles, cache-misses",
	.sample_count = 100,
	.events = events,
	.event_count = 2,
	.lines = lines,
	.line_count = ARRAY_LEN(lines),
	.values = values,
	.start = 0x401000};

struct fixture {
	struct annotate_screen screen;
	struct grid grid;
};

static void open_screen(struct fixture *f)
{
	struct annotate_settings settings = {.percent = ANNOTATE_LOCAL_PERIOD};
	*f = (struct fixture){0};
	assert_int_equal(annotate_screen_init(&f->screen, &function, &settings, NULL), TALLY_OK);
}

static void close_screen(struct fixture *f)
{
	annotate_screen_deinit(&f->screen);
	grid_deinit(&f->grid);
}

static void assert_screen(struct fixture *f, unsigned rows, unsigned columns, const char *name)
{
	annotate_screen_resize(&f->screen, rows, columns);
	assert_true(annotate_draw(&f->screen, &f->grid));
	assert_grid_is_golden(&f->grid, name);
}

static void cycles_of_runs(void **state)
{
	struct annotate_line timed[ARRAY_LEN(lines)];
	struct annotate_function of_branches = function;
	struct annotate_settings settings = {.percent = ANNOTATE_LOCAL_PERIOD};
	struct fixture f = {0};
	memcpy(timed, lines, sizeof(timed));
	timed[7].ipc = 0.25;
	timed[11].ipc = 1.5;
	timed[11].cycles = 12;
	timed[11].least_cycles = 3;
	timed[11].most_cycles = 1234567;
	of_branches.lines = timed;
	of_branches.has_cycles = true;
	assert_int_equal(annotate_screen_init(&f.screen, &of_branches, &settings, NULL), TALLY_OK);
	annotate_screen_key(&f.screen, 'c');
	assert_screen(&f, 14, 80, "annotate-cycle-range-80x14");
	annotate_screen_key(&f.screen, 'c');
	assert_screen(&f, 14, 80, "annotate-cycles-80x14");
	close_screen(&f);
}

/* $ stands for Enter, ^ for Escape. */
static enum annotate_action press(struct fixture *f, const char *pressed)
{
	enum annotate_action action = ANNOTATE_STAY;
	for (; *pressed; pressed++)
		action = annotate_screen_key(&f->screen, *pressed == '$'   ? '\r'
							 : *pressed == '^' ? TUI_KEY_ESCAPE
									   : (uint32_t)*pressed);
	return action;
}

static uint32_t line_at_cursor(const struct fixture *f)
{
	return (uint32_t)(annotate_screen_line(&f->screen) - lines);
}

static void screens(void **state)
{
	struct fixture f;
	open_screen(&f);
	assert_screen(&f, 24, 80, "annotate-80x24");
	assert_screen(&f, 50, 200, "annotate-200x50");
	assert_screen(&f, 12, 40, "annotate-40x12");
	press(&f, "oJtt");
	assert_screen(&f, 24, 80, "annotate-addresses-80x24");
	press(&f, "l");
	assert_screen(&f, 12, 80, "annotate-numbers-80x12");
	press(&f, "l");
	assert_screen(&f, 12, 80, "annotate-places-80x12");
	press(&f, "lofOOt/jn");
	assert_screen(&f, 24, 80, "annotate-search-80x24");
	press(&f, "e$");
	assert_int_equal(line_at_cursor(&f), 11);
	assert_screen(&f, 24, 80, "annotate-jump-80x24");
	press(&f, "h");
	assert_screen(&f, 24, 80, "annotate-help-80x24");
	assert_screen(&f, 50, 200, "annotate-help-200x50");
	annotate_screen_resize(&f.screen, 1, 1);
	assert_true(annotate_draw(&f.screen, &f.grid));
	annotate_screen_resize(&f.screen, 0, 0);
	assert_true(annotate_draw(&f.screen, &f.grid));
	close_screen(&f);
}

static void lines_by_heat(void **state)
{
	struct fixture f;
	open_screen(&f);
	assert_int_equal(line_at_cursor(&f), 9); /* 90 % of the second event. */
	press(&f, "\t");
	assert_int_equal(line_at_cursor(&f), 7);
	press(&f, "\t\t");
	assert_int_equal(line_at_cursor(&f), 6);
	assert_string_equal(f.screen.frame.message, "4. of 4 lines with samples");
	press(&f, "\t");
	assert_int_equal(line_at_cursor(&f), 9);
	annotate_screen_key(&f.screen, TUI_KEY_BACK_TAB);
	assert_int_equal(line_at_cursor(&f), 6);
	press(&f, "H");
	assert_int_equal(line_at_cursor(&f), 9);
	close_screen(&f);
}

static void jumps_and_calls_are_followed(void **state)
{
	struct fixture f;
	open_screen(&f);
	press(&f, "gjj");
	assert_int_equal(press(&f, "$"), ANNOTATE_STAY);
	assert_string_equal(f.screen.frame.message, "Enter follows jumps and calls");
	press(&f, "j$");
	assert_int_equal(line_at_cursor(&f), 9);
	press(&f, "j$");
	assert_int_equal(line_at_cursor(&f), 6);
	assert_int_equal(press(&f, "$"), ANNOTATE_CALLS);
	assert_int_equal(f.screen.callee, 0x402000);
	assert_int_equal(press(&f, "T"), ANNOTATE_TYPES);
	assert_true(f.screen.settings.shows_types);
	press(&f, "s"); /* Without source, the cursor stays on the same line. */
	assert_int_equal(line_at_cursor(&f), 6);
	press(&f, "Gk$");
	assert_string_equal(f.screen.frame.message, "the target is known only at run time");
	assert_int_equal(press(&f, "G$"), ANNOTATE_RETURNS);
	assert_int_equal(annotate_screen_key(&f.screen, tui_mouse(TUI_MOUSE_DOUBLE, 3, 3)), ANNOTATE_RETURNS);
	annotate_screen_go(&f.screen, 0x401015);
	assert_int_equal(line_at_cursor(&f), 7);
	close_screen(&f);
}

static void searching(void **state)
{
	struct fixture f;
	open_screen(&f);
	press(&f, "njm$");
	assert_int_equal(line_at_cursor(&f), 12);
	press(&f, "n");
	assert_int_equal(line_at_cursor(&f), 4);
	assert_string_equal(f.screen.frame.message, "searched on from the other end");
	press(&f, "N");
	assert_int_equal(line_at_cursor(&f), 12);
	press(&f, "?sum$");
	assert_int_equal(line_at_cursor(&f), 5);
	press(&f, "/nowhere$");
	assert_int_equal(line_at_cursor(&f), 5);
	assert_string_equal(f.screen.frame.message, "no line has 'nowhere' in it");
	press(&f, "/x^");
	assert_int_equal(f.screen.frame.mode, TUI_BROWSE);
	close_screen(&f);
}

static void percentages_and_what_ends_it(void **state)
{
	struct fixture f;
	open_screen(&f);
	press(&f, "p");
	assert_int_equal(f.screen.settings.percent, ANNOTATE_GLOBAL_PERIOD);
	press(&f, "b");
	assert_int_equal(f.screen.settings.percent, ANNOTATE_GLOBAL_HITS);
	assert_string_equal(f.screen.frame.message, "percentages are of all samples");
	press(&f, "p");
	assert_int_equal(f.screen.settings.percent, ANNOTATE_LOCAL_HITS);
	press(&f, "t");
	assert_int_equal(f.screen.settings.column, ANNOTATE_PERIOD);
	assert_int_equal(press(&f, ">"), ANNOTATE_NEXT);
	assert_int_equal(press(&f, "<"), ANNOTATE_PREVIOUS);
	assert_int_equal(press(&f, "e"), ANNOTATE_EVENTS);
	assert_int_equal(press(&f, "P"), ANNOTATE_PRINTS);
	assert_int_equal(press(&f, "Z"), ANNOTATE_STAY);
	assert_string_equal(f.screen.frame.message, "unknown key 'Z': press h for help");
	assert_int_equal(press(&f, "q"), ANNOTATE_BACK);
	assert_int_equal(press(&f, "^"), ANNOTATE_BACK);
	assert_int_equal(annotate_screen_key(&f.screen, TUI_KEY_CTRL('c')), ANNOTATE_LEAVE);
	close_screen(&f);
}

static void printed(void **state)
{
	struct fixture f;
	struct text out = {0};
	open_screen(&f);
	press(&f, "s");
	annotate_screen_print(&f.screen, &out);
	assert_false(out.failed);
	text_char(&out, 0);
	assert_non_null(strstr(out.data, "walk  /usr/bin/demo  100 samples, percent: local period\n"));
	assert_non_null(strstr(out.data, "  60.00   10.00 │         add  %eax,%ebx\n"));
	assert_null(strstr(out.data, "sum += mix(i);"));
	text_deinit(&out);
	close_screen(&f);
}

static void values_change_under_the_cursor(void **state)
{
	(void)state;
	static const struct annotate_value other[] = {
		{90, 9000}, {0, 0}, {1, 100}, {1, 10}, {9, 900}, {1, 10}, {0, 0}, {0, 0}};
	struct annotate_function renewed = function, shorter = function;
	struct fixture f;
	open_screen(&f);
	annotate_screen_resize(&f.screen, 8, 60);
	assert_int_equal(annotate_screen_line(&f.screen)->address, 0x401020); /* The hottest line. */
	annotate_screen_key(&f.screen, TUI_KEY_DOWN);
	annotate_screen_key(&f.screen, '/');
	annotate_screen_key(&f.screen, 'c');
	struct tui_list before = f.screen.list;
	renewed.values = other;
	assert_int_equal(annotate_screen_renew(&f.screen, &renewed, NULL), TALLY_OK);
	assert_int_equal(f.screen.list.cursor, before.cursor);
	assert_int_equal(f.screen.list.top, before.top);
	assert_int_equal(f.screen.frame.mode, TUI_SEARCH); /* Still in search mode. */
	annotate_screen_key(&f.screen, TUI_KEY_ESCAPE);
	annotate_screen_key(&f.screen, 'H');
	assert_int_equal(annotate_screen_line(&f.screen)->address, 0x401010); /* This is the hottest line now. */
	shorter.lines = lines + 3;
	shorter.line_count -= 6;
	assert_int_equal(annotate_screen_renew(&f.screen, &shorter, NULL), TALLY_OK);
	assert_int_equal(annotate_screen_line(&f.screen)->address, 0x401010);
	close_screen(&f);
}

static void test_bytes(void **state)
{
	static const uint8_t code[] = {0x31, 0xc0, 0x48, 0xc7, 0xc0, 0, 0, 0, 0};
	static const struct annotate_line coded[] = {
		CODE(0, ANNOTATE_PLAIN, "xor", "%eax,%eax", ANNOTATE_NONE, ANNOTATE_NONE, .bytes = {code, 2}),
		CODE(2, ANNOTATE_PLAIN, "movq", "$0,%rax", ANNOTATE_NONE, ANNOTATE_NONE, .bytes = {code + 2, 7}),
		{.kind = ANNOTATE_MORE_BYTES, .address = 0x401009, .values = ANNOTATE_NONE},
		SOURCE("}"),
	};
	const struct annotate_function of_bytes = {.name = "walk",
		.file = "demo",
		.event_name = "cycles",
		.lines = coded,
		.line_count = ARRAY_LEN(coded),
		.start = 0x401000};
	const struct annotate_settings settings = {.shows_bytes = true};
	struct annotate_screen screen;
	struct text out = {0};
	assert_int_equal(annotate_screen_init(&screen, &of_bytes, &settings, NULL), TALLY_OK);
	annotate_screen_print(&screen, &out);
	text_char(&out, '\0');
	const char *heading_end = strstr(out.data, "cycles\n");
	assert_non_null(heading_end);
	assert_string_equal(heading_end + strlen("cycles\n"), "│   31 c0                    xor  %eax,%eax\n"
							      "│   48 c7 c0 00 00 00 00     movq $0,%rax\n"
							      "│                            }\n");
	text_deinit(&out);
	annotate_screen_deinit(&screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(screens),
		cmocka_unit_test(cycles_of_runs),
		cmocka_unit_test(lines_by_heat),
		cmocka_unit_test(jumps_and_calls_are_followed),
		cmocka_unit_test(searching),
		cmocka_unit_test(percentages_and_what_ends_it),
		cmocka_unit_test(printed),
		cmocka_unit_test(values_change_under_the_cursor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
