/* SPDX-License-Identifier: Apache-2.0 */
#include "base/symbol_name.h"

#include "unit_test.h"

static void expect_plain(const char *name, const char *plain)
{
	struct tally_str found = symbol_name_plain(str_from(name));
	if (!str_equal(found, str_from(plain)))
		fail_msg("'%s' gives '%.*s', not '%s'", name, (int)found.len, found.data, plain);
}

static void names_lose_their_parameters(void **state)
{
	expect_plain("work(int)", "work");
	expect_plain("main", "main");
	expect_plain("", "");
	expect_plain("ns::f(int, char) const", "ns::f");
	expect_plain("ns::f(int) const &", "ns::f");
	expect_plain("ns::f(int) [clone .cold]", "ns::f");
	expect_plain("ns::f() const [clone .isra.0] [clone .cold]", "ns::f");
	expect_plain("f(void (*)(int))", "f");
	expect_plain("(anonymous namespace)::f(long)", "(anonymous namespace)::f");
	expect_plain("(anonymous namespace)::f", "(anonymous namespace)::f");
	expect_plain("Op<int>::operator()(int) const", "Op<int>::operator()");
	expect_plain("Op<int>::operator()", "Op<int>::operator()");
	expect_plain("StubRoutines (1)", "StubRoutines (1)");
	expect_plain("DeoptimizationBlob (final stubs)", "DeoptimizationBlob (final stubs)");
	expect_plain("operator new(unsigned long)", "operator new");
	expect_plain("A::operator<<(int)", "A::operator<<");
	expect_plain("A::operator->()", "A::operator->");
	expect_plain("A::operator unsigned long() const", "A::operator unsigned long");
	expect_plain("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()");
	expect_plain("runtime.mcall(SB)", "runtime.mcall");
	expect_plain("main.(*T).run", "main.(*T).run");
	expect_plain("(foo)", "(foo)");
	expect_plain("f)", "f)");
}

static void templates_lose_what_they_return(void **state)
{
	expect_plain("void ns::f<int>(int)", "ns::f<int>");
	expect_plain("std::vector<int, std::allocator<int> > make<char>(char)", "make<char>");
	expect_plain("unsigned long g<long, (char)3>(A<long> const&)", "g<long, (char)3>");
	expect_plain("decltype (x->y) h<X>(X)", "h<X>");
}

static void lists_have_names_with_and_without_parameters(void **state)
{
	assert_true(symbol_list_has("main,work", STR("work(int)")));
	assert_true(symbol_list_has("main, work(int) ", STR("work(int)")));
	assert_true(symbol_list_has("f(int, long),main", STR("f(int, long)")));
	assert_true(symbol_list_has("f(int, long),main", STR("main")));
	assert_true(symbol_list_has("std::map<int, int>::find", STR("std::map<int, int>::find(int const&)")));
	assert_true(symbol_list_has("f(int, long)\nmain\n", STR("f(int, long)")));
	assert_false(symbol_list_has("work(int)", STR("work(double)")));
	assert_false(symbol_list_has("work(int)", STR("work")));
	assert_false(symbol_list_has("rework,working", STR("work(int)")));
	assert_false(symbol_list_has("a,f\n", STR("f")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lose_their_parameters),
		cmocka_unit_test(templates_lose_what_they_return),
		cmocka_unit_test(lists_have_names_with_and_without_parameters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
