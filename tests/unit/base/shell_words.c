/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell_words.h"

#include <stdlib.h>

#include "base/text.h"
#include "unit_test.h"

/* "<word>" of each, then "!" if a quotation mark is not closed. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_at_blanks),
		cmocka_unit_test(quotes_hold_words_together),
		cmocka_unit_test(open_quotes_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
