/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static void check(struct text *t, const char *expected)
{
	text_char(t, '\0');
	assert_string_equal(t->data, expected);
	text_deinit(t);
}

static void test_nesting(void **state)
{
	struct text t = {0};
	struct json j = {.out = &t};
	json_object(&j, NULL);
	json_u64(&j, "most", UINT64_MAX);
	json_i64(&j, "least", INT64_MIN);
	json_bool(&j, "yes", true);
	json_hex(&j, "ip", 0x1f);
	json_array(&j, "list");
	json_string(&j, NULL, STR("a"));
	json_object(&j, NULL);
	json_object_end(&j);
	json_array_end(&j);
	json_array(&j, "none");
	json_array_end(&j);
	json_member(&j, (struct tally_str){"keyed", 3}, STR("value"));
	json_object_end(&j);
	check(&t, "{\n\t\"most\": 18446744073709551615,\n\t\"least\": -9223372036854775808,\n\t\"yes\": true,\n"
		  "\t\"ip\": \"0x1f\",\n\t\"list\": [\n\t\t\"a\",\n\t\t{\n\t\t}\n\t],\n\t\"none\": [\n\t],\n"
		  "\t\"key\": \"value\"\n}\n");
}

static void check_string(struct tally_str value, const char *expected)
{
	struct text t = {0};
	struct json j = {.out = &t};
	json_string(&j, NULL, value);
	check(&t, expected);
}

static void test_escapes(void **state)
{
	check_string(STR(""), "\"\"");
	check_string(STR("say \"\\\" /"), "\"say \\\"\\\\\\\" /\"");
	check_string(STR("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"");
	check_string(STR("\0a\x1f\x7f"), "\"\\u0000a\\u001f\\u007f\"");
}

static void test_utf8(void **state)
{
	check_string(STR("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
	check_string(STR("\xff"), "\"\\ufffd\"");
	check_string(STR("\xc2\x9b\x9b"), "\"\\u009b\\ufffd\"");
	check_string(STR("\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6"), "\"\\u2028\\u202e\\u2066\"");
	check_string(STR("a\xc3"), "\"a\\ufffd\""); /* A truncated character. */
	check_string(STR("\xc3(\xa9"), "\"\\ufffd(\\ufffd\"");
	check_string(STR("\xc0\xaf"), "\"\\ufffd\\ufffd\""); /* An overlong encoding. */
	check_string(STR("\xe0\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
	check_string(STR("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\""); /* A surrogate. */
	check_string(STR("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* Beyond U+10FFFF. */
}

/* Plain characters are written eight at a time, so a character to escape may be at any place among them. */
static void test_every_character_at_every_place(void **state)
{
	char value[20], expected[64];
	for (size_t len = 1; len < sizeof(value); len++)
		for (size_t at = 0; at < len; at++)
			for (int c = 0; c < 0x80; c++) {
				char escaped[8] = {(char)c, 0};
				memset(value, 'a', len);
				value[at] = (char)c;
				if (c == '"' || c == '\\')
					snprintf(escaped, sizeof(escaped), "\\%c", c);
				else if (strchr("\b\f\n\r\t", c) && c)
					snprintf(escaped, sizeof(escaped), "\\%c", "btn?fr"[c - '\b']);
				else if (c < ' ' || c == 0x7f)
					snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned)c);
				snprintf(expected, sizeof(expected), "\"%.*s%s%.*s\"", (int)at, "aaaaaaaaaaaaaaaaaaa",
					escaped, (int)(len - at - 1), "aaaaaaaaaaaaaaaaaaa");
				check_string((struct tally_str){value, len}, expected);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_every_character_at_every_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
