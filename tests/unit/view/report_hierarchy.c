/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/report_hierarchy.h"

#include "profile_text.h"
#include "unit_test.h"

static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key columns[] = {KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};

static const char programs[] = "event c\n"
			       "cc1 7/7 0 0 50 parse@cc1\n"
			       "cc1 7/7 0 0 5 lex@cc1\n"
			       "cc1 7/7 0 0 15 memcpy@libc\n"
			       "ld 9/9 0 0 30 memcpy@libc\n";

static void assert_tree(const char *profile, const uint8_t *levels, struct flat_options flat,
	struct report_text_options options, const char *expected)
{
	struct profile *p = profile_from_text(profile);
	struct flat_table table;
	struct hierarchy tree;
	struct tally_error err;
	struct text out = {0};
	struct hierarchy_options wanted = {
		.keys = keys, .levels = levels + 1, .key_count = 3, .order = columns, .order_count = 4};
	flat.keys = keys;
	flat.key_count = 3;
	flat.member_count = flat.member_count ? flat.member_count : 1;
	options.columns = columns;
	options.column_count = 4;
	options.levels = levels;
	assert_int_equal(flat_table_init(&table, p, &flat, &err), TALLY_OK);
	assert_int_equal(hierarchy_init(&tree, &table, &wanted, &err), TALLY_OK);
	assert_int_equal(report_hierarchy_rows(&out, &tree, &options, &err), TALLY_OK);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	hierarchy_deinit(&tree);
	flat_table_deinit(&table);
	profile_destroy(p);
}

static const uint8_t each[] = {0, 0, 1, 2};

static void levels_add_up_and_sort(void **state)
{
	assert_tree(programs, each, (struct flat_options){0}, (struct report_text_options){0},
		"#       Overhead  Command / Shared Object / Symbol\n"
		"# ..............  ................................\n"
		"#\n"
		"    70.00%        cc1    \n"
		"       55.00%        cc1          \n"
		"          50.00%        [.] parse\n"
		"           5.00%        [.] lex\n"
		"       15.00%        libc         \n"
		"          15.00%        [.] memcpy\n"
		"    30.00%        ld     \n"
		"       30.00%        libc         \n"
		"          30.00%        [.] memcpy\n");
}

static void keys_share_a_level(void **state)
{
	static const uint8_t shared[] = {0, 0, 0, 1};
	assert_tree(programs, shared, (struct flat_options){0}, (struct report_text_options){0},
		"#    Overhead  Command+Shared Object / Symbol\n"
		"# ...........  ..............................\n"
		"#\n"
		"    55.00%     cc1      cc1          \n"
		"       50.00%     [.] parse\n"
		"        5.00%     [.] lex\n"
		"    30.00%     ld       libc         \n"
		"       30.00%     [.] memcpy\n"
		"    15.00%     cc1      libc         \n"
		"       15.00%     [.] memcpy\n");
}

static void limits_and_separators(void **state)
{
	assert_tree(programs, each, (struct flat_options){0},
		(struct report_text_options){.percent_limit = 52, .separator = ";"},
		"# Overhead;Command / Shared Object / Symbol\n"
		"# ........;................................\n"
		"#\n"
		" 70.00% ;cc1    \n"
		"    55.00% ;cc1          \n"
		"            no entry >= 52.00%\n");
	assert_tree(programs, each, (struct flat_options){0}, (struct report_text_options){.percent_limit = 60},
		"#       Overhead  Command / Shared Object / Symbol\n"
		"# ..............  ................................\n"
		"#\n"
		"    70.00%        cc1    \n"
		"                     no entry >= 60.00%\n");
}

static void members_stand_side_by_side(void **state)
{
	assert_tree("group a b\nx 1/1 0 0 3 f@m\nx 1/1 0 0 1 g@m\nx 1/1 0 1 1 g@m\n", each,
		(struct flat_options){.member_count = 2, .sort_member = 1},
		(struct report_text_options){.is_quiet = true},
		"   100.00% 100.00%        x      \n"
		"      100.00% 100.00%        m            \n"
		"          25.00% 100.00%        [.] g\n"
		"          75.00%   0.00%        [.] f\n");
}

static void nothing_is_no_row(void **state)
{
	assert_tree("event c\n", each, (struct flat_options){0}, (struct report_text_options){.is_quiet = true}, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_add_up_and_sort),
		cmocka_unit_test(keys_share_a_level),
		cmocka_unit_test(limits_and_separators),
		cmocka_unit_test(members_stand_side_by_side),
		cmocka_unit_test(nothing_is_no_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
