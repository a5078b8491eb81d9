/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress_line.h"

#include "unit_test.h"

static void expect(const struct progress_state *state, unsigned width, const char *expected)
{
	struct text t = {0};
	progress_line_text(&t, state, width);
	text_char(&t, '\0');
	assert_false(t.failed);
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void says_how_far_and_how_long(void **state)
{
	(void)state;
	struct progress_state s = {.what = "reading samples", .done = 25000000, .total = 100000000, .seconds = 0.5};
	expect(&s, 79, "reading samples: 25 % of 100.0 MB, 1.5 s left");
	s.seconds = 0.1; /* Too early for an estimate. */
	expect(&s, 79, "reading samples: 25 % of 100.0 MB");
	s.done = 0;
	s.seconds = 9;
	expect(&s, 79, "reading samples: 0 % of 100.0 MB");
	s.done = 300000000; /* More than the expected total. */
	expect(&s, 79, "reading samples: 100 % of 100.0 MB, 0.0 s left");
}

static void says_what_it_knows(void **state)
{
	(void)state;
	struct progress_state s = {.what = "reading the recording", .done = 12340000, .seconds = 3};
	expect(&s, 79, "reading the recording: 12.3 MB");
	s.done = 0;
	expect(&s, 79, "reading the recording");
	expect(&s, 7, "reading");
	expect(&s, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_how_far_and_how_long),
		cmocka_unit_test(says_what_it_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
