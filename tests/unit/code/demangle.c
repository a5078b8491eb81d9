/* SPDX-License-Identifier: Apache-2.0 */
#include "code/demangle/demangle.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "code/demangle/demangle_plain.h"
#include "tally_config.h"
#include "unit_test.h"

static const struct {
	const char *name, *shown;
} cases[] = {
	{"main", "main"},
	{"_start", "_start"},
	{"_Zebra", "_Zebra"},
	{"", ""},
	{"_", "_"},
	{"_ZNK2ns3BoxImE3mixEmRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
		"ns::Box<unsigned long>::mix(unsigned long, std::__cxx11::basic_string<char, std::char_traits<char>, "
		"std::allocator<char> > const&) const"},
	{"_ZN2ns6Engine3runEm@plt", "ns::Engine::run(unsigned long)@plt"},
	{"_ZNSolsEi@@GLIBCXX_3.4", "std::ostream::operator<<(int)@@GLIBCXX_3.4"},
	{"malloc@plt", "malloc@plt"},
	{"_ZN4core3fmt5Write10write_char17h0123456789abcdefE", "core::fmt::Write::write_char"},
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"_RINvCs6GmmlP4bgsG_1r4showmKj3_EB2_", "r::show::<u32, 3>"},
	{"_RINvC1r4showFG0_RL0_hRL1_hEuE", "r::show::<for<'a, 'b> fn(&'b u8, &'a u8)>"},
	{"_RNvNtC1r10CFGBuilder3new", "r::CFGBuilder::new"},
	/* An excessive number of lifetimes. */
	{"_RIC0_MIC0DGDGIyQQkQBl_", "_RIC0_MIC0DGDGIyQQkQBl_"},
	{"_D3std5stdio__T7writelnTAyaZQnFNfQjZv", "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])"},
	{"_D8demangle4testFHAiAaZv", "demangle.test(char[][int[]])"},
	{"_Dmain", "D main"},
	/* OCaml and Java names as perf 7.3 shows them. */
	{"camlShop__total_12", "Shop.total_12"},
	{"camlStdlib__List__map_345", "Stdlib.List.map_345"},
	{"camlA__b$2bc_7", "A.b+c_7"},
	{"camlStdlib__$5e_5", "Stdlib.^_5"},
	{"camlFoo", "Foo"},
	{"camlA__$zz$2", "A.$zz$2"},
	{"caml_main", "caml_main"},
	{"caml", "caml"},
	{"Ljava/lang/Integer;parseInt(Ljava/lang/String;)I", "java.lang.Integer.parseInt(java.lang.String)"},
	{"Lcom/example/Foo;bar([I[[Ljava/lang/String;ZBCSIJFD)V",
		"com.example.Foo.bar(int[], java.lang.String[][], boolean, byte, char, short, int, long, float, "
		"double)"},
	{"Lcom/A;<init>()V", "com.A<init>()"},
	{"Lcom/A;run()Lcom/B;", "com.A.run()"},
	{"L;a()V", ".a()"},
	{"LFoo;x", "LFoo;x"},
	{"LFoo;x(", "LFoo;x("},
	{"LFoo;x(Q)V", "LFoo;x(Q)V"},
	{"LFoo;x(Lunended)V", "LFoo;x(Lunended)V"},
	{"LFoo;x([", "LFoo;x(["},
	{"LFoo;(I)V", "LFoo;(I)V"},
	{"[[Lcom/A;clone()V", "[[Lcom/A;clone()V"},
	{"L", "L"},
};

static char base_62(size_t digit)
{
	return "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit];
}

static void shows_names_as_people_write_them(void **state)
{
	if (!HAVE_DEMANGLE)
		skip_because("this build has no libiberty");
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(demangle(&arena, cases[i].name), cases[i].shown);
	arena_deinit(&arena);
}

/* Each pair of back references doubles the output. */
static const char *rust_bomb(struct arena *arena, unsigned pairs)
{
	const char *name = "_RINvC1a1bTllE";
	size_t last = strlen("INvC1a1b"); /* Offset of the last pair. */
	for (unsigned i = 0; i < pairs && name; i++) {
		char back[3] = {base_62((last - 1) % 62)};
		size_t here = strlen(name) - strlen("_R");
		if (last - 1 >= 62) {
			back[1] = back[0];
			back[0] = base_62((last - 1) / 62);
		}
		name = arena_printf(arena, "%sTB%s_B%s_E", name, back, back);
		last = here;
	}
	return arena_printf(arena, "%sE", name);
}

static void rust_names_that_would_fill_memory_stay_as_they_are(void **state)
{
	if (!HAVE_DEMANGLE)
		skip_because("this build has no libiberty");
	struct arena arena;
	arena_init(&arena);
	const char *small = rust_bomb(&arena, 8);
	const char *big = rust_bomb(&arena, 60);
	assert_ptr_not_equal(demangle(&arena, small), small);
	assert_ptr_equal(demangle(&arena, big), big);
	arena_deinit(&arena);
}

/* Pointers to pointers, each of which is a recursive call of the demangler. */
static void deep_names_stay_as_they_are(void **state)
{
	static char name[4000000];
	struct arena arena;
	memset(name, 'P', sizeof(name) - 2);
	memcpy(name, "_D1f", 4);
	name[sizeof(name) - 2] = 'i';
	arena_init(&arena);
	assert_ptr_equal(demangle(&arena, name), name);
	arena_deinit(&arena);
}

/* Many back references that add little to the output. */
static void d_names_may_refer_back_often(void **state)
{
	char name[600] = "_D1fF";
	if (!HAVE_DEMANGLE)
		skip_because("this build has no libiberty");
	struct arena arena;
	arena_init(&arena);
	for (unsigned i = 0; i < 100; i++)
		strcat(name, "AyaQd");
	strcat(name, "Zv");
	const char *shown = demangle(&arena, name);
	assert_int_equal(strncmp(shown, "f(immutable(char)[], immutable(char)[], ", 40), 0);
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

/* Each level is a pair of the previous level, so the output would double with each level. */
static void names_that_would_fill_memory_stay_as_they_are(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1000] = "_Z1fI1AIiiE";
	size_t bars;
	for (int level = 0; level < 30; level++) {
		char part[20];
		snprintf(part, sizeof(part), "S0_IS%c_S%c_E", digits[level + 1], digits[level + 1]);
		strcat(name, part);
	}
	strcat(name, "Evv");
	struct arena arena;
	arena_init(&arena);
	assert_ptr_equal(demangle(&arena, name), name);
	assert_int_equal(demangle_length(name, &bars), strlen(name));
	/* A name that is long but acceptable. */
	strcpy(name + strlen("_Z1fI1AIiiE"), "S0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_EEvv");
	if (HAVE_DEMANGLE)
		assert_memory_equal(demangle(&arena, name), "void f<A<int, int>, A<A<int, int>, A<int, int> >, ", 49);
	/* In D, a type is a back reference, repeated many times. */
	memcpy(name, "_D1fFZ", 6);
	for (size_t i = 6; i < 900; i++)
		name[i] = "QbS"[i % 3];
	name[900] = 0;
	assert_ptr_equal(demangle(&arena, name), name);
	arena_deinit(&arena);
}

#if HAVE_DEMANGLE
#include <libiberty/demangle.h>
#include <stdlib.h>

static const char *const plain_names[] = {
	"_Z3foov",
	"_ZL4initPKcz",
	"_Z1fabcdefghijlmnostwxyz",
	"_ZN2ns6Engine3runEm",
	"_ZNK2ns6Engine4nameEPKc",
	"_ZN2ns6EngineC2ERKS0_",
	"_ZN2ns6EngineD0Ev",
	"_ZN2ns6Engine4moveEOS0_PS0_PKS0_PKPKS0_",
	"_Z4copyPN1a1b1cES1_S0_S_S2_RKS1_RKS2_",
	"_ZN1a1b4dataE",
	"_ZNSt9exceptionC1Ev",
	"_Z5throwRSt9exceptionPKS_PS_",
	"_ZN1a1fENS_1bEPNS_1bERKNSt3__11cES2_",
	"_Z1fP1aP1bP1cP1dP1eP1fP1gP1hP1iP1jP1kP1lP1mP1nP1oP1pP1qP1rS_S0_S9_SA_SY_",
	"_Z1fRKPKPVi",
	"_Z1fPFviE",
	"_Z1fIiEvT_",
	"_ZplRK1aS1_",
	"_ZN12_GLOBAL__N_11fEv",
	"_Z1fA4_iM1aFvvEDn",
	"_ZZ1fvE1x",
	"_ZNE1aEi",
	"_Z1fvv",
	"_Z1fRO1aKKi",
	"_Z0",
	"_ZN1aC1EC2Ev",
	"_Z03foov",
	"_Z99foov",
	"_Z1fS_",
	"_Z1fS9999999999_",
	"_Z1fSaIcE",
	"_Z1fSs",
};

/* The name is either demangled like libiberty does, or passed to libiberty. Returns whether it is demangled. */
static bool check_plain(const char *name)
{
	char shown[512];
	size_t len = demangle_plain(name, strlen(name), shown, sizeof(shown) - 1);
	if (len == 0)
		return false;
	char *expected = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
	shown[len] = '\0';
	assert_non_null(expected);
	assert_string_equal(shown, expected);
	for (size_t room = 0; room < len; room++)
		assert_int_equal(demangle_plain(name, strlen(name), shown, room), 0);
	free(expected);
	return true;
}

static void plain_names_are_shown_as_by_libiberty(void **state)
{
	static const char *const replacements = "PROKNESt_0123456789ACDLTIvwzF.";
	size_t plain = 0;
	for (size_t i = 0; i < ARRAY_LEN(plain_names); i++) {
		char name[128];
		size_t len = strlen(plain_names[i]);
		plain += check_plain(plain_names[i]);
		for (size_t at = 2; at < len; at++) {
			snprintf(name, sizeof(name), "%.*s", (int)at, plain_names[i]);
			(void)check_plain(name);
			snprintf(name, sizeof(name), "%.*s%s", (int)at, plain_names[i], plain_names[i] + at + 1);
			(void)check_plain(name);
			for (const char *by = replacements; *by; by++) {
				snprintf(name, sizeof(name), "%s", plain_names[i]);
				name[at] = *by;
				(void)check_plain(name);
				snprintf(name, sizeof(name), "%.*s%c%s", (int)at, plain_names[i], *by,
					plain_names[i] + at);
				(void)check_plain(name);
			}
		}
	}
	assert_int_equal(plain, 14);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_names_as_people_write_them),
		cmocka_unit_test(rust_names_that_would_fill_memory_stay_as_they_are),
		cmocka_unit_test(deep_names_stay_as_they_are),
		cmocka_unit_test(d_names_may_refer_back_often),
		cmocka_unit_test(measures_the_shown_name),
		cmocka_unit_test(names_that_would_fill_memory_stay_as_they_are),
#if HAVE_DEMANGLE
		cmocka_unit_test(plain_names_are_shown_as_by_libiberty),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
