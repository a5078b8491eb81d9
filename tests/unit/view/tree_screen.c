/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid_golden.h"
#include "profile_text.h"
#include "unit_test.h"
#include "view/tui/flame_draw.h"

static const char program[] = "event cycles\n"
			      "cc1 7/7 0 0 500 main@cc1;compile@cc1;parse@cc1;lex@cc1\n"
			      "cc1 7/7 0 0 200 main@cc1;compile@cc1;parse@cc1;memcpy@libc.so.6\n"
			      "cc1 7/7 0 0 150 main@cc1;compile@cc1;emit@cc1;write@[kernel.kallsyms]\n"
			      "cc1 7/7 0 0 80 main@cc1;compile@cc1\n"
			      "ld 9/9 0 0 60 main@ld;link@ld;memcpy@libc.so.6\n"
			      "ld 9/9 0 0 6 main@ld;link@ld;0x1f@libx.so\n"
			      "ld 9/9 0 0 4 h\xc3\xa9llo\xe6\xbc\xa2@ld;\n";

struct fixture {
	struct profile *profile;
	struct flame_tree tree;
	struct tree_screen screen;
	struct flame_screen flame;
	struct grid grid;
};

static void open_screens(struct fixture *f, bool is_reversed)
{
	struct flame_options options = {
		.group = is_reversed ? FLAME_BY_NOTHING : FLAME_BY_COMM, .is_reversed = is_reversed};
	*f = (struct fixture){.profile = profile_from_text(program)};
	assert_int_equal(flame_tree_init(&f->tree, f->profile, &options, NULL), TALLY_OK);
	assert_int_equal(tree_screen_init(&f->screen, &f->tree, "Samples: 7", 0.5, NULL), TALLY_OK);
	assert_int_equal(flame_screen_init(&f->flame, &f->tree, "Samples: 7", NULL), TALLY_OK);
}

static void close_screens(struct fixture *f)
{
	tree_screen_deinit(&f->screen);
	flame_screen_deinit(&f->flame);
	flame_tree_deinit(&f->tree);
	profile_destroy(f->profile);
	grid_deinit(&f->grid);
}

/* $ stands for Enter, ^ for Escape, < > v A for the arrows. */
static uint32_t code_of(char pressed)
{
	static const char special[] = "$^<>vA";
	static const uint32_t codes[] = {'\r', TUI_KEY_ESCAPE, TUI_KEY_LEFT, TUI_KEY_RIGHT, TUI_KEY_DOWN, TUI_KEY_UP};
	const char *found = strchr(special, pressed);
	return found ? codes[found - special] : (uint32_t)pressed;
}

static enum tree_action press(struct fixture *f, const char *pressed)
{
	enum tree_action action = TREE_STAY;
	for (; *pressed; pressed++)
		action = tree_screen_key(&f->screen, code_of(*pressed));
	return action;
}

static enum tree_action press_flame(struct fixture *f, const char *pressed)
{
	enum tree_action action = TREE_STAY;
	for (; *pressed; pressed++)
		action = flame_screen_key(&f->flame, code_of(*pressed));
	return action;
}

static void assert_tree(struct fixture *f, unsigned rows, unsigned columns, const char *name)
{
	tree_screen_resize(&f->screen, rows, columns);
	assert_true(tree_screen_draw(&f->screen, &f->grid));
	assert_grid_is_golden(&f->grid, name);
}

static void assert_flame(struct fixture *f, unsigned rows, unsigned columns, const char *name)
{
	flame_screen_resize(&f->flame, rows, columns);
	assert_true(flame_draw(&f->flame, &f->grid));
	assert_grid_is_golden(&f->grid, name);
}

static bool is_at(struct tally_str name, const struct flame_label *label)
{
	return label && str_equal(label->name, name);
}

static void a_tree_opens_level_by_level(void **state)
{
	struct fixture f;
	open_screens(&f, false);
	assert_int_equal(f.screen.list.count, 2);
	press(&f, "$"); /* Opens cc1 and, at once, main, which has only one child. */
	assert_int_equal(f.screen.list.count, 6);
	press(&f, "vvv$");
	assert_true(is_at(STR("parse"), tree_screen_label(&f.screen)));
	assert_tree(&f, 24, 80, "tree-80x24");
	press(&f, "<<");
	assert_true(is_at(STR("compile"), tree_screen_label(&f.screen)));
	press(&f, "E");
	assert_tree(&f, 50, 200, "tree-all-200x50");
	press(&f, "G{{");
	assert_tree(&f, 12, 40, "tree-all-40x12");
	press(&f, "C");
	assert_int_equal(f.screen.list.count, 2);
	press(&f, "}}}}}}");
	assert_int_equal(f.screen.list.count, 1);
	press(&f, "{{{{{{ge");
	press(&f, "?");
	assert_tree(&f, 24, 80, "tree-help-80x24");
	assert_tree(&f, 50, 200, "tree-help-200x50");
	close_screens(&f);
}

static void a_tree_is_searched_where_it_is_closed(void **state)
{
	struct fixture f;
	open_screens(&f, false);
	press(&f, "/memcpy$");
	assert_true(is_at(STR("memcpy"), tree_screen_label(&f.screen)));
	size_t first = f.screen.lines[f.screen.list.cursor];
	press(&f, "n");
	assert_true(f.screen.lines[f.screen.list.cursor] > first);
	press(&f, "n");
	assert_int_equal(f.screen.lines[f.screen.list.cursor], first);
	assert_string_equal(f.screen.frame.message, "searched on from the other end");
	press(&f, "/nothing$");
	assert_string_equal(f.screen.frame.message, "no function has 'nothing' in it");
	assert_int_equal(press(&f, "a"), TREE_ANNOTATE);
	assert_int_equal(press(&f, "v"), TREE_STAY); /* The arrow Down. */
	assert_int_equal(tree_screen_key(&f.screen, 'v'), TREE_FLAME);
	assert_int_equal(press(&f, "T"), TREE_TOP_DOWN);
	assert_int_equal(press(&f, "I"), TREE_CALLERS);
	assert_int_equal(press(&f, "P"), TREE_PRINT);
	assert_int_equal(press(&f, "q"), TREE_BACK);
	assert_int_equal(tree_screen_key(&f.screen, TUI_KEY_CTRL('c')), TREE_LEAVE);
	close_screens(&f);
}

static void callers(void **state)
{
	struct fixture f;
	struct text out = {0};
	open_screens(&f, true);
	press(&f, "jE");
	assert_tree(&f, 24, 80, "callers-80x24");
	assert_tree(&f, 50, 200, "callers-200x50");
	press(&f, "C");
	tree_screen_print(&f.screen, &out);
	text_char(&out, 0);
	assert_non_null(strstr(out.data, "\n   26.00%           + memcpy  libc.so.6\n"));
	text_deinit(&out);
	close_screens(&f);
}

static void flames(void **state)
{
	struct fixture f;
	open_screens(&f, false);
	assert_flame(&f, 24, 80, "flame-80x24");
	assert_flame(&f, 50, 200, "flame-200x50");
	assert_flame(&f, 12, 40, "flame-40x12");
	press_flame(&f, "vvvv");
	assert_true(is_at(STR("parse"), flame_screen_label(&f.flame)));
	press_flame(&f, "$v");
	assert_flame(&f, 24, 80, "flame-zoomed-80x24");
	assert_flame(&f, 50, 200, "flame-zoomed-200x50");
	press_flame(&f, ">");
	assert_true(is_at(STR("memcpy"), flame_screen_label(&f.flame)));
	press_flame(&f, "u");
	assert_true(is_at(STR("compile"), flame_screen_label(&f.flame)));
	press_flame(&f, "z/memcpy$");
	assert_int_equal(f.flame.matched, 260);
	assert_flame(&f, 24, 80, "flame-search-80x24");
	press_flame(&f, "n^");
	assert_int_equal(f.flame.zoom, PROFILE_NONE);
	assert_flame(&f, 1, 1, "flame-1x1");
	press_flame(&f, "h");
	assert_flame(&f, 24, 80, "flame-help-80x24");
	assert_flame(&f, 50, 200, "flame-help-200x50");
	press_flame(&f, "q");
	flame_screen_resize(&f.flame, 0, 0);
	assert_true(flame_draw(&f.flame, &f.grid));
	assert_int_equal(press_flame(&f, "^"), TREE_BACK);
	close_screens(&f);
}

static void blocks_are_clicked(void **state)
{
	struct fixture f;
	open_screens(&f, false);
	flame_screen_resize(&f.flame, 24, 80);
	flame_screen_key(&f.flame, tui_mouse(TUI_MOUSE_CLICK, 4, 20));
	assert_true(is_at(STR("compile"), flame_screen_label(&f.flame)));
	flame_screen_key(&f.flame, tui_mouse(TUI_MOUSE_DOUBLE, 4, 20));
	assert_int_equal(f.flame.zoom, f.flame.cursor);
	flame_screen_key(&f.flame, tui_mouse(TUI_MOUSE_WHEEL_UP, 4, 20));
	assert_true(is_at(STR("main"), flame_screen_label(&f.flame)));
	flame_screen_key(&f.flame, tui_mouse(TUI_MOUSE_CLICK, 23, 20));
	assert_true(is_at(STR("main"), flame_screen_label(&f.flame)));
	flame_screen_key(&f.flame, tui_mouse(TUI_MOUSE_CLICK, 1, 20));
	assert_null(flame_screen_label(&f.flame));
	close_screens(&f);
}

/* Samples as if the thread had waited in one function: one state is selected, and if nothing of the zoom remains,
 * everything is shown. */
static void states(void **state)
{
	struct fixture f;
	open_screens(&f, false);
	flame_screen_deinit(&f.flame);
	f.tree.states = calloc(f.tree.node_count, FLAME_STATES * sizeof(*f.tree.states));
	f.tree.state_names[PROFILE_STATE_RUNNING] = STR("running");
	f.tree.state_names[PROFILE_STATE_LOCK] = STR("lock");
	for (size_t i = 0; i < f.tree.node_count; i++) {
		bool waits = str_equal(f.tree.labels[f.tree.nodes[i].label].name, STR("lex"));
		f.tree.states[i * FLAME_STATES + PROFILE_STATE_RUNNING] = f.tree.nodes[i].self - (waits ? 400 : 0);
		f.tree.states[i * FLAME_STATES + PROFILE_STATE_LOCK] = waits ? 400 : 0;
	}
	assert_int_equal(flame_screen_init(&f.flame, &f.tree, "Samples: 7", NULL), TALLY_OK);
	assert_int_equal(f.flame.total, 1000);
	press_flame(&f, "G");
	assert_true(is_at(STR("lex"), flame_screen_label(&f.flame)));
	assert_flame(&f, 24, 80, "flame-states-80x24");
	press_flame(&f, "w");
	assert_int_equal(f.flame.total, 600);
	press_flame(&f, "w");
	assert_int_equal(f.flame.total, 400);
	assert_flame(&f, 24, 80, "flame-waits-80x24");
	press_flame(&f, "wzgvv>$");
	assert_int_not_equal(f.flame.zoom, PROFILE_NONE);
	press_flame(&f, "/link$ww");
	assert_int_equal(f.flame.shows, FLAME_SHOWS_WAITS);
	assert_int_equal(f.flame.zoom, PROFILE_NONE);
	assert_int_equal(f.flame.matched, 0);
	close_screens(&f);
}

/* The functions occur in the order of the other profile, so that they have the same start addresses. */
static const char later[] = "event cycles\n"
			    "cc1 7/7 0 0 500 main@cc1;compile@cc1;parse@cc1;lex@cc1\n"
			    "cc1 7/7 0 0 90 main@cc1;compile@cc1;parse@cc1;fold@cc1\n"
			    "as 8/8 0 0 900 main@as;read_line@as\n";

static const char *cursor_name(const struct fixture *f, char room[64])
{
	const struct flame_label *label = tree_screen_label(&f->screen);
	snprintf(room, 64, "%.*s", label ? (int)label->name.len : 0, label ? label->name.data : "");
	return room;
}

/* Replaces the profile: the old one is freed before the new one is created. */
static void renew(struct fixture *f, const char *text)
{
	struct tree_memory tree, flame;
	const struct flame_options options = {.group = FLAME_BY_COMM};
	tree_screen_remember(&f->screen, &tree);
	flame_screen_remember(&f->flame, &flame);
	flame_tree_deinit(&f->tree);
	profile_destroy(f->profile);
	f->profile = profile_from_text(text);
	assert_int_equal(flame_tree_init(&f->tree, f->profile, &options, NULL), TALLY_OK);
	assert_int_equal(tree_screen_renew(&f->screen, &tree, &f->tree, NULL), TALLY_OK);
	assert_int_equal(flame_screen_renew(&f->flame, &flame, &f->tree, NULL), TALLY_OK);
	tree_memory_deinit(&tree);
	tree_memory_deinit(&flame);
}

static void what_is_open_stays_in_another_profile(void **state)
{
	(void)state;
	struct fixture f;
	char room[64];
	open_screens(&f, false);
	press(&f, "evvvv");
	assert_string_equal(cursor_name(&f, room), "lex");
	size_t open = f.screen.list.count;
	renew(&f, program);
	assert_int_equal(f.screen.list.count, open);
	assert_string_equal(cursor_name(&f, room), "lex");
	renew(&f, later);
	assert_string_equal(cursor_name(&f, room), "lex");
	/* as, closed; cc1, main, compile, parse, lex, fold. */
	assert_int_equal(f.screen.list.count, 7);
	assert_int_equal(f.screen.list.cursor, 5);
	renew(&f, "event cycles\nas 8/8 0 0 900 main@as\n");
	assert_string_equal(cursor_name(&f, room), "as");
	renew(&f, "event cycles\n");
	assert_string_equal(cursor_name(&f, room), "");
	renew(&f, later);
	close_screens(&f);
}

static void a_flame_stays_zoomed_in_another_profile(void **state)
{
	(void)state;
	struct fixture f;
	open_screens(&f, false);
	flame_screen_resize(&f.flame, 24, 80);
	press_flame(&f, "vvvv$/lex$");
	struct tally_str zoom = f.flame.tree->labels[f.flame.tree->nodes[f.flame.zoom].label].name;
	assert_true(str_equal(zoom, STR("parse")));
	assert_int_equal(f.flame.matched, 500);
	renew(&f, later);
	zoom = f.flame.tree->labels[f.flame.tree->nodes[f.flame.zoom].label].name;
	assert_true(str_equal(zoom, STR("parse")));
	assert_true(str_equal(flame_screen_label(&f.flame)->name, STR("lex")));
	assert_int_equal(f.flame.matched, 500);
	renew(&f, "event cycles\nas 8/8 0 0 900 main@as\n");
	assert_int_equal(f.flame.zoom, PROFILE_NONE);
	assert_null(flame_screen_label(&f.flame));
	assert_int_equal(f.flame.matched, 0);
	close_screens(&f);
}

static const char twins[] = "event cycles\n"
			    "cc1 7/7 0 0 500 main@cc1;helper@cc1;lex@cc1\n"
			    "cc1 7/7 0 0 300 main@cc1;helper~2@cc1;fold@cc1\n";

static void functions_of_one_name_are_told_apart(void **state)
{
	(void)state;
	struct fixture f;
	char room[64];
	open_screens(&f, false);
	renew(&f, twins);
	press(&f, "ECvvvv");
	press(&f, "$vv");
	for (unsigned i = 0; i < 2; i++) {
		const struct flame_label *label = tree_screen_label(&f.screen);
		uint64_t start = label->address;
		assert_string_equal(cursor_name(&f, room), "helper");
		assert_int_equal(f.profile->functions[label->function].start, start);
		press(&f, "$");
		size_t open = f.screen.list.count;
		renew(&f, twins);
		assert_int_equal(f.screen.list.count, open); /* Only one of the two is open. */
		assert_int_equal(tree_screen_label(&f.screen)->address, start);
		press(&f, "$v");
	}
	close_screens(&f);
}

static void unknown_keys(void **state)
{
	(void)state;
	struct fixture f;
	open_screens(&f, false);
	press(&f, "x");
	assert_string_equal(f.screen.frame.message, "unknown key 'x': press ? for help");
	tree_screen_key(&f.screen, TUI_KEY_RESIZE);
	assert_string_equal(f.screen.frame.message, "");
	tree_screen_key(&f.screen, TUI_KEY_OTHER);
	assert_string_equal(f.screen.frame.message, "unknown key: press ? for help");
	press(&f, "j");
	assert_string_equal(f.screen.frame.message, "");
	press_flame(&f, "P");
	assert_string_equal(f.flame.frame.message, "unknown key 'P': press ? for help");
	press_flame(&f, "w");
	assert_string_equal(f.flame.frame.message, "only recordings of record --wall distinguish running from waiting");
	close_screens(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_opens_level_by_level),
		cmocka_unit_test(a_tree_is_searched_where_it_is_closed),
		cmocka_unit_test(callers),
		cmocka_unit_test(flames),
		cmocka_unit_test(states),
		cmocka_unit_test(blocks_are_clicked),
		cmocka_unit_test(what_is_open_stays_in_another_profile),
		cmocka_unit_test(a_flame_stays_zoomed_in_another_profile),
		cmocka_unit_test(functions_of_one_name_are_told_apart),
		cmocka_unit_test(unknown_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
