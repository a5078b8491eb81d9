/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a hierarchy of sort keys as a tree on the screen. */
#include "view/tui/level_tree.h"

#include "grid_golden.h"
#include "profile_text.h"
#include "unit_test.h"
#include "view/tui/tree_screen.h"

static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key columns[] = {KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const uint8_t each[] = {0, 0, 1, 2}, pairs[] = {0, 0, 0, 1};

static const char programs[] = "event c\n"
			       "cc1 7/7 0 0 50 parse@cc1\n"
			       "cc1 7/7 0 0 5 lex@cc1\n"
			       "cc1 7/7 0 0 15 memcpy@libc\n"
			       "ld 9/9 0 0 30 memcpy@libc\n";

static void make_tree(struct flame_tree *tree, const struct profile *p, const uint8_t *levels)
{
	const struct flat_options flat = {.keys = keys, .key_count = 3, .member_count = 1};
	const struct hierarchy_options wanted = {
		.keys = keys, .levels = levels + 1, .key_count = 3, .order = columns, .order_count = 4};
	const struct report_text_options options = {.columns = columns, .column_count = 4, .levels = levels};
	struct flat_table table;
	struct hierarchy h;
	struct tally_error err;
	assert_int_equal(flat_table_init(&table, p, &flat, &err), TALLY_OK);
	assert_int_equal(hierarchy_init(&h, &table, &wanted, &err), TALLY_OK);
	assert_int_equal(level_tree_init(tree, &h, &options, &err), TALLY_OK);
	hierarchy_deinit(&h);
	flat_table_deinit(&table);
}

static void a_node_for_each_value_of_a_level(void **state)
{
	struct profile *p = profile_from_text(programs);
	struct flame_tree tree;
	make_tree(&tree, p, each);
	assert_int_equal(tree.node_count, 9);
	assert_int_equal(tree.total, 100);
	assert_int_equal(tree.sample_count, 4);
	assert_true(str_equal(tree.labels[tree.nodes[0].label].name, STR("cc1")));
	assert_int_equal(tree.nodes[0].total, 70);
	assert_int_equal(tree.nodes[0].self, 0);
	assert_int_equal(tree.nodes[2].parent, 1);
	assert_true(str_equal(tree.labels[tree.nodes[2].label].name, STR("parse")));
	assert_true(str_equal(tree.labels[tree.nodes[2].label].object, STR("cc1")));
	assert_int_equal(tree.nodes[2].self, 50);
	assert_true(str_equal(
		profile_string(p, p->functions[tree.labels[tree.nodes[2].label].function].name), STR("parse")));
	assert_int_equal(tree.labels[tree.nodes[0].label].function, PROFILE_NONE);
	flame_tree_deinit(&tree);
	make_tree(&tree, p, pairs);
	assert_int_equal(tree.node_count, 7);
	assert_true(str_equal(tree.labels[tree.nodes[0].label].name, STR("cc1  cc1")));
	flame_tree_deinit(&tree);
	profile_destroy(p);
}

/* Also checks another tree of the same profile, which replaces the first. */
static void assert_stays_golden(
	struct tree_screen *screen, struct flame_tree *tree, const struct profile *p, const char *golden)
{
	struct flame_tree again;
	struct tree_memory memory = {0};
	struct grid grid = {0};
	assert_true(tree_screen_draw(screen, &grid));
	assert_grid_is_golden(&grid, golden);
	tree_screen_remember(screen, &memory);
	make_tree(&again, p, each);
	assert_int_equal(tree_screen_renew(screen, &memory, &again, NULL), TALLY_OK);
	flame_tree_deinit(tree);
	*tree = again;
	screen->tree = tree;
	assert_true(tree_screen_draw(screen, &grid));
	assert_grid_is_golden(&grid, golden);
	tree_memory_deinit(&memory);
	grid_deinit(&grid);
}

static void open_screen(
	struct tree_screen *screen, struct flame_tree *tree, const struct profile *p, unsigned height, unsigned width)
{
	make_tree(tree, p, each);
	assert_int_equal(tree_screen_init(screen, tree, "Hierarchy: 4 samples", 0, NULL), TALLY_OK);
	screen->heading = "Sort keys";
	tree_screen_resize(screen, height, width);
}

static void on_the_screen(void **state)
{
	struct profile *p = profile_from_text(programs);
	struct flame_tree tree;
	struct tree_screen screen;
	open_screen(&screen, &tree, p, 12, 80);
	tree_screen_key(&screen, 'e');
	assert_stays_golden(&screen, &tree, p, "levels-80x12");
	tree_screen_deinit(&screen);
	flame_tree_deinit(&tree);
	profile_destroy(p);
}

static void press(struct tree_screen *s, const char *pressed)
{
	for (; *pressed; pressed++)
		tree_screen_key(s, (unsigned char)*pressed);
}

static void only_names_with_a_text(void **state)
{
	struct profile *p = profile_from_text(programs);
	struct flame_tree tree;
	struct tree_screen screen;
	open_screen(&screen, &tree, p, 9, 40);
	press(&screen, "E/memc\r");
	assert_stays_golden(&screen, &tree, p, "levels-filtered-40x9");
	press(&screen, "flex\r"); /* Filtered rows are not found. */
	assert_string_equal(screen.frame.message, "no name has 'lex' in it");
	press(&screen, "/");
	tree_screen_key(&screen, TUI_KEY_CTRL('u'));
	press(&screen, "nowhere\r");
	assert_int_equal(screen.list.count, 0);
	assert_int_equal(tree_screen_key(&screen, 'a'), TREE_ANNOTATE);
	assert_null(tree_screen_label(&screen));
	assert_int_equal(tree_screen_key(&screen, TUI_KEY_ESCAPE), TREE_STAY);
	assert_int_equal(screen.list.count, 9);
	assert_int_equal(tree_screen_key(&screen, TUI_KEY_ESCAPE), TREE_BACK);
	assert_int_equal(tree_screen_key(&screen, '\t'), TREE_NEXT_EVENT);
	assert_int_equal(tree_screen_key(&screen, TUI_KEY_BACK_TAB), TREE_PREVIOUS_EVENT);
	press(&screen, "fmemcpy\r");
	assert_true(str_equal(tree_screen_label(&screen)->name, STR("memcpy")));
	tree_screen_deinit(&screen);
	flame_tree_deinit(&tree);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_for_each_value_of_a_level),
		cmocka_unit_test(on_the_screen),
		cmocka_unit_test(only_names_with_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
