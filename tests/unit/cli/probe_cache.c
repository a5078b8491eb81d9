/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_cache.h"

#include <string.h>

#include "base/text.h"
#include "unit_test.h"

#define TWO                                          \
	"%sdt_tw:turn=turn\n"                        \
	"p:sdt_tw/turn /bin/x:0x11c7 arg1=%di:s32\n" \
	"p:sdt_tw/turn /bin/x:0x11d7\n"              \
	"#work%return $retval\n"                     \
	"r:probe_x/work__return /bin/x:0x11c0 $retval\n"

static void reads_perfs_file(void **state)
{
	struct probe_cache file;
	assert_int_equal(probe_cache_parse(STR(TWO), &file, NULL), TALLY_OK);
	assert_int_equal(file.entries.len, 2);
	assert_int_equal(file.damaged, 0);
	const struct probe_cache_entry *entry = file.entries.items;
	assert_true(entry[0].is_sdt);
	assert_true(str_equal(entry[0].text, STR("sdt_tw:turn=turn")));
	assert_true(str_equal(entry[0].group, STR("sdt_tw")));
	assert_true(str_equal(entry[0].event, STR("turn")));
	assert_true(str_equal(
		entry[0].lines, STR("p:sdt_tw/turn /bin/x:0x11c7 arg1=%di:s32\np:sdt_tw/turn /bin/x:0x11d7\n")));
	assert_false(entry[1].is_sdt);
	assert_true(str_equal(entry[1].text, STR("work%return $retval")));
	assert_true(str_equal(entry[1].event, STR("work__return")));
	probe_cache_deinit(&file);
}

static void damaged_lines_are_counted(void **state)
{
	static const struct {
		const char *text;
		size_t entries, damaged;
	} cases[] = {
		{"", 0, 0}, {"\n\n", 0, 0}, {"p:g/e /bin/x:0x1\n", 0, 1}, /* The line belongs to no entry. */
		{"%\n", 0, 1}, {"#a\n", 0, 1}, /* The entries have no lines. */
		{"#a\n#b\np:g/e /x:0\n", 1, 1}, {"#a\np:g/e /x:0", 1, 0}, /* The last line has no newline. */
		{"#a\np:g/e\n", 0, 2},
		{"#a\np:/e /x:0\np:g/ /x:0\nx:g/e /x:0\np:g/e/f /x:0\np:g /x:0\nrx:g/e /x:0\n", 0, 7},
		{"#a\nr10:g/e /x:0\n", 1, 0},
		{"#a\np:g/e,cycles /x:0\np:g;h/e /x:0\np:g/1e /x:0\np:g/\033[2J /x:0\n", 0,
			5}, /* The kernel does not accept such names. */
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct probe_cache file;
		assert_int_equal(probe_cache_parse(str_from(cases[i].text), &file, NULL), TALLY_OK);
		if (file.entries.len != cases[i].entries || file.damaged != cases[i].damaged)
			fail_msg("case %zu: %zu entries, %zu damaged", i, file.entries.len, file.damaged);
		probe_cache_deinit(&file);
	}
}

static void a_definition_replaces_its_like(void **state)
{
	struct probe_cache file;
	assert_int_equal(probe_cache_parse(STR(TWO), &file, NULL), TALLY_OK);
	assert_int_equal(
		probe_cache_put(&file, false, STR("work%return $retval"), STR("r:g/e /bin/x:0x1\n"), NULL), TALLY_OK);
	assert_int_equal(file.entries.len, 2);
	assert_true(str_equal(file.entries.items[1].lines, STR("r:g/e /bin/x:0x1\n")));
	assert_int_equal(probe_cache_put(&file, false, STR("other"), STR("p:g/e /bin/x:0x1\n"), NULL), TALLY_OK);
	assert_int_equal(file.entries.len, 3);
	probe_cache_drop(&file, 1);
	assert_int_equal(file.entries.len, 2);
	assert_true(str_equal(file.entries.items[1].text, STR("other")));
	probe_cache_drop_notes(&file);
	assert_int_equal(file.entries.len, 1);
	probe_cache_deinit(&file);
}

/* A line break in a name or a place would add unwanted definitions. */
static void refuses_what_is_no_definition(void **state)
{
	static const struct {
		const char *text, *lines;
	} cases[] = {{"a", ""}, {"a", "nonsense\n"}, {"", "p:g/e /x:0\n"}, {"a\np:g/f /y:0", "p:g/e /x:0\n"},
		{"a", "p:g/e /x:0\n\nnonsense"}};
	struct probe_cache file;
	assert_int_equal(probe_cache_parse(STR(""), &file, NULL), TALLY_OK);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(probe_cache_put(&file, false, str_from(cases[i].text), str_from(cases[i].lines), NULL),
			TALLY_INVALID);
	assert_int_equal(file.entries.len, 0);
	probe_cache_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_perfs_file),
		cmocka_unit_test(damaged_lines_are_counted),
		cmocka_unit_test(a_definition_replaces_its_like),
		cmocka_unit_test(refuses_what_is_no_definition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
