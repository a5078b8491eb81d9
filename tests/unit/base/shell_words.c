/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell_words.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "unit_test.h"

/* expected is "<word>" for each word, then "!" if a quotation mark is not closed. */
static void assert_words(const char *line, const char *expected)
{
	struct text out = {0};
	char **words;
	bool is_good = shell_words_split(str_from(line), &words);
	assert_non_null(words);
	for (size_t i = 0; words[i]; i++)
		text_printf(&out, "<%s>", words[i]);
	text_str(&out, is_good ? "" : "!");
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	free(words);
	text_deinit(&out);
}

static void words_end_at_blanks(void **state)
{
	assert_words("", "");
	assert_words("  ", "");
	assert_words("a", "<a>");
	assert_words("-e cpu-clock\t-m 1\n sleep 10 ", "<-e><cpu-clock><-m><1><sleep><10>");
}

static void quotes_hold_words_together(void **state)
{
	assert_words("-o 'x y' \"a 'b\"c", "<-o><x y><a 'bc>");
	assert_words("'' \"\"", "<><>");
	assert_words("a\\ b \"c\\\"d\\\\\\n\" 'e\\'", "<a b><c\"d\\\\n><e\\>");
	assert_words("a\\", "<a\\>");
}

static void open_quotes_are_found(void **state)
{
	assert_words("a 'b c", "<a>!");
	assert_words("\"", "!");
	assert_words("a \"b\\\"", "<a>!");
}

/* A written word reads back unchanged. */
static void words_are_written_for_shells(void **state)
{
	static const char *const cases[][2] = {{"", "''"}, {"perf.data", "perf.data"}, {"a b", "'a b'"},
		{"it's", "'it'\\''s'"}, {"$HOME", "'$HOME'"}, {"~", "'~'"}, {"a\nb", "'a\nb'"}, {"*", "'*'"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text out = {0};
		char **words;
		shell_words_put(&out, str_from(cases[i][0]));
		assert_true(shell_words_split((struct tally_str){out.data, out.len}, &words));
		assert_string_equal(words[0], cases[i][0]);
		assert_null(words[1]);
		text_char(&out, 0);
		assert_string_equal(out.data, cases[i][1]);
		free(words);
		text_deinit(&out);
	}
	struct text quoted = {0};
	shell_words_put_quoted(&quoted, STR("plain"));
	text_char(&quoted, 0);
	assert_string_equal(quoted.data, "'plain'");
	text_deinit(&quoted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_at_blanks),
		cmocka_unit_test(quotes_hold_words_together),
		cmocka_unit_test(open_quotes_are_found),
		cmocka_unit_test(words_are_written_for_shells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
