#include "unit_test.h"

#include <string.h>

#include "code/demangle/demangle.h"
#include "tally_config.h"

static const struct {
	const char *name, *shown;
} cases[] = {
	{"main", "main"},
	{"_start", "_start"},
	{"_Zebra", "_Zebra"},
	{"", ""},
	{"_", "_"},
	{"_ZNK2ns3BoxImE3mixEmRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "ns::Box<unsigned long>::mix"},
	{"_ZN2ns6Engine3runEm@plt", "ns::Engine::run@plt"},
	{"_ZNSolsEi@@GLIBCXX_3.4", "std::ostream::operator<<@@GLIBCXX_3.4"},
	{"malloc@plt", "malloc@plt"},
	{"_ZN4core3fmt5Write10write_char17h0123456789abcdefE", "core::fmt::Write::write_char"},
	{"_RNvC6_123foo3bar", "123foo::bar"},
};

static void shows_names_as_people_write_them(void **state)
{
	if (!HAVE_DEMANGLE)
		skip_because("this build has no libiberty");
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(demangle(&arena, cases[i].name), cases[i].shown);
	arena_deinit(&arena);
}

static void measures_the_shown_name(void **state)
{
	size_t bars;
	assert_int_equal(demangle_length("__libc_write", &bars), 12);
	assert_int_equal(bars, 2);
	if (!HAVE_DEMANGLE)
		return;
	assert_int_equal(demangle_length("_ZN2ns6Engine3runEm", &bars), strlen("ns::Engine::run"));
	assert_int_equal(bars, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_names_as_people_write_them),
		cmocka_unit_test(measures_the_shown_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
