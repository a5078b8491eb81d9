/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config_text.h"

#include "unit_test.h"

/* expected is "name=value;" for each setting, then the status of the end. */
static void assert_settings(const char *text, const char *expected)
{
	struct config_text config = {.rest = str_from(text)};
	struct tally_error err = {0};
	struct text out = {0};
	enum tally_status status;
	while ((status = config_text_next(&config, &err)) == TALLY_OK) {
		struct tally_str value = config_text_value(&config);
		text_printf(&out, "%s=%.*s;", config.name, (int)value.len, value.data);
	}
	text_str(&out, status == TALLY_END ? "end" : err.text);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	config_text_deinit(&config);
}

static void settings_have_sections(void **state)
{
	assert_settings("", "end");
	assert_settings("[a]\n\tb = c\n[D]\nE_f-g=h i  \n", "a.b=c;d.e_f-g=h i;end");
	assert_settings("[a] b=c", "a.b=c;end");
	assert_settings("[a \"B c\"]\nd=1\n", "a.B c.d=1;end");
	assert_settings("[a]\nb=\nc = \t\nb=2", "a.b=;a.c=;a.b=2;end");
	assert_settings("[a]\r\nb=c\r\n\r\nd=e\r\n", "a.b=c;a.d=e;end");
}

static void comments_quotes_and_escapes(void **state)
{
	assert_settings("# x\r\n[a] ; y\r\nb = c # z\r\nd=e\r\n", "a.b=c;a.d=e;end");
	assert_settings("# x\n[a] ; y\nb = c # z\n;d = e\nf=g;h\n", "a.b=c;a.f=g;end");
	assert_settings("[a]\nb=\" c # \\\" \" ; x\n", "a.b= c # \" ;end");
	assert_settings("[a]\nb=c\\\nd\\\\ \\t\\n\nf=1\n", "a.b=cd\\ \t\n;a.f=1;end");
}

static void bad_lines_end_it(void **state)
{
	assert_settings("b=c\n", "bad config file line 1");
	assert_settings("[a]\nb=c\nd\n", "a.b=c;bad config file line 3");
	assert_settings("[a\nb=c\n", "bad config file line 1");
	assert_settings("[]\nb=c\n", "bad config file line 1");
	assert_settings("[a]\n\n= c\n", "bad config file line 3");
	assert_settings("[a]\nb c=1\n", "bad config file line 2");
	assert_settings("[a]\nb=\"c\n", "bad config file line 2");
	assert_settings("[a]\nb=\\x\n", "bad config file line 2");
	assert_settings("[a]\nb=\\", "bad config file line 2");
	assert_settings("[a\"\n\"]", "bad config file line 1");
}

static void long_names_are_refused(void **state)
{
	char text[3 * CONFIG_NAME_BYTES];
	memset(text, 'x', sizeof(text));
	memcpy(text, "[a]\n", 4);
	text[sizeof(text) - 1] = 0;
	assert_settings(text, "bad config file line 2");
	text[0] = '[';
	memset(text + 1, 'y', sizeof(text) - 3);
	text[sizeof(text) - 2] = ']';
	assert_settings(text, "bad config file line 1");
}

static void truth_has_many_words(void **state)
{
	bool is_on = false;
	assert_true(config_text_bool(STR("Yes"), &is_on) && is_on);
	assert_true(config_text_bool(STR(""), &is_on) && is_on);
	assert_true(config_text_bool(STR("OFF"), &is_on) && !is_on);
	assert_true(config_text_bool(STR("0"), &is_on) && !is_on);
	assert_false(config_text_bool(STR("2"), &is_on));
	assert_false(config_text_bool(STR("maybe"), &is_on));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_have_sections),
		cmocka_unit_test(comments_quotes_and_escapes),
		cmocka_unit_test(bad_lines_end_it),
		cmocka_unit_test(long_names_are_refused),
		cmocka_unit_test(truth_has_many_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
