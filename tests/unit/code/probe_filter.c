/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_filter.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

static void names_are_chosen(void **state)
{
	static const struct {
		const char *filter, *fits; /* The names that match the filter. */
	} cases[] = {
		{"*", "foo foobar fizzbar _x p@plt"},
		{"foo", "foo"},
		{"!_* & !*@plt", "foo foobar fizzbar"},
		{"!_*&!*@plt", "foo foobar fizzbar"},
		{"foo*|bar*", "foo foobar"},
		{"!foo* & *bar", "fizzbar"},
		{"foo | *bar & f?z*", "foo fizzbar"},
		{"(foo | *bar) & f?z*", "fizzbar"},
		{"!(foo | *bar)", "_x p@plt"},
		{"!!foo", "foo"},
		{"((((foo))))", "foo"},
		{"[_p]*", "_x p@plt"},
		{"foo & foo & foo & foo", "foo"},
	};
	static const char *const names[] = {"foo", "foobar", "fizzbar", "_x", "p@plt"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct arena arena;
		const struct probe_filter *filter;
		struct tally_error err;
		char shown[100] = "";
		arena_init(&arena);
		assert_int_equal(probe_filter_parse(cases[i].filter, &arena, &filter, &err), TALLY_OK);
		for (size_t n = 0; n < ARRAY_LEN(names); n++)
			if (probe_filter_fits(filter, str_from(names[n])))
				snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "%s%s",
					shown[0] ? " " : "", names[n]);
		assert_string_equal(shown, cases[i].fits);
		arena_deinit(&arena);
	}
}

static void errors_have_their_place(void **state)
{
	static const struct {
		const char *filter, *message;
	} cases[] = {
		{"", "Filter parse error at 1.\nSource: \"\"\n         ^"},
		{"(", "Filter parse error at 2.\nSource: \"(\"\n          ^"},
		{"foo bar", "Filter parse error at 5.\nSource: \"foo bar\"\n             ^"},
		{"foo &", "Filter parse error at 6.\nSource: \"foo &\"\n              ^"},
		{"(foo", "Filter parse error at 5.\nSource: \"(foo\"\n             ^"},
		{"foo)", "Filter parse error at 4.\nSource: \"foo)\"\n            ^"},
		{"| foo", "Filter parse error at 1.\nSource: \"| foo\"\n         ^"},
		{"!", "Filter parse error at 2.\nSource: \"!\"\n          ^"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct arena arena;
		const struct probe_filter *filter;
		struct tally_error err;
		arena_init(&arena);
		assert_int_equal(probe_filter_parse(cases[i].filter, &arena, &filter, &err), TALLY_INVALID);
		assert_string_equal(err.text, cases[i].message);
		arena_deinit(&arena);
	}
}

static void depth_is_bounded(void **state)
{
	struct arena arena;
	const struct probe_filter *filter;
	char text[4001];
	(void)state;
	memset(text, '!', 4000);
	text[4000] = 0;
	arena_init(&arena);
	assert_int_equal(probe_filter_parse(text, &arena, &filter, NULL), TALLY_INVALID);
	memset(text, '(', 4000);
	assert_int_equal(probe_filter_parse(text, &arena, &filter, NULL), TALLY_INVALID);
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_chosen),
		cmocka_unit_test(errors_have_their_place), cmocka_unit_test(depth_is_bounded)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
