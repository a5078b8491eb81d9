#include "unit_test.h"

#include "base/path_tree.h"

static void nodes_get_dense_ids_once(void **state)
{
	struct path_tree t = {0};
	uint32_t a = path_tree_add(&t, PATH_TREE_NONE, 7);
	uint32_t b = path_tree_add(&t, a, 7);
	uint32_t c = path_tree_add(&t, a, 8);
	uint32_t d = path_tree_add(&t, PATH_TREE_NONE, 8);
	uint32_t e = path_tree_add(&t, a, 9);
	assert_int_equal(a, 0);
	assert_int_equal(b, 1);
	assert_int_equal(c, 2);
	assert_int_equal(d, 3);
	assert_int_equal(e, 4);
	assert_int_equal(path_tree_add(&t, PATH_TREE_NONE, 7), a);
	assert_int_equal(path_tree_add(&t, a, 7), b);
	assert_int_equal(path_tree_add(&t, a, 9), e);
	assert_int_equal(path_tree_add(&t, a, 8), c);
	assert_int_equal(path_tree_add(&t, PATH_TREE_NONE, 8), d);
	assert_int_equal(t.nodes.len, 5);
	assert_int_equal(t.nodes.items[e].parent, a);
	assert_int_equal(t.nodes.items[e].item, 9);
	assert_int_equal(t.nodes.items[a].parent, PATH_TREE_NONE);
	path_tree_deinit(&t);
}

/* Every path of three items out of forty, twice: nodes with many children, and the order of a parent before them. */
static void many_children_are_told_apart(void **state)
{
	struct path_tree t = {0};
	uint32_t ids[40][40];
	for (int turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < 40 * 40 * 40; i++) {
			uint32_t x = i % 40, y = i / 40 % 40, z = i / 1600;
			uint32_t parent = path_tree_add(&t, path_tree_add(&t, PATH_TREE_NONE, x), y);
			uint32_t id = path_tree_add(&t, parent, z);
			assert_true(id > parent);
			assert_int_equal(t.nodes.items[id].parent, parent);
			assert_int_equal(t.nodes.items[id].item, z);
			if (turn == 0 && z == 0)
				ids[x][y] = id;
			assert_true(z != 0 || ids[x][y] == id);
		}
		assert_int_equal(t.nodes.len, 40 + 40 * 40 + 40 * 40 * 40);
	}
	path_tree_deinit(&t);
}

static void a_long_path_needs_no_slots(void **state)
{
	struct path_tree t = {0};
	for (int turn = 0; turn < 2; turn++) {
		uint32_t parent = PATH_TREE_NONE;
		for (uint32_t i = 0; i < 5000; i++) {
			parent = path_tree_add(&t, parent, i % 3);
			assert_int_equal(parent, i);
		}
	}
	assert_int_equal(t.slot_count, 0);
	path_tree_deinit(&t);
	assert_int_equal(t.nodes.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_get_dense_ids_once),
		cmocka_unit_test(many_children_are_told_apart),
		cmocka_unit_test(a_long_path_needs_no_slots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
