/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_names.h"

#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static const char *const seen[] = {"Map<int, long>::FindEqual(int, long)", "std::vector<int>::push_back",
	"ns::run(int)", "ns::run(char)", "other::size", "Set<std::pair<int, char> >::size() const",
	"main.(*worker).churn", "main", "java.lang.Integer.parseInt(java.lang.String)", "A::operator<(A const&)",
	"A::operator<< <int>(int)"};

static enum tally_status choose(const char *wanted, const char **chosen, struct tally_error *err)
{
	struct annotate_names names = {0};
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		assert_true(annotate_names_see(&names, seen[i], 100 - i));
	assert_true(annotate_names_see(&names, seen[0], 1)); /* Another frame of the same function. */
	enum tally_status status = annotate_names_choose(&names, wanted, chosen, err);
	annotate_names_deinit(&names);
	return status;
}

static void test_the_only_one_is_meant(void **state)
{
	static const struct {
		const char *wanted, *chosen;
	} cases[] = {
		{"main", "main"},
		{"ns::run", "ns::run"}, /* Both overloads match. */
		{"ns::run(char)", "ns::run(char)"},
		{"FindEqual", "Map<int, long>::FindEqual(int, long)"},
		{"Map::FindEqual", "Map<int, long>::FindEqual(int, long)"},
		{"Map<int, long>::FindEqual", "Map<int, long>::FindEqual"},
		{"FindEqual(int, long)", "Map<int, long>::FindEqual(int, long)"},
		{"push_back", "std::vector<int>::push_back"},
		{"vector::push_back", "std::vector<int>::push_back"},
		{"vector<int>::push_back", "std::vector<int>::push_back"},
		{"churn", "main.(*worker).churn"},
		{"Set::size", "Set<std::pair<int, char> >::size() const"},
		{"parseInt", "java.lang.Integer.parseInt(java.lang.String)"},
		{"operator<", "A::operator<(A const&)"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *chosen = NULL;
		struct tally_error err = {0};
		assert_int_equal(choose(cases[i].wanted, &chosen, &err), TALLY_OK);
		assert_string_equal(chosen, cases[i].chosen);
	}
}

static void test_several_are_listed(void **state)
{
	const char *chosen;
	struct tally_error err;
	assert_int_equal(choose("size", &chosen, &err), TALLY_INVALID);
	assert_string_equal(err.text, "'size' matches several symbols: 'other::size' (96 samples), "
				      "'Set<std::pair<int, char> >::size() const' (95 samples); name one of them");
	assert_int_equal(choose("run", &chosen, &err), TALLY_INVALID);
}

static void test_the_nearest_are_told(void **state)
{
	const char *chosen;
	struct tally_error err;
	assert_int_equal(choose("FindEquel", &chosen, &err), TALLY_NOT_FOUND);
	assert_string_equal(err.text, "no samples fell on a function 'FindEquel'; the nearest names: "
				      "'Map<int, long>::FindEqual(int, long)' (101 samples)");
	assert_int_equal(choose("push", &chosen, &err), TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "'std::vector<int>::push_back'"));
	assert_int_equal(choose("nothing_like_it", &chosen, &err), TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "the functions with the most samples: 'Map<int, long>"));
}

static void test_no_names(void **state)
{
	struct annotate_names names = {0};
	const char *chosen;
	assert_int_equal(annotate_names_choose(&names, "main", &chosen, NULL), TALLY_OK);
	assert_string_equal(chosen, "main");
	annotate_names_deinit(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_only_one_is_meant),
		cmocka_unit_test(test_several_are_listed),
		cmocka_unit_test(test_the_nearest_are_told),
		cmocka_unit_test(test_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
