/* SPDX-License-Identifier: Apache-2.0 */
#include "view/data/report_json.h"

#include "profile_text.h"
#include "unit_test.h"

static const enum profile_key keys[] = {KEY_COMM, KEY_SYMBOL};
static const enum profile_key columns[] = {KEY_OVERHEAD, KEY_COMM, KEY_SYMBOL};
static const uint8_t levels[] = {0, 0, 1};

/* Compares only the rows, because the text before them is always the same. */
static void assert_rows(const char *profile, bool is_tree, struct report_text_options options, const char *expected)
{
	struct profile *p = profile_from_text(profile);
	struct flat_table table;
	struct hierarchy tree = {0};
	struct tally_error err;
	struct text out = {0};
	struct json j = {.out = &out};
	struct flat_options flat = {.keys = keys, .key_count = 2, .member_count = 1, .with_chains = true};
	struct hierarchy_options wanted = {
		.keys = keys, .levels = levels + 1, .key_count = 2, .order = columns, .order_count = 3};
	options.columns = columns;
	options.column_count = 3;
	options.levels = levels;
	assert_int_equal(flat_table_init(&table, p, &flat, &err), TALLY_OK);
	assert_int_equal(flat_table_sort(&table, columns, 3, &err), TALLY_OK);
	if (is_tree)
		assert_int_equal(hierarchy_init(&tree, &table, &wanted, &err), TALLY_OK);
	assert_int_equal(report_json_table(&j, &table, is_tree ? &tree : NULL, &options, &err), TALLY_OK);
	text_char(&out, 0);
	char *rows = strstr(out.data, "\"rows\": [");
	assert_non_null(rows);
	char *end = strstr(rows, "\n\t]\n}");
	assert_non_null(end);
	*end = 0;
	assert_string_equal(rows + strlen("\"rows\": ["), expected);
	text_deinit(&out);
	hierarchy_deinit(&tree);
	flat_table_deinit(&table);
	profile_destroy(p);
}

static const char plain[] = "event c\na\" 1/1 0 0 3 main@x;f@x\na\" 1/1 0 0 1 main@x;g@x\nb 2/2 0 0 0 0x1f@x\n";

static void rows_are_lines(void **state)
{
	assert_rows(plain, false, (struct report_text_options){0},
		"\n\t\t{\"comm\": \"a\\\"\",\"symbol\": \"f\",\"level\": \".\",\"values\": [{\"samples\": "
		"1,\"period\": 3,"
		"\"overhead\": 75.0000}]},"
		"\n\t\t{\"comm\": \"a\\\"\",\"symbol\": \"g\",\"level\": \".\",\"values\": [{\"samples\": "
		"1,\"period\": 1,"
		"\"overhead\": 25.0000}]},"
		"\n\t\t{\"comm\": \"b\",\"address\": \"0x1f\",\"level\": \".\",\"values\": [{\"samples\": "
		"1,\"period\": 0,"
		"\"overhead\": 0.0000}]}");
}

static void levels_nest(void **state)
{
	assert_rows(plain, true, (struct report_text_options){.percent_limit = 30},
		"\n\t\t{\"comm\": \"a\\\"\",\"values\": [{\"samples\": 2,\"period\": 4,\"overhead\": "
		"100.0000}],\"rows\": ["
		"{\"symbol\": \"f\",\"level\": \".\",\"values\": [{\"samples\": 1,\"period\": 3,\"overhead\": "
		"75.0000}]}]}");
}

static void chains_nest(void **state)
{
	assert_rows("event c\na 1/1 0 0 3 main@x;f@x\na 1/1 0 0 1 other@x;f@x\n", false,
		(struct report_text_options){.chains = {.style = CHAIN_GRAPH}},
		"\n\t\t{\"comm\": \"a\",\"symbol\": \"f\",\"level\": \".\",\"values\": [{\"samples\": 2,\"period\": 4,"
		"\"overhead\": 100.0000}],\"chains\": [{\"frames\": [{\"symbol\": \"f\",\"dso\": \"x\"}],\"period\": 4,"
		"\"samples\": 2,\"percent\": 100.0000,\"children\": [{\"frames\": [{\"symbol\": \"main\",\"dso\": "
		"\"x\"}],"
		"\"period\": 3,\"samples\": 1,\"percent\": 75.0000},{\"frames\": [{\"symbol\": \"other\",\"dso\": "
		"\"x\"}],"
		"\"period\": 1,\"samples\": 1,\"percent\": 25.0000}]}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_lines),
		cmocka_unit_test(levels_nest),
		cmocka_unit_test(chains_nest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
