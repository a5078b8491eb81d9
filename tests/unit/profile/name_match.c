/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/name_match.h"

#include "profile/diff/diff_table.h"
#include "profile/flame_tree.h"
#include "profile_text.h"
#include "unit_test.h"

static struct profile *made[3];
static struct name_match match;

static void make(const char *first, const char *second, const char *third)
{
	const char *const texts[] = {first, second, third};
	size_t count = 0;
	for (; count < 3 && texts[count]; count++)
		made[count] = profile_from_text(texts[count]);
	assert_int_equal(name_match_init(&match, (const struct profile *const *)made, count, NULL), TALLY_OK);
}

static void end(void)
{
	name_match_deinit(&match);
	for (size_t i = 0; i < 3; i++) {
		if (made[i])
			profile_destroy(made[i]);
		made[i] = NULL;
	}
}

static void expect(enum name_match_kind kind, const char *name, const char *wanted)
{
	struct tally_str found = name_match_get(&match, kind, str_from(name));
	if (!str_equal(found, str_from(wanted)))
		fail_msg("'%s' gives '%.*s', not '%s'", name, (int)found.len, found.data, wanted);
}

static void names_are_joined_where_one_is_missing(void **state)
{
	make("event c\nw-1 1/1 0 0 6 main@app-1.0;hot.llvm.1@app-1.0\nw-1 1/1 0 0 1 cool.isra.0@app-1.0\n"
	     "w-1 1/1 0 0 1 cool@app-1.0\n",
		"event c\nw-2 1/1 0 0 6 main@app-1.1;hot.llvm.2@app-1.1\nw-2 1/1 0 0 1 cool.isra.0@app-1.1\n"
		"w-2 1/1 0 0 1 cool@app-1.1\n",
		NULL);
	expect(NAME_MATCH_FUNCTION, "hot.llvm.2", "hot.llvm.1");
	expect(NAME_MATCH_FUNCTION, "hot.llvm.1", "hot.llvm.1");
	expect(NAME_MATCH_FUNCTION, "cool.isra.0", "cool.isra.0"); /* Both profiles have both names. */
	expect(NAME_MATCH_FUNCTION, "nowhere.llvm.3", "nowhere.llvm.3");
	expect(NAME_MATCH_FILE, "app-1.1", "app-1.0");
	expect(NAME_MATCH_THREAD, "w-2", "w-1");
	assert_int_equal(match.sets[NAME_MATCH_FUNCTION].pair_count, 1);
	assert_int_equal(match.sets[NAME_MATCH_FILE].pair_count, 1);
	assert_true(str_equal(name_match_get(NULL, NAME_MATCH_FILE, STR("app-1.1")), STR("app-1.1")));
	end();
}

static void copies_are_one_function_if_a_build_lacks_some(void **state)
{
	make("event c\na 1/1 0 0 6 hot.part.0@x\na 1/1 0 0 1 hot@x\na 1/1 0 0 1 own.cold@x\na 1/1 0 0 1 own@x\n",
		"event c\na 1/1 0 0 6 hot@x\n", NULL);
	expect(NAME_MATCH_FUNCTION, "hot.part.0", "hot");
	/* The other build has none of them, so nothing indicates that they are parts of one function. */
	expect(NAME_MATCH_FUNCTION, "own.cold", "own.cold");
	end();
}

static void files_that_all_have_stay_apart(void **state)
{
	make("event c\na 1/1 0 0 6 f@libssl.so.1.1\na 1/1 0 0 1 f@libssl.so.3\n",
		"event c\na 1/1 0 0 6 f@libssl.so.3\n", NULL);
	expect(NAME_MATCH_FILE, "libssl.so.1.1", "libssl.so.1.1");
	expect(NAME_MATCH_FILE, "libssl.so.3", "libssl.so.3");
	end();
}

static void three_profiles_join_in_one_name(void **state)
{
	make("event c\na 1/1 0 0 6 f@app-1.0\n", "event c\na 1/1 0 0 6 f@app-1.1\n",
		"event c\na 1/1 0 0 6 f@app-2.0\n");
	expect(NAME_MATCH_FILE, "app-2.0", "app-1.0");
	expect(NAME_MATCH_FILE, "app-1.1", "app-1.0");
	end();
}

static void rows_have_both_sides(void **state)
{
	static const enum profile_key keys[] = {KEY_DSO, KEY_SYMBOL};
	const struct flat_options flat = {.keys = keys, .key_count = 2, .member_count = 1};
	struct flat_table tables[2];
	const struct flat_table *const both[] = {&tables[0], &tables[1]};
	struct diff_table diff;
	make("event c\na 1/1 0 0 6 hot.llvm.1@app-1.0\n", "event c\na 1/1 0 0 5 hot.llvm.2@app-1.1\n", NULL);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(flat_table_init(&tables[i], made[i], &flat, NULL), TALLY_OK);
	struct diff_options options = {.keys = keys, .key_count = 2, .match = &match};
	assert_int_equal(diff_table_init(&diff, both, 2, &options, NULL), TALLY_OK);
	assert_int_equal(diff.row_count, 1);
	assert_int_equal(diff_table_value(&diff, 0, 0)->period, 6);
	assert_int_equal(diff_table_value(&diff, 0, 1)->period, 5);
	assert_int_equal(diff_table_matched_functions(&diff), 1);
	diff_table_deinit(&diff);
	options.match = NULL;
	assert_int_equal(diff_table_init(&diff, both, 2, &options, NULL), TALLY_OK);
	assert_int_equal(diff.row_count, 2);
	assert_int_equal(diff_table_matched_functions(&diff), 0);
	diff_table_deinit(&diff);
	flat_table_deinit(&tables[0]);
	flat_table_deinit(&tables[1]);
	end();
}

static void frames_have_both_sides(void **state)
{
	struct flame_tree tree;
	make("event c\napp-1.0 1/1 0 0 6 main@app-1.0;hot@app-1.0\n",
		"event c\napp-1.1 1/1 0 0 5 main@app-1.1;hot@app-1.1\n", NULL);
	struct flame_options options = {.base = made[0], .match = &match};
	assert_int_equal(flame_tree_init(&tree, made[1], &options, NULL), TALLY_OK);
	assert_int_equal(tree.node_count, 3);
	assert_int_equal(tree.nodes[2].self, 5);
	assert_int_equal(tree.nodes[2].base, 6);
	assert_true(tree.has_matched);
	flame_tree_deinit(&tree);
	end();
	/* A file of another name is a different thread at the root, and nothing below it is matched. */
	make("event c\nold 1/1 0 0 6 main@old;hot@old\n", "event c\nnew 1/1 0 0 5 main@new;hot@new\n", NULL);
	options = (struct flame_options){.base = made[0], .match = &match};
	assert_int_equal(flame_tree_init(&tree, made[1], &options, NULL), TALLY_OK);
	assert_false(tree.has_matched);
	flame_tree_deinit(&tree);
	options.group = FLAME_BY_NOTHING;
	assert_int_equal(flame_tree_init(&tree, made[1], &options, NULL), TALLY_OK);
	assert_true(tree.has_matched);
	assert_int_equal(tree.node_count, 2);
	flame_tree_deinit(&tree);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_joined_where_one_is_missing),
		cmocka_unit_test(copies_are_one_function_if_a_build_lacks_some),
		cmocka_unit_test(files_that_all_have_stay_apart),
		cmocka_unit_test(three_profiles_join_in_one_name),
		cmocka_unit_test(rows_have_both_sides),
		cmocka_unit_test(frames_have_both_sides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
