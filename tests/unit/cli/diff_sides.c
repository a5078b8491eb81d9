/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_sides.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

/* line and expected are words separated by blanks, before and after the expansion. */
static void assert_expanded(const char *line, const char *expected)
{
	char words[256], *argv[32], found[512] = "";
	int argc = 0;
	strcpy(words, line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	char **expanded = diff_sides_expand(&argc, argv);
	assert_non_null(expanded);
	for (int i = 0; i < argc; i++) {
		strcat(found, i ? " " : "");
		strcat(found, expanded[i]);
	}
	assert_string_equal(found, expected);
	free(expanded);
}

static void every_file_gets_its_option(void **state)
{
	assert_expanded("diff --base a b c --new d e", "diff --base a --base b --base c --new d --new e");
	assert_expanded("diff --base=a b --new d -q e", "diff --base=a --base b --new d -q e");
	assert_expanded("diff --aa a - --base b", "diff --aa a --aa - --base b");
}

static void other_words_stay(void **state)
{
	assert_expanded("diff a b -c ratio", "diff a b -c ratio");
	assert_expanded("diff --baseline-only a b", "diff --baseline-only a b");
	assert_expanded("diff --base --new b", "diff --base --new b");
	assert_expanded("--base a b", "--base a b");
	assert_expanded("diff --base", "diff --base");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_gets_its_option),
		cmocka_unit_test(other_words_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
