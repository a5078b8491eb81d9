/* SPDX-License-Identifier: Apache-2.0 */
#include "base/name_identity.h"

#include "unit_test.h"

typedef struct tally_str identity_of(struct tally_str name, struct text *room);

static void expect_identity(identity_of *identity, const char *name, const char *wanted)
{
	struct text room = {0};
	struct tally_str found = identity(str_from(name), &room);
	if (!str_equal(found, str_from(wanted)))
		fail_msg("'%s' gives '%.*s', not '%s'", name, (int)found.len, found.data, wanted);
	text_deinit(&room);
}

static void expect_functions(const char *const (*pairs)[2], size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_identity(name_identity_function, pairs[i][0], pairs[i][1]);
}

static void compilers_numbers_are_left_out(void **state)
{
	static const char *const pairs[][2] = {
		{"hot", "hot"},
		{"hot.llvm.3103333759997825785", "hot"},
		{"hot.constprop.0", "hot"},
		{"hot.isra.0.cold", "hot"},
		{"hot.part.3.constprop.12", "hot"},
		{"hot.cold", "hot"},
		{"hot.cold.4", "hot"},
		{"hot.lto_priv.0", "hot"},
		{"hot.localalias", "hot"},
		{"hot.__uniq.1234567890.llvm.99", "hot"},
		{"hot.4711", "hot"},
		{"ns::f(int) [clone .isra.0] [clone .cold]", "ns::f(int)"},
		{"ns::f(int) (.llvm.123)", "ns::f(int)"},
		{"ns::f(int) [clone .avx2]", "ns::f(int) [clone .avx2]"},
		{"hot.avx2.0", "hot.avx2.0"},
		{"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
		{"core[0123456789abcdef]::fmt::write", "core::fmt::write"},
		{"bpf_prog_6deef7357e7b4530_count", "bpf_prog_count"},
		{"main.main.func1.2", "main.main.func1.2"},
		{"work.func1", "work.func1"},
		{".cold", ".cold"},
		{"", ""},
		{"constprop", "constprop"},
		{"a.part", "a"},
		{"f(int)", "f(int)"},
		{"operator[]", "operator[]"},
	};
	expect_functions(pairs, sizeof(pairs) / sizeof(pairs[0]));
}

static void runtimes_numbers_are_left_out(void **state)
{
	static const char *const pairs[][2] = {
		{"App$$Lambda$14/0x0000000800c03000.run()", "App$$Lambda$.run()"},
		{"App$$Lambda/0x00007f12a8.run()", "App$$Lambda.run()"},
		{"jdk.proxy2.$Proxy12.call()", "jdk.proxy2.$Proxy.call()"},
		{"sun.reflect.GeneratedMethodAccessor31.invoke", "sun.reflect.GeneratedMethodAccessor.invoke"},
		{"JS:~hot /app/0x.js:12:3", "JS:~hot /app/0x.js:12:3"},
		{"a[10]", "a[10]"},
	};
	expect_functions(pairs, sizeof(pairs) / sizeof(pairs[0]));
}

static void versions_of_files_are_left_out(void **state)
{
	static const char *const pairs[][2] = {
		{"app-1.0", "app"},
		{"app-1.1 (deleted)", "app"},
		{"app_v2", "app"},
		{"app-v1.2.3-rc1", "app"},
		{"app-2024.11.3+g0123abcd", "app"},
		{"app-1.0-0123abcd", "app"},
		{"app.2", "app"},
		{"python3.11", "python"},
		{"python3", "python3"},
		{"libx.so.1.2", "libx.so"},
		{"libx.so", "libx.so"},
		{"libx-1.2.so", "libx.so"},
		{"libx-2.so.0.1", "libx.so"},
		{"libpython3.12.so.1.0", "libpython.so"},
		{"_json.cpython-311-x86_64-linux-gnu.so", "_json.cpython-x86_64-linux-gnu.so"},
		{"addon-1.2.node", "addon.node"},
		{"gcc-12", "gcc"},
		{"sha256", "sha256"},
		{"app-x86_64", "app-x86_64"},
		{"facade", "facade"},
		{"app-defaced", "app-defaced"},
		{"1.0", "1.0"},
		{"-1", "-1"},
		{"[kernel.kallsyms]", "[kernel.kallsyms]"},
		{"[vdso]", "[vdso]"},
		{"a.out", "a.out"},
		{"[JIT] tid 12", "[JIT]"},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		expect_identity(name_identity_file, pairs[i][0], pairs[i][1]);
}

static void numbers_of_processes_are_left_out(void **state)
{
	static const char *const pairs[][2] = {
		{"[JIT] tid 4711", "[JIT]"},
		{"jitted-4711-12.so", "[JIT]"},
		{"perf-4711.map", "[JIT]"},
		{"jit-4711.dump", "[JIT]"},
		{"[guest.kernel.kallsyms.4711]", "[guest.kernel.kallsyms]"},
		{"[guest.kernel.kallsyms]", "[guest.kernel.kallsyms]"},
		{"perf-tool.map", "perf-tool.map"},
		{"app-1.0", "app-1.0"},
		{"[JIT] tid ", "[JIT] tid "},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		expect_identity(name_identity_shared, pairs[i][0], pairs[i][1]);
	assert_true(name_identity_is_generated(STR("[JIT] tid 1")));
	assert_true(name_identity_is_generated(STR("/memfd:doublemapper")));
	assert_false(name_identity_is_generated(STR("libc.so.6")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_numbers_are_left_out),
		cmocka_unit_test(runtimes_numbers_are_left_out),
		cmocka_unit_test(versions_of_files_are_left_out),
		cmocka_unit_test(numbers_of_processes_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
