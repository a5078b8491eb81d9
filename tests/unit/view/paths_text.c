/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/paths_text.h"

#include <stdlib.h>

#include "profile_text.h"
#include "unit_test.h"

/* Compares the tree of two profiles with compared shares. */
static void assert_tree(const char *base, const char *other, bool by_line, double min_change, const char *expected)
{
	struct profile *made[] = {profile_from_text(base), profile_from_text(other)};
	struct diff_path_source sources[] = {{.profile = made[0]}, {.profile = made[1]}};
	struct diff_paths paths;
	struct tally_error err;
	struct text out = {0};
	assert_int_equal(
		diff_paths_init(&paths, sources, 2, &(struct diff_paths_options){.by_line = by_line}, &err), TALLY_OK);
	struct diff_change *changes = calloc(paths.count, sizeof(*changes));
	assert_non_null(changes);
	for (size_t i = 0; i < paths.count; i++) {
		changes[i].base_share =
			100.0 * (double)diff_paths_value(&paths, i, 0)->period / (double)paths.totals[0];
		changes[i].new_share = 100.0 * (double)diff_paths_value(&paths, i, 1)->period / (double)paths.totals[1];
	}
	struct paths_text_options options = {.changes = changes, .min_change = min_change, .is_quiet = true};
	assert_int_equal(paths_text(&out, &paths, &options, &err), TALLY_OK);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	free(changes);
	diff_paths_deinit(&paths);
	profile_destroy(made[0]);
	profile_destroy(made[1]);
}

static const char before[] = "event c\n"
			     "a 1/1 0 0 40 main@x;work@x;parse@x\n"
			     "a 1/1 0 0 40 main@x;work@x;print@x\n"
			     "a 1/1 0 0 20 main@x;rest@x\n";

static void paths_match_by_name_wherever_they_lie(void **state)
{
	assert_tree(before,
		"event c\n"
		"b 2/2 0 0 1 zero@y\nb 2/2 0 0 19 main@y;rest@y\n"
		"b 2/2 0 0 25 main@y;work@y;print@y\nb 2/2 0 0 55 main@y;work@y;parse@z\n",
		false, 5,
		"   100.00%    -1.00%  main\n"
		"    80.00%    +0.00%    work\n"
		"    40.00%   +15.00%      parse\n"
		"    40.00%   -15.00%      print\n");
}

static void a_run_of_callers_is_one_line(void **state)
{
	assert_tree("event c\na 1/1 0 0 50 main@x;loop@x;step@x;leaf@x\na 1/1 0 0 50 main@x;loop@x;step@x;other@x\n",
		"event c\na 1/1 0 0 80 main@x;loop@x;step@x;leaf@x\na 1/1 0 0 20 main@x;loop@x;step@x;other@x\n", false,
		1,
		"   100.00%    +0.00%  main;loop;step\n"
		"    50.00%   +30.00%    leaf\n"
		"    50.00%   -30.00%    other\n");
}

static void what_is_new_or_gone_shows(void **state)
{
	assert_tree("event c\na 1/1 0 0 90 main@x;f@x\na 1/1 0 0 10 main@x;gone@x;deep@x\n",
		"event c\na 1/1 0 0 90 main@x;f@x\na 1/1 0 0 10 main@x;new@x;deep@x\n", false, 1,
		"   100.00%    +0.00%  main\n"
		"    10.00%   -10.00%    gone;deep\n"
		"     0.00%   +10.00%    new;deep\n");
	assert_tree(before, before, false, 0.5, "");
}

static void lines_tell_calls_of_one_function_apart(void **state)
{
	static const char one[] = "event c\na 1/1 0 0 50 main@x#m.c:3;f@x#f.c:1\na 1/1 0 0 50 main@x#m.c:9;f@x#f.c:1\n";
	static const char two[] = "event c\na 1/1 0 0 70 main@x#m.c:3;f@x#f.c:1\na 1/1 0 0 30 main@x#m.c:9;f@x#f.c:1\n";
	assert_tree(one, two, false, 1, "");
	assert_tree(one, two, true, 1,
		"    50.00%   +20.00%  main m.c:3;f f.c:1\n"
		"    50.00%   -20.00%  main m.c:9;f f.c:1\n");
}

static void recursion_and_unnamed_code(void **state)
{
	assert_tree("event c\na 1/1 0 0 50 r@x;r@x;r@x\na 1/1 0 0 50 0x10@lib;0x20@lib\n",
		"event c\na 1/1 0 0 90 r@x;r@x;r@x\na 1/1 0 0 10 0x90@lib;0x91@lib\n", false, 1,
		"    50.00%   +40.00%  r;r;r\n"
		"    50.00%   -40.00%  [lib];[lib]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_match_by_name_wherever_they_lie),
		cmocka_unit_test(a_run_of_callers_is_one_line),
		cmocka_unit_test(what_is_new_or_gone_shows),
		cmocka_unit_test(lines_tell_calls_of_one_function_apart),
		cmocka_unit_test(recursion_and_unnamed_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
