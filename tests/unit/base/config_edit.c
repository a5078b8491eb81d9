/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config_edit.h"

#include "base/config_text.h"
#include "unit_test.h"

static void assert_set(const char *text, const char *name, const char *value, const char *expected)
{
	struct text out = {0};
	struct tally_error err = {0};
	assert_null(config_edit_complaint(str_from(name)));
	assert_int_equal(config_edit_set(str_from(text), str_from(name), str_from(value), &out, &err), TALLY_OK);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
}

static void a_new_file_has_a_header(void **state)
{
	assert_set("", "a.b", "c", "# this file is auto-generated.\n[a]\n\tb = c\n");
	assert_set("", "a.b.c", "d", "# this file is auto-generated.\n[a.b]\n\tc = d\n");
	assert_set("", "a.X y.c", "d", "# this file is auto-generated.\n[a \"X y\"]\n\tc = d\n");
	assert_set("", "a.q\"\\.c", "d", "# this file is auto-generated.\n[a \"q\\\"\\\\\"]\n\tc = d\n");
}

static void one_value_is_replaced(void **state)
{
	assert_set("# x\n[a]\n  b=c # why\n;\n", "a.b", "d e", "# x\n[a]\n  b=d e # why\n;\n");
	assert_set("[A]\nB = \"x # y\" \\\n z\nc=1", "a.b", "d", "[A]\nB = d\nc=1");
	assert_set("[a]\nb=1\n[a]\nb=2\n", "a.b", "3", "[a]\nb=1\n[a]\nb=3\n");
	assert_set("[a]\r\nb=1\r\nc=2\r\n", "a.b", "3", "[a]\r\nb=3\r\nc=2\r\n");
	assert_set("[a]\nb=\nc=2\n", "a.b", "3", "[a]\nb=3\nc=2\n");
	assert_set("[a]\nb=", "a.b", "3", "[a]\nb=3\n");
}

static void a_setting_joins_its_section(void **state)
{
	assert_set("[a]\nb=1 # x\n\n[c]\nd=2\n", "a.e", "3", "[a]\nb=1 # x\n\te = 3\n\n[c]\nd=2\n");
	assert_set("[a]\nb=1", "a.e", "3", "[a]\nb=1\n\te = 3\n");
	assert_set("[a]\nb=1\n", "f.e", "3", "[a]\nb=1\n[f]\n\te = 3\n");
	assert_set("[a]\nb=1", "f.e", "3", "[a]\nb=1\n[f]\n\te = 3\n");
	assert_set("[a]\nb=1\\\n", "f.e", "3", "[a]\nb=1\\\n\n[f]\n\te = 3\n");
	assert_set("[a]\r\nb=1\r\nc=2\r\n", "a.e", "3", "[a]\r\nb=1\r\nc=2\r\n\te = 3\n");
}

static void values_are_quoted_if_necessary(void **state)
{
	assert_set("[a]\nb=1\n", "a.b", "x#y", "[a]\nb=\"x#y\"\n");
	assert_set("[a]\nb=1\n", "a.b", "x;", "[a]\nb=\"x;\"\n");
	assert_set("[a]\nb=1\n", "a.b", "\"x y\"", "[a]\nb=\"x y\"\n");
	assert_set("[a]\nb=1\n", "a.b", "\"x", "[a]\nb=\"\\\"x\"\n");
	assert_set("[a]\nb=1\n", "a.b", "x\\c\ny\tz", "[a]\nb=\"x\\\\c\\ny\\tz\"\n");
	assert_set("[a]\nb=1\n", "a.b", "x\ty", "[a]\nb=\"x\\ty\"\n");
	assert_set("[a]\nb=1\n", "a.b", "x\\\\y", "[a]\nb=x\\\\y\n");
}

static void bad_names_and_files_are_refused(void **state)
{
	static const char *const names[] = {"", "a", ".", "a.", ".b", "a.1b", "a.b c", "a.-", "-a.b", "a\nb.c",
		"\"a\".b", "a]b.c", "a b.c", "a\\.c", "a\"b\".c"};
	char longest[CONFIG_NAME_BYTES + 8];
	struct text out = {0};
	struct tally_error err = {0};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_non_null(config_edit_complaint(str_from(names[i])));
	memset(longest, 'x', sizeof(longest));
	longest[1] = '.';
	longest[sizeof(longest) - 1] = 0;
	assert_non_null(config_edit_complaint(str_from(longest)));
	assert_int_equal(config_edit_set(STR("[a]\nb\n"), STR("a.c"), STR("1"), &out, &err), TALLY_CORRUPT);
	assert_string_equal(err.text, "bad config file line 2");
	assert_int_equal(out.len, 0);
	text_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_file_has_a_header),
		cmocka_unit_test(one_value_is_replaced),
		cmocka_unit_test(a_setting_joins_its_section),
		cmocka_unit_test(values_are_quoted_if_necessary),
		cmocka_unit_test(bad_names_and_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
